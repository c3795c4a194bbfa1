"""A question about changes between pinned versions, and the pieces of work that answer it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import polars as pl
import pyarrow as pa
from pyspark.sql.types import StructType

from lance_explorer.changes.change_feed import Changes, changes
from lance_explorer.changes.feed_parts import ChangePart
from lance_explorer.changes.frame import CHANGED_COLUMNS, CHANGES
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.spark.options import Options
from lance_explorer.spark.pinning import PinnedTable
from lance_explorer.spark.types import batches_of, target_schema

__all__ = ["ChangesQuery", "part_batches", "value_names"]

_ROWS_PER_PARTITION = 250_000
_ROWS_PER_BATCH = 65_536


@dataclass(frozen=True, slots=True)
class ChangesQuery:
    """The question, at pinned versions."""

    table: PinnedTable
    begin_version: int
    end_version: int
    options: Options
    columns: tuple[str, ...] | None

    def changes(self) -> Changes:
        """Return the answer; a worker keeps it for its next task.

        Then a worker makes a net comparison once, not once for each task.
        """
        return _changes(self, state_rows(self.table.open()))

    @property
    def part_rows(self) -> int:
        """A piece of work has about so many changed rows."""
        return self.options.number("rows_per_partition", _ROWS_PER_PARTITION)

    def parts(self) -> list[ChangePart]:
        """Return the pieces of work."""
        return self.changes().parts(self.part_rows)


@lru_cache(maxsize=1)
def _changes(query: ChangesQuery, rows: StateRows) -> Changes:
    """Return the answer, if ``rows`` are those of the table."""
    options = query.options
    return changes(
        rows.view,
        query.begin_version,
        query.end_version,
        mode=options.text("mode") or "net",  # type: ignore[arg-type]
        images=options.text("images"),  # type: ignore[arg-type]
        columns=query.columns,
        key=options.texts("key"),
        include=options.texts("include") or (),
        tolerance=_tolerance(options),
    )


def part_batches(
    query: ChangesQuery, part: ChangePart, schema: StructType, *, may_lack_columns: bool = False
) -> Iterator[pa.RecordBatch]:
    """Yield the lines of one part of a feed in Spark's form; columns that it lacks are null."""
    target = target_schema(schema)
    for frame in query.changes().batches(_ROWS_PER_BATCH, progress=False, part=part):
        lacking = [name for name in target.names if name not in frame.columns]
        if may_lack_columns and lacking:
            frame = frame.with_columns([pl.lit(None).alias(name) for name in lacking])
        yield from batches_of(frame, target)


def value_names(options: Options, schema: StructType) -> tuple[str, ...] | None:
    """Return the value columns that must be read for some columns of a feed."""
    if CHANGED_COLUMNS in schema.names:  # from all columns that the options name
        chosen = options.texts("columns")
        return None if chosen is None else tuple(chosen)
    return tuple([name for name in schema.names if name not in CHANGES.names])


def _tolerance(options: Options) -> float:
    text = options.text("tolerance") or "0"
    try:
        return float(text)
    except ValueError as error:
        raise InvalidArgumentError(f"tolerance is a number, not {text!r}") from error
