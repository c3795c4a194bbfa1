"""Every file that a kept version needs: its size, since when, and whether the latest needs it."""

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.format.indices import SYSTEM_INDICES
from lance_explorer.frames.counts import nullable
from lance_explorer.history.history import History
from lance_explorer.history.intervals import Intervals, intervals_of
from lance_explorer.history.states import States
from lance_explorer.history.view import HistoryView

__all__ = ["DATA", "DELETIONS", "FILE_KINDS", "INDICES", "deletion_sizes", "file_lives"]

DATA, DELETIONS, INDICES = "data files", "deletion files", "index segments"

FILE_KINDS = (DATA, DELETIONS, INDICES)
"""The kinds of files besides manifests."""

_DELETIONS = "_deletions"

_LIVES = {
    "kind": pl.Enum(FILE_KINDS),
    "base_id": pl.UInt32(),
    "path": pl.String(),
    "size_bytes": pl.Int64(),
    "first": pl.Int64(),
    "is_current": pl.Boolean(),
    "is_kept": pl.Boolean(),
}


class _Lives(NamedTuple):
    """For each key, its first position, and whether the latest version, or any live one, has it."""

    first: NDArray[np.int64]
    is_current: NDArray[np.bool_]
    is_kept: NDArray[np.bool_]


def deletion_sizes(view: HistoryView) -> pl.DataFrame:
    """Return the ``path`` and ``size_bytes`` of the deletion files below the root of the branch.

    No metadata contain these: the folder is listed, without opening a file.
    """
    files = view.storage.list_files(_DELETIONS)
    columns = {
        "path": [f"{_DELETIONS}/{file.name}" for file in files],
        "size_bytes": [file.size_bytes for file in files],
    }
    return pl.DataFrame(columns, schema={"path": pl.String, "size_bytes": pl.Int64})


def file_lives(view: HistoryView) -> pl.DataFrame:
    """Return one row for each data file, deletion file and index segment of any kept version.

    Returns
    -------
    polars.DataFrame
        ``kind``, one of ``FILE_KINDS``; ``base_id``, null below the root of the branch; ``path``,
        of a segment its folder; ``size_bytes``, null where nothing tells it; ``first``, the
        position of the first kept version that needs the file; ``is_current``, whether the latest
        one that can be read does; ``is_kept``, whether any does that is not known from a ledger
        alone.

    Examples
    --------
    >>> file_lives(table._view).group_by("kind").len().sort("kind").rows()
    [('data files', 3), ('deletion files', 2), ('index segments', 1)]
    """
    history = view.history
    is_live = np.isin(history.versions, view.recorded_versions, invert=True)
    lives = _lives(history.intervals, len(history.states), is_live)
    data = _data(history.states, lives)
    deletions = _listed(DELETIONS, lives, _deletions(history.states))
    if len(deletions):
        known = deletion_sizes(view).rename({"size_bytes": "known"})
        own = deletions.join(known, on="path", how="left", maintain_order="left")
        has_size = pl.col("base_id").is_null()
        deletions = own.with_columns(size_bytes=pl.when(has_size).then("known")).drop("known")
    every = pl.concat([data, deletions, _segments(history, is_live)])
    return every.group_by("kind", "base_id", "path", maintain_order=True).agg(
        pl.col("size_bytes").max(),
        pl.col("first").min(),
        pl.col("is_current").any(),
        pl.col("is_kept").any(),
    )


_File = tuple[int | None, str, int | None]
"""Base ID, path and size."""


def _data(states: States, lives: _Lives) -> pl.DataFrame:
    files = states.files
    return pl.DataFrame(
        {
            "kind": [DATA] * len(files.paths),
            "base_id": nullable(files.base_ids),
            "path": files.paths,
            "size_bytes": nullable(files.size_bytes),
            "first": lives.first[files.states],
            "is_current": lives.is_current[files.states],
            "is_kept": lives.is_kept[files.states],
        },
        schema=_LIVES,
    )


def _deletions(states: States) -> list[list[_File]]:
    files: list[list[_File]] = [[] for _ in range(len(states))]
    for number in np.flatnonzero(states.deletion_types >= 0).tolist():
        file = states[number].deletion_file
        if file is not None:
            files[number].append((file.base_id, file.path(int(states.ids[number])), None))
    return files


def _segments(history: History, is_live: NDArray[np.bool_]) -> pl.DataFrame:
    """Return the segments of indices, those of the system left out."""
    distinct, intervals = intervals_of([record.indices for record in history.records])
    lives = _lives(intervals, len(distinct), is_live)
    files = list[list[_File]]()
    for segment in distinct:
        sizes = [file.size_bytes for file in segment.files]
        size = sum([each for each in sizes if each is not None]) if sizes else None
        is_own = segment.name not in SYSTEM_INDICES
        of_segment = (segment.base_id, segment.uuid, None if None in sizes else size)
        files.append([of_segment] if is_own else [])
    return _listed(INDICES, lives, files)


def _lives(intervals: Intervals, num_keys: int, is_live: NDArray[np.bool_]) -> _Lives:
    num_versions = len(is_live)
    first = np.full(num_keys, num_versions, dtype=np.int64)
    np.minimum.at(first, intervals.keys, intervals.first)
    is_current, is_kept = np.zeros((2, num_keys), dtype=np.bool_)
    is_current[intervals.keys[intervals.last == num_versions - 1]] = True
    before = np.concatenate([[0], np.cumsum(is_live)])
    is_kept[intervals.keys[before[intervals.last + 1] > before[intervals.first]]] = True
    return _Lives(first, is_current, is_kept)


def _listed(kind: str, lives: _Lives, files: list[list[_File]]) -> pl.DataFrame:
    """Return the files of some owners, with the intervals of these."""
    counts = [len(of_owner) for of_owner in files]
    every = [file for of_owner in files for file in of_owner]
    bases, paths, sizes = zip(*every, strict=True) if every else ((), (), ())
    return pl.DataFrame(
        {
            "kind": [kind] * len(every),
            "base_id": list(bases),
            "path": list(paths),
            "size_bytes": list(sizes),
            "first": np.repeat(lives.first, counts),
            "is_current": np.repeat(lives.is_current, counts),
            "is_kept": np.repeat(lives.is_kept, counts),
        },
        schema=_LIVES,
    )
