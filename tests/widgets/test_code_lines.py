import polars as pl
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.answers.calls import call, literal
from lance_explorer.widgets.arranging import Sort
from lance_explorer.widgets.code_lines import arranged_code, opening_code
from lance_explorer.widgets.frame_table import FrameTable
from lance_explorer.widgets.state import ExplorerState
from tests.synthetic import SyntheticTable

FRAME = pl.DataFrame({"n": [3, None, 1, 2], "name": ["a", "B", "c", "ab"], "x": [1.5, 2.0, 1.0, 0]})


@pytest.mark.parametrize(
    "value", ["plain", "it's", 'a "b"', """both ' and \"""", "\u202e\n\\", 3, True, ["a", "'", 2]]
)
def test_literals_are_what_they_say(value):
    assert eval(literal(value)) == value


def test_calls_leave_out_what_is_none():
    assert call("f", 1, "a", key=None, images="both") == 'f(1, "a", images="both")'


@pytest.mark.parametrize("typed", ["", "n > 1", "b", '"n"', "1", "name = 'it''s'", "n is null"])
@pytest.mark.parametrize("sorts", [(), (Sort("x", descending=True),), (Sort("n"), Sort("name"))])
def test_rows_are_filtered_and_sorted_as_in_a_table(typed, sorts):
    table = FrameTable(FRAME, state=ExplorerState(filter=typed))
    table._choose_sorts([(sort.column, sort.descending) for sort in sorts])
    found = eval(arranged_code("FRAME", FRAME.schema, typed, sorts), globals())
    assert_frame_equal(found, table.frame())


def test_a_filter_that_is_wrong_fails_as_code_too():
    with pytest.raises(pl.exceptions.PolarsError):
        eval(arranged_code("FRAME", FRAME.schema, "nothing > 1"), globals())


def test_a_table_is_opened_by_its_name_and_branch(tmp_path):
    made = SyntheticTable(tmp_path / 'it\'s a "t".lance').append()
    made.branch("dev/one").append()
    names: dict[str, object] = {}
    exec(opening_code(lx.open_table(made.path, branch="dev/one"), "found = table"), names)
    assert isinstance(names["found"], lx.Table)
    assert (names["found"].branch, names["found"].uri) == ("dev/one", str(made.path))


def test_storage_options_are_there_by_name_only(tmp_path):
    made = SyntheticTable(tmp_path / "t.lance").append()
    options = {"aws_secret_access_key": "hush", "timeout": "30s"}
    code = opening_code(lx.open_table(made.path, storage_options=options), "table.versions()")
    assert "hush" not in code
    assert 'storage_options = {"aws_secret_access_key": ..., "timeout": ...}  # fill in' in code
    assert "storage_options=storage_options)" in code


def test_polars_is_imported_where_it_is_used(tmp_path):
    table = lx.open_table(SyntheticTable(tmp_path / "t.lance").append().path)
    assert "import polars" not in opening_code(table, "table.versions()")
    assert "import polars as pl" in opening_code(table, "table.versions().filter(pl.col('a'))")


def test_what_filters_by_text_is_imported(tmp_path):
    table = lx.open_table(SyntheticTable(tmp_path / "t.lance").append().append().path)
    versions = table.versions()
    code = arranged_code("table.versions()", versions.schema, "append")
    *lines, last = opening_code(table, code).splitlines()
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    assert_frame_equal(eval(last, names), versions.tail(1))
    assert "FrameTable" not in opening_code(table, "table.versions()")
