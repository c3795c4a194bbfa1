"""The recorded versions of one branch, combined from all segments that contain some."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.errors import CorruptFileError
from lance_explorer.format.manifest_parts import ManifestParts, put_together
from lance_explorer.ledger.kinds import CHANGE, FRAGMENTS, SECTIONS, VERSIONS
from lance_explorer.ledger.segments import Segment

__all__ = ["BranchLog", "Rows"]

_Key = tuple[int, str]
"""A version and the digest of its manifest: how one segment refers to a version of another."""


class Rows(NamedTuple):
    """Fragments and the positions of versions in which each exists, both included.

    ``ids`` are fragment IDs, ``messages`` numbers of rows of :attr:`BranchLog.changes`.
    """

    ids: NDArray[np.uint64]
    messages: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]


@dataclass(frozen=True)
class BranchLog:
    """Recorded versions of one life of a branch.

    Parameters
    ----------
    segments : sequence of Segment
        All segments of this life, in any order.
    """

    segments: Sequence[Segment]

    @cached_property
    def versions(self) -> pl.DataFrame:
        """One row for each version that can be rebuilt, ascending, with its ``segment``.

        A version that is encoded relative to a missing one is left out.
        """
        frames = [
            segment.versions.with_columns(segment=pl.lit(number, pl.Int64))
            for number, segment in enumerate(self.segments)
        ]
        if not frames:
            return pl.DataFrame()
        every = pl.concat(frames).sort("version", "segment", maintain_order=True)
        firsts = every.unique("version", keep="first", maintain_order=True)
        # Mostly each version is relative to the previous one.
        deltas = firsts.filter(pl.col("base_version").is_not_null())
        known = set(firsts.select("version", "sha256").iter_rows())
        bases = set(deltas.select("base_version", "base_sha256").iter_rows())
        if bases <= known:
            return firsts
        return _with_bases(every)

    @cached_property
    def _is_apart(self) -> NDArray[np.bool_]:
        return self.versions["layout"].is_not_null().to_numpy()

    @cached_property
    def _apart(self) -> pl.DataFrame:
        """The decoded versions, in order: positions count in them."""
        return self.versions.filter(pl.col("layout").is_not_null())

    @cached_property
    def changes(self) -> pl.DataFrame:
        """The changes of fragments of those versions, by ``position`` and fragment ID."""
        chosen = self._apart.select("version", "segment").with_row_index("position")
        chosen = chosen.with_columns(pl.col("position").cast(pl.Int64))
        parts = list[pl.DataFrame]()
        for (number,), some in chosen.group_by("segment", maintain_order=True):
            frame = self.segments[int(str(number))].read("fragments")
            parts.append(frame.join(some.drop("segment"), on="version", how="inner"))
        if not parts:
            return pl.DataFrame()
        return pl.concat(parts).sort("position", "fragment_id", maintain_order=True)

    @cached_property
    def rows(self) -> Rows:
        """The positions of each fragment, with the row of :attr:`changes`."""
        position, ids, is_removed, number = self._linear()
        order = np.lexsort((position, ids))
        position, ids, is_removed, number = (
            position[order],
            ids[order],
            is_removed[order],
            number[order],
        )
        end = np.full(len(ids), len(self._apart), dtype=np.int64)
        same = ids[1:] == ids[:-1]
        end[:-1][same] = position[1:][same]
        there = ~is_removed & (end > position)
        return Rows(ids[there], number[there], position[there], end[there] - 1)

    def from_version_on(self, version: int) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return versions and changes of fragments from a version on, that need none before it.

        Each version is encoded relative to the previous one, and the first one on its own.
        """
        kept = self.versions.filter(pl.col("version") >= version).select(VERSIONS.names)
        numbers = self._apart.select(
            pl.int_range(pl.len(), dtype=pl.Int64()).alias("position"), "version", "sha256"
        )
        apart = numbers.filter(pl.col("version") >= version)
        if not len(apart):
            return kept, FRAGMENTS.polars_schema.to_frame()
        rows = self.rows
        there = rows.last >= apart["position"][0]
        begins = np.maximum(rows.first[there], apart["position"][0])
        came = self.changes.drop("version", "change")[rows.messages[there]].with_columns(
            position=pl.Series(begins), fragment_id=pl.Series(rows.ids[there])
        )
        ended = there & (rows.last + 1 < len(self._apart))
        left = pl.DataFrame({"position": rows.last[ended] + 1, "fragment_id": rows.ids[ended]})
        place = ["position", "fragment_id"]
        fragments = came.join(left.with_columns(left=pl.lit("changed")), on=place, how="left")
        gone = left.join(came, on=place, how="anti").with_columns(left=pl.lit("removed"))
        fragments = (
            pl.concat([fragments, gone], how="diagonal")
            .with_columns(change=pl.col("left").fill_null("added").cast(CHANGE))
            .join(numbers, on="position")
            .sort(place)
        )
        bases = apart.select(
            "version",
            base_version=pl.col("version").shift(1),
            base_sha256=pl.col("sha256").shift(1),
        )
        versions = kept.drop("base_version", "base_sha256").join(
            bases, on="version", how="left", maintain_order="left"
        )
        return versions.select(VERSIONS.names), fragments.select(FRAGMENTS.names)

    def manifest(self, version: int) -> bytes | None:
        """Return the manifest file of a version; None if it is not recorded.

        Raises
        ------
        CorruptFileError
            If the rebuilt file is not the recorded one.
        """
        place = self._places.get(version)
        if place is None:
            return None
        row = self.versions.row(place, named=True)
        if row["raw"] is not None:
            raw: bytes = row["raw"]
            return raw
        position = int(self._is_apart[:place].sum())
        rows = self.rows
        some = np.flatnonzero((rows.first <= position) & (position <= rows.last))
        some = some[np.argsort(rows.ids[some], kind="stable")]
        messages = self.changes["message"].gather(rows.messages[some]).to_list()
        data = put_together(self.parts(row), messages)
        if len(data) != row["size_bytes"]:
            raise CorruptFileError(
                f"expected {row['size_bytes']} bytes of version {version}, found {len(data)}"
            )
        return data

    def parts(self, row: dict[str, Any]) -> ManifestParts:
        """Return the parts of a manifest, given a row of :attr:`versions`."""
        indices: str | None = row["indices_key"]
        return ManifestParts(
            layout=row["layout"],
            rest=row["rest"],
            schema=self.section(row["schema_key"]),
            manifest=row["manifest"],
            indices=None if indices is None else self.section(indices),
            transaction=row["transaction"] if row["transaction_path"] is None else None,
        )

    def section(self, key: str | None) -> bytes:
        """Return a schema or index section; None for no key."""
        if key is None:
            return b""
        try:
            return self._sections[key]
        except KeyError:
            raise CorruptFileError(f"the section {key} of a ledger is missing") from None

    @cached_property
    def _sections(self) -> dict[str, bytes]:
        sections = dict[str, bytes]()
        for segment in self.segments:
            frame = segment.read(SECTIONS.name)
            sections.update(zip(frame["key"].to_list(), frame["content"].to_list(), strict=True))
        return sections

    @cached_property
    def _places(self) -> dict[int, int]:
        return {version: place for place, version in enumerate(self.versions["version"].to_list())}

    def _linear(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.bool_], NDArray[np.int64]]:
        """Return the changes, each version relative to the previous one in this log."""
        changes = self.changes
        position = changes["position"].to_numpy()
        ids = changes["fragment_id"].to_numpy()
        is_removed = (changes["change"] == "removed").to_numpy()
        number = np.arange(len(changes))
        apart = self._apart
        before = pl.struct("version", "sha256").shift(1)
        base = pl.struct(
            pl.col("base_version").alias("version"), pl.col("base_sha256").alias("sha256")
        )
        follows = apart.select(
            pl.when(pl.col("version").shift(1).is_null())
            .then(pl.col("base_version").is_null())
            .otherwise((base == before).fill_null(value=False))
        ).to_series()
        if follows.all():
            return position, ids, is_removed, number
        return _changes_of(apart, follows.to_list(), position, ids, is_removed)


def _changes_of(
    apart: pl.DataFrame,
    follows: list[bool],
    position: NDArray[np.int64],
    ids: NDArray[np.uint64],
    is_removed: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.bool_], NDArray[np.int64]]:
    """Encode each version relative to its predecessor, if recorders used others."""
    keys = list(apart.select("version", "sha256").iter_rows())
    bases = list(apart.select("base_version", "base_sha256").iter_rows())
    asked = {base for base, is_next in zip(bases, follows, strict=True) if not is_next}
    begins = np.searchsorted(position, np.arange(len(keys) + 1))
    kept = dict[_Key | tuple[None, None], dict[int, int]]({(None, None): {}})
    there = dict[int, int]()
    changes = list[tuple[int, int, bool, int]]()
    for at, key in enumerate(keys):
        before = there
        there = dict(kept[bases[at]]) if not follows[at] else there
        some = range(int(begins[at]), int(begins[at + 1]))
        if follows[at]:
            changes += [(at, int(ids[row]), bool(is_removed[row]), row) for row in some]
        for row in some:
            if is_removed[row]:
                there.pop(int(ids[row]), None)
            else:
                there[int(ids[row])] = row
        if not follows[at]:
            changes += [(at, one, True, -1) for one in before if one not in there]
            changes += [
                (at, one, False, row) for one, row in there.items() if before.get(one) != row
            ]
        if key in asked:
            kept[key] = dict(there)
    columns = list(zip(*changes, strict=True)) or [(), (), (), ()]
    return (
        np.array(columns[0], np.int64),
        np.array(columns[1], np.uint64),
        np.array(columns[2], np.bool_),
        np.array(columns[3], np.int64),
    )


def _with_bases(every: pl.DataFrame) -> pl.DataFrame:
    """Choose for each version a segment that encodes it relative to a known one."""
    known = set[_Key]()
    chosen = list[int]()
    last = None
    rows = every.select("version", "sha256", "base_version", "base_sha256").iter_rows()
    for number, (version, digest, base, base_digest) in enumerate(rows):
        if version != last and (base is None or (base, base_digest) in known):
            chosen.append(number)
            known.add((version, digest))
            last = version
    return every[chosen]
