"""The findings of checks as an answer."""

from collections.abc import Sequence

import polars as pl

from lance_explorer.answers import Answer, Section, lines
from lance_explorer.answers.calls import call
from lance_explorer.arguments import check_choice
from lance_explorer.checks.advice import advice_counts
from lance_explorer.checks.depths import Depth
from lance_explorer.findings import SEVERITIES, Finding, Severity
from lance_explorer.frames.sizes import counted

__all__ = ["check_answer"]


def check_answer(
    every: Sequence[Finding], depth: Depth = "quick", severity: Severity = "info"
) -> Answer:
    """Return findings of a severity or worse as an answer; what was not checked is always in it.

    Examples
    --------
    >>> from lance_explorer.findings import Finding
    >>> print(check_answer([Finding("not_opened", "pylance cannot open version 3")], "values"))
    1 finding: 1 wrong.
    error: not_opened: Pylance cannot open version 3. Restore its manifest ...
    """
    check_choice("severity", severity, SEVERITIES)
    worst = SEVERITIES[: SEVERITIES.index(severity) + 1]
    unchecked = [one for one in every if one.code == "not_checked" and one.severity == "info"]
    findings = tuple([one for one in every if one.severity in worst and one not in unchecked])
    least = "" if severity == "info" else f" of severity {severity} or worse"
    summary = (
        f"{counted(len(findings), 'finding')}{least}: {advice_counts(findings)}."
        if findings
        else ""
    )
    topics = pl.Series("topic", [finding.topic for finding in findings], pl.String)
    severities = pl.Series("severity", [finding.severity for finding in findings], pl.String)
    counts = pl.DataFrame([topics, severities]).group_by(pl.all(), maintain_order=True).len("count")
    sections = (
        Section("counts", None, counts),
        Section("not_checked", "Not checked", lines([one.sentence for one in unchecked])),
    )
    given = {"depth": depth, "severity": severity}
    defaults = {"depth": "quick", "severity": "info"}
    return Answer(
        summary or f"Nothing{least} was found.",
        sections,
        call("table.check", **{name: one for name, one in given.items() if one != defaults[name]}),
        findings=findings,
    )
