"""The fields that differ between two versions, and columns that only share a name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import polars as pl

from lance_explorer.format.schema import NO_PARENT, Field, field_paths
from lance_explorer.frames.columns import FIELD_ID, TEXT, Column, FrameSchema
from lance_explorer.history.columns.lives import ByName

__all__ = ["SCHEMA_DIFF", "FieldPair", "paired_fields", "schema_diff"]

Schema = tuple[Field, ...]

SCHEMA_DIFF = FrameSchema(
    "schema_diff",
    (
        Column(
            "change",
            pl.Enum(["added", "dropped", "renamed", "cast", "altered", "replaced"]),
            "how the field differs; replaced: another field with the same name",
        ),
        Column("path_before", TEXT, "path of the field in the first version", nullable=True),
        Column("path_after", TEXT, "path of the field in the second version", nullable=True),
        Column("field_id_before", FIELD_ID, "field ID in the first version", nullable=True),
        Column("field_id_after", FIELD_ID, "field ID in the second version", nullable=True),
        Column("type_before", TEXT, "logical type in the first version", nullable=True),
        Column("type_after", TEXT, "logical type in the second version", nullable=True),
        Column("differs", pl.List(TEXT), "what differs, if both versions have the field"),
    ),
)
"""The columns of ``Diff.schema()``."""


@dataclass(frozen=True, slots=True)
class FieldPair:
    """A field in both versions; one side is None if only the other has it.

    ``change`` is None if nothing differs.
    """

    change: str | None
    before: Field | None
    after: Field | None
    path_before: str | None
    path_after: str | None

    @property
    def is_top_level(self) -> bool:
        """Whether it is a column."""
        field = self.after or self.before
        return field is not None and field.parent_id == NO_PARENT


def paired_fields(
    old: Schema,
    new: Schema,
    matched: Mapping[tuple[int, int], ByName],
    otherwise: ByName | None = None,
) -> list[FieldPair]:
    """Return the pairs of fields of two versions.

    Parameters
    ----------
    old, new : tuple of Field
        The schemas of both.
    matched : mapping of (int, int) to ByName
        The IDs of fields that both have, in the first and in the second, with what proves it.
    otherwise : ByName, optional
        What a path proves alone; nothing by default.
    """
    old_paths, new_paths = field_paths(old), field_paths(new)
    left = {field.id: field for field in old}
    pairs = dict[int, tuple[Field | None, ByName | None]]()
    for (one, other), how in sorted(matched.items(), key=lambda match: match[1]):
        if one in left and other not in pairs:
            pairs[other] = left.pop(one), how
    by_path = {old_paths[field.id]: field for field in left.values()}
    changes = list[FieldPair]()
    for field in new:
        path = new_paths[field.id]
        if field.id in pairs:
            before, proof = pairs[field.id]
        else:
            before, proof = by_path.pop(path, None), otherwise
        if before is None:
            changes.append(FieldPair("added", None, field, None, path))
            continue
        old_path = old_paths[before.id]
        change = None if proof is None else _change(before, field, is_renamed=old_path != path)
        # An Overwrite assigns all IDs again: only the type distinguishes a cast from another
        # column.
        if proof is None or (proof is ByName.OVERWRITES and change == "cast"):
            change = "replaced"
        elif change != "renamed" and before.id != field.id and proof is not ByName.OVERWRITES:
            change = "cast"  # which gave it another ID
        changes.append(FieldPair(change, before, field, old_path, path))
    dropped = [FieldPair("dropped", field, None, path, None) for path, field in by_path.items()]
    return changes + dropped


def schema_diff(pairs: Sequence[FieldPair]) -> pl.DataFrame:
    """Return one row for each field that differs: those of the second version first."""
    some = [pair for pair in pairs if pair.change is not None]
    return SCHEMA_DIFF.build(
        {
            "change": [pair.change for pair in some],
            "path_before": [pair.path_before for pair in some],
            "path_after": [pair.path_after for pair in some],
            "field_id_before": [pair.before and pair.before.id for pair in some],
            "field_id_after": [pair.after and pair.after.id for pair in some],
            "type_before": [pair.before and pair.before.logical_type for pair in some],
            "type_after": [pair.after and pair.after.logical_type for pair in some],
            "differs": [[*_differences(pair.before, pair.after)] for pair in some],
        }
    )


def _change(before: Field, after: Field, *, is_renamed: bool) -> str | None:
    """Return the change of a field that both have; a new ID alone is no difference."""
    if is_renamed:
        return "renamed"
    if before.logical_type != after.logical_type:
        return "cast"
    same_ids = replace(before, id=after.id, parent_id=after.parent_id)
    return None if same_ids == after else "altered"


def _differences(before: Field | None, after: Field | None) -> Iterator[str]:
    if before is None or after is None:
        return
    for attribute in fields(Field):
        one: Any = getattr(before, attribute.name)
        if one != getattr(after, attribute.name):
            yield attribute.name
