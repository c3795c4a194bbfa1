"""The changes of rows from version to version: removed and added fragment states.

A manifest is read only if it added or removed a state, and only the new parts of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lance_explorer.errors import FormatError, LanceExplorerError, StorageError
from lance_explorer.format.fragments import Fragment, decode_fragment, without_doubtful_count
from lance_explorer.format.manifest import read_layout
from lance_explorer.format.splitting import ManifestSplitter
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.reading.row_reader import FragmentContent, FragmentReader
from lance_explorer.history.view import HistoryView
from lance_explorer.storage import Contents, given, reading_ahead

__all__ = ["RowChanges", "row_changes"]

RowsOrError = FragmentContent | LanceExplorerError


@dataclass(frozen=True, slots=True)
class RowChanges:
    """The differences of one version from its kept predecessor.

    Attributes
    ----------
    position : int
        The position of the version in the history.
    removed : list of int
        The states that it has not any more, by number.
    added : dict of int to FragmentContent or LanceExplorerError
        The states that are new in it, or back: their rows, or why these cannot be told.
    """

    position: int
    removed: list[int]
    added: dict[int, RowsOrError]


def row_changes(view: HistoryView, history: History) -> Iterator[RowChanges]:
    """Yield the differences of each version, oldest first; equal ones are left out.

    Parameters
    ----------
    view : HistoryView
        Where to read.
    history : History
        The versions. All their reader flags must be known.

    Raises
    ------
    StorageError
        If a manifest cannot be read. Problems of other files are reported with the states.
    """
    positions = history.changed_positions.tolist()
    records = [history.records[position] for position in positions]
    manifests = view.storage.get_many(
        [record.file.path for record in records], [record.file.size_bytes for record in records]
    )
    reader = _Reader(view)
    parts = [
        part
        for position, record in zip(positions, records, strict=True)
        for state in history.states_added(position).tolist()
        for part in FragmentReader(view, record).parts(history.states[state])
    ]
    with reading_ahead(parts):
        for position, record, manifest in zip(positions, records, manifests, strict=True):
            states = {
                history.states[state]: state for state in history.states_added(position).tolist()
            }
            read = reader.read(record, manifest, states)
            added_rows = {states[state]: read[state] for state in read}
            yield RowChanges(position, history.states_removed(position).tolist(), added_rows)


class _Reader:
    """Reads one manifest after the other."""

    def __init__(self, view: HistoryView) -> None:
        self._view = view
        self._splitter = ManifestSplitter()

    def read(
        self, record: VersionRecord, manifest: Contents, wanted: dict[Fragment, int]
    ) -> dict[Fragment, RowsOrError]:
        """Return the rows of some fragments that the previous manifest lacks."""
        try:
            messages = self._new_messages(record, manifest)
        except LanceExplorerError as error:
            self._splitter = ManifestSplitter()  # the next manifest has no predecessor
            return dict.fromkeys(wanted, error)
        rows: dict[Fragment, RowsOrError] = {}
        reader = FragmentReader(self._view, record)
        for message in messages:
            fragment = decode_fragment(message)
            if record.manifest.writer is None:
                fragment = without_doubtful_count(fragment)
            if fragment in wanted:
                rows[fragment] = _rows(reader, fragment, message)
        return rows

    def _new_messages(self, record: VersionRecord, manifest: Contents) -> list[bytes]:
        if manifest is None:
            raise self._view.missing_version(record.version)
        if isinstance(manifest, FormatError):
            raise manifest
        try:
            data = given(manifest)
            split = self._splitter.split(data, read_layout(data).message)
        except FormatError as error:
            raise error.located(record.file.path) from error
        return [message for hunk in split.hunks for message in hunk.new]


def _rows(reader: FragmentReader, fragment: Fragment, message: bytes) -> RowsOrError:
    try:
        return reader.content(fragment, message)
    except (FormatError, StorageError) as error:
        return error
