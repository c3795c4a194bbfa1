"""The values of columns that come back."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lance_explorer.changes.version_pair import VersionPair
from lance_explorer.changes.version_rows import place_rows
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.plans.arrow_columns import arrow_column, stored_field
from lance_explorer.plans.places import Places

if TYPE_CHECKING:
    from lance_explorer.plans.column_work import Target

__all__ = ["AddedColumns"]

_ROWS_AT_ONCE = 65_536


class AddedColumns:
    """The values of some columns of another version, at the addresses that their rows have now.

    Parameters
    ----------
    source : BranchVersion
        The version that has the values.
    place : BranchVersion
        The version in which rows get them.
    targets : sequence of Target
        The columns, by the names that they have in both.
    """

    def __init__(
        self, source: BranchVersion, place: BranchVersion, targets: "Sequence[Target]"
    ) -> None:
        self._source, self._place = source, place
        self._targets = targets

    @property
    def schema(self) -> pa.Schema:
        """The address, and the columns."""
        return pa.schema(
            [
                pa.field("_rowaddr", pa.uint64()),
                *[stored_field(target.field) for target in self._targets],
            ]
        )

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the values of all rows that live in both versions, so many at a time."""
        from lance_explorer.values import read_rows_at

        view, version = self._source
        check_blob, root = check_values(view, version), value_root(view, version)
        places = Places(VersionPair(self._source, self._place).runs)
        live = place_rows(self._source).live()
        names = [target.name for target in self._targets]
        for start, first, length in zip(
            live.after.tolist(), live.identity.tolist(), live.length.tolist(), strict=True
        ):
            every = np.arange(start, start + length, dtype=np.uint64)
            ids = np.arange(first, first + length, dtype=np.uint64)
            for begin in range(0, len(every), _ROWS_AT_ONCE):
                some = slice(begin, begin + _ROWS_AT_ONCE)
                now = places.after(every[some])
                here = now != NO_ADDRESS
                if not here.any():
                    continue
                values = read_rows_at(
                    root,
                    version,
                    every[some][here],
                    ids[some][here],
                    names,
                    view.storage.options,
                    check_blob,
                )
                arrays = [
                    arrow_column(values[target.name], target.field) for target in self._targets
                ]
                yield pa.RecordBatch.from_arrays(
                    [pa.array(now[here].astype(np.uint64)), *arrays], schema=self.schema
                )
