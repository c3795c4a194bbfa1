"""Advice for the browser: findings of ``checks``, the same in all views."""

from collections.abc import Sequence

from lance_explorer.checks.advice import NOTHING_TO_DO, SEVERITY_WORDS, advice_counts
from lance_explorer.checks.damage import MENDED, RECOVER
from lance_explorer.findings import Finding
from lance_explorer.widgets.messages.advice import Advice
from lance_explorer.widgets.messages.advice import Finding as Shown

__all__ = ["VIEWS_OF_TOPICS", "advice_data", "advice_sentences"]

_MOST_ADVICE = 100

VIEWS_OF_TOPICS = {"files": "disk", "storage": "disk", "indices": "indices", "row_ids": "encodings"}
"""The view of the explorer with more information, by topic."""


def advice_data(
    findings: Sequence[Finding], nothing: str = f"{NOTHING_TO_DO}.", problem: str | None = None
) -> Advice:
    """Return advice for the browser, the worst first.

    Parameters
    ----------
    found : sequence of Finding
        What ``checks.advice`` finds, or part of it.
    nothing : str
        The sentence if there is none.
    problem : str, optional
        Why it may be incomplete.
    """
    return Advice(
        counts=advice_counts(findings),
        found=[_shown(one) for one in findings[:_MOST_ADVICE]],
        num_found=len(findings),
        nothing=nothing,
        problem=problem,
    )


def _shown(finding: Finding) -> Shown:
    version, remedy = finding.last_version, finding.remedy
    return Shown(
        code=finding.code,
        severity=finding.severity,
        words=SEVERITY_WORDS[finding.severity],
        version=None if version is None else str(version),
        fragment_id=finding.subject.name if finding.subject.kind == "fragment" else None,
        statement=finding.statement,
        why=finding.why,
        remedy=remedy.statement if remedy else "",
        remedy_code=remedy.code if remedy else "",
        view=VIEWS_OF_TOPICS.get(finding.topic),
        question=RECOVER.question if finding.code in MENDED else None,
    )


def advice_sentences(findings: Sequence[Finding], nothing: str = f"{NOTHING_TO_DO}.") -> list[str]:
    """Return advice as sentences, or the sentence for none.

    Examples
    --------
    >>> advice_sentences([])
    ['Nothing needs to be done.']
    """
    return [finding.sentence for finding in findings] or [nothing]
