"""One row of a table, through all its versions."""

import polars as pl

from lance_explorer.frames.documented import documented
from lance_explorer.history.source import TableSource
from lance_explorer.lineage.event_frame import ROW_HISTORY
from lance_explorer.lineage.following import row_history

__all__ = ["Row"]


class Row:
    """A row by its row ID; without stable row IDs, by its address in one version.

    Parameters
    ----------
    source : TableSource
        The branch.
    row_id : int
        The row ID, or the address.
    at : int, optional
        The version in which the address is meant; by default the last one in which a row lives
        there.
    """

    def __init__(self, source: TableSource, row_id: int, at: int | None = None) -> None:
        self.source = source
        self.row_id = row_id
        self.at = at

    @documented(ROW_HISTORY)
    def history(self, *, values: bool = False) -> pl.DataFrame:
        """Return what happened to the row, one event a row, oldest first.

        Parameters
        ----------
        values : bool
            Whether to read the row's values after each event, before it where it ended: a struct
            ``values``, and ``changed_columns``, the columns that differ from the event before.

        Raises
        ------
        RowNotFoundError
            If no kept version has, or had, the row.
        VersionNotFoundError
            If the version of the address is not kept.
        FormatError
            If a file cannot be understood.
        StorageError
            If a file cannot be read.
        """
        return row_history(self.source, self.row_id, self.at, values=values)

    def __repr__(self) -> str:
        at = "" if self.at is None else f" at version {self.at}"
        last = self.history().row(-1, named=True)
        where = f"version {last['version']}"
        return f"Row({self.row_id}{at}: last {last['event'].replace('_', ' ')} in {where})"
