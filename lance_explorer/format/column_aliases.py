"""Other names for the columns of a version: its manifest, as if they were called that."""

from collections.abc import Mapping

from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format._wire import decoder, parse
from lance_explorer.format.schema import NO_PARENT

__all__ = ["with_column_names"]


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
        If these bytes are no manifest message.
    """
    manifest = parse(pb.ManifestEnvelope, message, "manifest")
    for field in manifest.fields:
        if field.parent_id == NO_PARENT:
            field.name = names.get(field.name, field.name)
    return manifest.SerializeToString()
