"""The overview, without a browser: what Python holds, and how it answers."""

import pytest

from lance_explorer import open_table
from lance_explorer.inspect.commit_words import describe_commits
from lance_explorer.inspect.size_origins import size_origins
from lance_explorer.widgets import Overview
from lance_explorer.widgets.messages.base import to_json
from lance_explorer.widgets.overview_data import size_data
from lance_explorer.widgets.state import ExplorerState
from tests.format.samples import DATA
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable
from tests.widgets.conftest import Browser


@pytest.fixture
def written(tmp_path):
    """Version 3 adds most, 4 deletes, 5 updates."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).append(rows=3)
    return table.append(rows=900).delete({0: [1]}).update({2: range(90)}).tag("big", 3)


@pytest.fixture
def widget(written):
    return Overview(open_table(written.path))


def story(widget, browse):
    return browse(widget).ask("story")["content"]


def test_it_begins_with_the_latest_version_or_that_of_a_shared_state(written):
    assert Overview(open_table(written.path)).selection == {"version": 5, "fragment_id": None}
    state = ExplorerState(version=2, fragment_id=1)
    widget = Overview(open_table(written.path), state=state)
    assert widget.selection == {"version": 2, "fragment_id": 1}


def test_the_code_gives_the_frame(widget):
    frame = eval(widget.code(), {"table": widget._table})
    assert widget.frame().equals(frame)
    assert widget.frame().height == 5


def test_the_version_that_made_the_table_big_comes_first(widget, browse):
    sizes = browse(widget).ask("sizes")["content"]
    origins = size_origins(widget._table._view)
    assert [commit["version"] for commit in sizes["rows"]["versions"]] == ["3", "5", "1", "2"]
    assert [commit["amount"] for commit in sizes["rows"]["versions"]] == ["810", "90", "3", "3"]
    first = sizes["bytes"]["versions"][0]
    size = origins.filter(version=3)["size_bytes"].item()
    assert (first["version"], first["amount"]) == ("3", str(size))
    assert first["share"] == size / origins["size_bytes"].sum()
    assert sizes["headline"]["version"] == "3"
    assert sizes["headline"]["link"] == "Version 3"


def test_facts_are_those_of_the_latest_version(widget, browse):
    facts = story(widget, browse)["facts"]
    latest = widget._table.latest
    assert facts["version"] == facts["latest_version"] == "5"
    assert facts["num_rows"] == str(latest.num_rows) == "906"
    assert facts["num_deleted_rows"] == str(latest.num_deleted_rows)
    assert facts["num_fragments"] == "4"
    assert facts["tags"] == {"count": 1, "names": ["big (version 3)"]}
    assert facts["flags"] == list(latest.feature_flags)
    assert facts["num_lost"] == "0"


def without_lost(facts):
    """Return the facts that the latest version tells by itself."""
    return {name: fact for name, fact in facts.items() if name != "num_lost"}


@stored_check()
def check_what_the_latest_version_tells_stays_true_when_all_are_read(asked):
    widget = Overview(asked.table)
    latest = Browser(widget).ask("latest")["content"]
    content = story(widget, Browser)
    assert latest["facts"] == without_lost(content["facts"])
    assert (latest["name"], latest["branch"]) == (content["name"], content["branch"])


@pytest.mark.slow
def test_what_the_latest_version_tells_needs_few_manifests(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t.lance")
    for _ in range(1000):
        table.append(rows=2)
    widget = Overview(open_table(table.path))
    io = widget._table._view.storage.io
    before = io.requests
    assert browse(widget).ask("latest")["content"]["facts"]["num_rows"] == "2000"
    assert io.requests - before < 10
    assert "the picture shows the latest 200" in widget.static_html()
    assert io.requests - before < 300


@stored_check()
def check_words_on_commits_come_in_parts(asked):
    widget = Overview(asked.table)
    versions = widget._table.versions()["version"].to_list()
    every = dict(zip(versions, describe_commits(widget._table._view), strict=True))
    for first, last in (
        (versions[0], versions[-1]),
        (versions[len(versions) // 2], versions[-1]),
        (0, 1),
    ):
        told = Browser(widget).ask("words", first=str(first), last=str(last))["content"]["words"]
        expected = {str(v): words for v, words in every.items() if first <= v <= last}
        assert told == expected


def test_tags_count_wherever_they_point(written, browse):
    branch = written.branch("dev").append(rows=1)
    branch.tag("there", branch.version)
    written.detach(9)
    written.folder.write_ref(
        "tags", "apart", {"version": 2**63 | 9, "manifestSize": 1, "branch": None}
    )
    for name, where in ((None, ("", " of dev")), ("dev", (" of the main branch", ""))):
        table = open_table(written.path, branch=name)
        tags = story(Overview(table), browse)["facts"]["tags"]
        assert tags["count"] == len(table.tags) == 3
        assert set(tags["names"]) == {
            f"big (version 3{where[0]})",
            f"there (version {branch.version}{where[1]})",
            f"apart (detached version {2**63 | 9})",
        }


def test_versions_that_are_lost_are_said_with_one_that_follows_them(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=5).append(rows=4).append(rows=100)
    table.append(rows=7).append(rows=70).remove(1, 3)
    commits = to_json(size_data(open_table(table.path)))["bytes"]["versions"]
    assert [(c["version"], c["note"]) for c in commits] == [
        ("4", "or one of the lost versions after 2"),
        ("5", ""),
        ("2", "or an earlier version, which is not kept"),
    ]


def test_sizes_that_old_writers_do_not_record_are_unknown(browse):
    widget = Overview(open_table(DATA / "0.10.18" / "life_cycle.lance"))
    sizes = browse(widget).ask("sizes")["content"]
    assert sizes["bytes"]["versions"] == []
    assert sizes["rows"]["versions"][0]["version"] == "10"
    assert story(widget, browse)["facts"]["data_bytes"] is None


def test_findings_and_what_to_do_are_told_worst_first(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t").append(rows=9, fragments=150).append(rows=1)
    table.folder.manifest_path(1).write_bytes(b"nothing")
    advice = browse(Overview(open_table(table.path))).ask("advice")["content"]
    told = [(one["code"], one["severity"], one["version"], one["view"]) for one in advice["found"]]
    assert told == [
        ("unreadable_manifest", "error", "1", None),
        ("missing_files", "error", "2", "disk"),  # there is no data in what tests write by hand
        ("small_fragments", "warning", "2", "disk"),
        ("files_of_unknown_use", "info", None, "disk"),
    ]
    assert advice["counts"] == "2 wrong, 1 should be done, 1 worth knowing"
    assert advice.get("problem") is None


def test_a_latest_version_that_cannot_be_read_is_said(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t").append(rows=9).append(rows=1)
    table.folder.manifest_path(2).write_bytes(b"nothing")
    widget = Overview(open_table(table.path))
    facts = story(widget, browse)["facts"]
    assert (facts["version"], facts["latest_version"]) == ("1", "2")
    assert browse(widget).ask("latest")["content"]["facts"] in (None, without_lost(facts))
    advice = browse(widget).ask("advice")["content"]
    by_code = {found["code"]: found["statement"] for found in advice["found"]}
    assert next(iter(by_code)) == "unreadable_manifest"
    assert by_code["not_checked"].startswith("files could not be checked: ")
    assert "7 bytes are too few" in by_code["not_checked"]


def test_a_table_of_which_nothing_can_be_read_has_its_findings(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t").append(rows=9)
    table.folder.manifest_path(1).write_bytes(b"nothing")
    widget = Overview(open_table(table.path))
    assert story(widget, browse)["facts"] is None
    assert browse(widget).ask("latest")["content"]["facts"] is None
    sizes = browse(widget).ask("sizes")["content"]
    assert sizes["headline"] is None
    assert sizes["bytes"]["versions"] == []
    advice = browse(widget).ask("advice")["content"]["found"]
    assert [found["code"] for found in advice][:2] == ["unreadable_manifest", "not_checked"]


def test_a_refresh_looks_for_new_versions(written, browse):
    widget = Overview(open_table(written.path))
    browser = browse(widget)
    assert browser.ask("story")["content"]["facts"]["version"] == "5"
    written.append(rows=2)
    assert browser.ask("story")["content"]["facts"]["version"] == "5"
    assert browser.ask("story", refresh=True)["content"]["facts"]["version"] == "6"


@stored_check()
def check_tables_of_all_writers_have_a_story(asked):
    widget = Overview(asked.table)
    browser = Browser(widget)
    content = browser.ask("story")
    assert content["what"] == "reply", content
    assert browser.ask("advice")["what"] == "reply"
    latest = widget.frame().row(-1, named=True)
    assert content["content"]["facts"]["num_rows"] == str(latest["num_rows"])


def test_names_of_refs_and_indices_are_cut(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t").append(rows=9).create_index("x" * 5000 + "\u202e")
    [name] = story(Overview(open_table(table.path)), browse)["facts"]["indices"]["names"]
    assert len(name) < 100


def test_of_many_versions_the_largest_are_there_and_the_others_are_summed_up(tmp_path):
    table = SyntheticTable(tmp_path / "t", transaction_files=False).append(rows=1)
    for rows in range(1, 60):
        table.append(rows=rows)
    sizes = to_json(size_data(open_table(table.path)))["rows"]
    assert [int(commit["version"]) for commit in sizes["versions"]] == [*range(60, 52, -1)]
    assert (sizes["rest"]["count"], sizes["rest"]["amount"]) == (52, str(1 + sum(range(52))))
    shares = [commit["share"] for commit in sizes["versions"]]
    assert sum(shares) + sizes["rest"]["share"] == pytest.approx(1)


def test_without_a_kernel_the_table_shows_itself(widget):
    assert widget.static_html() == widget._table._repr_html_()
    assert repr(widget).startswith("Overview(Table t.lance: 5 versions")
