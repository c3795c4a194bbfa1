"""The meaning of field IDs: IDs are reused, so the same ID has other names over time."""

from collections.abc import Iterable, Mapping

from lance_explorer.format.fragments import HIDDEN_FIELDS, TOMBSTONE
from lance_explorer.format.schema import Field, field_paths
from lance_explorer.history.history import History

__all__ = ["FieldNames", "field_names", "names_of"]

FieldNames = Mapping[int, str]
"""Paths by field ID in one version; markers in data files have a name, too."""

_MARKERS = {TOMBSTONE: "<tombstone>", **HIDDEN_FIELDS}


def field_names(history: History) -> list[FieldNames]:
    """Return the names for each record; neighbours with one schema share them."""
    names: list[FieldNames] = []
    schema: tuple[Field, ...] | None = None
    for record in history.records:
        if record.schema is not schema:
            schema = record.schema
            current = {**_MARKERS, **field_paths(schema)}
        names.append(current)
    return names


def names_of(field_ids: Iterable[int], names: FieldNames) -> list[str | None]:
    """Return the names of fields; None for those that the schema lacks."""
    return [names.get(field_id) for field_id in field_ids]
