"""Findings: from versions, and from tags and branches."""

import shutil

from lance_explorer.history.rewrites.stored_compactions import LINEAGE_KEY
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.findings import findings
from tests.format.samples import DATA
from tests.inspect.tables import manifest_paths, rows_of
from tests.stored_tables import stored_check
from tests.synthetic.tables import SyntheticTable

RESTORES_DETACHED = {"8.0.1/detached.lance", "14.0.2/detached.lance"}


@stored_check()
def check_stored_tables_are_sound(asked):
    codes = findings(asked.view)["code"].to_list()
    assert codes == (["detached_restored"] if str(asked) in RESTORES_DETACHED else [])


def test_damaged_versions_and_refs_are_found(tmp_path, monkeypatch):
    monkeypatch.chdir(DATA / "14.0.2")
    shutil.copytree(DATA / "14.0.2/branches.lance", tmp_path / "t")
    manifest_paths(tmp_path / "t" / "tree" / "dev")[4].write_bytes(b"nothing of use here")
    (tmp_path / "t" / "_refs" / "tags" / "base.json").write_bytes(b"{")
    frame = findings(HistoryView.open(str(tmp_path / "t"), "dev"))
    assert rows_of(frame, "code", "severity", "first_version", "branch") == [
        ("unreadable_manifest", "error", 4, "dev"),
        ("corrupt_ref", "error", None, None),
    ]
    assert "_refs/tags/base.json" in frame["statement"][1]
    assert all(frame["remedy"])


def test_asking_twice_gives_the_same(tmp_path):
    shutil.copytree(DATA / "14.0.2/branches.lance", tmp_path / "t")
    (tmp_path / "t" / "_refs" / "tags" / "base.json").write_bytes(b"{")
    view = HistoryView.open(str(tmp_path / "t"))
    assert findings(view).equals(findings(view))
    assert len(findings(view)) == 1


def test_a_compaction_lineage_that_is_no_json_is_found(tmp_path):
    table = SyntheticTable(tmp_path / "t").append().update_config(**{LINEAGE_KEY: "{"}).append()
    frame = findings(HistoryView.open(str(table.path)))
    assert rows_of(frame, "code", "severity", "first_version") == [
        ("unreadable_compaction_lineage", "warning", 3)
    ]
    assert LINEAGE_KEY in frame["statement"].item()
