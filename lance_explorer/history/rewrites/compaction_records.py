"""Compaction lineage: the records of which fragments became which, in which compaction.

The names and fields are those that the Lance community proposed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

import polars as pl

from lance_explorer.format.fragment_reuse import FragDigest
from lance_explorer.history.rewrites.groups import num_live
from lance_explorer.shown import described

__all__ = [
    "CompactionLineage",
    "CompactionLineageEntry",
    "FragDigest",
    "FragReuseGroup",
    "newest_first",
]


@dataclass(frozen=True, slots=True)
class FragReuseGroup:
    """Fragments, in order, that were rewritten into others, in order."""

    old_frags: tuple[FragDigest, ...]
    new_frags: tuple[FragDigest, ...]


@dataclass(frozen=True, slots=True)
class CompactionLineageEntry:
    """One compaction.

    Entries of the same compaction are equal, whatever their source; ``source`` does not count for
    equality.

    Attributes
    ----------
    compaction_id : str or None
        UUID of its transaction. None, like the next two, if the compaction is known only from a
        fragment reuse index.
    timestamp : datetime or None
        When it was committed, in UTC.
    source_version : int or None
        Version that it read.
    target_version : int
        Version that it created.
    rewrite_groups : tuple of FragReuseGroup
        Which fragments were rewritten into which.
    source : str or None
        Where this comes from.
    """

    compaction_id: str | None
    timestamp: datetime | None
    source_version: int | None
    target_version: int
    rewrite_groups: tuple[FragReuseGroup, ...]
    source: str | None = field(default=None, compare=False)

    @property
    def is_complete(self) -> bool:
        """Whether everything that a stored entry must contain is known."""
        return None not in (self.compaction_id, self.timestamp, self.source_version)


@dataclass(frozen=True, slots=True)
class CompactionLineage:
    """The compactions of a table, newest first; ``max_entries`` is the most that are stored.

    None for ``max_entries`` means no limit. Compactions known from transactions are not limited.
    """

    entries: tuple[CompactionLineageEntry, ...] = ()
    max_entries: int | None = None

    def to_frame(self) -> pl.DataFrame:
        """Return the entries as a frame: one row for each rewrite group, newest compaction first.

        Returns
        -------
        pl.DataFrame
            ``target_version`` (UInt64) the version that the compaction created; ``timestamp``
            (Datetime, UTC; may be null); ``group`` (Int64) number of the group in the compaction;
            ``old_fragment_ids`` and ``new_fragment_ids`` (List of UInt64); ``rows_moved`` and
            ``rows_dropped`` (Int64; null if only fragments are known) live and deleted rows of the
            old fragments; ``source_version`` (UInt64; may be null) the version that was read;
            ``compaction_id`` and ``source`` (String; may be null).

        Examples
        --------
        >>> from lance_explorer.history.rewrites.compaction_records import CompactionLineage
        >>> CompactionLineage().to_frame().height
        0
        """
        rows = [
            (entry, number, group)
            for entry in self.entries
            for number, group in enumerate(entry.rewrite_groups)
        ]
        return pl.DataFrame(
            {
                "target_version": [entry.target_version for entry, _, _ in rows],
                "timestamp": [entry.timestamp for entry, _, _ in rows],
                "group": [number for _, number, _ in rows],
                "old_fragment_ids": [_ids(group.old_frags) for _, _, group in rows],
                "new_fragment_ids": [_ids(group.new_frags) for _, _, group in rows],
                "rows_moved": [_live(group.old_frags) for _, _, group in rows],
                "rows_dropped": [_deleted(group.old_frags) for _, _, group in rows],
                "source_version": [entry.source_version for entry, _, _ in rows],
                "compaction_id": [entry.compaction_id for entry, _, _ in rows],
                "source": [entry.source for entry, _, _ in rows],
            },
            schema=_FRAME,
        )

    @described
    def __repr__(self) -> str:
        count = len(self.entries)
        text = f"CompactionLineage: {count:,} compaction{'' if count == 1 else 's'}"
        if self.entries:
            text += f", the latest in version {self.entries[0].target_version}"
        return text if self.max_entries is None else f"{text}; at most {self.max_entries:,} stored"

    def _repr_html_(self) -> str:
        return f"<div><strong>{self!r}</strong>{self.to_frame()._repr_html_()}</div>"


_FRAME = pl.Schema(
    {
        "target_version": pl.UInt64(),
        "timestamp": pl.Datetime("us", "UTC"),
        "group": pl.Int64(),
        "old_fragment_ids": pl.List(pl.UInt64()),
        "new_fragment_ids": pl.List(pl.UInt64()),
        "rows_moved": pl.Int64(),
        "rows_dropped": pl.Int64(),
        "source_version": pl.UInt64(),
        "compaction_id": pl.String(),
        "source": pl.String(),
    }
)


def newest_first(entries: Iterable[CompactionLineageEntry]) -> tuple[CompactionLineageEntry, ...]:
    """Return entries by the version that they created, the highest first."""
    return tuple(sorted(entries, key=lambda entry: entry.target_version, reverse=True))


def _ids(digests: Iterable[FragDigest]) -> list[int]:
    return [digest.id for digest in digests]


def _live(digests: Iterable[FragDigest]) -> int | None:
    return _sum([num_live(digest) for digest in digests])


def _deleted(digests: Iterable[FragDigest]) -> int | None:
    return _sum([digest.num_deleted_rows for digest in digests])


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
