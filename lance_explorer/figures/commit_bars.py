"""Commits as bars, several to a bar, divided by kind.

``commit_bars.ts`` does the same in the browser, where zooming makes other bars; what
``tests/figures/from_python.py`` writes is what the tests of both compare.
"""

import polars as pl

__all__ = ["commit_bars"]


def commit_bars(bins: pl.Series, kinds: pl.Series, is_dark: pl.Series) -> pl.DataFrame:
    """Return the parts of bars, from the first bar to the last, each from the bottom.

    Parameters
    ----------
    bins : polars.Series
        The bar that each commit belongs to.
    kinds : polars.Series
        Their kinds (Enum), whose order is that of the parts.
    is_dark : polars.Series
        A bar is pale if none of its commits is dark.

    Returns
    -------
    polars.DataFrame
        ``bin``, ``kind``, ``start`` and ``commits`` (how many are below, and in the part),
        ``total`` (how many the bar has) and ``is_pale``.

    Examples
    --------
    >>> from lance_explorer.frames.columns import KIND
    >>> kinds = pl.Series(["delete", "append", "append"], dtype=KIND)
    >>> dark = pl.Series([True, True, False])
    >>> commit_bars(pl.Series([0, 0, 4]), kinds, dark).rows()
    [(0, 'append', 0, 1, 2, False), (0, 'delete', 1, 1, 2, False), (4, 'append', 0, 1, 1, True)]
    """
    commits = pl.col("commits")
    return (
        pl.DataFrame({"bin": bins, "kind": kinds, "is_dark": is_dark})
        .group_by("bin", "kind")
        .agg(commits=pl.len().cast(pl.Int64), is_dark=pl.col("is_dark").any())
        .sort("bin", "kind")
        .select(
            "bin",
            "kind",
            (commits.cum_sum() - commits).over("bin").alias("start"),
            "commits",
            commits.sum().over("bin").alias("total"),
            (~pl.col("is_dark").any().over("bin")).alias("is_pale"),
        )
    )
