"""Answers with what renders them."""

from typing import Any

import polars as pl

from lance_explorer.answers.records import AnswerParts
from lance_explorer.shown import described

__all__ = ["Answer", "Answering"]


class Answer(AnswerParts):
    """An answer, which notebooks, terminals, programs, pages and views render, each in its way.

    Examples
    --------
    >>> answer = table.disk_usage().answer
    >>> answer.rows("summary").columns
    ['kind', 'status', 'num_objects', 'size_bytes']
    >>> "By kind and status:" in answer.text(width=80)
    True
    """

    __slots__ = ()

    def rows(self, name: str) -> pl.DataFrame:
        """Return the rows of a section."""
        for section in self.sections:
            if section.name == name and isinstance(section.content, pl.DataFrame):
                return section.content
        raise KeyError(name)

    def words(self, name: str) -> list[str]:
        """Return the sentences of a section; none if there is no such section."""
        contents = [section.content for section in self.sections if section.name == name]
        return [
            line.words for content in contents if isinstance(content, tuple) for line in content
        ]

    def text(self, width: int = 80) -> str:
        """Return it for a terminal of this width, without colours."""
        from lance_explorer.answers.terminal import terminal_text

        return terminal_text(self, width)

    def markdown(self) -> str:
        """Return it as GitHub-flavoured Markdown."""
        from lance_explorer.answers.markdown import answer_markdown

        return answer_markdown(self)

    def json(self) -> str:
        """Return it as JSON, in the envelope of all answers: see :mod:`.as_json`."""
        from lance_explorer.answers.as_json import answer_json

        return answer_json(self)

    def html(self) -> str:
        """Return it as HTML without scripts."""
        from lance_explorer.answers.html import answer_html

        return answer_html(self)

    @described
    def __str__(self) -> str:
        return self.text()

    @described
    def __repr__(self) -> str:
        return f"Answer({self.sentence})"

    def _repr_html_(self) -> str:
        return self.html()


class Answering:
    """An object with an answer, which is how it is shown.

    A subclass defines ``answer``, and ``_subject``: the words before the sentence in its repr.
    """

    @property
    def answer(self) -> Answer:
        """The answer."""
        raise NotImplementedError

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        return self.answer.sentence

    @property
    def _subject(self) -> str:
        return ""

    @described
    def __repr__(self) -> str:
        of = f"{self._subject}: " if self._subject else ""
        return f"{type(self).__name__}({of}{self.sentence})"

    def _repr_html_(self, **_: Any) -> str:
        return self.answer.html()
