"""Which field of one version is which of another: field IDs alone do not tell.

The ID of a column that is dropped is given to the next one that is added, and after a restore the
IDs of what it undid are given again. So a field lives as long as all commits on the way have its
ID; after that, and after an Overwrite, which gives all IDs anew, the ID is another field's. A
commit that takes a field's ID away and gives its name another one casts it: it lives on. Where
versions are lost, an ID with another name is the same field only if a data file tells so; and one
that was not there before the gap is that of an earlier version, if a data file tells so, since a
restore may be lost. What may be one field or two, and no file tells, is two, and is said to be in
doubt.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from typing import NamedTuple

from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.schema import NO_PARENT, Field, field_paths
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.paths import EMPTY, Line, parent_position, restores_unseen

__all__ = [
    "ColumnLives",
    "Doubt",
    "Lives",
    "Stop",
    "all_the_way",
    "column_lives",
    "columns_but",
    "gives_ids_anew",
    "in_same_files",
    "kept_fields",
    "renamed_fields",
    "shared_fields",
]

Schema = tuple[Field, ...]

Lives = Mapping[int, int]
"""For each field ID of a version the number of its life."""


class Doubt(NamedTuple):
    """A field of two versions that may be one, or two: it has one ID in both, or one name.

    ``field_id`` is the ID in the later one. ``before`` and ``after`` are the lives of both, which
    are told apart; None if the versions are of two branches.
    """

    field_id: int
    version_before: int
    name_before: str
    version_after: int
    name_after: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class ColumnLives:
    """Which fields some versions have.

    Attributes
    ----------
    at : mapping of int to Lives
        By the positions of the versions.
    doubts : tuple of Doubt
        What versions that are not kept leave open, earliest first.
    """

    at: Mapping[int, Lives]
    doubts: tuple[Doubt, ...]


def column_lives(line: Line, positions: Iterable[int]) -> ColumnLives:
    """Return which fields some versions have, told apart for life.

    Versions next to each other with one schema share what is returned of them.

    Parameters
    ----------
    line : Line
        The versions of a branch.
    positions : iterable of int
        Which ones, by their positions; EMPTY has no field.
    """
    wanted = {*positions}
    parents = _parents(line, wanted - {EMPTY})
    lives, numbers = dict[int, Lives]({EMPTY: {}}), count()
    doubts, given = dict[tuple[int | None, int | None], Doubt](), dict[int, dict[int, int]]()
    for position, parent in sorted(parents.items()):
        record = line.history.records[position]
        begins_anew = parent == EMPTY or gives_ids_anew(line, position)
        known = {} if begins_anew else lives[parent]
        is_open = bool(known) and (
            record.operation == OperationName.RESTORE or not line.history.follows_previous[position]
        )
        if not begins_anew and line.history.records[parent].schema is record.schema:
            lives[position] = known
        else:
            if is_open:
                known = _known_over_a_gap(line, lives, parent, position)
            elif known:
                known = {
                    **known,
                    **_cast(line.history.records[parent].schema, record.schema, known),
                }
            lives[position] = {
                field.id: known[field.id] if field.id in known else next(numbers)
                for field in record.schema
            }
            for id_, life in lives[position].items():
                given.setdefault(id_, {})[life] = position
        if is_open:
            for doubt in _doubts(line, lives, given, (parent, position), known):
                doubts.setdefault((doubt.before, doubt.after), doubt)
    return ColumnLives({position: lives[position] for position in wanted}, tuple(doubts.values()))


def shared_fields(line: Line, begin: int, end: int) -> dict[int, int]:
    """Return the IDs in a second version of fields that a first one has, by their IDs there.

    The versions are of one branch, given by their positions or EMPTY. A cast gives a field another
    ID.
    """
    lives = column_lives(line, (begin, end)).at
    later = {life: id_ for id_, life in lives[end].items()}
    return {id_: later[life] for id_, life in lives[begin].items() if life in later}


def kept_fields(line: Line, begin: int, end: int) -> frozenset[int]:
    """Return the IDs that are of one field in two versions of a branch."""
    shared = shared_fields(line, begin, end)
    return frozenset([id_ for id_, other in shared.items() if id_ == other])


def gives_ids_anew(line: Line, position: int) -> bool:
    """Whether all field IDs of a version are given anew, as an Overwrite does."""
    return line.history.records[position].operation == OperationName.OVERWRITE


def all_the_way(schemas: Iterable[Schema]) -> frozenset[str]:
    """Return the paths that fields have in all versions of a way: there a cast leaves its name."""
    return frozenset.intersection(*[frozenset(field_paths(one).values()) for one in schemas])


class Stop(NamedTuple):
    """A version on the way between two others."""

    line: Line
    position: int

    @property
    def record(self) -> VersionRecord:
        """What its manifest says."""
        return self.line.history.records[self.position]

    @property
    def ids(self) -> frozenset[int]:
        """The IDs of its fields."""
        return frozenset([field.id for field in self.record.schema])


def _cast(before: Schema, after: Schema, known: Lives) -> dict[int, int]:
    """Return the lives of fields that one commit gave another ID, as a cast does, and no name."""
    paths, left = field_paths(after), {field.id for field in before}
    left -= paths.keys()
    were = {path: id_ for id_, path in field_paths(before).items() if id_ in left}
    return {id_: known[were[path]] for id_, path in paths.items() if path in were} if were else {}


def _known_over_a_gap(
    line: Line, lives: Mapping[int, Lives], parent: int, position: int
) -> dict[int, int]:
    """Return the IDs of a version that it has from earlier ones, where some may be lost between.

    Parameters
    ----------
    line : Line
        The versions of a branch.
    lives : mapping of int to Lives
        What is known of earlier versions.
    parent : int
        The last one that is kept of those that the version goes on from.
    position : int
        The version.
    """
    here, before = Stop(line, position), Stop(line, parent)
    known = {id_: life for id_, life in lives[parent].items() if id_ in here.ids}
    open_ids = renamed_fields(before.record, here.record) | (here.ids - known.keys())
    if line.history.restores_detached[position]:
        open_ids = here.ids  # a detached commit gives out the IDs that an ordinary one does
    known = {id_: life for id_, life in known.items() if id_ not in open_ids}
    earlier = sorted(lives.keys() - {EMPTY, parent}, reverse=True)
    for place in (parent, *earlier):
        if not open_ids.isdisjoint(lives[place]):
            proved = open_ids & lives[place].keys() & in_same_files(Stop(line, place), here)
            known |= {id_: lives[place][id_] for id_ in proved}
            open_ids -= proved
    return known


def _doubts(
    line: Line,
    lives: Mapping[int, Lives],
    given: Mapping[int, Mapping[int, int]],
    step: tuple[int, int],
    known: Lives,
) -> Iterator[Doubt]:
    """Yield what stays open of the IDs of a version, where some may be lost before it.

    A restore may be among these: a field with the name that its ID had in the version before may
    still be an earlier field of that ID, unless a data file proves that it is not.

    Parameters
    ----------
    line : Line
        The versions of a branch.
    lives : mapping of int to Lives
        Those of the version and of earlier ones.
    given : mapping
        For each ID the lives that it had so far, with the latest position of each.
    step : tuple of int
        The last version that is kept of those that it goes on from, and itself.
    known : Lives
        The IDs that it has from earlier versions.
    """
    parent, position = step
    records, here = line.history.records, lives[position]
    proved: frozenset[int] | None = None
    for field in records[position].schema if any(len(given[id_]) > 1 for id_ in here) else ():
        own = here[field.id]
        for life, place in given[field.id].items():
            [name] = [one.name for one in records[place].schema if one.id == field.id]
            if life == own or (field.id in known and name == field.name):
                continue
            if field.id in known and proved is None:
                proved = in_same_files(Stop(line, parent), Stop(line, position))
                proved |= {id_ for id_, had in known.items() if lives[parent].get(id_) != had}
            if field.id in known and field.id in (proved or ()):
                continue
            ends = records[place].version, name, records[position].version, field.name
            yield Doubt(field.id, *ends, life, own)
    if restores_unseen(line.history, position) or not (line.history.follows_previous[position]):
        yield from _perhaps_cast(line, lives, step)


def _perhaps_cast(line: Line, lives: Mapping[int, Lives], step: tuple[int, int]) -> Iterator[Doubt]:
    """Yield the columns that have one name over lost versions, and other IDs, as casts give."""
    before, after = [line.history.records[position] for position in step]
    old, new = [lives[position] for position in step]
    gone = columns_but(before, [id_ for id_, life in old.items() if life in new.values()])
    for name, id_ in columns_but(
        after, [id_ for id_, life in new.items() if life in old.values()]
    ).items():
        if name in gone:
            ends = before.version, name, after.version, name
            yield Doubt(id_, *ends, old[gone[name]], new[id_])


def columns_but(record: VersionRecord, ids: Collection[int]) -> dict[str, int]:
    """Return the IDs of columns by their names, but for some."""
    tops = [one for one in record.schema if one.parent_id == NO_PARENT]
    return {one.name: one.id for one in tops if one.id not in ids}


def renamed_fields(before: VersionRecord, after: VersionRecord) -> frozenset[int]:
    """Return the IDs that have other names in two versions."""
    if before.schema is after.schema:
        return frozenset()
    old, new = [{field.id: field.name for field in one.schema} for one in (before, after)]
    return frozenset([id_ for id_ in old.keys() & new.keys() if old[id_] != new[id_]])


def in_same_files(one: Stop, other: Stop) -> frozenset[int]:
    """Return the IDs of both that a data file of one has in the other, too: that proves them."""
    shared = _files_of_fields(one) & _files_of_fields(other)
    return frozenset([id_ for _, id_ in shared]) & one.ids & other.ids


def _files_of_fields(stop: Stop) -> set[tuple[str, int]]:
    history = stop.line.history
    return {
        (file.path, id_)
        for state in history.states_at(stop.position)
        for file in history.states[state].all_files
        for id_ in file.fields
    }


def _parents(line: Line, positions: set[int]) -> dict[int, int]:
    """Return what versions, and those on the way between them, went out from.

    The last version that all have in common comes out as if it were the first one.
    """
    heads, parents = [-position for position in positions], dict[int, int]()
    heapify(heads)
    while heads:
        position = -heappop(heads)
        parent = EMPTY
        if heads:
            parent = parent_position(line.history, position)
            if parent == EMPTY and position > 0:
                parent = position - 1  # what was restored is lost: nothing but the IDs tells
            if parent not in positions:
                positions.add(parent)
                heappush(heads, -parent)
        if position != EMPTY:
            parents[position] = parent
    return parents
