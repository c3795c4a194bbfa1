"""Where a version stands among those whose rows can be told."""

from lance_explorer.errors import VersionNotFoundError
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.readable import check_rows

__all__ = ["check_some", "position_of"]


def check_some(rows: StateRows) -> None:
    """Check that there is a version whose rows can be told; else say why the latest is none."""
    if not rows.history.records and rows.source.history.records:
        position_of(rows, rows.source.latest_version)


def position_of(rows: StateRows, version: int) -> int:
    """Return the position of a version among those whose rows can be told.

    Raises
    ------
    CorruptFileError
        If two of its fragments have the same ID.
    """
    try:
        return rows.history.position(version)
    except VersionNotFoundError:
        check_rows(rows.source.version(version))
        raise rows.source.missing_version(version) from None
