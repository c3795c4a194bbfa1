"""Whether the indices of a version cover its rows."""

from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

import polars as pl

from lance_explorer.findings import Finding, Remedy, Subject
from lance_explorer.format.index_details import index_type
from lance_explorer.format.indices import SYSTEM_INDICES
from lance_explorer.format.operation_names import OperationName
from lance_explorer.frames.sizes import byte_size, percent
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.field_names import field_names, names_of
from lance_explorer.inspect.fragment_reuse import fragment_reuse_entries
from lance_explorer.inspect.index_summary import index_summary

__all__ = [
    "MANY_SEGMENTS",
    "MANY_STALE_ENTRIES",
    "MANY_UNINDEXED_ROWS",
    "STALE_SHARE",
    "UNINDEXED_SHARE",
    "equal_indices",
    "lagging_indices",
    "lagging_reuse",
    "lost_indices",
    "rebuild",
]

MANY_UNINDEXED_ROWS = 10_000
"""The number of uncovered rows that is worth knowing: each search reads them all."""

UNINDEXED_SHARE = 0.1
"""The share of all rows that is worth a warning."""

MANY_STALE_ENTRIES = 10_000
"""The number of entries of removed rows that is worth knowing ..."""

STALE_SHARE = 0.2
"""... if they are this part of all entries, too."""

MANY_SEGMENTS = 4
"""The number of segments of an index that is worth knowing: a search reads each."""

_LONGEST_NAME = 40

_SCALAR_TYPES = {
    "BTREE": "BTREE",
    "BITMAP": "BITMAP",
    "LABEL_LIST": "LABEL_LIST",
    "INVERTED": "INVERTED",
    "NGRAM": "NGRAM",
    "ZONE_MAP": "ZONEMAP",
    "BLOOM_FILTER": "BLOOMFILTER",
    "MINHASH_LSH": "MINHASHLSH",
    "RTREE": "RTREE",
}
"""Pylance's names for the types that a call for scalar indices makes."""

_CONFIGURED_TYPES = frozenset({"FM", "JSON"})
"""Types that such a call makes from an IndexConfig."""

_Kind = tuple[tuple[int, ...], str | None, bytes]
"""The fields of an index, its type and its settings."""

_Row = Mapping[str, Any]
"""A row of the summary of indices."""


def lagging_indices(view: HistoryView, history: History) -> Iterator[Finding]:
    """Find indices that miss rows, have entries of removed rows, or have many segments."""
    version = history.records[0].version
    if not history.records[0].indices:  # without any, a summary would go through all fragments
        return
    for row in index_summary(view, version).iter_rows(named=True):
        if None in row["fields"] or not row["fields"]:
            yield _on_no_field(row, version)
            continue
        for findings in (
            _uncovered(row, version),
            _stale(row, version),
            _in_segments(row, version),
        ):
            yield from findings


def _on_no_field(row: _Row, version: int) -> Finding:
    name, is_dropped = _quoted(row["name"]), bool(row["fields"])
    return Finding(
        "index_on_dropped_field" if is_dropped else "index_without_fields",
        f"the index {name} is on "
        + ("a field that was dropped from the schema" if is_dropped else "no field: damage"),
        **_of(row, version),
        remedy=Remedy("Drop it", f"dataset.drop_index({name})"),
    )


def _uncovered(row: _Row, version: int) -> Iterator[Finding]:
    """Find out whether an index finds nothing, or misses many rows."""
    name = _quoted(row["name"])
    remedy = Remedy("Update it", f"dataset.optimize.optimize_indices(index_names=[{name}])")
    fragments, to_scan = row["num_fragments_to_scan"], row["num_rows_to_scan"]
    if fragments is None:
        yield Finding(
            "index_coverage_unknown",
            f"which fragments the index {name} covers is not stored, or cannot be read",
            **_of(row, version),
            remedy=Remedy("Build it anew", _call(row)),
        )
    elif fragments and to_scan != 0 and _finds_nothing(row):
        gone = row["num_fragments_removed"]
        rows = "rows" if to_scan is None else _counted(to_scan, "row")
        why = f": {_all_gone(gone)}" if gone and not row["num_fragments_covered"] else ""
        yield Finding(
            "index_covers_nothing",
            f"the index {name} covers none of the {rows} in {_counted(fragments, 'fragment')}{why}",
            **_of(row, version),
            remedy=remedy,
            rows=to_scan,
        )
    elif to_scan is not None and to_scan >= MANY_UNINDEXED_ROWS:
        answered = row["num_rows_answered"] or 0
        share = to_scan / (to_scan + answered)
        yield Finding(
            "unindexed_rows",
            f"the index {name} does not find {to_scan:,} of {to_scan + answered:,} rows "
            f"({percent(share)}), those of {_counted(fragments, 'fragment')}",
            **_of(row, version),
            remedy=remedy,
            rows=to_scan,
            is_mild=share < UNINDEXED_SHARE,
        )


def _finds_nothing(row: _Row) -> bool:
    return not row["num_fragments_covered"] or row["num_rows_answered"] == 0


def _all_gone(count: int) -> str:
    if count == 1:
        return "the only fragment that it lists was removed"
    return f"all {count:,} fragments that it lists were removed"


def _stale(row: _Row, version: int) -> Iterator[Finding]:
    """Find out whether many entries of an index belong to removed rows."""
    stale, answered = row["num_stale_entries"] or 0, row["num_rows_answered"]
    if answered is None or stale < MANY_STALE_ENTRIES or stale < STALE_SHARE * (stale + answered):
        return
    entries = stale + answered
    yield Finding(
        "stale_index_entries",
        f"up to {stale:,} of {entries:,} entries of the index {_quoted(row['name'])} "
        f"({percent(stale / entries)}) are of removed rows",
        **_of(row, version),
        remedy=Remedy("Build it again from the current rows", _call(row)),
        rows=stale,
    )


def _in_segments(row: _Row, version: int) -> Iterator[Finding]:
    """Find out whether an index has many segments."""
    count, name = row["num_segments"], _quoted(row["name"])
    if count < MANY_SEGMENTS:
        return
    yield Finding(
        "many_index_segments",
        f"the index {name} is in {count:,} segments",
        **_of(row, version),
        remedy=Remedy(
            "Merge them, which keeps centroids"
            if row["index_type"].startswith(("IVF_", "VECTOR"))
            else "Merge them",
            f"dataset.optimize.optimize_indices(num_indices_to_merge={count}, "
            f"index_names=[{name}])",
        ),
    )


def equal_indices(_: HistoryView, history: History) -> Iterator[Finding]:
    """Find duplicate indices: of one type, with the same settings, on the same column."""
    record, alike = history.records[0], dict[_Kind, list[str]]()
    names = field_names(history)[0]
    for segment in record.indices:
        if segment.name in SYSTEM_INDICES or index_type(segment) == "unknown":
            continue
        key = segment.fields, segment.type_url, segment.details
        if segment.name not in (same := alike.setdefault(key, [])):
            same.append(segment.name)
    for (fields, _type, _details), same in alike.items():
        if len(same) == 1:
            continue
        columns = tuple(filter(None, names_of(fields, names)))
        yield Finding(
            "equal_indices",
            f"the indices {', '.join(map(_quoted, same))} are alike, on {', '.join(columns)}",
            subject=Subject("index", same[-1]),
            versions=(record.version, record.version),
            columns=columns,
            remedy=Remedy("Drop all but one", f"dataset.drop_index({_quoted(same[-1])})"),
        )


def lost_indices(view: HistoryView, history: History) -> Iterator[Finding]:
    """Find indices that a commit of another purpose removed, while their column stayed."""
    now, went = history.records[0], dict[str, tuple[VersionRecord, VersionRecord]]()
    records, follows = view.history.records, view.history.follows_previous
    for position in range(1, len(records)):
        before, after = records[position - 1], records[position]
        if before.indices is after.indices:
            continue
        names = {segment.name for segment in after.indices}
        for segment in before.indices:
            # Missing versions may have dropped it on purpose.
            is_aside = after.operation != OperationName.CREATE_INDEX and follows[position]
            if segment.name not in names | SYSTEM_INDICES and is_aside:
                went[segment.name] = before, after
        for name in names:
            went.pop(name, None)
    indexed = {segment.fields for segment in now.indices}
    for name, (before, after) in went.items():
        row = index_summary(view, before.version).row(
            by_predicate=pl.col("name") == name, named=True
        )
        [segment, *_] = [one for one in before.indices if one.name == name]
        there, then = field_names(history)[0], field_names(view.version(before.version))[0]
        # Field IDs restart at an Overwrite; and the column that took over the name is searched,
        # too.
        by_name = {path: key for key, path in there.items()}
        fields = tuple([by_name.get(then.get(key, ""), -1) for key in segment.fields])
        operations = [one.operation for one in records if one.version >= after.version]
        is_new = OperationName.OVERWRITE in operations
        if not is_new and frozenset(segment.fields) <= there.keys():
            fields = segment.fields
        columns = [path for path in names_of(fields, there) if path is not None]
        if len(columns) < len(fields) or not columns or fields in indexed:
            continue
        yield Finding(
            "index_lost",
            f"the index {_quoted(name)} on {', '.join(columns)} is gone since version "
            f"{after.version}: {after.operation} took it along",
            subject=Subject("index", name),
            versions=(after.version, now.version),
            since=after.version,
            columns=tuple(columns),
            remedy=Remedy("Build it anew", _call({**row, "fields": columns})),
        )


class _Of(TypedDict):
    subject: Subject
    versions: tuple[int, int]
    columns: tuple[str, ...]


def _of(row: _Row, version: int) -> _Of:
    """Return an index, its columns, and the version."""
    return {
        "subject": Subject("index", row["name"]),
        "versions": (version, version),
        "columns": tuple(filter(None, row["fields"])),
    }


def lagging_reuse(view: HistoryView, history: History) -> Iterator[Finding]:
    """Find deferred compactions that indices have still to follow."""
    version = history.records[0].version
    entries = fragment_reuse_entries(view, version)
    behind = entries.filter(pl.col("indices_behind").list.len() > 0)
    if entries.is_empty() or behind.is_empty():
        return
    names = behind["indices_behind"].explode().unique(maintain_order=True).to_list()
    listed = ", ".join([_quoted(name) for name in names])
    size = byte_size(entries["history_bytes"][0])
    late = index_summary(view, version).filter(pl.col("name").is_in(names))
    yield Finding(
        "fragment_reuse_lags",
        f"the indices {listed} have not been updated for {len(behind):,} of "
        f"{len(entries):,} deferred compactions: opening them maps {behind['rows_in'].sum():,} "
        "rows "
        f"to their new addresses, by a record of {size}",
        subject=Subject("index", names[0] if len(names) == 1 else ""),
        versions=(version, version),
        remedy=Remedy("Build them anew", "; ".join(map(_call, late.iter_rows(named=True)))),
    )


def rebuild(view: HistoryView, version: int, name: str) -> Remedy:
    """Return how to rebuild an index of a version."""
    row = index_summary(view, version).row(by_predicate=pl.col("name") == name, named=True)
    return Remedy("Build it anew", _call(row))


def _call(row: _Row) -> str:
    """Return the call that rebuilds an index; an update keeps its old entries."""
    column, kind = next(iter(row["fields"]), None), _SCALAR_TYPES.get(row["index_type"])
    is_scalar = kind is not None or row["index_type"] in _CONFIGURED_TYPES
    function = "create_scalar_index" if is_scalar else "create_index"
    given = f"index_type={kind!r}" if kind else "..."
    name = _quoted(row["name"])
    return f"dataset.{function}({_quoted(column or '?')}, {given}, name={name}, replace=True)"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _quoted(name: str) -> str:
    """Return a name as a Python literal, cut if it is long."""
    return repr(name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}...")
