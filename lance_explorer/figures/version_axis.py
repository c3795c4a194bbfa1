"""The axis of versions that figures over time share, and its largest number of marks."""

import plotly.graph_objects as go
import polars as pl

__all__ = ["MOST_BARS", "MOST_MARKERS", "bar_width", "bin_step", "first_and_last", "show_versions"]

MOST_BARS = 400
"""More bars cannot be distinguished."""

MOST_MARKERS = 150

_FEW_VERSIONS = 10


def first_and_last(versions: pl.Series) -> tuple[int, int]:
    """Return the lowest and the highest of some versions; 1 if there are none.

    Examples
    --------
    >>> first_and_last(pl.Series([3, 9, 4]))
    (3, 9)
    """
    numbers = versions.to_list() or [1]
    return min(numbers), max(numbers)


def bin_step(first: int, last: int) -> int:
    """Return how many version numbers one bar has to represent.

    Examples
    --------
    >>> bin_step(1, 400), bin_step(1, 3000)
    (1, 8)
    """
    return -(-(last - first + 1) // MOST_BARS)


def bar_width(step: int) -> float:
    """Return the width of a bar for this many versions; bars of one version have gaps."""
    return 0.85 if step == 1 else step


def show_versions(figure: go.Figure, versions: pl.Series, row: int) -> None:
    """Make the x axes of subplots an axis of versions, with room for half a bar at both ends.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        The figure, which is changed.
    versions : polars.Series
        The version numbers that it shows; may be empty.
    row : int
        The row of the subplot whose axis has the title.
    """
    first, last = first_and_last(versions)
    margin = max((last - first) * 0.01, 0.7)
    figure.update_xaxes(range=[first - margin, last + margin], showline=False)
    if last - first < _FEW_VERSIONS:
        figure.update_xaxes(dtick=1)
    figure.update_xaxes(tickformat=",d")
    figure.update_xaxes(title_text="version", row=row)
