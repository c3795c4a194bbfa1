"""Remarks on a comparison: what is uncertain and why, what is lost, what to do."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.figures.labels import number, plural
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.evidence import Evidence

__all__ = ["counts_in_words", "doubts", "evidence_words", "lost_words"]

_EVIDENCE = {
    "recorded": "recorded by the table itself",
    "derived": "derived from row IDs, row versions or keys",
    "inferred": "some of this is inferred from the counts and the order of rows",
    "lost": "versions in between are lost, so some of this is unknown",
}

_CAUSES = {
    RowEvent.COLUMN_REWRITTEN: "a column was rewritten, possibly with unchanged values",
    RowEvent.COLUMN_ADDED: "a lost version seems to have added a column, and nothing else",
}
_HALVES = (
    "an upsert does not record which row replaced which: a deleted and an inserted row may be one "
    "update"
)
_LOST = "a lost version may have updated or moved them"
_OTHERS = "only counts and order link them over lost versions: they may be other rows"
_SAME_KEY = "their key occurs several times, so other pairs are possible"
_LOST_UPDATE = "a lost version may only have added a column"


def doubts(runs: ChangeRuns) -> str:
    """Return how many changed rows are uncertain, and why; "" if none is.

    Examples
    --------
    >>> from lance_explorer.widgets.comparison import compare
    >>> doubts(compare(table._view, 1, 3).runs)
    ''
    """
    uncertain = runs.where(runs.is_uncertain)
    if not len(uncertain):
        return ""
    parts = []
    for change in np.unique(uncertain.change).tolist():
        of_change = uncertain.only(change)
        causes = dict.fromkeys(
            [_cause(RowEvent(change), Evidence(e)) for e in np.unique(of_change.evidence).tolist()]
        )
        name = RowEvent(change).label.replace("_", " ")
        parts.append(f"{of_change.count(change):,} {name} ({'; '.join(causes)})")
    of_all = _num_rows(runs)
    verb = "is" if _num_rows(uncertain) == 1 else "are"
    rows = plural(of_all, "changed row")
    return f"{_num_rows(uncertain):,} of {rows} {verb} uncertain: {', '.join(parts)}."


def _cause(change: RowEvent, evidence: Evidence) -> str:
    if change in _CAUSES:
        return _CAUSES[change]
    if evidence == Evidence.INFERRED:
        return _OTHERS
    if change == RowEvent.UPDATED:
        return _LOST_UPDATE if evidence == Evidence.LOST else _SAME_KEY
    return _LOST if evidence == Evidence.LOST else _HALVES


def _num_rows(runs: ChangeRuns) -> int:
    return int(runs.length.sum(dtype=np.uint64))


def evidence_words(evidence: str | None) -> str:
    """Return the meaning of the weakest evidence.

    Examples
    --------
    >>> evidence_words("recorded")
    'recorded by the table itself'
    """
    return "" if evidence is None else _EVIDENCE[evidence]


def lost_words(summary: Mapping[str, Any], *, has_row_ids: bool) -> str:
    """Return which part of the path is lost, and what follows; "" if none is.

    Examples
    --------
    >>> summary = {"versions_lost": 2, "deleted": 0}
    >>> lost_words(summary, has_row_ids=True)[:40]
    '2 versions in between are no longer kept'
    """
    lost = summary["versions_lost"]
    if not lost:
        return ""
    verb = "is" if lost == 1 else "are"
    begin = f"{plural(lost, 'version')} in between {verb} no longer kept"
    if summary["deleted"] is None:
        return (
            f"{begin}, the first among them: row versions tell what was inserted and updated "
            "since; deleted and moved rows are unknown."
        )
    if has_row_ids:
        return f"{begin}; both ends are kept, so what differs between them is known."
    return f"{begin}; where the rows that they wrote came from is unknown."


def counts_in_words(summary: Mapping[str, Any], *, has_others: bool = False) -> str:
    """Return the counts of a net summary as one line; ``has_others`` if more than rows differs.

    Examples
    --------
    >>> counts_in_words(table.changes(0, 1).summary().row(0, named=True))
    '4 inserted'
    """
    classes = ("inserted", "deleted", "updated", "column_rewritten", "column_added", "moved")
    parts = [
        f"{number(summary[name])} {name.replace('_', ' ')}"
        for name in classes
        if summary[name] != 0
    ]
    return ", ".join(parts) or ("no row changed" if has_others else "nothing changed")
