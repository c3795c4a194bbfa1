"""What a browser needs to know of a comparison, to draw it without asking again."""

from msgspec.structs import replace

from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.figures.row_events import EVENT_KINDS
from lance_explorer.history.events.event_runs import NET_EVENTS
from lance_explorer.widgets.comparison import Cells, Comparison
from lance_explorer.widgets.comparison_words import doubts, evidence_words, lost_words
from lance_explorer.widgets.messages.changes import Cells as CellCounts
from lance_explorer.widgets.messages.changes import ChangeClass, DifferingColumn
from lance_explorer.widgets.messages.changes import Comparison as ComparisonMessage

__all__ = ["CLASSES", "CLASS_COLORS", "with_facts"]

CLASSES = [change.label for change in NET_EVENTS if change.label != "unchanged"]
"""The classes that a changed row can be of."""

CLASS_COLORS = {name: KIND_COLORS[EVENT_KINDS[name]] for name in CLASSES}
"""The colour of each class."""


def with_facts(
    about: ComparisonMessage, comparison: Comparison, *, has_row_ids: bool
) -> ComparisonMessage:
    """Return a message with counts by class and by column, and remarks on them."""
    summary = comparison.summary.row(0, named=True)
    changed = {name: summary[name] for name in CLASSES}
    added_and_removed = bool(changed["inserted"] and changed["deleted"])
    return replace(
        about,
        classes=[
            ChangeClass(name, CLASS_COLORS[name], None if rows is None else str(rows))
            for name, rows in changed.items()
        ],
        unchanged=None if summary["unchanged"] is None else str(summary["unchanged"]),
        doubts=doubts(comparison.runs),
        lost=lost_words(summary, has_row_ids=has_row_ids),
        evidence=evidence_words(summary["evidence"]),
        needs_key=added_and_removed and not has_row_ids,
        left_out=comparison.left_out,
        cells=None if comparison.cells is None else _cell_counts(comparison, comparison.cells),
    )


def _cell_counts(comparison: Comparison, cells: Cells) -> CellCounts:
    return CellCounts(
        [
            DifferingColumn(name, str(rows), comparison.presence(name))
            for name, rows in cells.counts().items()
        ],
        num_compared=str(len(cells.rows)),
        num_rows=str(cells.num_rows),
        num_equal=str(cells.num_equal),
    )
