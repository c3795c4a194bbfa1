import numpy as np
import polars as pl
import pytest

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.widgets.arranging import Sort, arrange, is_sortable, read_filter
from lance_explorer.widgets.row_sources import FrameRows
from lance_explorer.widgets.worker import Cancelled

BIG = 2**64 - 1

FRAME = pl.DataFrame(
    {
        "id": pl.Series([BIG, BIG - 1, 7, None, 7], dtype=pl.UInt64),
        "city": ["Oslo", "oslo", None, "Lima", "Bern"],
        "tags": [["new", "sea"], [], None, ["Sea"], ["x"]],
        "at": pl.Series([2.5, None, 77.0, 1.0, 0.0]),
        "vector": pl.Series([[7.0, 7.0]] * 5, dtype=pl.Array(pl.Float32, 2)),
        "raw": [b"Lima", None, b"", b"", b""],
        "ok": [True, False, None, True, False],
    }
)


def positions(typed="", *sorts):
    found = arrange(FrameRows(FRAME), typed, sorts, lambda: None)
    return found.positions_of(0, 10).to_list()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("", [0, 1, 2, 3, 4]),
        (f"id = {BIG}", [0]),
        (f"id < {BIG} AND id > 7", [1]),
        ("city IS NULL", [2]),
        ("ok", [0, 3]),
        ("not ok", [1, 4]),
        ("city IN ('Lima', 'Bern') OR id IS NULL", [3, 4]),
    ],
)
def test_an_expression_keeps_the_rows_for_which_it_is_true(typed, expected):
    assert positions(typed) == expected


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("OSLO", [0, 1]),
        ("sea", [0, 3]),
        ("1844674407370955161", [0, 1]),
        ("77", [2]),  # not 7.0 of the vectors
        ("lima", [3]),  # not the bytes
        ('"ok"', []),
        ("true", [0, 3]),
        ("o*lo", []),
        ("1 = 1", []),
        ("black and white", []),
    ],
)
def test_text_is_looked_for_in_all_columns_but_vectors_and_bytes(typed, expected):
    assert positions(typed) == expected


@pytest.mark.parametrize(
    "typed", ["idd > 3", "city > 3", "id = 'x' AND", "id >", "nope IS NULL", "nope like 'a%'"]
)
def test_a_wrong_expression_is_refused(typed):
    with pytest.raises(InvalidArgumentError):
        positions(typed)


def test_text_with_an_operator_is_looked_for_when_quoted():
    assert read_filter('"a > b"', FRAME.schema).text == "a > b"


@pytest.mark.parametrize(
    ("sorts", "expected"),
    [
        ([Sort("id")], [2, 4, 1, 0, 3]),
        ([Sort("id", descending=True)], [0, 1, 2, 4, 3]),
        ([Sort("id"), Sort("city")], [4, 2, 1, 0, 3]),
        ([Sort("ok"), Sort("id", descending=True)], [1, 4, 0, 3, 2]),
    ],
)
def test_sorting_is_stable_with_nulls_last(sorts, expected):
    assert positions("", *sorts) == expected


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.drawn(1)
def test_equal_rows_of_a_long_frame_keep_their_order(descending, seed):
    values = np.random.default_rng(seed).integers(0, 3, 10_000)
    source = FrameRows(pl.DataFrame({"n": values}))
    shown = arrange(source, "", (Sort("n", descending),), lambda: None)
    expected = np.argsort(-values if descending else values, kind="stable")
    assert shown.positions_of(0, 10_000).to_list() == expected.tolist()


def test_sorting_goes_over_what_the_filter_leaves():
    assert positions("id > 5", Sort("city")) == [4, 0, 1, 2]


def test_names_that_polars_takes_for_patterns_are_names():
    frame = pl.DataFrame({"^a.*$": [2, 1], "a": [1, 2], "*": [3, 4]})
    for name in frame.columns:
        shown = arrange(FrameRows(frame), "2", (Sort(name),), lambda: None)
        assert shown.frame().columns == frame.columns


@pytest.mark.parametrize("dtype", [pl.List(pl.Int8), pl.Struct({"a": pl.Int8}), pl.Object()])
def test_values_without_an_order_are_not_sorted(dtype):
    assert not is_sortable(dtype)


def test_a_check_that_raises_ends_the_work():
    def check():
        raise Cancelled

    with pytest.raises(Cancelled):
        arrange(FrameRows(FRAME), "oslo", (), check)


def test_an_empty_frame_can_be_arranged():
    shown = arrange(FrameRows(FRAME.clear()), "oslo", (Sort("id"),), lambda: None)
    assert (shown.num_rows, shown.frame().schema) == (0, FRAME.schema)
