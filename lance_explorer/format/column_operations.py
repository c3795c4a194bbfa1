"""Operations on columns: their values, without moving rows, and the schema."""

from dataclasses import dataclass
from typing import Any

from lance_explorer.format.fragments import DataFile, DataOverlayFile, Fragment
from lance_explorer.format.operation_records import (
    Effects,
    OperationRecord,
    field_ids,
    fragment_ids,
    listed,
    schema_ids,
)
from lance_explorer.format.schema import Field

__all__ = [
    "DataOverlay",
    "DataOverlayGroup",
    "DataReplacement",
    "DataReplacementGroup",
    "Merge",
    "Project",
]


@dataclass(frozen=True, slots=True)
class Merge(OperationRecord):
    """Columns added or rewritten: all fragments and the whole schema, as they are afterwards."""

    fragments: tuple[Fragment, ...]
    schema: tuple[Field, ...]
    schema_metadata: tuple[tuple[str, bytes], ...]
    preserves_nullability: bool

    def reads(self) -> Effects:
        """Return all fragments."""
        return Effects(fragment_ids(self.fragments))

    def writes(self) -> Effects:
        """Return all fragments and the whole new schema: the changes are not recorded."""
        return Effects(
            fragments=fragment_ids(self.fragments),
            fields=schema_ids(self.schema),
            metadata_keys=frozenset([key for key, _ in self.schema_metadata]),
        )

    def summary(self) -> dict[str, Any]:
        """Return the size of the table afterwards."""
        return {"fragments": len(self.fragments), "fields": len(self.schema)}


@dataclass(frozen=True, slots=True)
class Project(OperationRecord):
    """Another schema over the same files: columns dropped, renamed or made nullable."""

    schema: tuple[Field, ...]
    preserves_nullability: bool

    def writes(self) -> Effects:
        """Return the whole new schema: the changes are not recorded."""
        return Effects(fields=schema_ids(self.schema))

    def summary(self) -> dict[str, Any]:
        """Return the number of fields afterwards."""
        return {"fields": len(self.schema)}


@dataclass(frozen=True, slots=True)
class DataReplacementGroup:
    """A file that replaces the one with the same fields in a fragment."""

    fragment_id: int
    new_file: DataFile


@dataclass(frozen=True, slots=True)
class DataReplacement(OperationRecord):
    """Whole columns of fragments replaced in place."""

    replacements: tuple[DataReplacementGroup, ...]

    def reads(self) -> Effects:
        """Return the fragments whose columns are replaced."""
        return Effects(frozenset([group.fragment_id for group in self.replacements]))

    def writes(self) -> Effects:
        """Return the fragments and fields that are replaced."""
        return Effects(
            fragments=frozenset([group.fragment_id for group in self.replacements]),
            fields=field_ids(
                [field for group in self.replacements for field in group.new_file.fields]
            ),
        )

    def summary(self) -> dict[str, Any]:
        """Return how many fragments got which fields."""
        effects = self.writes()
        return {
            "fragments": len(effects.fragments),
            "fields": listed(sorted(effects.fields)),
        }


@dataclass(frozen=True, slots=True)
class DataOverlayGroup:
    """New overlays of one fragment, lowest first; their ``committed_version`` is still 0."""

    fragment_id: int
    overlays: tuple[DataOverlayFile, ...]


@dataclass(frozen=True, slots=True)
class DataOverlay(OperationRecord):
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
            fields=field_ids([field for overlay in overlays for field in overlay.data_file.fields]),
        )

    def summary(self) -> dict[str, Any]:
        """Return how many fragments got overlays of which fields."""
        effects = self.writes()
        return {
            "fragments": len(effects.fragments),
            "overlays": sum([len(group.overlays) for group in self.groups]),
            "fields": listed(sorted(effects.fields)),
        }
