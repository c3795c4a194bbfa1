"""What is damaged in a table, judged as a whole: what is lost, and where else the rows stand.

A file that is gone does not mean that rows are: a compaction leaves the files that it replaced
until they are cleaned up, and the values below an overlay are those from before it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from lance_explorer.answers import Answer, Answering, Section, lines
from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.version_pair import VersionPair
from lance_explorer.checks.data_file_checks import data_file_findings
from lance_explorer.checks.depths import Depth
from lance_explorer.checks.named_data_files import NamedDataFile, named_data_files
from lance_explorer.checks.value_checks import value_findings
from lance_explorer.disk.owners import owned_lazily
from lance_explorer.disk.survey import Survey, survey
from lance_explorer.errors import CorruptFileError, LanceExplorerError
from lance_explorer.findings import Finding, Remedy
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.frames.columns import COUNT, ID, TEXT, Column, FrameSchema
from lance_explorer.frames.sizes import counted
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.history import UnreadableVersion
from lance_explorer.history.readable import readable_history
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["DAMAGE", "Damage", "damage", "damage_of"]

DAMAGE = FrameSchema(
    "damage",
    (
        Column("path", TEXT, "the file, below the root of the table or its base path"),
        Column("kind", TEXT, "what it is there for, as in `inspect.storage()`"),
        Column("problem", TEXT, "what is wrong with it"),
        Column("first_version", ID, "first kept version that needs it", nullable=True),
        Column("last_version", ID, "last kept version that needs it", nullable=True),
        Column("fragment_id", ID, "fragment that has it in that version", nullable=True),
        Column("columns", pl.List(pl.String), "columns that it has, as that version calls them"),
        Column(
            "num_rows",
            COUNT,
            "live rows of that version that need it; null for files without rows, or if unknown",
            nullable=True,
        ),
        Column(
            "rows_elsewhere",
            COUNT,
            "how many of these stand with the same values in whole files of `elsewhere`; null: "
            "not known",
            nullable=True,
        ),
        Column("elsewhere", ID, "version that has these rows in whole files", nullable=True),
        Column("note", TEXT, "what else is known of it", nullable=True),
    ),
)
"""The columns of ``Damage.to_polars()``."""

_BROKEN = {"missing": "missing", "wrong_size": "of another size than is named"}
_ROW_KINDS = ("data", "deletion")

_WITH_NEW_ROWS = (OperationName.APPEND, OperationName.OVERWRITE)
"""Operations whose files have rows that were nowhere before."""

_MOST_COMMITS = 20
"""Of so many commits that wrote damaged files it is looked where their rows stood before."""


@dataclass(frozen=True, slots=True)
class _Damaged:
    """A damaged file: a line of the frame."""

    path: str
    kind: str
    problem: str
    versions: tuple[int, int] | None
    fragment: int | None = None
    columns: tuple[str, ...] = ()
    rows: int | None = None
    rows_elsewhere: int | None = None
    elsewhere: int | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class _Back:
    """The newest whole version, and what going back to it loses; None: not known."""

    version: int
    inserted: int | None = None
    updated: int | None = None
    deleted: int | None = None

    @property
    def loses_nothing(self) -> bool:
        """Whether going back to it is known to change no row."""
        return (self.inserted, self.updated, self.deleted) == (0, 0, 0)

    @property
    def words(self) -> str:
        """Both in a sentence."""
        begin = f"The newest whole version is {self.version}"
        if self.inserted is None:
            return f"{begin}; what going back to it loses is not known."
        parts = [
            (self.inserted, "{} inserted since are lost"),
            (self.updated, "{} updated since get the values from before"),
            (self.deleted, "{} deleted since come back"),
        ]
        told = [words.format(counted(count, "row")) for count, words in parts if count]
        return f"{begin}; going back to it " + (
            f"changes rows: {', '.join(told)}." if told else "loses no row."
        )


class Damage(Answering):
    """What is damaged in a table, what is lost by that, and where else its rows stand.

    Made by :meth:`~lance_explorer.table.Table.damage`; true if anything is damaged.

    Attributes
    ----------
    whole_version : int or None
        The newest version of the branch whose files are all whole, as far as was looked.
    num_lost : int
        Rows of the latest version with cells in damaged files that stand nowhere else in this
        branch; those of which that is not known do not count.
    """

    def __init__(
        self, view: HistoryView, depth: Depth, damaged: Sequence[_Damaged], back: _Back | None
    ) -> None:
        self._depth = depth
        self._damaged = damaged
        records = view.history.records
        self._latest = records[-1].version if records else None
        self._unreadable = [
            one.file
            for one in view.history.unreadable
            if _is_damaged(one) and (self._latest is None or one.file.version > self._latest)
        ]
        self._num_versions = len(view.history)
        self._back = back
        self.whole_version = back and back.version
        self.num_lost = self._rows(
            lambda one: 0 if one.rows_elsewhere is None else (one.rows or 0) - one.rows_elsewhere
        )

    def __bool__(self) -> bool:
        return bool(self._damaged)

    @property
    def _now(self) -> list[_Damaged]:
        """What the latest version needs of rows."""
        return [
            one
            for one in self._damaged
            if one.kind in _ROW_KINDS and one.versions and one.versions[1] == self._latest
        ]

    def _rows(self, count: Callable[[_Damaged], int]) -> int:
        """Return how many rows of the latest version are counted: those of a fragment once."""
        by_fragment = dict[int | None, int]()
        for one in self._now:
            by_fragment[one.fragment] = max(by_fragment.get(one.fragment, 0), count(one))
        return sum(by_fragment.values())

    @property
    def consequence(self) -> str:
        """What the latest version lost by it, in sentences."""
        if self._unreadable:
            return (
                f"The manifest of the latest version, {self._unreadable[-1].version}, cannot be "
                "read: pylance does not open the table, and what that commit did is not known."
            )
        if not self._now:
            return "The latest version needs none of them for its rows."
        rows = self._rows(lambda one: one.rows or 0)
        told = f"Cells of {counted(rows, 'row')} of the latest version are in them." if rows else ""
        unknown = {one.fragment for one in self._now if one.kind == "deletion"}
        if unknown:
            told = (
                f"{told} Which rows of {counted(len(unknown), 'fragment')} of the latest version "
                "were deleted is not known, and pylance does not read these."
            ).strip()
        open_rows = self._rows(lambda one: (one.rows or 0) if one.rows_elsewhere is None else 0)
        if open_rows:
            told += f" Whether {counted(open_rows, 'row')} stand elsewhere is not known."
        if self.num_lost:
            return (
                f"{told} Of {counted(self.num_lost, 'row')} no kept version of this branch has all "
                "of them in whole files: cells are lost, unless another branch, a clone or a "
                "backup has them."
            )
        places = sorted({one.elsewhere for one in self._now if one.elsewhere is not None})
        if not places or open_rows:
            return told
        where = f"version{'' if len(places) == 1 else 's'} {', '.join(map(str, places))}"
        verb = "has" if len(places) == 1 else "have"
        return f"{told} None is lost: {where} of this table {verb} all of them in whole files."

    @property
    def remedy(self) -> Remedy:
        """What to do."""
        back = self._back
        backup = "Restore the files from a backup"
        if self._unreadable and self._latest is not None:
            files = ", ".join([file.path for file in self._unreadable])
            whole = ", which is whole," if back and back.version == self._latest else ""
            return Remedy(
                f"{backup}, or move {files} out of the table, and keep a copy: then version "
                f"{self._latest}{whole} is the latest."
            )
        if back is None or back.version == self._latest:
            return Remedy(f"{backup}.")
        if back.loses_nothing:
            again = f"dataset.checkout_version({back.version}).restore()"
            undone = f"dataset.checkout_version({self._latest}).restore()"
            words = f"{backup}, or restore version {back.version}, which changes no row"
            return Remedy(words, again, undone)
        return Remedy(f"{backup}. {back.words}")

    @property
    def sentence(self) -> str:
        """What is damaged, and whether anything is lost.

        Examples
        --------
        >>> table.damage().sentence
        'No damaged file was found in 7 versions.'
        """
        if not self._damaged:
            return f"No damaged file was found in {counted(self._num_versions, 'version')}."
        verb = "is" if len(self._damaged) == 1 else "are"
        return f"{counted(len(self._damaged), 'file')} {verb} damaged. {self.consequence}"

    @property
    def answer(self) -> Answer:
        """The files, the newest whole version, and what going back to it loses."""
        frame = self.to_polars()
        looked = {
            "quick": "Only sizes of files were looked at, not what is in them.",
            "deep": "Sizes and ends of files were looked at, not the values in them.",
            "values": "Every column of every data file was read.",
        }[self._depth]
        told = [self.remedy.words, looked] if self._damaged else [looked]
        return Answer(
            self.sentence,
            (
                Section("notes", "", lines(told)),
                Section(
                    "files",
                    "Files",
                    frame,
                    shown=frame.select(
                        *("path", "problem", "fragment_id", "columns", "num_rows"),
                        *("rows_elsewhere", "elsewhere", "first_version", "last_version", "note"),
                    ),
                    schema=DAMAGE,
                ),
            ),
            f'table.damage(depth="{self._depth}").to_polars()',
        )

    def to_polars(self) -> pl.DataFrame:
        """Return one row for each damaged file, those of the latest version first.

        Returns
        -------
        polars.DataFrame
            The columns of :data:`~lance_explorer.checks.damage.DAMAGE`.

        Examples
        --------
        >>> table.damage().to_polars().is_empty()
        True
        """
        every = sorted(self._damaged, key=lambda one: (-(one.versions or (0, 0))[1], one.path))
        return DAMAGE.build(
            {
                "path": [one.path for one in every],
                "kind": [one.kind for one in every],
                "problem": [one.problem for one in every],
                "first_version": [one.versions and one.versions[0] for one in every],
                "last_version": [one.versions and one.versions[1] for one in every],
                "fragment_id": [one.fragment for one in every],
                "columns": [[*one.columns] for one in every],
                "num_rows": [one.rows for one in every],
                "rows_elsewhere": [one.rows_elsewhere for one in every],
                "elsewhere": [one.elsewhere for one in every],
                "note": [one.note for one in every],
            }
        )


def damage(view: HistoryView, depth: Depth = "deep") -> Damage:
    """Return what is damaged: see :meth:`lance_explorer.table.Table.damage`."""
    return damage_of(survey(view), depth)


def damage_of(found: Survey, depth: Depth = "quick") -> Damage:
    """Return what is damaged of what a survey found."""
    view = found.view
    files = _broken_files(view, found, depth)
    named = [one for one in named_data_files(view) if one.file.path in files.data]
    own = {one.file.path for one in named}
    elsewhere = [inside.damaged(path) for path, inside in files.data.items() if path not in own]
    broken = _BrokenStates.of(view, named, files)
    of_data = _of_data(view, named, files, broken)
    damaged = [*of_data, *elsewhere, *files.others, *_manifests(view)]
    return Damage(view, depth, damaged, _newest_whole(view, broken) if damaged else None)


class _Inside(NamedTuple):
    """What is wrong with a data file, and in which columns and how many rows, if not in all."""

    problem: str
    columns: tuple[str, ...] = ()
    rows: int | None = None
    needed_by: str | None = None

    def damaged(self, path: str) -> _Damaged:
        """Return the line of a file that no kept version of the branch needs."""
        return _Damaged(path, "data", self.problem, None, note=f"{self.needed_by} needs it")


@dataclass(frozen=True, slots=True)
class _Files:
    """Damaged files: of data files by their names what is wrong with them; and all others."""

    data: dict[str, "_Inside"]
    others: list[_Damaged]


def _broken_files(view: HistoryView, found: Survey, depth: Depth) -> _Files:
    """Return the files that are missing, of another size, or damaged inside."""
    objects = owned_lazily(found).collect()
    objects = objects.with_columns(pl.col("status", "kind").cast(pl.String))
    data, others = dict[str, _Inside](), list[_Damaged]()
    for row in objects.filter(pl.col("status").is_in([*_BROKEN])).iter_rows(named=True):
        problem = _BROKEN[row["status"]]
        if row["kind"] == "data":
            name = row["path"].rpartition("data/")[2]
            data[name] = _Inside(problem, needed_by=row["needed_by"])
            continue
        first, last, fragment = row["first_version"], row["last_version"], None
        is_own = first is not None and row["branch"] == view.branch
        if row["kind"] == "deletion":
            name = row["path"].rpartition("/")[2].partition("-")[0]
            fragment = int(name) if name.isdecimal() else None
        others.append(
            _Damaged(
                row["path"],
                row["kind"],
                problem,
                (first, last) if is_own else None,
                fragment,
                note=_NOTES.get(row["kind"]) if is_own else f"{row['needed_by']} needs it",
            )
        )
    inside = list[Finding]()
    if depth != "quick":
        inside += data_file_findings(view)
    if depth == "values":
        inside += value_findings(view)
    for one in inside:
        if one.code in ("corrupt_data_file", "rows_contradict_file"):
            data.setdefault(one.subject.path, _Inside(one.statement))
        elif one.code == "unreadable_values":
            known = data.get(one.subject.path, _Inside("values cannot be read", (), 0))
            if known.rows is not None:
                columns, rows = (*known.columns, *one.columns), max(known.rows, one.rows or 0)
                data[one.subject.path] = _Inside("values cannot be read", columns, rows)
    return _Files(data, others)


_NOTES = {
    "transaction": "nothing is lost: the manifest has a copy of what matters",
    "deletion": "the rows are there, but which of them were deleted is not known",
    "index": "no row is lost: build the index anew",
    "reuse": "no row is lost: build indices anew that were not yet remapped",
}


@dataclass(frozen=True, slots=True)
class _BrokenStates:
    """Which states of fragments need a damaged file, and of which fields."""

    fields: dict[int, frozenset[int]]
    is_broken: np.ndarray

    @classmethod
    def of(
        cls, view: HistoryView, named: Sequence[NamedDataFile], files: _Files
    ) -> "_BrokenStates":
        history = readable_history(view.history)
        fields, is_broken = dict[int, frozenset[int]](), np.zeros(len(history.states), np.bool_)
        paths = {one.file.path for one in named}
        deletions = {one.path for one in files.others if one.kind == "deletion"}
        for number, fragment in enumerate(history.states) if paths or deletions else ():
            broken = [file for file in fragment.all_files if file.path in paths]
            of_fragment = fragment.deletion_file
            if of_fragment is not None and of_fragment.path(fragment.id) in deletions:
                is_broken[number] = True
            if broken:
                is_broken[number] = True
                fields[number] = frozenset([one for file in broken for one in file.fields])
        return cls(fields, is_broken)


def _of_data(
    view: HistoryView, named: Sequence[NamedDataFile], files: _Files, broken: _BrokenStates
) -> Iterator[_Damaged]:
    history, copies = readable_history(view.history), _Copies(view, broken)
    for one in sorted(named, key=lambda one: -one.versions[1]):
        problem, unreadable, count, _ = files.data[one.file.path]
        rows = int(history.live_rows[one.state])
        if count is not None:
            rows = min(rows, count)
        overlay = next((o for o in one.fragment.overlays if o.data_file == one.file), None)
        if overlay is not None:
            rows = min(rows, len(overlay.covered_offsets()))
        schema = history.records[history.position(one.versions[1])].schema
        columns = tuple(
            [f.name for f in schema if f.parent_id == NO_PARENT and f.id in one.file.fields]
        )
        found = _Damaged(
            one.file.path,
            "data",
            problem,
            one.versions,
            one.fragment.id,
            unreadable or columns,
            None if rows < 0 else rows,
            note="the values from before are in the files below it" if overlay else None,
        )
        yield found if overlay else copies.noted(one, found)


class _Copies:
    """Where the rows of damaged files stood in the version before the files, unchanged."""

    def __init__(self, view: HistoryView, broken: _BrokenStates) -> None:
        self._view = view
        self._broken = broken
        self._history = readable_history(view.history)
        self._moved = dict[int, ChangeRuns | str]()
        self._whole = dict[tuple[int, frozenset[int]], Uint64Array]()

    def noted(self, named: NamedDataFile, found: _Damaged) -> _Damaged:
        """Return a line with how many of the rows stand there."""
        history = self._history
        position = history.position(named.versions[0])
        is_new = history.records[position].operation in _WITH_NEW_ROWS
        if not position and not history.follows_previous[0]:
            return replace(found, note="no version from before it is kept")
        if not position or (is_new and history.follows_previous[position]):
            return replace(found, rows_elsewhere=0)
        runs = self._rows_moved(position)
        if isinstance(runs, str):
            return replace(found, note=f"where its rows stood before is not known: {runs}")
        runs = runs.where(fragments_of(runs.after) == np.uint64(named.fragment.id))
        whole = self._whole_fragments(position - 1, frozenset(named.file.fields))
        count = int(np.isin(fragments_of(runs.before), whole).sum())
        count = count if found.rows is None else min(count, found.rows)
        before = history.records[position - 1].version
        return replace(found, rows_elsewhere=count, elsewhere=before if count else None)

    def _rows_moved(self, position: int) -> ChangeRuns | str:
        """Return the rows that a commit moved, one run each, or why they are not known."""
        if position not in self._moved:
            if len(self._moved) >= _MOST_COMMITS:
                return f"only {_MOST_COMMITS} commits that wrote damaged files are looked at"
            ends = [self._history.records[at].version for at in (position - 1, position)]
            try:
                runs = VersionPair(*[BranchVersion(self._view, end) for end in ends]).runs
            except LanceExplorerError as error:
                self._moved[position] = str(error)
            else:
                moved = runs.only(RowEvent.MOVED)
                self._moved[position] = moved.where(~moved.is_uncertain).rows()
        return self._moved[position]

    def _whole_fragments(self, position: int, fields: frozenset[int]) -> Uint64Array:
        """Return the fragments of a version whose files with some fields are whole."""
        key = position, fields
        if key not in self._whole:
            broken, states = self._broken, self._history.states_at(position)
            whole = [
                state
                for state in states
                if not broken.fields.get(state, frozenset()) & fields
                and (state in broken.fields or not broken.is_broken[state])
            ]
            self._whole[key] = self._history.states.ids[whole]
        return self._whole[key]


def _manifests(view: HistoryView) -> Iterator[_Damaged]:
    """Yield manifests that cannot be read."""
    for one in filter(_is_damaged, view.history.unreadable):
        yield _Damaged(
            one.file.path,
            "manifest",
            str(one.error),
            (one.file.version, one.file.version),
            note="what only this version named is still there, but its files are not known",
        )


def _is_damaged(version: UnreadableVersion) -> bool:
    """Tell whether a manifest is damaged, and not one that only this package does not read."""
    return isinstance(version.error, CorruptFileError)


def _newest_whole(view: HistoryView, broken: _BrokenStates) -> _Back | None:
    """Return the newest version of which all files are whole."""
    history = readable_history(view.history)
    for position in range(len(history) - 1, -1, -1):
        if broken.is_broken[history.intervals.at(position)].any():
            continue
        version = history.records[position].version
        if position == len(history) - 1:
            return _Back(version, 0, 0, 0)
        ends = BranchVersion(view, version), BranchVersion(view, history.records[-1].version)
        try:
            runs = VersionPair(*ends).runs
        except LanceExplorerError:
            return _Back(version)
        inserted, updated, deleted = map(
            runs.count, (RowEvent.INSERTED, RowEvent.UPDATED, RowEvent.DELETED)
        )
        return _Back(version, inserted, updated, deleted)
    return None
