"""The damage of a table, judged as a whole: what is lost, and where else the rows are.

A missing file does not mean missing rows: a compaction leaves the replaced files until they are
cleaned up, and the values below an overlay are the earlier ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.answers import Answer, Answering, Ask, Section, lines
from lance_explorer.answers.calls import literal
from lance_explorer.changes.version_pair import VersionPair
from lance_explorer.checks.copies import Copies, Fate
from lance_explorer.checks.data_file_checks import data_file_findings
from lance_explorer.checks.deletion_checks import deletion_findings
from lance_explorer.checks.depths import Depth
from lance_explorer.checks.value_checks import UnreadableValues, value_findings
from lance_explorer.disk.named_data_files import NamedDataFile, named_data_files
from lance_explorer.disk.owners import owned_lazily
from lance_explorer.disk.survey import Survey, survey
from lance_explorer.errors import CorruptFileError, LanceExplorerError
from lance_explorer.findings import Finding, Remedy
from lance_explorer.format.mem_wal import MEM_WAL_FOLDER
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.frames.columns import COUNT, ID, TEXT, Column, FrameSchema
from lance_explorer.frames.sizes import counted
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.deletion_files import load_deleted
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.history import UnreadableVersion
from lance_explorer.history.readable import readable_history
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.mem_wal import missing_log_tables
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["DAMAGE", "MENDED", "RECOVER", "Damage", "DamagedFile", "damage", "damage_of"]

DAMAGE = FrameSchema(
    "damage",
    (
        Column("path", TEXT, "the file, below the root of the table or its base path"),
        Column("kind", TEXT, "its purpose, as in `inspect.storage()`"),
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
        Column("elsewhere", pl.List(ID), "versions that have these rows in whole files"),
        Column("note", TEXT, "what else is known of it", nullable=True),
    ),
)
"""The columns of ``Damage.to_polars()``."""

RECOVER = Ask("Recover", "recover")
"""The question for a plan that repairs the table."""

MENDED = frozenset(
    {
        "missing_files",
        "files_of_wrong_size",
        "corrupt_data_file",
        "deletion_file_contradicts",
        "rows_unreadable",
        "unreadable_manifest",
        "index_unreadable",
        "index_misses_rows",
        "index_of_other_values",
        "index_has_other_values",
        "index_names_no_rows",
    }
)
"""The findings that such a plan repairs, if they concern the latest version."""

_BROKEN = {"missing": "missing", "wrong_size": "of another size than is named"}
_ROW_KINDS = ("data", "deletion")
_LOG_KIND = "mem_wal"

NO_ROWS: Uint64Array = np.empty(0, dtype=np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class DamagedFile:
    """A damaged file: a line of the frame; the rows that need it, by address, and their fate."""

    path: str
    kind: str
    problem: str
    versions: tuple[int, int] | None
    fragment: int | None = None
    columns: tuple[str, ...] = ()
    rows: Uint64Array | None = None
    fate: Fate | None = None
    note: str | None = None

    @property
    def lost(self) -> Uint64Array:
        """The rows with cells that exist nowhere else."""
        return NO_ROWS if self.fate is None or self.rows is None else self.rows[self.fate.is_lost]

    @property
    def open(self) -> Uint64Array:
        """The rows whose cells may exist elsewhere: it is unknown."""
        rows = NO_ROWS if self.rows is None else self.rows
        return rows if self.fate is None else rows[self.fate.is_open & ~self.fate.is_lost]

    @property
    def num_elsewhere(self) -> int | None:
        """How many rows exist elsewhere; None if that is not known for all."""
        if self.rows is None or len(self.open):
            return None
        return len(self.rows) - len(self.lost)

    @property
    def versions_elsewhere(self) -> list[int]:
        """The versions that contain the cells of these rows in whole files."""
        return sorted(self.fate.versions) if self.fate and self.num_elsewhere else []


_COSTS = {
    RowEvent.INSERTED: "{} inserted since are lost",
    RowEvent.UPDATED: "{} updated since get the values from before",
    RowEvent.COLUMN_REWRITTEN: "{} get the values of columns from before",
    RowEvent.COLUMN_ADDED: "{} lose columns that were added since",
    RowEvent.DELETED: "{} deleted since come back",
}


@dataclass(frozen=True, slots=True)
class Back:
    """The newest whole version, and how many rows change by going back to it; None if unknown."""

    version: int
    costs: Mapping[RowEvent, int] | None = None

    @property
    def loses_nothing(self) -> bool:
        """Whether going back to it is known to change no row."""
        return self.costs == {}

    @property
    def words(self) -> str:
        """Both in a sentence."""
        begin = f"The newest whole version is {self.version}"
        if self.costs is None:
            return f"{begin}; what going back to it loses is not known."
        costs = [_COSTS[event].format(counted(n, "row")) for event, n in self.costs.items()]
        return f"{begin}; going back to it " + (
            f"changes rows: {', '.join(costs)}." if costs else "loses no row."
        )


class Damage(Answering):
    """The damage of a table, what is lost by it, and where else its rows are.

    Made by :meth:`~lance_explorer.table.Table.damage`; true if anything is damaged.

    Attributes
    ----------
    files : sequence of DamagedFile
        The damaged files.
    copies : Copies
        Where their rows also are.
    back : Back or None
        The newest whole version, and what going back to it changes.
    unreadable : list of VersionFile
        Manifests after the latest version that can be read.
    whole_version : int or None
        The newest version of the branch whose files are all whole, as far as was looked.
    num_lost : int
        Rows of the latest version with cells in damaged files that stand nowhere else in this
        branch.
    num_open : int
        Rows of the latest version with cells in damaged files of which that is not known.
    """

    def __init__(
        self,
        view: HistoryView,
        depth: Depth,
        damaged: Sequence[DamagedFile],
        copies: Copies,
    ) -> None:
        self._uri = view.uri
        self._depth = depth
        self.files = damaged
        self.copies = copies
        back = _newest_whole(view, copies.is_broken) if damaged else None
        records = view.history.records
        self._latest = records[-1].version if records else None
        self.unreadable = [
            one.file
            for one in view.history.unreadable
            if _is_damaged(one) and (self._latest is None or one.file.version > self._latest)
        ]
        self._num_versions = len(view.history)
        self.back = back
        self.whole_version = (back and back.version) if damaged else self._latest
        self._lost = _union([one.lost for one in self.now])
        self.num_lost = len(self._lost)
        self.num_open = len(np.setdiff1d(_union([one.open for one in self.now]), self._lost))

    def __bool__(self) -> bool:
        return bool(self.files)

    @property
    def now(self) -> list[DamagedFile]:
        """What the latest version needs of rows."""
        return [
            one
            for one in self.files
            if one.kind in _ROW_KINDS and one.versions and one.versions[1] == self._latest
        ]

    @property
    def consequence(self) -> str:
        """What the latest version lost, in sentences."""
        if self.unreadable:
            return (
                f"The manifest of the latest version, {self.unreadable[-1].version}, cannot be "
                "read: pylance does not open the table, and what that commit did is not known."
            )
        if not self.now:
            return "The latest version needs none of them for its rows."
        rows = len(_union([one.rows for one in self.now if one.rows is not None]))
        sentences = (
            f"Cells of {counted(rows, 'row')} of the latest version are in them." if rows else ""
        )
        unknown = {one.fragment for one in self.now if one.kind == "deletion"}
        if unknown:
            sentences = (
                f"{sentences} Which rows of {counted(len(unknown), 'fragment')} of the latest "
                "version were deleted is unknown, and pylance does not read these."
            ).strip()
        if self.num_open:
            sentences += f" Where else cells of {counted(self.num_open, 'row')} stand is not known."
        uncounted = sum([one.kind == "data" and one.rows is None for one in self.now])
        if uncounted:
            sentences += f" How many rows need {counted(uncounted, 'file')} is not known."
        if self.num_lost:
            return (
                f"{sentences} Of {counted(self.num_lost, 'row')} no kept version of this branch "
                "has all of them in whole files: cells are lost, unless another branch, a clone "
                "or a backup has them."
            )
        places = sorted({version for one in self.now for version in one.versions_elsewhere})
        if not places or self.num_open or uncounted:
            return sentences.strip()
        where = f"version{'' if len(places) == 1 else 's'} {', '.join(map(str, places))}"
        verb = "has" if len(places) == 1 else "have"
        return f"{sentences} None is lost: {where} of this table {verb} all of them in whole files."

    @property
    def remedy(self) -> Remedy:
        """What to do."""
        back = self.back
        backup = "Restore the files from a backup"
        if self.unreadable and self._latest is not None:
            files = ", ".join([file.path for file in self.unreadable])
            whole = ", which is whole," if back and back.version == self._latest else ""
            return Remedy(
                f"{backup}, or move {files} out of the table, and keep a copy: then version "
                f"{self._latest}{whole} is the latest."
            )
        if self._latest is None and self.unreadable:
            left = f"lx.salvage({literal(self._uri)})"
            return Remedy(f"{backup}. What is left can be copied: `{left}`.")
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
        if not self.files:
            return f"No damaged file was found in {counted(self._num_versions, 'version')}."
        verb = "is" if len(self.files) == 1 else "are"
        log = [one.note for one in self.files if one.kind == _LOG_KIND and one.note]
        begin = f"{counted(len(self.files), 'file')} {verb} damaged."
        return " ".join([begin, self.consequence, *log])

    @property
    def answer(self) -> Answer:
        """The files, the newest whole version, and what is lost by going back to it."""
        frame = self.to_polars()
        looked = {
            "quick": "Only the sizes of files were checked, not their content.",
            "deep": "Sizes and ends of files were checked, not the values in them.",
            "values": "Every column of every data file was read.",
        }[self._depth]
        plan = "A plan repairs what it can, and says what is lost: `table.plan_recovery()`."
        notes = [self.remedy.words, plan, looked] if self.files else [looked]
        return Answer(
            self.sentence,
            (
                Section("notes", "", lines(notes)),
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
            asks=(RECOVER,) if self.files else (),
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
        every = sorted(self.files, key=lambda one: (-(one.versions or (0, 0))[1], one.path))
        return DAMAGE.build(
            {
                "path": [one.path for one in every],
                "kind": [one.kind for one in every],
                "problem": [one.problem for one in every],
                "first_version": [one.versions and one.versions[0] for one in every],
                "last_version": [one.versions and one.versions[1] for one in every],
                "fragment_id": [one.fragment for one in every],
                "columns": [[*one.columns] for one in every],
                "num_rows": [None if one.rows is None else len(one.rows) for one in every],
                "rows_elsewhere": [one.num_elsewhere for one in every],
                "elsewhere": [one.versions_elsewhere for one in every],
                "note": [one.note for one in every],
            }
        )


def damage(view: HistoryView, depth: Depth = "deep") -> Damage:
    """Return what is damaged: see :meth:`lance_explorer.table.Table.damage`."""
    return damage_of(survey(view), depth)


def damage_of(surveyed: Survey, depth: Depth = "quick") -> Damage:
    """Return the damage that a survey found."""
    view = surveyed.view
    files = _broken_files(view, surveyed, depth)
    named = [one for one in named_data_files(view) if one.file.path in files.data]
    own = {one.file.path for one in named}
    elsewhere = [inside.damaged(path) for path, inside in files.data.items() if path not in own]
    deletions = [one.path for one in files.others if one.kind == "deletion"]
    copies = Copies(view, named, deletions)
    damaged = [*_of_data(view, named, files, copies), *elsewhere, *files.others]
    damaged += [*_of_log(view), *_manifests(view)]
    return Damage(view, depth, damaged, copies)


_Part = tuple[int, int, bool]
"""The range of rows, and whether only live rows are counted."""


class _Inside(NamedTuple):
    """The damage of a data file, and the columns and rows concerned, if not all."""

    problem: str
    columns: tuple[str, ...] = ()
    parts: tuple[_Part, ...] | None = None
    needed_by: str | None = None

    def damaged(self, path: str) -> DamagedFile:
        """Return the line of a file that no kept version of the branch needs."""
        return DamagedFile(path, "data", self.problem, None, note=f"{self.needed_by} needs it")


@dataclass(frozen=True, slots=True)
class _Files:
    """Damaged files: the damage of data files by name; and all others."""

    data: dict[str, "_Inside"]
    others: list[DamagedFile]


def _broken_files(view: HistoryView, surveyed: Survey, depth: Depth) -> _Files:
    """Return the files that are missing, have another size, or are damaged inside."""
    objects = owned_lazily(surveyed).collect()
    objects = objects.with_columns(pl.col("status", "kind").cast(pl.String))
    data, others = dict[str, _Inside](), list[DamagedFile]()
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
            DamagedFile(
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
        paths = {one.path for one in others}
        others += [one for one in _wrong_deletions(view) if one.path not in paths]
        inside += data_file_findings(view)
    if depth == "values":
        inside += value_findings(view)
    for one in inside:
        if one.code in ("corrupt_data_file", "rows_contradict_file"):
            data.setdefault(one.subject.path, _Inside(one.statement))
        elif one.code == "data_file_changed":
            data.setdefault(one.subject.path, _Inside("its bytes changed", one.columns))
        elif isinstance(one, UnreadableValues):
            known = data.get(one.subject.path, _Inside("values cannot be read", (), ()))
            if known.parts is not None:
                parts = [(begin, end, one.counts_live) for begin, end in one.parts]
                data[one.subject.path] = known._replace(
                    columns=(*known.columns, *one.columns), parts=(*known.parts, *parts)
                )
    return _Files(data, others)


def _wrong_deletions(view: HistoryView) -> Iterator[DamagedFile]:
    """Yield the deletion files that cannot be read, or contradict their manifest."""
    for one in deletion_findings(view, is_deep=True):
        if one.code == "deletion_file_contradicts":
            problem = one.statement.partition(": ")[2]
            note, fragment = _NOTES["deletion"], int(one.subject.name)
            yield DamagedFile(
                one.subject.path, "deletion", problem, one.versions, fragment, note=note
            )


_NOTES = {
    "transaction": "nothing is lost: the manifest has a copy of what matters",
    "deletion": "the rows are there, but which of them were deleted is not known",
    "index": "no row is lost: build the index again",
    "reuse": "no row is lost: build the indices again that were not remapped yet",
}


def _of_data(
    view: HistoryView, named: Sequence[NamedDataFile], files: _Files, copies: Copies
) -> Iterator[DamagedFile]:
    """Yield the damaged data files that kept versions of the branch need, the latest first."""
    history = readable_history(view.history)
    for one in sorted(named, key=lambda one: -one.versions[1]):
        inside = files.data[one.file.path]
        schema = history.records[history.position(one.versions[1])].schema
        columns = tuple(
            [f.name for f in schema if f.parent_id == NO_PARENT and f.id in one.file.fields]
        )
        rows = _rows_in(view, one, inside.parts)
        is_latest = one.versions[1] == history.records[-1].version
        yield DamagedFile(
            one.file.path,
            "data",
            inside.problem,
            one.versions,
            one.fragment.id,
            inside.columns or columns,
            rows,
            None if rows is None or not is_latest or one.is_overlay else copies.fate(one, rows),
            "the values from before are in the files below it" if one.is_overlay else None,
        )


def _rows_in(
    view: HistoryView, named: NamedDataFile, parts: Sequence[_Part] | None
) -> Uint64Array | None:
    """Return the addresses of live rows that need a file, or parts of it; None: not known."""
    fragment = named.fragment
    if fragment.physical_rows is None:
        return None
    try:
        deleted = load_deleted(fragment, named.bases, view.storage)
    except LanceExplorerError:
        return None
    places = np.array(deleted, dtype=np.int64)
    if (places >= fragment.physical_rows).any():  # it contradicts the manifest
        return None
    is_live = np.ones(fragment.physical_rows, dtype=np.bool_)
    is_live[places] = False
    offsets = np.flatnonzero(is_live)
    if parts is not None:
        live = np.arange(len(offsets))
        chosen = [
            ((live if counts_live else offsets) >= begin)
            & ((live if counts_live else offsets) < end)
            for begin, end, counts_live in parts
        ]
        offsets = offsets[np.logical_or.reduce(chosen)]
    for overlay in fragment.overlays:
        if overlay.data_file == named.file:
            offsets = np.intersect1d(offsets, np.array(overlay.covered_offsets(), dtype=np.int64))
    return (np.uint64(fragment.id) << np.uint64(32)) | offsets.astype(np.uint64)


def _union(several: Sequence[Uint64Array]) -> Uint64Array:
    return np.unique(np.concatenate([NO_ROWS, *several]))


def _of_log(view: HistoryView) -> Iterator[DamagedFile]:
    """Yield the damage of the write-ahead log, if its rows were not merged."""
    if not view.history.records:
        return
    try:
        for one in missing_log_tables(view, view.version(view.latest_version)):
            note = f"{counted(one.rows or 0, 'row')} of the write-ahead log were not merged. "
            note += f"{one.consequence} {one.remedy.words if one.remedy else ''}".rstrip()
            yield DamagedFile(one.subject.path, _LOG_KIND, "missing", one.versions, note=note)
    except CorruptFileError as error:
        note = "Which rows of the write-ahead log were not merged is not known."
        yield DamagedFile(error.path or MEM_WAL_FOLDER, _LOG_KIND, str(error), None, note=note)


def _manifests(view: HistoryView) -> Iterator[DamagedFile]:
    """Yield manifests that cannot be read."""
    for one in filter(_is_damaged, view.history.unreadable):
        yield DamagedFile(
            one.file.path,
            "manifest",
            str(one.error),
            (one.file.version, one.file.version),
            note="what only this version named is still there, but its files are not known",
        )


def _is_damaged(version: UnreadableVersion) -> bool:
    """Tell whether a manifest is damaged, and not only unknown to this package."""
    return isinstance(version.error, CorruptFileError)


def _newest_whole(view: HistoryView, is_broken: NDArray[np.bool_]) -> Back | None:
    """Return the newest version whose files are all whole, given the damaged states."""
    history = readable_history(view.history)
    for position in range(len(history) - 1, -1, -1):
        if is_broken[history.intervals.at(position)].any():
            continue
        version = history.records[position].version
        if position == len(history) - 1:
            return Back(version, {})
        ends = BranchVersion(view, version), BranchVersion(view, history.records[-1].version)
        try:
            runs = VersionPair(*ends).runs
        except LanceExplorerError:
            return Back(version)
        if runs.is_uncertain.any() or (runs.change == RowEvent.LOST).any():
            return Back(version)
        return Back(version, {event: count for event in _COSTS if (count := runs.count(event))})
    return None
