"""Reports: one file, whatever the table is, that says where something cannot be told."""

import io
from pathlib import Path

import pytest
import tqdm

from lance_explorer.errors import InvalidArgumentError, StorageError
from lance_explorer.report.parts import PARTS
from lance_explorer.table import open_table
from tests.format.samples import DATA
from tests.report.reading import Report, report_on
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable
from tests.test_display import HOSTILE, visible

TITLES = [part.title for part in PARTS]
FULL_DISK = Path("/dev/full")


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    """A table of two versions."""
    return SyntheticTable(tmp_path / "photos.lance").append(rows=4).append(rows=3)


def report(table: SyntheticTable) -> Report:
    return report_on(open_table(table.path), table.path.parent)


@stored_check(lambda asked: asked.release in ("0.10.18", "0.32.1", "14.0.2"))
def check_tables_of_all_writers_are_told_of_in_all_parts(asked):
    told = report_on(asked.table, asked.scratch)
    assert list(told.sections)[1:] == TITLES
    assert told.failures == {}
    assert told.pictures["Growth and operations"] == told.pictures["Fragments"] == 1


def test_a_clone_whose_parent_is_out_of_reach_has_all_other_parts(tmp_path):
    told = report_on(open_table(DATA / "14.0.2/shallow_clone.lance"), tmp_path)
    assert list(told.sections)[1:] == TITLES
    [why] = set(told.failures.values())
    assert "is a path relative to the working directory, and" in why


def test_contents_lead_to_all_parts_in_their_order(table):
    told = report(table)
    assert told.links == [f"#{anchor}" for anchor in told.anchors]
    assert len(set(told.anchors)) == len(TITLES)


def test_the_file_needs_nothing_else(table):
    path = open_table(table.path).report(table.path.parent / "report.html")
    html = path.read_text(encoding="utf-8")
    told = Report(html)
    assert not any(link.startswith(("http", "//")) for link in told.links)
    assert "default-src 'none'" in html
    assert "mathjax" not in html.split("<body>")[1].lower()
    plotly, *pictures, _ = told.scripts
    assert max(map(len, pictures)) < 100_000 < len(plotly)
    assert len(pictures) == sum(told.pictures.values())


def test_a_branch_is_told_of(tmp_path):
    table = SyntheticTable(tmp_path / "photos.lance").append(rows=4)
    table.branch("dev").append(rows=5)
    told = report_on(open_table(table.path, branch="dev"), tmp_path)
    assert told.title == "photos.lance (branch dev)"
    assert told.failures == {}
    [lineage] = [script for script in told.scripts if "inherited from main" in script]
    assert "lineage" in lineage


def test_a_bar_tells_how_many_parts_are_done(table, monkeypatch):
    log = io.StringIO()

    def logged(*arguments, **options):
        return tqdm.tqdm(*arguments, **{**options, "delay": 0, "mininterval": 0, "file": log})

    monkeypatch.setattr("tqdm.auto.tqdm", logged)
    report(table)
    total = len(PARTS)
    assert "Writing the report" in log.getvalue()
    assert [n for n in range(1, total + 1) if f" {n}/{total} [" not in log.getvalue()] == []


# -------------------------------------------------------------------------------- what goes wrong


def test_an_unknown_feature_is_named_where_rows_would_be_and_the_rest_stands(table):
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    told = report(table)
    assert set(told.failures) == {"Row ID encodings", "Changes over time"}
    assert all("unknown_1048576" in why for why in told.failures.values())
    assert told.pictures.keys() >= {"Growth and operations", "Schema", "Lineage", "File sizes"}


def test_a_latest_version_that_cannot_be_read_leaves_the_others(table):
    told = report(table.amend(magic=b"LANX"))
    assert "LANX" in told.failures["Fragments"]
    assert told.tables["Commits"][0][1][0] == "1"
    assert "corrupt_manifest" not in told.failures
    assert told.pictures["Growth and operations"] == 1
    assert told.tables["Findings and advice"][0][1][0] == "wrong"


def test_a_table_of_which_no_version_can_be_read_still_has_its_report(tmp_path):
    told = report(SyntheticTable(tmp_path / "photos.lance").append().amend(length=7))
    assert list(told.sections)[1:] == TITLES
    assert "No version can be read." in told.sections["The story in words"]


def test_the_folder_must_be_there(table, tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"there is no folder .*nowhere"):
        open_table(table.path).report(tmp_path / "nowhere" / "report.html")


def test_a_folder_is_no_file(table, tmp_path):
    with pytest.raises(InvalidArgumentError, match="is a folder"):
        open_table(table.path).report(tmp_path)


@pytest.mark.skipif(not FULL_DISK.exists(), reason="only Linux has such a device")
def test_a_full_disk_is_an_error_of_storage(table):
    with pytest.raises(StorageError, match=r"the report cannot be written: .*No space"):
        open_table(table.path).report(FULL_DISK)


def test_nothing_is_read_for_a_report_that_has_no_place(table, tmp_path):
    opened = open_table(table.path)
    requests = opened.io.requests
    with pytest.raises(InvalidArgumentError):
        opened.report(tmp_path / "nowhere" / "report.html")
    assert opened.io.requests == requests


def test_a_report_that_is_there_is_replaced(table, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    assert open_table(table.path).report(str(path)) == path
    assert isinstance(open_table(table.path).report(path), Path)
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


# ----------------------------------------------------------------------------------- hostile text


@pytest.mark.parametrize("text", [*HOSTILE, "</script><script>alert(1)</script>", "`$title`"])
def test_whatever_a_table_says_is_text(table, text):
    table.add_column(text).update_config(**{text: text}).create_index(text)
    table.commit("append", note=text).tag(text)
    told = report(table)
    assert told.failures == {}
    assert len(told.scripts) == 2 + sum(told.pictures.values())
    assert visible(text) in [row[1] for row in told.tables["Schema"][0]]
    assert visible(text) in [row[0] for row in told.tables["Indices"][0]]
    latest = told.tables["Commits"][0][1]
    assert latest[-2:] == [visible(text), visible(text)]


def test_the_name_of_the_table_is_text(tmp_path):
    name = "<img src=x onerror=alert(1)>&amp;$style.lance"
    table = SyntheticTable(tmp_path / name).append()
    told = report_on(open_table(table.path), tmp_path)
    assert told.title == name
    assert name in told.sections[""]
