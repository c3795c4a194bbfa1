"""What is lost with the files that a cleanup removes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from lance_explorer.disk.cleanup import Cleanup, cleanup
from lance_explorer.disk.roots import OWN
from lance_explorer.format.operation_names import OperationName
from lance_explorer.frames.columns import COUNT, TEXT, Column, FrameSchema
from lance_explorer.frames.sizes import byte_size, counted
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.intervals import intervals_of

__all__ = ["LOSSES", "losses", "without_damage"]

_WHAT = [
    "damage",
    "left_in_bases",
    "time_travel",
    "values",
    "row_history",
    "compaction_lineage",
    "index",
]

LOSSES = FrameSchema(
    "cleanup_losses",
    (
        Column(
            "what",
            pl.Enum(_WHAT),
            "what is lost; `damage`: something that is kept could no longer be read; "
            "`left_in_bases`: nobody tells any more whose these files are, and no cleanup removes "
            "them",
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


def losses(cleanup: Cleanup, objects: pl.DataFrame, left: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each kind of loss, the worst first.

    ``objects`` is whose each file is, ``left`` those in base paths that no version needs then.
    """
    every = [*_damage(cleanup, objects), *_left(left), *_lost(cleanup)]
    columns = zip(*every, strict=True) if every else ((),) * len(LOSSES.names)
    return LOSSES.build(dict(zip(LOSSES.names, map(list, columns), strict=True)))


def needed_by_others(cleanup: Cleanup, objects: pl.DataFrame) -> pl.DataFrame:
    """Return the files that would go and that others need: Lance does not know, or does not ask.

    ``named`` is how a version names the file: by its path, or by that of its folder.
    """
    branch = cleanup.survey.view.branch
    is_other = ~pl.col("branch").eq_missing(pl.lit(branch, pl.String))
    is_other |= pl.col("is_detached") | pl.col("clone").is_not_null()
    others = cleanup.survey.named.frame.filter(is_other, pl.col("kind") != "manifest")[
        "path"
    ].implode()
    own = objects.filter(base_uri=cleanup.survey.named.roots.uris[OWN])
    going = own.join(cleanup.files.select("path"), on="path")
    folder = pl.col("path").str.extract(r"^(.*_indices/[^/]+/)")
    named = going.with_columns(named=pl.when(folder.is_in(others)).then(folder).otherwise("path"))
    is_pinned = pl.col("status").cast(pl.String) == "pinned"
    return named.filter(is_pinned, pl.col("named").is_in(others))


def without_damage(planned: Cleanup, objects: pl.DataFrame) -> Cleanup | None:
    """Return the same cleanup, made safe: tags first, and no unknown files.

    None if even that damages something.
    """
    survey, view = planned.survey, planned.survey.view
    needed = needed_by_others(planned, objects)["named"].unique().implode()
    is_own = pl.col("branch").eq_missing(pl.lit(view.branch, pl.String)) & ~pl.col("is_detached")
    spans = (
        survey.named.frame.filter(is_own, pl.col("clone").is_null(), pl.col("path").is_in(needed))
        .sort("last")
        .unique("path", keep="last", maintain_order=True)
        .select("first", "last")
        .rows()
    )
    branches = view.refs.branches.values()
    forks = {branch.parent_version for branch in branches if branch.parent_branch == view.branch}
    tagged = set[int]()
    for first, last in spans:  # by their last versions, so that few versions are in all spans
        if not any(first <= version <= last for version in tagged):
            tagged.add(max((fork for fork in forks if first <= fork <= last), default=last))
    rules = replace(planned.rules, delete_unverified=False, tagged_before=tuple(sorted(tagged)))
    safe = cleanup(survey, rules)
    return None if any(_damage(safe, objects)) else safe


def _damage(cleanup: Cleanup, objects: pl.DataFrame) -> Iterator[_Loss]:
    """Yield what would be broken."""
    if cleanup.files.is_empty():
        return
    needed = needed_by_others(cleanup, objects)
    for (reason,), some in needed.group_by("reason", maintain_order=True):
        who = str(reason).removeprefix("kept by ")
        files = counted(len(some), "file")
        message = f"{who} could no longer be read: {files} that it needs would go"
        yield _Loss("damage", len(some), f"{message}, since Lance does not look there")
    for ref in cleanup.survey.view.refs.unreadable:
        if ref.kind == "branch":
            which = "branches" if ref.name is None else f"branch {ref.name}"
            yield _Loss("damage", 1, f"perhaps files that {which} needs: {ref.problem}")
    unverified = cleanup.files.filter("is_unverified").select("path")
    in_flight = objects.filter(pl.col("status").cast(pl.String) == "in_flight")
    young = in_flight.join(unverified, on="path", how="semi")
    if len(young):
        files = counted(len(young), "file")
        message = f"a commit under way would lose its files: {files} that no version names, young"
        yield _Loss("damage", len(young), message)


def _left(left: pl.DataFrame) -> Iterator[_Loss]:
    """Yield what stays in base paths, where Lance's cleanup does not look."""
    if len(left):
        size = byte_size(int(left["size_bytes"].sum()))
        message = (
            f"the names of {counted(len(left), 'file')}, {size}, in base paths: no version needs "
            "them then, and a cleanup does not remove them"
        )
        yield _Loss("left_in_bases", len(left), message, ledger_keeps=True)


def _lost(cleanup: Cleanup) -> Iterator[_Loss]:
    """Yield what only the removed versions record."""
    records = cleanup.survey.view.history.records
    gone = [record for record in records if record.version in cleanup.removed_versions]
    kept = [record for record in records if record.version in cleanup.reasons]
    if not gone:
        return
    yield _Loss("time_travel", len(gone), _time_travel(gone, kept))
    is_value = pl.col("kind").is_in(["data", "blob"]) & ~pl.col("is_unverified")
    if files := len(cleanup.files.filter(is_value)):
        message = (
            f"what {counted(files, 'data file')} hold: rows deleted, or values updated, since; a "
            "shallow clone that reads them breaks, and a table does not know its clones"
        )
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
