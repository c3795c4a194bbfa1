"""Columns of frames as arrays for messages."""

from collections.abc import Iterable

import polars as pl

from lance_explorer.widgets.messages.base import Float64Array, Int32Array, Uint8Array

__all__ = ["codes", "flags", "floats", "integers"]


def floats(values: pl.Series) -> Float64Array:
    """Return numbers as an array; unknown ones are NaN."""
    return values.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def integers(values: pl.Series) -> Int32Array:
    """Return numbers below 2^31 as an array."""
    return values.cast(pl.Int32).to_numpy()


def flags(values: pl.Series) -> Uint8Array:
    """Return truth values as an array of 0 and 1."""
    return values.cast(pl.UInt8).to_numpy()


def codes(values: pl.Series, names: Iterable[str]) -> Uint8Array:
    """Return the positions of values in a list of names; its length for any other value.

    Examples
    --------
    >>> codes(pl.Series(["b", None, "a"]), ["a", "b"]).tolist()
    [1, 2, 0]
    """
    known = pl.Series([*names], dtype=pl.String)
    places = pl.Series(range(len(known)), dtype=pl.UInt8)
    numbers = values.cast(pl.String).replace_strict(
        known, places, default=len(known), return_dtype=pl.UInt8
    )
    return numbers.to_numpy()
