"""Profiles that were made before, in the user's cache folder: versions never change.

A profile is kept only if all values were read and nothing was in doubt. It is valid for the same
manifest files and the same columns. It holds frequent values of the table, so only the user may
read its folder, as all of the cache.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version as release_of
from io import BytesIO

import polars as pl

from lance_explorer.history.history import History
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.cache_files import cache_folder, read_file, write_file
from lance_explorer.ledger.places import folder_of
from lance_explorer.profiles.frame import PROFILE

__all__ = ["keep_profile", "kept_profile", "profile_key"]

_COLUMNS = "columns"
"""Metadata of a kept file: the columns, as JSON."""


def profile_key(
    view: HistoryView, history: History, positions: Sequence[int], columns: Sequence[str] | None
) -> str:
    """Return the key of a profile, which depends on versions and columns."""
    asked = (release_of("lance-explorer"), view.uri, view.branch, columns)
    digest = sha256(repr(asked).encode())
    for position in positions:
        file = history.records[position].file
        digest.update(repr((*file[:5], file.is_recorded)).encode())
    return digest.hexdigest()[:32]


def kept_profile(view: HistoryView, key: str) -> tuple[list[str], pl.DataFrame] | None:
    """Return the columns and lines of a kept profile; None if there is none."""
    if cache_folder() is None:
        return None
    data = read_file(folder_of(view.uri), _name(key))
    if data is None:
        return None
    try:
        frame = pl.read_parquet(BytesIO(data))
        columns = json.loads(pl.read_parquet_metadata(BytesIO(data))[_COLUMNS])
    except (pl.exceptions.PolarsError, OSError, KeyError, ValueError):  # such as one cut off
        return None
    return (columns, frame) if frame.schema == PROFILE.polars_schema else None


def keep_profile(view: HistoryView, key: str, columns: list[str], lines: pl.DataFrame) -> None:
    """Keep the columns and lines of a profile, if the cache is on."""
    if cache_folder() is None:
        return
    data = BytesIO()
    lines.write_parquet(data, metadata={_COLUMNS: json.dumps(columns)})
    write_file(folder_of(view.uri), _name(key), data.getvalue())


def _name(key: str) -> str:
    return f"profile-{key}.parquet"
