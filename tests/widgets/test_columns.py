"""The widget of columns, without a browser: what Python holds, and how it answers."""

from pathlib import Path
from typing import Any

import lance
import numpy as np
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.widgets import Columns, columns


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Write scores that lose the low ones, and a column that comes later."""
    uri, rng = str(tmp_path / "t.lance"), np.random.default_rng(2)
    rows = pa.table({"score": rng.uniform(size=400), "kind": ["a", "b"] * 200})
    lance.write_dataset(rows, uri, enable_stable_row_ids=True)
    lance.dataset(uri).delete("score < 0.25")
    lance.dataset(uri).add_columns({"late": "score * 2"})
    return uri


@pytest.fixture
def widget(path: str) -> Columns:
    return Columns(lx.open_table(path))


def asked(browse: Any, widget: Columns, kind: str, **arguments: Any) -> Any:
    answer = browse(widget).ask(kind, **arguments)
    assert answer["what"] == "reply", answer
    return answer["content"]


def test_the_frame_is_the_profile_of_the_chosen_version(widget: Columns):
    widget.state.version = 2
    table = widget._table
    assert widget.frame().equals(table.profile(versions=[2]).to_polars())
    assert widget.frame().equals(eval(widget.code(), {"table": table}))
    assert widget.selection == {"version": 2}


def test_columns_have_pictures_and_marks(browse: Any, widget: Columns):
    content = asked(browse, widget, "columns", everything=False)
    by_name = {line["name"]: line for line in content["lines"]}
    assert [*by_name] == ["score", "kind", "late"]
    assert content["sentence"] == widget._table.profile().sentence
    [shift] = by_name["score"]["shifts"]
    assert shift["version"] == "2"
    assert "rows deleted where `score < 0.25`" in shift["words"]
    assert {area["label"] for area in by_name["kind"]["areas"]} == {"a", "b"}
    [outer, inner, median] = by_name["score"]["areas"]
    assert (outer["color"], median["color"]) == (inner["color"], None)
    assert median["path"].startswith("M0,")
    assert median["path"].rpartition("L")[2].startswith("3,")
    assert by_name["late"]["areas"][2]["path"].startswith("M2,")


def test_facts_are_those_of_the_version(browse: Any, widget: Columns):
    facts = asked(browse, widget, "version", version="2")["facts"]
    assert [one["name"] for one in facts] == ["score", "kind"]
    line = widget._table.profile("score", versions=[2]).to_polars().row(0, named=True)
    [score, kind] = facts
    assert score["num_rows"] == f"{line['num_rows']} rows"
    assert score["distinct"] == f"{line['num_distinct']} different"
    assert max(score["bars"]) == 1
    assert [words.partition(":")[0] for words in kind["bar_words"]] in (["a", "b"], ["b", "a"])


def test_the_rest_is_read_on_request(browse: Any, widget: Columns, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(columns, "_BYTES_AT_FIRST", 1)
    shown = browse(widget)
    part = shown.ask("columns", everything=False)["content"]
    assert part["unread"]
    assert shown.ask("columns", everything=True)["content"]["unread"] == ""


def test_lost_values_are_told(browse: Any, path: str):
    for file in Path(path, "data").iterdir():
        file.unlink()
    content = asked(browse, Columns(lx.open_table(path)), "columns", everything=False)
    assert "rows are not read" in str(content)
