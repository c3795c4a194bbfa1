"""What is lost with the files that a cleanup removes."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from lance_explorer.disk.cleanup import Cleanup
from lance_explorer.format.operation_names import OperationName
from lance_explorer.frames.columns import COUNT, TEXT, Column, FrameSchema
from lance_explorer.frames.sizes import counted
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.intervals import intervals_of

__all__ = ["LOSSES", "losses"]

_WHAT = ["damage", "time_travel", "values", "row_history", "compaction_lineage", "index"]

LOSSES = FrameSchema(
    "cleanup_losses",
    (
        Column(
            "what",
            pl.Enum(_WHAT),
            "what is lost; `damage`: something that is kept could no longer be read",
        ),
        Column("count", COUNT, "how many versions, files, commits or segments are concerned"),
        Column("message", TEXT, "what that means"),
        Column("ledger_keeps", pl.Boolean(), "whether a ledger that recorded it still knows it"),
    ),
)


class _Loss(NamedTuple):
    what: str
    num: int
    message: str
    ledger_keeps: bool = False


def losses(found: Cleanup, objects: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each kind of loss, the worst first; ``objects`` is whose each file is."""
    every = [*_damage(found, objects), *_lost(found)]
    columns = zip(*every, strict=True) if every else ((),) * len(LOSSES.names)
    return LOSSES.build(dict(zip(LOSSES.names, map(list, columns), strict=True)))


def _damage(found: Cleanup, objects: pl.DataFrame) -> Iterator[_Loss]:
    """Yield what would be broken: Lance does not know, or does not ask, who else needs a file."""
    branch = found.survey.source.branch
    is_other = ~pl.col("branch").eq_missing(pl.lit(branch, pl.String))
    is_other |= pl.col("is_detached") | pl.col("clone").is_not_null()
    others = found.survey.named.frame.filter(is_other, pl.col("kind") != "manifest")[
        "path"
    ].implode()
    going = objects.join(found.files.select("path", "is_unverified"), on="path")
    status = pl.col("status").cast(pl.String)
    folder = pl.col("path").str.extract(r"^(.*_indices/[^/]+/)")
    is_named = pl.any_horizontal(pl.col("path").is_in(others), folder.is_in(others))
    needed = going.filter(status == "pinned", is_named.fill_null(False))
    if going.is_empty():
        return
    for (reason,), some in needed.group_by("reason", maintain_order=True):
        who = str(reason).removeprefix("kept by ")
        files = counted(len(some), "file")
        yield _Loss("damage", len(some), f"{files} that {who} needs: Lance does not look there")
    for ref in found.survey.source.unreadable_refs:
        if ref.kind == "branch":
            which = "branches" if ref.name is None else f"branch {ref.name}"
            yield _Loss("damage", 1, f"perhaps files that {which} needs: {ref.problem}")
    young = going.filter("is_unverified", status == "in_flight")
    if len(young):
        files = counted(len(young), "file")
        message = f"{files} that no version names, and young: a commit under way would lose them"
        yield _Loss("damage", len(young), message)


def _lost(found: Cleanup) -> Iterator[_Loss]:
    """Yield what only the removed versions tell."""
    records = found.survey.source.history.records
    gone = [record for record in records if record.version in found.removed_versions]
    kept = [record for record in records if record.version in found.reasons]
    if not gone:
        return
    yield _Loss("time_travel", len(gone), _time_travel(gone, kept))
    is_value = pl.col("kind").is_in(["data", "blob"]) & ~pl.col("is_unverified")
    if files := len(found.files.filter(is_value)):
        message = f"what {counted(files, 'data file')} hold: rows deleted, or values updated, since"
        yield _Loss("values", files, message)
    message = "what these commits did to each row, and why: predicates and messages"
    yield _Loss("row_history", len(gone), message, ledger_keeps=True)
    if rewrites := sum([record.operation == OperationName.REWRITE for record in gone]):
        message = f"which fragments became which in {counted(rewrites, 'compaction')}, as recorded"
        yield _Loss("compaction_lineage", rewrites, message, ledger_keeps=True)
    segments = {segment.uuid for segment in intervals_of([r.indices for r in gone])[0]}
    segments -= {segment.uuid for segment in intervals_of([r.indices for r in kept])[0]}
    if segments:
        message = f"{counted(len(segments), 'index segment')} of these versions"
        yield _Loss("index", len(segments), message)


def _time_travel(gone: list[VersionRecord], kept: list[VersionRecord]) -> str:
    since = kept[0].manifest.timestamp
    time = "" if since is None else f", of {since:%Y-%m-%d %H:%M} UTC"
    span = f"{gone[0].version}" if len(gone) == 1 else f"{gone[0].version} to {gone[-1].version}"
    return (
        f"{counted(len(gone), 'version')} ({span}) can no longer be opened, compared or restored; "
        f"the oldest is {kept[0].version} then{time}"
    )
