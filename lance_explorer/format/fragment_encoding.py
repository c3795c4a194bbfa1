"""Fragments encoded again, in the one spelling that writers use (docs/FORMAT.md 2.5 to 2.8).

The wire format can spell the same fragment in many ways: fields in another order, zeros that are
written out, longer numbers, unknown fields. Fragments are equal if and only if they have the same
bytes in this spelling.
"""

from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format.fragments import (
    DataFile,
    DataOverlayFile,
    DeletionFile,
    Fragment,
    InlineSequences,
    StoredSequence,
)

__all__ = ["encode_fragment"]

_KINDS = ("row_ids", "last_updated_at", "created_at")


def encode_fragment(fragment: Fragment, sequences: InlineSequences) -> bytes:
    """Encode a fragment as a DataFragment message.

    Parameters
    ----------
    fragment : Fragment
        The fragment.
    sequences : InlineSequences
        The bytes of its inline sequences, of which the record has only a digest.

    Examples
    --------
    >>> from lance_explorer.format.fragment_encoding import encode_fragment
    >>> from lance_explorer.format.fragments import decode_fragment, decode_inline_sequences
    >>> message = bytes.fromhex("200a0807")
    >>> encode_fragment(decode_fragment(message), decode_inline_sequences(message)).hex()
    '0807200a'
    """
    parts = [
        pb.DataFragment(
            id=fragment.id,
            files=[_data_file(file) for file in fragment.files],
            deletion_file=_deletion_file(fragment.deletion_file),
            physical_rows=fragment.physical_rows or 0,
        )
    ]
    for kind in _KINDS:
        stored: StoredSequence | None = getattr(fragment, kind)
        if stored is not None:
            parts.append(_sequence(kind, stored, getattr(sequences, kind)))
    parts.append(
        pb.DataFragment(
            overlays=[_overlay(overlay) for overlay in fragment.overlays],
            clustering_id=fragment.clustering_id,
            metadata=dict(fragment.metadata),
        )
    )
    return b"".join([part.SerializeToString(deterministic=True) for part in parts])


def _data_file(file: DataFile) -> pb.DataFile:
    return pb.DataFile(
        path=file.path,
        fields=file.fields,
        column_indices=file.column_indices,
        file_major_version=file.major_version,
        file_minor_version=file.minor_version,
        file_size_bytes=file.size_bytes or 0,
        base_id=file.base_id,
    )


def _deletion_file(file: DeletionFile | None) -> pb.DeletionFile | None:
    if file is None:
        return None
    return pb.DeletionFile(
        file_type=file.file_type,
        read_version=file.read_version,
        id=file.id,
        num_deleted_rows=file.num_deleted_rows or 0,
        base_id=file.base_id,
    )


def _sequence(kind: str, stored: StoredSequence, inline: bytes | None) -> pb.DataFragment:
    message = pb.DataFragment()
    if stored.storage == "inline":
        setattr(message, f"inline_{kind}", inline)
    elif stored.file is not None:
        place = getattr(message, f"external_{kind}")
        file = stored.file
        place.CopyFrom(pb.ExternalFile(path=file.path, offset=file.offset, size=file.size))
    else:
        getattr(message, f"{kind}_column").SetInParent()
    return message


def _overlay(overlay: DataOverlayFile) -> pb.DataOverlayFile:
    message = pb.DataOverlayFile(
        data_file=_data_file(overlay.data_file), committed_version=overlay.committed_version
    )
    if overlay.shared:
        [message.shared_offset_bitmap] = overlay.coverage
    else:
        message.field_coverage.offset_bitmaps.extend(overlay.coverage)
    return message
