"""What happened to a row, in words and colours: the same in all pictures."""

from collections.abc import Mapping
from typing import Any

from lance_explorer.rowids.addresses import RowAddress

__all__ = ["EVENT_KINDS", "event_name", "place_words", "way_words"]

EVENT_KINDS = {
    "created": "append",
    "inserted": "append",
    "restored": "restore",
    "overwritten": "overwrite",
    "deleted": "delete",
    "updated": "update",
    "column_rewritten": "schema",
    "column_added": "schema",
    "moved": "compact",
}
"""The kind of commit whose colour an event has."""


def event_name(event: str) -> str:
    """Return an event as words.

    Examples
    --------
    >>> event_name("column_added")
    'column added'
    """
    return event.replace("_", " ")


def place_words(address: int | None) -> str:
    """Return where a row is.

    Examples
    --------
    >>> place_words(12884901905), place_words(None)
    ('fragment 3, offset 17', 'nowhere')
    """
    if address is None:
        return "nowhere"
    place = RowAddress.of(address)
    return f"fragment {place.fragment_id:,}, offset {place.offset:,}"


def way_words(event: Mapping[str, Any]) -> str:
    """Return from where to where an event took a row.

    Parameters
    ----------
    event : mapping
        A row of ``table.row(id).history()``.

    Examples
    --------
    >>> way_words({"_rowaddr_before": 42, "_rowaddr_after": 4294967296})
    'from fragment 0, offset 42 to fragment 1, offset 0'
    """
    before, after = event["_rowaddr_before"], event["_rowaddr_after"]
    if before == after:
        return f"in {place_words(after)}"
    if before is None:
        return f"into {place_words(after)}"
    if after is None:
        return f"it was in {place_words(before)}"
    return f"from {place_words(before)} to {place_words(after)}"
