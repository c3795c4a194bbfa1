"""What merging a branch would change, for a review."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from propcache.api import cached_property

from lance_explorer.answers import Section, lines
from lance_explorer.answers.calls import call
from lance_explorer.changes.changed_cells import changed_values
from lance_explorer.changes.merge import MergePreview
from lance_explorer.changes.merge_frames import MERGE_CELLS, MERGE_SCHEMA
from lance_explorer.frames.sizes import counted
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.inspect.naming_columns import naming_columns
from lance_explorer.report.changed_rows import (
    MOST_ROWS_READ,
    TOO_MANY,
    ChangedRows,
    readable_columns,
    value_blocks,
)
from lance_explorer.report.parts import Block, sentence, table_of
from lance_explorer.report.review import Review

__all__ = ["merge_review"]

_MOST_CELLS = 200
_COMES = ("incoming", "combined")
_SIDES = ("ours", "theirs", "base")


def merge_review(preview: MergePreview, end: BranchVersion) -> Review:
    """Return what a merge would change, part by part.

    Parameters
    ----------
    preview : MergePreview
        What it would change.
    end : BranchVersion
        The version that is merged.
    """
    rows = _Rows(preview, end)
    branch, version = preview.branch
    options = {"key": [*preview.key]} if preview.key else {}
    code = call("table.merge_preview", (branch or "main", version), **options)
    return Review(
        f"{end.view.name}: merge {branch or 'main'} into {preview.into[0] or 'main'}",
        {
            "Summary": rows.summary,
            "Conflicts": rows.conflicts,
            "Rows that would come": rows.blocks,
            "Schema": lambda: _schema(preview.schema()),
        },
        f'{code}.report("review.html")',
    )


class _Rows:
    """The rows that both sides changed, and those that would be written; read once for all."""

    def __init__(self, preview: MergePreview, end: BranchVersion) -> None:
        self._preview, self._key = preview, preview.key
        [self._end] = end.view.version(end.version).records
        self._names = tuple(naming_columns(self._end))

    def summary(self) -> Iterator[Block]:
        yield Section("words", "", lines(self._preview.words()))
        if self._left_out:
            yield Section("left_out", "Left out", lines(self._left_out))
        if self._comes is not None:
            yield from self._comes.counts()

    def conflicts(self) -> Iterator[Block]:
        cells = self._preview.cells()
        if cells.is_empty():
            yield sentence("No cell is in conflict.")
            return
        shown = cells.head(_MOST_CELLS)
        head = [shown["key"]] if self._key else [*self._names_of(shown["_rowid"])]
        frame = pl.DataFrame([*(head or [shown["_rowid"]]), *shown.drop("_rowid", "key")])
        values = ("key", "base", *_SIDES[:2])
        branch, into = (self._preview.branch[0] or "main"), (self._preview.into[0] or "main")
        title = (
            f"{len(shown):,} of {counted(len(cells), 'cell')} in conflict: base is the fork, ours "
            f"`{into}`, theirs `{branch}`"
        )
        yield Section("cells", title, frame, values=values, schema=MERGE_CELLS)

    def blocks(self) -> Iterator[Block]:
        yield from value_blocks(self._comes, "No row would come.")

    def _names_of(self, row_ids: pl.Series) -> Iterator[pl.Series]:
        """Yield the columns that identify rows in conflict."""
        if not self._names:
            return
        rows = self._preview.rows("conflict", [*self._names])
        place = {row_id: number for number, row_id in enumerate(rows["_rowid"])}
        which = [place.get(row_id) for row_id in row_ids]
        for name in self._names:
            of_sides = [rows[side].struct.field(name).alias(side) for side in _SIDES]
            known = pl.DataFrame(of_sides).select(pl.coalesce(_SIDES).alias(name)).to_series()
            yield known.gather(pl.Series(which, dtype=pl.UInt32))

    @cached_property
    def _num_rows(self) -> int:
        counts = self._preview.summary().row(0, named=True)
        return sum([counts[name] for name in ("inserted", "updated", "deleted")])

    @cached_property
    def _columns(self) -> tuple[list[str], list[str]]:
        return readable_columns(self._end.schema, self._num_rows, (*self._key, *self._names))

    @cached_property
    def _left_out(self) -> list[str]:
        if self._comes is None:
            return [TOO_MANY.format("would come", "preview")]
        words = [*self._columns[1]]
        if self._comes.num_same:
            rows = counted(self._comes.num_same, "row")
            words.append(f"{rows} written again on the branch with the same values.")
        return words

    @cached_property
    def _comes(self) -> ChangedRows | None:
        """The rows that would be written: as they were at the fork and are on the branch."""
        if self._num_rows > MOST_ROWS_READ:
            return None
        columns, _ = self._columns
        rows = self._preview.rows(_COMES, columns)
        before, after = [rows[side].struct.unnest() for side in ("base", "theirs")]
        change = rows["change_theirs"].cast(pl.String)
        is_updated = (change == "updated").to_numpy()
        differ = {
            name: changed_values(before[name], after[name]) & is_updated for name in before.columns
        }
        names = np.array([*differ], dtype=np.object_)
        cells = np.array([*differ.values()], dtype=np.bool_).reshape(len(names), len(rows)).T
        changed = pl.Series([names[row].tolist() for row in cells], dtype=pl.List(pl.String))
        key = tuple([name for name in self._key or self._names if name in before.columns])
        return ChangedRows(change, rows["_rowid"], before, after, changed, key)


def _schema(frame: pl.DataFrame) -> Iterator[Block]:
    if frame.is_empty():
        yield sentence("No field changed on either side.")
    else:
        yield table_of(frame, counted(len(frame), "field"), MERGE_SCHEMA)
