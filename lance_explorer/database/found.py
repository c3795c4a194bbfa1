"""Rows that were found by their values in the tables of a database."""

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from lance_explorer.answers import Answer, Section
from lance_explorer.database.of_tables import OfTables
from lance_explorer.errors import LanceExplorerError
from lance_explorer.frames.columns import COUNT, TEXT, Column, FrameSchema
from lance_explorer.frames.documented import documented
from lance_explorer.frames.sizes import counted
from lance_explorer.lineage.find import Found

__all__ = ["FOUND_TABLES", "DatabaseFound"]

FOUND_TABLES = FrameSchema(
    "found_tables",
    (
        Column("name", TEXT, "name of the table"),
        Column("num_rows", COUNT, "rows found so far; null: it was not searched", True, "rows"),
        Column(
            "is_complete",
            pl.Boolean(),
            "whether all of it was searched and all rows are shown; null: it was not searched",
            nullable=True,
        ),
        Column("sentence", TEXT, "what was found, and how far the search went; or why it was not"),
    ),
)
"""The columns of ``DatabaseFound.tables()``."""


class DatabaseFound(OfTables[Found]):
    """Rows that were found in the tables of a database, and which tables were not searched.

    Made by :meth:`Database.find`. ``found["photos"]`` is what was found in one table.

    Attributes
    ----------
    answer : Answer
        The rows of each table that has some.

    Examples
    --------
    >>> found = database.find("id = 2")
    >>> found["people"].sentence
    '1 row found in versions 1 to 7.'
    """

    def __init__(
        self, name: str, where: str, found: Mapping[str, Found | LanceExplorerError]
    ) -> None:
        super().__init__(name, found)
        self.where = where

    @property
    def _subject(self) -> str:
        return f"{self._name}, {self.where!r}"

    @property
    def num_rows(self) -> int:
        """How many rows were found so far in all tables."""
        return sum(one.num_rows for one in self._answers.values())

    @property
    def is_complete(self) -> bool:
        """Whether each table was searched completely."""
        answers = self._answers.values()
        return len(answers) == len(self._found) and all(one.is_complete for one in answers)

    @documented(FOUND_TABLES)
    def tables(self) -> pl.DataFrame:
        """Return one row for each table, those with rows first.

        Examples
        --------
        >>> database.find("id = 2").tables().select("name", "num_rows").rows()
        [('people', 1)]
        """
        some = [
            (name, one.num_rows, one.is_complete, one.sentence)
            if isinstance(one, Found)
            else (name, None, None, f"Not searched: {one}")
            for name, one in self._found.items()
        ]
        frame = FOUND_TABLES.build(
            {part: [one[place] for one in some] for place, part in enumerate(FOUND_TABLES.names)}
        )
        return frame.sort("num_rows", descending=True, nulls_last=True, maintain_order=True)

    @property
    def answer(self) -> Answer:
        """The rows of each table with matches, and the tables that were not searched."""
        tables = self.tables()
        having = tables.filter(pl.col("num_rows") > 0)["name"].to_list()
        missing = tables["num_rows"].null_count()
        rest = f"; {counted(missing, 'table')} could not be searched" if missing else ""
        rows = [
            replace(part, name=f"{name}: {part.name}", title=f"{name}: {part.title}")
            for name in having
            for part in self[name].answer.sections
            if isinstance(part.content, pl.DataFrame) and part.title
        ]
        return Answer(
            f"{counted(self.num_rows, 'row')} found in {counted(len(having), 'table')} of "
            f"{len(tables):,}{rest}.",
            (*rows, Section("tables", "Tables", tables, words=("sentence",), schema=FOUND_TABLES)),
            f"database.find({self.where!r})",
        )
