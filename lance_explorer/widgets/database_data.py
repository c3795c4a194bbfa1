"""A database for the browser: lines of tables, lanes of commits, and bars of what is on disk."""

from typing import Any

import polars as pl

from lance_explorer.answers import said
from lance_explorer.database import Database
from lance_explorer.database.moment import Moment
from lance_explorer.database.tables_answer import tables_answer
from lance_explorer.figures.disk_usage import STATUS_WORDS
from lance_explorer.figures.palette import KIND_COLORS, STATUS_COLORS
from lance_explorer.widgets.arrays import codes, floats, integers
from lance_explorer.widgets.messages.database import (
    DatabaseLog,
    DatabaseTables,
    DatabaseUsage,
    MomentLine,
    MomentShown,
    TableLine,
    TableUsage,
)
from lance_explorer.widgets.messages.disk import DiskStatus

__all__ = ["log_of", "moment_of", "tables_of", "usage_of"]

_KINDS = list(KIND_COLORS)
_MOST_COMMITS = 5_000
_NUMBERS = (
    "num_rows",
    "num_fragments",
    "fragments_to_compact",
    "num_versions",
    "size_bytes",
    "live_bytes",
    "unindexed_rows",
)
_TIMES = ("last_commit", "last_compaction", "last_cleanup_after")


def tables_of(database: Database) -> DatabaseTables:
    """Return a line for each table, what hurts most first."""
    tables = database.tables()
    lines = [
        TableLine(
            name=row["name"],
            problem=row["problem"],
            worst=row["worst"],
            finding=row["finding"],
            growth=_parts(row["growth"]),
            **{name: _digits(row[name]) for name in _NUMBERS},
            **{name: _iso(row[name]) for name in _TIMES},
        )
        for row in tables.iter_rows(named=True)
    ]
    return DatabaseTables(tables_answer(tables, database.disk_usage()).sentence, lines)


def moment_of(moment: Moment) -> MomentShown:
    """Return the version that each table had at one time."""
    answer = moment.answer
    lines = [
        MomentLine(
            name=row["name"],
            version=_digits(row["version"]),
            timestamp=_iso(row["timestamp"]),
            num_rows=_digits(row["num_rows"]),
            problem=row["problem"],
        )
        for row in moment.to_polars().iter_rows(named=True)
    ]
    return MomentShown(answer.sentence, answer.code, lines)


def log_of(database: Database) -> DatabaseLog:
    """Return the newest commits of all tables; an unknown time is NaN."""
    log, problems = database._log(_MOST_COMMITS + 1)
    shown = log.head(_MOST_COMMITS)
    lanes = shown["table"].unique(maintain_order=True).to_list()
    return DatabaseLog(
        tables=lanes,
        kinds=_KINDS,
        is_cut=len(log) > len(shown),
        not_read=[f"`{name}`: {problem}" for name, problem in problems.items()],
        lane=integers(
            shown["table"].replace_strict(lanes, range(len(lanes)), return_dtype=pl.Int32)
        ),
        kind=codes(shown["kind"], _KINDS),
        versions=shown["version"].to_numpy(),
        times=floats(shown["timestamp"].dt.timestamp("us") / 1000),
        branch=shown["branch"].to_list(),
        operation=shown["operation"].to_list(),
        words=shown["words"].to_list(),
    )


def usage_of(database: Database) -> DatabaseUsage:
    """Return what each table takes on disk, the largest first."""
    usage = database.disk_usage()
    kinds = usage.kinds().with_columns(pl.col("status").cast(pl.String))
    sizes = kinds.group_by("name", "status", maintain_order=True).agg(pl.col("size_bytes").sum())
    by_status = dict(sizes.group_by("status").agg(pl.col("size_bytes").sum()).iter_rows())
    of_table = dict[str, dict[str, str]]()
    for name, status, size in sizes.iter_rows():
        of_table.setdefault(name, {})[status] = str(size)
    return DatabaseUsage(
        sentence=said(usage.sentence),
        not_counted=usage.not_counted,
        statuses=[
            DiskStatus(name, STATUS_WORDS[name], color, str(by_status[name]))
            for name, color in STATUS_COLORS.items()
            if by_status.get(name)
        ],
        lines=[TableUsage(name, of_table.get(name, {})) for name in usage.tables()["name"]],
    )


def _digits(number: int | None) -> str | None:
    return None if number is None else str(number)


def _iso(time: Any) -> str | None:
    return None if time is None else time.isoformat()


def _parts(sizes: list[int] | None) -> list[float] | None:
    """Return sizes as parts of the largest, with three digits."""
    if sizes is None:
        return None
    most = max(sizes, default=0)
    return [round(size / most, 3) if most else 0.0 for size in sizes]
