"""Summaries of columns of fragments in the user's cache folder: a data file never changes.

A summary is kept for the rows that no version deleted; for the other rows the values are kept, if
there are not too many. It is valid as long as these rows are in the same data files. So after a new
commit only new files are read, and the fragments in which it deleted rows. They contain values of
the table, so only the user may read the folder.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version as release_of
from io import BytesIO
from typing import Any, NamedTuple

import datasketches
import numpy as np
import polars as pl
from pyroaring import BitMap

from lance_explorer.format.fragments import Fragment
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.cache_files import (
    cache_folder,
    file_names,
    read_file,
    remove_file,
    write_file,
)
from lance_explorer.ledger.places import folder_of
from lance_explorer.lineage.stored_rows import Wanted, files_of
from lance_explorer.profiles.digests import Digest
from lance_explorer.profiles.measures import Leaf

__all__ = ["MOST_BYTES", "Summaries", "Summary", "summary_key"]

_NAME = "summaries-"
_MOST_FILES = 16

MOST_BYTES = 128 << 10
"""The most bytes of values that are kept of a column of a fragment; with more, nothing is kept."""

_AT_ONCE = 32
"""The number of values that become Python numbers at a time."""

_VALUES = -1
"""Marks the line of a column whose values are kept."""

_SCHEMA = pl.Schema(
    {
        "key": pl.String(),
        "line": pl.Int32(),
        "offsets": pl.Binary(),
        "counts": pl.List(pl.Int64()),
        "sums": pl.List(pl.Float64()),
        "numbers": pl.List(pl.Float64()),
        "sketch": pl.Binary(),
        "hashes": pl.List(pl.UInt64()),
        "centre": pl.List(pl.Float64()),
        "times": pl.List(pl.Int64()),
        "values": pl.Binary(),
    }
)


class Summary(NamedTuple):
    """What is kept of a column of a fragment.

    Attributes
    ----------
    rest : list of Digest
        The summary of the rows that no version deleted, for each line of the column in a profile;
        none if they are among the values.
    offsets : BitMap
        Rows of which the values are kept.
    values : polars.Series
        The values, by offset.
    """

    rest: list[Digest]
    offsets: BitMap
    values: pl.Series

    def of(self, offsets: BitMap) -> pl.Series | None:
        """Return the values of some rows; None if not all are kept."""
        if not offsets <= self.offsets:
            return None
        own = np.array(self.offsets.to_array(), dtype=np.int64)
        return self.values.gather(np.searchsorted(own, np.array(offsets.to_array())))


def summary_key(fragment: Fragment, wanted: Wanted, leaves: Sequence[Leaf], deleted: BitMap) -> str:
    """Return the key of a column of a fragment: its files, their meaning, and deletions.

    Two summaries with the same key have the same ``rest``.

    Parameters
    ----------
    fragment : Fragment
        The fragment, in any version with these files.
    wanted : Wanted
        The fields that are read, and their types.
    leaves : sequence of Leaf
        The lines of the column in a profile.
    deleted : BitMap
        The rows that some of the versions deleted.
    """
    measures = [(str(leaf.dtype), leaf.measure) for leaf in leaves]
    bases = [file.base_id for file in fragment.files]
    files = files_of(fragment, wanted.fields)
    asked = _release(), wanted.schema, files, bases, fragment.physical_rows, measures
    return sha256(repr(asked).encode() + deleted.serialize()).hexdigest()[:32]


class Summaries:
    """The summaries that are kept of a table.

    Parameters
    ----------
    view : HistoryView
        The table.
    """

    def __init__(self, view: HistoryView) -> None:
        self._folder = folder_of(view.uri)
        self._new = dict[str, Summary]()
        self._files = file_names(self._folder, _NAME)
        frames = [_frame(read_file(self._folder, name)) for name in self._files]
        self._known = pl.concat([_SCHEMA.to_frame(), *frames]).unique(["key", "line"], keep="last")
        self._rows = self._known.partition_by("key", as_dict=True)

    @classmethod
    def of(cls, view: HistoryView) -> "Summaries | None":
        """Return the summaries of a table; None if the cache is off."""
        return None if cache_folder() is None else cls(view)

    def get(self, key: str) -> Summary | None:
        """Return a summary; None if it is not kept."""
        frame = self._rows.get((key,))
        if frame is None:
            return None
        rows = frame.sort("line").to_dicts()
        if rows[0]["line"] != _VALUES:
            return None
        offsets, values = BitMap.deserialize(rows[0]["offsets"]), _unpacked(rows[0]["values"])
        return Summary([*map(_digest, rows[1:])], offsets, values)

    def note(self, key: str, summary: Summary) -> None:
        """Note a new summary."""
        self._new[key] = summary

    def keep(self) -> None:
        """Write the new summaries, and merge many files into one."""
        frames = list[pl.DataFrame]()
        while self._new:
            some = [self._new.popitem() for _ in range(min(_AT_ONCE, len(self._new)))]
            rows = [row for one in some for row in _rows_of(*one)]
            frames.append(pl.DataFrame(rows, schema=_SCHEMA))
        if not frames:
            return
        frame, old = pl.concat(frames), list[str]()
        if len(self._files) >= _MOST_FILES:
            frame, old = pl.concat([self._known, frame]), self._files
        data = BytesIO()
        frame.unique(["key", "line"], keep="last", maintain_order=True).write_parquet(data)
        digest = sha256(data.getvalue()).hexdigest()[:32]
        write_file(self._folder, f"{_NAME}{digest}.parquet", data.getvalue())
        for one in old:
            remove_file(self._folder, one)


@cache
def _release() -> str:
    return release_of("lance-explorer")


def _frame(data: bytes | None) -> pl.DataFrame:
    try:
        return pl.read_parquet(BytesIO(data or b"")).select(*_SCHEMA).cast(_SCHEMA)
    except (pl.exceptions.PolarsError, OSError):  # such as one cut off
        return _SCHEMA.to_frame()


def _rows_of(key: str, summary: Summary) -> Iterator[dict[str, Any]]:
    """Yield the rows of a summary; none if a value would not be the same after reading it back."""
    try:
        own = {
            "offsets": summary.offsets.serialize(),
            "values": _packed(summary.values),
        }
        rows = [{"line": _VALUES, **own}]
        rows += [{"line": line, **_row(one)} for line, one in enumerate(summary.rest)]
    except (pl.exceptions.PolarsError, TypeError, OverflowError, ValueError):
        return
    yield from ({"key": key, **row} for row in rows)


def _row(one: Digest) -> dict[str, Any]:
    """Return a summary as a row.

    Raises
    ------
    ValueError
        If its values would not be the same after reading them back.
    """
    typed = [one.least, one.most, *one.values]
    values = _packed(pl.Series("", typed, strict=True))
    if _unpacked(values).to_list() != typed:
        raise ValueError("the values have several types")
    return {
        "counts": [one.num_rows, one.num_nulls, one.num_nan, one.count, one.missed],
        "sums": [one.total, one.square],
        "numbers": None if one.numbers is None else one.numbers.tolist(),
        "sketch": None if one.sketch is None else one.sketch.serialize(),
        "hashes": one.hashes.tolist(),
        "centre": None if one.centre is None else one.centre.tolist(),
        "times": [*one.values.values()],
        "values": values,
    }


def _digest(row: dict[str, Any]) -> Digest:
    num_rows, num_nulls, num_nan, count, missed = row["counts"]
    total, square = row["sums"]
    least, most, *values = _unpacked(row["values"]).to_list()
    digest = Digest(num_rows, num_nulls, num_nan, count, total, square, least=least, most=most)
    sketch, numbers, centre = row["sketch"], row["numbers"], row["centre"]
    return replace(
        digest,
        numbers=None if numbers is None else np.array(numbers, dtype=np.float64),
        sketch=None if sketch is None else datasketches.kll_doubles_sketch.deserialize(sketch),
        values=dict(zip(values, row["times"], strict=True)),
        missed=missed,
        hashes=np.array(row["hashes"], dtype=np.uint64),
        centre=None if centre is None else np.array(centre, dtype=np.float64),
    )


def _packed(values: pl.Series) -> bytes:
    buffer = BytesIO()
    values.alias("values").to_frame().write_ipc(buffer, compression="zstd")
    return buffer.getvalue()


def _unpacked(data: bytes) -> pl.Series:
    return pl.read_ipc(BytesIO(data))["values"]
