"""The sequences of many fragment states, each read once, from as few manifests as possible.

Fragments keep their sequences while their states change, and a manifest contains those of all its
fragments. So the cost depends on distinct sequences, not on versions.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import CorruptFileError, FormatError
from lance_explorer.format.fragments import (
    HIDDEN_FIELDS,
    DataFile,
    Fragment,
    StoredSequence,
    decode_fragment_id,
    decode_inline_sequences,
)
from lance_explorer.format.manifest import fragment_messages
from lance_explorer.format.sequences import decode_row_id_sequence, decode_row_version_spans
from lance_explorer.history.history import History
from lance_explorer.history.intervals import Intervals
from lance_explorer.history.progress import with_progress
from lance_explorer.history.reading.row_reader import FragmentReader, decoded
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.encoding import encode_segment
from lance_explorer.rowids.sequence import RowIdSequence
from lance_explorer.rowids.version_runs import RowVersionRuns
from lance_explorer.storage import FilePart, Storage, given, reading_ahead

__all__ = [
    "FragmentSequence",
    "RowVersions",
    "SequenceKind",
    "read_row_ids",
    "read_row_versions",
    "read_sequences",
    "sequences_of",
]

SequenceKind = Literal["row_ids", "created_at", "last_updated_at"]

_KINDS: tuple[SequenceKind, ...] = ("row_ids", "created_at", "last_updated_at")
_FIELDS = dict(zip(_KINDS, HIDDEN_FIELDS, strict=True))

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)

RowVersions = tuple[RowIdSequence | None, RowVersionRuns]
"""The spans as they are stored, None if they are spilled, and the runs that they mean."""


@dataclass(frozen=True, slots=True)
class FragmentSequence:
    """A sequence of a fragment: equal to another only if it means the same for the same rows.

    ``hidden_in`` is where the column of a spilled sequence is; ``state`` is one of the
    states of the fragment that have the sequence.
    """

    fragment_id: int
    kind: SequenceKind
    physical_rows: int | None
    stored: StoredSequence
    hidden_in: tuple[DataFile, ...]
    state: Fragment = field(compare=False, repr=False)


def sequences_of(fragment: Fragment, *kinds: SequenceKind) -> Iterator[FragmentSequence]:
    """Yield the sequences of some kinds that a fragment has."""
    for kind in kinds:
        stored: StoredSequence | None = getattr(fragment, kind)
        if stored is not None:
            hidden_in = tuple([file for file in fragment.files if _FIELDS[kind] in file.fields])
            yield FragmentSequence(
                fragment.id, kind, fragment.physical_rows, stored, hidden_in, fragment
            )


def read_row_ids(
    view: HistoryView,
    history: History,
    sequences: Sequence[FragmentSequence],
    intervals: Intervals,
) -> Iterator[tuple[int, RowIdSequence | FormatError]]:
    """Yield the number of each row-ID sequence and the row IDs, or why they cannot be decoded.

    Parameters
    ----------
    view : HistoryView
        Where to read.
    history : History
        The versions that have the sequences.
    sequences : sequence of FragmentSequence
        The sequences; the number of one is its position here.
    intervals : Intervals
        The versions that contain each of them, by number.
    """
    return _read(view, history, sequences, intervals, lambda _: _ROW_IDS)


def read_row_versions(
    view: HistoryView,
    history: History,
    sequences: Sequence[FragmentSequence],
    intervals: Intervals,
) -> Iterator[tuple[int, RowVersions | FormatError]]:
    """Yield the number of each row-version sequence and its runs, as :func:`read_row_ids` does."""
    return _read(view, history, sequences, intervals, lambda _: _ROW_VERSIONS)


def read_sequences(
    view: HistoryView,
    history: History,
    sequences: Sequence[FragmentSequence],
    intervals: Intervals,
) -> Iterator[tuple[int, RowIdSequence | RowVersions | FormatError]]:
    """Yield sequences of all kinds in one pass, each like the function for its kind."""
    return _read(
        view,
        history,
        sequences,
        intervals,
        lambda sequence: _ROW_IDS if sequence.kind == "row_ids" else _ROW_VERSIONS,
    )


def _row_ids_of(values: NDArray[np.uint64]) -> RowIdSequence:
    return RowIdSequence.of([encode_segment(values)])


def _decode_row_versions(data: bytes, physical_rows: int | None) -> RowVersions:
    spans, versions = decode_row_version_spans(data, physical_rows)
    return spans, RowVersionRuns(spans.counts(), versions)


def _row_versions_of(values: NDArray[np.uint64]) -> RowVersions:
    return None, RowVersionRuns.of(values)


class _Kind(NamedTuple, Generic[_T_co]):
    """What makes a sequence: ``decode`` of stored bytes, ``convert`` of spilled values."""

    decode: Callable[[bytes, int | None], _T_co]
    convert: Callable[[NDArray[np.uint64]], _T_co]


_ROW_IDS = _Kind(decode_row_id_sequence, _row_ids_of)
_ROW_VERSIONS = _Kind(_decode_row_versions, _row_versions_of)


def _read(
    view: HistoryView,
    history: History,
    sequences: Sequence[FragmentSequence],
    intervals: Intervals,
    kind_of: Callable[[FragmentSequence], _Kind[_T]],
) -> Iterator[tuple[int, _T | FormatError]]:
    keys, where = np.unique(intervals.keys, return_index=True)
    first, last = intervals.first[where], intervals.last[where]
    is_inline = np.array([sequences[key].stored.storage == "inline" for key in keys.tolist()], bool)
    outside = keys[~is_inline].tolist()
    with reading_ahead([*_external_parts(view, [sequences[key] for key in outside])]):
        for key, position in zip(outside, first[~is_inline].tolist(), strict=True):
            record, sequence = history.records[position], sequences[key]
            reader = FragmentReader(view, record)
            try:
                yield key, _read_outside(reader, sequence, kind_of(sequence))
            except FormatError as error:
                yield key, reader.located(error, sequence.state)
    inline = keys[is_inline]
    places = _few_positions(first[is_inline], last[is_inline])
    order = np.argsort(places, kind="stable")
    inline = inline[order]
    positions, begins = np.unique(places[order], return_index=True)
    ends = np.append(begins[1:], len(inline))[: len(begins)]
    files = [history.records[position].file for position in positions.tolist()]
    manifests = view.storage.get_many(
        [file.path for file in files], [file.size_bytes for file in files]
    )
    shown = with_progress(positions.tolist(), "Reading row IDs")
    for position, manifest, begin, end in zip(
        shown, manifests, begins.tolist(), ends.tolist(), strict=True
    ):
        record = history.records[position]
        if manifest is None:
            raise view.missing_version(record.version)
        messages = _messages(history, position, given(manifest))
        for key in inline[begin:end].tolist():
            sequence = sequences[key]
            message = messages[sequence.fragment_id]
            rows, decode = sequence.physical_rows, kind_of(sequence).decode
            try:
                data = _inline_bytes(message, sequence)
                yield key, decoded(decode, data, rows, sequence.stored, message)
            except FormatError as error:
                yield key, FragmentReader(view, record).located(error, sequence.state, message)


def _external_parts(
    view: HistoryView, sequences: Iterable[FragmentSequence]
) -> Iterator[tuple[Storage, FilePart]]:
    for sequence in sequences:
        file = sequence.stored.file
        if file is not None:
            yield view.storage, FilePart(file.path, file.offset, file.size)


def _read_outside(reader: FragmentReader, sequence: FragmentSequence, kind: _Kind[_T]) -> _T:
    if sequence.stored.storage == "spilled":
        column = HIDDEN_FIELDS[_FIELDS[sequence.kind]]
        return kind.convert(reader.hidden_values(sequence.state, column))
    data = reader.sequence_bytes(sequence.state, sequence.stored, None)
    return decoded(kind.decode, data, sequence.physical_rows, sequence.stored, b"")


def _few_positions(first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a position within each interval, with as few different ones as possible."""
    places = np.empty_like(last)
    place = -1
    for number in np.argsort(last, kind="stable").tolist():
        if first[number] > place:
            place = int(last[number])
        places[number] = place
    return places


def _messages(history: History, position: int, manifest: bytes) -> dict[int, bytes]:
    """Return the fragments of a manifest by their IDs."""
    path = history.records[position].file.path
    try:
        messages = fragment_messages(manifest)
    except FormatError as error:
        raise error.located(path) from error
    fragment_ids = history.states.ids[history.states_at(position)].tolist()
    if len(messages) == len(fragment_ids):
        return dict(zip(fragment_ids, messages, strict=True))
    by_id = {decode_fragment_id(message): message for message in messages}
    if len(messages) != len(by_id):
        raise CorruptFileError("a fragment is in the manifest twice", path)
    return by_id  # the history has only some of them


def _inline_bytes(message: bytes, sequence: FragmentSequence) -> bytes:
    data: bytes | None = getattr(decode_inline_sequences(message), sequence.kind)
    if data is None or len(data) != sequence.stored.num_bytes:
        raise CorruptFileError("the fragments of the manifest are not in the order of their IDs")
    return data
