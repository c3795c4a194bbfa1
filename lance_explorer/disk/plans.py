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
    breaks : list of str
        What others need and could no longer read, in sentences: then ``code`` does something else.
    lost : list of str
        What goes for good, as is meant: versions, and what only they know.
    instead : str
        Where something breaks: what ``code`` does, or that nothing can be done.
    code : str
        The call that does it, or what is done instead; empty if every way breaks something.
    costs : str
        What it takes, and what it leaves in metadata; empty if nothing is to be said.
    stays : list of str
        What stays as it is, and why.
    """

    title: str
    sentence: str
    breaks: list[str]
    lost: list[str]
    instead: str
    code: str
    costs: str
    stays: list[str]


def plans(found: Survey, check: Callable[[], None] = lambda: None) -> list[Plan]:
    """Return two cleanups and a compaction.

    ``check`` is called between them, and may end the work.

    Examples
    --------
    >>> from lance_explorer.disk.survey import survey
    >>> plans(survey(table._view))[2].code
    'dataset.optimize.compact_files()'
    """
    made = list[Plan]()
    for title, rules in _CLEANUPS.items():
        made.append(_of_cleanup(title, CleanupPreview(cleanup(found, rules))))
        check()
    compaction = compaction_preview(found.view, {})
    costs, stays = " ".join(compaction.costs), _stay(compaction)
    told = _sentence(compaction.sentence)
    return [*made, Plan("A compaction", told, [], [], "", compaction.code, costs, stays)]


def _of_cleanup(title: str, preview: CleanupPreview) -> Plan:
    instead, done = "", preview
    if preview.breaks:
        instead = "Nothing that Lance offers keeps what others need and frees this."
        if preview.instead is not None:
            done = preview.instead
            instead = f"Instead, without breaking anything: {done.sentence}."
    losses = done.losses().filter(pl.col("what") != "damage")["message"].to_list()
    lost = losses if done.code else []
    told = _sentence(preview.sentence)
    return Plan(title, told, preview.breaks, lost, instead, preview.code, "", [])


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _stay(compaction: CompactionPreview) -> list[str]:
    """Return why fragments stay, the reason of most of them first."""
    stay = compaction.fragments().filter(~pl.col("is_rewritten"))
    reasons = stay.group_by("message").len().sort("len", "message", descending=[True, False])
    return [f"{counted(number, 'fragment')}: {message}" for message, number in reasons.iter_rows()]
