"""HTML of texts and frames: escaped, cut, and written as a person would."""

from datetime import UTC, datetime
from xml.etree.ElementTree import fromstring

import polars as pl

from lance_explorer.frames.columns import TEXT, Column, FrameSchema
from lance_explorer.report.markup import definitions, frame_table, paragraph


def cells(frame: pl.DataFrame, **options) -> list[list[str]]:
    body = fromstring(frame_table(frame, "rows", **options)).iter("tbody")
    return [["".join(cell.itertext()) for cell in row] for row in next(body)]


def test_values_are_written_as_a_person_would():
    frame = pl.DataFrame(
        {
            "num_rows": pl.Series([2**63, None], dtype=pl.UInt64),
            "data_bytes": [1_400_000_000, 0],
            "fraction": [0.123456, None],
            "is_current": [True, False],
            "timestamp": [datetime(2026, 1, 31, 9, 30, 5, tzinfo=UTC), None],
            "tags": [["gold", "best"], []],
        }
    )
    assert cells(frame) == [
        [
            "9,223,372,036,854,775,808",
            "1.4 GB",
            "0.123",
            "yes",
            "2026-01-31 09:30:05",
            "gold, best",
        ],
        ["", "0 bytes", "", "no", "", ""],
    ]


def test_long_lists_and_texts_are_cut():
    frame = pl.DataFrame({"ids": [list(range(1000))], "name": ["x" * 1_000_000]})
    [[ids, name]] = cells(frame)
    assert ids.endswith("18, 19 and 980 more")
    assert name == "x" * 400 + "..."


def test_a_column_says_what_it_means():
    schema = FrameSchema("files", (Column("path", TEXT, 'where it <is>, or "was"'),))
    html = frame_table(pl.DataFrame({"path": []}), "", schema)
    assert '<th scope="col" title="where it <is&gt;, or &quot;was&quot;">path</th>' in html


def test_names_in_backticks_are_code_in_sentences_alone():
    frame = pl.DataFrame({"did": ["`a` and `<b>`, not `c"], "path": ["`a`"]})
    html = frame_table(frame, "", sentences="did")
    words = "<code>a</code> and <code>&lt;b&gt;</code>, not `c"
    assert f'<td class="words">{words}</td><td>`a`</td>' in html


def test_what_cannot_be_seen_is_spelled_out():
    assert paragraph("a\x00\u202eb\ud800") == r"<p>a\x00\u202eb\ud800</p>"
    assert r"<td>\x1b[31m</td>" in definitions({"name": "\x1b[31m"})
