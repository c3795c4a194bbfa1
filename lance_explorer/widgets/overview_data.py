"""The overview of a table: facts of its latest version, and what made it big."""

import polars as pl
from msgspec.structs import asdict

from lance_explorer.display import branch_words, tag_words
from lance_explorer.errors import LanceExplorerError
from lance_explorer.frames.sizes import counted
from lance_explorer.inspect.size_origins import size_origins
from lance_explorer.inspect.size_words import headline, origin_note
from lance_explorer.shown import one_line
from lance_explorer.table import Table
from lance_explorer.values import SYSTEM_COLUMNS
from lance_explorer.widgets.grid_view import summaries
from lance_explorer.widgets.messages.answer import AnswerColumn, AnswerSection
from lance_explorer.widgets.messages.overview import (
    Headline,
    LargestCommits,
    LateCommit,
    Lately,
    LatestFacts,
    Listed,
    RestOfCommits,
    SizedCommit,
    Sizes,
    TableFacts,
)
from lance_explorer.widgets.row_sources import VersionRows

__all__ = ["first_rows", "lately", "latest_facts", "size_data", "table_facts"]

_MOST_COMMITS = 8
_NEWEST_COMMITS = 6
_FIRST_ROWS, _FIRST_COLUMNS = 5, 12
_MOST_NAMES = 5
_LONGEST_NAME = 80
_LONGEST_WORDS = 300


def table_facts(table: Table, versions: pl.DataFrame) -> TableFacts:
    """Return the facts of the latest version that can be read, and of its refs."""
    return TableFacts(**asdict(latest_facts(table, versions)), num_lost=str(_num_lost(table)))


def latest_facts(table: Table, versions: pl.DataFrame) -> LatestFacts:
    """Return the facts that the latest version contains by itself."""
    latest = versions.row(-1, named=True)
    time = latest["timestamp"]
    return LatestFacts(
        version=str(latest["version"]),
        latest_version=str(table._view.latest_version),
        num_rows=_number(latest["num_rows"]),
        num_deleted_rows=_number(latest["num_deleted_rows"]),
        num_fragments=str(latest["num_fragments"]),
        num_data_files=str(latest["num_data_files"]),
        data_bytes=_number(latest["data_bytes"]),
        manifest_bytes=str(latest["manifest_bytes"]),
        time=None if time is None else time.timestamp() * 1000,
        flags=[*filter(None, latest["reader_flags"].split(", "))],
        writer=" ".join([latest[name] for name in ("writer", "writer_version") if latest[name]]),
        indices=_named(_index_names(table, latest["version"])),
        tags=_named(tag_words(table._view)),
        branches=_named(branch_words(table._view)),
    )


def lately(table: Table) -> Lately:
    """Return the newest commits of the branch; no others are read.

    Examples
    --------
    >>> lately(table).commits[0].words
    'Field `mood` renamed to `score`.'
    """
    newest = table.log(limit=_NEWEST_COMMITS, all_branches=False)
    return Lately(
        [
            LateCommit(
                version=str(row["version"]),
                kind=row["kind"],
                time=None if row["timestamp"] is None else row["timestamp"].timestamp() * 1000,
                words=one_line(row["words"] or "", _LONGEST_WORDS),
                message=row["message"] and one_line(row["message"], _LONGEST_WORDS),
                who=(row["author"] or row["job"]) and one_line(row["author"] or row["job"], 40),
            )
            for row in newest.iter_rows(named=True)
        ]
    )


def first_rows(table: Table) -> AnswerSection:
    """Return the first rows of the latest version, with its first columns."""
    rows = VersionRows(table._view, table._view.latest_version)
    values = [name for name in rows.schema if name not in SYSTEM_COLUMNS]
    shown = summaries(rows.slice(0, _FIRST_ROWS, values[:_FIRST_COLUMNS]))
    more = len(values) - shown.width
    return AnswerSection(
        name="rows",
        title=f"and {counted(more, 'more column')}" if more > 0 else "",
        is_warning=False,
        lines=[],
        columns=[
            AnswerColumn(name, rows.schema[name].is_numeric(), False) for name in shown.columns
        ],
        rows=[[*row] for row in shown.iter_rows()],
        num_rows=shown.height,
    )


def _number(value: int | None) -> str | None:
    return None if value is None else str(value)


def size_data(table: Table) -> Sizes:
    """Return what made the table big: a headline, and the largest versions by bytes and by rows.

    Versions are those that wrote current data, at most eight; the others share ``rest``.

    Examples
    --------
    >>> found = size_data(table)
    >>> [(commit.version, commit.amount) for commit in found.rows.versions]
    [('3', '5'), ('1', '2'), ('2', '2')]
    """
    origins = size_origins(table._view)
    words = headline(origins)
    return Sizes(
        headline=None
        if words is None
        else Headline(words.before, words.link, str(words.version), words.after),
        bytes=_largest(table, origins, "size_bytes", "size_share"),
        rows=_largest(table, origins, "num_rows", "row_share"),
    )


def _largest(table: Table, origins: pl.DataFrame, measure: str, share: str) -> LargestCommits:
    """Return the versions that wrote most; none if a part, and so a share, is unknown."""
    known = origins.filter(pl.col(share).is_not_null() & (pl.col(measure) > 0))
    ordered = known.sort(measure, descending=True, maintain_order=True)
    rest = ordered.slice(_MOST_COMMITS)
    history = table._view.history
    return LargestCommits(
        [
            SizedCommit(
                version=str(row["version"]),
                position=history.position(row["version"]),
                amount=str(row[measure]),
                share=row[share],
                note=origin_note(row),
            )
            for row in ordered.head(_MOST_COMMITS).iter_rows(named=True)
        ],
        RestOfCommits(len(rest), str(rest[measure].sum()), float(rest[share].sum())),
    )


def _index_names(table: Table, version: int) -> list[str]:
    """Return the indices of a version, with their types."""
    try:
        indices = table.inspect.indices(version).filter(~pl.col("is_system"))
    except LanceExplorerError:
        return []  # the version went away since the history was read
    named = indices.unique("name", maintain_order=True).select("name", "index_type")
    return [f"{name} ({kind})" for name, kind in named.iter_rows()]


def _num_lost(table: Table) -> int:
    gaps = table.inspect.gaps()
    return int((gaps["last_version"] - gaps["first_version"] + 1).sum()) if len(gaps) else 0


def _named(names: list[str]) -> Listed:
    """Return how many names there are, and the first of them, each cut."""
    return Listed(len(names), [one_line(name, _LONGEST_NAME) for name in names[:_MOST_NAMES]])
