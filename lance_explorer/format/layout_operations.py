"""Operations that keep all rows: compactions and indices.

The new fragments of a Rewrite have their IDs, which an earlier commit reserved.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pyroaring import BitMap

from lance_explorer.errors import CorruptFileError
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.index_details import index_type
from lance_explorer.format.indices import IndexFile, IndexMetadata
from lance_explorer.format.operation_records import (
    Effects,
    OperationRecord,
    field_ids,
    fragment_ids,
    listed,
    shortened,
)

__all__ = [
    "CreateIndex",
    "ReserveFragments",
    "Rewrite",
    "RewriteGroup",
    "RewrittenIndex",
]

_MAX_FRAGMENTS = 1 << 22  # a few bytes of a Roaring bitmap can claim 2^32


@dataclass(frozen=True, slots=True)
class ReserveFragments(OperationRecord):
    """Fragment IDs reserved for a later Rewrite."""

    num_fragments: int

    def summary(self) -> dict[str, Any]:
        """Return how many IDs were reserved."""
        return {"num_fragments": self.num_fragments}


@dataclass(frozen=True, slots=True)
class RewriteGroup:
    """Fragments whose live rows became those of other fragments, all in order.

    The old ones carry the deletion files that the rewrite saw.
    """

    old_fragments: tuple[Fragment, ...]
    new_fragments: tuple[Fragment, ...]


@dataclass(frozen=True, slots=True)
class RewrittenIndex:
    """An index segment whose files were rewritten for the new row addresses."""

    old_id: str
    new_id: str
    type_url: str | None
    details: bytes
    index_version: int
    files: tuple[IndexFile, ...]


@dataclass(frozen=True, slots=True)
class Rewrite(OperationRecord):
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
        """Return the fragments and indices that it removes, and those that it adds."""
        new = [fragment for group in self.groups for fragment in group.new_fragments]
        return Effects(
            fragments=self._old_fragment_ids() | fragment_ids(new),
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
        return fragment_ids([fragment for group in self.groups for fragment in group.old_fragments])


@dataclass(frozen=True, slots=True)
class CreateIndex(OperationRecord):
    """Index segments added and removed: by creating, optimizing or dropping."""

    new_indices: tuple[IndexMetadata, ...]
    removed_indices: tuple[IndexMetadata, ...]

    def reads(self) -> Effects:
        """Return what the operation depends on: the coverage of new segments, and removed ones."""
        covered = [index.fragment_ids() or BitMap() for index in self.new_indices]
        if sum([len(fragments) for fragments in covered]) > _MAX_FRAGMENTS:
            raise CorruptFileError(
                f"the new indices claim to cover over {_MAX_FRAGMENTS} fragments"
            )
        return Effects(
            fragments=frozenset().union(*covered),
            fields=field_ids([field for index in self.new_indices for field in index.fields]),
            indices=_uuids(self.removed_indices),
        )

    def writes(self) -> Effects:
        """Return the segments added and removed."""
        return Effects(indices=_uuids(self.new_indices) | _uuids(self.removed_indices))

    def summary(self) -> dict[str, Any]:
        """Return names and types of the segments added and removed."""
        return {
            "new_indices": listed([_index_label(index) for index in self.new_indices]),
            "removed_indices": listed([_index_label(index) for index in self.removed_indices]),
        }


def _uuids(indices: Iterable[IndexMetadata]) -> frozenset[str]:
    return frozenset([index.uuid for index in indices])


def _index_label(index: IndexMetadata) -> str:
    return f"{shortened(index.name)} ({shortened(index_type(index))})"
