"""Split a manifest file into parts that neighbours share, and join them again, byte for byte.

Consecutive manifests differ in few fragments, and seldom in their schema. To keep thousands of
them, each part is kept once.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lance_explorer.errors import CorruptFileError
from lance_explorer.format.manifest import Manifest, ManifestLayout, Section, read_section
from lance_explorer.format.splitting import SplitManifest

__all__ = ["ManifestParts", "framed_bytes", "put_together", "take_apart"]

_FRAGMENTS_TAG = b"\x12"
_NAMES = ("schema", "fragments", "manifest", "indices", "transaction")

_MOST_DIGITS = 12


@dataclass(frozen=True, slots=True)
class ManifestParts:
    """A manifest file without its fragments.

    Attributes
    ----------
    layout : str
        In which order the parts stand: their names, and between them numbers of other bytes, as in
        ``"4 transaction 4 schema fragments manifest 16"``.
    rest : bytes
        Those other bytes: lengths and the footer.
    schema : bytes
        The records of the schema.
    manifest : bytes
        The manifest message but for its schema and fragments.
    indices, transaction : bytes or None
        The sections of these names; None where there is none.
    """

    layout: str
    rest: bytes
    schema: bytes
    manifest: bytes
    indices: bytes | None
    transaction: bytes | None


def take_apart(data: bytes, layout: ManifestLayout, split: SplitManifest) -> ManifestParts | None:
    """Return the parts of a manifest file; None if its layout is not that of known writers.

    Raises
    ------
    CorruptFileError
        If a section does not fit into the file.
    """
    message, manifest = layout.message, split.manifest
    schema = Section(message.offset, len(split.schema))
    fragments = Section(schema.end, split.fragment_bytes)
    others = Section(fragments.end, message.end - fragments.end)
    if others.length < 0 or data[schema.offset : schema.end] != split.schema:
        return None
    sections = {"schema": schema, "fragments": fragments, "manifest": others}
    sections |= _sections(data, manifest, layout)
    ordered = sorted(sections, key=lambda name: (sections[name].offset, _NAMES.index(name)))
    words, rest, position = list[str](), list[bytes](), 0
    for name in ordered:
        section = sections[name]
        if section.offset < position:
            return None  # they overlap
        if section.offset > position:
            words.append(str(section.offset - position))
            rest.append(data[position : section.offset])
        words.append(name)
        position = section.end
    words.append(str(len(data) - position))
    rest.append(data[position:])
    of = {
        name: data[section.offset : section.end]
        for name, section in sections.items()
        if name not in ("schema", "fragments")
    }
    return ManifestParts(
        layout=" ".join(words),
        rest=b"".join(rest),
        schema=split.schema,
        manifest=of["manifest"],
        indices=of.get("indices"),
        transaction=of.get("transaction"),
    )


def put_together(parts: ManifestParts, fragments: Iterable[bytes]) -> bytes:
    """Return the manifest file of some parts and fragments, given as undecoded messages.

    Raises
    ------
    CorruptFileError
        If the layout is invalid.
    """
    pieces: list[bytes] = []
    position = 0
    for word in parts.layout.split(" "):
        if word == "fragments":
            for message in fragments:
                pieces += (_FRAGMENTS_TAG, _varint(len(message)), message)
        elif word in _NAMES:
            pieces.append(getattr(parts, word) or b"")
        elif word.isdecimal() and len(word) <= _MOST_DIGITS:
            pieces.append(parts.rest[position : position + int(word)])
            position += int(word)
        else:
            raise CorruptFileError(f"{word!r} is no part of a manifest")
    return b"".join(pieces)


def framed_bytes(message: bytes) -> int:
    """Return how many bytes of a manifest a fragment takes, with its tag and length."""
    size = len(message)
    return size + 1 + max((size.bit_length() + 6) // 7, 1)


def _sections(data: bytes, manifest: Manifest, layout: ManifestLayout) -> dict[str, Section]:
    offsets = {
        "indices": manifest.index_section_offset,
        "transaction": manifest.transaction_section_offset,
    }
    return {
        name: read_section(data, offset, layout)
        for name, offset in offsets.items()
        if offset is not None
    }


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
