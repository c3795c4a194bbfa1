"""Facts about the indices of one version."""

import polars as pl

from lance_explorer.inspect.index_summary import index_summary
from lance_explorer.table import open_table
from lance_explorer.widgets.index_facts import index_facts
from lance_explorer.widgets.messages.base import to_json
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable


def facts_of(path, version=None):
    table = open_table(path)
    found = to_json(index_facts(table, version or table._view.latest_version))
    return {facts["name"]: facts for facts in found["indices"]}, found


def test_an_index_tells_when_it_came_and_when_it_was_built_last():
    facts, _ = facts_of(DATA / "14.0.2/rewritten_indices.lance")
    id_idx = facts["id_idx"]
    assert (id_idx["created"], id_idx["rebuilt"], id_idx["is_exact"]) == ("2", "10", True)
    assert id_idx["num_segments"] == "2"
    sizes = open_table(DATA / "14.0.2/rewritten_indices.lance").inspect.indices()
    assert id_idx["size_bytes"] == str(sizes.filter(name="id_idx")["size_bytes"].sum())


def test_fragments_that_are_gone_and_unknown_counts_are_told():
    facts, _ = facts_of(DATA / "14.0.2/rewritten_indices.lance")
    assert facts["score_idx"]["num_fragments_removed"] == "4"
    assert facts["score_idx"]["num_stale_entries"] is None
    old, _ = facts_of(DATA / "0.10.18/life_cycle.lance")
    assert old["id_idx"]["size_bytes"] is None


def test_an_index_of_the_first_kept_version_may_be_older(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=2).create_index("id_idx")
    table.append(rows=3).append(rows=1).remove(1, 2)
    facts, _ = facts_of(table.path)
    assert facts["id_idx"]["created"] == "3"
    assert facts["id_idx"]["is_exact"] is False
    assert facts["id_idx"]["num_rows_to_scan"] == "4"


def test_the_reuse_history_tells_who_is_behind():
    _, found = facts_of(DATA / "14.0.2/deferred_remap.lance")
    first, second = found["reuse"]
    assert first["behind"] == ["id_idx", "name_idx"]
    assert first["caught_up"] == []
    assert (second["num_old"], second["num_new"], second["rows_moved"]) == (1, 1, "8")
    assert found["num_reuse_entries"] == 2
    assert "fragment_reuse_lags" in [one["code"] for one in found["advice"]["found"]]


def test_two_segments_that_cover_one_fragment_count_its_rows_once(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=5).create_index("twice")
    table.create_index("twice").append(rows=3)
    summary = index_summary(open_table(table.path)._view, 4).row(0, named=True)
    assert summary["num_segments"] == 2
    assert (summary["num_rows_answered"], summary["num_rows_to_scan"]) == (5, 3)


def test_an_index_of_an_empty_version_lacks_nothing(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").overwrite(fragments=0).create_index("id_idx")
    facts, found = facts_of(table.path)
    assert facts["id_idx"]["num_rows_to_scan"] == "0"
    assert found["advice"]["found"] == []
    assert found["advice"]["nothing"] == ("Nothing needs to be done: id_idx covers every row.")


def test_unknown_rows_are_null(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).create_index("id_idx")
    table.delete({0: [1]}, counted=False)
    (table.path / "_deletions").rename(tmp_path / "elsewhere")
    summary = index_summary(open_table(table.path)._view, table.version)
    assert summary["num_rows_answered"].to_list() == [None]
    assert summary["num_fragments_covered"].to_list() == [1]
    assert isinstance(summary, pl.DataFrame)


def test_more_indices_than_fit_are_counted(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", transaction_files=False).append()
    for number in range(203):
        table.create_index(f"index {number}")
    _, found = facts_of(table.path)
    assert (len(found["indices"]), found["num_indices"]) == (200, 203)
