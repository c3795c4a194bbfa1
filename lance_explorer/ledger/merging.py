"""Merge small segments into larger ones, so that a ledger of many recordings has few files."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import version as release_of

import polars as pl

from lance_explorer.errors import FormatError
from lance_explorer.ledger.kinds import FILES, SECTIONS
from lance_explorer.ledger.lives import Life
from lance_explorer.ledger.recorded_table import RecordedTable
from lance_explorer.ledger.segments import About, Segment, write_segment
from lance_explorer.ledger.sidecars import sidecar_names

__all__ = ["delete_replaced", "forget_versions", "merge_branch"]

_KEPT_FOR = timedelta(hours=24)
"""How long merged segments stay for processes that are reading them."""

_RATIO = 2


def merge_branch(table: RecordedTable, branch: str | None, *, everything: bool = False) -> None:
    """Merge segments of a branch if needed, and delete those merged a day ago."""
    now = datetime.now(UTC)
    counts = list[Segment]()
    for life in table.lives(branch):
        some = _to_merge(life.segments, everything=everything)
        counts += [one for one in life.segments if one not in some]
        if some:
            try:
                counts.append(_merge_segments(some, release_of("lance-explorer"), now))
            except FormatError:  # they stay as they are, damaged
                counts += some
    if table.is_whole(branch):
        delete_replaced(counts, now)
    table.forget(branch)


def _to_merge(segments: Sequence[Segment], *, everything: bool = False) -> Sequence[Segment]:
    """Return the segments to merge into one, none if all is well.

    Each segment is kept at least twice as large as all later ones together, so that there are few,
    and each row is rewritten only a few times.
    """
    ordered = sorted(segments, key=lambda one: (one.about.recorded_at, one.file))
    if everything:
        return ordered if len(ordered) > 1 else ()
    later, begin = 0, len(ordered)
    for number in range(len(ordered) - 1, -1, -1):
        size = max(ordered[number].about.num_rows, 1)
        if later and size < _RATIO * later:
            begin = number
        later += size
    return ordered[begin:]


def _merge_segments(segments: Sequence[Segment], release: str, now: datetime) -> Segment:
    """Write one segment with the content of several."""
    place, folder = segments[0].place, segments[0].folder
    versions, fragments = _united(segments)
    keys = [*versions["schema_key"].to_list(), *versions["indices_key"].to_list()]
    sections = pl.concat([one.read(SECTIONS.name) for one in segments]).unique("key")
    files = pl.concat([one.read(FILES.name) for one in segments]).unique(["root", "path"])
    refs = pl.concat([one.read("refs") for one in segments]).unique(maintain_order=True)
    there = {info.name for info in place.files(folder)}
    replaces = {name for one in segments for name in (*one.names, *one.about.replaces)} & there
    about = About(
        segments[-1].about.uri,
        segments[-1].about.branch,
        now.isoformat(timespec="microseconds"),
        release,
        replaces=sorted(replaces),
        after=segments[0].about.after,
        left_out=sorted({name for one in segments for name in one.about.left_out}),
    )
    frames = {
        "versions": versions,
        "fragments": fragments,
        "sections": sections.filter(pl.col("key").is_in(keys)).sort("key"),
        "files": files.sort("root", "path"),
        "refs": refs.sort("seen_at", "path"),
    }
    return write_segment(place, folder, frames, about)


def delete_replaced(segments: Sequence[Segment], now: datetime) -> int:
    """Delete segments that were merged more than a day ago, and unnamed files.

    Parameters
    ----------
    segments : sequence of Segment
        All segments of a branch that count.
    now : datetime
        The time, in UTC.

    Returns
    -------
    int
        How many files were deleted.
    """
    if not segments:
        return 0
    place, folder = segments[0].place, segments[0].folder
    old = {one.name for one in place.files(folder) if _is_old(one.modified_ns, now)}
    named = {name for one in segments for name in one.names}
    young = {name for one in segments if one.file not in old for name in one.about.replaces}
    doomed = [name for name in old - named - young if _is_ours(name)]
    for name in sorted(doomed, key=lambda name: (not name.startswith("versions-"), name)):
        place.delete(f"{folder}/{name}")
    return len(doomed)


def forget_versions(
    lives: Sequence[Life], before: int | datetime | None, release: str
) -> list[Segment]:
    """Write what remains of some lives when versions before one, or before a time, are forgotten.

    Returns
    -------
    list of Segment
        The remaining segments; none if everything is forgotten. The older segments can be deleted.
    """
    kept = list[Segment]()
    if before is None:
        return kept
    for life in lives:
        log = life.log
        is_kept = (
            pl.col("version") >= before
            if isinstance(before, int)
            else (pl.col("committed_at") >= _in_utc(before)).fill_null(value=False)
        )
        first = log.versions.filter(is_kept)["version"].to_list()[:1]
        if not first:
            continue
        versions, fragments = log.from_version_on(first[0])
        keys = [*versions["schema_key"].to_list(), *versions["indices_key"].to_list()]
        parts = {
            kind: pl.concat([one.read(kind) for one in life.segments]).unique(maintain_order=True)
            for kind in ("sections", "files", "refs")
        }
        parts["sections"] = parts["sections"].filter(pl.col("key").is_in(keys))
        messages = fragments["message"].drop_nulls()
        named = {name for message in messages for name in sidecar_names(message)}
        is_named = pl.col("path").str.split("/").list.last().is_in(list(named))
        parts["files"] = parts["files"].filter(is_named | (pl.col("kind") == "reuse"))
        about = replace(
            life.segments[-1].about,
            recorded_at=datetime.now(UTC).isoformat(timespec="microseconds"),
            release=release,
            replaces=[],
        )
        frames = {"versions": versions, "fragments": fragments, **parts}
        kept.append(write_segment(life.segments[0].place, life.segments[0].folder, frames, about))
    return kept


def _in_utc(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _united(segments: Sequence[Segment]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return versions, each once, and their changes of fragments."""
    every = pl.concat(
        [
            one.versions.with_columns(segment=pl.lit(number, pl.Int64))
            for number, one in enumerate(segments)
        ]
    )
    chosen = every.sort("version", "segment").unique("version", keep="first", maintain_order=True)
    parts = [
        one.read("fragments").join(
            chosen.filter(pl.col("segment") == number).select("version"), on="version", how="semi"
        )
        for number, one in enumerate(segments)
    ]
    return chosen.drop("segment"), pl.concat(parts).sort("version", "fragment_id")


def _is_old(modified_ns: int, now: datetime) -> bool:
    return now - datetime.fromtimestamp(modified_ns / 1e9, UTC) > _KEPT_FOR


def _is_ours(name: str) -> bool:
    return name.endswith(".parquet") or name.startswith(".unfinished-")
