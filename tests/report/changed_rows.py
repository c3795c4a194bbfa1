"""Counts of changed rows, told by versions, beside those of the changes per commit."""

import polars as pl

__all__ = ["differing_counts"]


def differing_counts(told: pl.DataFrame, summary: pl.DataFrame) -> pl.DataFrame:
    """Return the lines that only one of both has; classes that ``told`` lacks count 0 rows."""
    names = [name for name, dtype in summary.schema.items() if dtype.is_integer()]
    lacking = [pl.lit(0).alias(name) for name in names if name not in told.columns]
    both = [
        one.select(pl.col(names).cast(pl.Int64)) for one in (told.with_columns(lacking), summary)
    ]
    return pl.concat(
        [
            one.join(other, on=names, how="anti", nulls_equal=True)
            for one, other in (both, both[::-1])
        ]
    )
