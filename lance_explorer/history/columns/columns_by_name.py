"""Which columns of a version earlier ones had, told by their names where field IDs do not tell.

An Overwrite gives all IDs anew, and a commit among lost ones may have cast a column, which gives it
another one. There a column is taken for that of its name. Before that, IDs tell again what it was
called.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.history.ancestors import Place, ancestry
from lance_explorer.history.columns.fields_of_both import fields_of_both
from lance_explorer.history.columns.lives import gives_ids_anew
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.paths import EMPTY, Branch, parent_position, restores_unseen
from lance_explorer.history.view import HistoryView

__all__ = ["ColumnsByName", "Told", "same_fields"]


class Told(NamedTuple):
    """What the columns of a later version are in an earlier one.

    ``ids`` are the IDs of their fields there, by those in the later one; ``guessed`` are those
    of the later one that lost versions leave open.
    """

    ids: Mapping[int, int]
    guessed: frozenset[int]


class _Step(NamedTuple):
    """Two kept versions of which the later one comes from the other, of one branch or of two.

    ``may_differ`` tells whether fields may have become others, ``is_anew`` whether all field IDs
    were given anew; ``is_open`` whether lost versions between may have cast columns, or one that
    does not say what it did.
    """

    before: Place
    after: Place
    may_differ: bool
    is_open: bool
    is_anew: bool = False


class ColumnsByName:
    """The columns of a version in earlier ones of a branch.

    Parameters
    ----------
    view : HistoryView
        The branch.
    now : Place
        The version, of this branch or of one that comes from it.
    """

    def __init__(self, view: HistoryView, now: Place) -> None:
        self._view = view
        self._now = now
        self._here = told = _told_of(now)
        self._told = {now.version: told} if now.view.branch == view.branch else {}
        for step in _steps_back(view, now):
            told = _before(step, told)
            if step.before.view.branch == view.branch:
                self._told[step.before.version] = told

    def at(self, version: int) -> Told:
        """Return what the columns are in a version; it may be one that a restore undid."""
        if version in self._told:
            return self._told[version]
        history = self._view.history
        line, position = Branch(self._view, history), history.position(version)
        while position and history.records[position].version not in self._told:
            position = _origin(line, position)
        common, here = history.records[position].version, Place(self._view, version)
        if common not in self._told:
            return _before(_Step(here, self._now, may_differ=True, is_open=True), self._here)
        there = _told_of(here)
        for step in _steps_back(self._view, here):
            there = _before(step, there)
            if step.before.version == common:
                break
        told, own = self._told[common], {was: id_ for id_, was in there.ids.items()}
        ids = {now: own[was] for now, was in told.ids.items() if was in own}
        return Told(ids, told.guessed | {now for now, id_ in ids.items() if id_ in there.guessed})


def same_fields(one: Place, other: Place) -> Mapping[int, int]:
    """Return the IDs that fields of a version have in another one; none if it cannot be told."""
    try:
        kept = fields_of_both(ancestry(one, other))
    except LanceExplorerError:
        return {}
    return {field.id: field.id for field in _record(one).schema} if kept is None else kept


def _steps_back(view: HistoryView, now: Place) -> Iterator[_Step]:
    """Yield the steps to a version from the first kept one of a branch, the latest first.

    There are none if it is not known how they go.
    """
    try:
        common = ancestry(Place(view, int(view.history.versions[0])), now)
    except LanceExplorerError:
        return
    later: Place | None = None
    for stretch in reversed(common.to_second):
        if stretch.view is None:
            return
        history = stretch.view.history
        line = Branch(stretch.view, history)
        position = int(np.searchsorted(history.versions, np.uint64(stretch.end), side="right")) - 1
        if later is not None:
            here = Place(stretch.view, history.records[position].version)
            is_open = not here.version == stretch.end == later.version
            yield _Step(here, later, may_differ=True, is_open=is_open)
        while position:
            parent = _origin(line, position)
            before, after = history.records[parent], history.records[position]
            if before.version < stretch.begin:
                break
            is_open = (
                not history.follows_previous[position]
                or after.operation in (OperationName.UNKNOWN, None)
                or restores_unseen(history, position)
            )
            is_anew = gives_ids_anew(line, position)
            may_differ = is_open or is_anew or after.schema is not before.schema
            here, later = [Place(stretch.view, one.version) for one in (before, after)]
            yield _Step(here, later, may_differ, is_open, is_anew)
            position = parent
        later = Place(stretch.view, history.records[position].version)


def _origin(line: Branch, position: int) -> int:
    """Return the version that one goes on from: the one before, where what it restored is lost."""
    parent = parent_position(line.history, position)
    return position - 1 if parent == EMPTY else parent


def _before(step: _Step, told: Told) -> Told:
    """Return what columns are before a step, of which it is known what they are after it."""
    if not step.may_differ:
        return told
    later = {other: id_ for id_, other in same_fields(step.before, step.after).items()}
    ids = {now: later[id_] for now, id_ in told.ids.items() if id_ in later}
    if not (step.is_open or step.is_anew):
        return Told(ids, told.guessed)
    names, left = _names(step.after), {name: id_ for id_, name in _names(step.before).items()}
    by_name = {
        now: left[names[id_]]
        for now, id_ in told.ids.items()
        if now not in ids and names[id_] in left and left[names[id_]] not in later.values()
    }
    return Told(ids | by_name, told.guessed.union(by_name if step.is_open else ()))


def _told_of(place: Place) -> Told:
    """Return what the columns of a version are there."""
    return Told({id_: id_ for id_ in _names(place)}, frozenset())


def _names(place: Place) -> dict[int, str]:
    """Return the names of the columns of a version, by the IDs of their fields."""
    return {one.id: one.name for one in _record(place).schema if one.parent_id == NO_PARENT}


def _record(place: Place) -> VersionRecord:
    history, position = place.view.found(place.version)
    return history.records[position]
