"""The events of a row with its values: as rows of a table with marks, and as before and after."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from lance_explorer.figures.row_events import EVENT_KINDS, event_name
from lance_explorer.rowids.addresses import FRAGMENT_BITS
from lance_explorer.widgets.cell_text import summary_of

__all__ = ["event_values", "events_table"]

_OFFSETS = (1 << FRAGMENT_BITS) - 1
_MOST_COLUMNS = 60


def events_table(events: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows of the table, with a column for each value, and how cells are marked.

    Parameters
    ----------
    events : polars.DataFrame
        What ``table.row(id).history(values=True)`` gives.
    """
    address = pl.coalesce("_rowaddr_after", "_rowaddr_before")
    has_branches = events["branch"].null_count() < len(events)
    about = events.select(
        "version",
        pl.col("event").cast(pl.String),
        "operation",
        "timestamp",
        *(["branch"] if has_branches else []),
        "fragment_id",
        (address & _OFFSETS).alias("offset"),
        "_rowaddr_after",
    )
    origin = events.select("_rowaddr_before", pl.col("evidence").cast(pl.String), "source")
    values = events["values"].struct.unnest()
    taken = {*about.columns, *origin.columns}
    names = {name: f"{name} (value)" if name in taken else name for name in values.columns}
    kinds = events["event"].cast(pl.String).replace_strict(EVENT_KINDS, return_dtype=pl.String)
    ended = events["_rowaddr_after"].is_null() & events["values"].is_not_null()
    changed = events["changed_columns"]
    marks = {"event": kinds} | {
        shown: _marks(name, changed, ended) for name, shown in names.items()
    }
    table = pl.concat([about, values.rename(names), origin], how="horizontal")
    return table, pl.DataFrame(marks)


def _marks(name: str, changed: pl.Series, ended: pl.Series) -> pl.Series:
    is_changed = changed.list.contains(pl.lit(name)) if len(changed) else changed.is_null()
    return pl.select(
        pl.when(ended)
        .then(pl.lit("removed"))
        .when(is_changed.fill_null(False))
        .then(pl.lit("changed"))
    ).to_series()


def event_values(events: pl.DataFrame) -> list[dict[str, Any]]:
    """Return for each event the values of the row as texts, and those before where they differ."""
    names = events["values"].struct.fields[:_MOST_COLUMNS] if len(events) else []
    texts = {name: summary_of(events["values"].struct.field(name))[0].to_list() for name in names}
    return list(_event_values(events, names, texts))


def _event_values(
    events: pl.DataFrame, names: list[str], texts: dict[str, list[str | None]]
) -> Iterator[dict[str, Any]]:
    total = len(events["values"].struct.fields) if len(events) else 0
    read = events["values"].is_not_null().to_list()
    facts = events.select("event", "changed_columns", "_rowaddr_after").rows()
    for number, (event, changed, after) in enumerate(facts):
        if not read[number]:
            yield {"is_read": False, "what": event_name(event), "values": []}
            continue
        differs = set(changed or ())
        values = [
            {
                "name": name,
                "value": texts[name][number],
                "before": texts[name][number - 1] if name in differs else None,
                "changed": name in differs,
            }
            for name in names
        ]
        yield {
            "is_read": True,
            "is_compared": changed is not None,
            "is_end": after is None,
            "num_columns": total,
            "values": values,
        }
