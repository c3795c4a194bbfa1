"""The events of a row with its values: as marked rows of a table, and as before and after."""

from collections.abc import Iterator

import polars as pl

from lance_explorer.answers.calls import literal
from lance_explorer.cells.text import briefs_of
from lance_explorer.figures.row_events import EVENT_KINDS
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage import row_values
from lance_explorer.rowids.addresses import FRAGMENT_BITS
from lance_explorer.widgets.cell_pieces import pieces_of
from lance_explorer.widgets.messages.lineage import EventValue, EventValues
from lance_explorer.widgets.messages.rows import CellPiece

__all__ = ["absent_columns", "event_values", "events_code", "events_table"]

_ABOUT = (
    "version",
    "event",
    "operation",
    "timestamp",
    "fragment_id",
    "offset",
    "_rowaddr_after",
    "_rowaddr_before",
    "evidence",
    "source",
)
"""Columns of an event in the table, before and after the values."""

_OFFSETS = (1 << FRAGMENT_BITS) - 1
_MOST_COLUMNS = 60


def absent_columns(view: HistoryView, events: pl.DataFrame) -> pl.Series:
    """Return for each event the columns of ``values`` that did not exist then.

    They are null there, like unknown values, but for another reason.
    """
    names = events["values"].struct.fields if "values" in events.columns else []
    known = events.select(pl.col("values").struct.unnest().is_not_null()) if names else events
    every = row_values.absent_columns(view, events) if names else [[]] * len(events)
    absent = [
        [name for name in some if not known[name][number]] for number, some in enumerate(every)
    ]
    return pl.Series(absent, dtype=pl.List(pl.String()))


def events_table(events: pl.DataFrame, absent: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows of the table, with a column for each value, and the marks of cells.

    Parameters
    ----------
    events : polars.DataFrame
        What ``table.row(id).history(values=True)`` gives.
    absent : polars.Series
        Which columns were not there, by :func:`absent_columns`.
    """
    address = pl.coalesce("_rowaddr_after", "_rowaddr_before")
    about = events.select(
        "version",
        pl.col("event").cast(pl.String),
        "operation",
        "timestamp",
        *(["branch"] if _has_branches(events) else []),
    )
    origin = events.select(
        "fragment_id",
        (address & _OFFSETS).alias("offset"),
        "_rowaddr_after",
        "_rowaddr_before",
        pl.col("evidence").cast(pl.String),
        "source",
    )
    values = events["values"].struct.unnest()
    clashes = _clashes(events)
    names = {name: f"{name} (value)" if name in clashes else name for name in values.columns}
    kinds = events["event"].cast(pl.String).replace_strict(EVENT_KINDS, return_dtype=pl.String)
    ended = events["_rowaddr_after"].is_null() & events["values"].is_not_null()
    changed = events["changed_columns"]
    facts = pl.DataFrame({"changed": changed, "ended": ended, "absent": absent, "event": kinds})
    marks = [_mark(name).alias(shown) for name, shown in names.items()]
    table = pl.concat([about, values.rename(names), origin], how="horizontal")
    return table, facts.select("event", *marks)


def events_code(row: str, events: pl.DataFrame) -> str:
    """Return code that makes the same table of a row."""
    left_out = ["is_uncertain", "changed_columns", *([] if _has_branches(events) else ["branch"])]
    clashes = _clashes(events)
    rename = f"lambda name: f'{{name}} (value)' if name in {literal(clashes)} else name"
    lines = [
        f"{row}.history(values=True)",
        f".drop({literal(left_out)})",
        ".with_columns(",
        '    pl.col("event", "evidence").cast(pl.String),',
        f'    (pl.coalesce("_rowaddr_after", "_rowaddr_before") & {_OFFSETS:#x}).alias("offset"),',
        *([f'    pl.col("values").name.map_fields({rename}),'] if clashes else []),
        ")",
        '.unnest("values")',
    ]
    return "(\n    {}\n)".format("\n    ".join(lines))


def _has_branches(events: pl.DataFrame) -> bool:
    return events["branch"].null_count() < len(events)


def _clashes(events: pl.DataFrame) -> list[str]:
    """Return the columns of values whose names the table uses itself."""
    taken = {*_ABOUT, *(["branch"] if _has_branches(events) else [])}
    return [name for name in events["values"].struct.fields if name in taken]


def _mark(name: str) -> pl.Expr:
    """Return what is said of the value of a column at each event."""
    return (
        pl.when(pl.col("absent").list.contains(pl.lit(name)))
        .then(pl.lit("absent"))
        .when("ended")
        .then(pl.lit("removed"))
        .when(pl.col("changed").list.contains(pl.lit(name)).fill_null(False))
        .then(pl.lit("changed"))
    )


def event_values(events: pl.DataFrame, absent: pl.Series) -> tuple[EventValues, ...]:
    """Return for each event the values of the row as texts, and the earlier ones where they differ.

    A column that did not exist then is absent; one that did not exist before is new.
    """
    names = events["values"].struct.fields[:_MOST_COLUMNS] if len(events) else []
    columns = {name: events["values"].struct.field(name) for name in names}
    texts = {name: briefs_of(column)[0].to_list() for name, column in columns.items()}
    pieces = {name: pieces_of(column) for name, column in columns.items()}
    return tuple(_event_values(events, names, texts, pieces, absent.to_list()))


def _event_values(
    events: pl.DataFrame,
    names: list[str],
    texts: dict[str, list[str | None]],
    pieces: dict[str, list[CellPiece | None] | None],
    absent: list[list[str]],
) -> Iterator[EventValues]:
    total = len(events["values"].struct.fields) if len(events) else 0
    read = events["values"].is_not_null().to_list()
    facts = events.select("changed_columns", "_rowaddr_after").rows()
    for number, (changed, after) in enumerate(facts):
        if not read[number]:
            yield EventValues(False, after is None, changed is not None, total, [])
            continue
        differs = set(changed or ())
        gone, gone_before = set(absent[number]), set(absent[number - 1] if number else ())
        values = [
            EventValue(
                name=name,
                value=texts[name][number],
                piece=None if (shown := pieces[name]) is None else shown[number],
                before=texts[name][number - 1] if name in differs else None,
                changed=name in differs,
                is_absent=name in gone,
                is_new=name in gone_before and name not in gone,
            )
            for name in names
        ]
        yield EventValues(True, after is None, changed is not None, total, values)
