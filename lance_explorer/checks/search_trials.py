"""Compares searches by words and by vectors with scans, and reports the age of centroids."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from lance_explorer.answers.calls import call
from lance_explorer.errors import StorageError, UnreachableError, UnsupportedFeatureError
from lance_explorer.findings import Cause, Finding, Remedy, Subject
from lance_explorer.format.index_details import index_details
from lance_explorer.format.indices import IndexMetadata
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.format.value_widths import value_bits
from lance_explorer.frames.sizes import byte_size, counted, percent
from lance_explorer.history.value_files import value_root
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.index_health import rebuild
from lance_explorer.inspect.indices import covered_fragments
from lance_explorer.values.search_trials import Training, missed_by_words, neighbours, training

__all__ = [
    "AGED_SHARE",
    "FEW_FOUND",
    "VECTORS",
    "VECTOR_TYPES",
    "type_of",
    "unreadable",
    "vector_findings",
    "word_findings",
]

VECTOR_TYPES = tuple(
    [f"IVF_{graph}{kind}" for graph in ("", "HNSW_") for kind in ("FLAT", "PQ", "SQ", "RQ")]
)
"""Types of vector indices; old writers stored VECTOR, or nothing."""

FEW_FOUND = 0.8
"""If a search finds a smaller share of the nearest rows, that is a finding."""

AGED_SHARE = 0.5
"""The share of rows after the training that is worth knowing; 90 % is a warning."""

_HALF = 0.5
_MOSTLY = 0.9

_MOST_VECTORS = 16
_MOST_VECTOR_BYTES = 1 << 28
"""The most bytes of vectors: a search without an index reads all of them."""

_MOST_VERSIONS = 50
_SHOWN_ROWS = 3

VECTORS = "fixed_size_list:"
"""Prefixes of the types of vector columns."""

_TEXTS = ("string", "large_string", "list", "large_list")
_FOR_READERS = ("format_version", "block_size", "document_granularity")
"""Settings of words that do not change which rows a word finds, or that pylance does not accept."""


def word_findings(
    view: HistoryView, segment: IndexMetadata, column: str, positions: pl.Series
) -> Iterator[Finding]:
    """Yield a finding if words of sampled rows do not find these through an index."""
    version, name = view.latest_version, segment.name
    settings = index_details(segment)
    if "other_fields" in settings or "type_url" in settings:
        raise UnsupportedFeatureError("its settings are not known")
    if type_of(view, version, column) not in _TEXTS:
        raise UnsupportedFeatureError(f"{column} has no texts")
    taken = {key: value for key, value in settings.items() if key not in _FOR_READERS}
    tried, missed, failure = missed_by_words(
        value_root(view, version), version, positions, column, taken, view.storage.options
    )
    if failure is not None:
        yield unreadable(view, name, failure, column)
        return
    if not tried:
        raise UnsupportedFeatureError("no sampled row has a word that its settings let count")
    if len(missed):
        some = ", ".join(map(str, missed[:_SHOWN_ROWS].tolist()))
        more = ", ..." if len(missed) > _SHOWN_ROWS else ""
        yield Finding(
            "index_misses_rows",
            f"searches through the index {name!r} by a word of each do not find {len(missed):,} of "
            f"{counted(tried, 'row')}: row address {some}{more}",
            subject=Subject("index", name),
            versions=(version, version),
            rows=len(missed),
            columns=(column,),
            remedy=rebuild(view, version, name),
        )


def vector_findings(
    view: HistoryView, segment: IndexMetadata, column: str, positions: pl.Series
) -> Iterator[Finding]:
    """Yield findings on a vector index: its recall, and the age of its centroids."""
    version, name, options = view.latest_version, segment.name, view.storage.options
    try:
        now = training(value_root(view, version), version, name, options)
    except UnreachableError:
        raise
    except StorageError as error:
        yield unreadable(view, name, str(error), column)
        return
    again = call("dataset.create_index", column, **now.settings, name=name, replace=True)
    remedy = Remedy("Build it again: an update keeps its centroids", again)
    aged = [*_aged(view, name, column, now, remedy)]
    yield from aged
    num_bytes = _vector_bytes(view, version, column)
    if num_bytes > _MOST_VECTOR_BYTES:
        raise UnsupportedFeatureError(
            f"a search without it would read {byte_size(num_bytes)} of vectors each time"
        )
    chosen = np.linspace(0, max(len(positions) - 1, 0), _MOST_VECTORS).astype(np.int64)
    found = neighbours(
        value_root(view, version),
        version,
        positions.gather(np.unique(chosen)) if len(positions) else positions,
        name,
        column,
        now.settings["metric"] or "l2",
        max(len(now.sizes), 1),
        options,
    )
    if found.failure is not None:
        yield unreadable(view, name, found.failure, column)
        return
    if not found.num_vectors:
        raise UnsupportedFeatureError("no search asked it: another index may be asked instead")
    if found.found < FEW_FOUND:
        is_narrow = found.found_by_all >= FEW_FOUND
        cause = (
            "the nearest rows are in more partitions than a search looks into by default: ask with "
            "more nprobes, and with a refine_factor"
            if is_narrow
            else "its codes are too short, or its centroids are of other vectors"
        )
        yield Finding(
            "few_neighbours_found",
            f"searches through the index {name!r} find {percent(found.found)} of the 10 nearest "
            f"rows of {counted(found.num_vectors, 'sampled vector')}, and "
            f"{percent(found.found_by_all)} if they look into all partitions and compare whole "
            "vectors",
            subject=Subject("index", name),
            versions=(version, version),
            columns=(column,),
            causes=(Cause(cause),),
            remedy=remedy if aged else None,
            is_mild=found.found_by_all >= _HALF,
        )


def unreadable(view: HistoryView, name: str, failure: str, column: str) -> Finding:
    """Return the finding that searches through an index of the latest version fail."""
    version = view.latest_version
    return Finding(
        "index_unreadable",
        f"searches through the index {name!r} fail: {failure}",
        subject=Subject("index", name),
        versions=(version, version),
        columns=(column,),
        remedy=rebuild(view, version, name),
    )


def _aged(
    view: HistoryView, name: str, column: str, made: Training, remedy: Remedy
) -> Iterator[Finding]:
    """Yield a finding if most rows came after the centroids were made."""
    if not made.centroids:
        return
    trained, is_first = _trained_at(view, name, made)
    sizes = made.sizes
    then, now = _covered_rows(view, trained, name), _covered_rows(view, view.latest_version, name)
    if then is None or not now or now - then < AGED_SHARE * now:
        return
    version = view.latest_version
    since = f"{trained}{'' if is_first else ' or before'}, when it covered {counted(then, 'row')}"
    yield Finding(
        "vector_index_aged",
        f"the index {name!r} has centroids of version {since}: {percent((now - then) / now)} of "
        f"its {now:,} rows came later; the largest of {counted(len(sizes), 'partition')} has "
        f"{max(sizes, default=0):,}",
        subject=Subject("index", name),
        versions=(version, version),
        rows=now - then,
        columns=(column,),
        remedy=remedy,
        is_mild=now - then < _MOSTLY * now,
    )


def _trained_at(view: HistoryView, name: str, made: Training) -> tuple[int, bool]:
    """Return the first kept version with most of the centroids, and whether it is the first."""
    first, looked = view.latest_version, 0
    known: object = None
    for record in reversed(view.history.records):
        segments = [(one.uuid, one.fields) for one in record.indices if one.name == name]
        if segments == known:
            first = record.version
            continue
        known = segments
        looked += 1
        if not segments:
            return first, True
        if record.file.is_recorded or looked > _MOST_VERSIONS:
            return first, False
        root = value_root(view, record.version)
        try:
            before = training(root, record.version, name, view.storage.options).centroids
        except UnreachableError:
            raise
        except StorageError:
            return first, False
        if len(before & made.centroids) < _HALF * len(made.centroids):
            return first, True
        first = record.version
    return first, first == 1


def _covered_rows(view: HistoryView, version: int, name: str) -> int | None:
    """Return how many live rows an index covers in a version; None if unknown."""
    history = view.version(version)
    ids = history.states.ids
    is_covered = np.zeros(len(ids), dtype=np.bool_)
    for segment in history.records[0].indices:
        if segment.name == name:
            covered = covered_fragments(segment)
            if covered is None:
                return None
            is_covered |= np.isin(ids, np.array(covered.to_array(), dtype=np.uint64))
    live = history.live_rows[is_covered]
    return None if (live < 0).any() else int(live.sum())


def type_of(view: HistoryView, version: int, column: str) -> str:
    """Return the type of a top-level column; "" if there is none of that name."""
    schema = view.version(version).records[0].schema
    types = [one.logical_type for one in schema if (one.name, one.parent_id) == (column, NO_PARENT)]
    return types[0] if types else ""


def _vector_bytes(view: HistoryView, version: int, column: str) -> int:
    kind = type_of(view, version, column)
    bits = value_bits(kind)
    if bits is None or not kind.startswith(VECTORS):
        raise UnsupportedFeatureError(f"exact neighbours are not looked for in columns of {kind}")
    live = view.version(version).live_rows
    return int(live[live > 0].sum()) * bits // 8
