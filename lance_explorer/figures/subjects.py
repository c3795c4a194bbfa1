"""The arguments of public figures: how they are read, and the errors for wrong ones."""

from collections.abc import Callable
from operator import index
from typing import SupportsIndex, TypeVar

import polars as pl

from lance_explorer.changes.change_feed import Changes
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.history.live import LiveTable, live_table
from lance_explorer.history.version_refs import VersionLike
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.graph_frames import LineageFrames
from lance_explorer.lineage.nodes import FragmentNode
from lance_explorer.lineage.row import Row

__all__ = [
    "checked_changes",
    "events_of",
    "node_named",
    "of_values",
    "read_lineage",
    "read_table",
    "read_version",
    "version_span",
    "whole_number",
]

_EVENT_COLUMNS = {"branch", "version", "event", "_rowaddr_before", "_rowaddr_after"}
"""Objects from which the path of a row can be drawn."""

_T = TypeVar("_T")


def read_table(given: object, build: Callable[[HistoryView], _T]) -> _T:
    """Return what ``build`` reads from a table."""
    table = live_table(given)
    if table is not None:
        return table.answer(build)
    raise _unexpected("a Table (lx.open_table(...))", given)


def of_values(given: object, kind: type[_T], expected: str) -> _T:
    """Return what a figure of values draws."""
    if isinstance(given, kind):
        return given
    raise _unexpected(expected, given)


def read_version(given: object, build: Callable[[HistoryView, int], _T]) -> _T:
    """Return what ``build`` reads from a version; from the latest one if a table is given."""
    table = live_table(given)
    if table is not None:
        return table.answer(lambda view: build(view, view.latest_version))
    if isinstance(given, VersionLike):
        version = given.version

        def if_kept(view: HistoryView) -> _T:
            built = build(view, version)
            view.file(version)  # None if reading the history missed it
            return built

        return LiveTable(given._view).answer(if_kept)
    raise _unexpected("a Snapshot (table.at(...)) or a Table (its latest version)", given)


def read_lineage(given: object) -> tuple[LineageFrames, HistoryView]:
    """Return the frames of a lineage, or of that of a table, and its branch."""
    from lance_explorer.lineage.graph import Lineage, lineage

    table = live_table(given)
    if table is not None:
        return table.answer(lambda view: (lineage(view).frames, view))
    if isinstance(given, Lineage):
        return given.frames, given._view
    raise _unexpected("a Table, or a Lineage (table.lineage(), or a part of it)", given)


def checked_changes(given: object, *, is_per_commit: bool = False) -> Changes:
    """Return changes; net ones are refused where those of each commit are needed."""
    if not isinstance(given, Changes):
        mode = ', mode="per_commit"' if is_per_commit else ""
        raise _unexpected(f"changes (table.changes(...{mode}))", given)
    if is_per_commit and given.mode != "per_commit":
        raise InvalidArgumentError(
            f'expected changes of mode="per_commit", got mode="{given.mode}"'
        )
    return given


def events_of(given: object, table: HistoryView) -> pl.DataFrame | None:
    """Return the events of a row of a table, or the given frame of events; None for None.

    A row of any branch of the table is accepted.
    """
    match given:
        case None:
            return None
        case Row():
            if given._view.uri != table.uri:
                raise InvalidArgumentError(
                    f"expected a row of {table.uri}, got one of another table: {given._view.uri}"
                )
            return given.history()
        case pl.DataFrame() if {*given.columns} >= _EVENT_COLUMNS:
            return given
    raise _unexpected("a Row (table.row(...)) or the frame of its events", given)


def node_named(given: object) -> str | int | None:
    """Return the name of a node, or a fragment ID; None for None."""
    match given:
        case None | str():
            return given
        case FragmentNode():
            return str(given)
        case SupportsIndex() if not isinstance(given, bool):
            return index(given)
    raise _unexpected("a fragment ID, a FragmentNode or its name", given)


def version_span(given: object) -> tuple[int, int] | None:
    """Return the first and the last version of a pair; None for None."""
    match given:
        case None:
            return None
        case [SupportsIndex() as first, SupportsIndex() as last] if (
            0 <= index(first) <= index(last) < 1 << 63
        ):
            return index(first), index(last)
    raise InvalidArgumentError(f"expected a first version and a last one, got {given!r}")


def whole_number(name: str, given: object, least: int) -> int:
    """Return a whole number that is not below ``least``."""
    if isinstance(given, SupportsIndex) and not isinstance(given, bool) and index(given) >= least:
        return index(given)
    raise InvalidArgumentError(f"{name} must be a whole number from {least:,} on, not {given!r}")


def _unexpected(expected: str, given: object) -> InvalidArgumentError:
    got = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
    return InvalidArgumentError(f"expected {expected}, got {got}")
