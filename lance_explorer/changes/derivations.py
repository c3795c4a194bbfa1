"""Columns and views that LanceDB computes: their inputs, and how many rows are not computed yet."""

import polars as pl

from lance_explorer.changes.change_feed import Changes
from lance_explorer.changes.steps import version_range
from lance_explorer.errors import LanceExplorerError
from lance_explorer.frames.derived import DERIVATIONS, Derivation, derivations, view_source
from lance_explorer.history.view import HistoryView

__all__ = ["derived"]


def derived(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each computed column of a version, and one if it is a view."""
    derivatives = derivations(view.version(version).records[0])
    return DERIVATIONS.build(
        {
            "version": [version] * len(derivatives),
            "branch": [view.branch] * len(derivatives),
            "kind": [
                "materialized_view" if one.column is None else "computed_column"
                for one in derivatives
            ],
            "field_id": [one.field_id for one in derivatives],
            "column": [one.column for one in derivatives],
            "language": [one.language for one in derivatives],
            "expression": [one.expression for one in derivatives],
            "inputs": pl.Series(
                [list(one.inputs) for one in derivatives], dtype=pl.List(pl.String)
            ),
            "definition_version": [one.definition_version for one in derivatives],
            "defined_since": [_since(view, version, one) for one in derivatives],
            "refreshed_version": [one.refreshed_version for one in derivatives],
            "refreshed_at": [one.refreshed_at for one in derivatives],
            "num_rows_to_refresh": [_to_refresh(view, version, one) for one in derivatives],
        }
    )


def _since(view: HistoryView, version: int, one: Derivation) -> int:
    first = version
    for record in reversed(view.history.records):
        if record.version >= version:
            continue
        same = [
            other
            for other in derivations(record)
            if other.field_id == one.field_id and other.expression == one.expression
        ]
        if not same:
            break
        first = record.version
    return first


def _to_refresh(view: HistoryView, version: int, one: Derivation) -> int | None:
    """Return how many rows were inserted or updated since a column was computed.

    A column that was written in place may or may not be one of its inputs; these are not
    distinguished.
    """
    if one.column is None:
        return _to_refresh_view(view, one)
    refreshed = one.refreshed_version or 0
    if refreshed > version:  # it was computed in a version that a restore abandoned
        return None
    return _written_between(view, refreshed, version, "inserted", "updated")


def _to_refresh_view(view: HistoryView, one: Derivation) -> int | None:
    """Return how many rows of its source changed since a view was computed; None if not known.

    The source is the table of that name beside the view, if the source version was committed at the
    time that the view records.
    """
    uri = view_source(view.uri, one)
    if one.refreshed_version is None or uri is None:
        return None
    try:
        view = view.led_to(uri)
        history, position = view.found(one.refreshed_version)
    except LanceExplorerError:
        return None
    if one.source_time not in (None, history.records[position].manifest.timestamp):
        return None
    return _written_between(
        view, one.refreshed_version, view.latest_version, "inserted", "updated", "deleted"
    )


def _written_between(view: HistoryView, begin: int, end: int, *changes: str) -> int | None:
    """Return how many rows changed in some ways; None if that is not known."""
    try:
        [row] = Changes(version_range(view, begin, end), images=None).summary().rows(named=True)
    except LanceExplorerError:
        return None
    counts = [row[name] for name in changes]
    return None if row["column_rewritten"] or None in counts else sum(counts)
