import polars as pl

from lance_explorer.inspect.rewrite_groups import rewrite_groups
from lance_explorer.inspect.versions import versions
from tests.format.samples import DATA
from tests.history.compactions import Compacted, copy_without
from tests.inspect.tables import rows_of, stored, versions_of
from tests.stored_tables import stored_check

COUNTS = ("old_fragment_id", "new_fragment_id", "rows_moved", "rows_dropped")
GROUP = ("version", "branch", "group")


@stored_check()
def check_rows_are_conserved(asked):
    frame = rewrite_groups(asked.view)
    old = frame.group_by(*GROUP, "old_fragment_id").agg(
        pl.col("old_physical_rows").first(),
        out=pl.col("rows_moved").sum() + pl.col("rows_dropped").sum(),
    )
    assert old["out"].to_list() == old["old_physical_rows"].to_list()
    new = frame.group_by(*GROUP, "new_fragment_id").agg(
        pl.col("new_physical_rows").first(), into=pl.col("rows_moved").sum()
    )
    assert new["into"].to_list() == new["new_physical_rows"].to_list()


@stored_check()
def check_rows_moved_are_those_that_versions_counts(asked):
    view = asked.view
    moved = dict(rewrite_groups(view).group_by("version").agg(pl.col("rows_moved").sum()).rows())
    counted = versions(view).filter(operation="Rewrite").select("version", "rows_moved").rows()
    assert moved == dict(counted)


def test_each_pair_of_fragments_has_a_row():
    frame = rewrite_groups(stored("14.0.2/deferred_remap.lance"))
    assert rows_of(frame, "version", "group", *COUNTS) == [
        (7, 0, 0, 4, 4, 2),
        (7, 0, 1, 4, 6, 0),
        (7, 1, 2, 5, 5, 1),
        (7, 1, 3, 5, 6, 0),
        (11, 0, 4, 7, 8, 2),
    ]
    assert set(frame["evidence"]) == {"recorded"}
    assert frame["source"][0].startswith("transaction 5-")


def test_what_a_fragment_dropped_counts_once_though_it_has_several_pairs(tmp_path):
    table = Compacted(tmp_path / "t", rows=100, per_fragment=100)
    table.dataset.delete("key % 5 = 0")
    table.compact(target_rows_per_fragment=20)
    frame = rewrite_groups(table.view)
    assert len(frame) > 2
    assert frame["rows_dropped"].to_list() == [20] + [0] * (len(frame) - 1)
    assert frame["rows_moved"].sum() == 80


def test_lost_versions_are_told_of_with_less_certainty(tmp_path):
    source = copy_without(DATA / "14.0.2/life_cycle.lance", tmp_path / "t", 10, 11)
    frame = rewrite_groups(source)
    assert 11 not in versions_of(source)
    assert set(frame.select("version", "evidence", "source", "note").rows()) == {
        (
            11,
            "inferred",
            "counts and order of versions 9 and 12",
            "it is one of the versions 10 to 11",
        )
    }


def test_a_branch_tells_of_its_own_compactions(tmp_path):
    table = Compacted(tmp_path / "t")
    dev = table.dataset.create_branch("dev", 1)
    dev.optimize.compact_files()
    assert rewrite_groups(table.view).is_empty()
    frame = rewrite_groups(table.view.on_branch("dev"))
    assert set(frame["branch"]) == {"dev"}
    assert frame["rows_moved"].sum() == 24
