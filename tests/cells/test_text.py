import csv
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from io import StringIO

import polars as pl
import pytest

from lance_explorer.cells.csv import csv_of
from lance_explorer.cells.text import briefs_of, sizes_of, texts_of

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 600)  # noqa: DTZ001 - a time without zone is meant

TEXTS = [
    (pl.Series([2**64 - 1], dtype=pl.UInt64), "18446744073709551615"),
    (pl.Series([-(2**127)], dtype=pl.Int128), str(-(2**127))),
    (pl.Series([0.1], dtype=pl.Float32), "0.1"),
    (pl.Series([float("nan")]), "NaN"),
    (pl.Series([True]), "true"),
    (pl.Series([Decimal("1.10")]), "1.10"),
    (pl.Series([MOMENT]), "2026-01-02 03:04:05.000600"),
    (pl.Series([MOMENT.replace(tzinfo=UTC)]), "2026-01-02 03:04:05.000600 UTC"),
    (pl.Series([MOMENT.date()]), "2026-01-02"),
    (pl.Series([MOMENT.time()]), "03:04:05.000600"),
    (pl.Series([timedelta(days=1, seconds=2)]), "P1DT2S"),
    (pl.Series([b"\x00\xff"]), "00ff"),
    (pl.Series(["a\nb"]), "a\nb"),
    (pl.Series(["x"], dtype=pl.Categorical), "x"),
    (pl.Series([[1, None]]), "[1,null]"),
    (pl.Series([[0.1, 2.0]], dtype=pl.Array(pl.Float32, 2)), "[0.1,2.0]"),
    (pl.Series([{"a": 1, "raw": b"\x01"}]), '{"a":1,"raw":"01"}'),
    (pl.Series([[{"at": MOMENT}]]), '[{"at":"2026-01-02 03:04:05.000600"}]'),
    (pl.Series([[date(2026, 1, 2)]]), '["2026-01-02"]'),
    (pl.Series([[time(1)]]), '["01:00:00"]'),
    (pl.Series([{}], dtype=pl.Struct([])), "{}"),
    (pl.Series([range(3)], dtype=pl.Object), "range(0, 3)"),
]


@pytest.mark.parametrize(("column", "text"), TEXTS, ids=[str(c.dtype) for c, _ in TEXTS])
@pytest.mark.parametrize("name", ["value", "^a.*$", "*", ""])
def test_values_of_every_type_have_an_exact_text(column, text, name):
    column = column.alias(name)
    assert texts_of(column, 100).to_list() == [text]
    if column.dtype != pl.Object:
        missing = column.alias("value").clear(1).alias(name)
        assert texts_of(missing, 100).to_list() == [None]
        assert [part.to_list() for part in briefs_of(missing)] == [[None], [False]]


@pytest.mark.parametrize(
    ("value", "shown", "size"),
    [("abcd", "ab", 4), (b"abcd", "6162", 4), ([1, 2, 3], "[1,2]", 3)],
)
def test_long_values_are_cut_before_they_become_text(value, shown, size):
    column = pl.Series([value])
    assert texts_of(column, 2).to_list() == [shown]
    sizes = sizes_of(column)
    assert sizes is not None
    assert sizes.to_list() == [size]


@pytest.mark.parametrize(
    ("value", "summary", "is_more"),
    [
        ("short", "short", False),
        ("x" * 161, "x" * 160 + "… (161 characters, #fdb7f3c4)", True),
        (b"ab", "6162 (2 bytes)", False),
        (b"a", "61 (1 byte)", False),
        (b"", "(0 bytes)", False),
        (bytes(100), "00" * 40 + "… (100 bytes, #cd00e292)", True),
        (list(range(12)), "[0,1,2,3,4,5,6,7,8,9,10,11]", False),
        (list(range(13)), "[0,1,2,3,4,5,6,7,8,9,10,11,…] (13 items, #47a0f91f)", True),
        ({"a": "x" * 200}, '{"a":"' + "x" * 154 + "… (208 characters, #6ee0363b)", True),
    ],
)
def test_summaries_say_that_there_is_more(value, summary, is_more):
    texts, more = briefs_of(pl.Series([value]))
    assert (texts[0], more[0]) == (summary, is_more)


def test_csv_reads_back_as_the_same_texts():
    frame = pl.DataFrame(
        {
            "id": pl.Series([2**64 - 1, None], dtype=pl.UInt64),
            'a "name", quoted': ['say "hi",\nplease', None],
            "raw": [b"\x00\xff", None],
            "vector": [[0.5, 1.0], None],
            "at": [MOMENT, None],
        }
    )
    head, first, second = csv.reader(StringIO(csv_of(frame)))
    assert head == frame.columns
    assert first == [
        "18446744073709551615",
        'say "hi",\nplease',
        "00ff",
        "[0.5,1.0]",
        "2026-01-02 03:04:05.000600",
    ]
    assert second == [""] * 5
