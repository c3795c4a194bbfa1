import polars as pl
import pytest

from lance_explorer.cells.text import digest_of
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.widgets.frame_table import FrameTable
from lance_explorer.widgets.row_sources import FrameRows

BIG = 2**64 - 1
PNG = b"\x89PNG\r\n\x1a\n" + bytes(50)

FRAME = pl.DataFrame(
    {
        "id": pl.Series([BIG, 5, None, 7], dtype=pl.UInt64),
        "name": ["<b>one</b>", "two", "three", None],
        "vector": [[1.0], [2.0], [3.0], [4.0]],
    }
)


@pytest.fixture
def table():
    made = FrameTable(FRAME)
    yield made
    made.close()


@pytest.fixture
def browser(table, browse):
    return browse(table)


def settle(table):
    assert table._worker.wait(60)


def test_a_page_has_the_asked_rows_as_text(browser):
    page = browser.ask("page", first=0, count=2)["content"]
    assert page["cells"] == [
        ["18446744073709551615", "5"],
        ["<b>one</b>", "two"],
        ["[1.0]", "[2.0]"],
    ]
    assert (page["first"], page["positions"], page["selected"]) == (0, [0, 1], [False, False])


@pytest.mark.parametrize(("first", "count", "rows"), [(3, 9, [3]), (99, 9, []), (-5, 2, [0, 1])])
def test_a_page_beyond_the_rows_has_those_there_are(browser, first, count, rows):
    assert browser.ask("page", first=first, count=count)["content"]["positions"] == rows


def test_the_browser_is_told_of_columns_and_counts(browser):
    about = browser.ask("rows")["content"]
    assert [column["name"] for column in about["columns"]] == ["id", "name", "vector"]
    assert [column["is_sortable"] for column in about["columns"]] == [True, True, False]
    assert (about["num_rows"], about["num_source_rows"], about["failure"]) == (4, 4, None)


def test_sort_of_the_browser_is_sort_in_python(table, browser):
    browser.ask("sort", sorts=[[0, True]])
    assert [(sort.column, sort.descending) for sort in table.sort] == [("id", True)]
    assert table.frame()["id"].to_list() == [BIG, 7, 5, None]
    assert browser.ask("page", first=0, count=4)["content"]["positions"] == [0, 3, 1, 2]
    assert browser.news("rows")[-1]["sorts"] == [[0, True]]


def test_filter_of_the_state_is_the_filter_of_the_rows(table, browser):
    table.state.filter = "id > 6"
    settle(table)
    told = browser.news("rows")[-1]
    assert (told["num_rows"], told["is_expression"], told["failure"]) == (2, True, None)
    assert table.frame()["id"].to_list() == [BIG, 7]


def test_a_wrong_filter_leaves_the_rows_and_tells_why(table, browser):
    table.filter = "nope > 6"
    settle(table)
    told = browser.news("rows")[-1]
    assert told["num_rows"] == 4
    assert 'unable to find column "nope"' in told["failure"]["message"]
    with pytest.raises(InvalidArgumentError, match="nope"):
        table.frame()
    table.filter = ""
    settle(table)
    assert browser.news("rows")[-1]["failure"] is None


def test_frame_does_not_wait_for_the_background(table):
    table.filter = "two"
    assert table.frame()["name"].to_list() == ["two"]


def test_rows_are_selected_by_where_they_are_shown_and_told_by_where_they_are(table, browser):
    browser.ask("sort", sorts=[[0, True]])
    browser.ask("select", row=1, anchor=2, how="only")
    assert table.selection == [1, 3]
    browser.ask("select", row=1, anchor=1, how="toggle")
    assert table.selection == [1]
    assert table.selected_rows()["id"].to_list() == [5]
    assert browser.ask("page", first=0, count=4)["content"]["selected"] == [
        False,
        False,
        True,
        False,
    ]
    browser.ask("select", row=0, anchor=0, how="all")
    assert table.selection == [0, 1, 2, 3]
    browser.ask("select", row=0, anchor=0, how="none")
    assert table.selection == []


def test_python_selects(table, browser):
    table.selection = [3, 1, 3]
    assert table.selection == [1, 3]
    assert browser.news("selection")[-1] == {"num_selected": 2}
    for wrong in ([4], [-1]):
        with pytest.raises(InvalidArgumentError, match="from 0 to 3"):
            table.selection = wrong


def test_csv_has_what_is_selected_in_the_order_shown(table, browser):
    everything = browser.ask("csv")["content"]
    assert (everything["num_rows"], everything["num_total"]) == (4, 4)
    assert everything["text"].splitlines()[1] == "18446744073709551615,<b>one</b>,[1.0]"
    table.sort_by("id")
    settle(table)
    table.selection = [0, 3]
    selected = browser.ask("csv")["content"]
    assert selected["text"].splitlines()[1:] == [
        "7,,[4.0]",
        "18446744073709551615,<b>one</b>,[1.0]",
    ]


def test_the_detail_is_the_whole_value(browser):
    detail = browser.ask("detail", row=0, column=0)["content"]
    assert detail["text"] == "18446744073709551615"
    assert browser.ask("detail", row=2, column=0)["content"]["text"] is None


@pytest.mark.parametrize(("row", "column"), [(4, 0), (0, 3), (-1, 0)])
def test_a_value_that_is_no_longer_shown_has_no_detail(browser, row, column):
    answer = browser.ask("detail", row=row, column=column)
    assert answer["what"] == "error"
    assert "not shown any more" in answer["content"]["message"]


def test_a_very_long_value_is_cut_and_says_so(browse):
    detail = browse(FrameTable(pl.DataFrame({"text": ["é" * 2_000_000]}))).ask(
        "detail", row=0, column=0
    )["content"]
    assert (len(detail["text"]), detail["shown"], detail["size"]) == (100_000, 100_000, 2_000_000)


def test_marks_go_with_their_rows(browse):
    marks = pl.DataFrame({"name": ["changed", None, None, "added"]})
    table = FrameTable(FRAME, marks=marks)
    table.sort_by("id", descending=True)
    settle(table)
    page = browse(table).ask("page", first=0, count=4)["content"]
    assert page["marks"] == {"1": ["changed", "added", None, None]}


@pytest.mark.parametrize("marks", [pl.DataFrame({"id": [None]}), pl.DataFrame({"x": [None] * 4})])
def test_marks_that_do_not_fit_are_refused(marks):
    with pytest.raises(InvalidArgumentError, match="marks"):
        FrameTable(FRAME, marks=marks)


class Watched(FrameRows):
    """Rows that tell which columns were asked for."""

    is_in_memory = False

    def __init__(self, frame):
        super().__init__(frame)
        self.asked = []

    def slice(self, start, stop, columns=None):
        self.asked.append((stop - start, columns))
        return super().slice(start, stop, columns)


@pytest.fixture
def wide():
    made = FrameTable(Watched(pl.DataFrame({f"c{i}": [i, i + 1] for i in range(500)})))
    yield made
    made.close()


def test_of_many_columns_the_first_are_shown_and_no_others_read(wide, browse):
    browser = browse(wide)
    about = browser.ask("rows")["content"]
    assert (len(about["columns"]), about["num_columns"]) == (30, 500)
    assert len(browser.ask("page", first=0, count=1)["content"]["cells"]) == 30
    assert len(browser.ask("heads")["content"]["heads"]) == 30
    assert browser.ask("csv")["content"]["text"].splitlines()[0] == ",".join(wide.shown_columns)
    assert {len(columns) for _, columns in wide._source.asked} == {30}


def test_columns_are_chosen_by_their_places(wide, browse):
    browser = browse(wide)
    every = browser.ask("columns")["content"]
    assert (len(every["columns"]), every["most"]) == (500, 200)
    assert [column["is_shown"] for column in every["columns"]] == [True] * 30 + [False] * 470
    browser.ask("show_columns", places=[499, 3])
    about = browser.news("rows")[-1]
    assert [(one["name"], one["place"]) for one in about["columns"]] == [("c499", 499), ("c3", 3)]
    assert browser.ask("page", first=1, count=1)["content"]["cells"] == [["500"], ["4"]]
    assert browser.ask("detail", row=1, column=499)["content"]["text"] == "500"
    browser.ask("sort", sorts=[[499, True]])
    assert wide.sort[0].column == "c499"
    browser.ask("show_columns", places=[*range(500)])
    assert len(wide.shown_columns) == 200
    browser.ask("show_columns", places=[])
    assert wide.shown_columns == []
    assert browser.ask("page", first=0, count=2)["content"]["cells"] == []
    browser.ask("show_columns", places=None)
    assert wide.shown_columns[-1] == "c29"


def test_python_chooses_columns_and_they_stay_chosen(wide, browse):
    browser = browse(wide)
    wide.shown_columns = ["c7", "c2"]
    assert [one["name"] for one in browser.news("rows")[-1]["columns"]] == ["c7", "c2"]
    wide.show_rows(FrameRows(pl.DataFrame({"other": [1], "c2": [2]})))
    settle(wide)
    assert wide.shown_columns == ["c2"]
    wide.show_rows(FrameRows(pl.DataFrame({"other": [1]})))
    settle(wide)
    assert wide.shown_columns == ["other"]
    again = FrameTable(pl.DataFrame({"c2": [1], "x": [1]}), state=wide.state)
    assert again.shown_columns == ["c2"]
    with pytest.raises(InvalidArgumentError, match="no column 'nope'"):
        again.shown_columns = ["nope"]


def test_too_many_columns_are_refused(wide):
    with pytest.raises(InvalidArgumentError, match="201 columns are too many to show: at most 200"):
        wide.shown_columns = [f"c{i}" for i in range(201)]


def test_heads_tell_of_the_rows_that_are_shown(table, browser):
    told = browser.ask("heads")["content"]
    assert (told["num_rows"], told["num_total"]) == (4, 4)
    number, name, vector = told["heads"]
    assert (number["least"], number["middle"], number["most"]) == ("5", "7", str(BIG))
    assert (number["num_nulls"], number["num_distinct"], number["has_order"]) == (1, "3", True)
    assert [bar["count"] for bar in name["bars"]] == [1, 1, 1]
    assert not name["has_order"]
    assert (vector["bars"], vector["num_distinct"], vector["num_nulls"]) == ([], None, 0)
    table.filter = "id > 6"
    settle(table)
    told = browser.ask("heads")["content"]
    assert (told["num_rows"], told["heads"][0]["least"]) == (2, "7")


def test_heads_of_rows_that_are_read_are_of_as_many_as_are_read_fast(browse):
    small = Watched(pl.DataFrame({"n": range(5_000)}))
    told = browse(FrameTable(small)).ask("heads")["content"]
    assert (told["num_rows"], told["num_total"], told["heads"][0]["most"]) == (1_000, 5_000, "999")
    large = Watched(pl.DataFrame({"text": ["x" * 100_000] * 500}))
    told = browse(FrameTable(large)).ask("heads")["content"]
    assert 20 < told["num_rows"] < 100
    assert max(count for count, _ in large.asked) == told["num_rows"]


def test_pictures_that_were_there_before_are_named(browse):
    class Changed(FrameRows):
        def earlier(self, positions, columns):
            return pl.DataFrame({"image": [PNG, b"other", None]})

    table = FrameTable(Changed(pl.DataFrame({"image": [PNG] * 3})))
    page = browse(table).ask("page", first=0, count=3)["content"]
    assert page["earlier"] == {
        "0": [f"PNG image, {len(PNG)} bytes, {digest_of(PNG)}", "6f74686572 (5 bytes)", None],
    }


def test_cells_show_pictures_and_lines(browse):
    frame = pl.DataFrame(
        {
            "image": [PNG, b"other", None],
            "vector": pl.Series([[0.0, 1.0, 2.0, 3.0, 4.0]] * 3, dtype=pl.Array(pl.Float32, 5)),
            "exif": [{"mm": 2**60, "f": [2.0]}] * 3,
        }
    )
    browser = browse(FrameTable(frame))
    about = browser.ask("rows")["content"]
    assert [column["kind"] for column in about["columns"]] == ["binary", "vector", "nested"]
    image, vector, nested = browser.ask("page", first=0, count=3)["content"]["pieces"]
    assert image[0]["data"].startswith("data:image/png;base64,")
    assert (image[1:], nested) == ([None, None], None)
    assert vector[0]["points"] == [0.0, 0.25, 0.5, 0.75, 1.0]
    detail = browser.ask("detail", row=0, column=0)["content"]
    assert detail["piece"]["words"] == f"PNG image, {len(PNG)} bytes, {digest_of(PNG)}"
    assert browser.ask("detail", row=0, column=1)["content"]["piece"]["kind"] == "line"
    assert (
        browser.ask("detail", row=0, column=2)["content"]["text"]
        == '{"mm":1152921504606846976,"f":[2.0]}'
    )


def test_other_rows_can_be_shown(table, browser):
    table.sort_by("id")
    table.selection = [1]
    table.show_rows(FrameRows(pl.DataFrame({"other": [1, 2]})))
    settle(table)
    assert (table.selection, table.sort, table.frame().columns) == ([], (), ["other"])
    assert browser.news("rows")[-1]["num_rows"] == 2


def test_static_html_shows_the_first_rows_escaped(table):
    html = table.static_html()
    assert "&lt;b&gt;one&lt;/b&gt;" in html
    assert "4 of 4 rows" in html


def test_columns_without_order_cannot_be_sorted_by(table):
    for name in ("vector", "nope"):
        with pytest.raises(InvalidArgumentError, match=name):
            table.sort_by(name)


def test_only_rows_are_shown():
    with pytest.raises(InvalidArgumentError, match="got list"):
        FrameTable([1, 2])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="has no option heigth; it has rows, height, marks, state"):
        FrameTable(FRAME, heigth=3)  # type: ignore[call-arg]


def test_a_frame_without_rows_or_columns_is_shown(browse):
    for frame in (FRAME.clear(), pl.DataFrame()):
        browser = browse(FrameTable(frame))
        assert browser.ask("rows")["content"]["num_rows"] == 0
        assert browser.ask("page", first=0, count=5)["content"]["positions"] == []
        assert browser.ask("csv")["what"] == "reply"


def test_it_says_how_large_it_is():
    assert repr(FrameTable(FRAME)) == "FrameTable(4 rows, 3 columns)"
