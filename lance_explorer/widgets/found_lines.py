"""Found rows as lines of an answer, with a link to each."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from lance_explorer.answers import Answer, Ask, Line, Place, Section
from lance_explorer.errors import LanceExplorerError
from lance_explorer.lineage.find import Found
from lance_explorer.lineage.found_words import informative_columns, sighting_words
from lance_explorer.table import Table
from lance_explorer.widgets.row_lookup import row_named

__all__ = ["MOST_LINES", "found_answer", "put_back"]

MOST_LINES = 12


def found_answer(table: Table, matches: Found) -> Answer:
    """Return rows that were found by their values as an answer, with a line for each."""
    answer, rows = matches.answer, matches.to_polars()
    some = rows.head(MOST_LINES)
    words = sighting_words(some, informative_columns(rows, matches.where))
    places = [_place(table, row) for row in some.iter_rows(named=True)]
    listed = tuple([Line(text, place) for text, place in zip(words, places, strict=True)])
    is_one = len({place.choices.get("row_id") for place in places}) == 1
    place = replace(places[0], words="Open the row") if is_one else None
    asks = put_back(table, matches.where, rows)
    return replace(answer, sections=(Section("rows", "", listed),), place=place, asks=asks)


def put_back(table: Table, where: str, rows: pl.DataFrame) -> tuple[Ask, ...]:
    """Return the question for rows that one commit deleted, if none is live and they can be read.

    Live rows would be put back as well, and lose later changes.
    """
    gone = rows.filter(pl.col("ended_as").is_in(["deleted", "overwritten"]))
    versions = gone["ended_version"].unique().to_list()
    if len(versions) != 1 or versions[0] is None or rows["is_live"].any():
        return ()
    before = versions[0] - 1
    if all(file.version != before for file in table._view.listing.versions):
        return ()
    return (Ask("Put these rows back", f"put {where} back as in {before}"),)


def _place(table: Table, row: Mapping[str, Any]) -> Place:
    """Return the view that shows a row; if it cannot follow the row, its last version."""
    address, version = row["_rowaddr"], row["last_version"]
    place = f"{address >> 32}:{address & 0xFFFFFFFF}@{version}"
    try:
        return Place("row", {"row_id": row_named(table, place), "version": version})
    except LanceExplorerError:
        return Place("time_travel", {"version": version})
