"""Blame: for each cell of some rows the commit that last changed it, and what it was before.

What happened to the rows is known from metadata; which of their cells that changed, their values
before and after tell. They are compared newest first, and a row is left alone as soon as all of its
cells are accounted for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.arguments import names, whole_number
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.format.schema import NO_PARENT, is_blob
from lance_explorer.frames.columns import (
    BRANCH,
    EVIDENCE,
    ID,
    MAYBE_KNOWN_FROM,
    TEXT,
    TIME,
    Column,
    FrameSchema,
)
from lance_explorer.frames.commit_facts import COMMIT_FACTS, facts_of_records
from lance_explorer.frames.common_types import common_type
from lance_explorer.frames.followed import EVENT
from lance_explorer.frames.known_from import known_from_branches
from lance_explorer.history.ancestors import Place
from lance_explorer.history.events.address_identities import identities_at
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.history.identity.version_positions import position_of
from lance_explorer.history.live import LiveTable
from lance_explorer.history.source import TableSource
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.lineage.ancestors import fork_of
from lance_explorer.lineage.cell_values import texts_of
from lance_explorer.lineage.event_frame import EventColumns
from lance_explorer.lineage.following import followed_events
from lance_explorer.lineage.values_before import BranchValues
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.shown import described

__all__ = ["BLAME", "DEFAULT_ROWS", "Blame", "blame"]

DEFAULT_ROWS = 10_000

BLAME = FrameSchema(
    "blame",
    (
        Column("_rowid", ID, "row ID; without stable row IDs, the row address"),
        Column("_rowaddr", ID, "row address in the version that is looked at"),
        Column("column", TEXT, "name of the column"),
        Column(
            "value", TEXT, "value of the cell as text; lists and structs as JSON", nullable=True
        ),
        Column(
            "before",
            TEXT,
            "value before the change; null if there was none, if it was null, or if it is lost",
            nullable=True,
        ),
        Column("is_new", pl.Boolean(), "whether the row or the column is new with the change"),
        BRANCH,
        Column("version", ID, "version that last changed the cell", nullable=True),
        Column("timestamp", TIME, "when it was committed", nullable=True),
        Column("event", EVENT, "what happened to the row, or the column, then", nullable=True),
        Column("operation", TEXT, "the commit's operation as Lance names it", nullable=True),
        *COMMIT_FACTS,
        Column(
            "is_uncertain",
            pl.Boolean(),
            "whether an earlier commit may have changed it: the values before are lost, or the row "
            "may be another one, updated",
        ),
        Column("evidence", EVIDENCE, "how the event is known", nullable=True),
        MAYBE_KNOWN_FROM,
    ),
)
"""The columns of ``Blame.to_polars()``."""

_Steps = list[tuple[str | None, StepFacts]]
_UNRESOLVED = -1
_NEVER = -2
"""No event of the row tells where a cell has its value from."""
_BORN = -3
"""The commit that made the column, which is younger than the row."""
_EVENTS = [event.label for event in RowEvent]
_EVIDENCE = [evidence.label for evidence in Evidence]
_COMMIT = {
    "branch": TEXT,
    "version": ID,
    "timestamp": TIME,
    "event": EVENT,
    "operation": TEXT,
    "evidence": EVIDENCE,
}


@dataclass(frozen=True, slots=True)
class _Question:
    where: str | None
    columns: tuple[str, ...]
    version: int
    whole_blobs: bool


@dataclass
class _Cells:
    """The cells of one column, and what is known of each.

    Attributes
    ----------
    values : polars.Series
        What they are.
    event : ndarray of int64
        The number of the event that last changed each; _UNRESOLVED, _NEVER.
    is_new, is_uncertain : ndarray of bool
        As in the frame.
    before : list
        Which cells had which values before, as text.
    """

    values: pl.Series
    event: NDArray[np.int64]
    is_new: NDArray[np.bool_]
    is_uncertain: NDArray[np.bool_]
    before: list[tuple[NDArray[np.int64], pl.Series]] = field(default_factory=list)

    @classmethod
    def of(cls, values: pl.Series) -> "_Cells":
        """Return cells of which nothing is known."""
        count = len(values)
        no = np.zeros(count, dtype=np.bool_)
        return cls(values, np.full(count, _UNRESOLVED, dtype=np.int64), no, no.copy())

    @property
    def is_open(self) -> NDArray[np.bool_]:
        """Which are not accounted for."""
        is_open: NDArray[np.bool_] = self.event == _UNRESOLVED
        return is_open

    def compare(
        self,
        rows: NDArray[np.int64],
        events: NDArray[np.int64],
        before: pl.Series | None,
        unsure: NDArray[np.bool_],
    ) -> None:
        """Account for the open cells of rows that had other values before an event.

        Parameters
        ----------
        rows, events : ndarray of int64
            The rows, and the number of the event of each.
        before : polars.Series or None
            Their values before; None if there was no such column.
        unsure : ndarray of bool
            For which rows another commit may have changed them.
        """
        is_open = self.is_open[rows]
        if before is None:
            changed = is_open & self.values.gather(rows).is_not_null().to_numpy()
            self.event[rows[changed]] = events[changed]
            self.is_new[rows[changed]] = True
            self.is_uncertain[rows[changed]] = unsure[changed]
            return
        now = self.values.gather(rows)
        kind = common_type(before.dtype, now.dtype)
        if kind is None:
            differ = np.ones(len(rows), dtype=np.bool_)
        else:
            both = [one.alias("").to_frame() for one in (before, now)]
            values = pl.concat(both, how="vertical_relaxed").to_series()
            differ = values.head(len(rows)).ne_missing(values.tail(len(rows))).to_numpy()
        changed = np.flatnonzero(is_open & differ)
        if len(changed):
            self.event[rows[changed]] = events[changed]
            self.is_uncertain[rows[changed]] = unsure[changed]
            self.before.append((rows[changed], texts_of(before.gather(changed))))

    def close(
        self, rows: NDArray[np.int64], events: NDArray[np.int64], uncertain: NDArray[np.bool_]
    ) -> None:
        """Account for all open cells of rows by an event before which nothing is known."""
        is_open = self.is_open[rows]
        self.event[rows[is_open]] = events[is_open]
        self.is_uncertain[rows[is_open]] |= uncertain[is_open]

    def texts_before(self) -> pl.Series:
        """Return what the cells were before, as text."""
        if not self.before:
            return pl.Series([None], dtype=TEXT).new_from_index(0, len(self.values))
        rows = np.concatenate([rows for rows, _ in self.before])
        texts = pl.concat([texts for _, texts in self.before])
        place = np.full(len(self.values), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        numbers = pl.Series(place).set(pl.Series(place < 0), None)
        return texts.gather(numbers.cast(pl.UInt32()))


def blame(
    source: TableSource,
    where: str | None = None,
    columns: str | Sequence[str] | None = None,
    version: int | None = None,
    limit: int = DEFAULT_ROWS,
) -> "Blame":
    """Return who changed each cell last: see :meth:`lance_explorer.table.Table.blame`."""
    number = source.latest_version if version is None else version
    limit = whole_number("limit", limit, least=1)
    wanted = None if columns is None else names("columns", columns)
    question = _question(source, where, wanted, number)
    frame, is_complete = _blamed(source, question, 0, limit)
    return Blame(source, question, frame, limit, is_complete=is_complete)


class Blame:
    """For each cell of some rows, which commit last changed it, and what it was before.

    Made by :meth:`~lance_explorer.table.Table.blame`.

    Attributes
    ----------
    is_complete : bool
        Whether these are all rows that match.
    """

    def __init__(
        self,
        source: TableSource,
        question: _Question,
        frame: pl.DataFrame,
        num_rows: int,
        *,
        is_complete: bool,
    ) -> None:
        self._source = source
        self._question = question
        self._frame = frame
        self._num_rows = num_rows
        self.is_complete = is_complete

    @property
    def num_rows(self) -> int:
        """How many rows were looked at."""
        return len(self._frame) // max(len(self._question.columns), 1)

    @property
    def sentence(self) -> str:
        """How many cells were looked at, and how many commits last changed any of them.

        Examples
        --------
        >>> table.blame("id = 3").sentence
        '3 cells of 1 row in version 7, last changed by 1 commit.'
        """
        rows, cells = self.num_rows, len(self._frame)
        commits = self._frame.select("branch", "version").n_unique()
        told = (
            f"{cells:,} cell{'' if cells == 1 else 's'} of {rows:,} row{'' if rows == 1 else 's'} "
            f"in version {self._question.version}, last changed by {commits:,} "
            f"commit{'' if commits == 1 else 's'}."
        )
        return told if self.is_complete else f"{told} There are more rows: go_on() looks at them."

    def to_polars(self) -> pl.DataFrame:
        """Return the cells, one row each: the rows in the order of a scan, then the columns.

        Returns
        -------
        polars.DataFrame
            The columns of :data:`~lance_explorer.lineage.blame.BLAME`.

        Examples
        --------
        >>> cells = table.blame("id = 3", columns=["id", "city"]).to_polars()
        >>> cells.select("column", "value", "version", "operation").rows()
        [('id', '3', 1, 'Overwrite'), ('city', 'city 0', 1, 'Overwrite')]
        """
        return self._frame

    def commits(self) -> pl.DataFrame:
        """Return the commits that last changed any cell, newest first, one row each.

        Returns
        -------
        polars.DataFrame
            ``branch``, ``version``, ``timestamp``, ``operation``, ``predicate``, ``message``,
            ``author``, ``job`` and ``run`` as in :meth:`to_polars`; ``num_cells``, how many cells;
            ``columns``, of which columns.

        Examples
        --------
        >>> table.blame("id < 4").commits().select("version", "num_cells").rows()
        [(1, 6)]
        """
        facts = [column.name for column in COMMIT_FACTS if column.name != "properties"]
        keys = ["branch", "version", "timestamp", "operation", *facts]
        found = self._frame.group_by(keys).agg(
            num_cells=pl.len().cast(pl.Int64), columns=pl.col("column").unique().sort()
        )
        return found.sort("timestamp", "version", descending=True, nulls_last=True)

    def go_on(self, limit: int = DEFAULT_ROWS) -> "Blame":
        """Look at more rows, and return all that was found until then.

        Parameters
        ----------
        limit : int, default 10000
            How many rows more.

        Examples
        --------
        >>> part = table.blame(limit=2)
        >>> part.num_rows, part.go_on().num_rows
        (2, 9)
        """
        limit = whole_number("limit", limit, least=1)
        if self.is_complete:
            return self
        frame, is_complete = LiveTable(self._source).answer(
            lambda source: _blamed(source, self._question, self._num_rows, limit)
        )
        return Blame(
            self._source,
            self._question,
            pl.concat([self._frame, frame]),
            self._num_rows + limit,
            is_complete=is_complete,
        )

    @described
    def __repr__(self) -> str:
        return f"Blame({self.sentence})"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.sentence)}</p>{self._frame._repr_html_()}"


def _question(
    source: TableSource, where: str | None, columns: Sequence[str] | None, version: int
) -> _Question:
    history, position = source.found(version)
    schema = history.records[position].schema
    tops = {field.name: field for field in schema if field.parent_id == NO_PARENT}
    if columns is None:
        told = tuple([name for name, one in tops.items() if not is_blob(one)])
        return _Question(where, told, version, whole_blobs=False)
    for name in columns:
        if name not in tops:
            raise InvalidArgumentError(
                f"version {version} has no column {name!r}; there are: {', '.join(tops)}"
            )
    return _Question(where, tuple(dict.fromkeys(columns)), version, whole_blobs=True)


def _blamed(
    source: TableSource, question: _Question, offset: int, limit: int
) -> tuple[pl.DataFrame, bool]:
    """Return the cells of some of the rows, and whether these are the last ones."""
    rows = state_rows(source)
    position = position_of(rows, question.version)
    found = _matching(source, question, offset, limit + 1)
    is_complete = len(found) <= limit
    found = found.head(limit)
    addresses = found["_rowaddr"].to_numpy()
    row_ids = found["_rowid"].to_numpy()
    identities, live = identities_at(rows, position, addresses)
    cells = _current(source, question, addresses, row_ids)
    parts, steps = followed_events(rows, identities, live, range(position + 1))
    events = _newest_first(EventColumns.concatenated(parts))
    search = _Search(Place(source, question.version), question, steps, events, row_ids, cells)
    search.run()
    return _framed(search, found), is_complete


def _matching(source: TableSource, question: _Question, offset: int, limit: int) -> pl.DataFrame:
    """Return row IDs and addresses of rows that match."""
    from lance_explorer.values import read_rows

    check_values(source, question.version)
    return read_rows(
        value_root(source, question.version),
        question.version,
        ["_rowid", "_rowaddr"],
        question.where,
        limit,
        offset,
        source.storage.options,
    )


def _current(
    source: TableSource, question: _Question, addresses: Uint64Array, row_ids: Uint64Array
) -> dict[str, _Cells]:
    """Return the cells as they are."""
    from lance_explorer.values import read_rows_at

    if not len(addresses):
        return {name: _Cells.of(pl.Series([], dtype=pl.Null)) for name in question.columns}
    values = read_rows_at(
        value_root(source, question.version),
        question.version,
        addresses,
        row_ids,
        question.columns,
        source.storage.options,
        check_values(source, question.version),
        whole_blobs=question.whole_blobs,
    )
    return {name: _Cells.of(values[name]) for name in question.columns}


def _newest_first(events: EventColumns) -> EventColumns:
    """Return what can have changed values, the events of each row together, newest first."""
    events = events.where((events.event != RowEvent.MOVED) | events.is_uncertain)
    number = np.arange(len(events))
    versions = events.version.astype(np.int64)
    return events.where(np.lexsort((-number, -versions, -events.step, events.row)))


@dataclass
class _Search:
    """The events of rows, newest first, and what they account for.

    Attributes
    ----------
    now : Place
        The version that is looked at.
    question : _Question
        What is asked for.
    steps : list
        The versions of the events, each with its branch.
    events : EventColumns
        The events.
    row_ids : ndarray of uint64
        The rows.
    cells : dict of str to _Cells
        The cells of each column.
    born : dict of str to int
        The positions at which columns began to exist, where that is on the branch.
    """

    now: Place
    question: _Question
    steps: _Steps
    events: EventColumns
    row_ids: Uint64Array
    cells: dict[str, _Cells]
    born: dict[str, int] = field(default_factory=dict)
    _values: dict[str | None, BranchValues] = field(default_factory=dict)

    @cached_property
    def commit_of(self) -> NDArray[np.int64]:
        """For each event the number of the first one of the same commit and kind."""
        events = self.events
        if not len(events):
            return np.zeros(1, dtype=np.int64)
        keys = [events.step, events.version.astype(np.int64), events.event, events.evidence]
        told = pl.DataFrame({str(n): key for n, key in enumerate(keys)}).with_row_index("number")
        first = pl.col("number").first().over([str(n) for n in range(len(keys))])
        return told.select(first.cast(pl.Int64())).to_series().to_numpy()

    def run(self) -> None:
        """Account for all cells."""
        counts = np.bincount(self.events.row, minlength=len(self.row_ids))
        begins = np.cumsum(counts) - counts
        before = [self._before(branch, step) for branch, step in self.steps]
        names = [*dict.fromkeys([branch for branch, _ in before])]
        places = {
            branch: np.array([p if b == branch else -1 for b, p in before], dtype=np.int64)
            for branch in names
        }
        follows = np.array([step.follows for _, step in self.steps], dtype=np.bool_)
        active, number = np.arange(len(self.row_ids)), 0
        while len(active := self._still_open(active)):
            ended = active[counts[active] <= number]
            for cells in self.cells.values():
                cells.close(ended, np.full(len(ended), _NEVER), np.ones(len(ended), dtype=np.bool_))
            active = active[counts[active] > number]
            self._look(active, begins[active] + number, places, follows)
            number += 1
        self._find_births()

    def _before(self, branch: str | None, step: StepFacts) -> tuple[str | None, int]:
        """Return the version before a step: its branch and position, -1 if there is none."""
        if step.position:
            return branch, step.position - 1
        fork = fork_of(self.now.source.on_branch(branch))
        return (branch, -1) if fork is None else (fork.parent.source.branch, fork.position)

    def _still_open(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        is_open = np.zeros(len(rows), dtype=np.bool_)
        for cells in self.cells.values():
            is_open |= cells.is_open[rows]
        return rows[is_open]

    def _look(
        self,
        rows: NDArray[np.int64],
        events: NDArray[np.int64],
        places: Mapping[str | None, NDArray[np.int64]],
        follows: NDArray[np.bool_],
    ) -> None:
        """Account for what one event of each row did.

        Parameters
        ----------
        rows, events : ndarray of int64
            The rows, and the number of the event of each.
        places : mapping of str or None to ndarray of int64
            For each branch and each step the position of the version before it there, or -1.
        follows : ndarray of bool
            For each step whether no version is missing before it.
        """
        some = self.events.where(events)
        is_lost = some.evidence == Evidence.LOST
        begins = some.before == NO_ADDRESS
        starts = begins & np.isin(some.event, [RowEvent.CREATED, RowEvent.RESTORED])
        for cells in self.cells.values():
            cells.is_new[rows[starts & cells.is_open[rows]]] = True
            unsure = some.is_uncertain | is_lost | ~starts
            cells.close(rows[begins], events[begins], unsure[begins])
        unsure = is_lost | ~follows[some.step]
        adds = ~begins & (some.event == RowEvent.COLUMN_ADDED) & ~some.is_uncertain & ~unsure
        known = begins | adds
        for branch, positions in places.items():
            here = positions[some.step] >= 0
            for step in np.unique(some.step[adds & here]).tolist():
                mine = np.flatnonzero(adds & (some.step == step))
                there = self._values_of(branch).names_at(int(positions[step]))
                for name in self.cells.keys() - there.keys():
                    self.cells[name].compare(rows[mine], events[mine], None, unsure[mine])
            chosen = np.flatnonzero(here & ~begins & ~adds)
            if not len(chosen):
                continue
            found = self._values_of(branch).read(
                positions[some.step[chosen]], some.before[chosen], self.row_ids[rows[chosen]]
            )
            for part in found:
                mine = chosen[part.rows]
                known[mine] = True
                for name, cells in self.cells.items():
                    before = part.values[name] if name in part.values.columns else None
                    cells.compare(rows[mine], events[mine], before, unsure[mine])
        for cells in self.cells.values():
            none = np.ones(len(rows) - int(known.sum()), dtype=np.bool_)
            cells.close(rows[~known], events[~known], none)

    def _values_of(self, branch: str | None) -> BranchValues:
        if branch not in self._values:
            self._values[branch] = BranchValues(
                state_rows(self.now.source.on_branch(branch)),
                self.now,
                self.question.columns,
                self.question.whole_blobs,
            )
        return self._values[branch]

    def _find_births(self) -> None:
        """Note which columns are younger than the events that account for their cells."""
        values = self._values_of(self.now.source.branch)
        position = values.rows.history.position(self.now.version)
        for name, cells in self.cells.items():
            born = position
            while born and name in values.names_at(born - 1):
                born -= 1
            if not born:
                continue
            self.born[name] = born
            own = np.array(
                [
                    branch == self.now.source.branch and step.position >= born
                    for branch, step in self.steps
                ]
                + [False],
                dtype=np.bool_,
            )
            is_known = cells.event >= 0
            steps = self.events.step[cells.event[is_known]]
            older = np.flatnonzero(is_known)[~own[steps]]
            cells.event[older] = _BORN
            cells.is_new[older] = True
            cells.is_uncertain[older] = not values.rows.history.follows_previous[born]


def _framed(search: _Search, found: pl.DataFrame) -> pl.DataFrame:
    """Return the cells as a frame, all of a row together."""
    source = search.now.source
    columns, count = search.question.columns, len(found)
    parts = [_of_column(search, name, found) for name in columns]
    if not count or not parts:
        return BLAME.build(pl.DataFrame(schema=BLAME.polars_schema).to_dict())
    order = np.arange(count * len(parts)).reshape(len(parts), count).T.ravel()
    frame = pl.concat(parts)[order]
    known = known_from_branches(source, frame["branch"], frame["version"])
    return BLAME.build(frame.with_columns(known_from=known).to_dict())


def _of_column(search: _Search, name: str, found: pl.DataFrame) -> pl.DataFrame:
    """Return the cells of one column."""
    cells = search.cells[name]
    told = np.where(cells.event >= 0, search.commit_of[np.maximum(cells.event, 0)], cells.event)
    numbers, place = np.unique(told, return_inverse=True)
    commits = _commits(search, name, numbers)[place]
    return pl.DataFrame(
        [
            found["_rowid"],
            found["_rowaddr"],
            pl.Series("column", [name], dtype=TEXT).new_from_index(0, len(found)),
            texts_of(cells.values).alias("value"),
            cells.texts_before().alias("before"),
            pl.Series("is_new", cells.is_new),
            *commits.drop("evidence"),
            pl.Series("is_uncertain", cells.is_uncertain),
            commits["evidence"],
        ]
    )


def _commits(search: _Search, name: str, numbers: NDArray[np.int64]) -> pl.DataFrame:
    """Return what is said of some commits, one line each; of each the number of an event of it."""
    source = search.now.source
    lines, records = list[dict[str, object]](), list[tuple[TableSource, VersionRecord | None]]()
    for number in numbers.tolist():
        line: dict[str, object] = dict.fromkeys(_COMMIT)
        record: VersionRecord | None = None
        branch: str | None = source.branch
        if number == _BORN:
            history = state_rows(source).history
            record = history.records[search.born[name]]
            line |= {"version": record.version, "event": RowEvent.COLUMN_ADDED.label}
            line |= {"evidence": Evidence.RECORDED.label}
        elif number >= 0:
            branch, step = search.steps[int(search.events.step[number])]
            version = int(search.events.version[number])
            record = step.after if version == step.version else None
            line |= {"version": version, "event": _EVENTS[int(search.events.event[number])]}
            line |= {"evidence": _EVIDENCE[int(search.events.evidence[number])]}
        line["branch"] = branch
        if record is not None:
            line |= {"timestamp": record.manifest.timestamp, "operation": record.operation}
        lines.append(line)
        records.append((source.on_branch(branch), record))
    facts = facts_of_records(records)
    told = pl.DataFrame(lines, schema=_COMMIT, orient="row")
    said = pl.DataFrame(facts, schema=dict.fromkeys(facts, TEXT))
    return told.drop("evidence").hstack(said).hstack([told["evidence"]])
