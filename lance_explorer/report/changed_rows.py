"""Rows that differ, for a reviewer: counts by column, values before and after, rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from lance_explorer.answers import Section
from lance_explorer.cells.text import briefs_of
from lance_explorer.figures.distributions import bars_of, bars_picture
from lance_explorer.format.schema import NO_PARENT, Field, is_blob
from lance_explorer.format.value_widths import value_bits
from lance_explorer.frames.columns import COUNT, TEXT, Column, FrameSchema
from lance_explorer.frames.sizes import counted, listed
from lance_explorer.report.parts import Block, sentence

__all__ = ["MOST_ROWS_READ", "TOO_MANY", "ChangedRows", "readable_columns", "value_blocks"]

MOST_ROWS_READ = 200_000
"""For more rows than this, values are not read for a page."""

TOO_MANY = (
    f"More than {MOST_ROWS_READ:,} rows {{}}, so their values are not read here; "
    "`rows()` of the {} gives them."
)
"""What is said then."""

_MOST_BITS_READ = 8 << 30
_MOST_COLUMNS = 40
_MOST_PICTURES = 12
_MOST_SHOWN = 200
_LONGEST, _LONGEST_OTHER = 60, 32

_COLUMN_COUNTS = FrameSchema(
    "column_counts",
    (
        Column("column", TEXT, "the column"),
        Column("changed", COUNT, "rows whose value differs", unit="rows"),
        Column("null before", COUNT, "number of rows in which it was null", unit="rows"),
        Column("null after", COUNT, "number of rows in which it is null", unit="rows"),
        Column("mean before", pl.Float64(), "mean of its other values before", nullable=True),
        Column("mean after", pl.Float64(), "mean of its other values after", nullable=True),
    ),
)


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """Rows with their values before and after.

    Attributes
    ----------
    change : polars.Series of str
        ``"inserted"``, ``"updated"`` or ``"deleted"``.
    row_id : polars.Series of int
        Their row IDs.
    before, after : polars.DataFrame
        Their values, in the same columns; null where a row is not.
    changed : polars.Series of list of str
        The columns whose values differ, of updated rows.
    key : tuple of str
        The columns that rows are known by.
    """

    change: pl.Series
    row_id: pl.Series
    before: pl.DataFrame
    after: pl.DataFrame
    changed: pl.Series
    key: tuple[str, ...]

    @property
    def num_same(self) -> int:
        """How many updated rows have unchanged values."""
        return int(self._is_same.sum())

    @property
    def columns(self) -> list[str]:
        """The columns that changed in any updated row, most frequent changes first."""
        return [name for name, _ in self._counts]

    @property
    def _counts(self) -> list[tuple[str, int]]:
        changes = self.changed.explode().drop_nulls().alias("column").to_frame()
        changes = changes.filter(pl.col("column").is_in(self.after.columns))
        # Of columns with equally many changes, the first one of the table comes first.
        order = {name: place for place, name in enumerate(self.after.columns)}
        counts = dict(changes.group_by("column").len().iter_rows())
        return sorted(counts.items(), key=lambda one: (-one[1], order[one[0]]))

    @property
    def _is_same(self) -> pl.Series:
        return (self.change == "updated") & (self.changed.list.len() == 0)

    def counts(self) -> Iterator[Block]:
        """Yield how many values of each column changed."""
        counts = self._counts
        if not counts:
            return
        rows = [(name, count, *self._numbers(name)) for name, count in counts]
        frame = pl.DataFrame(rows, schema=_COLUMN_COUNTS.polars_schema, orient="row")
        yield Section("column_counts", "Changed values by column", frame, schema=_COLUMN_COUNTS)

    def _numbers(self, name: str) -> tuple[int, int, float | None, float | None]:
        sides = [side[name].filter(self._has_changed(name)) for side in (self.before, self.after)]
        means = [side.mean() if side.dtype.is_numeric() else None for side in sides]
        before, after = [one if isinstance(one, float) else None for one in means]
        return sides[0].null_count(), sides[1].null_count(), before, after

    def _has_changed(self, name: str) -> pl.Series:
        return self.changed.list.contains(name).fill_null(False)

    def distributions(self) -> Iterator[Block]:
        """Yield the values of each changed column, before and after, of the rows it changed in.

        If no column changed, the values of all columns in deleted and inserted rows.
        """
        changed = self.columns
        not_shown, count = [], 0
        for name in changed or self.after.columns:
            if changed:
                which = self._has_changed(name)
                before, after = self.before[name].filter(which), self.after[name].filter(which)
                words = f"`{name}` in the {counted(len(after), 'row')} in which it changed"
            else:
                before = self.before[name].filter(self.change == "deleted")
                after = self.after[name].filter(self.change == "inserted")
                sides = ((before, "deleted row"), (after, "inserted row"))
                words = f"`{name}` in {listed([counted(len(s), n) for s, n in sides if len(s)])}"
            bars = bars_of(before, after) if count < _MOST_PICTURES else None
            if bars is None:
                not_shown.append(f"`{name}`")
                continue
            count += 1
            frame = pl.DataFrame({"value": bars.labels, "before": bars.before, "after": bars.after})
            draw = partial(bars_picture, name, bars)
            yield Section(f"values_{name}", words, frame, uncut=("value",), picture=draw)
        if not_shown:
            yield sentence(f"Values are not counted here of {listed(not_shown, 8)}.")

    def rows(self) -> Iterator[Block]:
        """Yield the first rows of each kind: their key and values, changed ones as old → new."""
        for change in ("updated", "inserted", "deleted"):
            is_one = (self.change == change) & ~self._is_same
            count = int(is_one.sum())
            if not count:
                continue
            shown = self._taken(is_one.arg_true().head(_MOST_SHOWN))
            frame = pl.DataFrame([*shown._named_by(), *shown._texts(change)])
            title = f"{change.capitalize()} rows: {len(frame):,} of {count:,}"
            yield Section(change, title, frame, uncut=tuple(frame.columns))

    def _taken(self, which: pl.Series) -> "ChangedRows":
        return ChangedRows(
            self.change[which],
            self.row_id[which],
            self.before[which],
            self.after[which],
            self.changed[which],
            self.key,
        )

    def _named_by(self) -> list[pl.Series]:
        """Return what identifies rows: their keys, which may have changed, or row IDs."""
        if not self.key:
            return [self.row_id.cast(pl.String).alias("_rowid")]
        return [self._cells(name) for name in self.key]

    def _texts(self, change: str) -> list[pl.Series]:
        """Return the columns beside the key: for updated rows, those that changed."""
        names = self.columns if change == "updated" else self.after.columns
        return [self._cells(name) for name in names if name not in self.key]

    def _cells(self, name: str) -> pl.Series:
        is_text = self.after[name].dtype == pl.String
        longest = _LONGEST if is_text else _LONGEST_OTHER
        old, new = [
            briefs_of(side[name], longest)[0].fill_null("null").alias(which)
            for which, side in (("old", self.before), ("new", self.after))
        ]
        is_key = pl.lit(name in self.key)
        both = pl.DataFrame([old, new, self.change.alias("change")]).select(
            pl.when(self._has_changed(name))
            .then(pl.format("{} → {}", "old", "new"))
            .when(pl.col("change") == "inserted")
            .then("new")
            .when((pl.col("change") == "deleted") | is_key)
            .then("old")
            .alias(name)
        )
        return both.to_series()


def readable_columns(
    fields: Sequence[Field], num_rows: int, key: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the columns whose values are read for a review, and why others are left out.

    Parameters
    ----------
    fields : sequence of Field
        The schema.
    num_rows : int
        How many rows are read.
    key : sequence of str
        Columns that are read in any case.
    """
    tops = [field for field in fields if field.parent_id == NO_PARENT]
    blobs = [field.name for field in tops if is_blob(field)]
    large = [
        field.name
        for field in tops
        if field.name not in blobs
        and 2 * num_rows * (value_bits(field.logical_type) or 0) > _MOST_BITS_READ
    ]
    some = [field.name for field in tops if field.name not in {*blobs, *large}]
    read = [name for place, name in enumerate(some) if place < _MOST_COLUMNS or name in key]
    beyond = [name for name in some if name not in read]
    reasons = [
        (blobs, "blobs are not read"),
        (large, f"the values of {counted(num_rows, 'row')} are too large"),
        (beyond, f"only the first {_MOST_COLUMNS} columns are read"),
    ]
    words = [f"{listed([f'`{n}`' for n in names], 8)}: {why}." for names, why in reasons if names]
    return read, words


def value_blocks(rows: ChangedRows | None, nothing: str) -> Iterator[Block]:
    """Yield the distributions of changed values and the first rows, or a sentence without any.

    Parameters
    ----------
    rows : ChangedRows or None
        The rows; None if there are too many.
    nothing : str
        The sentence for no rows.
    """
    if rows is None:
        yield sentence("No values are shown: see the summary.")
    elif not len(rows.change):
        yield sentence(nothing)
    else:
        yield from rows.distributions()
        yield from rows.rows()
