"""What the overview says of a table: facts of its latest version, and what made it big."""

from typing import Any

import polars as pl

from lance_explorer.display import one_line
from lance_explorer.errors import LanceExplorerError
from lance_explorer.inspect.old_files import old_files
from lance_explorer.table import Table

__all__ = ["advice_data", "largest_commits", "table_facts"]

_MOST_COMMITS = 8
_MOST_NAMES = 5
_MOST_ADVICE = 100
_LONGEST_NAME = 60

_VIEWS = {
    "small_fragments": "files",
    "deleted_rows": "files",
    "spread_deleted_rows": "files",
    "old_version_bytes": "files",
    "many_versions": "files",
    "large_manifest": "files",
    "unindexed_rows": "indices",
    "stale_index_entries": "indices",
    "fragment_reuse_lags": "indices",
    "row_id_encoding": "encodings",
}
"""The view of the explorer that tells more, by the code of a finding."""


def table_facts(table: Table, versions: pl.DataFrame) -> dict[str, Any]:
    """Return what there is to say of the latest version that can be read, and of its refs.

    Counts are decimal strings, null where they are unknown.
    """
    latest = versions.row(-1, named=True)
    return {
        "version": str(latest["version"]),
        "latest_version": str(table.source.latest_version),
        **{
            name: None if latest[name] is None else str(latest[name])
            for name in (
                "num_rows",
                "num_deleted_rows",
                "num_fragments",
                "num_data_files",
                "data_bytes",
                "manifest_bytes",
            )
        },
        "num_lost": str(_num_lost(table)),
        "flags": latest["reader_flags"],
        "writer": " ".join([latest[name] for name in ("writer", "writer_version") if latest[name]]),
        "indices": _named(_index_names(table, latest["version"])),
        "tags": _named([name for name, tag in table.tags.items() if tag.branch == table.branch]),
        "branches": _named([*table.branches]),
        "old_bytes": str(int(old_files(table.source)["old_bytes"].sum())),
    }


def largest_commits(versions: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Return the commits that made the table big: by ``bytes``, and by ``rows``, largest first.

    Bytes are what the data of a version have more than those of the kept version before. Rows are
    those that the commit added, or, where that is not known, at least what the version has more. A
    version that follows lost ones has what they did, too: ``after`` is the one before these. The
    first kept version may have been as large before: ``is_first``.

    Examples
    --------
    >>> commits = largest_commits(table.versions())
    >>> [(commit["version"], commit["amount"]) for commit in commits["rows"]]
    [('1', '4'), ('3', '4'), ('2', '2')]
    """
    before = pl.col("version").shift(1)
    known = versions.with_columns(
        position=pl.int_range(pl.len()),
        after=pl.when(pl.col("version") != before + 1).then(before),
        is_first=(pl.int_range(pl.len()) == 0) & ~pl.col("kind").is_in(["create"]),
        bytes=_growth("data_bytes"),
        rows=pl.coalesce("rows_added", _growth("num_rows")),
        is_least=pl.col("rows_added").is_null(),
    )
    totals = {"bytes": "data_bytes", "rows": "num_rows"}
    return {measure: _largest(known, measure, total) for measure, total in totals.items()}


def _growth(name: str) -> pl.Expr:
    """Return how much more a version has than the kept one before; all of it in the first one."""
    is_start = pl.int_range(pl.len()) == 0
    return pl.when(is_start).then(pl.col(name)).otherwise(pl.col(name).diff())


def _largest(known: pl.DataFrame, measure: str, total: str) -> list[dict[str, Any]]:
    now = known[total].drop_nulls().tail(1)
    whole = int(now[0]) if len(now) else 0
    largest = known.filter(pl.col(measure) > 0).sort(
        measure, "position", descending=[True, False], maintain_order=True
    )
    return [
        {
            "position": commit["position"],
            "version": str(commit["version"]),
            "amount": str(commit[measure]),
            "share": commit[measure] / whole if whole else None,
            "after": None if commit["after"] is None else str(commit["after"]),
            "is_first": commit["is_first"],
            "is_least": measure == "rows" and commit["is_least"],
        }
        for commit in largest.head(_MOST_COMMITS).iter_rows(named=True)
    ]


def advice_data(found: pl.DataFrame) -> dict[str, Any]:
    """Return findings for the browser, the worst first; ``num_found`` is the number of all."""
    ordered = found.sort("severity", maintain_order=True)
    return {
        "num_found": len(found),
        "by_severity": {
            severity: len(some)
            for (severity,), some in found.partition_by("severity", as_dict=True).items()
        },
        "found": [
            {
                **row,
                "version": None if row["version"] is None else str(row["version"]),
                "fragment_id": None if row["fragment_id"] is None else str(row["fragment_id"]),
                "view": _VIEWS.get(row["code"]),
            }
            for row in ordered.head(_MOST_ADVICE).iter_rows(named=True)
        ],
    }


def _index_names(table: Table, version: int) -> list[str]:
    """Return the indices of a version, with their types."""
    try:
        indices = table.inspect.indices(version).filter(~pl.col("is_system"))
    except LanceExplorerError:
        return []  # the version went away since the history was read
    named = indices.unique("name", maintain_order=True).select("name", "index_type")
    return [f"{name} ({kind})" for name, kind in named.iter_rows()]


def _num_lost(table: Table) -> int:
    gaps = table.gaps
    return int((gaps["last_version"] - gaps["first_version"] + 1).sum()) if len(gaps) else 0


def _named(names: list[str]) -> dict[str, Any]:
    """Return how many names there are, and the first of them, each cut."""
    shown = [one_line(name, _LONGEST_NAME) for name in names[:_MOST_NAMES]]
    return {"count": len(names), "names": shown}
