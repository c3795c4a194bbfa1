"""Operations that write, mask or replace rows: append, delete, update and overwrite.

A fragment that one of them adds has no ID yet: the format stores 0, and the commit assigns IDs
above the table's highest one, in the order of the list.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from pyroaring import BitMap

from lance_explorer.format._roaring import read_bitmap
from lance_explorer.format.fragments import BasePath, Fragment
from lance_explorer.format.indices import CompactedSsTable
from lance_explorer.format.operation_records import (
    Effects,
    OperationRecord,
    field_ids,
    fragment_ids,
    listed,
    num_rows,
    schema_ids,
    shortened,
)
from lance_explorer.format.schema import Field

__all__ = [
    "Append",
    "BloomFilter",
    "Delete",
    "KeyExistenceFilter",
    "Overwrite",
    "Update",
    "UpdateMode",
]


@dataclass(frozen=True, slots=True)
class Append(OperationRecord):
    """New fragments, without IDs."""

    fragments: tuple[Fragment, ...]

    def summary(self) -> dict[str, Any]:
        """Return counts of what the operation adds."""
        return {"new_fragments": len(self.fragments), "new_rows": num_rows(self.fragments)}


@dataclass(frozen=True, slots=True)
class Delete(OperationRecord):
    """Rows masked in some fragments, and fragments removed with all their rows.

    ``updated_fragments`` are the fragments afterwards, in any order.
    """

    updated_fragments: tuple[Fragment, ...]
    deleted_fragment_ids: tuple[int, ...]
    predicate: str

    def reads(self) -> Effects:
        """Return the fragments that lose rows."""
        return self.writes()

    def writes(self) -> Effects:
        """Return the fragments that lose rows, some or all."""
        return Effects(fragment_ids(self.updated_fragments) | frozenset(self.deleted_fragment_ids))

    def summary(self) -> dict[str, Any]:
        """Return the predicate and how many fragments it affected."""
        return {
            "predicate": shortened(self.predicate),
            "updated_fragments": len(self.updated_fragments),
            "deleted_fragments": len(self.deleted_fragment_ids),
        }


@dataclass(frozen=True, slots=True)
class Overwrite(OperationRecord):
    """Other rows and another schema instead of all existing ones; also a table's first commit."""

    fragments: tuple[Fragment, ...]
    schema: tuple[Field, ...]
    schema_metadata: tuple[tuple[str, bytes], ...]
    config_upsert_values: tuple[tuple[str, str], ...]
    initial_bases: tuple[BasePath, ...]

    def writes(self) -> Effects:
        """Return the new schema and config, and that everything else is affected."""
        return Effects(
            fields=schema_ids(self.schema),
            config_keys=frozenset([key for key, _ in self.config_upsert_values]),
            metadata_keys=frozenset([key for key, _ in self.schema_metadata]),
            whole_table=True,
        )

    def summary(self) -> dict[str, Any]:
        """Return counts of what the operation adds."""
        return {
            "new_fragments": len(self.fragments),
            "new_rows": num_rows(self.fragments),
            "fields": len(self.schema),
            "config_keys": listed([key for key, _ in self.config_upsert_values]),
            "initial_bases": len(self.initial_bases),
        }


class UpdateMode(IntEnum):
    """How an Update wrote the changed rows: into new fragments, or as new columns in place."""

    REWRITE_ROWS = 0
    REWRITE_COLUMNS = 1


_UPDATE_MODES = {mode.value: mode.name.lower() for mode in UpdateMode}


@dataclass(frozen=True, slots=True)
class BloomFilter:
    """A Bloom filter of keys; ``number_of_items`` is its capacity, not a count."""

    bitmap: bytes
    num_bits: int
    number_of_items: int
    probability: float


@dataclass(frozen=True, slots=True)
class KeyExistenceFilter:
    """The keys that an Update inserted, as hashes or, where ``bloom`` is set, as a Bloom filter."""

    field_ids: tuple[int, ...]
    key_hashes: tuple[int, ...]
    bloom: BloomFilter | None


@dataclass(frozen=True, slots=True)
class Update(OperationRecord):
    """Rows updated, inserted and deleted: ``update`` and all kinds of ``merge_insert``.

    ``updated_fragments`` are fragments afterwards, with the moved rows masked; ``new_fragments``
    have no IDs yet. ``fields_modified`` names the fields that were changed in place, and
    ``fields_for_preserving_frag_bitmap`` the fields with new values in moved rows.
    ``updated_offsets`` names rows that were changed in place, as pairs of a fragment ID and a
    portable Roaring bitmap of offsets.
    """

    removed_fragment_ids: tuple[int, ...]
    updated_fragments: tuple[Fragment, ...]
    new_fragments: tuple[Fragment, ...]
    fields_modified: tuple[int, ...]
    compacted_sstables: tuple[CompactedSsTable, ...]
    fields_for_preserving_frag_bitmap: tuple[int, ...]
    update_mode: int
    inserted_rows: KeyExistenceFilter | None
    updated_offsets: tuple[tuple[int, bytes], ...]

    def offsets(self, fragment_id: int) -> BitMap | None:
        """Return the offsets changed in place in a fragment, None if they are not named."""
        for updated_id, bitmap in self.updated_offsets:
            if updated_id == fragment_id:
                return read_bitmap(bitmap, f"the updated offsets of fragment {fragment_id}")
        return None

    def reads(self) -> Effects:
        """Return the fragments that held the rows, and the key columns of inserted ones."""
        keys = self.inserted_rows.field_ids if self.inserted_rows else ()
        return Effects(self._fragment_ids(), field_ids(keys))

    def writes(self) -> Effects:
        """Return the fragments that held the rows, and the fields that got new values."""
        fields = (*self.fields_modified, *self.fields_for_preserving_frag_bitmap)
        return Effects(self._fragment_ids(), field_ids(fields))

    def summary(self) -> dict[str, Any]:
        """Return how much was updated."""
        return {
            "update_mode": _UPDATE_MODES.get(self.update_mode, self.update_mode),
            "removed_fragments": len(self.removed_fragment_ids),
            "updated_fragments": len(self.updated_fragments),
            "new_fragments": len(self.new_fragments),
            "new_rows": num_rows(self.new_fragments),
            "fields": listed(sorted(self.writes().fields)),
            "inserted_rows": _filter_kind(self.inserted_rows),
        }

    def _fragment_ids(self) -> frozenset[int]:
        return fragment_ids(self.updated_fragments) | frozenset(self.removed_fragment_ids)


def _filter_kind(keys: KeyExistenceFilter | None) -> str | None:
    if keys is None:
        return None
    return "bloom_filter" if keys.bloom is not None else "exact"
