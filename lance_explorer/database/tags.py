"""Tags that some tables of a database lack."""

from collections.abc import Sequence

from lance_explorer.database.look import Look
from lance_explorer.findings import Finding, Subject
from lance_explorer.frames.sizes import counted

__all__ = ["tag_findings"]

_LEAST = 2
"""A tag on this many tables is assumed to be one of the whole database."""


def tag_findings(looks: Sequence[Look]) -> list[tuple[str, Finding]]:
    """Return the tags that most tables have, with the tables that lack them.

    A tag on two tables or more, and on at least half of the readable ones, is assumed to be meant
    for all.
    """
    readable = [look for look in looks if look.problem is None]
    tagged: dict[str, set[str]] = {}
    for look in readable:
        for tag in look.tags:
            tagged.setdefault(tag, set()).add(look.name)
    return [
        (
            look.name,
            Finding(
                "tag_on_other_tables",
                f"tag {tag!r} is on {counted(len(names), 'other table')} of the database, and not "
                "on this one",
                subject=Subject("tag", tag),
            ),
        )
        for tag, names in sorted(tagged.items())
        if len(names) >= _LEAST and 2 * len(names) >= len(readable)
        for look in readable
        if look.name not in names
    ]
