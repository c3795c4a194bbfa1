"""A manifest in which columns are renamed or dropped."""

from collections.abc import Container, Mapping

from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format._wire import decoder, parse
from lance_explorer.format.schema import NO_PARENT

__all__ = ["column_types", "with_column_names", "without_columns"]


@decoder
def with_column_names(message: bytes, names: Mapping[str, str]) -> bytes:
    """Return a manifest message in which columns have other names; nothing else differs.

    Parameters
    ----------
    message : bytes
        The message.
    names : mapping of str to str
        The names that columns get, by those that they have. Fields inside columns keep theirs.

    Raises
    ------
    CorruptFileError
        If these bytes are not a manifest message.
    """
    manifest = parse(pb.ManifestEnvelope, message, "manifest")
    for field in manifest.fields:
        if field.parent_id == NO_PARENT:
            field.name = names.get(field.name, field.name)
    return manifest.SerializeToString()


@decoder
def without_columns(message: bytes, names: Container[str]) -> bytes:
    """Return a manifest message in which some columns were dropped; nothing else differs.

    Parameters
    ----------
    message : bytes
        The message.
    names : container of str
        The columns.

    Raises
    ------
    CorruptFileError
        If these bytes are no manifest message.
    """
    manifest = parse(pb.ManifestEnvelope, message, "manifest")
    kept = [field for field, column in _with_columns(manifest) if column not in names]
    del manifest.fields[:]
    manifest.fields.extend(kept)
    return manifest.SerializeToString()


@decoder
def column_types(message: bytes) -> dict[str, tuple[str, ...]]:
    """Return the types of all fields of each column of a manifest message.

    Raises
    ------
    CorruptFileError
        If these bytes are no manifest message.
    """
    types = dict[str, tuple[str, ...]]()
    for field, column in _with_columns(parse(pb.ManifestEnvelope, message, "manifest")):
        types[column] = (*types.get(column, ()), field.logical_type)
    return types


def _with_columns(manifest: pb.ManifestEnvelope) -> list[tuple[pb.Field, str]]:
    """Return fields with the column that each belongs to, depth first; without orphans."""
    owners, fields = dict[int, str](), list[tuple[pb.Field, str]]()
    for field in manifest.fields:
        owner = field.name if field.parent_id == NO_PARENT else owners.get(field.parent_id)
        if owner is not None:
            owners[field.id] = owner
            fields.append((field, owner))
    return fields
