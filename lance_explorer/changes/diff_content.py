"""Whether two versions hold the same rows, whatever they are called and wherever they lie.

Every cell that is not in a fragment which both versions have becomes a number, a hash of its value,
and the numbers of a column are added up: equal sums of 128 bits are equal values, in any order.
With row IDs the number is one of the cell and its row ID, so that each row is proved to have its
own values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from polars import selectors

from lance_explorer.changes.value_columns import column_fields
from lance_explorer.format.schema import Field, field_paths
from lance_explorer.history.ancestors import Place
from lance_explorer.history.readable import check_values
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["SameContent", "compare_content", "same_by_metadata"]

Method = Literal["metadata", "row ID", "multiset hash"]

_ROW_ID = "_rowid"
_SEEDS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
"""Two independent hashes of 64 bits: chance makes both sums equal once in 2^128."""

_MANY_ROWS = 8_192


@dataclass(frozen=True, slots=True)
class SameContent:
    """Whether two versions hold the same rows with the same values; true if they do.

    Attributes
    ----------
    is_same : bool
        Whether they do.
    method : {"metadata", "row ID", "multiset hash"}
        How that is known: both have the same files; each row ID has the same values; or there are
        the same rows, in whatever order and under whatever row ID.
    columns : tuple of str
        The columns that differ, also those that only one version has. None of them differs alone
        if the same values are in other rows.
    num_rows_before, num_rows_after : int
        Rows that were read, on each side; those of fragments that both have are not.
    """

    is_same: bool
    method: Method
    columns: tuple[str, ...]
    num_rows_before: int
    num_rows_after: int

    def __bool__(self) -> bool:
        return self.is_same


def same_by_metadata() -> SameContent:
    """Return that both versions have the same columns in the same files."""
    return SameContent(True, "metadata", (), 0, 0)


def compare_content(
    first: Place,
    second: Place,
    fragments: tuple[Sequence[int], Sequence[int]],
    *,
    by_row_id: bool,
) -> SameContent:
    """Compare the rows of two versions.

    Parameters
    ----------
    first, second : Place
        The versions.
    fragments : tuple of two sequences of int
        The fragments of each that the other has not as they are.
    by_row_id : bool
        Whether equal row IDs are the same row.

    Raises
    ------
    StorageError
        If a file cannot be read.
    """
    schemas = [place.source.version(place.version).records[0].schema for place in (first, second)]
    types = [_types(schema) for schema in schemas]
    both = types[0].keys() & types[1].keys()
    common = [name for name in types[1] if name in both and types[0][name] == types[1][name]]
    others = [name for name in (types[1] | types[0]) if name not in common]
    if _ids(schemas[0], common) != _ids(schemas[1], common):  # the same file has other columns
        fragments = (_all_fragments(first), _all_fragments(second))
    sums = [
        _Sums.of(place, ids, common) for place, ids in zip((first, second), fragments, strict=True)
    ]
    one, other = sums
    if by_row_id and one.num_rows == other.num_rows and one.row_ids == other.row_ids:
        differ = [name for name in common if one.by_row_id[name] != other.by_row_id[name]]
        method: Method = "row ID"
        is_same = not differ
    else:
        differ = [name for name in common if one.alone[name] != other.alone[name]]
        method = "multiset hash"
        is_same = one.num_rows == other.num_rows and one.rows == other.rows
    columns = (*differ, *others)
    return SameContent(is_same and not columns, method, columns, one.num_rows, other.num_rows)


Sum = tuple[int, int]


@dataclass(slots=True)
class _Sums:
    """Sums of hashes: of single columns, of columns with the row ID, of rows, and of row IDs."""

    num_rows: int
    row_ids: Sum
    rows: Sum
    alone: dict[str, Sum]
    by_row_id: dict[str, Sum]

    @classmethod
    def of(cls, place: Place, fragments: Sequence[int], columns: Sequence[str]) -> "_Sums":
        from lance_explorer.values import content_batches

        sums = cls(
            0, (0, 0), (0, 0), dict.fromkeys(columns, (0, 0)), dict.fromkeys(columns, (0, 0))
        )
        storage = place.source.storage
        names = [*columns, _ROW_ID]
        check_blob = check_values(place.source, place.version)
        batches = content_batches(
            storage.uri, place.version, fragments, names, storage.options, check_blob
        )
        for batch in batches:
            for some in batch.iter_slices(_MANY_ROWS):
                sums.add(some)
        return sums

    def add(self, batch: pl.DataFrame) -> None:
        """Add the rows of a batch."""
        batch = batch.with_columns(selectors.by_dtype(pl.Categorical).cast(pl.String))
        ids = [_hashes(batch[_ROW_ID], seed) for seed in _SEEDS]
        rows = [np.full(len(batch), seed, dtype=np.uint64) for seed in _SEEDS]
        self.num_rows += len(batch)
        self.row_ids = _plus(self.row_ids, ids)
        for name in self.alone:
            cells = [_hashes(batch[name], seed) for seed in _SEEDS]
            own = [_mixed(row_id, cell) for row_id, cell in zip(ids, cells, strict=True)]
            rows = [_mixed(row, cell) for row, cell in zip(rows, cells, strict=True)]
            self.alone[name] = _plus(self.alone[name], cells)
            self.by_row_id[name] = _plus(self.by_row_id[name], own)
        self.rows = _plus(self.rows, rows)


def _hashes(series: pl.Series, seed: int) -> Uint64Array:
    hashes: Uint64Array = series.hash(seed).to_numpy()
    return hashes


def _mixed(rows: Uint64Array, cells: Uint64Array) -> Uint64Array:
    """Return hashes of pairs of hashes: sums of them do not tell the parts of pairs apart."""
    mixed: Uint64Array = rows * np.uint64(_SEEDS[0]) + cells
    mixed ^= mixed >> np.uint64(31)
    mixed *= np.uint64(_SEEDS[1])
    return mixed ^ (mixed >> np.uint64(29))


def _plus(total: Sum, hashes: Sequence[Uint64Array]) -> Sum:
    first, second = [
        (old + int(some.sum(dtype=np.uint64))) % 2**64
        for old, some in zip(total, hashes, strict=True)
    ]
    return first, second


def _types(schema: tuple[Field, ...]) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return for each column the types of all its parts."""
    paths = field_paths(schema)
    return {
        name: tuple([(paths[field.id], field.logical_type) for field in parts])
        for name, parts in column_fields(schema).items()
    }


def _ids(schema: tuple[Field, ...], columns: Sequence[str]) -> list[list[int]]:
    by_name = column_fields(schema)
    return [[field.id for field in by_name[name]] for name in columns]


def _all_fragments(place: Place) -> list[int]:
    return [state.id for state in place.source.version(place.version).states]
