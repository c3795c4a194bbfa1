"""The tables of a database, their findings and their commits, as frames and answers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from lance_explorer.answers import Answer, Section, lines, said
from lance_explorer.answers.calls import call
from lance_explorer.checks.advice import SEVERITY_WORDS
from lance_explorer.checks.answer import check_answer
from lance_explorer.checks.depths import Depth
from lance_explorer.database.look import TABLES, is_left_out
from lance_explorer.database.usage import DatabaseUsage
from lance_explorer.findings import SEVERITIES, Finding, Severity
from lance_explorer.frames.columns import TEXT, Column, FrameSchema
from lance_explorer.frames.findings import FINDINGS, findings_frame
from lance_explorer.frames.sizes import byte_size, counted
from lance_explorer.inspect.log import LOG
from lance_explorer.inspect.log_answer import log_lines

__all__ = [
    "DATABASE_CHECKS",
    "DATABASE_LOG",
    "database_findings",
    "database_health",
    "database_log_answer",
    "sparkline",
    "tables_answer",
]

_TABLE = Column("table", TEXT, "name of the table")

DATABASE_CHECKS = FrameSchema("database_checks", (_TABLE, *FINDINGS.columns))
"""The columns of ``database.check()``."""

DATABASE_LOG = FrameSchema(
    "database_log",
    (
        _TABLE,
        *[
            replace(column, meaning="place of the table among all: its commits are in one lane")
            if column.name == "lane"
            else column
            for column in LOG.columns
        ],
    ),
)
"""The columns of ``database.log()``."""

_BARS = "▁▂▃▄▅▆▇█"


def tables_answer(tables: pl.DataFrame, usage: DatabaseUsage) -> Answer:
    """Return the tables of a database as an answer, what hurts most first."""
    rows = int(tables["num_rows"].sum())
    broken = tables.height - tables["problem"].null_count()
    counts = dict(tables.group_by(pl.col("worst").cast(TEXT)).len().iter_rows())
    hurts = [
        f"{counted(counts[name], 'table')} with something {words}"
        for name, words in (("error", "wrong"), ("warning", "to do"))
        if counts.get(name)
    ]
    unread = [f"{counted(broken, 'table')} that cannot be read"] if broken else []
    parts = [
        f"{counted(tables.height, 'table')}, {counted(rows, 'row')}",
        f"{byte_size(usage.total_bytes)} on disk, {byte_size(usage.live_bytes)} of it live",
        *unread,
        *hurts,
    ]
    problems = tables.select("name", words=pl.coalesce("problem", "finding")).drop_nulls("words")
    hurting = lines([f"`{name}`: {problem}" for name, problem in problems.iter_rows()])
    return Answer(
        said("; ".join(parts)),
        (
            Section("tables", "", tables, shown=_for_people(tables), schema=TABLES),
            Section("worst", "The worst of each", hurting),
        ),
        "database.tables()",
    )


def sparkline(values: Sequence[int]) -> str:
    """Return numbers as a line of small bars.

    Examples
    --------
    >>> from lance_explorer.database.tables_answer import sparkline
    >>> sparkline([0, 1, 7])
    '▁▂█'
    """
    most = max(values, default=0)
    return "".join([_BARS[value * (len(_BARS) - 1) // most if most else 0] for value in values])


def database_health(
    every: Sequence[tuple[str, Finding]], num_tables: int, depth: Depth, severity: Severity
) -> Answer:
    """Return findings of all tables as an answer; each names its table."""
    named = [
        replace(finding, statement=f"`{table}`: {finding.statement}")
        for table, finding in every
        if not is_left_out(finding)
    ]
    answer = check_answer(named, depth, severity)
    worst = SEVERITIES[: SEVERITIES.index(severity) + 1]
    frame = database_findings([one for one in every if one[1].severity in worst])
    left_out = {one.statement: _asked_of_all(one) for _, one in every if is_left_out(one)}
    unchecked = check_answer([*left_out.values()], depth, severity).sections[1:]
    of = f" in {counted(num_tables, 'table')}."
    return replace(
        answer,
        sentence=answer.sentence.removesuffix(".") + of if not answer.findings else answer.sentence,
        sections=(
            *answer.sections[:1],
            Section("findings", None, frame, schema=DATABASE_CHECKS),
            *unchecked,
        ),
        code=answer.code.replace("table.check", "database.check"),
    )


def _asked_of_all(finding: Finding) -> Finding:
    """Return a finding whose remedy is about all tables instead of one."""
    if finding.remedy is None:
        return finding
    code = finding.remedy.code.replace("table.check", "database.check")
    return replace(finding, remedy=replace(finding.remedy, code=code))


def database_findings(findings: Sequence[tuple[str, Finding]]) -> pl.DataFrame:
    """Return findings with their tables as a frame."""
    names = pl.Series("table", [table for table, _ in findings], TEXT)
    frame = findings_frame([finding for _, finding in findings])
    return DATABASE_CHECKS.build({"table": names, **frame.to_dict()})


def database_log_answer(
    log: pl.DataFrame, problems: Mapping[str, str], filters: Mapping[str, Any]
) -> Answer:
    """Return commits of all tables as an answer, newest first, and tables that cannot be read."""
    commits = log_lines(log, is_drawn=False).drop("graph")
    shown = commits.select(pl.Series("table", log["table"]), pl.all())
    tables = log["table"].n_unique()
    return Answer(
        f"The newest {counted(len(log), 'commit')} of {counted(tables, 'table')}.",
        (
            Section("commits", "", log, shown=shown, schema=DATABASE_LOG),
            Section(
                "not_read",
                "What cannot be read",
                lines([f"`{name}`: {problem}" for name, problem in problems.items()]),
            ),
        ),
        call("database.log", **filters),
    )


def _for_people(tables: pl.DataFrame) -> pl.DataFrame:
    """Return the columns for people; the frame has all."""
    problem = pl.when(pl.col("problem").is_not_null()).then(pl.lit("unreadable"))
    health = problem.otherwise(pl.col("worst").cast(TEXT).replace(SEVERITY_WORDS)).fill_null("well")
    growth = [sparkline(one[::-2][::-1]) if one else "" for one in tables["growth"].to_list()]
    return tables.select(
        pl.col("name").alias("table"),
        health.alias("health"),
        pl.col("num_rows").alias("rows"),
        "size_bytes",
        "old_bytes",
        pl.Series("growth", growth, TEXT),
        pl.col("last_commit").dt.strftime("%Y-%m-%d").alias("last_commit"),
    )
