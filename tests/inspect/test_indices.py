"""Index segments against pylance's descriptions, and what old or damaged entries leave out.

Pylance leaves out vector indices of its first releases, and says 0 where no version is stored. With
a fragment reuse index, it shows coverage as it will be once that is applied.
"""

import json
from dataclasses import replace

import polars as pl
import pytest
from msgspec import structs

from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.indices import all_indices, indices
from tests.inspect.tables import rows_of, stored, write
from tests.stored_tables import stored_check

DESCRIBED = [
    *("name", "field_ids", "fields", "dataset_version"),
    *("created_at", "index_version", "size_bytes", "base_id"),
]


@stored_check()
def check_segments_are_those_that_pylance_describes(asked):
    view = asked.view
    for version in asked.versions:
        described = asked.dataset(version).describe_indices()
        expected = {
            segment.uuid: (
                index.name,
                index.fields,
                index.field_names,
                segment.dataset_version_at_last_update,
                segment.created_at,
                segment.index_version or None,
                segment.size_bytes,
                segment.base_id,
            )
            for index in described
            for segment in index.segments
        }
        frame = indices(view, version).with_columns(pl.col("index_version").replace(0, None))
        shown = {row[0]: row[1:] for row in rows_of(frame, "uuid", *DESCRIBED)}
        assert {uuid: shown[uuid] for uuid in expected} == expected
        assert len(shown) == len(expected) or asked.release < "1"


@stored_check()
def check_coverage_is_what_pylance_shows(asked):
    view = asked.view
    for version in asked.versions:
        frame = indices(view, version)
        if frame["is_system"].any():
            continue
        covered = dict(rows_of(frame, "uuid", "fragment_ids"))
        for index in asked.dataset(version).describe_indices():
            for segment in index.segments:
                assert covered[segment.uuid] == sorted(segment.fragment_ids)


@stored_check()
def check_counts_fit_the_lists(asked):
    frame = all_indices(asked.view)
    assert frame["num_fragments"].to_list() == frame["fragment_ids"].list.len().to_list()
    for row in frame.iter_rows(named=True):
        assert len(row["field_ids"]) == len(row["fields"])
        assert (row["num_files"] is None) >= (row["size_bytes"] is None)


def test_each_coverage_is_a_state():
    frame = all_indices(stored("14.0.2/deferred_remap.lance")).filter(name="id_idx")
    assert frame["uuid"].n_unique() == 1
    assert rows_of(frame, "fragment_ids", "first_version") == [([0, 1], 2), ([4], 8), ([7], 12)]


def test_types_are_those_that_users_write():
    frame = all_indices(stored("14.0.2/rewritten_indices.lance"))
    assert set(frame["index_type"]) == {"BTREE", "BITMAP", "ZONE_MAP", "IVF_FLAT"}


def test_indices_of_the_system_are_marked():
    frame = all_indices(stored("14.0.2/deferred_remap.lance"))
    system = frame.filter("is_system")
    assert set(system["name"]) == {"__lance_frag_reuse"}
    assert json.loads(system["details"][0])["kind"] == "inline"
    assert set(system["num_files"]) == {None}


def test_the_oldest_entries_say_neither_type_nor_files():
    frame = all_indices(stored("0.10.18/life_cycle.lance"))
    assert set(frame["index_type"]) == {"unknown"}
    assert set(frame["size_bytes"]) == {None}
    assert set(frame["created_at"]) == {None}


def damaged(view, **changes):
    """Return the index frame of version 2, one entry of which was changed."""
    history = view.version(2)
    [record] = history.records
    changed = tuple(replace(index, **changes) for index in record.indices)
    view._single[2] = replace(history, records=(structs.replace(record, indices=changed),))
    return indices(view, 2)


@pytest.fixture
def indexed(tmp_path):
    write(tmp_path / "t", n=[1, 2]).create_scalar_index("n", "BTREE")
    return HistoryView.open(str(tmp_path / "t"))


@pytest.mark.parametrize("bitmap", [None, b"\x00garbage"])
def test_unknown_coverage_is_null(indexed, bitmap):
    frame = damaged(indexed, fragment_bitmap=bitmap)
    assert rows_of(frame, "num_fragments", "fragment_ids") == [(None, None)]


def test_a_coverage_of_more_than_a_table_can_hold_is_null(indexed):
    # One run container: key 0, values 0 to 65535, repeated for 128 keys.
    keys = range(128)
    header = (0x303B | (len(keys) - 1) << 16).to_bytes(4, "little") + b"\xff" * (len(keys) // 8)
    descriptions = b"".join(key.to_bytes(2, "little") + b"\xff\xff" for key in keys)
    run = b"\x01\x00\x00\x00\xff\xff"
    start = len(header) + 8 * len(keys)
    offsets = b"".join((start + i * len(run)).to_bytes(4, "little") for i in keys)
    bitmap = header + descriptions + offsets + run * len(keys)
    frame = damaged(indexed, fragment_bitmap=bitmap)
    assert rows_of(frame, "num_fragments", "fragment_ids") == [(None, None)]


def test_a_time_beyond_all_calendars_is_null(indexed):
    assert damaged(indexed, created_at_ms=2**64 - 1)["created_at"].to_list() == [None]


def test_damaged_details_are_null(indexed):
    url = "/lance.table.FragmentReuseIndexDetails"
    frame = damaged(indexed, type_url=url, details=b"\xff")
    assert rows_of(frame, "index_type", "details") == [("FRAGMENT_REUSE", None)]
