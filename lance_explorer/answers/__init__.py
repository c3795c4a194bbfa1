"""Answers: one record for all of them, and its renderers for people, programs and assistants.

Code that has an answer builds an :class:`Answer`; only this room makes HTML, text or JSON of it.
"""

from lance_explorer.answers.answer import Answer, Answering
from lance_explorer.answers.records import (
    Ask,
    Content,
    Line,
    Place,
    Section,
    lines,
    said,
)

__all__ = ["Answer", "Answering", "Ask", "Content", "Line", "Place", "Section", "lines", "said"]
