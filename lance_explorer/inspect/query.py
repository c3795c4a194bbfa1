"""SQL over the frames of a table."""

import re
from collections.abc import Callable, Iterable

import polars as pl

from lance_explorer.errors import InvalidArgumentError

__all__ = ["run_query"]

_WORD = re.compile(r"\w+")


def run_query(
    query: str, names: Iterable[str], build: Callable[[str], pl.DataFrame | pl.LazyFrame]
) -> pl.DataFrame:
    """Run one SQL query over frames, of which only those are built whose names occur in it.

    Parameters
    ----------
    query : str
        The query.
    names : iterable of str
        The frames that there are.
    build : callable
        Gives a frame by its name.

    Raises
    ------
    InvalidArgumentError
        If the query is wrong; the message lists the frames.

    Examples
    --------
    >>> run_query("SELECT count(*) AS n FROM tags", ["tags"], lambda name: pl.DataFrame({"a": [1]}))
    shape: (1, 1)
    ┌─────┐
    │ n   │
    │ --- │
    │ i64 │
    ╞═════╡
    │ 1   │
    └─────┘
    """
    words = set(_WORD.findall(query.lower()))
    frames = {name: build(name) for name in names if name in words}
    try:
        return pl.SQLContext(frames, eager=False).execute(query).collect()
    except (pl.exceptions.PolarsError, ValueError) as error:
        raise InvalidArgumentError(f"{error}; the frames are {', '.join(sorted(names))}") from error
