"""A whole history as arrays: what a browser needs to draw any version without asking again.

Only the words on each commit take long to find; they are asked for as they are looked at.
"""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.figures.fragment_origins import state_origins
from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.frames.known_from import recorded_words
from lance_explorer.history.memories import notes
from lance_explorer.table import Table
from lance_explorer.widgets.packing import floats, packed
from lance_explorer.widgets.view import Reply

__all__ = ["version_data"]

_LONGEST_MESSAGE = 1000
_KINDS = list(KIND_COLORS)
_UNKNOWN_KIND = len(_KINDS)


def version_data(table: Table) -> Reply:
    """Return all kept versions, and all states of fragments with the versions they were there in.

    Each array of ``arrays`` is a buffer, with its name and its type in JavaScript. Those that begin
    with ``state_`` have one value for each row of ``all_fragments``, ordered by fragment; the
    others one for each kept version. Positions count kept versions from 0. A count that is unknown
    is NaN, a position -1.

    It is made once for all views, as long as the table is not refreshed.
    """
    made = _made(table._view)
    if not made:
        made.append(_version_data(table))
    return made[0]


_made = notes(list[Reply])
"""In a list: the reply for a view; nothing until somebody asks."""


def _version_data(table: Table) -> Reply:
    versions = table.versions()
    states = state_origins(table.inspect.all_fragments(), versions)
    arrays = {**_version_arrays(versions), **_state_arrays(states, versions["version"])}
    content = {
        "name": table._view.name,
        "branch": table.branch,
        "recorded_words": recorded_words(table._view),
        "kinds": _KINDS,
        "operations": versions["operation"].to_list(),
        "messages": [_short(message) for message in versions["message"]],
        "tags": [
            {"name": tag, "position": position}
            for position, tags in enumerate(versions["tags"])
            for tag in filter(None, tags.split(", "))
        ],
        "gaps": [
            {"first": str(first), "last": str(last), "reason": reason}
            for first, last, reason in table.inspect.gaps()
            .select("first_version", "last_version", "reason")
            .iter_rows()
        ],
    }
    return packed(arrays, content)


def _version_arrays(versions: pl.DataFrame) -> dict[str, NDArray[Any]]:
    milliseconds = versions["timestamp"].dt.timestamp("us") / 1000
    return {
        "versions": versions["version"].to_numpy(),
        "times": floats(milliseconds),
        "kind": _kind_codes(versions["kind"]),
        "is_recorded": (versions["known_from"] == "ledger").cast(pl.UInt8).to_numpy(),
        **{
            name: floats(versions[name])
            for name in ("num_rows", "num_deleted_rows", "num_fragments", "data_bytes")
        },
    }


def _state_arrays(states: pl.DataFrame, versions: pl.Series) -> dict[str, NDArray[Any]]:
    made_at = versions.search_sorted(states["made_in"].fill_null(0), "left").cast(pl.Int32)
    return {
        "state_fragment": states["fragment_id"].to_numpy(),
        "state_slot": (states["fragment_id"].rank("dense") - 1).cast(pl.Int32).to_numpy(),
        "state_first": states["position"].cast(pl.Int32).to_numpy(),
        "state_last": states["last_position"].cast(pl.Int32).to_numpy(),
        "state_made_at": made_at.set(states["made_in"].is_null(), -1).to_numpy(),
        "state_kind": _kind_codes(states["made_by"]),
        "state_rows": floats(states["physical_rows"]),
        "state_deleted": floats(states["num_deleted_rows"]),
        "state_bytes": floats(states["data_bytes"]),
        "state_files": floats(states["num_data_files"]),
    }


def _kind_codes(kinds: pl.Series) -> NDArray[np.uint8]:
    names = pl.Series(_KINDS, dtype=pl.String)
    codes = pl.Series(range(len(_KINDS)), dtype=pl.UInt8)
    text = kinds.cast(pl.String)
    return text.replace_strict(
        names, codes, default=_UNKNOWN_KIND, return_dtype=pl.UInt8
    ).to_numpy()


def _short(message: str | None) -> str | None:
    if message is None or len(message) <= _LONGEST_MESSAGE:
        return message
    return f"{message[:_LONGEST_MESSAGE]}... ({_LONGEST_MESSAGE:,} of {len(message):,} characters)"
