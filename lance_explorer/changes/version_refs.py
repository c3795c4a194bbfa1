"""Versions as people name them: by number, tag or time."""

from datetime import datetime
from operator import index
from typing import SupportsIndex

from lance_explorer.errors import InvalidArgumentError, VersionNotFoundError
from lance_explorer.history.source import TableSource

__all__ = ["VersionRef", "version_number"]

VersionRef = SupportsIndex | str | datetime | tuple[str, SupportsIndex]
"""A version: its number, a tag, a time (as of), or a branch and a number."""

_MAIN = "main"


def version_number(source: TableSource, name: VersionRef, *, is_begin: bool = False) -> int:
    """Return the number of a version of a branch.

    Parameters
    ----------
    source : TableSource
        The branch.
    name : int, str, datetime or tuple of (str, int)
        A version number, a tag, a time, for the highest version that was committed by then, or the
        branch and a number.
    is_begin : bool
        Whether a time before the first version means the empty table, 0.

    Raises
    ------
    InvalidArgumentError
        If it is on another branch.
    """
    match name:
        case bool():
            pass
        case SupportsIndex():
            return index(name)
        case str():
            return _tagged(source, name)
        case (str() as branch, SupportsIndex() as number):
            _check_branch(source, None if branch == _MAIN else branch, f"version {name}")
            return index(number)
        case datetime():
            try:
                return source.version_as_of(name)
            except VersionNotFoundError:
                if is_begin and source.listing.versions[0].version == 1:
                    return 0
                raise
    raise InvalidArgumentError(f"expected a version number, a tag or a datetime, got {name!r}")


def _tagged(source: TableSource, name: str) -> int:
    tag = source.tag(name)
    _check_branch(source, tag.branch, f"tag {name!r}")
    return tag.version


def _check_branch(source: TableSource, branch: str | None, what: str) -> None:
    if branch == source.branch:
        return
    there, here = (
        f"branch {name}" if name else "the main branch" for name in (branch, source.branch)
    )
    raise InvalidArgumentError(
        f"{what} is on {there}, and changes are those of {here}; open {there} for it, or compare "
        f"versions of two branches with table.diff"
    )
