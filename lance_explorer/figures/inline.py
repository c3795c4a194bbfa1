"""Small pictures as SVG text, for HTML that shows without a kernel and without JavaScript.

They contain no styles and no text, only attributes: pages that sanitise their content keep those,
and where a page drops pictures, no remains are left among the words.
"""

from collections.abc import Mapping
from html import escape

import polars as pl

from lance_explorer.figures.labels import plural
from lance_explorer.figures.palette import ACCENT, KIND_COLORS, MUTED, PALE

__all__ = [
    "commits_key",
    "fragments_key",
    "fragments_strip",
    "history_strip",
    "shares_key",
    "shares_strip",
]

_WIDTH = 640
_ROWS_HEIGHT = 44
_STRIP_TOP = 48
_STRIP_HEIGHT = 12
_MOST_CELLS = 160
_FRAGMENTS_HEIGHT = 28
_SHARES_HEIGHT = 16
_NARROWEST_SHARE = 2
_MOST_FRAGMENTS = 200
_KEY = 10
_NARROW = 3  # too narrow for a gap


def history_strip(versions: pl.DataFrame) -> str:
    """Draw rows over versions, and below them the commits in the colours of their kinds.

    Parameters
    ----------
    versions : polars.DataFrame
        What ``table.versions()`` gives. With more than 160 versions each cell stands for several,
        and has the colour of their most frequent kind.

    Returns
    -------
    str
        An SVG element; "" if there are no versions.

    Examples
    --------
    >>> history_strip(table.versions()).count("<rect")
    7
    """
    if versions.is_empty():
        return ""
    cells = _cells(versions)
    width = _WIDTH / len(cells)
    commits = "".join(
        _rect(
            position * width,
            _STRIP_TOP,
            width - (1 if width > _NARROW else 0),
            _STRIP_HEIGHT,
            KIND_COLORS[kind],
            opacity=PALE if is_recorded else None,
        )
        for position, (kind, is_recorded) in enumerate(
            cells.select("kind", "is_recorded").iter_rows()
        )
    )
    label = f"Rows and commits of {plural(len(versions), 'version')}"
    return _svg(_STRIP_TOP + _STRIP_HEIGHT, label, _area(cells["num_rows"], width) + commits)


def commits_key(versions: pl.DataFrame) -> str:
    """Return the meanings of the colours of :func:`history_strip`, with the number of commits.

    Examples
    --------
    >>> import re
    >>> re.sub("<.*?> *", "", commits_key(table.versions()))
    'create 1, append 1, update 1, delete 1, index 1, schema 1, config 1'
    """
    step = _step(versions, _MOST_CELLS)
    each = f"; a cell is {step:,} versions in the colour of most" if step > 1 else ""
    counts = dict(versions["kind"].cast(pl.String).value_counts().iter_rows())
    kinds = [
        f"{_swatch(color)} {kind} {counts[kind]:,}"
        for kind, color in KIND_COLORS.items()
        if kind in counts
    ]
    is_recorded = (versions["known_from"] == "ledger").any()
    pale = "; pale: known from the ledger" if is_recorded else ""
    return ", ".join(kinds) + each + pale


def fragments_strip(fragments: pl.DataFrame) -> str:
    """Draw fragments side by side, each as wide as its rows, the deleted ones pale above.

    Parameters
    ----------
    fragments : polars.DataFrame
        Columns ``physical_rows`` and ``num_deleted_rows``, null where unknown. With more than 200
        fragments a column stands for several.

    Returns
    -------
    str
        An SVG element; "" if there are no fragments.

    Examples
    --------
    >>> fragments_strip(table.inspect.fragments()).count("<rect")
    4
    """
    if fragments.is_empty():
        return ""
    step = _step(fragments, _MOST_FRAGMENTS)
    columns = (
        fragments.select(
            column=pl.int_range(pl.len()) // step,
            rows=pl.col("physical_rows").fill_null(1).clip(1),
            deleted=pl.col("num_deleted_rows").fill_null(0),
        )
        .group_by("column", maintain_order=True)
        .sum()
    )
    scale = _WIDTH / columns["rows"].sum()
    ends = columns["rows"].cum_sum()
    drawn = []
    for rows, deleted, end in zip(columns["rows"], columns["deleted"], ends, strict=True):
        width = rows * scale
        height = _FRAGMENTS_HEIGHT * deleted / rows
        gap = 1 if step == 1 and width > _NARROW else 0
        left = (end - rows) * scale
        drawn.append(_rect(left, height, width - gap, _FRAGMENTS_HEIGHT - height, ACCENT))
        if deleted:
            drawn.append(_rect(left, 0, width - gap, height, MUTED, opacity=0.4))
    return _svg(_FRAGMENTS_HEIGHT, plural(len(fragments), "fragment"), "".join(drawn))


def fragments_key(fragments: pl.DataFrame) -> str:
    """Return what :func:`fragments_strip` shows.

    Examples
    --------
    >>> fragments_key(table.inspect.fragments())
    '3 fragments as wide as their rows; pale: deleted rows'
    """
    step = _step(fragments, _MOST_FRAGMENTS)
    each = f", {step:,} in a column" if step > 1 else ""
    return f"{plural(len(fragments), 'fragment')}{each} as wide as their rows; pale: deleted rows"


def shares_strip(shares: Mapping[str, int], colors: Mapping[str, str], label: str) -> str:
    """Draw parts of a whole side by side, each as wide as its number.

    Parameters
    ----------
    shares : mapping of str to int
        The parts, by name; those that are 0 are left out.
    colors : mapping of str to str
        The colour of each.
    label : str
        What the picture is of.

    Returns
    -------
    str
        An SVG element; "" if all parts are 0.

    Examples
    --------
    >>> colors = {"here": "#111111", "there": "#222222", "nowhere": "#333333"}
    >>> shares_strip({"here": 3, "there": 1, "nowhere": 0}, colors, "rows").count("<rect")
    2
    """
    there = {name: number for name, number in shares.items() if number}
    total = sum(there.values())
    left, drawn = 0.0, []
    for name, number in there.items():
        room = _WIDTH - _NARROWEST_SHARE * len(there)
        width = _NARROWEST_SHARE + room * number / total
        drawn.append(_rect(left, 0, max(width - 1, 1), _SHARES_HEIGHT, colors[name]))
        left += width
    return _svg(_SHARES_HEIGHT, escape(label), "".join(drawn)) if drawn else ""


def shares_key(shares: Mapping[str, int], colors: Mapping[str, str]) -> str:
    """Return the meanings of the colours of :func:`shares_strip`.

    Examples
    --------
    >>> shares_key({"here": 3, "there": 0}, {"here": "#111111", "there": "#222222"})[-5:]
    ' here'
    """
    return ", ".join([f"{_swatch(colors[name])} {escape(name)}" for name in shares if shares[name]])


def _step(frame: pl.DataFrame, most: int) -> int:
    """Return how many rows of a frame one mark has to represent."""
    return max(-(-len(frame) // most), 1)


def _cells(versions: pl.DataFrame) -> pl.DataFrame:
    """Return the number of rows after each range of versions, and its most frequent kind."""
    step = _step(versions, _MOST_CELLS)
    return (
        versions.with_columns(pl.col("kind").cast(pl.String))
        .group_by(pl.int_range(pl.len()) // step, maintain_order=True)
        .agg(
            pl.col("num_rows").last(),
            pl.col("kind").mode(maintain_order=True).first(),
            (pl.col("known_from") == "ledger").all().alias("is_recorded"),
        )
    )


def _area(rows: pl.Series, width: float) -> str:
    """Return the outline of the rows as steps, with gaps where they are unknown."""
    largest = rows.max() or 1
    drawn = []
    for position, count in enumerate(rows):
        if count is not None:
            height = max(_ROWS_HEIGHT * count / largest, 1.0)
            drawn.append(
                f"M{_n(position * width)} {_ROWS_HEIGHT}v{_n(-height)}h{_n(width)}v{_n(height)}z"
            )
    return f'<path d="{"".join(drawn)}" fill="{ACCENT}" fill-opacity="0.6"/>' if drawn else ""


def _svg(height: int, label: str, content: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{label}">{content}</svg>'
    )


def _swatch(color: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_KEY}" height="{_KEY}" '
        f'style="display:inline" aria-hidden="true">{_rect(0, 0, _KEY, _KEY, color)}</svg>'
    )


def _rect(
    x: float, y: float, width: float, height: float, color: str, opacity: float | None = None
) -> str:
    faint = "" if opacity is None else f' fill-opacity="{opacity}"'
    return (
        f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" '
        f'fill="{color}"{faint}/>'
    )


def _n(number: float) -> str:
    """Return a number with as many digits as a picture can show."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
