"""How the values of changed columns are spread, before and after, in the rows that differ there."""

from collections.abc import Callable

import numpy as np

from lance_explorer.figures.distributions import bars_of
from lance_explorer.widgets.comparison import Cells, Comparison
from lance_explorer.widgets.messages.changes import ChangedColumn, ValueBar

__all__ = ["changed_values"]

_MOST_COLUMNS = 12
_MOST_ROWS = 10_000


def changed_values(
    found: Comparison, cells: Cells, check: Callable[[], None]
) -> list[ChangedColumn]:
    """Return for each column that differs its values before and after; counts as text.

    Of 12 columns at most, those first that differ in most rows, and of each the first 10,000 rows
    that differ in it; no other values are read.

    Parameters
    ----------
    found : Comparison
        The two versions.
    cells : Cells
        Which of their cells differ.
    check : callable
        Called between two columns; may raise to end the work.
    """
    told = []
    for name, count in [*cells.counts().items()][:_MOST_COLUMNS]:
        if not count:
            break
        check()
        rows = np.flatnonzero(cells.differ[:, cells.names.index(name)])[:_MOST_ROWS]
        before, after = found.images.of(cells.rows.where(rows), [name])
        old, new = before.get_column(name), after.get_column(name)
        bars = bars_of(old, new)
        told.append(
            ChangedColumn(
                name=name,
                num_rows=str(count),
                num_read=str(len(rows)),
                nulls=(old.null_count(), new.null_count()),
                bars=[] if bars is None else [ValueBar(*bar) for bar in zip(*bars, strict=True)],
            )
        )
    return told
