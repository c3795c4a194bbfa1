"""Versions as people name them: by number, tag or time."""

from datetime import datetime
from operator import index
from typing import SupportsIndex

from lance_explorer.errors import InvalidArgumentError, VersionNotFoundError
from lance_explorer.history.source import TableSource

__all__ = ["VersionName", "version_number"]

VersionName = SupportsIndex | str | datetime


def version_number(source: TableSource, name: VersionName, *, is_begin: bool = False) -> int:
    """Return the number of a version of a branch.

    Parameters
    ----------
    source : TableSource
        The branch.
    name : int, str or datetime
        A version number, a tag, or a time, for the highest version that was committed by then.
    is_begin : bool
        Whether a time before the first version means the empty table, 0.

    Raises
    ------
    VersionNotFoundError
        If all kept versions are later than a time.
    RefNotFoundError
        If there is no such tag.
    InvalidArgumentError
        If the tag is on another branch, or it is none of these.
    """
    match name:
        case bool():
            pass
        case SupportsIndex():
            return index(name)
        case str():
            return _tagged(source, name)
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
    if tag.branch != source.branch:
        there = f"branch {tag.branch}" if tag.branch else "the main branch"
        here = f"branch {source.branch}" if source.branch else "the main branch"
        raise InvalidArgumentError(
            f"tag {name!r} is on {there}, and changes are those of {here}; open {there} for it"
        )
    return tag.version
