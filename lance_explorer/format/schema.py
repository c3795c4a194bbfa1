"""The schema of a table version: its fields, depth first (docs/FORMAT.md 2.4)."""

from collections.abc import Iterable
from dataclasses import dataclass

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format._wire import pairs

__all__ = [
    "NO_PARENT",
    "Field",
    "column_fields",
    "field_from_pb",
    "field_paths",
    "fields_from_pb",
    "is_blob",
    "primary_key",
]

NO_PARENT = -1
"""``parent_id`` of a field at the top level."""

_BLOB = "lance.blob.v2"
"""Extension of columns of blobs, since data format 2.2."""
_OLD_BLOB = "lance-encoding:blob"
"""Metadata of blob columns before that."""


@dataclass(frozen=True, slots=True)
class Field:
    """One column, or one part of a nested column.

    Key positions are None where the field is not part of that key. Metadata values are bytes: the
    format does not promise text.
    """

    id: int
    name: str
    parent_id: int
    logical_type: str
    nullable: bool
    encoding: int
    extension_name: str
    metadata: tuple[tuple[str, bytes], ...]
    primary_key_position: int | None
    clustering_key_position: int | None


def fields_from_pb(messages: Iterable[pb.Field]) -> tuple[Field, ...]:
    """Return parsed fields as records.

    Every parent comes before its children, as Lance demands, so every walk over parents ends.

    Raises
    ------
    CorruptFileError
        If a field has a parent that is not before it, or the ID of another field.
    """
    fields = tuple([field_from_pb(message) for message in messages])
    seen = {NO_PARENT}
    for field in fields:
        if field.parent_id not in seen:
            raise CorruptFileError(
                f"field {field.id} ({field.name!r}) has the parent {field.parent_id}, which is "
                "none of the fields before it"
            )
        if field.id in seen and field.id != NO_PARENT:  # what a schema has before it is written
            raise CorruptFileError(f"two fields have the ID {field.id}")
        seen.add(field.id)
    return fields


def field_from_pb(message: pb.Field) -> Field:
    """Return a parsed Field as a record."""
    return Field(
        id=message.id,
        name=message.name,
        parent_id=message.parent_id,
        logical_type=message.logical_type,
        nullable=message.nullable,
        encoding=message.encoding,
        extension_name=message.extension_name,
        metadata=pairs(message.metadata),
        primary_key_position=_position(
            message.unenforced_primary_key, message.unenforced_primary_key_position
        ),
        clustering_key_position=_position(
            message.unenforced_clustering_key, message.unenforced_clustering_key_position
        ),
    )


def field_paths(fields: Iterable[Field]) -> dict[int, str]:
    """Return the dotted path of each field by its id, such as ``{0: "place", 1: "place.lat"}``.

    A name that contains a dot is in backticks.

    Examples
    --------
    >>> from lance_explorer.format.schema import Field
    >>> place = Field(0, "place", -1, "struct", True, 0, "", (), None, None)
    >>> lat = Field(1, "lat", 0, "double", True, 0, "", (), None, None)
    >>> field_paths([place, lat])
    {0: 'place', 1: 'place.lat'}
    """
    paths: dict[int, str] = {}
    for field in fields:
        name = f"`{field.name}`" if "." in field.name else field.name
        parent = paths.get(field.parent_id)
        paths[field.id] = f"{parent}.{name}" if parent is not None else name
    return paths


def _position(is_key: bool, position: int) -> int | None:
    return position if is_key else None


def primary_key(schema: Iterable[Field]) -> tuple[str, ...]:
    """Return the columns of the primary key, which Lance does not enforce; none if it is nested."""
    keys = [field for field in schema if field.primary_key_position is not None]
    if not all(field.parent_id == NO_PARENT for field in keys):
        return ()
    keys.sort(key=lambda field: field.primary_key_position or 0)
    return tuple([field.name for field in keys])


def is_blob(field: Field) -> bool:
    """Tell whether the values of a field are blobs, of which a scan reads only descriptions."""
    return field.extension_name == _BLOB or dict(field.metadata).get(_OLD_BLOB) == b"true"


def column_fields(schema: Iterable[Field]) -> dict[str, list[Field]]:
    """Return for each column the fields that it consists of."""
    columns, owners = dict[str, list[Field]](), dict[int, str]()
    for field in schema:  # depth first: parents come before their children
        is_column = field.parent_id == NO_PARENT
        owner = owners[field.id] = field.name if is_column else owners[field.parent_id]
        columns.setdefault(owner, []).append(field)
    return columns
