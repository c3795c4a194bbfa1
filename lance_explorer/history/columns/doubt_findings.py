"""The finding about two columns that may be one."""

from lance_explorer.findings import Finding, Remedy, Subject
from lance_explorer.history.columns.lives import Doubt

__all__ = ["column_in_doubt"]


def column_in_doubt(doubt: Doubt, branch: str | None, branch_before: str | None) -> Finding:
    """Return the finding that two columns may be one, as far as kept versions show.

    Parameters
    ----------
    doubt : Doubt
        The columns, named as they are shown.
    branch, branch_before : str or None
        The branches of the later and of the earlier version; None is the main branch.
    """
    before, after = repr(doubt.name_before), repr(doubt.name_after)
    since, earlier = f"since version {doubt.version_after}", f"version {doubt.version_before}"
    values = "values of versions before"
    if branch != branch_before:
        since = f"in version {doubt.version_after}"
        earlier += f" of branch {branch_before!r}" if branch_before else " of the main branch"
        values = "values of that version"
    return Finding(
        "column_in_doubt",
        f"column {after}, with field ID {doubt.field_id} {since}, may be {before} of {earlier}: no "
        "version that is kept shows it, so they are two columns",
        subject=Subject("column", doubt.name_after),
        versions=(doubt.version_after, doubt.version_after),
        branch=branch,
        columns=(doubt.name_after, doubt.name_before),
        remedy=Remedy(f"See {before} for {values}; tag versions that are to be kept."),
    )
