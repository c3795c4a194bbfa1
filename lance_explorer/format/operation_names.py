"""The names of operations, as Lance spells them."""

from enum import StrEnum

__all__ = ["OperationName"]


class OperationName(StrEnum):
    """The operation of a commit, from its transaction.

    Examples
    --------
    >>> from lance_explorer.format.operation_names import OperationName
    >>> OperationName("Restore").value, OperationName.RESTORE == "Restore"
    ('Restore', True)
    """

    APPEND = "Append"
    CLONE = "Clone"
    CREATE_INDEX = "CreateIndex"
    DATA_OVERLAY = "DataOverlay"
    DATA_REPLACEMENT = "DataReplacement"
    DELETE = "Delete"
    MERGE = "Merge"
    OVERWRITE = "Overwrite"
    PROJECT = "Project"
    RESERVE_FRAGMENTS = "ReserveFragments"
    RESTORE = "Restore"
    REWRITE = "Rewrite"
    UPDATE = "Update"
    UPDATE_BASES = "UpdateBases"
    UPDATE_CONFIG = "UpdateConfig"
    UPDATE_MEM_WAL_STATE = "UpdateMemWalState"
    UNKNOWN = "unknown"
    """One that this package does not know."""
