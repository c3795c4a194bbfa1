"""Which Update commits are those of ``update()``, and what others tell of inserted rows."""

from collections.abc import Iterable

from lance_explorer.format.operations import KeyExistenceFilter, Update
from lance_explorer.format.schema import Field

__all__ = ["inserts_nothing", "is_plain_update"]


def is_plain_update(update: Update, schema: Iterable[Field]) -> bool:
    """Whether the commit is one of ``update()``, not a merge.

    An update lists the fields that it set, a merge always all of them, ascending. So an update of
    all columns may look like a merge; a merge never looks like an update.
    """
    fields = update.fields_for_preserving_frag_bitmap
    return bool(fields) and list(fields) != sorted(field.id for field in schema)


def inserts_nothing(keys: KeyExistenceFilter | None) -> bool:
    """Whether there is a filter of inserted keys, and it holds none."""
    if keys is None:
        return False
    return not keys.key_hashes and (keys.bloom is None or not any(keys.bloom.bitmap))
