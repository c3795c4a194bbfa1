"""Ask Spark one question after the other; print which files of the table each made it open.

Run by tests/spark/test_opened_files.py, in a process of its own, so that all processes of Spark
write down what they open (see sitecustomize.py).
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import lance_explorer as lx
from lance_explorer.spark import unread

__all__ = ["QUESTIONS"]

Question = Callable[[Any, str, str], Any]


def _read(name: str, **options: Any) -> Question:
    def ask(spark: Any, uri: str, ledger: str) -> Any:
        given = {k: ledger if v == "LEDGER" else v for k, v in options.items()}
        found = spark.read.format(f"lance_explorer.{name}").options(**given).load(uri)
        return found.toArrow().num_rows

    return ask


def _record(spark: Any, uri: str, ledger: str) -> Any:
    added = lx.spark.record(spark, uri, f"{ledger}-new", bytes_per_task=100_000)
    return added["new_versions"].sum()


def _load(spark: Any, uri: str, ledger: str) -> Any:
    with patch.object(unread, "MOST_BYTES", 100_000):
        options: dict[str, Any] = {
            "begin_version": 0,
            "mode": "per_commit",
            "rows_per_partition": 50,
        }
        found = lx.spark.load(spark, "changes", uri, **options)
    return found.toArrow().num_rows


def _locate(spark: Any, uri: str, ledger: str) -> Any:
    rows = spark.createDataFrame([(612,), (615,)], "_rowid bigint")
    return lx.spark.locate(rows, uri).toArrow().num_rows


QUESTIONS: dict[str, Question] = {
    "record": _record,
    "five": _read("changes", begin_version=-6),
    "whole": _read("changes", begin_version=0, mode="per_commit", rows_per_partition=50),
    "ledger": _read(
        "changes", begin_version=0, mode="per_commit", rows_per_partition=50, ledger="LEDGER"
    ),
    "loaded": _load,
    "history": _read("history", rows_per_partition=50),
    "rows": _read("rows", rows_per_partition=50, columns="id,_rowid"),
    "row IDs": _read("rows", rows_per_partition=50, columns="_rowid"),
    "located": _locate,
    "count": lambda spark, uri, ledger: lx.spark.count(spark, uri),
}


def _opened(log: Path) -> list[str]:
    lines = log.read_text(encoding="utf-8").splitlines()
    log.write_text("", encoding="utf-8")
    return lines


def main() -> None:
    """Answer, as JSON."""
    uri, ledger, *names = sys.argv[1:]
    log = Path(os.environ["LANCE_EXPLORER_OPENED"])
    spark = lx.spark.session("local[2]", config={"spark.driver.memory": "512m"})
    spark.range(4, numPartitions=2).count()
    told = {}
    for name in names:
        _opened(log)
        answer = QUESTIONS[name](spark, uri, ledger)
        told[name] = {"answer": answer, "opened": _opened(log)}
    print(json.dumps(told))
    spark.stop()


if __name__ == "__main__":
    main()
