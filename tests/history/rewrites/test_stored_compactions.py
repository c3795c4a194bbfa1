import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.errors import CorruptFileError
from lance_explorer.history.rewrites.compaction_records import (
    CompactionLineage,
    CompactionLineageEntry,
    FragDigest,
    FragReuseGroup,
    newest_first,
)
from lance_explorer.history.rewrites.stored_compactions import (
    LINEAGE_KEY,
    decode_lineage,
    encode_lineage,
    lasting_lineages,
    stored_lineage,
)
from lance_explorer.history.view import HistoryView
from tests.synthetic.tables import SyntheticTable

ENTRY: dict[str, Any] = {
    "compaction_id": "0b2e",
    "timestamp": "2026-01-02T03:04:05.000006Z",
    "source_version": 7,
    "target_version": 9,
    "rewrite_groups": [
        {
            "changed_row_addrs": [],
            "old_frags": [
                {"id": 0, "physical_rows": 5, "num_deleted_rows": 1},
                {"id": 1, "physical_rows": 6, "num_deleted_rows": 0},
            ],
            "new_frags": [{"id": 4, "physical_rows": 10, "num_deleted_rows": 0}],
        }
    ],
}
LINEAGE = CompactionLineage(
    (
        CompactionLineageEntry(
            "0b2e",
            datetime(2026, 1, 2, 3, 4, 5, 6, UTC),
            7,
            9,
            (FragReuseGroup((FragDigest(0, 5, 1), FragDigest(1, 6, 0)), (FragDigest(4, 10, 0),)),),
        ),
    ),
    50,
)


def text_of(*entries: Any, **other: Any) -> str:
    return json.dumps({"entries": entries, "max_entries": None, **other})


def mapped(*mappings: tuple[int, list[int]]) -> dict[str, Any]:
    """Return an entry that only names fragments: each new one with its old ones."""
    kept = {key: value for key, value in ENTRY.items() if key != "rewrite_groups"}
    return kept | {
        "fragment_mappings": [
            {"target_fragment_id": new, "source_fragment_ids": old} for new, old in mappings
        ]
    }


def test_the_json_is_the_one_that_was_proposed():
    assert json.loads(encode_lineage(LINEAGE)) == {"entries": [ENTRY], "max_entries": 50}
    assert decode_lineage(encode_lineage(LINEAGE)) == LINEAGE


digests = st.integers(0, 1 << 32).flatmap(
    lambda rows: st.builds(
        FragDigest,
        id=st.integers(0, (1 << 64) - 1),
        physical_rows=st.just(rows),
        num_deleted_rows=st.integers(0, rows),
    )
)
groups = st.builds(
    FragReuseGroup,
    st.lists(digests, max_size=3).map(tuple),
    st.lists(digests, max_size=3).map(tuple),
)
entries = st.builds(
    CompactionLineageEntry,
    compaction_id=st.uuids().map(str),
    timestamp=st.datetimes(timezones=st.just(UTC)),
    source_version=st.integers(0, (1 << 64) - 1),
    target_version=st.integers(0, (1 << 64) - 1),
    rewrite_groups=st.lists(groups, max_size=3).map(tuple),
)


@given(st.lists(entries, max_size=4), st.none() | st.integers(1, (1 << 64) - 1))
def test_what_is_encoded_is_decoded_again(several, max_entries):
    lineage = CompactionLineage(newest_first(several), max_entries)
    assert decode_lineage(encode_lineage(lineage)) == lineage


def test_an_incomplete_entry_is_not_encoded():
    entry = CompactionLineageEntry(None, None, None, 9, ())
    with pytest.raises(ValueError, match="the entry of version 9 is not complete"):
        encode_lineage(CompactionLineage((entry,)))


def test_entries_in_another_order_are_put_in_order():
    older = ENTRY | {"target_version": 3}
    lineage = decode_lineage(text_of(older, ENTRY))
    assert [entry.target_version for entry in lineage.entries] == [9, 3]


def test_fragment_mappings_are_read_and_written_again():
    text = text_of(mapped((8, [0, 1, 2]), (9, [0, 1, 2]), (10, [5])))
    lineage = decode_lineage(text)
    [entry] = lineage.entries
    assert [
        ([old.id for old in group.old_frags], [new.id for new in group.new_frags])
        for group in entry.rewrite_groups
    ] == [([0, 1, 2], [8, 9]), ([5], [10])]
    assert entry.rewrite_groups[1].new_frags == (FragDigest(10, None, None),)
    assert json.loads(encode_lineage(lineage)) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, 0, UTC)),
        ("2026-01-02T03:04:05.123456789Z", datetime(2026, 1, 2, 3, 4, 5, 123456, UTC)),
        ("2026-01-02T05:04:05.5+02:00", datetime(2026, 1, 2, 3, 4, 5, 500000, UTC)),
        ("2026-01-02T03:04:05.25", datetime(2026, 1, 2, 3, 4, 5, 250000, UTC)),
    ],
)
def test_times_are_read_in_whatever_zone_and_precision(text, time):
    [entry] = decode_lineage(text_of(ENTRY | {"timestamp": text})).entries
    assert entry.timestamp == time
    assert entry.timestamp.tzinfo == UTC


def test_times_are_written_in_utc():
    [entry] = LINEAGE.entries
    zone = timezone(timedelta(hours=2))
    local = CompactionLineageEntry("0b2e", entry.timestamp.astimezone(zone), 7, 9, ())  # type: ignore[union-attr]
    [stored] = json.loads(encode_lineage(CompactionLineage((local,))))["entries"]
    assert stored["timestamp"] == ENTRY["timestamp"]


def test_what_later_versions_of_the_format_add_is_passed_over():
    assert decode_lineage(text_of(ENTRY | {"author": "x"}, more=1)).entries == LINEAGE.entries


DIGEST = {"id": 0, "physical_rows": 5, "num_deleted_rows": 1}


def with_digest(**changes: Any) -> str:
    group = {"changed_row_addrs": [], "old_frags": [DIGEST | changes], "new_frags": []}
    return text_of(ENTRY | {"rewrite_groups": [group]})


BROKEN = {
    "": "no JSON",
    "{": "no JSON",
    "[" * 100_000: "no JSON",
    "9" * 10_000: "no JSON",
    "[]": "the lineage is \\[\\]: expected an object",
    "{}": "entries is None: expected a list",
    '{"entries": {}}': "entries is {}: expected a list",
    text_of("x"): "an entry is 'x': expected an object",
    text_of(max_entries=0): "max_entries is 0: expected a number from 1",
    text_of(max_entries=True): "max_entries is True: expected a number",
    text_of({}): "fragment_mappings is None: expected a list",
    text_of(ENTRY | {"compaction_id": 5}): "compaction_id is 5: expected text",
    text_of(ENTRY | {"compaction_id": "\ud800"}): "compaction_id is '\\\\ud800': expected text",
    text_of(ENTRY | {"timestamp": "soon"}): "timestamp is 'soon': expected a time",
    text_of(ENTRY | {"timestamp": "0001-01-01T00:00:00+14:00"}): "expected a time",
    text_of(ENTRY | {"source_version": -1}): "source_version is -1: expected a number",
    text_of(ENTRY | {"target_version": 2.0}): "target_version is 2.0: expected a number",
    text_of(ENTRY | {"target_version": 1 << 64}): "target_version is 1844.*: expected a number",
    text_of(ENTRY | {"rewrite_groups": [3]}): "a rewrite group is 3: expected an object",
    with_digest(physical_rows=1 << 40): "physical_rows is 1099511627776: expected a number",
    with_digest(num_deleted_rows=6): "num_deleted_rows is 6: expected a number from 0 to 5",
    with_digest(id="x" * 1000): "id is 'x{59}\\.\\.\\.: expected a number",
    text_of(mapped((1, ["x"]))): "a source fragment ID is 'x': expected a number",  # type: ignore[list-item]
}


@pytest.mark.parametrize(
    ("text", "problem"),
    BROKEN.items(),
    ids=[f"{number}: {problem}" for number, problem in enumerate(BROKEN.values())],
)
def test_what_is_broken_is_named_with_the_key(text, problem):
    with pytest.raises(CorruptFileError, match=f"^config key {LINEAGE_KEY}: .*{problem}"):
        decode_lineage(text)


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_any_text_is_a_lineage_or_corrupt(text):
    with pytest.raises(CorruptFileError):
        decode_lineage(text)


def test_the_lineage_is_found_among_other_keys():
    text = encode_lineage(LINEAGE)
    assert stored_lineage([("a", "b"), (LINEAGE_KEY, text), ("z", "{}")]) == LINEAGE
    assert stored_lineage([("a", "b")]) is None


class TestLastingLineages:
    """Texts are told apart by their limit."""

    @staticmethod
    def store(table: SyntheticTable, limit: int) -> SyntheticTable:
        return table.update_config(**{LINEAGE_KEY: text_of(max_entries=limit)})

    @staticmethod
    def lasting(table: SyntheticTable) -> list[tuple[int, int | None]]:
        history = HistoryView.open(str(table.path)).history
        return [
            (record.version, decode_lineage(text).max_entries)
            for record, text in lasting_lineages(history)
        ]

    @pytest.fixture
    def table(self, tmp_path) -> SyntheticTable:
        return self.store(SyntheticTable(tmp_path / "t.lance").append(), 1)

    def test_a_table_without_any_has_none(self, tmp_path):
        assert self.lasting(SyntheticTable(tmp_path / "t.lance").append()) == []

    def test_the_last_version_with_a_text_gives_it(self, table):
        assert self.lasting(table.append().append()) == [(4, 1)]

    def test_what_the_next_commit_took_over_is_left_out(self, table):
        assert self.lasting(self.store(self.store(table, 2).append(), 3)) == [(5, 3)]

    def test_what_a_restore_took_back_lasts(self, table):
        assert self.lasting(self.store(table, 2).restore(2)) == [(3, 2), (4, 1)]

    def test_what_a_writer_did_not_know_lasts(self, table):
        self.store(table, 2)
        table.state.manifest.config[LINEAGE_KEY] = text_of(max_entries=3)
        assert self.lasting(table.commit("update_config", read_version=2)) == [(3, 2), (4, 3)]

    def test_what_is_not_known_to_be_taken_over_lasts(self, table):
        assert self.lasting(self.store(self.store(table, 2), 3).remove(3)) == [(2, 1), (4, 3)]

    def test_what_was_removed_lasts(self, table):
        del table.state.manifest.config[LINEAGE_KEY]
        assert self.lasting(table.commit("update_config")) == [(2, 1)]
