"""Cells with the event that last changed each, column by column."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.cells.text import cells_of
from lance_explorer.frames.columns import TEXT
from lance_explorer.history.columns.common_types import differ
from lance_explorer.values.inner_names import InnerNames, renamed

__all__ = ["NEVER", "Cells"]

_UNRESOLVED = -1
NEVER = -2
"""No event of the row explains the value of a cell."""


@dataclass
class Cells:
    """The cells of one column, and what is known of each.

    Attributes
    ----------
    values : polars.Series
        What they are.
    event : ndarray of int64
        The number of the event that last changed each; _UNRESOLVED, NEVER.
    is_new, is_uncertain : ndarray of bool
        As in the frame.
    before : list
        Which cells had which values before, as text.
    """

    values: pl.Series
    event: NDArray[np.int64]
    is_new: NDArray[np.bool_]
    is_uncertain: NDArray[np.bool_]
    before: list[tuple[NDArray[np.int64], pl.Series]] = field(default_factory=list)

    @classmethod
    def of(cls, values: pl.Series) -> "Cells":
        """Return cells without known events."""
        count = len(values)
        no = np.zeros(count, dtype=np.bool_)
        return cls(values, np.full(count, _UNRESOLVED, dtype=np.int64), no, no.copy())

    @property
    def is_open(self) -> NDArray[np.bool_]:
        """Which are not accounted for."""
        is_open: NDArray[np.bool_] = self.event == _UNRESOLVED
        return is_open

    def compare(
        self,
        rows: NDArray[np.int64],
        events: NDArray[np.int64],
        before: pl.Series | None,
        unsure: NDArray[np.bool_],
        left_out: InnerNames | None = None,
    ) -> None:
        """Explain the open cells of rows that had other values before an event.

        Parameters
        ----------
        rows, events : ndarray of int64
            The rows, and the number of the event of each.
        before : polars.Series or None
            Their values before; None if there was no such column.
        unsure : ndarray of bool
            For which rows another commit may have changed them.
        left_out : InnerNames, optional
            Nested fields of the cells that are ignored, since they did not exist before.
        """
        is_open = self.is_open[rows]
        if before is None:
            changed = is_open & self.values.gather(rows).is_not_null().to_numpy()
            self.event[rows[changed]] = events[changed]
            self.is_new[rows[changed]] = True
            self.is_uncertain[rows[changed]] = unsure[changed]
            return
        now = renamed(self.values.gather(rows).to_frame(), left_out or {}).to_series()
        changed = np.flatnonzero(is_open & differ(before, now).to_numpy())
        if len(changed):
            self.event[rows[changed]] = events[changed]
            self.is_uncertain[rows[changed]] = unsure[changed]
            self.before.append((rows[changed], cells_of(before.gather(changed))))

    def close(
        self, rows: NDArray[np.int64], events: NDArray[np.int64], uncertain: NDArray[np.bool_]
    ) -> None:
        """Explain all open cells of rows by an event before which nothing is known."""
        is_open = self.is_open[rows]
        self.event[rows[is_open]] = events[is_open]
        self.is_uncertain[rows[is_open]] |= uncertain[is_open]

    def texts_before(self) -> pl.Series:
        """Return the earlier values of the cells as text."""
        if not self.before:
            return pl.Series([None], dtype=TEXT).new_from_index(0, len(self.values))
        rows = np.concatenate([rows for rows, _ in self.before])
        texts = pl.concat([texts for _, texts in self.before])
        place = np.full(len(self.values), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        place[self.is_new] = -1  # compared before it was known that the column is younger
        numbers = pl.Series(place).set(pl.Series(place < 0), None)
        return texts.gather(numbers.cast(pl.UInt32()))
