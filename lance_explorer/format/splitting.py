"""Split manifest messages without decoding the parts that they share with the previous one.

Consecutive manifests share nearly all of their fragments, byte for byte. A
:class:`ManifestSplitter` reads one manifest after another and returns, for each, which of the
previous fragments were replaced, and by which bytes. Shared fragments are found by comparing long
ranges of memory, so that a manifest costs what changed in it, plus one comparison of its bytes.

The fragment IDs that this module reads only guide the search. What it reports as shared was
compared byte for byte: a file with IDs in any order, or none, is split correctly, too.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from lance_explorer.errors import CorruptFileError, FormatError
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format._wire import parse, read_varint
from lance_explorer.format.fragment_walk import find_fragments, schema_end
from lance_explorer.format.manifest import Manifest, Section, manifest_from_pb
from lance_explorer.format.record import Record

__all__ = ["Hunk", "ManifestSplitter", "SplitManifest"]

_FRAGMENTS_TAG = 0x12
_ID_TAG = 0x08

_MANY_BYTES = 1 << 16
"""If new fragments have at least this many bytes, it is faster not to look for old ones."""


class Hunk(Record, frozen=True):
    """Fragments ``start`` to ``stop`` of the previous manifest gave way to ``new`` ones.

    ``ids`` are those of the new ones, if they are where writers put them; else 0.
    """

    start: int
    stop: int
    new: Sequence[bytes]
    ids: list[int]


class SplitManifest(Record, frozen=True):
    """A manifest in parts, with its fragments as differences from the previous manifest.

    Attributes
    ----------
    manifest : Manifest
        All but the schema and the fragments.
    schema : bytes
        The records of the schema, undecoded. The same object as before if they are the same.
    hunks : list of Hunk
        What changed in the list of fragments; ascending, positions count in the previous list.
    fragment_bytes : int
        The size of all fragments with their tags and lengths.
    """

    manifest: Manifest
    schema: bytes
    hunks: list[Hunk]
    fragment_bytes: int


class ManifestSplitter:
    """Splits manifests, best in the order of their versions."""

    def __init__(self) -> None:
        self._data = b""
        self._base = 0  # where the first fragment record of _data begins
        self._ids: list[int] = []
        self._ends = [0]  # fragment k lies at _base + _ends[k] to _base + _ends[k + 1]
        self._schema = b""

    def split(self, data: bytes, message: Section) -> SplitManifest:
        """Split the manifest message at ``message`` in ``data``.

        Raises
        ------
        CorruptFileError
            If the bytes are not a manifest message. The splitter then still compares with the
            previous manifest.
        """
        end = message.end
        base = self._skip_schema(data, message.offset, end)
        walk = _Walk(self._data, self._base, self._ids, self._ends)
        stop = walk.run(data, base, end)
        try:
            rest = parse(pb.ManifestEnvelope, data[stop:end], "manifest")
        except FormatError as error:
            raise error.shifted(stop) from error
        if rest.fields or rest.fragments:
            ordered = _in_order(data, message)
            return self.split(ordered, Section(0, len(ordered)))
        manifest = manifest_from_pb(rest)
        if data[message.offset : base] != self._schema:
            self._schema = data[message.offset : base]
        self._data, self._base = data, base
        walk.apply()
        return SplitManifest(manifest, self._schema, walk.hunks, self._ends[-1])

    def _skip_schema(self, data: bytes, position: int, end: int) -> int:
        if data.startswith(self._schema, position, end):
            position += len(self._schema)
        return schema_end(data, position, end)


class _Edit(NamedTuple):
    """A piece of a new list of fragments: new ones, or those from ``start`` to ``stop`` again.

    In that case ``ids`` and ``ends`` are empty, and each is ``shift`` bytes later.
    """

    start: int
    stop: int
    shift: int
    ids: list[int]
    ends: list[int]

    def is_shared_front(self) -> bool:
        return self.start == 0 and self.shift == 0 and not self.ids


class _Walk:
    """One pass over the fragments of a manifest, beside those of the previous one."""

    def __init__(self, previous: bytes, base: int, ids: list[int], ends: list[int]) -> None:
        self._previous = memoryview(previous)[base:]
        self._ids = ids
        self._ends = ends
        self.hunks: list[Hunk] = []
        self._edits: list[_Edit] = []

    def run(self, data: bytes, base: int, end: int) -> int:
        """Walk from ``base``; return where the fragment records end."""
        ids, ends, count = self._ids, self._ends, len(self._ids)
        position, candidate, kept_stop = base, 0, 0
        new: list[bytes] = []
        rest: Sequence[bytes] = []
        new_ids: list[int] = []
        new_ends: list[int] = []
        while position < end and data[position] == _FRAGMENTS_TAG:
            length, start = read_varint(data, position + 1, end)
            stop = start + length
            if stop > end:
                raise CorruptFileError(
                    f"a fragment of {length} bytes is longer than the manifest", offset=position
                )
            fragment_id = read_varint(data, start + 1, stop)[0] if _has_id(data, start, stop) else 0
            candidate = bisect_left(ids, fragment_id, candidate, count)
            if candidate == count and end - position >= _MANY_BYTES:
                spans = find_fragments(data, position, end)
                rest = spans.messages(data)
                new_ids += spans.ids(data).tolist()
                new_ends += (spans.ends - base).tolist()
                position = spans.stop
                break
            if candidate < count and ids[candidate] == fragment_id:
                shared_stop = self._shared(data, position, end, candidate)
                if shared_stop > candidate:
                    shift = position - base - ends[candidate]
                    self._replace(kept_stop, candidate, new, new_ids, new_ends)
                    self._edits.append(_Edit(candidate, shared_stop, shift, [], []))
                    new, new_ids, new_ends = [], [], []
                    position += ends[shared_stop] - ends[candidate]
                    candidate = kept_stop = shared_stop
                    continue
                candidate += 1
            new.append(data[start:stop])
            new_ids.append(fragment_id)
            new_ends.append(stop - base)
            position = stop
        self._replace(kept_stop, count, [*new, *rest] if new else rest, new_ids, new_ends)
        return position

    def apply(self) -> None:
        """Update the lists of IDs and ends to the manifest that was walked."""
        ids, ends = self._ids, self._ends
        edits = self._edits
        keep = 0
        if edits and edits[0].is_shared_front():  # keeps its position in both lists
            keep, edits = edits[0].stop, edits[1:]
        new_ids: list[int] = []
        new_ends: list[int] = []
        for edit in edits:
            new_ids += edit.ids or ids[edit.start : edit.stop]
            new_ends += edit.ends or [
                end + edit.shift for end in ends[edit.start + 1 : edit.stop + 1]
            ]
        ids[keep:] = new_ids
        ends[keep + 1 :] = new_ends

    def _replace(
        self, start: int, stop: int, new: Sequence[bytes], new_ids: list[int], new_ends: list[int]
    ) -> None:
        if new or start < stop:
            self.hunks.append(Hunk(start, stop, new, new_ids))
        if new:
            self._edits.append(_Edit(start, stop, 0, new_ids, new_ends))

    def _shared(self, data: bytes, position: int, end: int, first: int) -> int:
        """Return the stop of the longest run of previous fragments at ``position``."""
        previous, ends = self._previous, self._ends
        shared, missed = first, len(self._ids) + 1
        probe = missed - 1
        while shared < probe:
            start, stop = ends[shared], ends[probe]
            if position + stop - start <= end and data.startswith(previous[start:stop], position):
                position += stop - start
                shared = probe
            else:
                missed = probe
            probe = (shared + missed) // 2
        return shared


def _has_id(data: bytes, start: int, stop: int) -> bool:
    return start < stop and data[start] == _ID_TAG


def _in_order(data: bytes, message: Section) -> bytes:
    """Return the message with its schema first, then its fragments, as every known writer does."""
    envelope = parse(pb.ManifestEnvelope, data[message.offset : message.end], "manifest")
    fields = pb.ManifestEnvelope(fields=envelope.fields)
    fragments = pb.ManifestEnvelope(fragments=envelope.fragments)
    envelope.ClearField("fields")
    envelope.ClearField("fragments")
    return b"".join([part.SerializeToString() for part in (fields, fragments, envelope)])
