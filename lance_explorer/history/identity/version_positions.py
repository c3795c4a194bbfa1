"""The position of a version among those with readable rows."""

from lance_explorer.errors import UnsupportedFeatureError, VersionNotFoundError
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.readable import check_rows

__all__ = ["check_some", "position_of"]


def check_some(rows: StateRows) -> None:
    """Check that there is a version with readable rows; else raise why the latest is not."""
    if not rows.history.records and rows.view.history.records:
        position_of(rows, rows.view.latest_version)


def position_of(rows: StateRows, version: int) -> int:
    """Return the position of a version among those with readable rows.

    Raises
    ------
    CorruptFileError
        If two of its fragments have the same ID.
    UnsupportedFeatureError
        If stable row IDs were turned off since.
    """
    try:
        return rows.history.position(version)
    except VersionNotFoundError:
        check_rows(rows.view.version(version))
        switched = rows.ids_went_at
        if switched is not None and version < switched and version in rows.view.history:
            raise UnsupportedFeatureError(
                f"version {switched} turned stable row IDs off: rows of version {version} cannot "
                "be followed across it; ask for versions before it, or from it on"
            ) from None
        raise rows.view.missing_version(version) from None
