"""The rows that differ between two versions, of whatever branches, as a frame."""

from collections.abc import Collection, Sequence
from datetime import datetime

import numpy as np
import polars as pl

from lance_explorer.changes.branches import PlaceRows
from lance_explorer.changes.change_runs import ChangeRuns, RowChange
from lance_explorer.changes.diff_columns import columns_of_both
from lance_explorer.changes.diff_schema import FieldPair
from lance_explorer.changes.frame import CHANGED_COLUMNS, CHANGES, blocks
from lance_explorer.changes.images import Images
from lance_explorer.changes.pairing import pair_by_key
from lance_explorer.changes.steps import ChangeStep
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.history.ancestors import Ancestry

__all__ = ["RowsOfBoth"]


class RowsOfBoth:
    """The rows of two versions, and what became of them.

    Parameters
    ----------
    first, second : PlaceRows
        The rows of both.
    runs : ChangeRuns
        What became of them.
    pairs : sequence of FieldPair
        Which field is which.
    common : Ancestry
        How both come from a common version.
    """

    def __init__(
        self,
        first: PlaceRows,
        second: PlaceRows,
        runs: ChangeRuns,
        pairs: Sequence[FieldPair],
        common: Ancestry,
    ) -> None:
        self._first = first
        self._second = second
        self._runs = runs
        self._pairs = pairs
        self._common = common

    def frame(
        self,
        *,
        images: str | None,
        columns: Sequence[str] | None,
        key: Sequence[str],
        include: Collection[str],
        tolerance: float,
    ) -> pl.DataFrame:
        """Return the rows; the parameters are those of ``Diff.rows``."""
        runs = self._paired(key) if key else self._runs
        left_out = [RowChange.MOVED, RowChange.COLUMN_ADDED]
        wanted = [RowChange[name.upper()] for name in include]
        runs = runs.where(~np.isin(runs.change, [c for c in left_out if c not in wanted]))
        has_both = images == "both"
        source = self._images(columns, tolerance if has_both else None) if images else None
        frames = [self._empty(images, columns)]
        for block in blocks(runs, both_images=has_both):
            rows = block.runs.rows()
            has_row_ids = self._second.rows.has_row_ids
            head = block.frame(rows, self._timestamps(), has_row_ids=has_row_ids)
            frames.append(source.beside(head, block, rows) if source else head)
        return pl.concat(frames)

    def _paired(self, key: Sequence[str]) -> ChangeRuns:
        images = self._images(key, None)
        return pair_by_key(self._runs, images.before, images.after)

    def _images(self, columns: Sequence[str] | None, tolerance: float | None) -> Images:
        names = columns_of_both(self._first, self._second, self._pairs, columns)
        step = ChangeStep(
            self._runs, self._first.position, self._second.position, self._second.version
        )
        return Images(self._second.rows, names, step, tolerance, self._first.rows)

    def _empty(self, images: str | None, columns: Sequence[str] | None) -> pl.DataFrame:
        frames = [CHANGES.polars_schema.to_frame()]
        if images == "both":
            frames.append(pl.DataFrame(schema={CHANGED_COLUMNS: pl.List(pl.String())}))
        if images:
            frames.append(columns_of_both(self._first, self._second, self._pairs, columns).empty())
        taken = {*CHANGES.names, CHANGED_COLUMNS}
        double = [name for name in frames[-1].columns if images and name in taken]
        if double:
            raise InvalidArgumentError(
                f"the rows have a column {double[0]!r} of their own; name others in columns="
            )
        return pl.concat(frames, how="horizontal")

    def _timestamps(self) -> dict[int, datetime | None]:
        """Return when each version was committed that may have written a row of the second."""
        times = dict[int, datetime | None]()
        stretches = [s for s in self._common.to_second if s.source is not None]
        histories = [s.source.history for s in stretches if s.source is not None]
        if self._common.branch is not None:
            histories.insert(0, self._common.branch.history)
        for history in [*histories, self._second.rows.history]:
            first = history.records[0].version if len(history) else 0
            inherited = {version: time for version, time in times.items() if version <= first}
            own = {record.version: record.manifest.timestamp for record in history.records}
            times = own | inherited
        return {version: t for version, t in times.items() if version <= self._second.version}
