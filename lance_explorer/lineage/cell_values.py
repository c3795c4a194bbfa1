"""Values of any type as text, many at once."""

import polars as pl

__all__ = ["texts_of"]

_SHOWN_BYTES = 16


def texts_of(values: pl.Series) -> pl.Series:
    """Return values as text: lists and structs as JSON, of bytes the first and their number.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.lineage.cell_values import texts_of
    >>> texts_of(pl.Series([1, None])).to_list()
    ['1', None]
    >>> texts_of(pl.Series([[1.5, 2.0], None])).to_list()
    ['[1.5,2.0]', None]
    >>> texts_of(pl.Series([b"abc"])).to_list()
    ['616263 (3 bytes)']
    """
    dtype = values.dtype
    if isinstance(dtype, pl.Binary):
        first = values.bin.slice(0, _SHOWN_BYTES).bin.encode("hex")
        more = pl.Series(
            [None if v is None else "..." * (v > _SHOWN_BYTES) for v in values.bin.size()]
        )
        sizes = values.bin.size().cast(pl.String)
        parts = pl.DataFrame([first.alias("a"), more.cast(pl.String).alias("b"), sizes.alias("c")])
        return parts.select(pl.format("{}{} ({} bytes)", "a", "b", "c")).to_series()
    if not dtype.is_nested():
        return values.cast(pl.String)
    try:
        wrapped = values.alias("v").to_frame().select(pl.struct("v").struct.json_encode())
    except pl.exceptions.PolarsError:  # bytes in lists or structs
        return pl.Series([None if v is None else str(v) for v in values.to_list()], dtype=pl.String)
    text = wrapped.to_series().str.strip_prefix('{"v":').str.strip_suffix("}")
    return pl.select(pl.when(values.is_not_null()).then(text)).to_series()
