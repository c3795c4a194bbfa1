"""docs/LEDGER.md: its columns are those of the files, and its queries find what they say."""

import re
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from tools.write_ledger_page import PAGE, with_columns

_TEXT = PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[lx.Table, str]:
    """Return a table, and the folder of its files in a ledger."""
    folder = tmp_path_factory.mktemp("page")
    people = pa.table({"id": pa.array(range(10), pa.int64())})
    dataset: Any = lance.write_dataset(people, folder / "photos.lance", enable_stable_row_ids=True)
    dataset.insert(people)
    dataset.delete("id = 3")
    dataset.optimize.compact_files()
    dataset.insert(people)
    ledger = lx.Ledger(folder / "ledgers")
    ledger.record(dataset)
    ledger.compact()
    [own] = Path(ledger.uri).iterdir()
    return lx.open_table(dataset), str(own)


def _code(language: str, folder: str) -> list[str]:
    """Return the queries of the page in one language, for another folder."""
    after = _TEXT.partition("## Queries")[2]
    found = re.findall(rf"```{language}\n(.*?)```", after, re.DOTALL)
    return [re.sub(r"ledgers/photos\.lance-\w+", folder, query) for query in found]


def test_the_columns_are_those_of_the_files() -> None:
    assert with_columns(_TEXT) == _TEXT


def test_who_deleted_what_is_found_with_polars(recorded: tuple[lx.Table, str]) -> None:
    _, folder = recorded
    [code] = _code("python", folder)
    names: dict[str, Any] = {}
    exec(code, names)
    found = names["deleted"].select("version", "fragment_id", "change", "num_deleted_rows")
    assert found.sort("fragment_id").rows() == [(3, 0, "changed", 1), (3, 1, "changed", 1)]


def test_the_fragments_of_a_version_are_found_with_sql(recorded: tuple[lx.Table, str]) -> None:
    table, folder = recorded
    query = _code("sql", folder)[1]
    fragments = pl.read_parquet(f"{folder}/fragments-*.parquet")
    text = re.sub(r"parquet\.`.*?`", "fragments", query)
    for version in table.versions()["version"]:
        found = pl.sql(text.replace("<= 7", f"<= {version}"), eager=True)
        expected = table.at(version).inspect.fragments()
        assert found["fragment_id"].to_list() == expected["fragment_id"].sort().to_list()
        assert len(fragments)
