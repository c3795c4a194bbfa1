"""A whole history as arrays: what a browser needs to draw any version without asking again.

Only the words on each commit take long; the browser asks for them when they come into view.
"""

from typing import Any, TypeVar

import polars as pl
from msgspec.structs import asdict

from lance_explorer.figures.fragment_origins import state_origins
from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.frames.known_from import recorded_words
from lance_explorer.history.memories import notes
from lance_explorer.table import Table
from lance_explorer.widgets.arrays import codes, flags, floats, integers
from lance_explorer.widgets.messages.shared import Tag
from lance_explorer.widgets.messages.versions import Gap, VersionData

__all__ = ["version_data"]

_LONGEST_MESSAGE = 1000
_KINDS = list(KIND_COLORS)


_Data = TypeVar("_Data", bound=VersionData)


def version_data(table: Table, kind: type[_Data] = VersionData, **more: Any) -> _Data:  # type: ignore[assignment]
    """Return all kept versions, and all states of fragments with the versions that contain them.

    It is made once for all views, until the table is refreshed.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    kind : type
        What is returned.
    **more
        What that has besides.
    """
    made = _made(table._view)
    if not made:
        made.append(_version_data(table))
    return kind(**asdict(made[0]), **more)


_made = notes(list[VersionData])
"""A list of the data of a view; empty until somebody asks."""


def _version_data(table: Table) -> VersionData:
    versions = table.versions()
    states = state_origins(table.inspect.all_fragments(), versions)
    kept = versions["version"]
    made_at = kept.search_sorted(states["created_in"].fill_null(0), "left").cast(pl.Int32)
    return VersionData(
        name=table._view.name,
        branch=table.branch,
        recorded_words=recorded_words(table._view),
        kinds=_KINDS,
        operations=versions["operation"].to_list(),
        messages=[_short(message) for message in versions["message"]],
        tags=[
            Tag(tag, position)
            for position, tags in enumerate(versions["tags"])
            for tag in filter(None, tags.split(", "))
        ],
        gaps=[
            Gap(str(first), str(last), reason)
            for first, last, reason in table.inspect.gaps()
            .select("first_version", "last_version", "reason")
            .iter_rows()
        ],
        versions=kept.to_numpy(),
        times=floats(versions["timestamp"].dt.timestamp("us") / 1000),
        kind=codes(versions["kind"], _KINDS),
        is_recorded=flags(versions["known_from"] == "ledger"),
        num_rows=floats(versions["num_rows"]),
        num_deleted_rows=floats(versions["num_deleted_rows"]),
        num_fragments=floats(versions["num_fragments"]),
        data_bytes=floats(versions["data_bytes"]),
        state_fragment=states["fragment_id"].to_numpy(),
        state_slot=integers(states["fragment_id"].rank("dense") - 1),
        state_first=integers(states["position"]),
        state_last=integers(states["last_position"]),
        state_made_at=made_at.set(states["created_in"].is_null(), -1).to_numpy(),
        state_kind=codes(states["created_by"], _KINDS),
        state_rows=floats(states["physical_rows"]),
        state_deleted=floats(states["num_deleted_rows"]),
        state_bytes=floats(states["data_bytes"]),
        state_files=floats(states["num_data_files"]),
    )


def _short(message: str | None) -> str | None:
    if message is None or len(message) <= _LONGEST_MESSAGE:
        return message
    return f"{message[:_LONGEST_MESSAGE]}... ({_LONGEST_MESSAGE:,} of {len(message):,} characters)"
