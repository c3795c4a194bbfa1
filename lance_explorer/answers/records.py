"""An answer: a sentence, sections that support it, the code that asks it, and findings.

Names from tables are in backticks in all sentences, and every renderer escapes what it must.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from lance_explorer.findings import Finding
from lance_explorer.frames.columns import FrameSchema

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["AnswerParts", "Ask", "Content", "Line", "Place", "Section", "lines", "said"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the explorer shows more.

    Attributes
    ----------
    view : str
        The view.
    choices : mapping of str to int
        What is chosen there: ``version``, ``row_id`` and so on.
    branch : str or None
        The branch that these are of.
    words : str
        What a button says that leads there.
    filters : mapping
        Of the log, if that is the view.
    """

    view: str
    choices: Mapping[str, int] = field(default_factory=dict)
    branch: str | None = None
    words: str = ""
    filters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of a section, and the view that shows more."""

    words: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """What to ask next.

    Attributes
    ----------
    words : str
        What a button says that asks it.
    question : str
        What is typed into the search box of the explorer.
    """

    words: str
    question: str


Picture: TypeAlias = "Callable[[], go.Figure | str]"
Content: TypeAlias = "pl.DataFrame | Mapping[str, object] | tuple[Line, ...] | str | Picture"


def lines(words: Iterable[str]) -> tuple[Line, ...]:
    """Return sentences as the content of a section."""
    return tuple([Line(one) for one in words])


def said(words: str) -> str:
    """Return words as a sentence.

    Examples
    --------
    >>> from lance_explorer.answers import said
    >>> said("frees nothing")
    'Frees nothing.'
    """
    return f"{words[:1].upper()}{words[1:]}."


@dataclass(frozen=True, slots=True)
class Section:
    """A part of an answer.

    Attributes
    ----------
    name : str
        The name for programs: a key of ``sections`` in JSON.
    title : str or None
        The heading for people; None if only programs need it, as the sentence says it.
    content : DataFrame, mapping, tuple of Line, str, or function
        Rows; facts by name; a list of sentences; text; or what draws a picture, as SVG or with
        plotly. A picture shows nothing that rows do not say, so that only pages have it.
    shown : DataFrame, optional
        The rows as people see them, if not as ``content``: what answers the question comes first.
    values : tuple of str
        Columns of values of the table: different values must not look alike.
    words : tuple of str
        Columns of sentences.
    uncut : tuple of str
        Columns of texts that are shown whole.
    schema : FrameSchema, optional
        The meanings of the columns.
    is_warning : bool
        Whether it must not be overlooked.
    picture : function, optional
        Draws the rows, and replaces them where pictures can be shown.
    """

    name: str
    title: str | None
    content: "Content"
    shown: pl.DataFrame | None = None
    values: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    uncut: tuple[str, ...] = ()
    schema: FrameSchema | None = None
    is_warning: bool = False
    picture: "Picture | None" = None

    @property
    def for_people(self) -> "Content | None":
        """What people see; None if nothing, as for an empty frame."""
        if self.title is None:
            return None
        content = self.content if self.shown is None else self.shown
        if isinstance(content, pl.DataFrame):
            some = [column.name for column in content if column.null_count() < len(content)]
            return content.select(some) if some and len(content) else None
        return content if callable(content) or content else None


@dataclass(frozen=True, slots=True)
class AnswerParts:
    """The parts of an answer, which renderers read.

    Attributes
    ----------
    sentence : str
        The answer.
    sections : tuple of Section
        What it rests on, the most telling first.
    code : str
        Lines of Python that ask it, or do it, where ``table`` is the table and ``dataset`` that of
        pylance; empty if there are none.
    is_call : bool
        Whether the code does what the answer is about, and does not only ask it again: then people
        see it.
    findings : tuple of Finding
        What is wrong, or worth knowing beside it.
    place : Place, optional
        The view that shows more.
    asks : tuple of Ask
        What to ask next, in the explorer.
    """

    sentence: str
    sections: tuple[Section, ...] = ()
    code: str = ""
    is_call: bool = False
    findings: tuple[Finding, ...] = ()
    place: Place | None = None
    asks: tuple[Ask, ...] = ()

    def __post_init__(self) -> None:
        names = [section.name for section in self.sections]
        if len(names) > len({*names}):  # JSON would keep only the last
            raise ValueError(f"two sections of an answer have the same name: {names}")
