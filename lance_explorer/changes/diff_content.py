"""Whether two versions hold the same rows, regardless of row IDs and files.

Every cell outside common fragments is hashed, and the hashes of a column are added up: equal sums
of 128 bits mean equal values, in any order. With row IDs, a cell is hashed together with its row
ID, which proves that each row has its own values.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import polars as pl
from polars import selectors

from lance_explorer.answers import Answer, Section
from lance_explorer.format.schema import Field, column_fields, field_paths
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["SameContent", "compare_content", "same_by_metadata"]

Method = Literal["metadata", "row ID", "multiset hash"]

_ROW_ID = "_rowid"
_SEEDS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
"""Two independent hashes of 64 bits: both sums are equal by chance once in 2^128."""

_MANY_ROWS = 8_192

_MOST_COLUMNS = 20
_FEW = 2


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
    num_rows_before, num_rows_after : int or None
        Live rows of the first and of the second version; None if that is not known.
    num_compared_before, num_compared_after : int
        Of how many of them the values were read and compared. The others are in fragments that both
        versions share unchanged.

    Examples
    --------
    >>> print(table.diff(5, 6).same_content())
    Yes: both versions have the same columns in the same files, so no value had to be compared.
    >>> print(table.diff(1, 2).same_content())
    No: id, city and mood differ. Compared: 0 of 4 rows of the first version with 2 of 6 rows \
of the second; all others are in files that both versions have.
    """

    is_same: bool
    method: Method
    columns: tuple[str, ...]
    num_rows_before: int | None
    num_rows_after: int | None
    num_compared_before: int
    num_compared_after: int

    def __bool__(self) -> bool:
        return self.is_same

    def __str__(self) -> str:
        return _words(self)

    @property
    def answer(self) -> Answer:
        """Whether they do, in words."""
        return Answer(_words(self), (Section("content", None, asdict(self)),))


_PROOFS = {
    "row ID": "each row ID has the same values in both",
    "multiset hash": "both have the same rows, in any order and with any row IDs",
}


def _words(compared: SameContent) -> str:
    """Return the result of the comparison, and the number of rows."""
    if compared.method == "metadata":
        return (
            "Yes: both versions have the same columns in the same files, so no value had to be "
            "compared."
        )
    if compared.is_same:
        return f"Yes: {_PROOFS[compared.method]}. {_compared(compared)}"
    if compared.columns:
        what = _enumeration(compared.columns) + (
            " differs" if len(compared.columns) == 1 else " differ"
        )
    elif compared.num_compared_before == compared.num_compared_after:
        what = "each column has the same values, but in different rows"
    else:
        what = "the number of rows differs"
    return f"No: {what}. {_compared(compared)}"


def _compared(compared: SameContent) -> str:
    """Return how many rows of each version were compared, and where the others are."""
    of_first = _of(compared.num_compared_before, compared.num_rows_before)
    of_second = _of(compared.num_compared_after, compared.num_rows_after)
    counts = (compared.num_compared_before, compared.num_compared_after)
    is_all = counts == (compared.num_rows_before, compared.num_rows_after)
    others = "" if is_all else "; all others are in files that both versions have"
    return f"Compared: {of_first} of the first version with {of_second} of the second{others}."


def _of(compared: int, total: int | None) -> str:
    if total is None:
        return _rows(compared)
    if compared == total:
        return _rows(total) if total < _FEW else f"all {_rows(total)}"
    return f"{compared:,} of {_rows(total)}"


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def _enumeration(names: tuple[str, ...]) -> str:
    """Return names as a list in words, cut if there are many."""
    shown = [*names[:_MOST_COLUMNS]]
    if len(names) > _MOST_COLUMNS:
        shown.append(f"{len(names) - _MOST_COLUMNS:,} more")
    return " and ".join([part for part in (", ".join(shown[:-1]), shown[-1]) if part])


def same_by_metadata(first: BranchVersion, second: BranchVersion) -> SameContent:
    """Return that both versions have the same columns in the same files."""
    return SameContent(True, "metadata", (), _num_rows(first), _num_rows(second), 0, 0)


def compare_content(
    first: BranchVersion,
    second: BranchVersion,
    fragments: tuple[Sequence[int], Sequence[int]],
    *,
    by_row_id: bool,
) -> SameContent:
    """Compare the rows of two versions.

    Parameters
    ----------
    first, second : BranchVersion
        The versions.
    fragments : tuple of two sequences of int
        The fragments of each that the other has not as they are.
    by_row_id : bool
        Whether equal row IDs are the same row.
    """
    schemas = [place.view.version(place.version).records[0].schema for place in (first, second)]
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
    return SameContent(
        is_same and not columns,
        method,
        columns,
        _num_rows(first),
        _num_rows(second),
        one.num_rows,
        other.num_rows,
    )


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
    def of(cls, place: BranchVersion, fragments: Sequence[int], columns: Sequence[str]) -> "_Sums":
        from lance_explorer.values import content_batches

        sums = cls(
            0, (0, 0), (0, 0), dict.fromkeys(columns, (0, 0)), dict.fromkeys(columns, (0, 0))
        )
        storage = place.view.storage
        names = [*columns, _ROW_ID]
        check_blob = check_values(place.view, place.version)
        batches = content_batches(
            value_root(place.view, place.version),
            place.version,
            fragments,
            names,
            storage.options,
            check_blob,
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
    """Return hashes of pairs of hashes, since a plain sum would mix up the pairs."""
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


def _num_rows(place: BranchVersion) -> int | None:
    """Return the live rows of a version; None if they are not known."""
    rows = place.view.version(place.version).live_rows
    return None if (rows < 0).any() else int(rows.sum())


def _all_fragments(place: BranchVersion) -> list[int]:
    return [state.id for state in place.view.version(place.version).states]
