"""What a cleanup and a compaction would make of a table, in words, with the calls that do it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import polars as pl

from lance_explorer.disk.cleanup import CleanupRules, cleanup
from lance_explorer.disk.cleanup_preview import CleanupPreview
from lance_explorer.disk.compaction_preview import CompactionPreview, compaction_preview
from lance_explorer.disk.survey import Survey
from lance_explorer.frames.sizes import counted

__all__ = ["Plan", "plans"]

_CLEANUPS = {
    "A cleanup now, of what is older than 14 days": CleanupRules(),
    "A cleanup of all but the latest version": CleanupRules(older_than=timedelta(0)),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What could be done about the size of a table.

    Attributes
    ----------
    title : str
        What would be done.
    sentence : str
        What comes of it.
    code : str
        The call that does it.
    costs : str
        What it takes, and what it leaves in metadata; empty if nothing is to be said.
    about, details : str and list of str
        What else there is to know of it: what is lost, or what stays as it is.
    """

    title: str
    sentence: str
    code: str
    costs: str
    about: str
    details: list[str]


def plans(found: Survey, check: Callable[[], None] = lambda: None) -> list[Plan]:
    """Return two cleanups and a compaction.

    ``check`` is called between them, and may end the work.

    Examples
    --------
    >>> from lance_explorer.disk.survey import survey
    >>> plans(survey(table.source))[2].code
    'dataset.optimize.compact_files()'
    """
    made = list[Plan]()
    for title, rules in _CLEANUPS.items():
        preview = CleanupPreview(cleanup(found, rules))
        made.append(_plan(title, preview, "What is lost", preview.losses()["message"].to_list()))
        check()
    compaction = compaction_preview(found.source, {})
    stay = _stay(compaction)
    return [*made, _plan("A compaction", compaction, "Fragments that stay as they are", stay)]


def _plan(
    title: str, preview: CleanupPreview | CompactionPreview, about: str, details: list[str]
) -> Plan:
    sentence = preview.sentence
    told = f"{sentence[:1].upper()}{sentence[1:]}."
    costs = preview.costs if isinstance(preview, CompactionPreview) else []
    return Plan(title, told, preview.code, " ".join(costs), about, details)


def _stay(compaction: CompactionPreview) -> list[str]:
    """Return why fragments stay, the reason of most of them first."""
    stay = compaction.fragments().filter(~pl.col("is_rewritten"))
    reasons = stay.group_by("message").len().sort("len", "message", descending=[True, False])
    return [f"{counted(number, 'fragment')}: {message}" for message, number in reasons.iter_rows()]
