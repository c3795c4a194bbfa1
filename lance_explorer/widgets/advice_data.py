"""Advice for the browser: the findings of ``checks``, which all views show alike."""

from collections.abc import Sequence
from typing import Any

from lance_explorer.checks.advice import NOTHING_TO_DO, SEVERITY_WORDS, advice_counts
from lance_explorer.findings import Finding

__all__ = ["VIEWS_OF_TOPICS", "advice_data", "advice_sentences"]

_MOST_ADVICE = 100

VIEWS_OF_TOPICS = {"files": "disk", "storage": "disk", "indices": "indices", "row_ids": "encodings"}
"""The view of the explorer that tells more, by topic."""


def advice_data(
    found: Sequence[Finding], nothing: str = f"{NOTHING_TO_DO}.", problem: str | None = None
) -> dict[str, Any]:
    """Return advice for the browser, the worst first.

    Parameters
    ----------
    found : sequence of Finding
        What ``checks.advice`` finds, or part of it.
    nothing : str
        What is said if there is none.
    problem : str, optional
        Why it may be incomplete.
    """
    return {
        "num_found": len(found),
        "counts": advice_counts(found),
        "nothing": nothing,
        "problem": problem,
        "found": [
            {
                "code": one.code,
                "severity": one.severity,
                "words": SEVERITY_WORDS[one.severity],
                "version": None if one.last_version is None else str(one.last_version),
                "fragment_id": one.subject.name if one.subject.kind == "fragment" else None,
                "statement": one.statement,
                "why": one.why,
                "remedy": one.remedy.statement if one.remedy else "",
                "remedy_code": one.remedy.code if one.remedy else "",
                "view": VIEWS_OF_TOPICS.get(one.topic),
            }
            for one in found[:_MOST_ADVICE]
        ],
    }


def advice_sentences(found: Sequence[Finding], nothing: str = f"{NOTHING_TO_DO}.") -> list[str]:
    """Return advice as sentences; where there is none, that.

    Examples
    --------
    >>> advice_sentences([])
    ['Nothing needs to be done.']
    """
    return [finding.sentence for finding in found] or [nothing]
