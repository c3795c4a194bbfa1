"""Where a version stands among those whose rows can be told."""

from lance_explorer.errors import VersionNotFoundError
from lance_explorer.history.readable import check_readable
from lance_explorer.history.rows.state_rows import StateRows

__all__ = ["position_of"]


def position_of(rows: StateRows, version: int) -> int:
    """Return the position of a version among those whose rows can be told.

    Raises
    ------
    VersionNotFoundError
        If it is not kept.
    UnsupportedFeatureError
        If its rows cannot be told.
    """
    try:
        return rows.history.position(version)
    except VersionNotFoundError:
        check_readable(rows.source.version(version).records[0])
        raise rows.source.missing_version(version) from None
