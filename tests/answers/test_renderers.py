"""The six renderers of an answer: each shows all of it, and text from files stays text."""

import json
from datetime import UTC, datetime
from xml.etree.ElementTree import fromstring

import polars as pl
import pytest

from lance_explorer.answers import Answer, Line, Place, Section, lines
from lance_explorer.answers.as_json import SCHEMA
from lance_explorer.answers.assistant import MOST_ROWS, MOST_TEXT, assistant_json
from lance_explorer.answers.html import frame_html
from lance_explorer.findings import Finding
from lance_explorer.frames.columns import TEXT, Column, FrameSchema
from lance_explorer.widgets.answer_view import answer_view
from lance_explorer.widgets.messages.base import to_json

HOSTILE = "<script>|`x`|\x1b[31m\u202e"
ROWS = pl.DataFrame({"version": [1, 2], "name": [HOSTILE, None], "size_bytes": [1400, 2**63]})
ANSWER = Answer(
    "2 files, of `id < 3`.",
    (
        Section("totals", None, {"total_bytes": 1400, "is_whole": True}),
        Section("breaks", "This would break", lines([f"It breaks {HOSTILE}"]), is_warning=True),
        Section("steps", "Steps", (Line("look", Place("disk", {"version": 2**63})),)),
        Section("note", "", "as of today"),
        Section("facts", "Facts", {"location": HOSTILE, "size_bytes": 1400, "owner": None}),
        Section("files", "Files", ROWS, shown=ROWS.select("name", "version")),
        Section("empty", "Empty", ROWS.clear()),
        Section("picture", "", lambda: "<svg></svg>"),
    ),
    "dataset.delete('id < 3')",
    is_call=True,
    findings=(Finding("unreadable_manifest", "it is cut off", versions=(3, 3)),),
)
TELLING = ("2 files", "It breaks", "look", "as of today", "1.4 kB", "dataset.delete", "cut off")


def rendered() -> dict[str, str]:
    return {
        "html": ANSWER.html(),
        "terminal": ANSWER.text(80),
        "wide terminal": ANSWER.text(200),
        "markdown": ANSWER.markdown(),
    }


@pytest.mark.parametrize("form", rendered())
def test_people_see_all_that_answers_and_nothing_for_programs(form):
    told = rendered()[form]
    for words in TELLING:
        assert words in told, words
    assert "is_whole" not in told
    assert "Empty" not in told
    assert "\x1b" not in told
    assert "\u202e" not in told


def test_html_has_no_markup_from_files_and_draws_pictures():
    html = ANSWER.html()
    assert "<script>" not in html
    assert "<svg></svg>" in html
    assert "<code>id &lt; 3</code>" in html
    assert 'class="danger"' in html
    fromstring(f"<div>{html}</div>")


def test_markdown_tables_keep_their_columns():
    rows = [line for line in ANSWER.markdown().splitlines() if line.startswith("|")]
    for row in rows:
        bare = row.replace("\\|", "")
        assert bare.count("|") == 3, row


@pytest.mark.parametrize("width", [40, 80, 200])
def test_lines_of_a_terminal_fit(width):
    assert max(map(len, ANSWER.text(width).splitlines())) <= width


def test_what_answers_the_question_comes_first_where_columns_are_many():
    frame = pl.DataFrame({f"c{number}": ["x" * 40] for number in range(12)})
    told = Answer("", (Section("rows", "", frame),)).text(80)
    assert told.splitlines()[0].split() == ["c0", "x" * 40]
    assert "c11" in told


def test_json_is_read_back_with_all_digits():
    told = json.loads(ANSWER.json())
    assert [*told] == ["schema", "answer", "sections", "findings", "code"]
    assert told["schema"] == SCHEMA
    assert told["sections"]["files"] == {
        "title": "Files",
        "columns": ROWS.columns,
        "rows": [
            {"version": 1, "name": HOSTILE, "size_bytes": 1400},
            {"version": 2, "name": None, "size_bytes": 2**63},
        ],
    }
    assert told["sections"]["totals"]["facts"] == {"total_bytes": 1400, "is_whole": True}
    assert told["sections"]["breaks"]["lines"] == [f"It breaks {HOSTILE}"]
    assert told["sections"]["empty"]["columns"] == ROWS.columns
    assert told["findings"] == [
        {
            "code": "unreadable_manifest",
            "topic": "metadata",
            "severity": "error",
            "statement": "it is cut off",
            "subject": {"kind": "table"},
            "versions": [3, 3],
            "consequence": "The version is left out.",
            "remedy": {"statement": "Restore its file from a backup."},
        }
    ]


def test_an_assistant_gets_the_same_within_bounds():
    many = Answer("many", (Section("rows", "", pl.DataFrame({"text": ["x" * 5000] * 1000})),))
    text = assistant_json(many, 1000)
    told = json.loads(text)
    assert len(text) < MOST_TEXT + 2000
    assert 0 < len(told["data_of_the_table"]["rows"]) <= MOST_ROWS
    assert told["more"].startswith(f"{1000 - len(told['data_of_the_table']['rows']):,} more rows")
    assert next(iter(told)) == "note"
    data = json.loads(assistant_json(ANSWER))["data_of_the_table"]
    assert [*data] == [section.name for section in ANSWER.sections[:-1]]


def test_views_get_places_with_numbers_as_texts():
    told = to_json(answer_view(ANSWER))
    assert [section["name"] for section in told["sections"]] == [
        "breaks",
        "steps",
        "note",
        "facts",
        "files",
    ]
    [step] = told["sections"][1]["lines"]
    assert step["place"]["choices"] == {"version": str(2**63)}
    version = {"name": "version", "is_number": True, "is_words": False}
    assert told["sections"][4]["columns"][1] == version
    json.dumps(told, allow_nan=False)


def cells(frame: pl.DataFrame) -> list[list[str]]:
    body = next(fromstring(frame_html(frame)).iter("tbody"))
    return [["".join(cell.itertext()) for cell in row] for row in body]


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
    [[ids, name]] = cells(pl.DataFrame({"ids": [list(range(1000))], "name": ["x" * 1_000_000]}))
    assert ids.endswith("18, 19 and 980 more")
    assert name == "x" * 400 + "..."


def test_a_column_says_what_it_means():
    schema = FrameSchema("files", (Column("path", TEXT, 'where it <is>, or "was"'),))
    rows = Section("rows", "", pl.DataFrame({"path": ["a"]}), schema=schema)
    assert 'title="where it &lt;is&gt;, or &#34;was&#34;">path</th>' in Answer("", (rows,)).html()


def test_names_in_backticks_are_code_in_sentences_alone():
    frame = pl.DataFrame({"did": ["`a` and `<b>`, not `c"], "path": ["`a`"]})
    html = Answer("", (Section("rows", "", frame, words=("did",)),)).html()
    assert "<code>a</code> and <code>&lt;b&gt;</code>, not `c</td>" in html
    assert ">`a`</td>" in html
