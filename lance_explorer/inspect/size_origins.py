"""The versions that wrote what the latest one needs.

Each file that the latest version needs is attributed to the version that first had it, so that
removed files do not count and the parts add up to the whole.
"""

import numpy as np
import polars as pl

from lance_explorer.format.flags import unreadable_flags
from lance_explorer.format.operation_names import OperationName
from lance_explorer.frames.columns import (
    BYTES,
    COUNT,
    ID,
    KIND,
    TEXT,
    TIME,
    Column,
    FrameSchema,
)
from lance_explorer.frames.kinds import kind_of
from lance_explorer.history.history import History
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.file_lives import DATA, DELETIONS, INDICES, file_lives

__all__ = ["SIZE_ORIGINS", "size_origins"]

_ORIGIN = pl.Enum(["commit", "compaction", "restore", "fork", "unknown"])

SIZE_ORIGINS = FrameSchema(
    "size_origins",
    (
        Column("version", ID, "kept version that first had the files"),
        Column("timestamp", TIME, "when it was committed", nullable=True),
        Column(
            "operation",
            TEXT,
            "operation as Lance names it; null if its transaction is lost",
            nullable=True,
        ),
        Column("kind", KIND, "kind of commit"),
        Column(
            "origin",
            _ORIGIN,
            "what wrote the files: its commit; a compaction of rows added earlier; a version that "
            "is not kept, and a restore brought them back; a fork: the branch or clone began with "
            "them; unknown: versions directly before it are not kept",
        ),
        Column("after", ID, "kept version before the missing versions; null: none", nullable=True),
        Column("num_files", COUNT, "number of its files that the latest version needs"),
        Column("num_unknown", COUNT, "number of these files whose size is unknown"),
        Column("data_bytes", BYTES, "size of these data files", unit="bytes"),
        Column("deletion_bytes", BYTES, "size of these deletion files", unit="bytes"),
        Column("index_bytes", BYTES, "size of these index segments", unit="bytes"),
        Column("size_bytes", BYTES, "size of all these files", unit="bytes"),
        Column("size_share", pl.Float64(), "share of the size of all files", nullable=True),
        Column("num_rows", COUNT, "live rows in the fragments that it wrote", nullable=True),
        Column("row_share", pl.Float64(), "share of all live rows", nullable=True),
    ),
)
"""The columns of :func:`size_origins`."""


def size_origins(view: HistoryView) -> pl.DataFrame:
    """Return one row for each version that wrote something that the latest one needs.

    Data files, deletion files and index segments count, also under other roots; the size of the
    latter two as far as it is known. A fragment was written together with its oldest data file.
    ``size_share`` adds up to 1, and so does ``row_share``; they are null if the size of a data
    file, or the rows of a fragment, are not known, and if there is nothing.

    Examples
    --------
    >>> size_origins(table._view).select("version", "origin", "num_files", "num_rows").rows()
    [(1, 'commit', 1, 2), (2, 'commit', 1, 2), (3, 'commit', 1, 5), (4, 'commit', 1, 0), ...]
    """
    history = view.history
    if not len(history):
        return SIZE_ORIGINS.polars_schema.to_frame()
    files = file_lives(view).filter("is_current")
    of_kind = {"data_bytes": DATA, "deletion_bytes": DELETIONS, "index_bytes": INDICES}
    known = pl.col("size_bytes").fill_null(0)
    sums = files.group_by("first").agg(
        num_files=pl.len().cast(pl.Int64),
        num_unknown=pl.col("size_bytes").null_count().cast(pl.Int64),
        **{name: known.filter(pl.col("kind") == kind).sum() for name, kind in of_kind.items()},
        size_bytes=known.sum(),
    )
    rows = _rows_by_position(history, files)
    wrote_rows = pl.col("first").is_in(rows["first"].implode())
    counted = (
        sums.join(rows, on="first", how="full", coalesce=True)
        .with_columns(num_rows=pl.when(wrote_rows).then("num_rows").otherwise(0))
        .sort("first")
    )
    positions = counted["first"].to_list()
    records = [history.records[position] for position in positions]
    has_sizes = not files.filter(pl.col("kind") == DATA)["size_bytes"].null_count()
    total = int(counted["size_bytes"].sum()) if has_sizes else 0
    all_rows = 0 if counted["num_rows"].null_count() else int(counted["num_rows"].sum())
    facts = counted.with_columns(
        version=pl.Series([record.version for record in records], dtype=pl.UInt64),
        timestamp=pl.Series([r.manifest.timestamp for r in records], dtype=TIME),
        operation=pl.Series([record.operation for record in records], dtype=TEXT),
        kind=pl.Series([kind_of(r.operation, r.version) for r in records], dtype=KIND),
        origin=pl.Series([_origin(history, place) for place in positions], dtype=_ORIGIN),
        after=pl.Series([_after(history, place) for place in positions], dtype=pl.UInt64),
        size_share=pl.col("size_bytes") / total if total else None,
        row_share=pl.col("num_rows") / all_rows if all_rows else None,
    )
    counts = [name for name in SIZE_ORIGINS.names if SIZE_ORIGINS.polars_schema[name] == pl.Int64]
    return facts.with_columns(pl.col(counts).exclude("num_rows").fill_null(0)).select(
        [pl.col(column.name).cast(column.dtype) for column in SIZE_ORIGINS.columns]
    )


def _rows_by_position(history: History, files: pl.DataFrame) -> pl.DataFrame:
    """Return the live rows of the latest version by the position that wrote their fragment.

    They are null if the rows of a fragment are unknown.
    """
    last = len(history) - 1
    data = files.filter(pl.col("kind") == DATA)
    first = dict(zip(data.select("base_id", "path").iter_rows(), data["first"], strict=True))
    states = history.intervals.at(last).tolist()
    begun = [
        min([first[file.base_id, file.path] for file in history.states[state].files], default=last)
        for state in states
    ]
    rows = history.live_rows[states]
    is_readable = not unreadable_flags(history.records[last].manifest.reader_feature_flags)
    of_state = pl.DataFrame(
        {"first": begun, "rows": rows if is_readable else np.full(len(rows), -1)},
        schema={"first": pl.Int64, "rows": pl.Int64},
    )
    is_known = (pl.col("rows") >= 0).all()
    return of_state.group_by("first").agg(num_rows=pl.when(is_known).then(pl.col("rows").sum()))


def _origin(history: History, position: int) -> str:
    """Return the commits that wrote the files that first appear at a position."""
    operation = history.records[position].operation
    if operation == OperationName.CLONE:
        return "fork"
    if not history.begins_exactly[position]:
        return "unknown"
    if operation == OperationName.REWRITE:
        return "compaction"
    return "restore" if operation == OperationName.RESTORE else "commit"


def _after(history: History, position: int) -> int | None:
    """Return the kept version before the missing ones directly before a position."""
    if position == 0 or history.begins_exactly[position]:
        return None
    return history.records[position - 1].version
