"""Rows with values: columns of the table that are called like a column of the frame."""

import pytest

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.inspect.rows import ROWS, rows
from tests.inspect.tables import stored, write


def test_a_column_that_is_called_like_one_of_the_frame_has_an_underscore_after_it(tmp_path):
    write(
        tmp_path / "t.lance",
        id=[1, 2],
        created_at_version=[70, 80],
        created_at_source=[True, False],
    )
    frame = rows(stored(tmp_path / "t.lance"), 1, ["created_at_source", "id", "created_at_version"])
    assert frame.columns == [*ROWS.names, "created_at_source_", "id", "created_at_version_"]
    assert frame["created_at_version_"].to_list() == [70, 80]
    assert frame["created_at_source_"].to_list() == [True, False]


def test_another_column_keeps_its_name_beside_one_that_got_an_underscore(tmp_path):
    write(tmp_path / "t.lance", created_at_version=[7], created_at_version_=[8])
    frame = rows(stored(tmp_path / "t.lance"), 1, ["created_at_version", "created_at_version_"])
    assert frame.columns == [*ROWS.names, "created_at_version__", "created_at_version_"]
    assert frame.row(0)[-2:] == (7, 8)


def test_system_columns_that_are_asked_for_are_there_once(tmp_path):
    write(tmp_path / "t.lance", id=[1, 2])
    source = stored(tmp_path / "t.lance")
    asked = ["_rowaddr", "id", "_row_created_at_version"]
    assert rows(source, 1, asked).columns == [*ROWS.names, "id"]
    assert rows(source, 1, asked[:1]).equals(rows(source, 1))


def test_an_unknown_column_is_refused(tmp_path):
    write(tmp_path / "t.lance", id=[1])
    with pytest.raises(InvalidArgumentError, match="nope"):
        rows(stored(tmp_path / "t.lance"), 1, ["nope"])
