"""Answers as GitHub-flavoured Markdown, as for a comment on a pull request."""

import re
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from lance_explorer.answers.people import code_parts, fact_words, is_number, people_texts
from lance_explorer.answers.records import AnswerParts, Section
from lance_explorer.findings import Finding
from lance_explorer.shown import one_line, visible

__all__ = ["answer_markdown"]

_MOST_ROWS = 50
_LONGEST = 200
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~@!])")


def answer_markdown(answer: AnswerParts) -> str:
    r"""Return an answer as Markdown.

    Examples
    --------
    >>> from lance_explorer.answers import Answer, Section
    >>> import polars as pl
    >>> rows = pl.DataFrame({"name": ["a|b"], "size_bytes": [1400]})
    >>> told = answer_markdown(Answer("1 file.", (Section("files", "Files", rows),)))
    >>> told.splitlines()[2:]
    ['### Files', '', '| name | size\\_bytes |', '| --- | ---: |', '| a\\|b | 1.4 kB |']
    """
    return "\n".join([*_blocks(answer), ""])


def _blocks(answer: AnswerParts) -> Iterator[str]:
    yield _words(answer.sentence)
    for finding in answer.findings:
        yield from _finding(finding)
    for section in answer.sections:
        yield from _section(section)
    if answer.code and answer.is_call:
        yield ""
        yield from _code(answer.code)


def _finding(finding: Finding) -> Iterator[str]:
    yield ""
    yield f"- **{finding.severity}** `{finding.code}`: {_words(finding.sentence)}"


def _section(section: Section) -> Iterator[str]:
    content = section.for_people
    if content is None or callable(content):
        return
    if section.title:
        yield f"\n### {_words(section.title)}"
    yield ""
    match content:
        case pl.DataFrame() as frame:
            yield from _table(section, frame)
        case Mapping() as facts:
            yield from _rows(
                ["", ""],
                [False, False],
                [[name, fact_words(name, value)] for name, value in facts.items()],
            )
        case str() as text:
            yield _words(text)
        case tuple() as lines:
            mark = "> " if section.is_warning else ""
            for line in lines:
                yield f"{mark}- {_words(line.words)}"


def _table(section: Section, frame: pl.DataFrame) -> Iterator[str]:
    shown = frame.head(_MOST_ROWS)
    columns = [
        people_texts(column, is_value=column.name in section.values, longest=_LONGEST)
        for column in shown
    ]
    rows = [[*row] for row in zip(*columns, strict=True)]
    yield from _rows(shown.columns, [is_number(column) for column in shown], rows)
    if len(frame) > len(shown):
        yield f"\n{len(shown):,} of {len(frame):,} rows"


def _rows(
    titles: Sequence[str], are_numbers: Sequence[bool], rows: Sequence[Sequence[str | None]]
) -> Iterator[str]:
    yield _line([_plain(title) for title in titles])
    yield _line(["---:" if number else "---" for number in are_numbers])
    for row in rows:
        yield _line(["" if text is None else _words(text) for text in row])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(code: str) -> Iterator[str]:
    fence = "`" * max(3, *[len(run) + 1 for run in re.findall("`+", code)], 3)
    yield f"{fence}python"
    yield visible(code)
    yield fence


def _words(words: str) -> str:
    """Return a sentence, in which names stay in backticks, and nothing else is markup."""
    told = [
        f"`{part.replace('|', chr(92) + '|')}`" if is_code else _plain(part)
        for part, is_code in code_parts(one_line(words, None))
    ]
    return "".join(told)


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", one_line(text, None))
