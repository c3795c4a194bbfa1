"""The log and one commit of it, as answers."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from lance_explorer.answers import Answer, Section
from lance_explorer.frames.sizes import byte_size, counted
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.log import LOG
from lance_explorer.inspect.log_graph import graph_cells
from lance_explorer.inspect.versions import VERSIONS

__all__ = ["commit_answer", "log_answer", "log_lines", "versions_answer"]

_SHOWN_VERSIONS = (
    "version",
    "timestamp",
    "operation",
    "num_rows",
    "rows_added",
    "rows_updated",
    "rows_deleted",
    "num_fragments",
    "data_bytes",
    "tags",
    "message",
)
_SHOWN = ("version", "branch", "words", "lane", "is_latest", "parent_branch", "parent_version")


def log_answer(log: pl.DataFrame, *, graph: bool | None = None, has_more: bool = False) -> Answer:
    """Return the log as an answer: the number of commits, and one line for each, newest first.

    Parameters
    ----------
    log : polars.DataFrame
        What ``table.log()`` gives.
    graph : bool, optional
        Whether branches are drawn; by default if there are any.
    has_more : bool
        Whether there are more commits, which were not asked for.

    Examples
    --------
    >>> from lance_explorer.inspect.log_answer import log_answer
    >>> log_answer(table.log(), graph=False).sentence
    '8 commits, the newest version ...'
    """
    is_drawn = log["branch"].n_unique() > 1 if graph is None else graph
    newest = f", the newest version {log['version'][0]} of {_day(log)}" if len(log) else ""
    first = "The newest " if has_more else ""
    return Answer(
        f"{first}{counted(len(log), 'commit')}{newest}.",
        (Section("commits", "", log, shown=log_lines(log, is_drawn=is_drawn), schema=LOG),),
        "table.log()",
    )


def versions_answer(view: HistoryView, versions: pl.DataFrame) -> Answer:
    """Return all versions as an answer; programs get unchanged messages."""
    stored = [record.transaction for record in view.history.records]
    exact = [transaction and transaction.header.message for transaction in stored]
    shown = [*_SHOWN_VERSIONS, *(["known_from"] if view.recorded_versions else [])]
    section = Section(
        "versions",
        "",
        versions.with_columns(pl.Series("message", exact, pl.String)),
        shown=versions.select(shown),
        schema=VERSIONS,
    )
    return Answer(f"{counted(len(versions), 'version')}.", (section,), "table.versions()")


def commit_answer(row: dict[str, Any], parts: Sequence[Section]) -> Answer:
    """Return one line of the log as an answer, with everything that is known of the commit."""
    branch = f" of branch {row['branch']}" if row["branch"] else ""
    facts = {
        name: value
        for name, value in row.items()
        if name not in _SHOWN and value not in (None, [], 0)
    }
    return Answer(
        f"Version {row['version']}{branch}: {row['words']}",
        (Section("commit", "", facts), *parts),
        f"table.log(since={row['version']}, until={row['version']})",
    )


def _day(log: pl.DataFrame) -> str:
    time = log["timestamp"][0]
    return "an unknown time" if time is None else f"{time:%Y-%m-%d %H:%M} UTC"


def log_lines(log: pl.DataFrame, *, is_drawn: bool) -> pl.DataFrame:
    """Return the log for people: one column says what happened."""
    rows = [
        {
            "graph": drawn,
            "version": row["version"],
            "time": None if row["timestamp"] is None else f"{row['timestamp']:%Y-%m-%d %H:%M}",
            "kind": row["kind"],
            "by": row["author"] or row["job"],
            "what": _what(row, is_drawn),
            "rows": row["num_rows"],
            "bytes": _change(row["data_bytes_change"]),
        }
        for drawn, row in zip(
            graph_cells(log) if is_drawn else [None] * len(log),
            log.iter_rows(named=True),
            strict=True,
        )
    ]
    texts = ("graph", "time", "kind", "by", "what", "bytes")
    schema = {"graph": pl.String, "version": pl.UInt64, **dict.fromkeys(texts[1:5], pl.String)}
    return pl.DataFrame(rows, schema={**schema, "rows": pl.Int64, "bytes": pl.String})


def _what(row: dict[str, Any], is_drawn: bool) -> str:
    marks = [f"({name})" for name in row["tags"].split(", ") if name]
    if is_drawn and row["is_latest"]:
        marks.append(f"[{row['branch'] or 'main'}]")
    message = [f"“{row['message']}”"] if row["message"] else []
    return " ".join([*marks, row["words"], *message])


def _change(num_bytes: int | None) -> str | None:
    if not num_bytes:
        return None
    return f"{'+' if num_bytes > 0 else '-'}{byte_size(abs(num_bytes))}"
