"""Append, compact and record, again and again; print the new fragments of each compaction.

Run with the URI of a table, and the number of the worker.
"""

import json
import sys
from typing import Any

import lance
import pyarrow as pa

from lance_explorer.lineage.recording import compact_files

ROUNDS = 5


def main(uri: str, number: int) -> None:
    for round_ in range(ROUNDS):
        first = 1000 * number + 100 * round_
        rows = pa.table({"n": range(first, first + 10)})
        dataset: Any = lance.write_dataset(rows, uri, mode="append", max_rows_per_file=5)
        try:
            metrics = compact_files(dataset)
        except OSError as error:
            if "conflict" not in str(error).lower() and "incompatible" not in str(error).lower():
                raise
            continue  # another worker compacted the same fragments
        new = [fragment.id for group in metrics.rewrite_groups for fragment in group.new_frags]
        if new:
            print(json.dumps(new), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
