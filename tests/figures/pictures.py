"""What the tests of figures ask of a figure."""

import json
from typing import Any

__all__ = ["hovers", "named", "note", "size_of", "ticks", "titles", "traces"]


def traces(figure: Any, kind: str) -> list[Any]:
    return [trace for trace in figure.data if trace.type == kind]


def named(figure: Any, name: str) -> Any:
    """Return the one trace of that name."""
    [trace] = [trace for trace in figure.data if trace.name == name]
    return trace


def titles(figure: Any) -> list[str]:
    return [axis.title.text for axis in figure.select_yaxes()]


def note(figure: Any) -> str:
    """Return the line above the picture."""
    return str(figure.layout.title.text)


def ticks(axis: Any) -> list[str]:
    return list(axis.ticktext)


def hovers(figure: Any) -> list[str]:
    """Return all that the pointer can make the figure say."""
    return [text for trace in figure.data for text in trace.hovertext or ()]


def size_of(figure: Any) -> int:
    """Return the bytes that a saved notebook grows by; the figure has to be valid JSON."""
    text = figure.to_json()
    json.loads(text)
    return len(text)
