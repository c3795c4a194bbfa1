"""Operations, and the kind of commit each is."""

from lance_explorer.format.operation_names import OperationName

__all__ = ["kind_of"]

_KINDS: dict[str, str] = {
    OperationName.APPEND: "append",
    OperationName.DELETE: "delete",
    OperationName.UPDATE: "update",
    OperationName.DATA_REPLACEMENT: "update",
    OperationName.DATA_OVERLAY: "update",
    OperationName.REWRITE: "compact",
    OperationName.RESERVE_FRAGMENTS: "compact",
    OperationName.RESTORE: "restore",
    OperationName.CREATE_INDEX: "index",
    OperationName.MERGE: "schema",
    OperationName.PROJECT: "schema",
    OperationName.UPDATE_CONFIG: "config",
    OperationName.UPDATE_BASES: "config",
    OperationName.UPDATE_MEM_WAL_STATE: "config",
    OperationName.CLONE: "branch",
}


def kind_of(operation: str | None, version: int) -> str:
    """Return the kind of a commit.

    Examples
    --------
    >>> kind_of("Overwrite", 1), kind_of("Overwrite", 2), kind_of(None, 3)
    ('create', 'overwrite', 'other')
    """
    if operation == OperationName.OVERWRITE:
        return "create" if version == 1 else "overwrite"
    return _KINDS.get(operation or "", "other")
