"""What checks find, as an answer."""

from collections.abc import Sequence

import polars as pl

from lance_explorer.answers import Answer, Section, lines
from lance_explorer.arguments import check_choice
from lance_explorer.checks.advice import advice_counts
from lance_explorer.findings import SEVERITIES, Finding, Severity
from lance_explorer.frames.sizes import counted

__all__ = ["check_answer"]


def check_answer(every: Sequence[Finding], level: Severity = "info") -> Answer:
    """Return the findings of a level or worse as an answer; what was not checked is always in it.

    Examples
    --------
    >>> from lance_explorer.findings import Finding
    >>> print(check_answer([Finding("not_opened", "pylance cannot open version 3")]))
    1 finding: 1 wrong.
    error: not_opened: Pylance cannot open version 3. Restore its manifest ...
    """
    check_choice("level", level, SEVERITIES)
    worst = SEVERITIES[: SEVERITIES.index(level) + 1]
    found = tuple([finding for finding in every if finding.severity in worst])
    unchecked = [one for one in every if one.severity not in worst and one.code == "not_checked"]
    least = "" if level == "info" else f" of level {level} or worse"
    told = f"{counted(len(found), 'finding')}{least}: {advice_counts(found)}." if found else ""
    topics = pl.Series("topic", [finding.topic for finding in found], pl.String)
    severities = pl.Series("severity", [finding.severity for finding in found], pl.String)
    counts = pl.DataFrame([topics, severities]).group_by(pl.all(), maintain_order=True).len("count")
    sections = (
        Section("counts", None, counts),
        Section("not_checked", "Not checked", lines([one.sentence for one in unchecked])),
    )
    arguments = "" if level == "info" else f"level={level!r}"
    return Answer(
        told or f"Nothing{least} was found.",
        sections,
        f"table.check({arguments})",
        findings=found,
    )
