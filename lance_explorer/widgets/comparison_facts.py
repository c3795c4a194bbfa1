"""What a browser needs to know of a comparison, to draw it without asking again."""

from typing import Any

from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.figures.row_events import EVENT_KINDS
from lance_explorer.history.events.event_runs import NET_EVENTS
from lance_explorer.widgets.comparison import Cells, Comparison
from lance_explorer.widgets.comparison_words import doubts, evidence_words, lost_words

__all__ = ["CLASSES", "CLASS_COLORS", "comparison_facts"]

CLASSES = [change.label for change in NET_EVENTS if change.label != "unchanged"]
"""The classes that a changed row can be of."""

CLASS_COLORS = {name: KIND_COLORS[EVENT_KINDS[name]] for name in CLASSES}
"""The colour of each class."""


def comparison_facts(found: Comparison, *, has_row_ids: bool) -> dict[str, Any]:
    """Return counts by class and by column, and what to know about them; counts as text."""
    summary = found.summary.row(0, named=True)
    changed = {name: summary[name] for name in CLASSES}
    added_and_removed = bool(changed["inserted"] and changed["deleted"])
    return {
        "classes": [
            {
                "name": name,
                "color": CLASS_COLORS[name],
                "num_rows": None if rows is None else str(rows),
            }
            for name, rows in changed.items()
        ],
        "unchanged": None if summary["unchanged"] is None else str(summary["unchanged"]),
        "doubts": doubts(found.runs),
        "lost": lost_words(summary, has_row_ids=has_row_ids),
        "evidence": evidence_words(summary["evidence"]),
        "needs_key": added_and_removed and not has_row_ids,
        "left_out": found.left_out,
        "cells": None if found.cells is None else _cell_counts(found, found.cells),
    }


def _cell_counts(found: Comparison, cells: Cells) -> dict[str, Any]:
    return {
        "columns": [
            {"name": name, "num_rows": str(rows), "presence": found.presence(name)}
            for name, rows in cells.counts().items()
        ],
        "num_compared": str(len(cells.rows)),
        "num_rows": str(cells.num_rows),
        "num_equal": str(cells.num_equal),
    }
