"""Pictures of a table: pure functions from a frame to a plotly Figure."""

from lance_explorer.figures.history import history
from lance_explorer.figures.palette import KIND_COLORS

__all__ = ["KIND_COLORS", "history"]
