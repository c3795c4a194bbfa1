"""Answers as GitHub-flavoured Markdown, as for a comment on a pull request."""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape

import polars as pl

from lance_explorer.answers.people import code_parts, fact_words, is_number, people_texts
from lance_explorer.answers.records import AnswerParts, Section
from lance_explorer.findings import Finding
from lance_explorer.shown import one_line, visible

__all__ = ["answer_markdown", "section_markdown", "words_markdown"]

_MOST_ROWS = 50
_MOST_COLUMNS = 16
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
    yield words_markdown(answer.sentence)
    for finding in answer.findings:
        yield from _finding(finding)
    for section in answer.sections:
        yield from section_markdown(section)
    if answer.code and answer.is_call:
        yield ""
        yield from _code(answer.code)


def _finding(finding: Finding) -> Iterator[str]:
    yield ""
    yield f"- **{finding.severity}** `{finding.code}`: {words_markdown(finding.sentence)}"


def section_markdown(
    section: Section, level: int = 3, most: int = _MOST_ROWS, longest: int = _LONGEST
) -> Iterator[str]:
    """Yield the lines of a section.

    Parameters
    ----------
    section : Section
        The section. Rows that have a picture are folded: the picture is what people would look at.
    level : int
        The level of its heading.
    most, longest : int
        How many rows are shown, and how many characters of a text.
    """
    content = section.for_people
    if content is None or callable(content):
        return
    is_folded = section.picture is not None
    if is_folded:
        summary = escape(one_line(section.title or "", None).replace("`", ""))
        yield f"\n<details><summary>{summary}</summary>"
    elif section.title:
        yield f"\n{'#' * level} {words_markdown(section.title)}"
    yield ""
    mark = "> " if section.is_warning else ""
    match content:
        case pl.DataFrame() as frame:
            yield from _table(section, frame, most, longest)
        case Mapping() as facts:
            yield from _rows(
                ["", ""],
                [False, False],
                [[name, fact_words(name, value)] for name, value in facts.items()],
            )
        case str() as text:
            yield f"{mark}{words_markdown(text)}"
        case tuple() as lines:
            for line in lines:
                yield f"{mark}- {words_markdown(line.words)}"
    if is_folded:
        yield "\n</details>"


def _table(section: Section, frame: pl.DataFrame, most: int, longest: int) -> Iterator[str]:
    shown = frame.select(frame.columns[:_MOST_COLUMNS]).head(most)
    columns = [
        people_texts(
            column,
            is_value=column.name in section.values,
            longest=None if column.name in section.uncut else longest,
        )
        for column in shown
    ]
    rows = [[*row] for row in zip(*columns, strict=True)]
    yield from _rows(shown.columns, [is_number(column) for column in shown], rows)
    cut = [
        f"{part:,} of {whole:,} {noun}"
        for part, whole, noun in zip(shown.shape, frame.shape, ("rows", "columns"), strict=True)
        if part < whole
    ]
    if cut:
        yield f"\n{', '.join(cut)}"


def _rows(
    titles: Sequence[str], are_numbers: Sequence[bool], rows: Sequence[Sequence[str | None]]
) -> Iterator[str]:
    yield _line([_plain(title) for title in titles])
    yield _line(["---:" if number else "---" for number in are_numbers])
    for row in rows:
        yield _line(["" if text is None else words_markdown(text) for text in row])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(code: str) -> Iterator[str]:
    fence = "`" * max(3, *[len(run) + 1 for run in re.findall("`+", code)], 3)
    yield f"{fence}python"
    yield visible(code)
    yield fence


def words_markdown(words: str) -> str:
    """Return a sentence in which names stay in backticks, and all other markup is escaped."""
    pieces = [
        f"`{part.replace('|', chr(92) + '|')}`" if is_code else _plain(part)
        for part, is_code in code_parts(one_line(words, None))
    ]
    return "".join(pieces)


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", one_line(text, None))
