"""Whether two versions have the same content, in words."""

from lance_explorer.changes.diff_content import SameContent
from lance_explorer.figures.labels import plural

__all__ = ["content_words"]

_MOST_COLUMNS = 20

_PROOFS = {
    "row ID": "under each row ID there are the values that it had",
    "multiset hash": "there are the same rows, in whatever order and under whatever row IDs",
}


def content_words(found: SameContent) -> str:
    """Return what the comparison found, and how that is known.

    Examples
    --------
    >>> content_words(table.diff(5, 6).same_content())
    'Yes: both versions have the same columns in the same files.'
    >>> content_words(table.diff(1, 2).same_content())
    'No: id, city and mood differ; 0 rows against 2 were read.'
    """
    if found.method == "metadata":
        return "Yes: both versions have the same columns in the same files."
    if found.is_same:
        rows = plural(found.num_rows_after, "row")
        return (
            f"Yes: {rows} were read from both versions, and {_PROOFS[found.method]}. "
            "All other fragments are the same files."
        )
    if found.columns:
        what = _enumeration(found.columns) + (" differs" if len(found.columns) == 1 else " differ")
    elif found.num_rows_before == found.num_rows_after:
        what = "each column has the same values, but in other rows"
    else:
        what = "the number of rows differs"
    rows = plural(found.num_rows_before, "row")
    return f"No: {what}; {rows} against {found.num_rows_after:,} were read."


def _enumeration(names: tuple[str, ...]) -> str:
    """Return names as a list in words, cut if they are many."""
    shown = [*names[:_MOST_COLUMNS]]
    if len(names) > _MOST_COLUMNS:
        shown.append(f"{len(names) - _MOST_COLUMNS:,} more")
    return " and ".join([part for part in (", ".join(shown[:-1]), shown[-1]) if part])
