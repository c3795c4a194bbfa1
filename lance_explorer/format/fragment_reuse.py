"""The fragment reuse history: bytes to records (docs/FORMAT.md 5).

It is in the details of the fragment reuse index, or in a file of its own.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pyroaring import BitMap64

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import index_pb2 as pb
from lance_explorer.format._roaring import read_bitmap64
from lance_explorer.format._wire import decoder, parse
from lance_explorer.format.fragments import ExternalFile

__all__ = [
    "FragDigest",
    "FragReuseGroup",
    "FragReuseTransition",
    "FragReuseVersion",
    "FragmentReuse",
    "OrderedCompaction",
    "StablePartition",
    "decode_fragment_reuse",
    "decode_fragment_reuse_details",
    "reuse_bytes_with",
]

_MOST_INLINE_BYTES = 204_800
"""A longer history is written to a file of its own."""


@dataclass(frozen=True, slots=True)
class FragDigest:
    """A fragment as a rewrite recorded it; ``physical_rows`` includes deleted rows.

    None is a number that its writer did not store; the reuse history always has both.
    """

    id: int
    physical_rows: int | None
    num_deleted_rows: int | None


@dataclass(frozen=True, slots=True)
class FragReuseGroup:
    """Fragments that one compaction task rewrote, and the new ones, both in order.

    ``changed_row_addrs`` is a 64-bit Roaring bitmap of the source rows that survived.
    """

    changed_row_addrs: bytes
    old_frags: tuple[FragDigest, ...]
    new_frags: tuple[FragDigest, ...]

    def row_addresses(self) -> BitMap64:
        """Return the addresses of the source rows that survived; all others were deleted before."""
        return read_bitmap64(self.changed_row_addrs, "the row addresses of a reuse group")


@dataclass(frozen=True, slots=True)
class FragReuseVersion:
    """One compaction whose indices were to be remapped later."""

    dataset_version: int
    groups: tuple[FragReuseGroup, ...]


@dataclass(frozen=True, slots=True)
class OrderedCompaction:
    """A mapping that keeps the order of rows; the bytes are those of a :class:`FragReuseGroup`."""

    changed_row_addrs: bytes


@dataclass(frozen=True, slots=True)
class StablePartition:
    """A mapping in a file below ``_fri/{map_id}/``."""

    map_id: str
    map_size_bytes: int
    base_id: int | None


@dataclass(frozen=True, slots=True)
class FragReuseTransition:
    """The newer form of one rewrite; ``mapping`` is None if its kind is unknown here."""

    sources: tuple[FragDigest, ...]
    destinations: tuple[FragDigest, ...]
    mapping: OrderedCompaction | StablePartition | None


@dataclass(frozen=True, slots=True)
class FragmentReuse:
    """The fragment reuse history, oldest compaction first."""

    versions: tuple[FragReuseVersion, ...]
    transitions: tuple[FragReuseTransition, ...]


@decoder
def decode_fragment_reuse_details(data: bytes) -> FragmentReuse | ExternalFile:
    """Decode the details of the fragment reuse index: the history, or where its file is.

    The path of the file starts at the folder of the index; its bytes are for
    :func:`decode_fragment_reuse`.
    """
    message = parse(pb.FragmentReuseDetails, data, "fragment reuse details")
    arm = message.WhichOneof("content")
    if arm is None:
        raise CorruptFileError(f"the fragment reuse details ({len(data)} bytes) hold no history")
    if arm == "external":
        file = message.external
        return ExternalFile(file.path, file.offset, file.size)
    return _fragment_reuse(message.inline)


@decoder
def decode_fragment_reuse(data: bytes) -> FragmentReuse:
    """Decode a fragment reuse history, such as its external file holds."""
    return _fragment_reuse(parse(pb.FragmentReuseContent, data, "fragment reuse history"))


def reuse_bytes_with(details: bytes, version: FragReuseVersion) -> int:
    """Return the size of a history with one more version.

    Parameters
    ----------
    details : bytes
        The details of the fragment reuse index; empty if there is none.
    version : FragReuseVersion
        The version.

    Examples
    --------
    >>> group = FragReuseGroup(bytes(30), (FragDigest(0, 5, 1),), (FragDigest(1, 4, 0),))
    >>> reuse_bytes_with(b"", FragReuseVersion(2, (group,)))
    52
    """
    before = parse(pb.FragmentReuseDetails, details, "fragment reuse details")
    size = before.external.size if before.HasField("external") else before.inline.ByteSize()
    size += pb.FragmentReuseContent(versions=[_message(version)]).ByteSize()
    if size > _MOST_INLINE_BYTES:
        return size
    length = -(-size.bit_length() // 7)
    return 1 + length + size  # the content is field 1 of the details


def _message(version: FragReuseVersion) -> pb.FragmentReuseVersion:
    return pb.FragmentReuseVersion(
        dataset_version=version.dataset_version,
        groups=[
            pb.FragmentReuseGroup(
                changed_row_addrs=group.changed_row_addrs,
                old_fragments=_digest_messages(group.old_frags),
                new_fragments=_digest_messages(group.new_frags),
            )
            for group in version.groups
        ],
    )


def _digest_messages(digests: Iterable[FragDigest]) -> list[pb.FragmentDigest]:
    return [
        pb.FragmentDigest(
            id=each.id,
            physical_rows=each.physical_rows or 0,
            num_deleted_rows=each.num_deleted_rows or 0,
        )
        for each in digests
    ]


def _fragment_reuse(message: pb.FragmentReuseContent) -> FragmentReuse:
    return FragmentReuse(
        versions=tuple(
            [
                FragReuseVersion(
                    version.dataset_version, tuple([_group(group) for group in version.groups])
                )
                for version in message.versions
            ]
        ),
        transitions=tuple([_transition(transition) for transition in message.transitions]),
    )


def _group(message: pb.FragmentReuseGroup) -> FragReuseGroup:
    return FragReuseGroup(
        changed_row_addrs=message.changed_row_addrs,
        old_frags=_digests(message.old_fragments),
        new_frags=_digests(message.new_fragments),
    )


def _transition(message: pb.FragmentReuseTransition) -> FragReuseTransition:
    return FragReuseTransition(
        sources=_digests(message.sources),
        destinations=_digests(message.destinations),
        mapping=_mapping(message),
    )


def _mapping(message: pb.FragmentReuseTransition) -> OrderedCompaction | StablePartition | None:
    match message.WhichOneof("mapping"):
        case "ordered_compaction":
            return OrderedCompaction(message.ordered_compaction.changed_row_addrs)
        case "stable_partition":
            partition = message.stable_partition
            return StablePartition(
                map_id=partition.map_id,
                map_size_bytes=partition.map_size_bytes,
                base_id=partition.base_id if partition.HasField("base_id") else None,
            )
    return None


def _digests(messages: Iterable[pb.FragmentDigest]) -> tuple[FragDigest, ...]:
    return tuple(
        [
            FragDigest(message.id, message.physical_rows, message.num_deleted_rows)
            for message in messages
        ]
    )
