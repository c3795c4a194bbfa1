"""What a commit did: one record per operation of Lance (docs/FORMAT.md 7).

Each record holds everything that the message holds, and answers three questions: what it depends
upon, what it changes, and how to show it in a line. Retired forms of a message give the record of
today's form.

A fragment that an Append, Overwrite or Update adds has no ID yet: the format stores 0, and the
commit assigns the IDs after the table's highest one, in the order of the list. Only the fragments
of a Rewrite have theirs, reserved by an earlier commit.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from pyroaring import BitMap

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._roaring import read_bitmap
from lance_explorer.format.fragments import BasePath, DataFile, DataOverlayFile, Fragment
from lance_explorer.format.indices import (
    CompactedSsTable,
    IndexFile,
    IndexMetadata,
    index_type,
)
from lance_explorer.format.schema import Field

__all__ = [
    "Append",
    "BloomFilter",
    "Clone",
    "CreateIndex",
    "DataOverlay",
    "DataOverlayGroup",
    "DataReplacement",
    "DataReplacementGroup",
    "Delete",
    "Effects",
    "KeyExistenceFilter",
    "Merge",
    "Operation",
    "Overwrite",
    "Project",
    "ReserveFragments",
    "Restore",
    "Rewrite",
    "RewriteGroup",
    "RewrittenIndex",
    "Unknown",
    "Update",
    "UpdateBases",
    "UpdateConfig",
    "UpdateMap",
    "UpdateMemWalState",
    "UpdateMode",
]

_MAX_FRAGMENTS = 1 << 22  # a few bytes of a Roaring bitmap can claim 2^32
_MAX_LISTED = 20
_MAX_TEXT = 200


class UpdateMode(IntEnum):
    """How an Update wrote the changed rows: into new fragments, or as new columns in place."""

    REWRITE_ROWS = 0
    REWRITE_COLUMNS = 1


_UPDATE_MODES = {mode.value: mode.name.lower() for mode in UpdateMode}


@dataclass(frozen=True, slots=True)
class Effects:
    """What an operation depends upon, or what it changes, as far as the transaction says.

    Fragments without an ID are left out. Where a transaction holds only the state afterwards (the
    schema of a Merge, say), all that it sets counts as changed; what it removes has no name there.
    ``config_keys`` are of the table's config, ``metadata_keys`` of table and schema metadata.
    ``whole_table`` says that anything else may be concerned too.
    """

    fragments: frozenset[int] = frozenset()
    fields: frozenset[int] = frozenset()
    config_keys: frozenset[str] = frozenset()
    metadata_keys: frozenset[str] = frozenset()
    indices: frozenset[str] = frozenset()
    whole_table: bool = False


_NOTHING = Effects()
_ANYTHING = Effects(whole_table=True)


class _Operation(ABC):
    """An operation that depends upon nothing and changes nothing that :class:`Effects` lists."""

    __slots__ = ()

    def reads(self) -> Effects:
        """Return what the operation depends upon."""
        return _NOTHING

    def writes(self) -> Effects:
        """Return what the operation changes."""
        return _NOTHING

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Return the essence as a short dict of JSON values."""


@dataclass(frozen=True, slots=True)
class Append(_Operation):
    """New fragments, without IDs."""

    fragments: tuple[Fragment, ...]

    def summary(self) -> dict[str, Any]:
        """Return how much is new."""
        return {"new_fragments": len(self.fragments), "new_rows": _rows(self.fragments)}


@dataclass(frozen=True, slots=True)
class Delete(_Operation):
    """Rows masked in some fragments, and fragments gone with all their rows.

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
        return Effects(_ids(self.updated_fragments) | frozenset(self.deleted_fragment_ids))

    def summary(self) -> dict[str, Any]:
        """Return the predicate and how many fragments it met."""
        return {
            "predicate": _short(self.predicate),
            "updated_fragments": len(self.updated_fragments),
            "deleted_fragments": len(self.deleted_fragment_ids),
        }


@dataclass(frozen=True, slots=True)
class Overwrite(_Operation):
    """Other rows and another schema in place of all there was; also the first commit of a table."""

    fragments: tuple[Fragment, ...]
    schema: tuple[Field, ...]
    schema_metadata: tuple[tuple[str, bytes], ...]
    config_upsert_values: tuple[tuple[str, str], ...]
    initial_bases: tuple[BasePath, ...]

    def writes(self) -> Effects:
        """Return the new schema and config, and that all else is concerned."""
        return Effects(
            fields=_schema_ids(self.schema),
            config_keys=frozenset([key for key, _ in self.config_upsert_values]),
            metadata_keys=frozenset([key for key, _ in self.schema_metadata]),
            whole_table=True,
        )

    def summary(self) -> dict[str, Any]:
        """Return how much is new."""
        return {
            "new_fragments": len(self.fragments),
            "new_rows": _rows(self.fragments),
            "fields": len(self.schema),
            "config_keys": _listed([key for key, _ in self.config_upsert_values]),
            "initial_bases": len(self.initial_bases),
        }


@dataclass(frozen=True, slots=True)
class CreateIndex(_Operation):
    """Index segments that came and went: creating, optimizing and dropping alike."""

    new_indices: tuple[IndexMetadata, ...]
    removed_indices: tuple[IndexMetadata, ...]

    def reads(self) -> Effects:
        """Return what the operation depends upon: what the new segments cover, and the removed.

        Raises
        ------
        CorruptFileError
            If the bitmap of covered fragments is damaged, or claims more than a table can hold.
        """
        covered = [index.fragment_ids() or BitMap() for index in self.new_indices]
        if sum([len(fragments) for fragments in covered]) > _MAX_FRAGMENTS:
            raise CorruptFileError(
                f"the new indices claim to cover over {_MAX_FRAGMENTS} fragments"
            )
        return Effects(
            fragments=frozenset().union(*covered),
            fields=_field_ids([field for index in self.new_indices for field in index.fields]),
            indices=_uuids(self.removed_indices),
        )

    def writes(self) -> Effects:
        """Return the segments that came and went."""
        return Effects(indices=_uuids(self.new_indices) | _uuids(self.removed_indices))

    def summary(self) -> dict[str, Any]:
        """Return names and types of the segments that came and went."""
        return {
            "new_indices": _listed([_index_label(index) for index in self.new_indices]),
            "removed_indices": _listed([_index_label(index) for index in self.removed_indices]),
        }


@dataclass(frozen=True, slots=True)
class RewriteGroup:
    """Fragments, in order, whose live rows, in order, became those of other fragments, in order.

    The old ones carry the deletion files that the rewrite saw.
    """

    old_fragments: tuple[Fragment, ...]
    new_fragments: tuple[Fragment, ...]


@dataclass(frozen=True, slots=True)
class RewrittenIndex:
    """An index segment whose files were written anew for the new row addresses."""

    old_id: str
    new_id: str
    type_url: str | None
    details: bytes
    index_version: int
    files: tuple[IndexFile, ...]


@dataclass(frozen=True, slots=True)
class Rewrite(_Operation):
    """A compaction: the same rows in other fragments.

    The one nameless group of writers before 0.10 is a :class:`RewriteGroup` like any other.
    """

    groups: tuple[RewriteGroup, ...]
    rewritten_indices: tuple[RewrittenIndex, ...]

    def reads(self) -> Effects:
        """Return the fragments that were rewritten, and their indices."""
        return Effects(
            fragments=self._old_fragment_ids(),
            indices=frozenset([index.old_id for index in self.rewritten_indices]),
        )

    def writes(self) -> Effects:
        """Return fragments and indices before and after: the former go, the latter come."""
        new = [fragment for group in self.groups for fragment in group.new_fragments]
        return Effects(
            fragments=self._old_fragment_ids() | _ids(new),
            indices=frozenset(
                [uuid for index in self.rewritten_indices for uuid in (index.old_id, index.new_id)]
            ),
        )

    def summary(self) -> dict[str, Any]:
        """Return how many groups, fragments and indices were rewritten."""
        return {
            "groups": len(self.groups),
            "old_fragments": sum([len(group.old_fragments) for group in self.groups]),
            "new_fragments": sum([len(group.new_fragments) for group in self.groups]),
            "rewritten_indices": len(self.rewritten_indices),
        }

    def _old_fragment_ids(self) -> frozenset[int]:
        return _ids([fragment for group in self.groups for fragment in group.old_fragments])


@dataclass(frozen=True, slots=True)
class Merge(_Operation):
    """Columns added or rewritten: all fragments and the whole schema, as they are afterwards."""

    fragments: tuple[Fragment, ...]
    schema: tuple[Field, ...]
    schema_metadata: tuple[tuple[str, bytes], ...]
    preserves_nullability: bool

    def reads(self) -> Effects:
        """Return all fragments."""
        return Effects(_ids(self.fragments))

    def writes(self) -> Effects:
        """Return all fragments and the whole new schema: what of them changed is not said."""
        return Effects(
            fragments=_ids(self.fragments),
            fields=_schema_ids(self.schema),
            metadata_keys=frozenset([key for key, _ in self.schema_metadata]),
        )

    def summary(self) -> dict[str, Any]:
        """Return the size of the table afterwards."""
        return {"fragments": len(self.fragments), "fields": len(self.schema)}


@dataclass(frozen=True, slots=True)
class Restore(_Operation):
    """The state of an earlier version again."""

    version: int

    def writes(self) -> Effects:
        """Return that anything may change."""
        return _ANYTHING

    def summary(self) -> dict[str, Any]:
        """Return the version."""
        return {"version": self.version}


@dataclass(frozen=True, slots=True)
class ReserveFragments(_Operation):
    """Fragment IDs set aside for a Rewrite to come."""

    num_fragments: int

    def summary(self) -> dict[str, Any]:
        """Return how many IDs were set aside."""
        return {"num_fragments": self.num_fragments}


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
class Update(_Operation):
    """Rows updated, inserted and deleted: ``update`` and all kinds of ``merge_insert``.

    ``updated_fragments`` are fragments afterwards, with the moved rows masked; ``new_fragments``
    have no IDs yet. Of the fields with new values, ``fields_modified`` names those that were
    changed in place, ``fields_for_preserving_frag_bitmap`` those of moved rows.
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
        """Return the offsets that were changed in place in a fragment, None if they are not named.

        Raises
        ------
        CorruptFileError
            If the stored bitmap is damaged.
        """
        for updated_id, bitmap in self.updated_offsets:
            if updated_id == fragment_id:
                return read_bitmap(bitmap, f"the updated offsets of fragment {fragment_id}")
        return None

    def reads(self) -> Effects:
        """Return the fragments that held the rows, and the key columns of inserted ones."""
        keys = self.inserted_rows.field_ids if self.inserted_rows else ()
        return Effects(self._fragment_ids(), _field_ids(keys))

    def writes(self) -> Effects:
        """Return the fragments that held the rows, and the fields that got new values."""
        fields = (*self.fields_modified, *self.fields_for_preserving_frag_bitmap)
        return Effects(self._fragment_ids(), _field_ids(fields))

    def summary(self) -> dict[str, Any]:
        """Return how much was updated."""
        return {
            "update_mode": _UPDATE_MODES.get(self.update_mode, self.update_mode),
            "removed_fragments": len(self.removed_fragment_ids),
            "updated_fragments": len(self.updated_fragments),
            "new_fragments": len(self.new_fragments),
            "new_rows": _rows(self.new_fragments),
            "fields": _listed(sorted(self.writes().fields)),
            "inserted_rows": _filter_kind(self.inserted_rows),
        }

    def _fragment_ids(self) -> frozenset[int]:
        return _ids(self.updated_fragments) | frozenset(self.removed_fragment_ids)


@dataclass(frozen=True, slots=True)
class Project(_Operation):
    """Another schema over the same files: columns dropped, renamed or made nullable."""

    schema: tuple[Field, ...]
    preserves_nullability: bool

    def writes(self) -> Effects:
        """Return the whole new schema: what of it changed is not said."""
        return Effects(fields=_schema_ids(self.schema))

    def summary(self) -> dict[str, Any]:
        """Return the number of fields afterwards."""
        return {"fields": len(self.schema)}


@dataclass(frozen=True, slots=True)
class UpdateMap:
    """Changes of a map, in order; the value None removes the key.

    With ``replace`` the map holds nothing but these entries afterwards.
    """

    entries: tuple[tuple[str, str | None], ...]
    replace: bool

    def keys(self) -> frozenset[str]:
        """Return the keys that are set or removed."""
        return frozenset([key for key, _ in self.entries])

    def summary(self) -> dict[str, Any]:
        """Return the keys that are set and those that are removed."""
        return {
            "set": _listed(sorted([key for key, value in self.entries if value is not None])),
            "removed": _listed(sorted([key for key, value in self.entries if value is None])),
            "replace": self.replace,
        }


@dataclass(frozen=True, slots=True)
class UpdateConfig(_Operation):
    """Changes of the config, of metadata of table and schema, and of metadata of fields by ID.

    None is a map that is left alone. Writers until 0.32 said the same in other words: they could
    only add to and remove from the config, and only replace the metadata.
    """

    config: UpdateMap | None
    table_metadata: UpdateMap | None
    schema_metadata: UpdateMap | None
    field_metadata: tuple[tuple[int, UpdateMap], ...]

    def writes(self) -> Effects:
        """Return the keys that are set or removed, and fields with new metadata."""
        metadata = [update for update in (self.table_metadata, self.schema_metadata) if update]
        return Effects(
            fields=_field_ids([field for field, _ in self.field_metadata]),
            config_keys=self.config.keys() if self.config else frozenset(),
            metadata_keys=frozenset().union(*[update.keys() for update in metadata]),
        )

    def summary(self) -> dict[str, Any]:
        """Return the keys of each map that changed."""
        updates = (
            ("config", self.config),
            ("table_metadata", self.table_metadata),
            ("schema_metadata", self.schema_metadata),
        )
        shown: dict[str, Any] = {name: update.summary() for name, update in updates if update}
        if self.field_metadata:
            shown["fields"] = _listed([field for field, _ in self.field_metadata])
        return shown


@dataclass(frozen=True, slots=True)
class DataReplacementGroup:
    """A file that takes the place of the one with the same fields in a fragment."""

    fragment_id: int
    new_file: DataFile


@dataclass(frozen=True, slots=True)
class DataReplacement(_Operation):
    """Whole columns of fragments replaced in place."""

    replacements: tuple[DataReplacementGroup, ...]

    def reads(self) -> Effects:
        """Return the fragments whose columns are replaced."""
        return Effects(frozenset([group.fragment_id for group in self.replacements]))

    def writes(self) -> Effects:
        """Return the fragments and fields that are replaced."""
        return Effects(
            fragments=frozenset([group.fragment_id for group in self.replacements]),
            fields=_field_ids(
                [field for group in self.replacements for field in group.new_file.fields]
            ),
        )

    def summary(self) -> dict[str, Any]:
        """Return how many fragments got which fields."""
        effects = self.writes()
        return {
            "fragments": len(effects.fragments),
            "fields": _listed(sorted(effects.fields)),
        }


@dataclass(frozen=True, slots=True)
class UpdateMemWalState(_Operation):
    """Progress of the write-ahead log."""

    compacted_sstables: tuple[CompactedSsTable, ...]

    def summary(self) -> dict[str, Any]:
        """Return how many pieces of the log were merged."""
        return {"compacted_sstables": len(self.compacted_sstables)}


@dataclass(frozen=True, slots=True)
class Clone(_Operation):
    """The first commit of a clone or a branch; it depends upon nothing in the new table."""

    is_shallow: bool
    ref_name: str | None
    ref_version: int
    ref_path: str
    branch_name: str | None

    def writes(self) -> Effects:
        """Return that all is new."""
        return _ANYTHING

    def summary(self) -> dict[str, Any]:
        """Return where the clone or branch comes from."""
        return {
            "is_shallow": self.is_shallow,
            "ref_name": _short(self.ref_name) if self.ref_name is not None else None,
            "ref_version": self.ref_version,
            "ref_path": _short(self.ref_path),
            "branch_name": _short(self.branch_name) if self.branch_name is not None else None,
        }


@dataclass(frozen=True, slots=True)
class UpdateBases(_Operation):
    """New roots for files; the ID 0 stands for the one that the commit assigns."""

    new_bases: tuple[BasePath, ...]

    def summary(self) -> dict[str, Any]:
        """Return the paths of the new roots."""
        return {"new_bases": _listed([base.path for base in self.new_bases])}


@dataclass(frozen=True, slots=True)
class DataOverlayGroup:
    """New overlays of one fragment, lowest first; their ``committed_version`` is still 0."""

    fragment_id: int
    overlays: tuple[DataOverlayFile, ...]


@dataclass(frozen=True, slots=True)
class DataOverlay(_Operation):
    """New values for some rows and columns of fragments."""

    groups: tuple[DataOverlayGroup, ...]

    def reads(self) -> Effects:
        """Return the fragments that get overlays."""
        return Effects(frozenset([group.fragment_id for group in self.groups]))

    def writes(self) -> Effects:
        """Return the fragments and fields that get new values."""
        overlays = [overlay for group in self.groups for overlay in group.overlays]
        return Effects(
            fragments=frozenset([group.fragment_id for group in self.groups]),
            fields=_field_ids(
                [field for overlay in overlays for field in overlay.data_file.fields]
            ),
        )

    def summary(self) -> dict[str, Any]:
        """Return how many fragments got overlays of which fields."""
        effects = self.writes()
        return {
            "fragments": len(effects.fragments),
            "overlays": sum([len(group.overlays) for group in self.groups]),
            "fields": _listed(sorted(effects.fields)),
        }


@dataclass(frozen=True, slots=True)
class Unknown(_Operation):
    """An operation of a later Lance: its number and its size are all that can be told."""

    number: int
    num_bytes: int

    def reads(self) -> Effects:
        """Return that it may depend upon anything."""
        return _ANYTHING

    def writes(self) -> Effects:
        """Return that it may change anything."""
        return _ANYTHING

    def summary(self) -> dict[str, Any]:
        """Return number and size."""
        return {"number": self.number, "num_bytes": self.num_bytes}


Operation = (
    Append
    | Delete
    | Overwrite
    | CreateIndex
    | Rewrite
    | Merge
    | Restore
    | ReserveFragments
    | Update
    | Project
    | UpdateConfig
    | DataReplacement
    | UpdateMemWalState
    | Clone
    | UpdateBases
    | DataOverlay
    | Unknown
)


def _ids(fragments: Iterable[Fragment]) -> frozenset[int]:
    return frozenset([fragment.id for fragment in fragments])


def _schema_ids(schema: Iterable[Field]) -> frozenset[int]:
    return _field_ids([field.id for field in schema])


def _field_ids(ids: Iterable[int]) -> frozenset[int]:
    """Return the IDs of columns; negative ones mark something else."""
    return frozenset([field_id for field_id in ids if field_id >= 0])


def _uuids(indices: Iterable[IndexMetadata]) -> frozenset[str]:
    return frozenset([index.uuid for index in indices])


def _rows(fragments: Iterable[Fragment]) -> int | None:
    """Return how many rows were written, None if a fragment does not say."""
    counts = [fragment.physical_rows for fragment in fragments]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _filter_kind(keys: KeyExistenceFilter | None) -> str | None:
    if keys is None:
        return None
    return "bloom_filter" if keys.bloom is not None else "exact"


def _index_label(index: IndexMetadata) -> str:
    return f"{_short(index.name)} ({_short(index_type(index))})"


def _listed(values: Iterable[str] | Iterable[int]) -> list[str | int]:
    """Return the first values, and as the last how many more there are."""
    shown = [_short(value) if isinstance(value, str) else value for value in values]
    more = len(shown) - _MAX_LISTED
    return shown if more <= 0 else [*shown[:_MAX_LISTED], f"and {more} more"]


def _short(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 3]}..."
