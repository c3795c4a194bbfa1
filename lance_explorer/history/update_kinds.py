"""The kinds of Update commits, and the new rows of a commit."""

from collections.abc import Iterable

from lance_explorer.format.fragments import TOMBSTONE, Fragment
from lance_explorer.format.operations import Operation
from lance_explorer.format.row_operations import (
    Append,
    KeyExistenceFilter,
    Overwrite,
    Update,
    UpdateMode,
)
from lance_explorer.format.schema import NO_PARENT, Field

__all__ = [
    "has_new_rows",
    "inserts_nothing",
    "is_plain_update",
    "writes_in_place",
    "writes_rows",
]


def is_plain_update(update: Update, schema: Iterable[Field]) -> bool:
    """Whether the commit is one of ``update()``, not a merge.

    An update names the fields that it set. A merge names all: those at the top level, and from
    writers after 8.0.1 their parts, too. So an update of all columns looks like a merge; a merge
    never looks like an update.
    """
    if update.update_mode == UpdateMode.REWRITE_COLUMNS:
        return False
    columns = {field.id for field in schema if field.parent_id == NO_PARENT}
    fields = update.fields_for_preserving_frag_bitmap
    return bool(fields) and not columns.issubset(fields)


def writes_in_place(update: Update) -> bool:
    """Whether updated rows keep their place, and get values in other files.

    Writers before 1.0.4 had no mode to record it, but named the fields, and their files show it.
    Other engines name fields in commits that rewrite rows, too.
    """
    if update.update_mode == UpdateMode.REWRITE_COLUMNS:
        return True
    fields = set(update.fields_modified)
    files = [file for fragment in update.updated_fragments for file in fragment.files]
    return any(
        fields.issuperset(file.fields) or TOMBSTONE in file.fields for file in files if fields
    )


def inserts_nothing(keys: KeyExistenceFilter | None) -> bool:
    """Whether there is an empty filter of inserted keys."""
    if keys is None:
        return False
    return not keys.key_hashes and (keys.bloom is None or not any(keys.bloom.bitmap))


def has_new_rows(operation: Operation | None, fragment: Fragment) -> bool:
    """Whether a transaction itself records that all rows of a fragment are new.

    That takes no version to compare with. An update that names no other fragment only inserted.
    """
    if isinstance(operation, Update) and (
        operation.removed_fragment_ids or operation.updated_fragments
    ):
        return False
    return writes_rows(operation, fragment)


def writes_rows(operation: Operation | None, fragment: Fragment) -> bool:
    """Whether a transaction records that it wrote a fragment, with new or updated rows."""
    match operation:
        case Append() | Overwrite():
            written = operation.fragments
        case Update():
            written = operation.new_fragments
        case _:
            return False
    own = {file.path for new in written for file in new.files}
    return any(file.path in own for file in fragment.files)
