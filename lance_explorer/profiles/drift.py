"""Drift: how far the vector or number of each row moved between two versions."""

from collections.abc import Iterator
from itertools import chain

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap

from lance_explorer.answers import Answer, Answering, Place, Section
from lance_explorer.answers.calls import call
from lance_explorer.arguments import check_choice, whole_number
from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.feed_columns import feed_columns
from lance_explorer.changes.steps import ChangeStep, VersionRange
from lance_explorer.changes.summaries import num_rows_of
from lance_explorer.errors import (
    InvalidArgumentError,
    LanceExplorerError,
    StorageError,
    VersionNotFoundError,
)
from lance_explorer.frames.columns import COUNT, ID, TEXT, Column, FrameSchema
from lance_explorer.frames.documented import documented
from lance_explorer.frames.sizes import counted, percent
from lance_explorer.history.columns.value_columns import ValueColumns, column_types
from lance_explorer.history.events.address_identities import identities_at
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.paths import EMPTY
from lance_explorer.history.progress import with_progress
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.values.later_values import values_at
from lance_explorer.profiles.digests import quantiles_of
from lance_explorer.rowids.addresses import FRAGMENT_BITS
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["DRIFT", "DRIFT_SUMMARY", "Drift", "cosines", "drift_between", "is_vector"]

_MOVERS_SHOWN = 10
_BYTES_AT_ONCE = 96 << 20
_BATCH_BYTES = 8 << 20
_ROWS_SCANNED_PER_ROW_TAKEN = 8
_OFFSETS = (1 << FRAGMENT_BITS) - 1
_RANKS = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_BINS = 24

_Vectors = NDArray[np.float32] | NDArray[np.float64]

DRIFT = FrameSchema(
    "drift",
    (
        Column("_rowid", ID, "row ID; without stable row IDs, the address in the later version"),
        Column("_rowaddr_before", ID, "row address in the earlier version"),
        Column("_rowaddr_after", ID, "row address in the later version"),
        Column(
            "l2",
            pl.Float64(),
            "Euclidean distance of the two values, in 64-bit floats",
            nullable=True,
        ),
        Column(
            "cosine",
            pl.Float64(),
            "cosine between the two vectors; null for numbers, and where a vector is zero",
            nullable=True,
        ),
        Column(
            "is_uncertain",
            pl.Boolean(),
            "whether the two values may belong to two rows: versions in between are lost",
        ),
    ),
)
"""The columns of ``Drift.to_polars()``; distances are null where a value is null or NaN."""

_QUANTILES = pl.List(pl.Float64())

DRIFT_SUMMARY = FrameSchema(
    "drift_summary",
    (
        Column("column", TEXT, "name of the column in the later version"),
        Column("num_rows", COUNT, "rows that both versions have"),
        Column("num_unchanged", COUNT, "rows that were not written, or have the same value"),
        Column("num_moved", COUNT, "rows with another value"),
        Column("num_null", COUNT, "rows where a value is null or NaN"),
        Column(
            "num_unpaired",
            COUNT,
            "inserted rows that may be updated ones: with a `key`, the changes pair them",
        ),
        Column("l2_mean", pl.Float64(), "mean distance of values that moved", nullable=True),
        Column("l2_quantiles", _QUANTILES, f"its quantiles at {', '.join(map(str, _RANKS))}"),
        Column("cosine_mean", pl.Float64(), "mean cosine of those", nullable=True),
        Column("cosine_quantiles", _QUANTILES, "its quantiles at the same ranks"),
        Column(
            "centroid_l2", pl.Float64(), "distance of the centroids of rows written", nullable=True
        ),
        Column("centroid_cosine", pl.Float64(), "cosine between these centroids", nullable=True),
    ),
)
"""The columns of ``Drift.summary()``."""


def drift_between(versions: VersionRange, step: ChangeStep, column: str) -> "Drift":
    """Return how far values moved: see :meth:`lance_explorer.changes.change_feed.Changes.drift`."""
    if not versions.begin_is_kept or step.before is None:
        raise VersionNotFoundError(
            f"version {versions.begin_version} is not kept, so its values are lost"
        )
    if step.before == EMPTY or versions.end == EMPTY:
        raise InvalidArgumentError("the empty table has no values: begin_version is 1 or later")
    columns = feed_columns(versions.rows, [step.before], step.after, [column])
    return Drift(versions, step, column, _Pairs(versions, step, columns, column))


class Drift(Answering):
    """How far the vector or number of each row moved between two versions.

    Made by :meth:`~lance_explorer.changes.change_feed.Changes.drift`.

    Attributes
    ----------
    column : str
        The column, as the later version calls it.
    """

    def __init__(
        self, versions: VersionRange, step: ChangeStep, column: str, pairs: "_Pairs"
    ) -> None:
        self.column = column
        self._versions = versions
        written = pairs.runs
        self._frame = DRIFT.build(
            {
                "_rowid": versions.row_ids(written),
                "_rowaddr_before": written.before,
                "_rowaddr_after": written.after,
                "l2": pl.Series(pairs.l2).fill_nan(None),
                "cosine": pl.Series(pairs.cosine).fill_nan(None),
                "is_uncertain": written.is_uncertain,
            }
        )
        new = step.runs.where(step.runs.is_live & ~step.runs.was_live)
        self._num_rows = num_rows_of(versions) - new.num_rows
        self._num_unpaired = new.where(new.is_uncertain).num_rows
        self._centroids = pairs.centroids

    @documented(DRIFT)
    def to_polars(self) -> pl.DataFrame:
        """Return the rows that both versions have and that were written, in no certain order.

        Rows that were not written between the versions have the same value, and no line.

        Examples
        --------
        >>> table.changes(2, 3).drift("id").to_polars().select("_rowid", "l2").rows()
        [(2, 0.0)]
        """
        return self._frame

    def top(self, limit: int = _MOVERS_SHOWN, by: str = "l2") -> pl.DataFrame:
        """Return the rows that moved furthest, with the columns of :meth:`to_polars`.

        Parameters
        ----------
        limit : int, default 10
            How many rows.
        by : {"l2", "cosine"}
            By distance, or by angle.

        Examples
        --------
        >>> table.changes(2, 3).drift("id").top(1)["l2"].to_list()
        [0.0]
        """
        most = whole_number("limit", limit)
        check_choice("by", by, ("l2", "cosine"))
        known = self._frame.filter(pl.col(by).is_not_null())
        return known.sort(by, descending=by == "l2", maintain_order=True).head(most)

    @documented(DRIFT_SUMMARY)
    def summary(self) -> pl.DataFrame:
        """Return how many rows moved, and how far: one row.

        Examples
        --------
        >>> table.changes(2, 3).drift("id").summary().select("num_rows", "num_moved").row(0)
        (6, 0)
        """
        l2 = self._frame["l2"]
        moved = self._frame.filter((l2 > 0).fill_null(False))
        l2_distance, cosine = self._centroids
        return DRIFT_SUMMARY.build(
            {
                "column": [self.column],
                "num_rows": [self._num_rows],
                "num_unchanged": [self._num_rows - len(moved) - l2.null_count()],
                "num_moved": [len(moved)],
                "num_null": [l2.null_count()],
                "num_unpaired": [self._num_unpaired],
                "l2_mean": [moved["l2"].mean()],
                "l2_quantiles": [_quantiles(moved["l2"])],
                "cosine_mean": [moved["cosine"].mean()],
                "cosine_quantiles": [_quantiles(moved["cosine"])],
                "centroid_l2": [l2_distance],
                "centroid_cosine": [cosine],
            }
        )

    def histogram(self, by: str = "l2") -> pl.DataFrame:
        """Return how many rows moved how far, in 24 bins of equal width.

        Parameters
        ----------
        by : {"l2", "cosine"}
            Distances, or cosines.

        Returns
        -------
        polars.DataFrame
            ``begin`` and ``end`` of each bin, and ``num_rows``, without rows that did not move.

        Examples
        --------
        >>> table.changes(2, 3).drift("id").histogram().columns
        ['begin', 'end', 'num_rows']
        """
        check_choice("by", by, ("l2", "cosine"))
        moved = self._frame.filter(pl.col("l2") > 0)[by].drop_nulls().to_numpy()
        finite = moved[np.isfinite(moved)]
        counts, edges = np.histogram(finite, bins=_BINS if len(finite) else 1)
        frame = pl.DataFrame(
            {"begin": edges[:-1], "end": edges[1:], "num_rows": counts.astype(np.int64)}
        )
        return frame if len(finite) else frame.clear()

    @property
    def sentence(self) -> str:
        """How many rows moved, and how far.

        Examples
        --------
        >>> print(table.changes(2, 3).drift("id").sentence)
        `id` of 6 rows in both versions 2 and 3: none moved.
        """
        facts = self.summary().row(0, named=True)
        both = f"versions {self._versions.begin_version} and {self._versions.end_version}"
        said = f"`{self.column}` of {facts['num_rows']:,} rows in both {both}"
        if not facts["num_moved"]:
            said += ": none moved"
        else:
            share = percent(facts["num_moved"] / max(facts["num_rows"], 1))
            said += f": {facts['num_moved']:,} moved ({share})"
            if facts["cosine_mean"] is not None:
                said += f", with a median cosine of {facts['cosine_quantiles'][3]:.3g}"
            else:
                said += f", by {facts['l2_quantiles'][3]:.3g} in the median"
        if facts["num_unpaired"]:
            said += (
                f"; {counted(facts['num_unpaired'], 'inserted row')} may be updated ones: "
                "changes(..., key=[...]) pairs them"
            )
        return f"{said}."

    @property
    def answer(self) -> Answer:
        """How many rows moved, and which moved furthest."""
        ends = self._versions.begin_version, self._versions.end_version
        return Answer(
            self.sentence,
            (
                Section("summary", "", self.summary(), schema=DRIFT_SUMMARY),
                Section(
                    "top",
                    "Rows that moved furthest",
                    self.top(),
                    shown=self.top().select("_rowid", "l2", "cosine"),
                    schema=DRIFT,
                ),
            ),
            f"{call('table.changes', *ends)}.drift({self.column!r}).to_polars()",
            place=Place("changes", {"from_version": ends[0], "version": ends[1]}),
        )


def _quantiles(values: pl.Series) -> list[float]:
    return quantiles_of(values.drop_nulls().to_numpy(), _RANKS)


class _Pairs:
    """Two scans read both values of all rewritten rows, and the values are compared.

    Rows are compared in portions that are close together in the earlier version: only their earlier
    values are in memory.
    """

    def __init__(
        self, versions: VersionRange, step: ChangeStep, columns: ValueColumns, column: str
    ) -> None:
        assert step.before is not None
        self._rows, self._columns = versions.rows, columns
        runs = step.runs
        is_written = runs.was_live & runs.is_live & (runs.change != RowEvent.MOVED)
        self.runs: ChangeRuns = runs.where(is_written).rows()
        self.runs = self.runs.where(np.argsort(self.runs.before, kind="stable"))
        ends = [_End(versions, position, columns, column) for position in (step.before, step.after)]
        sizes = {end.size for end in ends}
        if len(sizes) > 1:
            raise InvalidArgumentError(
                f"the vectors of {column!r} have {ends[0].size} dimensions in version "
                f"{versions.begin_version} and {ends[1].size} in version {versions.end_version}, "
                "so no distance is defined"
            )
        count = len(self.runs)
        self.l2, self.cosine = np.full(count, np.nan), np.full(count, np.nan)
        self._sums = np.zeros((2, max(ends[0].size, 1)))
        self._num_both = 0
        self._is_vector = ends[0].size > 0
        at_once = max(1, _BYTES_AT_ONCE // (max(ends[0].size, 1) * ends[0].dtype.itemsize))
        parts = _parts(self.runs.before, at_once)
        for some in with_progress(parts, f"Comparing {column}", "parts", few=2):
            self._compare(some, *ends)

    @property
    def centroids(self) -> tuple[float | None, float | None]:
        """Distance and cosine between both centroids, over rows where both are finite vectors."""
        if not self._is_vector or not self._num_both:
            return None, None
        before, after = self._sums / self._num_both
        lengths = np.linalg.norm(before) * np.linalg.norm(after)
        cosine = float(before @ after / lengths) if lengths else None
        return float(np.linalg.norm(after - before)), cosine

    def _compare(self, some: slice, earlier: "_End", later: "_End") -> None:
        before, after = self.runs.before[some], self.runs.after[some]
        held = np.full((len(before), max(earlier.size, 1)), np.nan, dtype=earlier.dtype)
        for places, vectors in earlier.read(before):
            held[places] = vectors
        l2, cosine = self.l2[some], self.cosine[some]
        for places, vectors in later.read(after):
            old = held[places]
            l2[places] = _distances(old, vectors)
            if not self._is_vector:
                continue
            cosine[places] = cosines(old, vectors)
            finite = np.isfinite(l2[places])
            self._num_both += int(finite.sum())
            whole = finite.all()
            for number, of_end in enumerate((old, vectors)):
                rows = of_end if whole else of_end[finite]
                self._sums[number] += rows.sum(axis=0, dtype=np.float64)


def _distances(before: _Vectors, after: _Vectors) -> NDArray[np.float64]:
    """Return the distance of each pair; NaN if a value is null."""
    with np.errstate(invalid="ignore", over="ignore"):
        away = after - before
        result: NDArray[np.float64] = np.sqrt(_dots(away, away))
    return result


def cosines(before: _Vectors, after: _Vectors) -> NDArray[np.float64]:
    """Return the cosine between the vectors of each pair; NaN if one is null or zero.

    Examples
    --------
    >>> import numpy as np
    >>> cosines(np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([[0.0, 3.0], [5.0, 0.0]])).tolist()
    [0.0, 1.0]
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        lengths = np.sqrt(_dots(before, before) * _dots(after, after))
        return np.clip(_dots(before, after) / lengths, -1.0, 1.0)


def _dots(one: _Vectors, other: _Vectors) -> NDArray[np.float64]:
    result: NDArray[np.float64] = np.einsum("ij,ij->i", one, other, dtype=np.float64)
    return result


def _parts(addresses: Uint64Array, at_once: int) -> list[slice]:
    """Return slices of at most so many ascending addresses, with whole fragments if they fit."""
    fragments = addresses >> np.uint64(FRAGMENT_BITS)
    ends = np.append(np.flatnonzero(fragments[1:] != fragments[:-1]) + 1, len(addresses))
    parts, begin = list[slice](), 0
    while begin < len(addresses):
        place = int(np.searchsorted(ends, begin + at_once, side="right")) - 1
        end = int(ends[place]) if place >= 0 and ends[place] > begin else begin + at_once
        parts.append(slice(begin, min(end, len(addresses))))
        begin = end
    return parts


class _End:
    """The values of the column in one of both versions."""

    def __init__(
        self, versions: VersionRange, position: int, columns: ValueColumns, column: str
    ) -> None:
        self._rows, self._position = versions.rows, position
        self._view, self._record = self._rows.view, self._rows.history.records[position]
        names = columns.names_in(self._view, self._record.version)
        if column not in names:
            why = f"version {self._record.version} has no column {column!r}"
            if columns.doubts:
                why += " for certain: the versions that would tell which column it was are lost"
            raise InvalidArgumentError(f"{why}, so there is nothing to compare")
        self._own = names[column]
        dtype = column_types(self._view, self._record.version)[self._own]
        if not dtype.is_numeric() and not is_vector(dtype):
            raise InvalidArgumentError(
                f"drift compares vectors and numbers, but {column!r} is {dtype}: "
                "changes(...).to_polars() has the values before and after"
            )
        self.size = dtype.size if isinstance(dtype, pl.Array) else 0
        inner = dtype.inner if isinstance(dtype, pl.Array) else dtype
        self.dtype = np.dtype(np.float32 if inner == pl.Float32 else np.float64)

    def read(self, addresses: Uint64Array) -> Iterator[tuple[NDArray[np.int64], _Vectors]]:
        """Yield values of rows, in some order: their positions in the array, and the vectors."""
        order = np.argsort(addresses, kind="stable")
        ordered = addresses[order]
        fragments = ordered >> np.uint64(FRAGMENT_BITS)
        begins = np.flatnonzero(np.append(True, fragments[1:] != fragments[:-1])).tolist()
        sparse = list[NDArray[np.int64]]()
        for begin, end in zip(begins, [*begins[1:], len(ordered)], strict=True):
            span = int(ordered[end - 1] - ordered[begin]) + 1
            if (end - begin) * _ROWS_SCANNED_PER_ROW_TAKEN < span:
                sparse.append(order[begin:end])
                continue
            scanned = self._scanned(int(fragments[begin]), ordered[begin:end])
            try:
                parts: Iterator[tuple[NDArray[np.int64], _Vectors]] = chain(
                    [next(scanned)], scanned
                )
            except LanceExplorerError:  # its files may be gone
                parts = iter([(np.arange(end - begin), self._taken(ordered[begin:end]))])
            for number, vectors in parts:
                yield order[begin:end][number], vectors
        if sparse:
            places = np.concatenate(sparse)
            yield places, self._taken(addresses[places])

    def _scanned(
        self, fragment_id: int, wanted: Uint64Array
    ) -> Iterator[tuple[NDArray[np.int64], _Vectors]]:
        """Yield ascending rows of a fragment, from one scan of the fragment."""
        from lance_explorer.values import row_batches
        from lance_explorer.values.opening import to_polars

        check_values(self._view, self._record.version, some_rows=True)
        first, last = (int(one) & _OFFSETS for one in (wanted[0], wanted[-1]))
        deleted = self._deleted(fragment_id)
        begin, end = (at - deleted.range_cardinality(0, at) for at in (first, last))
        for batch in row_batches(
            value_root(self._view, self._record.version),
            self._record.version,
            [fragment_id],
            [self._own, "_rowaddr"],
            offset=begin,
            limit=end - begin + 1,
            batch_size=max(1, _BATCH_BYTES // (max(self.size, 1) * self.dtype.itemsize)),
            storage_options=self._view.storage.options,
        ):
            rows = to_polars(pa.Table.from_batches([batch]))
            there = rows["_rowaddr"].to_numpy()
            places = np.searchsorted(wanted, there)
            chosen = wanted[np.minimum(places, len(wanted) - 1)] == there
            vectors = self._vectors(rows[self._own])
            yield (places, vectors) if chosen.all() else (places[chosen], vectors[chosen])

    def _taken(self, addresses: Uint64Array) -> _Vectors:
        identities = addresses
        if self._rows.has_row_ids_at(self._position):
            identities = identities_at(self._rows, self._position, addresses)[0]
        values = values_at(self._rows, self._position, addresses, identities, [self._own])
        return self._vectors(values[self._own])

    def _vectors(self, values: pl.Series) -> _Vectors:
        """Return values as rows of numbers, with NaN for null."""
        if not self.size:
            numbers: _Vectors = values.cast(pl.Float64).fill_null(np.nan).to_numpy()
            return numbers.reshape(-1, 1)
        vectors = values.to_numpy()
        return vectors if vectors.dtype == self.dtype else vectors.astype(self.dtype)

    def _deleted(self, fragment_id: int) -> BitMap:
        history = self._rows.history
        for state in history.states_at(self._position):
            if history.states[state].id == fragment_id:
                return self._rows.deleted(state)
        raise StorageError(f"version {self._record.version} has no fragment {fragment_id}")


def is_vector(dtype: pl.DataType) -> bool:
    """Tell whether values of a type are vectors: lists of numbers, all of one length."""
    return isinstance(dtype, pl.Array) and len(dtype.shape) == 1 and dtype.inner.is_numeric()
