"""What Lance does with a commit if another one was committed since it began."""

import polars as pl

from lance_explorer.frames.columns import TEXT, Column, FrameSchema
from lance_explorer.frames.documented import documented

__all__ = ["CONFLICTS", "OPERATIONS", "OUTCOMES", "OVERLAPS", "conflicts"]

OPERATIONS = (
    "Append",
    "Delete",
    "Update",
    "Merge",
    "Project",
    "Overwrite",
    "Rewrite",
    "CreateIndex",
    "UpdateConfig",
    "Restore",
)
"""The operations, by Lance's names, that were tried in pairs."""

OVERLAPS = ("same_rows", "same_fragment", "other_fragments")

OUTCOMES = ("rebased", "redone", "refused_try_again", "refused")

# One line for each operation that was committed first, with the letters of the results of
# OPERATIONS that came second, with each of OVERLAPS: re(b)ased, re(d)one, (a)gain, (r)efused.
_FOUND = """
Append bbb bbb bbb aaa bbb bbb bbb bbb bbb ddd
Delete bbb dbb dbb aaa bbb bbb aab bbb bbb ddd
Update bbb dbb dbb aaa bbb bbb aab bbb bbb ddd
Merge bbb ddd ddd aaa aaa bbb aaa bbb bbb ddd
Project bbb bbb bbb rrr aaa bbb bbb bbb bbb ddd
Overwrite rrr rrr rrr rrr rrr aaa rrr rrr bbb ddd
Rewrite bbb ddb ddb aaa bbb bbb aab aaa bbb ddd
CreateIndex bbb bbb bbb bbb bbb bbb aaa aab bbb ddd
UpdateConfig bbb bbb bbb bbb bbb bbb bbb bbb rrb ddd
Restore rrr rrr rrr rrr rrr bbb rrr rrr bbb ddd
"""

CONFLICTS = FrameSchema(
    "conflicts",
    (
        Column("committed", TEXT, "operation that was committed first"),
        Column("attempted", TEXT, "operation that began on the same version, and comes second"),
        Column(
            "overlap",
            pl.Enum(OVERLAPS),
            "whether both touch the same rows, other rows of one fragment, or other fragments; "
            "of operations on columns, indices or config: the same one, or (`other_fragments`) "
            "another one",
        ),
        Column(
            "outcome",
            pl.Enum(OUTCOMES),
            "`rebased`: committed unchanged, on top; `redone`: run again by Lance on the new "
            "version; `refused_try_again`: an error that says so; `refused`: a lasting error",
        ),
    ),
)
"""The columns of :func:`conflicts`."""

_LETTERS = dict(zip("bdar", OUTCOMES, strict=True))


@documented(CONFLICTS)
def conflicts() -> pl.DataFrame:
    """Return what Lance 14.0.2 does with each pair of commits that began on the same version.

    Each pair was tried with pylance, on a table without stable row IDs.

    Examples
    --------
    >>> import lance_explorer as lx
    >>> found = lx.conflicts().filter(committed="Delete", attempted="Rewrite")
    >>> found.select("overlap", "outcome").rows()[0]
    ('same_rows', 'refused_try_again')
    """
    rows = [
        (line.split()[0], attempted, overlap, _LETTERS[letter])
        for line in _FOUND.split("\n")
        if line
        for attempted, letters in zip(OPERATIONS, line.split()[1:], strict=True)
        for overlap, letter in zip(OVERLAPS, letters, strict=True)
    ]
    columns = [list(column) for column in zip(*rows, strict=True)]
    return CONFLICTS.build(dict(zip(CONFLICTS.names, columns, strict=True)))
