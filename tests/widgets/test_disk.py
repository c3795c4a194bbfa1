"""The view of files, without a browser: what Python holds, and how it answers."""

from datetime import timedelta

import lance
import polars as pl
import pyarrow as pa
import pytest
import traitlets

import lance_explorer as lx
from lance_explorer import open_table
from lance_explorer.errors import VersionNotFoundError
from lance_explorer.figures.palette import PART_COLORS
from lance_explorer.widgets import Disk
from lance_explorer.widgets.state import ExplorerState
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable
from tests.widgets.conftest import Browser

TYPES = {"Float64Array": "<f8", "BigUint64Array": "<u8", "Int32Array": "<i4", "Uint8Array": "u1"}


@pytest.fixture
def written(tmp_path):
    """Three fragments; rows are deleted in version 3, an index is made in 4."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=40, fragments=2).append(rows=30)
    return table.delete({1: range(20)}).create_index("idx")


@pytest.fixture
def widget(written):
    return Disk(open_table(written.path))


def arrays(widget, browse, kind, **arguments):
    """Return an answer with its arrays, by name."""
    content = browse(widget).ask(kind, **arguments)["content"]
    return content, content


def test_the_code_gives_the_frame(widget):
    for kind in ("data_files", "deletions", "indices"):
        widget.kind = kind
        for version in (4, 2):
            widget.state.version = version
            frame = eval(widget.code(), {"table": widget._table, "pl": pl})
            assert widget.frame().equals(frame)


def test_the_code_filters_and_sorts_as_the_table_does(widget):
    widget.state.filter = "fragment_id > 0"
    widget.sort_by("fragment_id", descending=True)
    frame = eval(widget.code(), {"table": widget._table, "pl": pl})
    assert widget.frame().equals(frame)
    assert frame["fragment_id"].to_list() == [2, 1]
    widget.state.filter = ""
    widget.kind = "indices"
    assert eval(widget.code(), {"table": widget._table, "pl": pl}).height == 1


def test_the_frame_is_that_of_the_chosen_version(widget):
    assert widget.frame()["fragment_id"].to_list() == [0, 1, 2]
    widget.state.version = 1
    assert widget.frame()["fragment_id"].to_list() == [0, 1]
    widget.state.version = None
    assert widget.frame()["fragment_id"].to_list() == [0, 1, 2]


def test_a_kind_of_files_that_is_none_is_refused(widget):
    with pytest.raises(traitlets.TraitError):
        widget.kind = "manifests"


def test_a_selected_row_chooses_its_fragment(widget, browse):
    browser = browse(widget)
    browser.ask("files")
    browser.ask("select", row=1, anchor=1, how="only")
    assert widget.state.fragment_id == 1
    assert widget.selection == [1]


def test_a_chosen_fragment_selects_its_rows_in_any_version(widget, browse):
    browser = browse(widget)
    browser.ask("files")
    widget.state.fragment_id = 2
    assert widget.selection == [2]
    widget.state.version = 1
    browser.ask("files")
    assert widget.selection == []
    widget.state.fragment_id = 0
    assert widget.selection == [0]
    widget.kind = "indices"
    browser.ask("files")
    assert widget.selection == []


def test_several_rows_stay_selected_while_one_is_of_the_fragment(widget, browse):
    browser = browse(widget)
    browser.ask("files")
    browser.ask("select", row=0, anchor=0, how="only")
    browser.ask("select", row=2, anchor=2, how="toggle")
    assert widget.selection == [0, 2]
    assert widget.state.fragment_id == 0


def test_totals_are_those_of_the_frames(widget, browse):
    content, numbers = arrays(widget, browse, "summary", version="4")
    inspect = widget._table.inspect
    totals = {total["kind"]: total for total in content["totals"]}
    assert [*totals] == ["data files", "deletion files", "index segments", "manifest"]
    assert totals["data files"]["num_files"] == "3"
    assert totals["data files"]["size_bytes"] == str(inspect.data_files()["size_bytes"].sum())
    assert totals["deletion files"]["size_bytes"] == str(inspect.deletions()["file_bytes"].sum())
    assert totals["index segments"]["num_unknown"] == 1
    assert totals["manifest"]["size_bytes"] == str(inspect.manifests()["manifest_bytes"][-1])
    assert numbers["fragment"].tolist() == [0, 1, 2]
    assert numbers["fragment_deleted"].tolist() == [0, 20, 0]
    bins = [(each["begin"], each["total"], each["small"]) for each in content["file_bins"]["bins"]]
    drawn = lx.figures.file_sizes(widget._table).data
    assert sum(total for _, total, _ in bins) == len(inspect.data_files()) == sum(drawn[0].y)
    assert [each["words"] for each in content["file_bins"]["bins"] if each["total"]] == [
        *drawn[0].hovertext
    ]
    assert content["small_words"].startswith(drawn[0].name)


def test_the_aim_of_compactions_is_that_of_the_table(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t").append(rows=4)
    table.update_config(**{"lance.compaction.target_rows_per_fragment": "5000"})
    widget = Disk(open_table(table.path))
    assert arrays(widget, browse, "summary", version="2")[0]["small_words"].startswith(
        "small: fewer than 5,000 rows,"
    )
    assert lx.figures.file_sizes(widget._table).data[0].name == "small: fewer than 5,000 rows"
    assert "1,048,576" in arrays(widget, browse, "summary", version="1")[0]["small_words"]


def test_manifest_bytes_come_by_part(widget, browse):
    content, _ = arrays(widget, browse, "history")
    parts = [part["values"] for part in content["parts"]]
    assert [part["name"] for part in content["parts"]] == [*PART_COLORS]
    assert sum(parts).tolist() == widget._table.versions()["manifest_bytes"].to_list()


def test_what_is_on_disk_comes_with_what_can_be_done(widget, browse):
    told = browse(widget).ask("disk")["content"]
    usage = widget._table.disk_usage()
    assert told["sentence"] == usage.answer.sentence
    assert sum(int(status["bytes"]) for status in told["statuses"]) == usage.total_bytes
    sizes = [int(size) for kind in told["kinds"] for size in kind["bytes"].values()]
    assert sum(sizes) == usage.total_bytes
    now, latest, compaction = browse(widget).ask("plans")["content"]["plans"]
    assert now["code"] == widget._table.cleanup_preview().code
    preview = widget._table.cleanup_preview(older_than=timedelta(0))
    [lost] = [section for section in latest["sections"] if section["name"] == "lost"]
    assert latest["code"] == preview.code
    assert [line["words"] for line in lost["lines"]] == preview.losses()["message"].to_list()
    assert (
        compaction["sentence"].lower() == f"{widget._table.compaction_preview().sentence}.".lower()
    )


def test_a_branch_tells_what_is_on_disk_as_its_own(tmp_path, browse):
    made = SyntheticTable(tmp_path / "t").append(rows=5)
    made.branch("dev").append(rows=7)
    table = open_table(made.path, branch="dev")
    widget = Disk(table)
    content, _ = arrays(widget, browse, "summary", version=str(widget.state.version))
    [data] = [total for total in content["totals"] if total["kind"] == "data files"]
    assert data["num_files"] == "2"
    sentence = browse(widget).ask("disk")["content"]["sentence"]
    main = open_table(made.path).disk_usage().answer.sentence
    assert sentence == table.disk_usage().answer.sentence != main


def test_a_version_that_is_lost_says_why(widget, browse):
    content = browse(widget).ask("summary", version="9")["content"]
    assert "version 9 never existed" in content["problem"]
    widget.state.version = 9
    assert "never existed" in browse(widget).ask("files")["content"]["problem"]
    with pytest.raises(VersionNotFoundError):
        widget.frame()


def test_deletion_files_under_an_unknown_flag_are_measured_but_not_read(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t").append(rows=40).delete({0: [1]})
    table.amend(lambda m: setattr(m, "reader_feature_flags", m.reader_feature_flags | 4096))
    widget = Disk(open_table(table.path))
    content, _ = arrays(widget, browse, "summary", version="2")
    [deletions] = [total for total in content["totals"] if total["kind"] == "deletion files"]
    [file] = (table.path / "_deletions").iterdir()
    assert deletions["size_bytes"] == str(file.stat().st_size)
    widget.kind = "deletions"
    assert "fragment_tree" in browse(widget).ask("files")["content"]["problem"]


def test_deletion_files_that_are_missing_have_no_known_size(written, browse):
    [file] = (written.path / "_deletions").iterdir()
    file.unlink()
    content, _ = arrays(Disk(open_table(written.path)), browse, "summary", version="4")
    [deletions] = [total for total in content["totals"] if total["kind"] == "deletion files"]
    assert (deletions["num_files"], deletions["num_unknown"]) == ("1", 1)


def test_an_empty_table_has_no_files(tmp_path, browse):
    widget = Disk(open_table(SyntheticTable(tmp_path / "t").overwrite(0, 0).path))
    content, numbers = arrays(widget, browse, "summary", version="1")
    assert [total["num_files"] for total in content["totals"]] == ["0", "0", "0", "1"]
    names = ("fragment", "fragment_rows", "fragment_deleted")
    assert [len(numbers[name]) for name in names] == [0] * 3
    assert (content["file_bins"]["bins"], content["file_bins"]["note"]) == ([], "no files")
    assert widget.frame().is_empty()


@stored_check()
def check_tables_of_all_writers_have_files(asked):
    widget = Disk(asked.table)
    latest = widget.state.version
    assert Browser(widget).ask("history")["what"] == "reply"
    content, _ = arrays(widget, Browser, "summary", version=str(latest))
    assert "problem" not in content
    stats = widget._table.inspect.data_files()
    counted = sum(each["total"] for each in content["file_bins"]["bins"])
    assert counted == stats["size_bytes"].count()
    assert len(stats) == len(widget.frame())


def test_nothing_is_read_again_for_a_version_that_is_shown(widget, browse):
    widget.frame()
    before = widget._rows
    widget.frame()
    browse(widget).ask("files")
    assert widget._rows is before


def test_it_shares_its_choices(written):
    state = ExplorerState(version=1, filter="fragment_id = 1")
    widget = Disk(open_table(written.path), state=state)
    assert widget.frame()["fragment_id"].to_list() == [1]
    assert repr(widget) == "Disk(version 1, data_files)"


def test_a_compaction_that_is_not_worth_while_is_said(tmp_path, browse):
    few = lance.write_dataset(pa.table({"n": range(20)}), tmp_path / "few", max_rows_per_file=5)
    advice = browse(Disk(open_table(few.uri))).ask("advice", version="1")["content"]
    assert advice["found"] == []
    assert advice["nothing"].startswith(
        "Nothing needs to be done: a compaction would turn 4 fragments into about 1; it is worth"
    )
    one = lance.write_dataset(pa.table({"n": range(5)}), tmp_path / "one")
    advice = browse(Disk(open_table(one.uri))).ask("advice", version=None)["content"]
    assert advice["nothing"].endswith("a compaction would rewrite no fragment.")


def test_a_version_that_cannot_be_checked_is_said(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t").append(rows=5)
    advice = browse(Disk(open_table(table.path))).ask("advice", version="7")["content"]
    assert advice["problem"].startswith("Version 7 could not be checked: version 7 never existed")
