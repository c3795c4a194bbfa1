"""Every data file that a kept version of a branch names, once each, with its users."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lance_explorer.format.fragments import BasePath, DataFile, Fragment
from lance_explorer.history.readable import readable_history
from lance_explorer.history.view import HistoryView

__all__ = ["NamedDataFile", "named_data_files"]


@dataclass(frozen=True, slots=True)
class NamedDataFile:
    """A data file, and a fragment that contains it.

    Attributes
    ----------
    file : DataFile
        The file.
    fragment : Fragment
        The fragment as it is in the last version that has the file.
    state : int
        Its number among the states of the history.
    versions : tuple of int
        The first and the last kept version that need the file.
    bases : tuple of BasePath
        The base paths of the last of them.
    """

    file: DataFile
    fragment: Fragment
    state: int
    versions: tuple[int, int]
    bases: tuple[BasePath, ...]

    @property
    def is_overlay(self) -> bool:
        """Whether the file has new values for some rows only."""
        return self.file not in self.fragment.files


def named_data_files(view: HistoryView) -> Iterator[NamedDataFile]:
    """Yield the data files and the overlays of all kept versions."""
    history = readable_history(view.history)
    spans, count = history.intervals, len(history.states)
    first, last = np.full(count, len(history), np.int64), np.full(count, -1, np.int64)
    np.minimum.at(first, spans.keys, spans.first)
    np.maximum.at(last, spans.keys, spans.last)
    files = dict[tuple[int | None, str], tuple[DataFile, int, int]]()
    there = np.flatnonzero(last >= 0)  # others are only in versions that cannot be decoded
    for number in there[np.argsort(last[there], kind="stable")].tolist():
        for file in history.states[number].all_files:
            key, begin = (file.base_id, file.path), int(first[number])
            if known := files.get(key):
                begin = min(begin, known[2])
            files[key] = file, number, begin
    records = history.records
    for file, state, begin in files.values():
        end = records[int(last[state])]
        versions, bases = (records[begin].version, end.version), end.manifest.base_paths
        yield NamedDataFile(file, history.states[state], state, versions, bases)
