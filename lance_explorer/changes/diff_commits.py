"""The commits between two versions, and the schemas on the path."""

from collections.abc import Iterator

import polars as pl

from lance_explorer.changes.diff_schema import FieldPair, paired_fields
from lance_explorer.frames.columns import BRANCH, ID, KNOWN_FROM, TEXT, TIME, Column, FrameSchema
from lance_explorer.frames.commit_facts import COMMIT_FACTS, facts_of_commit
from lance_explorer.frames.known_from import known_from
from lance_explorer.history.ancestors import Ancestry, BranchVersion, Stretch
from lance_explorer.history.columns.identity import fields_of_both
from lance_explorer.history.columns.lives import ByName
from lance_explorer.history.history import VersionRecord

__all__ = ["COMMITS_BETWEEN", "commits_between", "fields_between"]

_SAID = [column for column in COMMIT_FACTS if column.name in ("message", "author", "job", "run")]
"""What the header of a transaction says; for more, the whole would have to be read."""

COMMITS_BETWEEN = FrameSchema(
    "commits_between",
    (
        Column(
            "side",
            pl.Enum(["first", "second"]),
            "first: only in the history of the first version; second: only in the other",
        ),
        BRANCH,
        Column("version", ID, "version of the commit"),
        Column("timestamp", TIME, "when it was committed", nullable=True),
        Column("operation", TEXT, "operation as Lance names it", nullable=True),
        *_SAID,
        KNOWN_FROM,
    ),
)
"""The columns of ``Diff.commits()``."""


def commits_between(common: Ancestry) -> pl.DataFrame:
    """Return the kept commits from one version back to the common one, and forward to the other."""
    back = [
        ("first", *commit)
        for stretch in reversed(common.to_first)
        for commit in reversed([*_commits(stretch)])
    ]
    forward = [("second", *commit) for stretch in common.to_second for commit in _commits(stretch)]
    commits = back + forward
    facts = [facts_of_commit(record) for _, _, record, _ in commits]
    return COMMITS_BETWEEN.build(
        {
            "side": [side for side, *_ in commits],
            "branch": [branch for _, branch, _, _ in commits],
            "version": [record.version for _, _, record, _ in commits],
            "timestamp": [record.manifest.timestamp for _, _, record, _ in commits],
            "operation": [record.operation for _, _, record, _ in commits],
            **{column.name: [getattr(fact, column.name) for fact in facts] for column in _SAID},
            "known_from": [place for *_, place in commits],
        }
    )


def fields_between(
    first: BranchVersion, second: BranchVersion, common: Ancestry | None
) -> list[FieldPair]:
    """Return the pairs of fields of two versions.

    Parameters
    ----------
    first, second : BranchVersion
        The versions.
    common : Ancestry or None
        How both come from a common version; None if they do not, or it is unknown.
    """
    before, after = [place.view.version(place.version).records[0] for place in (first, second)]
    if common is None:
        return paired_fields(before.schema, after.schema, {}, ByName.OVERWRITES)
    matched = dict[tuple[int, int], ByName]()
    for by_name in ByName:
        for pair in fields_of_both(first, second, by_name).shared.items():
            matched.setdefault(pair, by_name)
        if len(matched) >= min(len(before.schema), len(after.schema)):
            break  # no field is left that could be matched by its name
    return paired_fields(before.schema, after.schema, matched)


def _commits(stretch: Stretch) -> Iterator[tuple[str | None, VersionRecord, str]]:
    if stretch.view is not None:
        history = stretch.view.history
        places = known_from(stretch.view, history.versions)
        for record, place in zip(history.records, places, strict=True):
            if stretch.begin < record.version <= stretch.end:
                yield stretch.view.branch, record, place
