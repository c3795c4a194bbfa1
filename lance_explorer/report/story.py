"""The history of a table in a few sentences; every number is computed."""

from datetime import datetime
from typing import Any

import polars as pl

from lance_explorer.checks.advice import NOTHING_TO_DO, advice_counts
from lance_explorer.figures.labels import plural, size
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.catalogue import frame
from lance_explorer.inspect.size_words import headline
from lance_explorer.report.facts import WHAT_IT_DID, Facts

__all__ = ["landmarks", "story"]

_MOST_LANDMARKS = 16
_CHANGES = {
    "rows_added": "added",
    "rows_updated": "updated",
    "rows_deleted": "deleted",
    "rows_overwritten": "replaced by an overwrite",
    "rows_restored": "restored",
}
"""The columns that count changed rows, and verbs for them."""


def story(facts: Facts) -> list[str]:
    """Return how a table grew, which commits it had, and what is missing or wrong.

    Examples
    --------
    >>> for sentence in story(Facts(table._view))[1:]:
    ...     print(sentence)
    Version 5 ...
    Kept commits: 7 (1 create, 1 append, 1 update, 1 delete, 1 index, 1 config, 1 schema).
    Rows that they changed: 10 added, 1 updated, 1 deleted.
    No version is missing.
    Nothing needs to be done.
    """
    every = facts.versions
    if every.is_empty():
        return ["No version can be read."]
    big = headline(facts.size_origins)
    return [
        _span(every),
        *([] if big is None else [str(big)]),
        _commits(every),
        _rows(every),
        _gaps(facts.view),
        _advice(facts),
    ]


def landmarks(facts: Facts) -> list[str]:
    """Return what the most important commits did, and how many others there are of each kind.

    The order of importance: the first commit; of each kind the one that changed most rows, or else
    the latest; tagged ones; then those that changed most rows. Commits that changed nothing come
    last.

    Examples
    --------
    >>> landmarks(Facts(table._view))[1]
    'Version 2, ...: 2 rows added; 1 new fragment.'
    """
    order = ["does_something", "rows", "version"]
    every = facts.versions.with_columns(
        rows=pl.sum_horizontal(*_CHANGES),
        does_something=~pl.col("is_noop").fill_null(False),
        is_first=pl.int_range(pl.len()) == 0,
        is_tagged=pl.col("tags") != "",
    ).sort(order, descending=True)
    is_best = pl.int_range(pl.len()).over("kind") == 0
    ranked = every.with_columns(is_best=is_best).sort(
        "is_first", "is_best", "is_tagged", *order, descending=True
    )
    chosen = ranked.head(_MOST_LANDMARKS).sort("version")
    said = [
        f"Version {row['version']:,}, {_day(row['timestamp'])}: {row[WHAT_IT_DID]}"
        for row in chosen.iter_rows(named=True)
    ]
    rest = ranked.slice(_MOST_LANDMARKS)
    if len(rest):
        said.append(f"And {plural(len(rest), 'more commit')}: {_kinds(rest.sort('version'))}.")
    return said


def _span(every: pl.DataFrame) -> str:
    first, last = every.row(0, named=True), every.row(-1, named=True)
    began = "The table began" if first["version"] == 1 else "The oldest kept version is from"
    return (
        f"{began} {_day(first['timestamp'])} with {_state(first)}. Version {last['version']:,}, of "
        f"{_day(last['timestamp'])}, has {_state(last)}."
    )


def _state(version: dict[str, Any]) -> str:
    rows = "unknown rows" if version["num_rows"] is None else plural(version["num_rows"], "row")
    data = "data of unknown size" if version["data_bytes"] is None else size(version["data_bytes"])
    return f"{rows} in {plural(version['num_fragments'], 'fragment')}, {data}"


def _commits(every: pl.DataFrame) -> str:
    return f"Kept commits: {len(every):,} ({_kinds(every)})."


def _kinds(commits: pl.DataFrame) -> str:
    """Return how many commits there are of each kind, the most first."""
    counts = (
        commits.group_by("kind", maintain_order=True)
        .len()
        .sort("len", descending=True, maintain_order=True)
    )
    return ", ".join([f"{number:,} {kind}" for kind, number in counts.iter_rows()])


def _rows(every: pl.DataFrame) -> str:
    counts = {did: int(every[name].sum()) for name, did in _CHANGES.items()}
    done = [f"{rows:,} {did}" for did, rows in counts.items() if rows]
    unknown = every.select(pl.any_horizontal(pl.col(*_CHANGES).is_null()).sum()).item()
    beside = f", not counting {plural(unknown, 'commit')} with unknown counts" if unknown else ""
    return f"Rows that they changed: {', '.join(done) or 'none'}{beside}."


def _gaps(view: HistoryView) -> str:
    lost = int(frame(view, "gaps")["num_versions"].sum())
    return (
        f"{plural(lost, 'version')} cannot be read any more." if lost else "No version is missing."
    )


def _advice(facts: Facts) -> str:
    words = advice_counts(facts.advice)
    return f"Findings and advice: {words}." if words else f"{NOTHING_TO_DO}."


def _day(time: datetime | None) -> str:
    return f"{time:%Y-%m-%d}" if time else "unknown day"
