"""The events of a row, in words and colours: the same in all pictures."""

from collections.abc import Mapping
from typing import Any

from lance_explorer.rowids.addresses import RowAddress
from lance_explorer.shown import one_line

__all__ = [
    "EVENT_KINDS",
    "EVIDENCE_WORDS",
    "event_name",
    "event_title",
    "event_words",
    "place_words",
    "way_words",
]

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

EVIDENCE_WORDS = {
    "recorded": "recorded in a file of the table",
    "derived": "derived from row IDs",
    "inferred": "inferred from counts and the order of rows",
    "lost": "lost with versions that were cleaned up",
}
"""How something is known."""


def event_name(event: str) -> str:
    """Return an event as words.

    Examples
    --------
    >>> event_name("column_added")
    'column added'
    """
    return event.replace("_", " ")


def event_title(row_id: int | None, event: str, version: int) -> str:
    """Return what happened to which row, and when.

    Examples
    --------
    >>> event_title(1042, "moved", 7), event_title(None, "moved", 7)
    ('Row 1,042 moved in version 7', 'The row moved in version 7')
    """
    row = "The row" if row_id is None else f"Row {row_id:,}"
    return f"{row} {event_name(event)} in version {version:,}"


def event_words(event: Mapping[str, Any], row_id: int | None) -> list[str]:
    """Return the full text of an event, a row of ``table.row(id).history()``.

    The lines are without markup, the first of them a title.
    """
    name = f"possibly {event['event']}" if event["is_uncertain"] else event["event"]
    time = event["timestamp"]
    when = f"{time:%Y-%m-%d %H:%M:%S} UTC" if time else "at an unknown time"
    return [
        event_title(row_id, name, event["version"]),
        f"{one_line(event['operation'] or 'operation not known')}, {when}",
        way_words(event),
        EVIDENCE_WORDS[event["evidence"]],
        *(["known from the ledger"] if event["known_from"] == "ledger" else []),
        *([one_line(event["source"])] if event["source"] else []),
    ]


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
    """Return the addresses of a row before and after an event.

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
