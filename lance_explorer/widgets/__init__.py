"""Widgets: the only room that knows a browser exists.

State (:class:`ExplorerState`) is apart from views; views that share a state are linked. How to
write a view is told in :mod:`lance_explorer.widgets.view`.
"""

from lance_explorer.widgets.changes import Changes
from lance_explorer.widgets.explorer import Explorer
from lance_explorer.widgets.files import Files
from lance_explorer.widgets.frame_table import FrameTable
from lance_explorer.widgets.indices import Indices
from lance_explorer.widgets.lineage_graph import LineageGraph
from lance_explorer.widgets.overview import Overview
from lance_explorer.widgets.row_history import RowHistory
from lance_explorer.widgets.segment_encodings import SegmentEncodings
from lance_explorer.widgets.state import ExplorerState
from lance_explorer.widgets.time_travel import TimeTravel

__all__ = [
    "Changes",
    "Explorer",
    "ExplorerState",
    "Files",
    "FrameTable",
    "Indices",
    "LineageGraph",
    "Overview",
    "RowHistory",
    "SegmentEncodings",
    "TimeTravel",
]
