"""Pages of rows."""

from datetime import UTC, datetime

import lance
import pyarrow as pa
import pytest

from lance_explorer.errors import UnsupportedFeatureError
from lance_explorer.history.source import TableSource
from lance_explorer.widgets.row_page import row_page
from tests.format.samples import DATA
from tests.inspect.tables import STORED, stored, versions_of
from tests.synthetic import SyntheticTable


def page_of(path, columns, first=0, count=20):
    lance.write_dataset(columns, str(path), data_storage_version="2.1")
    return row_page(TableSource(str(path)), 1, first, count)


def cells_of(path, values):
    """Return the cells of a table of one column."""
    return [row[2] for row in page_of(path, pa.table({"value": values}))["cells"]]


@pytest.mark.parametrize("path", STORED, ids=str)
def test_ids_and_addresses_are_those_of_pylance(path, monkeypatch):
    monkeypatch.chdir(DATA / path.parts[0])  # where branches and clones look for their origin
    source = stored(path)
    versions = versions_of(source)
    for version in {versions[0], versions[-1]}:
        page = row_page(source, version, 2, 5)
        dataset = lance.dataset(source.storage.uri, version=version)
        theirs = dataset.to_table(columns=["_rowid", "_rowaddr"], limit=5, offset=2).to_pydict()
        assert [row[0] for row in page["cells"]] == [str(row) for row in theirs["_rowid"]]
        assert [row[1] for row in page["cells"]] == [str(row) for row in theirs["_rowaddr"]]


def test_whole_numbers_are_exact_and_null_is_null(tmp_path):
    values = pa.array([2**64 - 1, None, 2**53 + 1], pa.uint64())
    assert cells_of(tmp_path / "t", values) == ["18446744073709551615", None, "9007199254740993"]


def test_a_vector_says_how_many_items_it_has(tmp_path):
    vector = pa.FixedSizeListArray.from_arrays(pa.array([0.5] * 1536, pa.float32()), 1536)
    assert cells_of(tmp_path / "t", vector) == ["[0.5,0.5,0.5,0.5]… (1536 items)"]


def test_a_short_list_is_shown_whole(tmp_path):
    assert cells_of(tmp_path / "t", pa.array([[1, 2], [], None])) == ["[1,2]", "[]", None]


def test_a_blob_says_how_many_bytes_it_has(tmp_path):
    values = pa.array([b"\x00\xff" * 500, b"\x01"])
    assert cells_of(tmp_path / "t", values) == ["00ff00ff00ff00ff… (1000 bytes)", "01"]


def test_a_megabyte_of_text_is_cut(tmp_path):
    [cell] = cells_of(tmp_path / "t", pa.array(["ä" * 1_000_000]))
    assert cell == "ä" * 100 + "… (1000000 characters)"


def test_a_struct_is_cut_as_a_whole(tmp_path):
    [cell] = cells_of(tmp_path / "t", pa.array([{"a": "x" * 5000}]))
    assert len(cell) == 101
    assert cell.startswith('{"a":"xxx')


def test_times_keep_their_zone(tmp_path):
    values = pa.array([datetime(2026, 1, 2, tzinfo=UTC)], pa.timestamp("us", "UTC"))
    assert cells_of(tmp_path / "t", values) == ["2026-01-02 00:00:00 UTC"]


def test_columns_beyond_a_hundred_are_counted(tmp_path):
    page = page_of(tmp_path / "t", pa.table({f"c{number}": [1] for number in range(150)}))
    assert (len(page["columns"]), page["num_columns"]) == (102, 152)


def test_a_table_without_rows_has_columns(tmp_path):
    page = page_of(tmp_path / "t", pa.table({"id": pa.array([], pa.int64())}))
    assert [column["name"] for column in page["columns"]] == ["_rowid", "_rowaddr", "id"]
    assert page["cells"] == []


def test_an_unknown_reader_flag_is_refused_by_name(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=3)
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    with pytest.raises(UnsupportedFeatureError, match="unknown_1048576"):
        row_page(TableSource(str(table.path)), 1, 0, 10)
