"""Operations on a table as a whole and on its configuration, and those of a later Lance."""

from dataclasses import dataclass
from typing import Any

from lance_explorer.format.fragments import BasePath
from lance_explorer.format.indices import CompactedSsTable
from lance_explorer.format.operation_records import (
    ANYTHING,
    Effects,
    OperationRecord,
    field_ids,
    listed,
    shortened,
)

__all__ = [
    "Clone",
    "Restore",
    "Unknown",
    "UpdateBases",
    "UpdateConfig",
    "UpdateMap",
    "UpdateMemWalState",
]


@dataclass(frozen=True, slots=True)
class Clone(OperationRecord):
    """The first commit of a clone or a branch; it depends on nothing in the new table."""

    is_shallow: bool
    ref_name: str | None
    ref_version: int
    ref_path: str
    branch_name: str | None

    def writes(self) -> Effects:
        """Return that all is new."""
        return ANYTHING

    def summary(self) -> dict[str, Any]:
        """Return the source of the clone or branch."""
        return {
            "is_shallow": self.is_shallow,
            "ref_name": shortened(self.ref_name) if self.ref_name is not None else None,
            "ref_version": self.ref_version,
            "ref_path": shortened(self.ref_path),
            "branch_name": shortened(self.branch_name) if self.branch_name is not None else None,
        }


@dataclass(frozen=True, slots=True)
class Restore(OperationRecord):
    """The state of an earlier version again."""

    version: int

    def writes(self) -> Effects:
        """Return that anything may change."""
        return ANYTHING

    def summary(self) -> dict[str, Any]:
        """Return the version."""
        return {"version": self.version}


@dataclass(frozen=True, slots=True)
class UpdateMap:
    """Changes of a map, in order; the value None removes the key.

    With ``replace`` the map contains only these entries afterwards.
    """

    entries: tuple[tuple[str, str | None], ...]
    replace: bool

    def keys(self) -> frozenset[str]:
        """Return the keys that are set or removed."""
        return frozenset([key for key, _ in self.entries])

    def summary(self) -> dict[str, Any]:
        """Return the keys that are set and those that are removed."""
        return {
            "set": listed(sorted([key for key, value in self.entries if value is not None])),
            "removed": listed(sorted([key for key, value in self.entries if value is None])),
            "replace": self.replace,
        }


@dataclass(frozen=True, slots=True)
class UpdateConfig(OperationRecord):
    """Changes of the config, of metadata of table and schema, and of metadata of fields by ID.

    None is an unchanged map. Writers until 0.32 stored the same in another form: they could only
    add to and remove from the config, and only replace the metadata.
    """

    config: UpdateMap | None
    table_metadata: UpdateMap | None
    schema_metadata: UpdateMap | None
    field_metadata: tuple[tuple[int, UpdateMap], ...]

    def writes(self) -> Effects:
        """Return the keys that are set or removed, and fields with new metadata."""
        metadata = [update for update in (self.table_metadata, self.schema_metadata) if update]
        return Effects(
            fields=field_ids([field for field, _ in self.field_metadata]),
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
            shown["fields"] = listed([field for field, _ in self.field_metadata])
        return shown


@dataclass(frozen=True, slots=True)
class UpdateBases(OperationRecord):
    """New roots for files; the ID 0 means the one that the commit assigns."""

    new_bases: tuple[BasePath, ...]

    def summary(self) -> dict[str, Any]:
        """Return the paths of the new roots."""
        return {"new_bases": listed([base.path for base in self.new_bases])}


@dataclass(frozen=True, slots=True)
class UpdateMemWalState(OperationRecord):
    """Progress of the write-ahead log."""

    compacted_sstables: tuple[CompactedSsTable, ...]

    def summary(self) -> dict[str, Any]:
        """Return how many pieces of the log were merged."""
        return {"compacted_sstables": len(self.compacted_sstables)}


@dataclass(frozen=True, slots=True)
class Unknown(OperationRecord):
    """An operation of a later Lance: its number, its size, and its fields by their numbers.

    ``fields`` is a JSON object, None where the bytes are no message, or are very many.
    """

    number: int
    num_bytes: int
    fields: str | None = None

    def reads(self) -> Effects:
        """Return that it may depend on anything."""
        return ANYTHING

    def writes(self) -> Effects:
        """Return that it may change anything."""
        return ANYTHING

    def summary(self) -> dict[str, Any]:
        """Return number and size."""
        return {"number": self.number, "num_bytes": self.num_bytes}
