"""The values of several rows, which are read together."""

from pathlib import Path

import lance
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.lineage import row_values
from lance_explorer.lineage.following import row_history
from lance_explorer.lineage.row_values import values_of_rows, with_values


@pytest.fixture
def table(tmp_path: Path) -> lx.Table:
    """Return a table of four fragments, with updated, moved and deleted rows."""
    path = str(tmp_path / "t.lance")
    for first in range(0, 40, 10):
        ids = range(first, first + 10)
        rows = pa.table({"id": ids, "word": [f"word {n}" for n in ids]})
        mode = "append" if first else "create"
        dataset = lance.write_dataset(rows, path, mode=mode, enable_stable_row_ids=True)
    dataset.update({"word": "'new'"}, "id % 7 = 3")
    dataset.delete("id in (5, 25)")
    dataset.optimize.compact_files()
    return lx.open_table(path)


def histories(table: lx.Table) -> dict[int, pl.DataFrame]:
    view = table._view
    return {row_id: row_history(view, row_id) for row_id in (3, 5, 10, 17, 25, 31, 39)}


def check(table: lx.Table) -> None:
    frames = histories(table)
    for row_id, together in values_of_rows(table._view, frames).items():
        assert_frame_equal(together, with_values(table._view, frames[row_id], row_id))


def test_rows_read_together_are_those_read_alone(table: lx.Table) -> None:
    check(table)


def test_where_one_row_is_lost_the_others_are_read(table: lx.Table) -> None:
    [file] = table.inspect.data_files(1)["path"].to_list()
    Path(table.uri, "data", file).unlink()
    lost = lx.open_table(table.uri)
    check(lost)
    read = values_of_rows(lost._view, histories(lost))
    assert read[5]["values"].null_count() == len(read[5])
    assert read[31]["values"].null_count() == 0


def test_each_version_is_read_once(table: lx.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = list[int]()
    read = row_values._values

    def noting(wanted):
        versions.append(wanted[0][0].version)
        return read(wanted)

    monkeypatch.setattr(row_values, "_values", noting)
    values_of_rows(table._view, histories(table))
    assert sorted(versions) == sorted({*versions})
