"""The rows that differ between two versions, on any branches, as a frame."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import polars as pl

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.feed_columns import check_key, columns_between
from lance_explorer.changes.frame import blocks
from lance_explorer.changes.images import Images, empty_feed
from lance_explorer.changes.lost_values import LostValues
from lance_explorer.changes.needed_versions import commit_times
from lance_explorer.changes.pairing import pair_by_key
from lance_explorer.changes.row_options import RowOptions
from lance_explorer.changes.steps import ChangeStep
from lance_explorer.changes.version_rows import PlaceRows
from lance_explorer.history.ancestors import Ancestry
from lance_explorer.history.columns.value_columns import ValueColumns

__all__ = ["RowsOfBoth"]


class RowsOfBoth:
    """The rows of two versions, and their fate.

    Parameters
    ----------
    first, second : PlaceRows
        The rows of both.
    runs : ChangeRuns
        What became of them.
    common : Ancestry
        How both come from a common version.
    """

    def __init__(
        self,
        first: PlaceRows,
        second: PlaceRows,
        runs: ChangeRuns,
        common: Ancestry,
    ) -> None:
        self._first = first
        self._second = second
        self._runs = runs
        self._common = common

    def frame(self, options: RowOptions, lost: LostValues) -> pl.DataFrame:
        """Return the rows; lost values are recorded."""
        runs = self._paired(options.key) if options.key else self._runs
        runs = runs.where(~np.isin(runs.change, options.left_out))
        both, values, images = options.has_both_images, None, None
        if options.images is not None:
            noted = lost if options.may_lack_values else None
            has_before = options.has_values_before
            values = self._columns(options.columns, noted, both_images=has_before)
            for doubt in values.doubts:
                branches = self._second.rows.view.branch, self._first.rows.view.branch
                lost.column_in_doubt(doubt, *branches)
            images = self._images(values, options.tolerance if both else None, noted)
        frames = [empty_feed(values, both_images=both)]
        ids_of = self._second.rows if self._second.has_row_ids else None
        for block in blocks(runs, both_images=both):
            rows = block.runs.rows()
            head = block.frame(rows, self._timestamps(), ids_of)
            frames.append(images.beside(head, block, rows) if images else head)
        return pl.concat(frames)

    def _paired(self, key: Sequence[str]) -> ChangeRuns:
        columns = self._columns(key, None, both_images=True)
        check_key(columns, key, [self._first.stop, self._second.stop])
        images = self._images(columns, None)
        return pair_by_key(self._runs, images.before, images.after)

    def _columns(
        self, names: Sequence[str] | None, lost: LostValues | None, *, both_images: bool
    ) -> ValueColumns:
        stops = [self._second.stop, self._first.stop][: 1 + both_images]
        return columns_between(stops, names, lost)

    def _images(
        self, columns: ValueColumns, tolerance: float | None, lost: LostValues | None = None
    ) -> Images:
        step = ChangeStep(
            self._runs, self._first.position, self._second.position, self._second.version
        )
        return Images(self._second.rows, columns, step, tolerance, self._first.rows, lost)

    def _timestamps(self) -> dict[int, datetime | None]:
        """Return the commit times of all versions that may have written a row of the second."""
        second = self._second
        if second.rows.view.whole is not second.rows.view:  # a few versions of one branch
            wrote = np.unique(self._runs.version).tolist()
            return commit_times(second.rows, {one for one in wrote if one <= second.version})
        times = dict[int, datetime | None]()
        stretches = [s for s in self._common.to_second if s.view is not None]
        histories = [s.view.history for s in stretches if s.view is not None]
        if self._common.branch is not None:
            histories.insert(0, self._common.branch.history)
        for history in [*histories, second.rows.history]:
            first = history.records[0].version if len(history) else 0
            inherited = {version: time for version, time in times.items() if version <= first}
            own = {record.version: record.manifest.timestamp for record in history.records}
            times = own | inherited
        return {version: time for version, time in times.items() if version <= second.version}
