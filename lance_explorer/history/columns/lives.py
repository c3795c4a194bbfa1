"""Identity of fields between versions: one fold over the graph of commits.

The ID of a dropped column is given to the next added one, and after a restore the IDs of undone
columns are given again. So field IDs alone do not identify a field: it lives as long as all commits
on the path have its ID. After that, and after an Overwrite, which assigns all IDs again, the ID
belongs to another field. A commit that removes a field's ID and gives its name another one casts
it: it lives on.

If the walk crosses a seam (lost versions, a detached one, a fork), an ID with another name is the
same field only if a data file proves it; and an ID that was missing is that of an earlier version,
if a data file proves it, since a restore may be lost. If no file decides whether there is one field
or two, there are two, marked as doubtful.
"""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import count
from typing import NamedTuple

from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.schema import NO_PARENT, Field, field_paths
from lance_explorer.history.graph.commits import Commit, CommitKind, EdgeKind
from lance_explorer.history.graph.walks import CommitGraph
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.paths import EMPTY, commit_at

__all__ = [
    "ByName",
    "ColumnLives",
    "Doubt",
    "Lives",
    "column_lives",
    "fold_columns",
    "kept_fields",
    "shared_fields",
]

Schema = tuple[Field, ...]

Lives = Mapping[int, int]
"""For each field ID of a version the number of its life."""


class ByName(IntEnum):
    """Where a column is identified by its name, although its ID does not prove it."""

    NEVER = 0
    OVERWRITES = 1
    """After an Overwrite."""
    SEAMS = 2
    """Also over lost versions, which may have cast it, and where a commit does not say what it did:
    there it is a guess."""


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


class ColumnLives(NamedTuple):
    """Which fields some versions have.

    Attributes
    ----------
    at : mapping of Commit to Lives
        Of these versions, and of others on the way. Versions with one schema may share them.
    doubts : tuple of Doubt
        What versions that are not kept leave open, earliest first.
    """

    at: Mapping[Commit, Lives]
    doubts: tuple[Doubt, ...]


def column_lives(
    history: History, positions: Iterable[int], by_name: ByName = ByName.NEVER
) -> dict[int, Lives]:
    """Return the fields of versions of a branch, by their positions; EMPTY has none."""
    wanted = {*positions} - {EMPTY}
    commits = {position: commit_at(history, position) for position in wanted}
    columns_at = fold_columns(history.graph, {"": history}, commits.values(), by_name).at
    return {EMPTY: {}, **{position: columns_at[commit] for position, commit in commits.items()}}


def shared_fields(
    history: History, begin: int, end: int, by_name: ByName = ByName.NEVER
) -> dict[int, int]:
    """Return the IDs in a second version of the fields of a first one, by their IDs there.

    The versions are of one branch, given by their positions or EMPTY. A cast gives a field another
    ID.
    """
    lives = column_lives(history, (begin, end), by_name)
    later = {life: id_ for id_, life in lives[end].items()}
    return {id_: later[life] for id_, life in lives[begin].items() if life in later}


def kept_fields(history: History, begin: int, end: int) -> frozenset[int]:
    """Return the IDs that belong to one field in two versions of a branch."""
    shared = shared_fields(history, begin, end)
    return frozenset([id_ for id_, other in shared.items() if id_ == other])


def fold_columns(
    graph: CommitGraph,
    histories: Mapping[str, History],
    commits: Iterable[Commit],
    by_name: ByName = ByName.NEVER,
    numbers: Callable[[], int] | None = None,
) -> ColumnLives:
    """Return the fields of some versions, by life.

    Parameters
    ----------
    graph : CommitGraph
        The commits of branches.
    histories : mapping of str to History
        Their versions, by the identities of the branches.
    commits : iterable of Commit
        Which ones.
    by_name : ByName
        The columns that are matched by name.
    numbers : callable, optional
        Gives the numbers of lives, from 0 on by default.
    """
    numbers, wanted = numbers or count().__next__, {*commits}
    fold = _Fold(graph, histories, by_name, numbers)
    states = graph.fold(wanted, fold.step)
    if fold.leaves_ids_open:  # versions before the walk, or beside it, may decide
        last = max([commit.version for commit in wanted])
        earlier = {
            Commit(branch, version)
            for branch, history in histories.items()
            for version in history.versions.tolist()
            if version <= last
        }
        fold = _Fold(graph, histories, by_name, numbers, frozenset(states))
        states = graph.fold(earlier | wanted, fold.step)
    return ColumnLives(
        {commit: state.lives for commit, state in states.items()}, tuple(fold.doubts.values())
    )


class _State(NamedTuple):
    """The fields of a version, or for a lost one those of the last kept version before it."""

    lives: Lives
    commit: Commit | None


@dataclass
class _Fold:
    """What a step must know of all steps before it."""

    graph: CommitGraph
    histories: Mapping[str, History]
    by_name: ByName
    number: Callable[[], int]
    asked: Container[Commit] | None = None
    """The commits whose doubts are reported; all by default."""
    doubts: dict[tuple[int | None, int | None], Doubt] = field(default_factory=dict)
    leaves_ids_open: bool = False
    """Whether some ID of a version after a seam may be that of an unseen version."""
    _seen: dict[Commit, Lives] = field(default_factory=dict)
    _given: dict[int, dict[int, Commit]] = field(default_factory=dict)
    """For each ID its lives so far, with the last version of each."""
    _names: dict[str, int] = field(default_factory=dict)

    def step(self, commit: Commit, parent: Commit | None, before: _State | None) -> _State:
        """Return the fields of a version, given those of its content parent."""
        if not self.graph.can_be_read(commit):
            return before or self._begin(commit)
        record = self._record(commit)
        if before is None or before.commit is None or parent is None:
            return self._first(commit)
        is_open = self._is_open(commit, parent)
        was = self._record(before.commit)
        if record.operation == OperationName.OVERWRITE:
            return self._born(commit, self._named(before, record, {}, ByName.OVERWRITES))
        known: Lives
        is_unknown = self.graph.kind(parent) is CommitKind.DETACHED
        if was.schema is record.schema and not is_unknown:
            known = self._seen[commit] = before.lives
        else:
            if is_open:
                known = self._known_over_a_seam(before, commit, is_unknown=is_unknown)
            else:
                known = {**before.lives, **_cast(was.schema, record.schema, before.lives)}
            if is_open or record.operation in (OperationName.UNKNOWN, None):
                known = self._named(before, record, known, ByName.SEAMS)
            self._born(commit, known)
        if is_open and (self.asked is None or commit in self.asked):
            for doubt in self._doubts(before, commit, known):
                self.doubts.setdefault((doubt.before, doubt.after), doubt)
        return _State(self._seen[commit], commit)

    def _record(self, commit: Commit) -> VersionRecord:
        history = self.histories[commit.branch]
        return history.records[history.position(commit.version)]

    def _begin(self, commit: Commit) -> _State:
        """Return the fields of lost versions at the start of the walk.

        They are those of the last version before them; if there is none, of the next one, as far as
        is known.
        """
        for one in self.graph.ancestors(commit):
            if self.graph.can_be_read(one):
                return self._first(one)
        history = self.histories.get(commit.branch)
        versions = [] if history is None else history.versions.tolist()
        later = next((version for version in versions if version > commit.version), None)
        return _State({}, None) if later is None else self._first(Commit(commit.branch, later))

    def _first(self, commit: Commit) -> _State:
        """Return the fields of a version without a known parent."""
        columns = _columns_but(self._record(commit), ())
        known = {}
        if self.by_name is ByName.SEAMS:
            known = {columns[name]: life for name, life in self._names.items() if name in columns}
        state = self._born(commit, known)
        self._names |= {name: state.lives[id_] for name, id_ in columns.items()}
        return state

    def _born(self, commit: Commit, known: Lives) -> _State:
        """Return the fields of a version, some of which are known from before."""
        schema = self._record(commit).schema
        lives = {one.id: known[one.id] if one.id in known else self.number() for one in schema}
        self._seen[commit] = lives
        for id_, life in lives.items():
            self._given.setdefault(id_, {})[life] = commit
        return _State(lives, commit)

    def _is_open(self, commit: Commit, parent: Commit) -> bool:
        """Whether unknown commits may lie between a version and its parent."""
        is_restore = self._record(commit).operation == OperationName.RESTORE
        follows = self.graph.parents(commit)[0].kind is EdgeKind.FOLLOWS
        return is_restore or not follows or not self.graph.can_be_read(parent)

    def _named(
        self, before: _State, record: VersionRecord, known: Lives, least: ByName
    ) -> dict[int, int]:
        """Return the known fields, with those that have the path of a remaining one."""
        if self.by_name < least or before.commit is None:
            return {**known}
        were = field_paths(self._record(before.commit).schema)
        left = {
            path: before.lives[id_]
            for id_, path in were.items()
            if before.lives[id_] not in known.values()
        }
        others = {id_: path for id_, path in field_paths(record.schema).items() if id_ not in known}
        return {**known, **{id_: left[path] for id_, path in others.items() if path in left}}

    def _known_over_a_seam(
        self, before: _State, commit: Commit, *, is_unknown: bool
    ) -> dict[int, int]:
        """Return the IDs of a version that earlier ones had, over lost commits.

        A version after a detached one keeps only what data files prove: detached commits assign the
        same IDs as ordinary ones.
        """
        assert before.commit is not None
        record = self._record(commit)
        ids = frozenset([one.id for one in record.schema])
        known = {id_: life for id_, life in before.lives.items() if id_ in ids}
        renamed = _renamed_fields(self._record(before.commit), record)
        # Field IDs are reused (docs/FORMAT.md 13): a drop of the last column and an add give its ID
        # to another one, which only another name shows.
        open_ids = ids if is_unknown else renamed | (ids - known.keys())
        known = {id_: life for id_, life in known.items() if id_ not in open_ids}
        # An ID with several lives may be an earlier one, under the same name.
        open_ids |= {id_ for id_ in known if len(self._given[id_]) > 1}
        # A restore may be lost, too: an ID that was missing before the gap may be that of any
        # earlier version. Data files are never written twice under one name, so a file of both
        # versions that lists the ID proves it.
        others = [one for one in reversed(self._seen) if one != before.commit]
        for place in (before.commit, *others):
            lives = self._seen[place]
            if not open_ids.isdisjoint(lives):
                proved = open_ids & lives.keys() & self._in_same_files(place, commit)
                known |= {id_: lives[id_] for id_ in proved}
                open_ids -= proved
        self.leaves_ids_open |= bool(open_ids)
        return known

    def _doubts(self, before: _State, commit: Commit, known: Lives) -> Iterator[Doubt]:
        """Yield the doubts about IDs of a version after a seam, or of a restore.

        A field with the name that its ID had in the previous version may still be an earlier field
        of that ID, unless a data file disproves it.
        """
        assert before.commit is not None
        record, here = self._record(commit), self._seen[commit]
        # A lost commit may have dropped the column and a later one have added another of its name,
        # which gets the ID again. Only an ID that already had two lives shows that this happens in
        # the table, so only such IDs are doubted, or every column would be after every cleanup.
        proved: frozenset[int] | None = None
        for one in record.schema if any(len(self._given[id_]) > 1 for id_ in here) else ():
            own = here[one.id]
            for life, place in self._given[one.id].items():
                [name] = [other.name for other in self._record(place).schema if other.id == one.id]
                if life == own or (one.id in known and name == one.name):
                    continue
                if one.id in known and proved is None:
                    proved = self._in_same_files(before.commit, commit)
                    proved |= {i for i, had in known.items() if before.lives.get(i) != had}
                if one.id in known and one.id in (proved or ()):
                    continue
                yield Doubt(one.id, place.version, name, commit.version, one.name, life, own)
        edge = self.graph.parents(commit)[0]
        is_restore = record.operation == OperationName.RESTORE
        is_untold = is_restore and edge.kind is EdgeKind.FOLLOWS
        if is_untold or not self.graph.can_be_read(edge.parent):
            yield from self._perhaps_cast(before, commit)

    def _perhaps_cast(self, before: _State, commit: Commit) -> Iterator[Doubt]:
        """Yield the columns with the same name but other IDs across a seam, as after casts."""
        assert before.commit is not None
        was, record = self._record(before.commit), self._record(commit)
        old, new = before.lives, self._seen[commit]
        gone = _columns_but(was, [id_ for id_, life in old.items() if life in new.values()])
        here = _columns_but(record, [id_ for id_, life in new.items() if life in old.values()])
        for name, id_ in here.items():
            if name in gone:
                ends = was.version, name, record.version, name
                yield Doubt(id_, *ends, old[gone[name]], new[id_])

    def _in_same_files(self, one: Commit, other: Commit) -> frozenset[int]:
        """Return the IDs that a common data file of both lists: that proves them."""
        shared = self._files_of_fields(one) & self._files_of_fields(other)
        return frozenset([id_ for _, id_ in shared])

    def _files_of_fields(self, commit: Commit) -> set[tuple[str, int]]:
        history, own = self.histories[commit.branch], self._record(commit).schema
        ids = {one.id for one in own}
        return {
            (file.path, id_)
            for state in history.states_at(history.position(commit.version))
            for file in history.states[state].all_files
            for id_ in ids.intersection(file.fields)
        }


def _cast(before: Schema, after: Schema, known: Lives) -> dict[int, int]:
    """Return the lives of fields whose ID, but not name, one commit changed, as a cast does."""
    paths, left = field_paths(after), {one.id for one in before}
    left -= paths.keys()
    were = {path: id_ for id_, path in field_paths(before).items() if id_ in left}
    return {id_: known[were[path]] for id_, path in paths.items() if path in were} if were else {}


def _columns_but(record: VersionRecord, ids: Collection[int]) -> dict[str, int]:
    """Return the IDs of columns by their names, with exceptions."""
    tops = [one for one in record.schema if one.parent_id == NO_PARENT]
    return {one.name: one.id for one in tops if one.id not in ids}


def _renamed_fields(before: VersionRecord, after: VersionRecord) -> frozenset[int]:
    """Return the IDs whose names differ in two versions."""
    if before.schema is after.schema:
        return frozenset()
    old, new = [{one.id: one.name for one in record.schema} for record in (before, after)]
    return frozenset([id_ for id_ in old.keys() & new.keys() if old[id_] != new[id_]])
