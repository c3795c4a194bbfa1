"""Columns that are written in place, by commits of every name: changes, counts and histories."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import lance
import polars as pl
import pyarrow as pa
import pytest
from lance.file import LanceFileWriter
from lance.fragment import RowIdSequence, write_fragments

from lance_explorer import Table, open_table
from tests.differential.never_false import false_certainties

Operation = lance.LanceOperation

WHAT = ("inserted", "deleted", "updated", "column_rewritten", "column_added", "moved", "unchanged")


@pytest.fixture(params=[False, True], ids=["addresses", "stable"])
def stable(request) -> bool:
    return bool(request.param)


@pytest.fixture
def uri(tmp_path) -> str:
    return str(tmp_path / "t.lance")


def rows(keys: list[int], **columns: object) -> pa.Table:
    """Return rows with a key, and columns of one value each."""
    values = {name: pa.array([value] * len(keys)) for name, value in columns.items()}
    return pa.table({"key": pa.array(keys, pa.int64()), **values})


def create(uri: str, *, stable: bool, rows_per_file: int = 3) -> None:
    """Create a table of six rows in fragments of three."""
    data = rows([*range(6)], a=0, s="old")
    lance.write_dataset(data, uri, enable_stable_row_ids=stable, max_rows_per_file=rows_per_file)


def write_in_place(
    uri: str, fragment: int, data: pa.Table, *, says_which: bool, detached: bool = False
) -> int:
    """Commit other values for rows of a fragment; return the version."""
    dataset: Any = lance.dataset(uri)
    written, fields, *offsets = dataset.get_fragment(fragment).update_columns(
        data, "key", "key", with_offsets=says_which
    )
    operation = Operation.Update(
        updated_fragments=[written],
        fields_modified=fields,
        update_mode="rewrite_columns",
        updated_fragment_offsets={fragment: offsets[0]} if says_which else None,
    )
    commit = lance.LanceDataset.commit
    made = commit(dataset, operation, read_version=dataset.version, detached=detached)
    version: int = made.version
    return version


def net(table: Table, begin: int, end: int | None = None) -> dict[str, int]:
    """Return the counts of net changes that are not 0, and how many of them are uncertain."""
    changes = table.changes(begin, end, include=("moved", "column_added"))
    [summary] = changes.summary().to_dicts()
    lines = changes.to_polars()["_event"].cast(pl.String).value_counts()
    told = {name: summary[name] for name in WHAT if summary[name]}
    assert dict(lines.iter_rows()) == {k: n for k, n in told.items() if k != "unchanged"}
    return told | {"uncertain": summary["uncertain"]}


def counts(table: Table, version: int) -> dict[str, int | None]:
    """Return the counts of a version that are not 0."""
    [row] = table.versions().filter(version=version).to_dicts()
    return {name[5:]: row[name] for name in row if name.startswith("rows_") and row[name] != 0}


def events(table: Table, row_id: int) -> list[str]:
    return table.row(row_id).history()["event"].cast(pl.String).to_list()


def test_rows_merged_in_place_are_told_beside_those_that_are_inserted(uri, stable):
    create(uri, stable=stable)
    lance.dataset(uri).create_scalar_index("key", "BTREE")
    merge = lance.dataset(uri).merge_insert("key").when_matched_update_all()
    merge.when_not_matched_insert_all().execute(rows([1, 9], s="new"))
    table = open_table(uri)
    if stable:
        assert net(table, 2) == {"inserted": 1, "updated": 1, "unchanged": 5, "uncertain": 0}
        assert events(table, 1) == ["created", "updated"]
        assert counts(table, 3) == {"added": 1, "updated": 1, "in": 1}
    else:
        told = {"inserted": 1, "column_rewritten": 3, "unchanged": 3, "uncertain": 3}
        assert net(table, 2) == told
        assert events(table, 1) == ["created", "column_rewritten"]
        assert counts(table, 3) == {"added": 1, "column_rewritten": 3, "in": 1}


def test_a_detached_write_and_an_ordinary_one_have_one_number(uri):
    """Both were built on version 2, so both wrote 3 beside the row as its last update."""
    create(uri, stable=True)
    write_in_place(uri, 0, rows([1], a=7), says_which=True)
    detached = write_in_place(uri, 0, rows([2], a=8), says_which=True, detached=True)
    write_in_place(uri, 0, rows([2], a=9), says_which=True)
    lance.dataset(uri).checkout_version(detached).restore()
    assert not false_certainties(uri)


def test_each_fragment_says_by_itself_which_rows_were_written(uri, stable):
    create(uri, stable=stable)
    dataset = lance.dataset(uri)
    first, second = dataset.get_fragments()
    one, fields, offsets = first.update_columns(rows([1], a=7), "key", "key", with_offsets=True)
    two, _ = second.update_columns(rows([4], a=8), "key", "key")
    new = lance.fragment.write_fragments(rows([6], a=1, s="new"), uri, schema=dataset.schema)
    operation = Operation.Update(
        updated_fragments=[one, two],
        new_fragments=[*new],
        fields_modified=fields,
        update_mode="rewrite_columns",
        updated_fragment_offsets={0: offsets},
    )
    lance.LanceDataset.commit(uri, operation, read_version=1)
    table = open_table(uri)
    told = {"inserted": 1, "updated": 1, "column_rewritten": 3, "unchanged": 2, "uncertain": 3}
    assert net(table, 1) == told
    assert counts(table, 2) == {"added": 1, "updated": 1, "column_rewritten": 3, "in": 1}


@pytest.mark.parametrize("says_which", [True, False], ids=["offsets", "no offsets"])
def test_values_may_differ_where_no_file_had_the_column(uri, stable, says_which):
    create(uri, stable=stable)
    lance.write_dataset(rows([6, 7, 8]), uri, mode="append")
    write_in_place(uri, 2, rows([7], a=7), says_which=says_which)
    table = open_table(uri)
    if says_which:
        assert net(table, 2) == {"updated": 1, "unchanged": 8, "uncertain": 0}
        assert counts(table, 3) == {"updated": 1}
    else:
        assert net(table, 2) == {"column_rewritten": 3, "unchanged": 6, "uncertain": 3}
        assert counts(table, 3) == {"column_rewritten": 3}


def test_a_merge_may_write_a_column_anew_in_one_fragment_and_add_one_to_all(uri, stable):
    create(uri, stable=stable)
    dataset: Any = lance.dataset(uri)
    merged = [fragment.merge_columns({"b": "key + 1"}) for fragment in dataset.get_fragments()]
    written, _ = dataset.get_fragment(0).update_columns(rows([1], a=7), "key", "key")
    first, second = (fragment for fragment, _ in merged)
    first.files = [*written.files, first.files[-1]]
    operation = Operation.Merge([first, second], merged[0][1])
    lance.LanceDataset.commit(uri, operation, read_version=1)
    table = open_table(uri)
    assert net(table, 1) == {"column_rewritten": 3, "column_added": 3, "uncertain": 3}
    assert len(table.changes(1, mode="per_commit").to_polars()) == 3
    assert counts(table, 2) == {"column_rewritten": 3, "column_added": 3}


CASTS = {"a": pa.int32(), "place.x": pa.int32()}


@pytest.mark.parametrize("column", CASTS)
def test_a_merge_after_a_cast_is_no_update(uri, column):
    place = pa.array([{"x": 1, "y": 2}] * 6)
    data = rows([*range(6)], a=0).append_column("place", place)
    lance.write_dataset(data, uri)
    cast: Any = {"path": column, "data_type": CASTS[column]}
    lance.dataset(uri).alter_columns(cast)
    source = lance.dataset(uri).to_table().slice(0, 2).set_column(0, "key", pa.array([9, 1]))
    merge = lance.dataset(uri).merge_insert("key").when_matched_update_all()
    merge = merge.when_not_matched_insert_all().when_not_matched_by_source_delete("key = 5")
    merge.execute(source)
    table = open_table(uri)
    assert net(table, 2) == {"inserted": 2, "deleted": 2, "unchanged": 4, "uncertain": 4}
    unknown = dict.fromkeys(["added", "updated", "deleted"])
    assert counts(table, 3) == {**unknown, "in": 2, "out": 2}


def test_a_compaction_does_not_hide_what_was_written_in_place(uri, stable):
    create(uri, stable=stable)
    write_in_place(uri, 0, rows([1], a=7), says_which=False)
    lance.dataset(uri).optimize.compact_files()
    table = open_table(uri)
    assert net(table, 1) == {"column_rewritten": 3, "moved": 3, "uncertain": 3}


def test_a_restore_over_a_compaction_undoes_what_was_written_in_place(uri, stable):
    create(uri, stable=stable)
    lance.dataset(uri).optimize.compact_files()
    compacted = lance.dataset(uri)
    [fragment] = compacted.get_fragments()
    write_in_place(uri, fragment.fragment_id, rows([1], a=7), says_which=False)
    lance.dataset(uri, version=1).restore()
    table = open_table(uri)
    last = lance.dataset(uri).version
    assert net(table, last - 1) == {"column_rewritten": 6, "uncertain": 6}
    feed = table.changes(last - 1, mode="per_commit").to_polars()
    assert feed.filter(pl.col("_event") == "restored", "is_uncertain").height == 6


def test_a_restore_undoes_what_a_later_write_in_place_covers(uri, stable):
    create(uri, stable=stable)
    write_in_place(uri, 0, rows([1], a=7), says_which=False)
    write_in_place(uri, 0, rows([2], a=8), says_which=True)
    lance.dataset(uri, version=1).restore()
    table = open_table(uri)
    feed = table.changes(3, mode="per_commit").to_polars()
    certain = dict(feed.select("_rowid", "is_uncertain").iter_rows())
    assert certain == {0: True, 1: True, 2: False}
    assert net(table, 1) == {"unchanged": 6, "uncertain": 0}


def lose(uri: str, *versions: int) -> None:
    """Remove some versions, as a clean-up does that tags stopped."""
    dataset = lance.dataset(uri)
    for kept in range(1, dataset.version + 1):
        if kept not in versions:
            dataset.tags.create(f"v{kept}", kept)
    dataset.cleanup_old_versions(
        older_than=None, retain_versions=1, error_if_tagged_old_versions=False
    )


@pytest.mark.parametrize("compacts", [False, True])
def test_what_kept_versions_wrote_in_place_is_told_though_the_first_is_lost(uri, compacts):
    create(uri, stable=True)
    lance.write_dataset(rows([6], a=1, s="new"), uri, mode="append")
    write_in_place(uri, 0, rows([1], a=7), says_which=False)
    if compacts:
        lance.dataset(uri).optimize.compact_files()
    lose(uri, 2)
    table = open_table(uri)
    feed = table.changes(2).to_polars()
    assert sorted(feed.filter(pl.col("_event") != "lost")["_rowid"]) == [0, 1, 2]
    assert feed["is_uncertain"].all()


def test_a_restore_of_a_lost_version_may_bring_its_writes_in_place_back(uri, stable):
    create(uri, stable=stable)
    write_in_place(uri, 0, rows([1], a=7), says_which=False)
    lance.dataset(uri, version=1).restore()
    lance.dataset(uri, version=2).restore()
    lose(uri, 2)
    table = open_table(uri)
    assert net(table, 3) == {"column_rewritten": 3, "unchanged": 3, "uncertain": 3}
    feed = table.changes(3, mode="per_commit").to_polars()
    assert feed.filter(pl.col("_event") == "restored", "is_uncertain").height == 3


def test_a_lost_version_may_have_written_in_place_what_a_compaction_took_over(uri, stable):
    create(uri, stable=stable)
    write_in_place(uri, 0, rows([1], a=7), says_which=False)
    lance.dataset(uri, version=1).restore()
    lance.dataset(uri).optimize.compact_files(target_rows_per_fragment=10)
    lance.dataset(uri, version=2).restore()
    lose(uri, 1, 2)
    table = open_table(uri)
    latest = table.latest.version
    assert net(table, 3) == {"column_rewritten": 3, "unchanged": 3, "uncertain": 3}
    feed = table.changes(latest - 1, mode="per_commit", include="moved").to_polars()
    told = feed.sort("_rowid")["_event"].cast(pl.String).to_list()
    assert told == ["restored"] * 3 + ["moved"] * 3
    assert feed.sort("_rowid")["is_uncertain"].to_list() == [True] * 3 + [False] * 3


def test_a_detached_write_in_place_is_restored_over_a_compaction(uri):
    create(uri, stable=False)
    dataset: Any = lance.dataset(uri)
    written, fields = dataset.get_fragment(1).update_columns(rows([3], a=99), "key", "key")
    operation = Operation.Update(
        updated_fragments=[written], fields_modified=fields, update_mode="rewrite_columns"
    )
    detached = lance.LanceDataset.commit(dataset, operation, read_version=1, detached=True)
    lance.dataset(uri).optimize.compact_files(target_rows_per_fragment=10)
    lance.dataset(uri).checkout_version(detached.version).restore()
    assert not false_certainties(uri)


@pytest.mark.parametrize("says_which", [[True], [False], [False, True]])
def test_detached_writes_in_place_on_one_another_are_restored(uri, says_which):
    create(uri, stable=True)
    dataset: Any = lance.dataset(uri)
    for told in says_which:  # each built on the one before
        fragment = dataset.get_fragments()[1]
        written, fields, offsets = fragment.update_columns(
            rows([3], a=99), "key", "key", with_offsets=True
        )
        operation = Operation.Update(
            updated_fragments=[written],
            fields_modified=fields,
            update_mode="rewrite_columns",
            updated_fragment_offsets={1: offsets} if told else None,
        )
        dataset = lance.LanceDataset.commit(dataset, operation, read_version=1, detached=True)
    lance.dataset(uri).update({"a": "7"}, where="key = 0")
    dataset.restore()
    assert not false_certainties(uri)


def rewrite_without_row_versions(uri: str) -> None:
    """Commit a Rewrite of all rows to one fragment that has their row IDs alone."""
    dataset: Any = lance.dataset(uri)
    data = dataset.to_table(with_row_id=True)
    [new] = write_fragments(data.drop(["_rowid"]), uri, data_storage_version="stable")
    ids = RowIdSequence(data["_rowid"].to_pylist()).to_inline_metadata()
    old = [fragment.metadata for fragment in dataset.get_fragments()]
    groups = [Operation.RewriteGroup(old, [replace(new, id=9, row_id_meta=ids)])]
    lance.LanceDataset.commit(uri, Operation.Rewrite(groups, []), read_version=dataset.version)


@pytest.mark.parametrize("casts", [0, 1, 2])
def test_what_was_written_in_place_is_told_of_a_column_with_another_name_and_id(uri, casts):
    """Nothing but the way tells of it: after the rewrite no row version says that a cast was."""
    create(uri, stable=True, rows_per_file=6)
    steps = [
        {"path": "a", "data_type": pa.int32()},
        {"path": "a", "name": "b"},
        {"path": "b", "data_type": pa.int16()},
    ]

    def alter(some: list[dict[str, Any]]) -> None:
        for step in some:
            lance.dataset(uri).alter_columns(cast(Any, step))

    alter(steps[:casts])
    field = lance.dataset(uri).schema.field("b" if casts == 2 else "a")
    written = pa.table({"key": [1], field.name: pa.array([7], field.type)})
    write_in_place(uri, 0, written, says_which=False)
    rewrite_without_row_versions(uri)
    lance.write_dataset(lance.dataset(uri).to_table().slice(0, 1), uri, mode="append")
    lance.dataset(uri).optimize.compact_files()
    alter(steps[casts:2])
    lance.dataset(uri).update({"b": "9"}, where="key = 5")
    last = lance.dataset(uri).version
    feed = open_table(uri).changes(1, last, include=("moved", "column_added")).to_polars()
    told = feed.filter(pl.col("_rowid") < 5).select("_event", "is_uncertain").unique()
    assert told.rows() == [("column_rewritten", True)]


def test_a_rewrite_without_row_versions_hides_no_update(uri):
    create(uri, stable=True, rows_per_file=6)
    lance.dataset(uri).update({"a": "7"}, where="key = 2")
    rewrite_without_row_versions(uri)
    table = open_table(uri)
    assert net(table, 2) == {"moved": 6, "uncertain": 0}
    assert net(table, 1) == {"updated": 1, "moved": 5, "uncertain": 0}
    lance.write_dataset(rows([8], a=1, s="x"), uri, mode="append")
    lance.dataset(uri).optimize.compact_files()  # gives row versions to all
    table = open_table(uri)
    last = table.latest.version
    assert net(table, 3, last) == {"moved": 6, "inserted": 1, "uncertain": 0}
    assert net(table, 4, last) == {"moved": 7, "uncertain": 0}


@pytest.mark.parametrize("lost", [(2, 3), (2, 3, 4)], ids=["write kept", "write lost"])
def test_later_files_show_what_lost_versions_wrote_in_place_in_fragments_of_theirs(
    uri, stable, lost
):
    create(uri, stable=stable)
    lance.dataset(uri).optimize.compact_files(target_rows_per_fragment=1000)
    write_in_place(uri, 2, rows([4], a=7), says_which=False)
    lance.write_dataset(rows([8], a=1, s="x"), uri, mode="append")
    lose(uri, *lost)
    table = open_table(uri)
    assert net(table, 1, 5) == {"column_rewritten": 6, "inserted": 1, "uncertain": 6}
    if stable:
        history = table.row(4).history().filter(pl.col("event") != "created")
        assert history.select("event", "is_uncertain").rows() == [("column_rewritten", True)]


@pytest.mark.parametrize("adds", [False, True], ids=["moved", "column added"])
@pytest.mark.parametrize(
    ("lost", "told"),
    [
        ((), {"column_rewritten": 3, "uncertain": 3}),
        ((3,), {"column_rewritten": 3, "uncertain": 3}),
        ((2, 3), {"column_rewritten": 3, "uncertain": 3}),
        ((2, 3, 4), {"uncertain": 6}),
        ((3, 4), {"column_rewritten": 3, "uncertain": 6}),
    ],
)
def test_the_fragments_that_a_kept_compaction_read_show_what_was_written_before(
    uri, stable, adds, lost, told
):
    create(uri, stable=stable)
    write_in_place(uri, 0, rows([1], a=7), says_which=False)
    lance.dataset(uri).optimize.compact_files(target_rows_per_fragment=1000)
    lance.write_dataset(rows([8], a=1, s="x"), uri, mode="append")
    rest = "moved"
    if adds:
        lance.dataset(uri).add_columns({"b": "key"})
        rest = "column_added"
    lose(uri, *lost)
    last = lance.dataset(uri).version
    kept = 6 - told.get("column_rewritten", 0)
    if lost and not stable:
        told = told | {"uncertain": 6}  # of any row that moved
    assert net(open_table(uri), 1, last) == {**told, rest: kept, "inserted": 1}


def test_a_restore_of_a_lost_compaction_may_bring_values_written_before_it(uri, stable):
    create(uri, stable=stable)
    write_in_place(uri, 0, rows([1], a=7), says_which=False)
    lance.dataset(uri).optimize.compact_files(target_rows_per_fragment=1000)
    lance.dataset(uri, version=1).restore()
    lance.dataset(uri, version=4).restore()
    lose(uri, 2, 3, 4)
    table = open_table(uri)
    assert net(table, 5)["uncertain"] == (6 if stable else 12)
    feed = table.changes(5, mode="per_commit", include="moved").to_polars()
    assert feed["is_uncertain"].all()


@pytest.mark.parametrize("appends", [False, True])
def test_detached_versions_that_were_made_of_each_other_are_restored(uri, stable, appends):
    create(uri, stable=stable)
    dataset: Any = lance.dataset(uri)
    written, fields = dataset.get_fragment(1).update_columns(rows([3], a=99), "key", "key")
    operation = Operation.Update(
        updated_fragments=[written], fields_modified=fields, update_mode="rewrite_columns"
    )
    commit = lance.LanceDataset.commit
    first = again = commit(dataset, operation, read_version=1, detached=True)
    if appends:
        new = write_fragments(rows([9], a=1, s="x"), uri, data_storage_version="stable")
        again = commit(first, Operation.Append(new), read_version=1, detached=True)
    write_in_place(uri, 1, rows([3], a=7), says_which=True)
    for detached in (first, again):
        lance.dataset(uri).checkout_version(detached.version).restore()
    assert not false_certainties(uri)


@pytest.mark.parametrize("then", ["append", "upsert"])
@pytest.mark.parametrize("deletes", [False, True])
def test_a_detached_append_is_restored(uri, stable, then, deletes):
    create(uri, stable=stable)
    base: Any = lance.dataset(uri)
    new = write_fragments(rows([8, 9], a=1, s="x"), uri, data_storage_version="stable")
    detached = lance.LanceDataset.commit(
        base, Operation.Append(new), read_version=base.version, detached=True
    )
    if then == "append":
        lance.write_dataset(rows([6], a=1, s="x"), uri, mode="append")
    else:
        merge = lance.dataset(uri).merge_insert("key").when_matched_update_all()
        merge.when_not_matched_insert_all().execute(rows([1, 6], a=7, s="new"))
    if deletes:
        lance.dataset(uri).delete("key = 2")
    lance.dataset(uri).checkout_version(detached.version).restore()
    assert not false_certainties(uri)


@pytest.mark.parametrize("takes_out", [False, True])
def test_rows_come_beside_a_detached_write_in_place(uri, takes_out):
    create(uri, stable=False)
    base: Any = lance.dataset(uri)
    written, fields = base.get_fragment(1).update_columns(rows([3], a=9), "key", "key")
    if takes_out:
        written = replace(
            written, deletion_file=base.get_fragment(1).delete("key = 4").deletion_file
        )
    new = write_fragments(rows([8, 9], a=1, s="x"), uri, data_storage_version="stable")
    operation = Operation.Update(
        updated_fragments=[written],
        new_fragments=[*new],
        fields_modified=fields,
        update_mode="rewrite_columns",
    )
    detached = lance.LanceDataset.commit(base, operation, read_version=1, detached=True)
    lance.dataset(uri).update({"a": "5"}, where="key = 1")
    lance.dataset(uri).checkout_version(detached.version).restore()
    assert not false_certainties(uri)


def test_overlays_that_an_update_took_away_leave_their_rows_open(uri, monkeypatch):
    """It takes those of all columns that it names, also where it wrote another one."""
    monkeypatch.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
    create(uri, stable=True)
    dataset: Any = lance.dataset(uri)
    path = Path(uri, "data", "laid_over.lance")
    with LanceFileWriter(str(path), version="2.1") as writer:
        writer.write_batch(pa.table({"s": ["laid over"]}))
    file = lance.fragment.DataFile(
        path.name, [dataset.lance_schema.field("s").id()], [0], 2, 1, path.stat().st_size
    )
    group = Operation.DataOverlayGroup(0, [Operation.DataOverlayFile(file, [1])])
    dataset = lance.LanceDataset.commit(uri, Operation.DataOverlay([group]), read_version=1)
    fragments, told, fields = list[Any](), {}, set[int]()
    for fragment, data in zip(
        dataset.get_fragments(), (rows([2], a=7), rows([3], s="new")), strict=True
    ):
        made, names, offsets = fragment.update_columns(data, "key", "key", with_offsets=True)
        fragments.append(made)
        told[fragment.fragment_id] = offsets
        fields |= {*names}
    operation = Operation.Update(
        updated_fragments=fragments,
        fields_modified=sorted(fields),
        update_mode="rewrite_columns",
        updated_fragment_offsets=told,
    )
    lance.LanceDataset.commit(uri, operation, read_version=2)
    kept = [lance.dataset(uri, version=v).to_table()["s"].to_pylist()[1] for v in (1, 2, 3)]
    assert kept == ["old", "laid over", "old"]
    feed = open_table(uri).changes(2, 3, images="both").to_polars()
    feed = feed.filter(_change_type="update_postimage")
    rewritten = feed.filter(_event="column_rewritten")
    assert rewritten.select("key", "changed_columns", "is_uncertain").rows() == [
        (0, [], True),
        (1, ["s"], True),
    ]
    assert sorted(feed.filter(_event="updated")["key"]) == [2, 3]


def test_a_row_that_a_lost_restore_put_back_where_it_was_written_in_place_is_open(uri):
    """Its row version is that of its creation before and after: a compaction names the files."""
    create(uri, stable=True, rows_per_file=6)
    detached = write_in_place(uri, 0, rows([0, 1], a=7), says_which=False, detached=True)
    lance.dataset(uri).update({"a": "8"}, where="key in (1, 2)")
    lance.dataset(uri).checkout_version(detached).restore()
    lance.dataset(uri).delete("key = 5")
    lance.dataset(uri).optimize.compact_files(materialize_deletions_threshold=0.0)
    last = lance.dataset(uri).version
    lance.dataset(uri).cleanup_old_versions(versions=[*range(3, last)])
    table = open_table(uri)
    assert table.versions()["version"].to_list() == [1, 2, last]
    feed = table.changes(1, last, images="both").to_polars()
    after = feed.filter(_change_type="update_postimage").select("key", "a", "is_uncertain")
    assert {(0, 7, True), (1, 7, True)} <= {*after.rows()}


def test_a_detached_delete_from_before_a_write_in_place_is_restored(uri, stable):
    create(uri, stable=stable)
    dataset: Any = lance.dataset(uri)
    left = dataset.get_fragment(0).delete("key = 0")
    operation = Operation.Delete([left], [], "key = 0")
    detached = lance.LanceDataset.commit(dataset, operation, read_version=1, detached=True)
    write_in_place(uri, 0, rows([1, 2], a=7), says_which=True)
    lance.dataset(uri).checkout_version(detached.version).restore()
    assert not false_certainties(uri)


def test_a_column_that_a_lost_restore_brought_back_may_have_its_values_from_before(uri, stable):
    create(uri, stable=stable)
    write_in_place(uri, 0, rows([1], a=7), says_which=False)
    lance.dataset(uri).drop_columns(["a"])
    lance.dataset(uri, version=1).restore()
    lance.dataset(uri).add_columns({"other": "key + 1"})
    lose(uri, 4)
    table = open_table(uri)
    feed = table.changes(2, 5, include="column_added").to_polars()
    events = {row["_rowid"]: (row["_event"], row["is_uncertain"]) for row in feed.to_dicts()}
    assert events[1] in (("column_rewritten", True), ("updated", True))
    assert all(is_uncertain for row, (_, is_uncertain) in events.items() if row < 3)
