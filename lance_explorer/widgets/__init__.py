"""Widgets: views of a table for notebooks.

What is chosen in a view is in its ``state``. Views with the same state are linked:
``RowHistory(table, state=graph.state)``. For how to write a view, see
:mod:`lance_explorer.widgets.view`.
"""

from lance_explorer.widgets.changes import Changes
from lance_explorer.widgets.columns import Columns
from lance_explorer.widgets.database import DatabaseExplorer
from lance_explorer.widgets.disk import Disk
from lance_explorer.widgets.explorer import Explorer
from lance_explorer.widgets.indices import Indices
from lance_explorer.widgets.lineage_graph import LineageGraph
from lance_explorer.widgets.log import Log
from lance_explorer.widgets.overview import Overview
from lance_explorer.widgets.row_history import RowHistory
from lance_explorer.widgets.segment_encodings import SegmentEncodings
from lance_explorer.widgets.time_travel import TimeTravel

__all__ = [
    "Changes",
    "Columns",
    "DatabaseExplorer",
    "Disk",
    "Explorer",
    "Indices",
    "LineageGraph",
    "Log",
    "Overview",
    "RowHistory",
    "SegmentEncodings",
    "TimeTravel",
]


def __dir__() -> list[str]:
    return list(__all__)
