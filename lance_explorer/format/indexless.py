"""A manifest without the indices of its version."""

from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format._wire import decoder, parse
from lance_explorer.format.manifest import read_layout

__all__ = ["without_indices"]


@decoder
def without_indices(data: bytes) -> bytes:
    """Return the message of a manifest file, without the position of its indices.

    Raises
    ------
    CorruptFileError
        If these bytes are not a manifest file.
    """
    section = read_layout(data).message
    manifest = parse(pb.ManifestEnvelope, data[section.offset : section.end], "manifest")
    manifest.ClearField("index_section")
    return manifest.SerializeToString()
