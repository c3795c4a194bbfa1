"""One row of a table, through all its versions."""

from typing import TYPE_CHECKING

import polars as pl

from lance_explorer.answers import Answer, Answering, Section
from lance_explorer.answers.calls import call
from lance_explorer.arguments import flag, row_number
from lance_explorer.frames.documented import documented
from lance_explorer.frames.followed import ROW_HISTORY
from lance_explorer.history.live import LiveTable
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.following import row_history

if TYPE_CHECKING:
    from lance_explorer.lineage.graph import Lineage

__all__ = ["Row"]

_SHOWN = (
    "version",
    "event",
    "operation",
    "author",
    "job",
    "timestamp",
    "branch",
    "predicate",
    "message",
    "run",
)


class Row(Answering):
    """A row by its row ID; without stable row IDs, by its address in one version.

    Parameters
    ----------
    view : HistoryView
        The branch.
    row_id : int
        The row ID, or the address.
    at : int, optional
        The version in which the row has that address; by default the last one in which a live row
        has it.
    """

    def __init__(self, view: HistoryView, row_id: int, at: int | None = None) -> None:
        self._view = view
        self.row_id = row_number(row_id)
        self.at = at

    @documented(ROW_HISTORY)
    def history(self, *, values: bool = False) -> pl.DataFrame:
        """Return what happened to the row, one row for each event, oldest first.

        Parameters
        ----------
        values : bool
            Whether to add the row's values after each event (of a deletion, before it) as a struct
            ``values``, and as ``changed_columns`` the columns that differ from the event before.

        Raises
        ------
        RowNotFoundError
            If no kept version has, or had, the row.

        Examples
        --------
        >>> table.row(1).history().select("version", "event", "operation").rows()
        [(1, 'created', 'Overwrite'), (4, 'deleted', 'Delete')]
        >>> table.row(2).history(values=True)["changed_columns"].to_list()
        [None, []]
        """
        with_values = flag("values", values)
        return LiveTable(self._view).answer(
            lambda view: row_history(view, self.row_id, self.at, values=with_values)
        )

    def graph(self) -> "Lineage":
        """Return the part of the lineage graph that the row passed through.

        Returns
        -------
        Lineage
            The fragments that the row was in, and the edges between them.

        Raises
        ------
        RowNotFoundError
            If no kept version has, or had, the row.

        Examples
        --------
        >>> table.row(2).graph().edges().select("from_node", "to_node", "kind").rows()
        [('0@1', '2@3', 'update')]
        """
        from lance_explorer.lineage.graph import lineage

        return LiveTable(self._view).answer(
            lambda view: lineage(view).subgraph_of(row_history(view, self.row_id, self.at))
        )

    @property
    def sentence(self) -> str:
        """What happened to the row last."""
        last = self.history().row(-1, named=True)
        return f"last {last['event'].replace('_', ' ')} in version {last['version']}"

    @property
    def answer(self) -> Answer:
        """What happened to the row, newest first."""
        return self.answer_with()

    def answer_with(self, *, values: bool = False) -> Answer:
        """Return the history; with ``values``, also the values after each event.

        Examples
        --------
        >>> table.row(1).answer_with(values=True).sentence
        'Row 1: last deleted in version 4.'
        """
        history = self.history(values=values)
        newest = history[[*range(len(history))][::-1]]  # Polars does not reverse arrays of texts
        more = ["changed_columns", "values"] if values else []
        unsure = pl.when("is_uncertain").then(pl.lit("uncertain")).alias("certainty")
        return Answer(
            f"Row {self._subject}: {self.sentence}.",
            (
                Section(
                    "events",
                    "",
                    newest,
                    shown=newest.select(*_SHOWN, unsure, *more),
                    values=("values",),
                    schema=ROW_HISTORY,
                ),
            ),
            f"{call('table.row', self.row_id, at=self.at)}.history()",
        )

    @property
    def _subject(self) -> str:
        return f"{self.row_id}{'' if self.at is None else f' at version {self.at}'}"
