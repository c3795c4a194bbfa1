"""The time-travel widget, without a browser: what Python holds, and how it answers."""

from datetime import UTC, datetime
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

from lance_explorer import open_table
from lance_explorer.widgets import TimeTravel
from lance_explorer.widgets.state import ExplorerState
from tests.synthetic import SyntheticTable


@pytest.fixture
def written(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).append(rows=3)
    return table.delete({0: [1]}).append(rows=2).tag("seven", 2).tag("3", 4)


@pytest.fixture
def widget(written):
    return Listening(open_table(written.path))


class Listening(TimeTravel):
    """Keeps what it sends, since there is no browser."""

    def __init__(self, *arguments, **options):
        self.sent = []
        super().__init__(*arguments, **options)

    def send(self, content, buffers=None):
        self.sent.append(content)

    def ask(self, kind, **arguments):
        """Return the answer to a question of the browser."""
        self.sent.clear()
        self.receive({"kind": kind, "seq": 1, "asker": "test", "arguments": arguments})
        self._worker.wait()
        [message] = [s for s in self.sent if s.get("seq") == 1 and s["what"] in ("reply", "error")]
        assert message["what"] == "reply", message
        return message["content"]


def test_it_begins_with_the_latest_version(widget):
    assert widget.selection == {"version": 4, "fragment_id": None}


def test_it_begins_with_the_version_of_a_shared_state(written):
    state = ExplorerState(version=2)
    widget = TimeTravel(open_table(written.path), state=state)
    assert widget.selection["version"] == 2
    state.version = 3
    state.fragment_id = 1
    assert widget.selection == {"version": 3, "fragment_id": 1}


def test_the_frame_is_that_of_the_chosen_version(widget):
    widget.state.version = 2
    expected = widget._table.inspect.fragments(version=2)
    assert widget.frame().equals(expected)
    assert isinstance(widget.frame(), pl.DataFrame)


def test_an_option_that_it_does_not_have_is_refused(written):
    with pytest.raises(TypeError, match="version"):
        TimeTravel(open_table(written.path), version=3)  # type: ignore[call-arg]


def test_a_version_a_tag_and_a_time_are_found(widget):
    times = widget._table.versions()["timestamp"].to_list()
    second = times[1].astimezone(UTC)
    assert widget.ask("find", text=" 2 ") == {"version": "2"}
    assert widget.ask("find", text="seven") == {"version": "2"}
    assert widget.ask("find", text=second.isoformat()) == {"version": "2"}
    assert widget.ask("find", text=f"{second:%Y-%m-%d %H:%M:%S}") == {"version": "2"}


def test_a_tag_that_looks_like_a_number_is_named_as_one(widget):
    assert widget.ask("find", text="3") == {"version": "3"}
    assert widget.ask("find", text="tag:3") == {"version": "4"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("9", "version 9 never existed"),
        ("nonsense", "no version or tag is called 'nonsense'; a version is a number"),
        ("1999-01-01", "no kept version is as old as 1999-01-01"),
        ("", "no version or tag is called ''"),
    ],
)
def test_what_cannot_be_found_is_said(widget, text, problem):
    assert widget.ask("find", text=text)["problem"].startswith(problem)


def test_a_tag_on_another_branch_says_where_it_is(written):
    written.branch("dev").tag("theirs", 4)
    widget = Listening(open_table(written.path))
    assert "'theirs' is version 4 of branch dev" in widget.ask("find", text="theirs")["problem"]


def test_a_cleaned_version_is_said_to_be_gone(written):
    written.folder.manifest_path(2).unlink()
    problem = Listening(open_table(written.path)).ask("find", text="2")["problem"]
    assert problem.startswith("version 2 was cleaned up")


def test_refresh_finds_what_was_committed_meanwhile(written, widget):
    assert len(widget.ask("history")["operations"]) == 4
    widget.ask("details", version="4")
    written.append(rows=5).update_config(owner="tests")
    assert len(widget.ask("history")["operations"]) == 4
    assert len(widget.ask("history", refresh=True)["operations"]) == 6
    assert widget.ask("details", version="6")["config"]["num_changed"] == 1


def test_rows_that_cannot_be_read_are_a_problem_in_words(widget):
    answer = widget.ask("show_version", version="4")
    assert answer["problem"].startswith("version 4 cannot be read")


def test_rows_under_an_unknown_flag_are_refused_and_the_rest_is_there(written):
    written.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    widget = Listening(open_table(written.path))
    assert "unknown_1048576" in widget.ask("show_version", version="4")["problem"]
    assert widget.ask("details", version="4")["schema"]["num_there"] == 2
    assert len(widget.ask("history")["operations"]) == 4


def test_a_page_without_a_kernel_shows_the_table(widget):
    assert "t.lance" in widget.static_html()


def test_a_time_with_an_offset_is_understood(widget):
    time = widget._table.versions()["timestamp"][1]
    assert isinstance(time, datetime)
    text = time.isoformat().replace("+00:00", "+02:00")
    assert "problem" in widget.ask("find", text=text)  # two hours earlier than the first version


def test_a_row_that_is_clicked_is_chosen_whether_it_moved_or_not(tmp_path):
    for stable in (True, False):
        path = str(tmp_path / f"{stable}.lance")
        rows = pa.table({"n": range(6)})
        dataset: Any = lance.write_dataset(
            rows, path, max_rows_per_file=3, enable_stable_row_ids=stable
        )
        dataset.delete("n = 3")
        dataset.optimize.compact_files()
        widget = Listening(open_table(path))
        assert widget.ask("show_version", version="1") == {"has_row_ids": stable}
        about = widget.ask("rows")
        assert [one["name"] for one in about["columns"]] == ["n", "_rowid", "_rowaddr"]
        page = widget.ask("page", first=0, count=10)
        assert page["cells"][0] == ["0", "1", "2", "3", "4", "5"]
        widget.ask("choose_row", row=4)
        assert widget.state.row_id == (4 if stable else (2 << 32) + 3)


def test_rows_are_filtered_and_sorted_at_any_version(written_values):
    widget = Listening(open_table(written_values))
    widget.state.version = 1
    widget.ask("show_version", version="1")
    widget.filter = "label = 'dog'"
    widget.rest()
    about = widget.ask("rows")
    assert (about["num_rows"], about["num_source_rows"]) == (2, 4)
    widget.sort_by("n", descending=True)
    widget.rest()
    assert widget.ask("page", first=0, count=9)["cells"][0] == ["3", "0"]
    assert widget.frame()["n"].to_list() == [3, 0]
    table = open_table(written_values)
    assert eval(widget.code(), {"pl": pl, "table": table}).equals(widget.frame())
    widget.state.version = 3  # the filter and the sort stay
    widget.ask("show_version", version="3")
    widget.rest()
    assert widget.ask("page", first=0, count=9)["cells"][0] == ["4", "3"]


def test_a_row_is_chosen_among_those_that_a_filter_leaves(written_values):
    widget = Listening(open_table(written_values))
    widget.state.version = 1
    widget.ask("show_version", version="1")
    widget.filter = "cat"
    widget.rest()
    widget.ask("choose_row", row=1)
    assert widget.state.row_id == 2
    widget.filter = "n >"
    widget.rest()
    about = widget.ask("rows")
    assert "put it in double quotes" in about["failure"]["message"]
    assert about["num_rows"] == 2


@pytest.fixture
def written_values(tmp_path):
    path = str(tmp_path / "values.lance")
    rows = pa.table({"n": range(4), "label": ["dog", "cat", "cat", "dog"]})
    dataset: Any = lance.write_dataset(rows, path, max_rows_per_file=3, enable_stable_row_ids=True)
    dataset.delete("n = 0")
    lance.write_dataset(pa.table({"n": [4], "label": ["dog"]}), path, mode="append")
    return path


def test_more_rows_than_fit_into_memory_are_not_sorted_and_that_is_said(
    written_values, monkeypatch
):
    monkeypatch.setattr("lance_explorer.widgets.arranging._MOST_SORTED", 3)
    widget = Listening(open_table(written_values))
    widget.state.version = 1
    widget.ask("show_version", version="1")
    widget.sort_by("n", descending=True)
    widget.rest()
    failure = widget.ask("rows")["failure"]
    assert failure["message"].startswith("4 rows are too many to sort: filter them first")
    widget.filter = "label = 'dog'"
    widget.rest()
    assert widget.ask("rows")["failure"] is None
    assert widget.ask("page", first=0, count=9)["cells"][0] == ["3", "0"]
