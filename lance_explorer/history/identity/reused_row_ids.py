"""Row IDs that were assigned twice, and how their rows are distinguished.

Each version has a *line*: the path of commits that produced it. After a restore, the restored
version is the parent of what follows. The counter of row IDs continues from the latest commit, so
that no number is assigned twice; but up to 8.0.1 a restore resets the counter. So a row ID means
the row that a commit on the line of the version gave it to. The first row with an ID has it as
identity; later ones have identities that are not row IDs.

A detached commit assigns IDs that ordinary commits assign, too. If one was restored, or lost
versions may have restored it, rows in new files get other identities, and it is unknown whether
they are the rows that had their IDs.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from lance_explorer.errors import FormatError
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.identity.new_rows import doubtful_ids
from lance_explorer.history.identity.row_id_lines import PLAIN, Namesakes, RowIdLine
from lance_explorer.history.identity.stored_rows import StoredRows
from lance_explorer.history.paths import commit_at, restores_unseen
from lance_explorer.rowids.arrays import MAX_U64
from lance_explorer.rowids.runs import RunColumns, merged_ids

__all__ = ["namesakes_of"]

_FIRST_ALIAS = 1 << 63


def namesakes_of(stored: StoredRows, since: int = 0) -> Namesakes | None:
    """Return the lines that distinguish rows with one ID; None if no row ID was assigned twice.

    Parameters
    ----------
    stored : StoredRows
        The rows of a branch.
    since : int
        The position of the first version with stable row IDs.

    Raises
    ------
    FormatError
        If there are more row IDs than can be distinguished.
    """
    history = stored.history
    unseen = [
        position
        for position in range(since + 1, len(history))
        if not history.follows_previous[position] or restores_unseen(history, position)
    ]
    counters = [record.manifest.next_row_id for record in history.records[since:]]
    given = [max(counters[: position - since]) for position in unseen]
    doubts = {
        position: ids
        for position, high in zip(unseen, given, strict=True)
        if len((ids := doubtful_ids(stored, position).clipped(0, high)).start)
    }
    if not doubts and all(before <= after for before, after in pairwise(counters)):
        return None
    return _Lines(stored, since, unseen, doubts).found()


class _Lines:
    """The way through the versions, oldest first."""

    def __init__(
        self, stored: StoredRows, since: int, unseen: list[int], doubts: dict[int, RunColumns]
    ) -> None:
        self._stored = stored
        self._history = stored.history
        self._since = since
        self._unseen = frozenset(unseen)
        self._doubts = doubts
        self._lines = [PLAIN] * (since + 1)
        self._highest = self._counter(since)
        self._next_alias = _FIRST_ALIAS
        self._aliases = list[tuple[int, int, int]]()

    def found(self) -> Namesakes:
        """Return what there is."""
        for position in range(self._since + 1, len(self._history)):
            self._lines.append(self._line(position))
        aliases = RunColumns(*np.array(self._aliases, dtype=np.uint64).reshape(-1, 3).T)
        open_ids = RunColumns.concatenated([RunColumns.empty(), *self._doubts.values()])
        if len(open_ids.start):
            open_ids = RunColumns(*(ranges := merged_ids(open_ids)), ranges[0])
        return Namesakes(tuple(self._lines), aliases, open_ids)

    def _line(self, position: int) -> RowIdLine:
        line = self._lines[self._continued(position)]
        if position in self._unseen:  # its earlier states may be on another line
            for known in self._brought_back(position):
                line = line.giving(known)
        if position in self._doubts:
            ids = merged_ids(self._doubts[position])
            given = [
                self._given(*bounds)
                for bounds in zip(*[ends.tolist() for ends in ids], strict=True)
            ]
            line = line.giving(RunColumns.concatenated(given))
        elif self._goes_back(position):
            return line  # its counter is that of an earlier version, which assigned these IDs
        return line.giving(self._given(self._counter(position - 1), self._counter(position)))

    def _brought_back(self, position: int) -> Iterator[RunColumns]:
        """Yield the row IDs in fragments of earlier versions, with their meaning there."""
        first = self._stored.first_positions
        for state in self._history.states_at(position):
            if self._since <= first[state] < position:
                line = self._lines[first[state]]
                yield line.runs(self._stored.row_ids(state)).in_order()

    def _goes_back(self, position: int) -> bool:
        is_restore = self._history.records[position].operation == OperationName.RESTORE
        return is_restore and not self._history.is_uncertain[position]

    def _continued(self, position: int) -> int:
        """Return the version whose row IDs mean the same in a version.

        If the version that a restore went back to is lost, it is the next kept one, which was
        derived from it, unless that is a restore itself.
        """
        history = self._history
        parent = history.graph.content_parent(commit_at(history, position))
        if parent is None:
            return position - 1
        place = int(np.searchsorted(history.versions[:position], np.uint64(parent.version)))
        if parent.version not in history and (
            place == position or history.records[place].operation == OperationName.RESTORE
        ):
            place -= 1
        return max(place, self._since)

    def _given(self, low: int, high: int) -> RunColumns:
        """Return row IDs that a commit assigned, with the identities of their rows."""
        if low >= high:
            return RunColumns.empty()
        identity = low
        if low < self._highest:
            identity, self._next_alias = self._next_alias, self._next_alias + high - low + 1
            if self._next_alias >= MAX_U64 or high > _FIRST_ALIAS:
                raise FormatError(
                    f"the row IDs {low} to {high - 1} were assigned twice, and are too many to "
                    "distinguish their rows"
                )
            self._aliases.append((identity, identity + high - low, low))
        self._highest = max(self._highest, high)
        return RunColumns(*np.array([[low], [high], [identity]], dtype=np.uint64))

    def _counter(self, position: int) -> int:
        return self._history.records[position].manifest.next_row_id
