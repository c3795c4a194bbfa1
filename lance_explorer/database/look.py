"""What is known of one table of a database: one look, the source of all answers of a database."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import polars as pl

from lance_explorer.checks.all_checks import check_findings
from lance_explorer.database.members import Member
from lance_explorer.disk.survey import Survey, survey
from lance_explorer.disk.usage import USAGE, DiskUsage
from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import SEVERITIES, Finding
from lance_explorer.format.operation_names import OperationName
from lance_explorer.frames.columns import BYTES, COUNT, ID, TEXT, TIME, Column, FrameSchema
from lance_explorer.history.fragment_counts import totals
from lance_explorer.history.live import LiveTable
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragment_health import compaction_counts
from lance_explorer.inspect.index_summary import index_summary
from lance_explorer.storage import open_storage

__all__ = ["TABLES", "Look", "in_order", "is_left_out", "line_of", "look_at", "unread"]

_POINTS = 20
"""The number of versions for which the growth of a table is recorded."""

TABLES = FrameSchema(
    "tables",
    (
        Column("name", TEXT, "name of the table: its path in the folder, without `.lance`"),
        Column("uri", TEXT, "root of the table"),
        Column("problem", TEXT, "why it cannot be read; null: it can", nullable=True),
        Column(
            "worst",
            pl.Enum(SEVERITIES),
            "severity of the worst finding; null: nothing was found",
            nullable=True,
        ),
        Column("finding", TEXT, "what the worst finding says", nullable=True),
        Column("num_rows", COUNT, "rows in the latest version", nullable=True, unit="rows"),
        Column("num_fragments", COUNT, "fragments of the latest version", nullable=True),
        Column(
            "fragments_to_compact",
            COUNT,
            "of these, those that a compaction would rewrite: small ones and ones with many "
            "deleted rows",
            nullable=True,
        ),
        Column("num_versions", COUNT, "kept versions of the main branch", nullable=True),
        Column("latest_version", ID, "number of the latest version", nullable=True),
        Column("size_bytes", BYTES, "size of all its objects", nullable=True, unit="bytes"),
        Column("live_bytes", BYTES, "of these, what the latest version needs", True, "bytes"),
        Column("old_bytes", BYTES, "of these, what only older versions need", True, "bytes"),
        Column(
            "left_over_bytes",
            BYTES,
            "of these, what no version names and is older than seven days",
            nullable=True,
            unit="bytes",
        ),
        Column(
            "unindexed_rows",
            COUNT,
            "rows that the least complete index does not cover; null: no index, or not known",
            nullable=True,
            unit="rows",
        ),
        Column("last_commit", TIME, "time of the latest version", nullable=True),
        Column(
            "last_compaction",
            TIME,
            "time of the last compaction whose version is kept; null: none",
            nullable=True,
        ),
        Column(
            "last_cleanup_after",
            TIME,
            "the last cleanup was later than this: time of the first version after the last ones "
            "that were removed; null: no version was removed",
            nullable=True,
        ),
        Column(
            "growth",
            pl.List(BYTES),
            f"size of the data files in at most {_POINTS} kept versions, the first and the latest "
            "among them; null: not known",
            nullable=True,
            unit="bytes",
        ),
    ),
)
"""The columns of ``database.tables()``."""


@dataclass(frozen=True, slots=True)
class Look:
    """The state of a table at one time.

    Attributes
    ----------
    facts : mapping
        Its line in :data:`TABLES`.
    usage : polars.DataFrame
        What it takes on disk by kind and status, as ``table.disk_usage().summary()``.
    findings : tuple of Finding
        What a quick check found, the worst first.
    not_counted : tuple of str
        Why there may be more on disk.
    tags : tuple of str
        The names of its tags.
    bases : tuple of str
        The places that it reads beside its own root, as a clone reads its source.
    """

    facts: Mapping[str, object]
    usage: pl.DataFrame
    findings: tuple[Finding, ...] = ()
    not_counted: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the table."""
        return str(self.facts["name"])

    @property
    def uri(self) -> str:
        """Its root."""
        return str(self.facts["uri"])

    @property
    def problem(self) -> str | None:
        """Why the table cannot be read; None if it can."""
        return None if self.facts["problem"] is None else str(self.facts["problem"])


def look_at(member: Member, clones: Iterable[HistoryView] = ()) -> Look:
    """Look at a table; one that cannot be read is a look, too, with the reason."""
    try:
        table = member.open()
        return LiveTable(table._view).answer(lambda view: _seen(member, survey(view, clones)))
    except LanceExplorerError as error:
        return unread(member, str(error))


def line_of(view: HistoryView) -> pl.DataFrame:
    """Return the line of one table that is in no database."""
    return in_order([_seen(Member.of(view.uri), survey(view))])


def in_order(looks: Sequence[Look]) -> pl.DataFrame:
    """Return one row for each table: unreadable ones, the worst finding, most old files first."""
    frame = TABLES.build({name: [look.facts[name] for look in looks] for name in TABLES.names})
    rank = (
        pl.col("worst")
        .cast(TEXT)
        .replace_strict(
            {name: place for place, name in enumerate(SEVERITIES)}, default=len(SEVERITIES)
        )
    )
    waste = (pl.col("size_bytes") - pl.col("live_bytes")).fill_null(0)
    return frame.sort(
        pl.col("problem").is_null(), rank, -waste, pl.col("name"), maintain_order=True
    )


def _seen(member: Member, surveyed: Survey) -> Look:
    view, usage = surveyed.view, DiskUsage(surveyed)
    findings = check_findings(view, look=lambda _: surveyed)
    problem = None
    try:
        facts = _facts_of(view)
    except LanceExplorerError as error:
        facts, problem = {}, str(error)
    worst = next((one for one in findings if not is_left_out(one)), None)
    summary = usage.summary()
    by_status = dict(summary.group_by("status").agg(pl.col("size_bytes").sum()).iter_rows())
    given = {
        "name": member.name,
        "uri": member.uri,
        "problem": problem,
        "worst": worst and worst.severity,
        "finding": worst and worst.statement,
        "size_bytes": usage.total_bytes,
        "live_bytes": by_status.get("live", 0),
        "old_bytes": by_status.get("old", 0),
        "left_over_bytes": by_status.get("orphan", 0),
        **facts,
    }
    tags = tuple([tag.name for tag in view.refs.tags.values() if tag.branch == view.branch])
    roots = surveyed.named.roots
    used = [uri for place, uri in enumerate(roots.uris) if place]
    return Look(
        {name: given.get(name) for name in TABLES.names},
        summary,
        tuple(findings),
        tuple(usage.not_counted),
        tags,
        tuple(used),
    )


def is_left_out(finding: Finding) -> bool:
    """Return whether a finding only names what a quick check leaves out."""
    return finding.code == "not_checked" and finding.severity == "info"


def unread(member: Member, problem: str) -> Look:
    """Return the state of a table that cannot be read: the bytes in its folder."""
    sizes = list[int]()
    try:
        if member.problem is None:  # else it is not the database's
            storage = open_storage(member.uri, member.storage_options)
            sizes = [file.size_bytes for file in storage.live.list_all()]
    except LanceExplorerError:
        pass
    usage = USAGE.build(
        {
            "kind": ["other"] if sizes else [],
            "status": ["unknown"] if sizes else [],
            "num_objects": [len(sizes)] if sizes else [],
            "size_bytes": [sum(sizes)] if sizes else [],
        }
    )
    given = {"name": member.name, "uri": member.uri, "problem": problem, "size_bytes": sum(sizes)}
    return Look({name: given.get(name) for name in TABLES.names}, usage)


def _facts_of(view: HistoryView) -> dict[str, object]:
    """Return metadata of the latest version, and its upkeep."""
    latest = view.version(view.latest_version)
    history = view.history
    rows = int(totals(latest, latest.live_rows)[0])
    records = history.records
    compactions = [one for one in records if one.operation == OperationName.REWRITE]
    to_scan = index_summary(view, view.latest_version)["num_rows_to_scan"]
    is_known = len(to_scan) and not to_scan.null_count()
    return {
        "num_rows": rows if rows >= 0 else None,
        "num_fragments": len(latest.states),
        "fragments_to_compact": compaction_counts(latest, view)[0],
        "num_versions": len(view.listing.versions),
        "latest_version": view.latest_version,
        "unindexed_rows": to_scan.max() if is_known else None,
        "last_commit": latest.records[0].manifest.timestamp,
        "last_compaction": compactions[-1].manifest.timestamp if compactions else None,
        "last_cleanup_after": _cleanup(view),
        "growth": _growth(view),
    }


def _cleanup(view: HistoryView) -> datetime | None:
    """Return the time of the first version after the last removed ones.

    A cleanup never removes the latest version, so it ran after the version that follows a gap.
    """
    history = view.history
    versions = history.versions
    if not len(versions):
        return None
    before = np.concatenate([[0], versions[:-1]])
    gaps = np.flatnonzero(versions != before + 1)
    return history.records[int(gaps[-1])].manifest.timestamp if len(gaps) else None


def _growth(view: HistoryView) -> list[int] | None:
    history = view.history
    sizes = totals(history, history.states.data_bytes)
    if not len(sizes) or sizes.min() < 0:
        return None
    chosen = np.unique(np.linspace(0, len(sizes) - 1, _POINTS).round().astype(np.int64))
    return [int(size) for size in sizes[chosen]]
