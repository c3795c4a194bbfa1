"""Whether the indices of a version keep up with its rows."""

from collections.abc import Iterator

import polars as pl

from lance_explorer.findings import Finding
from lance_explorer.frames.sizes import byte_size
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.source import TableSource
from lance_explorer.inspect.fragment_reuse import fragment_reuse_entries
from lance_explorer.inspect.index_coverage import index_coverage
from lance_explorer.inspect.indices import indices

__all__ = [
    "MANY_STALE_ENTRIES",
    "MANY_UNINDEXED_ROWS",
    "STALE_SHARE",
    "UNINDEXED_SHARE",
    "lagging_reuse",
    "stale_indices",
    "unindexed_rows",
]

MANY_UNINDEXED_ROWS = 10_000
"""So many rows that an index does not find are worth knowing: each search reads them all."""

UNINDEXED_SHARE = 0.1
"""From this part of all rows on they are worth a warning."""

MANY_STALE_ENTRIES = 10_000
"""So many entries of rows that are gone are worth knowing ..."""

STALE_SHARE = 0.2
"""... if they are this part of all entries, too."""

_LONGEST_NAME = 40

_GIVEN_TYPES = frozenset({"BTREE", "BITMAP", "LABEL_LIST", "INVERTED", "NGRAM"})
"""Types under the name that they are asked for by."""


def unindexed_rows(source: TableSource, history: History) -> Iterator[Finding]:
    """Find indices that do not find many of the rows, since these came after them."""
    for index in _by_name(source, history).iter_rows(named=True):
        to_scan, answered = index["to_scan"], index["answered"]
        if to_scan < MANY_UNINDEXED_ROWS or index["is_unknown"]:
            continue
        share = to_scan / (to_scan + answered)
        name = _quoted(index["name"])
        yield Finding(
            code="unindexed_rows",
            severity="warning" if share >= UNINDEXED_SHARE else "info",
            message=f"the index {name} does not find {to_scan:,} of {to_scan + answered:,} rows "
            f"({share:.0%}), those of {index['fragments_to_scan']:,} fragments: each search reads "
            "them all",
            advice=f"Call dataset.optimize.optimize_indices(index_names=[{name}]).",
            version=history.records[0].version,
        )


def stale_indices(source: TableSource, history: History) -> Iterator[Finding]:
    """Find indices many of whose entries are of rows that are gone."""
    record = history.records[0]
    for index in _by_name(source, history).iter_rows(named=True):
        stale, name = index["stale"], index["name"]
        entries = stale + index["answered"]
        if stale < MANY_STALE_ENTRIES or stale < STALE_SHARE * entries:
            continue
        yield Finding(
            code="stale_index_entries",
            severity="info",
            message=f"up to {stale:,} of {entries:,} entries of the index {_quoted(name)} "
            f"({stale / entries:.0%}) are of rows that are gone; searches pass over them",
            advice=f"Build it from the rows that are there: {_rebuilding(source, record, [name])}.",
            version=record.version,
        )


def _by_name(source: TableSource, history: History) -> pl.DataFrame:
    """Return one row for each index: its rows, and how much of them it finds."""
    record = history.records[0]
    if not record.indices:
        return pl.DataFrame()
    coverage = index_coverage(source, record.version)
    return coverage.group_by("name", maintain_order=True).agg(
        answered=pl.col("num_rows_answered").sum(),
        to_scan=pl.col("num_rows_to_scan").sum(),
        fragments_to_scan=(pl.col("num_rows_to_scan") > 0).sum(),
        stale=pl.col("num_stale_entries").sum(),
        is_unknown=(pl.col("num_rows_to_scan").is_null()).any(),
    )


def lagging_reuse(source: TableSource, history: History) -> Iterator[Finding]:
    """Find deferred compactions that indices have still to follow."""
    version = history.records[0].version
    entries = fragment_reuse_entries(source, version)
    behind = entries.filter(pl.col("indices_behind").list.len() > 0)
    if entries.is_empty() or behind.is_empty():
        return
    names = behind["indices_behind"].explode().unique(maintain_order=True).to_list()
    listed = ", ".join([_quoted(name) for name in names])
    size = byte_size(entries["history_bytes"][0])
    yield Finding(
        code="fragment_reuse_lags",
        severity="info",
        message=f"{len(behind):,} of {len(entries):,} deferred compactions are not yet followed by "
        f"the indices {listed}: whoever opens these maps {behind['rows_in'].sum():,} rows to where "
        f"they are now, by a record of {size}",
        advice=f"Build them anew: {_rebuilding(source, history.records[0], names)}.",
        version=version,
    )


def _rebuilding(source: TableSource, record: VersionRecord, names: list[str]) -> str:
    """Return the calls that build some indices anew."""
    segments = indices(source, record.version).unique("name", maintain_order=True)
    calls = []
    for index in segments.filter(pl.col("name").is_in(names)).iter_rows(named=True):
        kind = index["index_type"]
        call = "create_index" if kind == "VECTOR" else "create_scalar_index"
        given = repr(kind) if kind in _GIVEN_TYPES else "..."
        columns = ", ".join([_quoted(field or "?") for field in index["fields"]])
        name = _quoted(index["name"])
        calls.append(f"dataset.{call}({columns}, index_type={given}, name={name}, replace=True)")
    return ", ".join(calls)


def _quoted(name: str) -> str:
    """Return a name as Python writes it, cut if it is long."""
    return repr(name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}...")
