"""Versions as people type them into a box."""

from datetime import UTC, datetime

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.table import Table

__all__ = ["version_elsewhere", "version_named"]

_MAIN = "main"


def version_named(table: Table, text: str) -> int:
    """Return the version of this branch that a tag, a number or a time names.

    Raises
    ------
    InvalidArgumentError
        If the tag is on another branch.

    Examples
    --------
    >>> version_named(table, "3")
    3
    """
    if text in table.tags:
        tag = table.tags[text]
        if tag.branch != table.branch:
            raise InvalidArgumentError(
                f"the tag {text} is on {tag.branch or 'the main branch'}; open that to see it"
            )
        return _kept(table, tag.version)
    if text.isdecimal():
        return _kept(table, int(text))
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidArgumentError(
            f"{text!r} is no version, no tag, and no time such as 2026-11-21 08:30 (UTC)"
        ) from None
    return table.source.version_as_of(time if time.tzinfo else time.replace(tzinfo=UTC))


def version_elsewhere(table: Table, text: str) -> tuple[str, int] | None:
    """Return branch and version if a text names a version of another branch.

    That is by a tag, or as ``dev:3``. The branch is called as :meth:`Table.at` has it.

    Examples
    --------
    >>> version_elsewhere(table, "dev:2"), version_elsewhere(table, "3")
    (('dev', 2), None)
    """
    here = table.branch or _MAIN
    if tag := table.tags.get(text):
        branch, version = tag.branch or _MAIN, tag.version
    else:
        branch, _, number = text.rpartition(":")
        if branch not in (_MAIN, *table.branches) or not number.isdecimal():
            return None
        version = int(number)
    return None if branch == here else (branch, version)


def _kept(table: Table, version: int) -> int:
    if version not in table.source.history.versions_read:
        raise table.source.missing_version(version)
    return version
