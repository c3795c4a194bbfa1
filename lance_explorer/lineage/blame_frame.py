"""The frame of cells: the commit that last changed each, and the earlier value."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.cells.text import cells_of
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
from lance_explorer.frames.followed import EVENT
from lance_explorer.frames.known_from import known_from_branches
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.cell_search import BORN, CellSearch

__all__ = ["BLAME", "blame_frame"]

BLAME = FrameSchema(
    "blame",
    (
        Column("_rowid", ID, "row ID; without stable row IDs, the row address"),
        Column("_rowaddr", ID, "row address in the examined version"),
        Column("column", TEXT, "name of the column"),
        Column(
            "value",
            TEXT,
            "value of the cell as text; long binary is cut, and ends in a digest",
            nullable=True,
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


def blame_frame(search: CellSearch, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the cells as a frame, all of a row together."""
    view = search.now.view
    columns, count = search.question.columns, len(rows)
    parts = [_of_column(search, name, rows) for name in columns]
    if not count or not parts:
        return BLAME.build(pl.DataFrame(schema=BLAME.polars_schema).to_dict())
    order = np.arange(count * len(parts)).reshape(len(parts), count).T.ravel()
    frame = pl.concat(parts)[order]
    known = known_from_branches(view, frame["branch"], frame["version"])
    return BLAME.build(frame.with_columns(known_from=known).to_dict())


def _of_column(search: CellSearch, name: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the cells of one column."""
    cells = search.cells[name]
    commit_numbers = np.where(
        cells.event >= 0, search.commit_of[np.maximum(cells.event, 0)], cells.event
    )
    numbers, place = np.unique(commit_numbers, return_inverse=True)
    commits = _commits(search, name, numbers)[place]
    return pl.DataFrame(
        [
            rows["_rowid"],
            rows["_rowaddr"],
            pl.Series("column", [name], dtype=TEXT).new_from_index(0, len(rows)),
            cells_of(cells.values).alias("value"),
            cells.texts_before().alias("before"),
            pl.Series("is_new", cells.is_new),
            *commits.drop("evidence"),
            pl.Series("is_uncertain", cells.is_uncertain),
            commits["evidence"],
        ]
    )


def _commits(search: CellSearch, name: str, numbers: NDArray[np.int64]) -> pl.DataFrame:
    """Return the facts of some commits, one line each, with the number of one of its events."""
    view = search.now.view
    lines, records = list[dict[str, object]](), list[tuple[HistoryView, VersionRecord | None]]()
    for number in numbers.tolist():
        line: dict[str, object] = dict.fromkeys(_COMMIT)
        record: VersionRecord | None = None
        branch: str | None = view.branch
        if number == BORN:
            branch, position, _ = search.born[name]
            record = state_rows(view.on_branch(branch)).history.records[position]
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
        records.append((view.on_branch(branch), record))
    facts = facts_of_records(records)
    frame = pl.DataFrame(lines, schema=_COMMIT, orient="row")
    said = pl.DataFrame(facts, schema=dict.fromkeys(facts, TEXT))
    return frame.drop("evidence").hstack(said).hstack([frame["evidence"]])
