"""The numbers of a database for a monitor: their meanings, and one reading of all."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl

from lance_explorer.answers import Answer, Section
from lance_explorer.database.database import Database
from lance_explorer.database.look import TABLES, Look, is_left_out
from lance_explorer.errors import LanceExplorerError, MissingDependencyError
from lance_explorer.findings import SEVERITIES
from lance_explorer.frames.columns import TEXT, Column, FrameSchema
from lance_explorer.frames.sizes import counted

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily
    from prometheus_client.registry import Collector

__all__ = [
    "METRICS",
    "READINGS",
    "Metric",
    "Reading",
    "collector",
    "metrics_answer",
    "read_metrics",
]


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of each table, or of each database.

    Attributes
    ----------
    name : str
        Its name in the form of Prometheus: with the unit at the end.
    meaning : str
        What it says.
    column : str or None
        The column of ``database.tables()`` that it is; None if it is made otherwise.
    labels : tuple of str
        What it is told apart by.
    """

    name: str
    meaning: str
    column: str | None = None
    labels: tuple[str, ...] = ("database", "table")


def _of_column(name: str, column: str) -> Metric:
    [declared] = [one for one in TABLES.columns if one.name == column]
    return Metric(name, declared.meaning, column)


_OF_COLUMNS = ("database", "table", "column")

METRICS = (
    Metric("lance_table_readable", "1 if the table can be read, else 0"),
    _of_column("lance_table_rows", "num_rows"),
    _of_column("lance_table_fragments", "num_fragments"),
    _of_column("lance_table_fragments_to_compact", "fragments_to_compact"),
    _of_column("lance_table_versions", "num_versions"),
    _of_column("lance_table_latest_version", "latest_version"),
    _of_column("lance_table_size_bytes", "size_bytes"),
    _of_column("lance_table_live_bytes", "live_bytes"),
    _of_column("lance_table_old_bytes", "old_bytes"),
    _of_column("lance_table_left_over_bytes", "left_over_bytes"),
    _of_column("lance_table_unindexed_rows", "unindexed_rows"),
    _of_column("lance_table_last_commit_timestamp_seconds", "last_commit"),
    _of_column("lance_table_last_compaction_timestamp_seconds", "last_compaction"),
    _of_column("lance_table_last_cleanup_after_timestamp_seconds", "last_cleanup_after"),
    Metric(
        "lance_table_findings",
        "findings of a quick check by their severity",
        labels=("database", "table", "severity"),
    ),
    Metric(
        "lance_column_shift",
        "how far the values of a column moved from the version before to the latest, from 0 to 1",
        labels=_OF_COLUMNS,
    ),
    Metric(
        "lance_column_mean",
        "mean of a column in the latest version: of its numbers, or lengths of texts and vectors",
        labels=_OF_COLUMNS,
    ),
    Metric("lance_column_nulls", "nulls of a column in the latest version", labels=_OF_COLUMNS),
    Metric(
        "lance_database_readable", "1 if its tables can be listed, else 0", labels=("database",)
    ),
    Metric("lance_database_tables", "how many tables it has", labels=("database",)),
    Metric(
        "lance_database_other_files_bytes",
        "size of the files in its folder that are in no table",
        labels=("database",),
    ),
    Metric(
        "lance_database_looked_timestamp_seconds",
        "when these numbers were read, in seconds since 1970",
        labels=("database",),
    ),
    Metric("lance_database_look_duration_seconds", "how long that took", labels=("database",)),
)
"""All of them. Unknown numbers are left out; those of columns are read on request."""

READINGS = FrameSchema(
    "metrics",
    (
        Column("metric", TEXT, "name of the metric"),
        Column("database", TEXT, "the database"),
        Column("table", TEXT, "the table; null: the number is of the whole database", True),
        Column("severity", TEXT, "of findings: how serious; null: it is of no findings", True),
        Column("column", TEXT, "the column; null: the number is of no column", True),
        Column("value", pl.Float64(), "the number; times are seconds since 1970"),
    ),
)
"""The columns of all numbers as a frame."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A number at one time.

    Attributes
    ----------
    metric : str
        The name of the metric.
    labels : tuple of str
        The values of its labels.
    value : float
        The number.
    """

    metric: str
    labels: tuple[str, ...]
    value: float


def read_metrics(database: Database, columns: Sequence[str] = ()) -> list[Reading]:
    """Return all current numbers of a database, with those of the named columns.

    Examples
    --------
    >>> from lance_explorer.database.metrics import read_metrics
    >>> found = {one.metric: one.value for one in read_metrics(database)}
    >>> found["lance_table_rows"], found["lance_database_tables"]
    (9.0, 1.0)
    """
    begin, uri = time.time(), database.uri
    try:
        database.refresh()
        looks, beside = database._looks, database._other_files().size_bytes
    except LanceExplorerError:
        return [Reading("lance_database_readable", (uri,), 0.0)]
    readings = [reading for look in looks for reading in _of_table(uri, look)]
    if columns:
        names = [look.name for look in looks if look.problem is None]
        readings += [one for name in names for one in _of_columns(database, name, columns)]
    own = {
        "lance_database_readable": 1,
        "lance_database_tables": len(looks),
        "lance_database_other_files_bytes": beside,
        "lance_database_looked_timestamp_seconds": begin,
        "lance_database_look_duration_seconds": time.time() - begin,
    }
    return [*readings, *[Reading(name, (uri,), float(value)) for name, value in own.items()]]


def _of_table(uri: str, look: Look) -> Iterator[Reading]:
    labels = (uri, look.name)
    yield Reading("lance_table_readable", labels, float(look.problem is None))
    for metric in METRICS:
        if metric.column is None:
            continue
        match look.facts[metric.column]:
            case datetime() as when:
                yield Reading(metric.name, labels, when.timestamp())
            case int() as number:
                yield Reading(metric.name, labels, float(number))
    counts = Counter([finding.severity for finding in look.findings if not is_left_out(finding)])
    for severity in SEVERITIES:
        yield Reading("lance_table_findings", (*labels, severity), float(counts[severity]))


def _of_columns(database: Database, name: str, columns: Sequence[str]) -> Iterator[Reading]:
    """Yield the numbers of some columns of a table; none if it has none, or cannot be read."""
    try:
        table = database[name]
        chosen = [column for column in columns if column in table.latest.schema.names]
        versions = [file.version for file in table._view.listing.versions[-2:]]
        lines = table.profile(chosen, versions=versions).to_polars() if chosen else None
    except LanceExplorerError:
        return
    if lines is None:
        return
    for line in lines.filter(pl.col("version") == versions[-1]).iter_rows(named=True):
        labels = database.uri, name, line["column"]
        for what in ("shift", "mean", "num_nulls"):
            if line[what] is not None:
                metric = f"lance_column_{what.removeprefix('num_')}"
                yield Reading(metric, labels, float(line[what]))


def collector(newest: Callable[[], Sequence[Reading]]) -> "Collector":
    """Return the newest readings on each request, as prometheus_client exposes them.

    Raises
    ------
    MissingDependencyError
        If prometheus_client is not installed.
    """
    try:
        from prometheus_client.core import GaugeMetricFamily
        from prometheus_client.registry import Collector
    except ImportError:
        raise MissingDependencyError(
            "prometheus_client is missing: pip install 'lance-explorer[metrics]'"
        ) from None

    class Readings(Collector):
        """Readings by metric."""

        def collect(self) -> "Iterator[GaugeMetricFamily]":
            readings = newest()
            for metric in METRICS:
                family = GaugeMetricFamily(metric.name, metric.meaning, labels=metric.labels)
                for reading in readings:
                    if reading.metric == metric.name:
                        family.add_metric(reading.labels, reading.value)
                yield family

    return Readings()


def metrics_answer(readings: Sequence[Reading]) -> Answer:
    """Return readings as an answer."""
    names = {metric.name: metric.labels for metric in METRICS}
    lines = [
        {"metric": one.metric, **dict(zip(names[one.metric], one.labels, strict=True))}
        for one in readings
    ]
    parts = ("metric", "database", "table", "severity", "column")
    frame = READINGS.build(
        {
            **{part: [line.get(part) for line in lines] for part in parts},
            "value": [one.value for one in readings],
        }
    )
    tables = frame["table"].drop_nulls().n_unique()
    return Answer(
        f"{counted(len(frame), 'number')} of {counted(tables, 'table')}.",
        (Section("metrics", "", frame, schema=READINGS),),
    )
