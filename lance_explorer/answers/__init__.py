"""Answers: one record for all of them, and what renders it for people, programs and assistants.

Whoever knows an answer builds an :class:`Answer`; nobody else builds HTML, text or JSON of it.
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
