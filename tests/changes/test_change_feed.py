"""Changes of tables that pylance wrote, one thing at a time."""

import lance
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer import InvalidArgumentError, Table, VersionNotFoundError
from tests.differential.twin import NO_KEYS, Keys, Twin
from tests.format.samples import DATA

NET = ("inserted", "deleted", "updated", "column_rewritten", "column_added", "moved", "unchanged")


@pytest.fixture(autouse=True)
def readable_overlays(monkeypatch) -> None:
    monkeypatch.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")


@pytest.fixture
def stable(tmp_path) -> Twin:
    """Ten rows in three fragments, with stable row IDs; the keys are 0 to 9, all values 1."""
    return Twin.create(str(tmp_path / "stable.lance"), 10, stable_row_ids=True)


@pytest.fixture
def plain(tmp_path) -> Twin:
    """The same without stable row IDs."""
    return Twin.create(str(tmp_path / "plain.lance"), 10)


@pytest.fixture(params=["stable", "plain"])
def twin(request) -> Twin:
    chosen: Twin = request.getfixturevalue(request.param)
    return chosen


def opened(twin: Twin) -> Table:
    return lx.open_table(twin.uri)


def net(twin: Twin, begin: int, end: int | None = None, **options) -> dict[str, int]:
    """Return the classes that some rows are of."""
    [counts] = opened(twin).changes(begin, end, **options).summary().to_dicts()
    return {name: counts[name] for name in NET if counts[name] != 0}


def feed(twin: Twin, begin: int, end: int | None = None, **options) -> pl.DataFrame:
    options = {"images": "both", **options}
    return opened(twin).changes(begin, end, **options).to_polars()


def events(twin: Twin, version: int) -> list[tuple[str | None, str, int]]:
    """Return what a commit did, as lines of the feed, events and their counts."""
    lines = feed(twin, version - 1, version, mode="per_commit", images=None)
    found = lines.group_by("_change_type", "_event", maintain_order=True).len()
    return found.cast({"_change_type": pl.String, "_event": pl.String}).rows()


def values_of(lines: pl.DataFrame, change_type: str) -> dict[int, int]:
    chosen = lines.filter(_change_type=change_type)
    return dict(chosen.select("key", "value").iter_rows())


# ------------------------------------------------------------------------------- what cancels out


def test_a_row_inserted_and_deleted_in_between_is_nothing(twin):
    twin.append(3)
    twin.delete(Keys(100, 11))
    assert net(twin, 1) == {"inserted": 2, "unchanged": 10}
    assert [event for version in (2, 3) for event in events(twin, version)] == [
        ("insert", "created", 3),
        ("delete", "deleted", 1),
    ]


def test_a_row_updated_twice_is_updated_once_from_the_first_value_to_the_last(twin):
    twin.update(Keys(5, 2))
    twin.update(Keys(5, 2))
    lines = feed(twin, 1)
    assert net(twin, 1) == {"updated": 2, "unchanged": 8}
    assert values_of(lines, "update_preimage") == {2: 1, 7: 1}
    assert values_of(lines, "update_postimage") == {2: 3, 7: 3}
    assert events(twin, 2) == events(twin, 3) == [("update_postimage", "updated", 2)]


def test_a_restore_of_old_values_leaves_nothing_changed(twin):
    twin.update(Keys(5, 2))
    twin.restore(1)
    assert net(twin, 1) == {"unchanged": 10}
    assert net(twin, 2) == {"updated": 2, "unchanged": 8}
    lines = feed(twin, 2, mode="per_commit")
    assert set(lines["_event"]) == {"restored"}
    assert set(lines["_commit_version"]) == {3}
    assert values_of(lines, "update_preimage") == {2: 2, 7: 2}
    assert values_of(lines, "update_postimage") == {2: 1, 7: 1}


def test_a_restore_forward_brings_newer_values(twin):
    twin.update(Keys(5, 2))
    twin.restore(1)
    twin.restore(2)
    assert net(twin, 3) == {"updated": 2, "unchanged": 8}
    assert net(twin, 2) == {"unchanged": 10}


def test_a_restore_of_deleted_rows_inserts_them(twin):
    twin.delete(Keys(5, 0))
    twin.restore(1)
    assert events(twin, 3) == [("insert", "restored", 2)]
    assert net(twin, 2) == {"inserted": 2, "unchanged": 8}
    assert net(twin, 1) == {"unchanged": 10}


def test_rows_appended_after_the_restored_version_are_deleted_by_the_restore(twin):
    twin.append(3)
    twin.restore(1)
    assert events(twin, 3) == [("delete", "deleted", 3)]
    assert net(twin, 1) == {"unchanged": 10}


# --------------------------------------------------------------------------- all rows at once


def test_an_overwrite_replaces_all_rows(twin):
    twin.overwrite(4)
    assert net(twin, 1) == {"inserted": 4, "deleted": 10}
    assert events(twin, 2) == [("delete", "overwritten", 10), ("insert", "created", 4)]


def test_an_overwrite_with_the_same_data_has_other_rows_but_no_other_keys(twin):
    dataset = twin.dataset
    lance.write_dataset(dataset.to_table(), twin.uri, mode="overwrite")
    assert net(twin, 1) == {"inserted": 10, "deleted": 10}
    assert net(twin, 1, key="key") == {"updated": 10}
    lines = feed(twin, 1, key="key")
    assert {tuple(names) for names in lines["changed_columns"]} == {()}


def test_truncation_deletes_all_rows_and_their_values_are_still_read(twin):
    twin.truncate()
    lines = feed(twin, 1)
    assert net(twin, 1) == {"deleted": 10}
    assert values_of(lines, "delete") == dict.fromkeys(range(10), 1)


# ---------------------------------------------------------------------------------- upserts


def test_an_upsert_tells_updated_rows_from_inserted_and_deleted_ones(stable):
    stable.mirror(Keys(5, 1), 2, Keys(5, 4))
    assert net(stable, 1) == {"inserted": 2, "deleted": 2, "updated": 2, "unchanged": 6}


def test_without_row_ids_an_upsert_is_rows_that_went_and_came_and_may_be_the_same(plain):
    plain.upsert(Keys(5, 1), 2)
    assert net(plain, 1) == {"inserted": 4, "deleted": 2, "unchanged": 8}
    assert opened(plain).changes(1).summary()["uncertain"].item() == 6
    assert net(plain, 1, key="key") == {"inserted": 2, "updated": 2, "unchanged": 8}
    assert opened(plain).changes(1, key="key").summary()["uncertain"].item() == 0
    assert values_of(feed(plain, 1, key="key"), "update_preimage") == {1: 1, 6: 1}


def test_an_upsert_that_matches_nothing_changes_nothing(twin):
    twin.upsert(NO_KEYS, 0)
    assert net(twin, 1) == {"unchanged": 10}
    assert feed(twin, 0, mode="per_commit").filter(_commit_version=2).is_empty()


def test_an_upsert_of_the_same_values_updates_rows_of_which_no_column_changed(stable):
    same = stable.dataset.to_table(filter="key < 2")
    stable.dataset.merge_insert("key").when_matched_update_all().execute(same)
    assert net(stable, 1) == {"updated": 2, "unchanged": 8}
    assert feed(stable, 1)["changed_columns"].to_list() == [[]] * 4


def test_changed_columns_name_the_cells_that_differ(twin):
    twin.update(Keys(5, 2))
    assert feed(twin, 1)["changed_columns"].to_list() == [["value"]] * 4


# ------------------------------------------------------------------------------- compactions


def test_a_compaction_only_moves_rows(twin):
    twin.compact()
    assert net(twin, 1) == {"moved": 10}
    assert feed(twin, 1).is_empty()
    lines = feed(twin, 1, include=("moved",))
    assert lines["_change_type"].null_count() == len(lines) == 10


def test_changes_are_found_across_a_compaction(twin):
    twin.update(Keys(5, 2))
    twin.compact()
    twin.delete(Keys(5, 3))
    twin.append(1)
    assert net(twin, 1) == {"inserted": 1, "deleted": 2, "updated": 2, "moved": 6}


def test_an_update_without_row_ids_is_paired_by_order_and_says_so(plain):
    plain.update(Keys(5, 2))
    plain.compact()
    summary = opened(plain).changes(1).summary()
    assert summary["evidence"].item() == "inferred"
    assert summary["updated"].item() == 2


# ----------------------------------------------------------------------------------- columns


def test_an_added_column_is_no_update(twin):
    twin.add_column("more")
    assert net(twin, 1) == {"column_added": 10}
    assert feed(twin, 1).is_empty()
    lines = feed(twin, 1, include=["column_added"])
    assert lines.filter(_change_type="update_preimage")["more"].null_count() == 10


def test_an_update_before_a_column_was_added_is_still_an_update(twin):
    twin.update(Keys(5, 2))
    twin.add_column("more")
    twin.add_column("and_more")
    assert net(twin, 1) == {"updated": 2, "column_added": 8}
    assert net(twin, 2) == {"column_added": 10}


def test_an_added_column_of_nulls_changes_no_row(twin):
    twin.add_null_column("nothing")
    assert net(twin, 1) == {"unchanged": 10}


def test_a_column_dropped_and_added_again_is_another_one(twin):
    twin.add_column("more")
    twin.drop_column("more")
    twin.add_null_column("more")
    assert net(twin, 2) == {"column_rewritten": 10}
    assert opened(twin).changes(2).summary()["uncertain"].item() == 10
    assert feed(twin, 2)["changed_columns"].to_list() == [["more"]] * 20


def test_a_column_added_and_dropped_again_changes_no_value(twin):
    twin.add_column("more")
    twin.drop_column("more")
    assert feed(twin, 1).is_empty()


def test_a_dropped_column_changes_no_row_though_its_fragments_are_as_they_were_before_it(twin):
    twin.add_column("more")
    twin.add_column("again")
    twin.drop_column("again")
    assert net(twin, 3) == {"unchanged": 10}
    assert feed(twin, 3, mode="per_commit", include=["column_added"]).is_empty()


def test_a_column_dropped_and_added_again_with_values_is_another_one(twin):
    twin.add_column("more")
    twin.drop_column("more")
    twin.add_column("more")
    assert net(twin, 2) == {"column_rewritten": 10}


def test_a_cast_writes_a_column_anew(twin):
    twin.add_column("more")
    twin.update(Keys(5, 2))
    twin.cast_column("more", pa.int32())
    assert net(twin, 3) == {"column_rewritten": 10}
    assert net(twin, 2) == {"updated": 2, "column_rewritten": 8}


def test_a_column_that_was_added_and_cast_is_an_added_one(twin):
    twin.add_column("more")
    twin.cast_column("more", pa.int32())
    assert net(twin, 1) == {"column_added": 10}
    assert opened(twin).changes(1).summary()["uncertain"].item() == 0


def test_a_column_that_was_added_and_written_in_place_is_an_added_one(twin):
    twin.add_column("more")
    first = twin.dataset.get_fragment(0)
    values = pa.table({"key": [1, 2], "more": pa.array([7, 8], pa.int64())})
    fragment, fields = first.update_columns(values, "key")
    operation = lance.LanceOperation.Update(
        updated_fragments=[fragment], fields_modified=fields, update_mode="rewrite_columns"
    )
    lance.LanceDataset.commit(twin.uri, operation, read_version=twin.version)
    assert net(twin, 2) == {"column_rewritten": 4, "unchanged": 6}
    assert net(twin, 1) == {"column_added": 10}
    assert opened(twin).changes(1).summary()["uncertain"].item() == 0


@pytest.mark.parametrize("writer", ["8.0.1", "14.0.2"])
def test_a_column_added_and_cast_in_a_stored_table_is_an_added_one(writer):
    table = lx.open_table(DATA / writer / "schema_changes.lance")
    assert table.changes(1, 4).summary().select("column_added", "uncertain").row(0) == (8, 0)
    assert table.changes(3, 4).summary().select("column_rewritten", "uncertain").row(0) == (8, 8)
    one, other = (table.at(version).read(["id"]) for version in (1, 4))
    assert one.equals(other)


def test_a_renamed_column_is_the_same_one(twin):
    twin.add_column("more")
    twin.rename_column("more", "other")
    twin.update(Keys(5, 2))
    lines = feed(twin, 2)
    assert net(twin, 2) == {"updated": 2, "unchanged": 8}
    assert "more" not in lines.columns
    assert lines["other"].to_list() == [3, 8, 3, 8]


def test_a_column_with_the_field_id_of_one_before_an_overwrite_is_another_one(twin):
    twin.add_column("more")
    twin.overwrite(1)
    twin.add_column("other")
    lines = feed(twin, 2)
    assert lines["more"].to_list() == [*range(1, 11), None]
    assert lines["other"].to_list() == [*[None] * 10, 11]


def test_a_renamed_column_is_the_same_one_though_a_restore_undid_an_overwrite_since(twin):
    twin.add_column("more")
    twin.rename_column("more", "other")
    twin.overwrite(1)
    twin.restore(2)
    twin.update(Keys(5, 2))
    lines = feed(twin, 3)
    assert "other" not in lines.columns
    assert lines["more"].to_list() == [3, 8, 3, 8]


def test_replaced_data_may_have_changed_the_rows_of_a_fragment(twin):
    twin.replace_value(0)
    assert net(twin, 1) == {"column_rewritten": 4, "unchanged": 6}
    assert opened(twin).changes(1).summary()["uncertain"].item() == 4


def test_an_overlay_updates_the_rows_that_it_covers(twin):
    twin.lay_over_value(Keys(5, 2))
    assert net(twin, 1) == {"updated": 2, "unchanged": 8}
    assert values_of(feed(twin, 1), "update_postimage") == {2: 2, 7: 2}


def test_a_column_written_in_place_without_offsets_may_have_changed_all_rows(plain):
    plain.rewrite_value(Keys(10, 2))
    plain.compact()
    assert net(plain, 1) == {"column_rewritten": 4, "moved": 6}
    changed = feed(plain, 1).filter(_change_type="update_postimage").explode("changed_columns")
    assert changed.filter(changed_columns="value")["key"].to_list() == [2]


@pytest.mark.parametrize("writer", ["8.0.1", "14.0.2"])
def test_with_row_ids_a_column_written_so_may_have_changed_all_rows_of_its_fragment(writer):
    table = lx.open_table(DATA / writer / "update_columns.lance")
    counts = table.changes(1, 2).summary().select("column_rewritten", "unchanged", "uncertain")
    assert counts.row(0) == (6, 6, 6)
    lines = table.changes(1, 2, images="both").to_polars().filter(_change_type="update_postimage")
    changed = {key: names for key, names in lines.select("id", "changed_columns").rows() if names}
    assert changed == {7: ["score"], 9: ["score"]}


def test_rows_that_an_update_wrote_are_only_moved_by_a_compaction(plain):
    plain.update(Keys(5, 2))
    plain.delete(Keys(5, 3))
    plain.compact()
    lines = feed(plain, 3, mode="per_commit", images="after", include=["moved"])
    assert lines["_event"].cast(pl.String).to_list() == ["moved"] * 8
    assert dict(lines.select("key", "value").iter_rows()) == plain.rows
    again = feed(plain, 1, mode="per_commit").filter(_event="updated")
    assert again["evidence"].cast(pl.String).to_list() == ["inferred"] * 4


def test_such_a_column_that_a_restore_undid_is_as_it_was(plain):
    plain.rewrite_value(Keys(10, 2))
    plain.restore(1)
    plain.compact()
    assert net(plain, 1) == {"moved": 10}


# ---------------------------------------------------------------------------- lost versions


def test_changes_over_lost_versions_are_exact_with_stable_row_ids(stable):
    stable.update(Keys(5, 2))
    stable.delete(Keys(5, 3))
    stable.append(1)
    stable.append(1)
    before = net(stable, 1)
    stable.clean_up(versions=[2, 3, 4])
    assert net(stable, 1) == before
    assert opened(stable).changes(1).summary()["versions_lost"].item() == 3


def test_without_row_ids_lost_versions_leave_it_open_what_became_of_rows(plain):
    plain.update(Keys(5, 2))
    plain.append(1)
    plain.append(1)
    plain.clean_up(versions=[2, 3])
    assert net(plain, 1) == {"inserted": 4, "deleted": 2, "unchanged": 8}
    summary = opened(plain).changes(1).summary()
    assert summary.select("uncertain", "evidence").row(0) == (5, "lost")


def test_rows_without_values_in_a_column_keep_nulls_though_restores_went_to_lost_versions(twin):
    twin.add_null_column("nothing")
    twin.append(2)
    twin.restore(2)
    twin.restore(3)
    twin.clean_up(versions=[2, 3])
    assert net(twin, 4) == {"inserted": 2, "unchanged": 10}


def test_a_gap_is_one_line_of_the_feed_beside_what_is_proven(stable):
    stable.append(2)
    stable.delete(Keys(5, 3))
    stable.append(1)
    stable.clean_up(versions=[2, 3])
    lines = feed(stable, 1, mode="per_commit", images=None)
    assert lines.select("_change_type", "_commit_version", "_event", "evidence").rows() == [
        *[("delete", None, "deleted", "lost")] * 2,
        *[("insert", 2, "created", "derived")] * 2,
        ("insert", 4, "created", "recorded"),
        (None, 4, "lost", "lost"),
    ]


def test_a_version_that_is_not_kept_may_begin_if_row_versions_tell_what_came_after(stable):
    stable.update(Keys(5, 2))
    stable.append(2)
    stable.update(Keys(5, 1))
    before = net(stable, 2)
    stable.clean_up(versions=[1, 2])
    [counts] = opened(stable).changes(2).summary().to_dicts()
    assert {name: counts[name] for name in before if counts[name] is not None} == {
        "inserted": 2,
        "updated": 2,
    }
    assert counts["deleted"] is None
    assert counts["unchanged"] is None
    assert values_of(feed(stable, 2), "update_postimage") == {1: 4, 6: 4}
    assert feed(stable, 2).filter(_change_type="update_preimage").is_empty()


@pytest.mark.parametrize("images", ["known", None])
def test_that_removed_rows_are_lost_with_the_first_version_is_a_line_and_a_finding(stable, images):
    stable.append(2)
    stable.delete(Keys(5, 2))
    stable.append(2)
    stable.clean_up(versions=[2])
    changes = opened(stable).changes(2, images=images)
    assert "which rows were removed is lost" in repr(changes)
    lines = changes.to_polars()
    told = [*[("insert", 4, "inserted")] * 2, (None, None, "lost")]
    assert lines.select("_change_type", "_commit_version", "_event").rows() == told
    assert lines["is_uncertain"].to_list() == [False, False, True]
    parts = changes.parts(1)
    assert len(parts) > 1
    cut = pl.concat([batch for part in parts for batch in changes.batches(part=part)])
    assert_frame_equal(cut, lines, check_row_order=False)
    [finding] = changes.findings().to_dicts()
    assert (finding["code"], finding["first_version"]) == ("removed_rows_lost", 2)


def test_without_row_ids_the_first_version_must_be_kept(plain):
    plain.append(1)
    plain.append(1)
    plain.clean_up(versions=[1])
    with pytest.raises(VersionNotFoundError, match="version 1 was cleaned up"):
        opened(plain).changes(1)
    lines = opened(plain).changes(1, mode="per_commit").to_polars()
    assert sorted(lines["_event"].cast(pl.String)) == ["created", "created", "lost"]


# ------------------------------------------------------------------------------- stored tables


@pytest.mark.parametrize("writer", ["8.0.1", "14.0.2"])
def test_a_restored_detached_version_has_other_rows_with_the_same_ids(writer):
    table = lx.open_table(DATA / writer / "detached.lance")
    assert table.changes(2, 3).summary().select("inserted", "deleted").row(0) == (3, 3)
    lines = table.changes(2, 3, images="both").to_polars()
    assert lines["_rowid"].to_list() == [6, 7, 8, 6, 7, 8]
    old, new = lines.filter(_change_type="delete"), lines.filter(_change_type="insert")
    assert old["id"].to_list() != new["id"].to_list()


# ------------------------------------------------------------------------------------ branches


def test_a_branch_begins_with_the_rows_of_its_parent(twin):
    dev = twin.fork("dev")
    dev.update(Keys(5, 2))
    table = lx.open_table(twin.uri, branch="dev")
    assert table.changes(0).summary()["inserted"].item() == 10
    lines = table.changes(0, mode="per_commit", images="after").to_polars()
    assert lines["_change_type"].cast(pl.String).value_counts().sort("count").rows() == [
        ("update_postimage", 2),
        ("insert", 10),
    ]


def test_a_version_before_the_fork_is_the_parents(twin):
    twin.append(1)
    twin.append(1)
    twin.fork("dev").append(1)
    with pytest.raises(VersionNotFoundError, match="open the main branch for it"):
        lx.open_table(twin.uri, branch="dev").changes(1)


def test_a_tag_on_another_branch_is_refused(twin):
    twin.fork("dev").append(1)
    twin.dataset.tags.create("tip", ("dev", 2))
    with pytest.raises(InvalidArgumentError, match="'tip' is version 2 of branch dev"):
        opened(twin).changes(0, "tip")


def test_a_version_of_another_branch_is_refused_and_one_of_its_own_is_not(twin):
    twin.fork("dev").append(1)
    twin.append(2)
    dev = lx.open_table(twin.uri, branch="dev")
    assert dev.changes(("dev", 1), ("dev", 2)).summary()["inserted"].item() == 1
    assert opened(twin).changes(("main", 1), ("main", 2)).summary()["inserted"].item() == 2
    for table, name in ((dev, ("main", 1)), (opened(twin), ("dev", 1))):
        with pytest.raises(InvalidArgumentError, match=r"with table\.diff$"):
            table.changes(name)


# ------------------------------------------------------------------------------------- asking


def test_the_empty_table_is_version_0(twin):
    assert net(twin, 0) == {"inserted": 10}
    assert net(twin, 0, 0) == {}


def test_a_version_has_no_changes_from_itself(twin):
    twin.append(1)
    assert net(twin, 2, 2) == {"unchanged": 11}


def test_tags_and_times_name_versions(twin):
    twin.append(1)
    twin.tag("first", 1)
    table = opened(twin)
    assert table.changes("first", table.at(2).timestamp).summary()["inserted"].item() == 1


def test_the_first_version_must_not_be_the_later_one(twin):
    twin.append(1)
    with pytest.raises(InvalidArgumentError, match="begin_version 2 is later than end_version 1"):
        opened(twin).changes(2, 1)


@pytest.mark.parametrize(
    "options",
    [{"mode": "gross"}, {"images": "before"}, {"include": ["deleted"]}],
)
def test_unknown_choices_are_errors_that_name_the_known_ones(twin, options):
    with pytest.raises(InvalidArgumentError, match="is one of"):
        opened(twin).changes(0, 1, **options)


@pytest.mark.parametrize("tolerance", [-1.0, float("nan")])
def test_a_tolerance_is_not_negative(twin, tolerance):
    with pytest.raises(InvalidArgumentError, match="tolerance is 0 or more"):
        opened(twin).changes(0, 1, tolerance=tolerance)


def test_only_the_columns_asked_for_are_read(twin):
    lines = feed(twin, 0, images="after", columns=["value"])
    assert lines.columns[-1] == "value"
    assert "key" not in lines.columns
    with pytest.raises(InvalidArgumentError, match="no column 'ke'; there are: key, value"):
        feed(twin, 0, columns=["ke"])


def test_without_columns_of_values_updated_rows_still_have_two_lines(twin):
    twin.update(Keys(5, 2))
    lines = feed(twin, 1, columns=[])
    assert (
        lines["_change_type"].cast(pl.String).to_list()
        == ["update_preimage"] * 2 + ["update_postimage"] * 2
    )
    assert lines["changed_columns"].to_list() == [[]] * 4
    assert lines.columns[-1] == "changed_columns"
    assert len(feed(twin, 1, columns=[], images="after")) == 2


def test_one_name_stands_for_a_sequence_of_one(twin):
    twin.update(Keys(5, 2))
    twin.compact()
    assert feed(twin, 1, columns="key").equals(feed(twin, 1, columns=["key"]))
    assert feed(twin, 1, include="moved").equals(feed(twin, 1, include=["moved"]))


def test_an_empty_feed_has_the_columns_of_a_full_one(twin):
    twin.update(Keys(5, 2))
    empty, full = feed(twin, 1, 1), feed(twin, 1, 2)
    assert len(empty) == 0
    assert empty.schema == full.schema


def test_batches_are_the_feed_in_pieces(twin):
    twin.update(Keys(2, 0))
    twin.append(4)
    changes = opened(twin).changes(0, mode="per_commit", images="both")
    batches = [*changes.batches(3, progress=False)]
    assert max(map(len, batches)) == 3
    assert pl.concat(batches).equals(changes.to_polars())


def test_counting_and_ids_open_no_data_file(twin, tmp_path):
    twin.update(Keys(5, 2))
    twin.compact()
    for path in tmp_path.rglob("data/*.lance"):
        path.write_bytes(b"")
    assert net(twin, 1)["updated"] == 2
    assert len(feed(twin, 1, images=None)) == 2


def test_the_queries_of_the_row_lineage_specification_run(stable):
    stable.append(3)
    stable.update(Keys(5, 2))
    table = opened(stable)
    inserted = table.sql(
        "SELECT * FROM dataset WHERE _row_created_at_version > 1 AND _row_created_at_version <= 3"
    )
    updated = table.sql(
        "SELECT * FROM dataset WHERE _row_created_at_version <= 1 "
        "AND _row_last_updated_at_version > 1 AND _row_last_updated_at_version <= 3"
    )
    assert sorted(inserted["key"]) == [10, 11, 12]
    assert sorted(updated["key"]) == [2, 7]
    assert {"_rowid", "_row_last_updated_at_version"} <= {*inserted.columns}


def test_sql_knows_the_change_feed(twin):
    twin.delete(Keys(5, 2))
    query = "SELECT _event, count(*) AS n FROM changes GROUP BY _event ORDER BY n"
    assert opened(twin).sql(query).rows() == [("deleted", 2), ("created", 10)]


def test_changes_show_themselves(twin):
    twin.append(1)
    changes = opened(twin).changes(1, images="both")
    assert repr(changes).endswith(".lance: 1 to 2, net, images='both')")
    assert "Changes from version 1 to 2" in changes._repr_html_()
