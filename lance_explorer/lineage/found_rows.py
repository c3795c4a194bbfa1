"""Found rows as a frame: the versions with the same values, and the event that ended them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.frames.columns import (
    BRANCH,
    COUNT,
    EVIDENCE,
    ID,
    KNOWN_FROM,
    TEXT,
    TIME,
    Column,
    FrameSchema,
)
from lance_explorer.frames.commit_facts import COMMIT_FACTS, facts_of_records
from lance_explorer.frames.followed import EVENT
from lance_explorer.frames.known_from import known_from
from lance_explorer.history.events.doubtful_links import last_links_at
from lance_explorer.history.events.follow_rows import trace
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.lineage.event_frame import enum_series
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["FOUND", "Sightings", "found_frame", "merged"]

FOUND = FrameSchema(
    "found",
    (
        BRANCH,
        Column(
            "_rowid",
            ID,
            "row ID, null if the row never got one; without stable row IDs, the row address in "
            "last_version",
            nullable=True,
        ),
        Column("_rowaddr", ID, "row address in last_version"),
        Column(
            "_row",
            COUNT,
            "number of the row among those found: the same in all lines of one row, also where "
            "its address is another",
        ),
        Column("first_version", ID, "first kept version in which the row was found like this"),
        Column("last_version", ID, "last such version"),
        Column("versions_kept", COUNT, "kept versions from the one to the other"),
        Column(
            "first_version_exact",
            pl.Boolean(),
            "false if the version before is not kept, or was not searched yet",
        ),
        Column("is_live", pl.Boolean(), "whether last_version is the latest"),
        Column(
            "ended_as",
            EVENT,
            "what happened to the row then; null if it is live, if it cannot be told, or if the "
            "filter does not fit the columns of the version after",
            nullable=True,
        ),
        Column(
            "ended_version", ID, "version of that event; null if the row is live", nullable=True
        ),
        Column("ended_at", TIME, "when that was committed", nullable=True),
        Column(
            "ended_operation",
            TEXT,
            "the commit's operation as Lance names it; null if it is not kept",
            nullable=True,
        ),
        *COMMIT_FACTS,
        Column("is_uncertain", pl.Boolean(), "whether that event may be a weaker one"),
        Column(
            "evidence", EVIDENCE, "how the event is known; null if there is none", nullable=True
        ),
        KNOWN_FROM,
    ),
)
"""The columns of ``Found.to_polars()`` before the values of the rows.

The facts on a commit are those of the commit that ended the row.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Sightings:
    """Ranges of versions in which rows were found, ordered by row.

    Attributes
    ----------
    identity, address : ndarray of uint64
        Who the row is, and where it was last.
    first, last : ndarray of int64
        The positions of the stretch.
    content : ndarray of int64
        A number for the files that the values are in.
    """

    identity: Uint64Array
    address: Uint64Array
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    content: NDArray[np.int64]

    @classmethod
    def concatenated(cls, parts: Sequence["Sightings"]) -> "Sightings":
        """Return all of some."""
        ids, numbers = [np.empty(0, dtype=np.uint64)], [np.empty(0, dtype=np.int64)]
        return cls(
            identity=np.concatenate(ids + [part.identity for part in parts]),
            address=np.concatenate(ids + [part.address for part in parts]),
            first=np.concatenate(numbers + [part.first for part in parts]),
            last=np.concatenate(numbers + [part.last for part in parts]),
            content=np.concatenate(numbers + [part.content for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.identity)

    def where(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> "Sightings":
        """Return some of them."""
        return Sightings(
            self.identity[chosen],
            self.address[chosen],
            self.first[chosen],
            self.last[chosen],
            self.content[chosen],
        )

    def in_order(self) -> "Sightings":
        """Return them by row, oldest first, merging ranges in the same place and files."""
        ordered = self.where(np.lexsort((self.first, self.identity)))
        same = ordered.address[1:] == ordered.address[:-1]
        same &= ordered.content[1:] == ordered.content[:-1]
        return ordered.joined(ordered.continues() & same)

    def joined(self, follows: NDArray[np.bool_]) -> "Sightings":
        """Merge ranges that continue the previous one."""
        if not len(self):
            return self
        begins = np.flatnonzero(np.append(True, ~follows))
        ends = np.append(begins[1:], len(self)) - 1
        return Sightings(
            self.identity[begins],
            self.address[ends],
            self.first[begins],
            self.last[ends],
            self.content[ends],
        )

    def continues(self) -> NDArray[np.bool_]:
        """Return for each but the first whether it continues the row of the one before."""
        same = self.identity[1:] == self.identity[:-1]
        continues: NDArray[np.bool_] = same & (self.first[1:] == self.last[:-1] + 1)
        return continues


def merged(
    rows: StateRows,
    seen: Sightings,
    values: pl.DataFrame,
    has: Mapping[str, NDArray[np.bool_]],
    *,
    has_blobs: bool,
) -> tuple[Sightings, pl.DataFrame]:
    """Return ranges, merged if they continue with the same values, and the values of each.

    Parameters
    ----------
    rows : StateRows
        The rows of the states of a branch.
    seen : Sightings
        The stretches, by row, oldest first. One of a row that may be another one is apart.
    values : polars.DataFrame
        The values of the row in each.
    has : mapping of str to ndarray of bool
        For each column which versions had it; one that came or went parts no two stretches, and has
        the last value that it had in them.
    has_blobs : bool
        Whether blobs are among the values.
    """
    if not len(seen):
        return seen, values
    links = np.full(len(seen), -1, dtype=np.int64)
    for position in np.unique(seen.last).tolist() if rows.doubtful_links else ():
        here = seen.last == position
        links[here] = last_links_at(rows, position, seen.identity[here])
    same = seen.continues() & (links[1:] == links[:-1])
    if not values.width:  # none can be read
        return seen.joined(same), values
    if has_blobs:  # of which only positions and sizes are read: equal ones prove nothing elsewhere
        same &= (seen.address[1:] == seen.address[:-1]) & (seen.content[1:] == seen.content[:-1])
    numbers, known = np.arange(len(seen)), dict[str, NDArray[np.int64]]()
    begins = np.maximum.accumulate(np.where(np.append(True, ~same), numbers, 0))
    for name, there in has.items():
        last = np.maximum.accumulate(np.where(there, numbers, -1))
        known[name] = np.where(last < begins, numbers, last)
        ordered = values[name].gather(known[name])
        same &= ~(
            ordered.ne_missing(ordered.shift(1)).to_numpy()[1:] & there[1:] & (last >= begins)[:-1]
        )
    begins = np.maximum.accumulate(np.where(np.append(True, ~same), numbers, 0))
    ends = np.flatnonzero(np.append(~same, True))
    shown = []
    for name in values.columns:
        last = known[name]
        place = np.where(last < begins, numbers, last)
        shown.append(values[name].gather(place[ends]))
    return seen.joined(same), pl.DataFrame(shown)


def found_frame(
    rows: StateRows, seen: Sightings, values: pl.DataFrame, searched_from: int
) -> pl.DataFrame:
    """Return the frame, newest first.

    Parameters
    ----------
    rows : StateRows
        The rows of the states of a branch.
    seen : Sightings
        When each row was found.
    values : polars.DataFrame
        Its values then.
    searched_from : int
        The first position that was searched.
    """
    history, view = rows.history, rows.view
    order = np.lexsort((seen.address, -seen.last))
    seen, values = seen.where(order), values[order] if values.width else values
    is_live = seen.last == len(history) - 1
    versions = history.versions
    ends = _ends(rows, seen, is_live)
    exact = history.begins_exactly[seen.first] & (
        (seen.first > searched_from) | (searched_from == 0)
    )
    fields = {
        "branch": [view.branch] * len(seen),
        "_rowid": _names(rows, seen),
        "_rowaddr": seen.address,
        "_row": pl.Series(seen.identity, dtype=ID).rank("dense").cast(pl.Int64) - 1,
        "first_version": versions[seen.first],
        "last_version": versions[seen.last],
        "versions_kept": seen.last - seen.first + 1,
        "first_version_exact": exact,
        "is_live": is_live,
        **{name: ends[name] for name in ends.columns},
        "known_from": known_from(view, versions[seen.last]),
    }
    return FOUND.build(fields).hstack(values)


def _names(rows: StateRows, seen: Sightings) -> pl.Series:
    """Return row IDs, null for rows that never got one; without row IDs the addresses."""
    if not rows.has_row_ids:
        return pl.Series(seen.address, dtype=ID)
    names = pl.Series(rows.row_ids(seen.identity), dtype=ID)
    return names.set(pl.Series(rows.never_had_ids(seen.identity)), None)


def _ends(rows: StateRows, seen: Sightings, is_live: NDArray[np.bool_]) -> pl.DataFrame:
    """Return the event that ended each range, a line each; nulls if the row is live."""
    history, view = rows.history, rows.view
    position = np.where(is_live, -1, seen.last + 1)
    lines = pl.DataFrame({"identity": seen.identity, "position": position})
    events = lines.join(
        _events(rows, lines.filter(pl.col("position") >= 0)),
        on=["identity", "position"],
        how="left",
        maintain_order="left",
    )
    records = {n: history.records[n] for n in np.unique(position).tolist() if n >= 0}
    said = facts_of_records((view, record) for record in records.values())
    commits = pl.DataFrame(
        {
            "position": [*records],
            "own_version": [record.version for record in records.values()],
            "ended_at": [record.manifest.timestamp for record in records.values()],
            "ended_operation": [record.operation for record in records.values()],
            **said,
        },
        schema={
            "position": pl.Int64(),
            "own_version": ID,
            "ended_at": TIME,
            "ended_operation": TEXT,
            **dict.fromkeys(said, TEXT),
        },
    )
    ends = events.join(commits, on="position", how="left", maintain_order="left")
    ended = pl.coalesce("version", "own_version")
    is_own = ended == pl.col("own_version")
    of_commit = ("ended_at", "ended_operation", *said)
    return ends.select(
        pl.col("event").alias("ended_as"),
        ended.alias("ended_version"),
        *[pl.when(is_own).then(pl.col(name)).alias(name) for name in of_commit],
        pl.col("is_uncertain").fill_null(False),
        "evidence",
    )


def _events(rows: StateRows, lines: pl.DataFrame) -> pl.DataFrame:
    """Return the events of some rows at some positions; of several the one that ended the row."""
    parts = [
        pl.DataFrame(
            schema={
                "identity": ID,
                "position": pl.Int64(),
                "event": EVENT,
                "version": ID,
                "is_uncertain": pl.Boolean(),
                "evidence": EVIDENCE,
                "is_gone": pl.Boolean(),
            }
        )
    ]
    identities = np.unique(lines["identity"].to_numpy())
    positions = lines["position"].unique().sort().to_list()
    for some in trace(rows, identities, positions):
        events, run = some.events, some.run
        parts.append(
            pl.DataFrame(
                {
                    "identity": identities[some.row],
                    "position": np.full(len(run), events.step.position, dtype=np.int64),
                    "event": enum_series(events.event[run], EVENT),
                    "version": events.version[run],
                    "is_uncertain": events.is_uncertain[run],
                    "evidence": enum_series(events.evidence[run], EVIDENCE),
                    "is_gone": some.after == NO_ADDRESS,
                }
            )
        )
    every = pl.concat(parts).sort("is_gone", "version", descending=True)
    return every.unique(["identity", "position"], keep="first").drop("is_gone")
