from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

from lance_explorer.history.rewrites.compaction_records import (
    CompactionLineage,
    CompactionLineageEntry,
    FragDigest,
    FragReuseGroup,
    newest_first,
)


def entry(target_version: int = 9, **changes: Any) -> CompactionLineageEntry:
    facts: dict[str, Any] = {
        "compaction_id": "id",
        "timestamp": datetime(2026, 1, 2, 3, 4, 5, 6, UTC),
        "source_version": 7,
        "rewrite_groups": (
            FragReuseGroup((FragDigest(0, 5, 1), FragDigest(1, 6, 0)), (FragDigest(4, 10, 0),)),
            FragReuseGroup((FragDigest(2, 3, 3),), ()),
        ),
    }
    return CompactionLineageEntry(target_version=target_version, **(facts | changes))


def test_where_an_entry_is_known_from_makes_no_other_entry_of_it():
    assert entry(source="config") == entry(source="transaction")
    assert entry(source_version=6) != entry()


@pytest.mark.parametrize("unknown", ["compaction_id", "timestamp", "source_version"])
def test_an_entry_that_lacks_a_fact_is_not_complete(unknown: str):
    assert entry().is_complete
    changes: dict[str, Any] = {unknown: None}
    assert not replace(entry(), **changes).is_complete


def test_entries_are_ordered_by_the_version_that_they_made():
    entries = newest_first([entry(5), entry(12), entry(9)])
    assert [e.target_version for e in entries] == [12, 9, 5]


def test_the_frame_has_one_row_for_each_group():
    frame = CompactionLineage((entry(source="config of version 10"),)).to_frame()
    assert frame.rows(named=True) == [
        {
            "target_version": 9,
            "timestamp": datetime(2026, 1, 2, 3, 4, 5, 6, UTC),
            "group": 0,
            "old_fragment_ids": [0, 1],
            "new_fragment_ids": [4],
            "rows_moved": 10,
            "rows_dropped": 1,
            "source_version": 7,
            "compaction_id": "id",
            "source": "config of version 10",
        },
        {
            "target_version": 9,
            "timestamp": datetime(2026, 1, 2, 3, 4, 5, 6, UTC),
            "group": 1,
            "old_fragment_ids": [2],
            "new_fragment_ids": [],
            "rows_moved": 0,
            "rows_dropped": 3,
            "source_version": 7,
            "compaction_id": "id",
            "source": "config of version 10",
        },
    ]


def test_counts_that_are_not_known_for_each_fragment_are_null():
    groups = (FragReuseGroup((FragDigest(0, 5, 0), FragDigest(1, None, None)), ()),)
    frame = CompactionLineage((entry(rewrite_groups=groups),)).to_frame()
    assert frame.select("rows_moved", "rows_dropped").row(0) == (None, None)


def test_an_empty_frame_has_the_schema_of_a_full_one():
    full = CompactionLineage((entry(source="config"),)).to_frame()
    assert CompactionLineage().to_frame().schema == full.schema
    assert full.schema["old_fragment_ids"] == pl.List(pl.UInt64)


@pytest.mark.parametrize(
    ("lineage", "text"),
    [
        (CompactionLineage(), "CompactionLineage: 0 compactions"),
        (
            CompactionLineage((entry(12), entry(9)), 1000),
            "CompactionLineage: 2 compactions, the latest in version 12; at most 1,000 stored",
        ),
    ],
)
def test_a_lineage_shows_itself_in_one_line(lineage, text):
    assert repr(lineage) == text


def test_markup_in_names_is_escaped_in_html():
    html = CompactionLineage((entry(compaction_id="<b>x</b>"),))._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;x" in html
