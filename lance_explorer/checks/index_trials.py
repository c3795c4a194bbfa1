"""Whether indices find rows: sampled values are searched with each index, and by a scan."""

from collections.abc import Container, Iterator, Sequence

import numpy as np
import polars as pl

from lance_explorer.checks.search_trials import (
    VECTOR_TYPES,
    VECTORS,
    type_of,
    unreadable,
    vector_findings,
    word_findings,
)
from lance_explorer.errors import (
    LanceExplorerError,
    UnreachableError,
    UnsupportedFeatureError,
)
from lance_explorer.findings import Finding, Subject
from lance_explorer.format.index_details import index_type
from lance_explorer.format.indices import SYSTEM_INDICES, IndexMetadata
from lance_explorer.frames.sizes import counted
from lance_explorer.history.progress import with_progress
from lance_explorer.history.rewrites.reuse_history import carried_over, fragment_reuse
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.field_names import field_names, names_of
from lance_explorer.inspect.index_health import rebuild
from lance_explorer.inspect.indices import covered_fragments

__all__ = ["TRIED_TYPES", "index_trials"]

TRIED_TYPES = ("BTREE", "BITMAP", "ZONE_MAP", "BLOOM_FILTER", "NGRAM", "LABEL_LIST", "unknown")
"""Types for which a search can be told not to use the index; old writers did not store the type."""

_MOST_SAMPLED = 64
_SHORTEST_WORD = 3
"""Characters that an n-gram index needs."""

_SHOWN_ROWS = 3


def index_trials(view: HistoryView, without: Container[str] = ()) -> Iterator[Finding]:
    """Yield a finding for each index of the latest version that does not find sampled live rows.

    Of each fragment some rows are sampled, at most 64 in all, and their values searched.
    ``without`` are names of indices that need no trial any more.
    """
    version = view.latest_version
    history = view.version(version)
    names = field_names(history)[0]
    by_name = dict[str, list[IndexMetadata]]()
    for segment in history.records[0].indices:
        if segment.name not in SYSTEM_INDICES and segment.name not in without:
            by_name.setdefault(segment.name, []).append(segment)
    for name, (segment, *_) in with_progress([*by_name.items()], "Trying indices"):
        kind = index_type(segment)
        columns = tuple(filter(None, names_of(segment.fields, names)))
        subject = Subject("index", name)
        try:
            if len(columns) != 1:
                raise UnsupportedFeatureError("it is not on one column of the top level")
            if kind == "INVERTED":
                positions = _positions(view, version, _covered(view, by_name[name]))
                yield from word_findings(view, segment, columns[0], positions)
            elif kind in VECTOR_TYPES or type_of(view, version, columns[0]).startswith(VECTORS):
                positions = _positions(view, version, _covered(view, by_name[name]))
                yield from vector_findings(view, segment, columns[0], positions)
            elif kind in TRIED_TYPES:
                yield from _tried(view, version, subject, kind, columns)
            else:
                raise UnsupportedFeatureError(f"indices of type {kind} are not read")
        except LanceExplorerError as error:
            yield Finding(
                "not_checked",
                f"whether the index {name!r} finds all rows is not known: {error}",
                subject=subject,
                versions=(version, version),
                is_mild=not isinstance(error, UnreachableError),
            )


def _tried(
    view: HistoryView, version: int, subject: Subject, kind: str, columns: tuple[str, ...]
) -> Iterator[Finding]:
    from lance_explorer.values.index_trials import try_index

    values = _sample(view, version, columns[0])
    filters = _filters(columns[0], values, kind)
    if not filters:
        raise UnsupportedFeatureError(f"no filter is known for values of type {values.dtype}")
    root, options = value_root(view, version), view.storage.options
    trial = try_index(root, version, subject.name, filters, options)
    if trial.failure is not None:
        yield unreadable(view, subject.name, trial.failure, columns[0])
        return
    if not trial.num_tried and len(values):
        raise UnsupportedFeatureError("no search used it: another index may be used instead")
    if len(trial.missing):
        some = ", ".join(map(str, trial.missing[:_SHOWN_ROWS].tolist()))
        more = ", ..." if len(trial.missing) > _SHOWN_ROWS else ""
        yield Finding(
            "index_misses_rows",
            f"searches through the index {subject.name!r} do not find "
            f"{len(trial.missing):,} of {counted(trial.num_tried, 'row')} that a scan finds: "
            f"row address {some}{more}",
            subject=subject,
            versions=(version, version),
            rows=len(trial.missing),
            columns=columns,
            remedy=rebuild(view, version, subject.name),
        )


def _sample(view: HistoryView, version: int, column: str) -> pl.Series:
    """Return values of some live rows of each fragment, without null."""
    from lance_explorer.values import take_rows

    check_values(view, version)
    positions = _positions(view, version)
    rows = take_rows(value_root(view, version), version, positions, [column], view.storage.options)
    values = rows[column].drop_nulls()
    return values.filter(values.is_finite()) if values.dtype.is_float() else values


def _positions(view: HistoryView, version: int, covered: frozenset[int] | None = None) -> pl.Series:
    """Return the positions of some live rows: two of each fragment, and more if there are few."""
    history = view.version(version)
    live = np.maximum(history.live_rows, 0)
    begins = np.cumsum(live) - live
    is_chosen = live > 0
    if covered is not None:
        is_chosen &= np.isin(history.states.ids, np.array([*covered], dtype=np.uint64))
    begins, live = begins[is_chosen], live[is_chosen]
    if 2 * len(live) > _MOST_SAMPLED:
        chosen = np.linspace(0, len(live) - 1, _MOST_SAMPLED // 2).astype(np.int64)
        begins, live = begins[chosen], live[chosen]
    each = max(_MOST_SAMPLED // max(len(live), 1), 2)
    parts = [
        np.linspace(begin, begin + count - 1, each).astype(np.int64)
        for begin, count in zip(begins.tolist(), live.tolist(), strict=True)
    ]
    return pl.Series(np.unique(np.concatenate([np.empty(0, np.int64), *parts])))


def _covered(view: HistoryView, segments: Sequence[IndexMetadata]) -> frozenset[int]:
    """Return the fragments that segments of the latest version cover."""
    reuse = fragment_reuse(view, view.version(view.latest_version).records[0])
    fragments = set[int]()
    for segment in segments:
        listed = covered_fragments(segment)
        if listed is None:
            raise UnsupportedFeatureError("which fragments it covers is not stored")
        fragments.update(carried_over(listed, reuse))
    return frozenset(fragments)


def _filters(column: str, values: pl.Series, kind: str) -> list[str]:
    """Return filters that find the rows with some values; none if their type has none."""
    name = f"`{column}`"
    if kind == "NGRAM":
        words = [text for text in values.to_list() if _is_plain(text)]
        return [f"contains({name}, {_literal(text[:40])})" for text in words]
    if kind == "LABEL_LIST":
        labels = [one for some in values.to_list() for one in some if one is not None]
        known = [*dict.fromkeys(filter(None, map(_literal, labels)))][:_MOST_SAMPLED]
        return [f"array_has_any({name}, [{', '.join(known)}])"] if known else []
    known = [*dict.fromkeys(filter(None, map(_literal, values.to_list())))]
    return [f"{name} IN ({', '.join(known)})"] if known else []


def _is_plain(text: str) -> bool:
    """Tell whether an n-gram index uses the whole beginning of a text."""
    return len(text[:40]) >= _SHORTEST_WORD and text[:40].isascii() and text[:40].isalnum()


def _literal(value: object) -> str:
    """Return a value as SQL; None for a type that is not searched."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case str() if "\0" not in value:
            return "'" + value.replace("'", "''") + "'"
    return ""
