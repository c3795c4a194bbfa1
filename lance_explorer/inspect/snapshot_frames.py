"""The metadata frames of one version: ``snapshot.inspect``."""

from collections.abc import Callable
from functools import wraps

import polars as pl

from lance_explorer.history.version_refs import VersionRef
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.catalogue import Inspect
from lance_explorer.shown import described

__all__ = ["SnapshotInspect"]

_Build = Callable[[HistoryView, int], pl.DataFrame]


class _OneVersion(Inspect):
    """The frames of a version, for any question."""

    def __init__(self, answer: Callable[[_Build], pl.DataFrame]) -> None:
        self._answer = answer

    def _at(self, build: _Build, version: VersionRef | None) -> pl.DataFrame:
        return self._answer(build)


def _frame(
    method: Callable[[Inspect], pl.DataFrame],
) -> Callable[["SnapshotInspect"], pl.DataFrame]:
    @wraps(method)
    def frame(self: "SnapshotInspect") -> pl.DataFrame:
        return method(self._frames)

    del frame.__wrapped__  # which has a parameter more
    text = method.__doc__ or ""
    begin, end = text.index("Parameters\n---"), text.index("Returns\n---")
    frame.__doc__ = text[:begin] + text[end:]
    return frame


class SnapshotInspect:
    """The metadata of one version as frames: those of ``table.inspect`` for this version.

    Unknown values are null, never 0; an empty frame has all its columns.

    Examples
    --------
    >>> table.at(1).inspect.fragments().select("fragment_id", "num_rows").rows()
    [(0, 4)]
    >>> table.at(4).inspect.deletions()["num_deleted_rows"].to_list()
    [2]
    """

    def __init__(self, name: str, answer: Callable[[_Build], pl.DataFrame]) -> None:
        self._name = name
        self._frames = _OneVersion(answer)

    @described
    def __repr__(self) -> str:
        frames = [name for name in vars(type(self)) if not name.startswith("_")]
        return f"SnapshotInspect({self._name}): {', '.join(frames)}"

    fragments = _frame(Inspect.fragments)
    data_files = _frame(Inspect.data_files)
    fields = _frame(Inspect.fields)
    indices = _frame(Inspect.indices)
    index_settings = _frame(Inspect.index_settings)
    index_summary = _frame(Inspect.index_summary)
    index_coverage = _frame(Inspect.index_coverage)
    fragment_reuse = _frame(Inspect.fragment_reuse)
    config = _frame(Inspect.config)
    base_paths = _frame(Inspect.base_paths)
    row_id_segments = _frame(Inspect.row_id_segments)
    row_id_encodings = _frame(Inspect.row_id_encodings)
    version_runs = _frame(Inspect.version_runs)
    deletions = _frame(Inspect.deletions)
    columns = _frame(Inspect.columns)
    health = _frame(Inspect.health)
