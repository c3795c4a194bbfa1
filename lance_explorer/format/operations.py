"""What a commit did: one record per operation of Lance (docs/FORMAT.md 7).

Each record holds the whole message, and answers three questions: what it depends on, what it
changes, and how to show it in a line. Old forms of a message become the record of the current form.

The records are grouped by subject: rows, columns, the layout of both in fragments and indices, or
the whole table.
"""

from lance_explorer.format.column_operations import DataOverlay, DataReplacement, Merge, Project
from lance_explorer.format.layout_operations import CreateIndex, ReserveFragments, Rewrite
from lance_explorer.format.row_operations import Append, Delete, Overwrite, Update
from lance_explorer.format.table_operations import (
    Clone,
    Restore,
    Unknown,
    UpdateBases,
    UpdateConfig,
    UpdateMemWalState,
)

__all__ = ["Operation"]

Operation = (
    Append
    | Delete
    | Overwrite
    | CreateIndex
    | Rewrite
    | Merge
    | Restore
    | ReserveFragments
    | Update
    | Project
    | UpdateConfig
    | DataReplacement
    | UpdateMemWalState
    | Clone
    | UpdateBases
    | DataOverlay
    | Unknown
)
"""Any of the operations; a new one must be handled wherever they are distinguished."""
