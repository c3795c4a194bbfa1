"""Whether indices are right: the content of their files, compared with the rows that they cover."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import polars as pl

from lance_explorer.checks.search_trials import VECTOR_TYPES
from lance_explorer.errors import (
    CorruptFileError,
    LanceExplorerError,
    UnreachableError,
    UnsupportedFeatureError,
)
from lance_explorer.findings import Finding, Remedy, Subject
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.index_details import index_details, index_type
from lance_explorer.format.indices import SYSTEM_INDICES, IndexMetadata
from lance_explorer.frames.sizes import byte_size, counted
from lance_explorer.history.file_roots import checked_uri, index_folder
from lance_explorer.history.history import History
from lance_explorer.history.progress import with_progress
from lance_explorer.history.readable import check_rows
from lance_explorer.history.rewrites.reuse_history import carried_over, fragment_reuse
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.field_names import field_names, names_of
from lance_explorer.inspect.index_health import rebuild
from lance_explorer.values.index_entries import (
    covered_pairs,
    covered_rows,
    read_bitmap_entries,
    read_btree_entries,
    read_row_entries,
    remapped,
    rows_with_vectors,
)

__all__ = ["CHECKED_TYPES", "index_truth"]

CHECKED_TYPES = ("BTREE", "BITMAP", "LABEL_LIST", "INVERTED", *VECTOR_TYPES)
"""Types whose entries are compared with rows: of the last two only which rows they contain."""

_FILES = {
    "BTREE": "page_data.lance",
    "BITMAP": "bitmap_page_lookup.lance",
    "LABEL_LIST": "bitmap_page_lookup.lance",
    "INVERTED": "docs.lance",
    **dict.fromkeys(VECTOR_TYPES, "auxiliary.idx"),
}
"""Suffixes of the files that contain the entries."""

_PLAIN_VECTORS = tuple(
    [f"fixed_size_list:{number}:" for number in ("float", "double", "uint8", "int8")]
)

_MOST_BYTES = 1 << 30
"""The largest segments that are compared: their entries are held in memory."""

_MOST_ROWS = 1 << 28
"""The most rows of a segment, of which a damaged manifest may claim too many: each is read."""

_BTREE_OF_ADDRESSES = 1
_OFFSET_BITS = 32
_MOST_VERSIONS = 50
_SHOWN_ROWS = 3

_ROWS_AT_ONCE = 1 << 20
"""Rows that are compared with entries at a time."""


@dataclass(frozen=True, slots=True)
class _Truth:
    """What is wrong with a segment in one version: rows, by kind of error."""

    missing: pl.Series
    wrong: pl.Series
    nowhere: pl.Series
    without_direction: pl.Series

    def __bool__(self) -> bool:
        rows = self.missing, self.wrong, self.nowhere, self.without_direction
        return any(map(len, rows))


def index_truth(view: HistoryView, version: int | None = None) -> Iterator[Finding]:
    """Yield a finding for each kind of error of indices of a version; the latest by default.

    Reads the files of BTREE, BITMAP and LABEL_LIST indices, and the indexed columns of the
    fragments that they cover; of vector indices the rows that they contain, and of INVERTED ones,
    which leave out rows without words, whether these rows ever existed. Entries that a search skips
    anyway are not reported: those of deleted rows, and of fragments that a segment no longer
    covers.
    """
    version = view.latest_version if version is None else version
    history = view.version(version)
    segments = [
        segment
        for segment in history.records[0].indices
        if segment.name not in SYSTEM_INDICES and index_type(segment) in CHECKED_TYPES
    ]
    names = field_names(history)[0]
    for segment in with_progress(segments, "Reading indices"):
        try:
            truth = _compared(view, version, segment)
            if truth:
                place = _Seen(
                    subject=Subject("index", segment.name),
                    columns=tuple(filter(None, names_of(segment.fields, names))),
                    **_since(view, version, segment),
                )
                remedy = rebuild(view, version, segment.name)
                yield from _findings(truth, place, remedy, _holds_addresses(history, segment))
        except LanceExplorerError as error:
            yield Finding(
                "not_checked",
                f"the entries of the index {segment.name!r} could not be compared with rows: "
                f"{error}",
                subject=Subject("index", segment.name),
                versions=(version, version),
                is_mild=not isinstance(error, UnreachableError),
            )


class _Since(TypedDict):
    versions: tuple[int, int]
    since: int | None


class _Seen(_Since):
    subject: Subject
    columns: tuple[str, ...]


def _findings(truth: _Truth, place: _Seen, remedy: Remedy, by_address: bool) -> Iterator[Finding]:
    name, what = repr(place["subject"].name), "row address" if by_address else "row ID"
    begin = f"since version {place['versions'][0]}"
    begin += " or before" if place["since"] is None else ""
    problems = (
        ("index_misses_rows", truth.missing, "has no entry for {}"),
        (
            "index_has_other_values",
            truth.wrong,
            "has entries with wrong values of {}",
        ),
        ("index_names_no_rows", truth.nowhere, "has entries of {} that never were"),
        (
            "vectors_without_direction",
            truth.without_direction,
            "measures by cosine and has no entry for {} with a vector of zeros",
        ),
    )
    for code, rows, words in problems:
        count = len(rows)
        if count:
            some = ", ".join([str(row) for row in rows.head(_SHOWN_ROWS).to_list()])
            more = ", ..." if count > _SHOWN_ROWS else ""
            statement = f"the index {name} {words.format(counted(count, 'row'))}, {begin}"
            yield Finding(
                code,
                f"{statement}: {what} {some}{more}",
                rows=count,
                remedy=None if code == "vectors_without_direction" else remedy,
                **place,
            )


def _since(view: HistoryView, version: int, segment: IndexMetadata) -> _Since:
    """Return in which versions a segment is wrong, looking backwards through kept ones."""
    first, is_certain = version, False
    earlier = [
        record.version
        for record in reversed(view.history.records)
        if record.version < version and not record.file.is_recorded
    ]
    for before in earlier[:_MOST_VERSIONS]:
        record = view.version(before).records[0]
        same = [one for one in record.indices if one.uuid == segment.uuid]
        if not same or not _compared(view, before, same[0]):
            is_certain = before == first - 1
            break
        first = before
    return {"versions": (first, version), "since": first if is_certain else None}


def _compared(view: HistoryView, version: int, segment: IndexMetadata) -> _Truth:
    history = view.version(version)
    check_rows(history)
    check_values(view, version)
    [column, *more] = names_of(segment.fields, field_names(history)[0]) or [None]
    if column is None or more or column not in _top_level(history):
        raise UnsupportedFeatureError("it is not on one column of the top level")
    by_address = _holds_addresses(history, segment)
    entries = _entries(view, history, segment, by_address)
    covered = _covered(view, history, segment)
    options, uri = view.storage.options, value_root(view, version)
    if "value" not in entries.columns:
        there = entries["row"].unique()
        nothing = there.clear()
        missing, zeros = nothing, nothing
        if index_type(segment) in VECTOR_TYPES:
            missing, zeros = _missing_vectors(view, history, covered, column, there)
            # Zeros have no cosine to anything, so neither an index nor a scan finds them.
            metric = index_details(segment).get("metric_type")
            if metric not in ("COSINE", None):
                missing = pl.concat([missing, zeros])
            zeros = zeros if metric == "COSINE" else nothing
        return _Truth(
            missing=missing.sort(),
            wrong=nothing,
            nowhere=_nowhere(history, there, frozenset(covered), by_address),
            without_direction=zeros.sort(),
        )
    rows = covered_pairs(uri, version, covered, column, options, by_address=by_address)
    live = rows["row"]
    if index_type(segment) == "LABEL_LIST":
        rows = rows.explode("value")
    rows = _sorted(rows.with_columns(pl.col("value").cast(entries.schema["value"])))
    entries = _sorted(entries)
    missing, wrong = _in_order(rows, entries) or _joined(rows, entries, live)
    return _Truth(
        missing=missing.unique().sort(),
        wrong=wrong.unique().sort(),
        nowhere=_nowhere(history, entries["row"], frozenset(covered), by_address),
        without_direction=live.clear(),
    )


def _sorted(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs if pairs["row"].is_sorted() else pairs.sort("row")


def _in_order(
    rows: pl.DataFrame, entries: pl.DataFrame, at_once: int = _ROWS_AT_ONCE
) -> tuple[pl.Series, pl.Series] | None:
    """Return the result of :func:`_joined` for sorted, distinct rows and entries; else None.

    Comparing sorted parts takes a fraction of the time and of the memory of two joins.
    """
    theirs = entries["row"].to_numpy()
    parts = [(entries["row"].clear(), entries["row"].clear())]
    before = None
    for part in rows.iter_slices(at_once):
        own = part["row"].to_numpy()
        first = int(np.searchsorted(theirs, own[0]))
        last = int(np.searchsorted(theirs, own[-1], side="right"))
        is_twice = any((some[1:] == some[:-1]).any() for some in (own, theirs[first:last]))
        if is_twice or own[0] == before:
            return None
        before = own[-1]
        parts.append(_compared_part(part, entries.slice(first, last - first)))
    missing, wrong = zip(*parts, strict=True)
    return pl.concat(missing), pl.concat(wrong)


def _compared_part(rows: pl.DataFrame, entries: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    own, theirs = rows["row"].to_numpy(), entries["row"].to_numpy()
    place = np.searchsorted(own, theirs)  # inside: no entry is after the last row
    is_live = own[place] == theirs
    pairs, place = entries.filter(is_live), place[is_live]
    is_same = pairs["value"].eq_missing(rows["value"].gather(place))
    has_entry = np.zeros(len(own), dtype=np.bool_)
    has_entry[place] = is_same.to_numpy()
    missing = rows.filter(~has_entry & rows["value"].is_not_null().to_numpy())
    return missing["row"], pairs.filter(~is_same)["row"]


def _joined(
    rows: pl.DataFrame, entries: pl.DataFrame, live: pl.Series
) -> tuple[pl.Series, pl.Series]:
    """Return the rows with a value that has no entry, and those with an entry of another value."""
    pairs = entries.filter(pl.col("row").is_in(live.implode()))
    same = ["row", "value"]
    missing = rows.drop_nulls("value").join(pairs, on=same, how="anti", nulls_equal=True)
    wrong = pairs.join(rows, on=same, how="anti", nulls_equal=True)
    return missing["row"], wrong["row"]


def _missing_vectors(
    view: HistoryView, history: History, covered: list[int], column: str, entries: pl.Series
) -> tuple[pl.Series, pl.Series]:
    """Return the live rows with a vector, and with one of zeros, without entry in an index."""
    by_address = not history.records[0].manifest.reader_feature_flags & STABLE_ROW_IDS
    version = history.records[0].version
    options, uri = view.storage.options, value_root(view, version)
    rows = covered_rows(uri, version, covered, options, by_address=by_address)
    left = rows.filter(~rows.is_in(entries.implode()))
    if not len(left):
        return left, left
    fields = history.records[0].schema
    [type_] = [f.logical_type for f in fields if f.name == column and f.parent_id < 0]
    if not type_.startswith(_PLAIN_VECTORS):
        raise UnsupportedFeatureError(
            f"it is unknown which rows have a vector in columns of type {type_}"
        )
    return rows_with_vectors(uri, version, covered, column, left, options, by_address=by_address)


def _entries(
    view: HistoryView, history: History, segment: IndexMetadata, by_address: bool
) -> pl.DataFrame:
    """Return the content of a segment: rows, by their IDs in the version, and values."""
    record = history.records[0]
    storage, folder = index_folder(segment, record.manifest.base_paths, view.storage)
    kind = index_type(segment)
    files = storage.list_files(f"{folder}/")
    wanted = sorted([info for info in files if info.name.endswith(_FILES[kind])])
    if not wanted:
        raise CorruptFileError("its files are missing", folder)
    num_bytes = sum([info.size_bytes for info in wanted])
    if kind not in VECTOR_TYPES and num_bytes > _MOST_BYTES:
        raise UnsupportedFeatureError(
            f"its entries take {byte_size(num_bytes)}, more than are held in memory", folder
        )
    paths = [checked_uri(storage, f"{folder}/{info.name}") for info in wanted]
    if kind == "BTREE":
        entries = read_btree_entries(paths, storage.options)
    elif kind in ("BITMAP", "LABEL_LIST"):
        entries = read_bitmap_entries(paths, storage.options)
    else:
        entries = read_row_entries(paths, storage.options).to_frame()
    if by_address and fragment_reuse(view, record):
        root, options = value_root(view, record.version), view.storage.options
        rows = remapped(root, record.version, entries["row"], options)
        entries = entries.with_columns(row=rows).drop_nulls("row")
    return entries


def _covered(view: HistoryView, history: History, segment: IndexMetadata) -> list[int]:
    """Return the fragments of the version that a segment covers."""
    listed = segment.fragment_ids()
    if listed is None:
        raise UnsupportedFeatureError("which fragments it covers is not stored")
    ids = carried_over(listed, fragment_reuse(view, history.records[0]))
    covered = np.isin(history.states.ids, np.array([*ids], dtype=np.uint64))
    counts = history.states.physical_rows[covered]
    if (counts < 0).any():
        raise UnsupportedFeatureError("how many rows it covers is not stored")
    if counts.sum() > _MOST_ROWS:
        raise UnsupportedFeatureError(f"it covers {counts.sum():,} rows, too many to compare")
    return sorted(history.states.ids[covered].tolist())


def _nowhere(
    history: History, rows: pl.Series, covered: frozenset[int], by_address: bool
) -> pl.Series:
    """Return the rows that no version can have contained."""
    manifest = history.records[0].manifest
    if not by_address:
        return rows.filter(rows >= manifest.next_row_id).unique().sort()
    row = pl.col("row")
    fragment, offset = row // (1 << _OFFSET_BITS), row % (1 << _OFFSET_BITS)
    sizes = {
        int(fragment): int(count)
        for fragment, count in zip(
            history.states.ids.tolist(), history.states.physical_rows.tolist(), strict=True
        )
        if int(fragment) in covered
    }
    size = fragment.replace_strict(
        pl.Series([*sizes], dtype=pl.UInt64),
        pl.Series([*sizes.values()], dtype=pl.UInt64),
        default=None,
        return_dtype=pl.UInt64,
    )
    largest = manifest.max_fragment_id
    is_new = fragment > largest if largest is not None else pl.lit(False)
    is_nowhere = ((offset >= size) | is_new).fill_null(False)
    parts = rows.to_frame("row").iter_slices(_ROWS_AT_ONCE)
    missing = [rows.clear(), *[part.filter(is_nowhere)["row"] for part in parts]]
    return pl.concat(missing).unique().sort()


def _holds_addresses(history: History, segment: IndexMetadata) -> bool:
    is_stable = bool(history.records[0].manifest.reader_feature_flags & STABLE_ROW_IDS)
    is_btree = index_type(segment) == "BTREE"
    return not is_stable or (is_btree and (segment.index_version or 0) >= _BTREE_OF_ADDRESSES)


def _top_level(history: History) -> set[str]:
    return {field.name for field in history.records[0].schema if field.parent_id < 0}
