"""Operations, and the kind of commit each is."""

__all__ = ["kind_of"]

_KINDS = {
    "Append": "append",
    "Delete": "delete",
    "Update": "update",
    "DataReplacement": "update",
    "DataOverlay": "update",
    "Rewrite": "compact",
    "ReserveFragments": "compact",
    "Restore": "restore",
    "CreateIndex": "index",
    "Merge": "schema",
    "Project": "schema",
    "UpdateConfig": "config",
    "UpdateBases": "config",
    "UpdateMemWalState": "config",
    "Clone": "branch",
}


def kind_of(operation: str | None, version: int) -> str:
    """Return the kind of a commit.

    Examples
    --------
    >>> kind_of("Overwrite", 1), kind_of("Overwrite", 2), kind_of(None, 3)
    ('create', 'overwrite', 'other')
    """
    if operation == "Overwrite":
        return "create" if version == 1 else "overwrite"
    return _KINDS.get(operation or "", "other")
