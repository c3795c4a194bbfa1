"""SQL over the frames of a table."""

from collections.abc import Callable, Mapping

import polars as pl

from lance_explorer.errors import InvalidArgumentError

__all__ = ["run_query"]

LazySource = tuple[Mapping[str, pl.DataType], Callable[[], pl.DataFrame]]


def run_query(query: str, frames: Mapping[str, pl.LazyFrame]) -> pl.DataFrame:
    """Run one SQL query; frames that it does not name are not built.

    Raises
    ------
    InvalidArgumentError
        If the query is wrong; the message lists the frames there are.
    """
    try:
        return pl.SQLContext(frames, eager=False).execute(query).collect()
    except (pl.exceptions.PolarsError, ValueError) as error:
        raise InvalidArgumentError(
            f"{error}; the frames are {', '.join(sorted(frames))}"
        ) from error
