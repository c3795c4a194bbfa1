from collections.abc import Callable
from random import Random

import numpy as np
import polars as pl
import pytest

from lance_explorer.format._pb import row_ids_pb2, table_pb2
from lance_explorer.frames.findings import FINDINGS
from lance_explorer.history.reading.row_reader import RowReader
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.row_id_checks import check_row_ids
from tests.inspect.tables import stored
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable, record

FRAGMENTS = 2  # the field of a manifest
FAULTY = {
    "8.0.1/stable_row_ids.lance": [
        ("next_row_id_fell", 16, None),
        ("row_ids_reused", 18, 8),
        ("row_ids_reused", 19, 9),
    ],
    "1.0.4/stable_row_ids.lance": [
        ("created_at_wrong", 5, None),
        ("next_row_id_fell", 16, None),
        ("row_ids_reused", 18, 7),
        ("row_ids_reused", 19, 8),
    ],
    "1.0.4/cleaned_stable_row_ids.lance": [("created_at_wrong", 8, None)],
    "1.0.4/branches.lance": [("created_at_wrong", 5, None)],
    "1.0.4/branches.lance/tree/dev": [("created_at_wrong", 5, None)],
    "1.0.4/branches.lance/tree/dev/deep": [("created_at_wrong", 7, None)],
    "0.32.1/stable_row_ids.lance": [
        ("next_row_id_fell", 16, None),
        ("row_ids_reused", 18, 7),
        ("row_ids_reused", 19, 8),
        ("row_ids_reused", 23, 10),
    ],
}
"""What the stored tables are known for; all others are clean."""


def check(table: SyntheticTable) -> pl.DataFrame:
    return check_row_ids(HistoryView.open(str(table.path)))


def found(table: SyntheticTable) -> list[tuple[object, ...]]:
    return by_fragment(check(table))


def by_fragment(frame: pl.DataFrame) -> list[tuple[object, ...]]:
    """Return codes, versions, and the fragments that findings are about."""
    is_one = pl.col("subject_kind") == "fragment"
    number = pl.when(is_one).then(pl.col("subject_name")).cast(pl.Int64)
    return frame.select("code", "first_version", number.alias("fragment_id")).rows()


def message_of(table: SyntheticTable, code: str) -> str:
    return str(check(table).filter(code=code)["statement"][0])


def edit_fragment(
    table: SyntheticTable, fragment_id: int, edit: Callable[[table_pb2.DataFragment], object]
) -> SyntheticTable:
    """Change what the latest version says about a fragment, and nothing else."""
    records = b""
    for key in table.fragment_ids:
        message = table_pb2.DataFragment()
        message.CopyFrom(table.state.fragments[key].message)
        if key == fragment_id:
            edit(message)
        records += record(FRAGMENTS, message.SerializeToString())
    return table.amend(fragments=records)


def ids(start: int, stop: int) -> bytes:
    segment = row_ids_pb2.U64Segment(range=row_ids_pb2.U64Segment.Range(start=start, end=stop))
    return row_ids_pb2.RowIdSequence(segments=[segment]).SerializeToString()


def versions(*runs: tuple[int, int]) -> bytes:
    """Encode versions, each with the number of its rows."""
    return row_ids_pb2.RowVersionSequence(
        runs=[
            row_ids_pb2.RowVersionRun(
                span=row_ids_pb2.U64Segment(range=row_ids_pb2.U64Segment.Range(end=count)),
                version=version,
            )
            for count, version in runs
        ]
    ).SerializeToString()


@pytest.fixture
def table(tmp_path):
    """Fragments 0 and 1 of 3 rows each, with the row IDs 0 to 5."""
    return SyntheticTable(tmp_path / "t.lance").append(rows=3).append(rows=3)


# ------------------------------------------------------------------------------------ stored tables


@stored_check()
def check_stored_tables_have_the_faults_of_their_writers(asked):
    frame = check_row_ids(asked.view)
    assert frame.schema == FINDINGS.polars_schema
    assert by_fragment(frame) == FAULTY.get(str(asked), [])
    assert set(frame["branch"]) <= {asked.view.branch}


def test_messages_say_what_happened():
    frame = check_row_ids(stored("1.0.4/stable_row_ids.lance"))
    assert frame["severity"].to_list() == ["warning", "error", "error", "error"]
    wrong, fell, *reused = frame["statement"]
    assert wrong == (
        "rows whose IDs were assigned later are stored as created by version 1: 33 rows in 10 "
        "fragments, the first in version 5 (Update, lance 1.0.4)"
    )
    assert fell == "next_row_id fell from 38 to 24 in version 16 (Restore, lance 1.0.4)"
    again = "assigned again in version"
    assert reused == [
        f"6 row IDs from 24 on are {again} 18 (Update, lance 1.0.4); the first is in fragment 7",
        f"row ID 30 is {again} 19 (Update, lance 1.0.4); the first is in fragment 8",
    ]
    assert frame["causes"][1][0].startswith("restores by releases up to 8.0.1 do this; ")


# -------------------------------------------------------------------------------- what can be wrong


def test_a_sound_table_has_no_findings(table):
    table.update({0: [1], 1: [0]}, inserted=2).delete({2: [0]}).compact([0, 1]).restore(3)
    table.overwrite(rows=2).restore(4).append(rows=5).delete({5: range(5)})
    assert found(table) == []


def test_a_table_without_stable_row_ids_has_no_findings(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False)
    table.append(rows=3).update({0: [1]}).compact([0, 1])
    assert found(table) == []


def test_a_row_id_that_lives_in_two_fragments(table):
    edit_fragment(table, 1, lambda fragment: setattr(fragment, "inline_row_ids", ids(1, 4)))
    assert found(table) == [("duplicate_row_ids", 2, 1), ("row_ids_unused", 2, None)]
    assert message_of(table, "duplicate_row_ids") == (
        "2 row IDs from 1 on are in more than one live row; the first is in fragments 0, 1"
    )


def test_a_row_id_that_lives_twice_in_a_fragment(table):
    twice = row_ids_pb2.RowIdSequence.FromString(ids(4, 5) + ids(3, 5)).SerializeToString()
    edit_fragment(table, 1, lambda fragment: setattr(fragment, "inline_row_ids", twice))
    assert found(table) == [("duplicate_row_ids", 2, 1), ("row_ids_unused", 2, None)]
    assert message_of(table, "duplicate_row_ids") == (
        "row ID 4 is in more than one live row; the first is in fragment 1"
    )


def test_a_row_id_that_a_deleted_row_has_too_is_no_duplicate(table):
    table.update({0: [1, 2]}).delete({2: [0]}).restore(2).delete({0: [0]})
    assert found(table) == []


def test_duplicates_are_told_once(table):
    table.state.manifest.next_row_id = 2
    table.append(rows=2).append(rows=3).update_config(a="b").delete({0: [0]})
    assert found(table) == [
        ("next_row_id_fell", 3, None),
        ("duplicate_row_ids", 3, 2),
        ("row_id_beyond_next", 3, 1),
        ("duplicate_row_ids", 4, 3),
    ]


def test_row_ids_from_the_next_one_on(table):
    edit_fragment(table, 1, lambda fragment: setattr(fragment, "inline_row_ids", ids(7, 10)))
    assert found(table) == [("row_id_beyond_next", 2, 1), ("row_ids_unused", 2, None)]
    assert message_of(table, "row_id_beyond_next") == (
        "the fragment has row ID 9, though next_row_id is 6"
    )


def test_a_next_row_id_that_falls_below_those_that_are_there(table):
    table.state.manifest.next_row_id = 4
    table.update_config(a="b").update_config(a="c")
    assert found(table) == [("next_row_id_fell", 3, None), ("row_id_beyond_next", 3, 1)]
    assert message_of(table, "next_row_id_fell") == (
        "next_row_id fell from 6 to 4 in version 3 (UpdateConfig, lance 14.0.2)"
    )


def test_row_ids_that_are_given_out_again(table):
    table.delete({1: [2]}).compact([0, 1])  # nothing is left of row 5
    table.state.manifest.next_row_id = 5
    table.append(rows=2)
    assert found(table) == [("row_ids_reused", 6, 3)]
    assert message_of(table, "row_ids_reused") == (
        "row ID 5 is assigned again in version 6 (Append, lance 14.0.2); the first is in fragment 3"
    )


def test_an_overwrite_that_begins_at_zero_again(table):
    table.state.manifest.next_row_id = 0
    table.overwrite(rows=3)
    assert found(table) == [("next_row_id_fell", 3, None), ("row_ids_reused", 3, 2)]


def test_rows_that_a_restore_brings_back_are_the_same_rows(table):
    table.delete({0: range(3)}).compact([1]).restore(2).delete({1: [0]}).restore(3)
    assert found(table) == []


def test_row_ids_that_nobody_uses(table):
    table.state.manifest.next_row_id += 4
    table.append(rows=2)
    assert found(table) == [("row_ids_unused", 3, None)]
    assert message_of(table, "row_ids_unused") == (
        "next_row_id rose from 6 to 12 in version 3 (Append, lance 14.0.2), but only 2 rows got "
        "new IDs: 4 are reserved or unused"
    )


def test_row_ids_that_a_commit_only_reserves(table):
    table.state.manifest.next_row_id += 4
    table.update_config(a="b")
    assert found(table) == [("row_ids_unused", 3, None)]


def test_what_versions_that_are_gone_did_is_not_made_up(table):
    table.append(rows=2).delete({2: [0]}).append(rows=1).compact([0, 1, 2]).append(rows=1)
    table.remove(3, 4, 5, 6)
    assert found(table) == []


@pytest.mark.parametrize("field", ["inline_row_ids", "inline_created_at"])
def test_a_sequence_that_is_too_short(table, field):
    data = ids(3, 5) if field == "inline_row_ids" else versions((2, 2))
    edit_fragment(table, 1, lambda fragment: setattr(fragment, field, data))
    code = "row_id_count" if field == "inline_row_ids" else "row_version_count"
    assert (code, 2, 1) in found(table)
    assert "one for each row, found 2" in message_of(table, code)


@pytest.mark.parametrize("field", ["inline_row_ids", "inline_last_updated_at"])
def test_a_sequence_that_is_too_long(table, field):
    data = ids(3, 7) if field == "inline_row_ids" else versions((4, 2))
    edit_fragment(table, 1, lambda fragment: setattr(fragment, field, data))
    assert found(table) == [("rows_unreadable", 2, 1)]
    assert "a segment of 4 values where 3 rows are left" in message_of(table, "rows_unreadable")


def test_a_fragment_without_row_ids(table):
    edit_fragment(table, 1, lambda fragment: fragment.ClearField("inline_row_ids"))
    assert found(table) == [("row_ids_missing", 2, 1), ("row_ids_unused", 2, None)]


def test_rows_that_were_created_after_their_last_update(table):
    data = versions((1, 2), (2, 3))
    edit_fragment(table, 1, lambda fragment: setattr(fragment, "inline_created_at", data))
    assert found(table) == [("created_after_updated", 2, 1)]
    assert message_of(table, "created_after_updated").startswith("2 rows were created in a later")


def test_a_created_at_that_cannot_be(table):
    data = versions((2, 1), (1, 2))
    edit_fragment(table, 1, lambda fragment: setattr(fragment, "inline_created_at", data))
    assert found(table) == [("created_at_wrong", 2, None)]
    assert ": 2 rows in 1 fragment, the first in version 2 " in message_of(
        table, "created_at_wrong"
    )


def test_the_largest_number_is_no_row_id(table):
    values = np.array([3, 4, (1 << 64) - 1], dtype=np.uint64)
    array = row_ids_pb2.EncodedU64Array.U64Array(values=values.tobytes())
    segment = row_ids_pb2.U64Segment(array=row_ids_pb2.EncodedU64Array(u64_array=array))
    data = row_ids_pb2.RowIdSequence(segments=[segment]).SerializeToString()
    edit_fragment(table, 1, lambda fragment: setattr(fragment, "inline_row_ids", data))
    assert found(table) == [("rows_unreadable", 2, 1)]


def test_stable_row_ids_that_are_switched_off(table):
    def switch(manifest):
        manifest.reader_feature_flags = manifest.writer_feature_flags = 0

    table.update_config(a="b").amend(switch)
    assert found(table) == [("stable_row_ids_switched", 3, None)]
    assert message_of(table, "stable_row_ids_switched").startswith("stable row IDs are off from ")


def test_damaged_sequences_and_missing_files_spare_the_other_fragments(table):
    table.delete({0: [1]}).append(rows=2)
    [file] = (table.path / "_deletions").iterdir()
    file.unlink()
    edit_fragment(table, 2, lambda fragment: setattr(fragment, "inline_row_ids", b"\xff"))
    table.append(rows=1).amend(lambda manifest: setattr(manifest, "next_row_id", 7))
    assert found(table) == [
        ("rows_unreadable", 3, 0),
        ("rows_unreadable", 4, 2),
        ("next_row_id_fell", 5, None),
        ("row_id_beyond_next", 5, 2),
        ("row_id_beyond_next", 5, 3),
    ]


def test_versions_with_features_that_are_not_known_are_left_out(table):
    table.append(rows=1).amend(lambda manifest: setattr(manifest, "reader_feature_flags", 4098))
    assert found(table) == [("rows_not_checked", 3, None)]
    assert "rows of 1 version cannot be checked" in message_of(table, "rows_not_checked")


def test_a_version_that_goes_away_meanwhile_is_told(table):
    table.append(rows=1).append(rows=1)
    view = HistoryView.open(str(table.path))
    assert len(view.history) == 4
    table.remove(3)
    frame = check_row_ids(view)
    assert by_fragment(frame) == [("rows_unreadable", 3, 2)]
    assert frame["statement"].to_list() == [
        "version 3 was removed since the table was last read; refresh() it"
    ]


# ------------------------------------------------------------------------------------ all together


def random_life(path, seed: int, *, sound: bool) -> SyntheticTable:
    """Write versions of all kinds; unless ``sound``, the next row ID falls now and then."""
    random = Random(seed)
    table = SyntheticTable(path).append(rows=4).append(rows=4)
    for _ in range(20):
        keys = sorted(random.sample(table.fragment_ids, min(2, len(table.fragment_ids))))
        while len(joined := ids_of(table, keys)) > len(set(joined)):
            keys.pop()  # the writer of these tables cannot join rows of one ID
        some = {key: random.sample(live_offsets(table, key), 1) for key in keys}
        next_row_id = table.state.manifest.next_row_id
        if not sound and random.random() < 0.15:
            table.state.manifest.next_row_id -= random.randrange(min(6, next_row_id + 1))
        match random.randrange(6):
            case 0:
                table.append(rows=random.randrange(1, 5))
            case 1:
                table.delete(some)
            case 2:
                table.update(some, inserted=random.randrange(3))
            case 3 if keys:
                table.compact(keys)
            case 4:
                table.restore(random.randrange(1, table.version))
            case _:
                table.update_config(step=str(table.version))
    return table


def ids_of(table: SyntheticTable, fragment_ids: list[int]) -> list[int]:
    """Return the row IDs of fragments, those of deleted rows too."""
    found: list[int] = []
    for sequences in [table.state.fragments[key].sequences for key in fragment_ids]:
        assert sequences is not None
        found += np.concatenate(sequences.row_ids).tolist()
    return found


def live_offsets(table: SyntheticTable, fragment_id: int) -> list[int]:
    return sorted(table.state.fragments[fragment_id].live_offsets)


def rows_by_version(view: HistoryView) -> list[tuple[list[int], set[int]]]:
    """Return for each version the row IDs of its live rows, and of all its rows."""
    result = []
    for version in view.history.versions.tolist():
        live: list[int] = []
        every: set[int] = set()
        for content in RowReader(view, version).contents():
            assert content.row_ids is not None
            live += content.row_ids.at(content.live_offsets()).tolist()
            every.update(content.row_ids.values().tolist())
        result.append((live, every))
    return result


@pytest.mark.slow
@pytest.mark.drawn(8)
def test_what_is_found_is_what_looking_at_every_row_of_every_version_finds(tmp_path, seed):
    table = random_life(tmp_path / "t.lance", seed, sound=False)
    view = HistoryView.open(str(table.path))
    frame = check_row_ids(view)
    told = {code: set(frame.filter(code=code)["first_version"]) for code in frame["code"].unique()}
    contents = rows_by_version(view)
    records = view.history.records
    beyond: list[int] = []
    ever: set[int] = set()
    twice_before: set[int] = set()
    live_before: set[int] = set()
    for record_, (live, every) in zip(records, contents, strict=True):
        version, next_row_id = record_.version, record_.manifest.next_row_id
        twice = {row_id for row_id in live if live.count(row_id) > 1}
        if version in told.get("duplicate_row_ids", ()):
            assert twice
        else:
            assert twice <= twice_before
        if record_.operation != "Restore":
            again = (set(live) - live_before) & ever
            assert (version in told.get("row_ids_reused", ())) == bool(again)
        if every and max(every) >= next_row_id:
            beyond.append(version)
        ever |= every
        twice_before, live_before = twice, set(live)
    told_beyond = told.get("row_id_beyond_next", set())
    assert told_beyond <= set(beyond)
    assert sorted(told_beyond)[:1] == beyond[:1]
    nexts = [record_.manifest.next_row_id for record_ in records]
    fell = {v + 1 for v in range(1, len(nexts)) if nexts[v] < nexts[v - 1]}
    assert told.get("next_row_id_fell", set()) == fell


@pytest.mark.drawn(5)
def test_sound_lives_have_no_findings(tmp_path, seed):
    assert found(random_life(tmp_path / "t.lance", seed, sound=True)) == []


def test_only_manifests_in_which_fragments_changed_are_read_again(table):
    for step in range(30):
        table.update_config(step=str(step))
    table.append(rows=1).delete({0: [0]})
    view = HistoryView.open(str(table.path))
    assert len(view.history) == 34
    before = view.storage.io.requests
    assert check_row_ids(view).is_empty()
    assert view.storage.io.requests - before == 5  # four manifests and a deletion file
