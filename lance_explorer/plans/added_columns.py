"""The values of columns that a plan brings back."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from lance_explorer.changes.version_pair import VersionPair
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.values.later_values import values_at
from lance_explorer.plans.arrow_columns import arrow_column, stored_field
from lance_explorer.plans.places import Places, row_chunks

if TYPE_CHECKING:
    from lance_explorer.plans.column_work import Target

__all__ = ["AddedColumns"]


class AddedColumns:
    """The values of some columns of another version, at the present addresses of their rows.

    Parameters
    ----------
    pair : VersionPair
        The version that has the values, and the one in which rows get them.
    targets : sequence of Target
        The columns, by the names that they have in both.
    """

    def __init__(self, pair: VersionPair, targets: "Sequence[Target]") -> None:
        self._pair = pair
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
        source, places = self._pair.rows_before, Places(self._pair.runs)
        names = [target.name for target in self._targets]
        for rows in row_chunks(source.live()):
            now = places.after(rows.after)
            here = now != NO_ADDRESS
            if not here.any():
                continue
            some = rows.where(here)
            values = values_at(source.rows, source.position, some.after, some.identity, names)
            arrays = [arrow_column(values[one.name], one.field) for one in self._targets]
            yield pa.RecordBatch.from_arrays([pa.array(now[here]), *arrays], schema=self.schema)
