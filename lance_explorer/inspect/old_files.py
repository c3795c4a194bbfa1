"""Which files the latest version needs, and which only older versions do."""

import polars as pl

from lance_explorer.history.source import TableSource
from lance_explorer.inspect.file_lives import FILE_KINDS, file_lives
from lance_explorer.inspect.manifests import manifests

__all__ = ["old_files"]


def old_files(source: TableSource) -> pl.DataFrame:
    """Return one row for each kind of file: those of the latest version, and all others.

    Only files below the root of the branch are counted, since others are not its own. Sizes are
    sums of those that are known: writers of long ago did not record all. What is known from a
    ledger alone has no files any more.

    Returns
    -------
    polars.DataFrame
        ``kind``; ``num_current`` and ``current_bytes`` of files that the latest version needs;
        ``num_old`` and ``old_bytes`` of those that only older versions do; ``num_unknown``, how
        many of both have a size that is not known.

    Examples
    --------
    >>> old_files(table.source).select("kind", "num_current", "num_old").rows()[:2]
    [('data files', 3, 0), ('deletion files', 1, 1)]
    """
    own = file_lives(source).filter(pl.col("base_id").is_null() & pl.col("is_kept"))
    sizes = (
        manifests(source)
        .filter(pl.col("known_from") == "live")
        .select(
            size_bytes="manifest_bytes", is_current=pl.col("version") == pl.col("version").max()
        )
    )
    files = {kind: own.filter(pl.col("kind") == kind) for kind in FILE_KINDS}
    return pl.concat([_counted(kind, some) for kind, some in {**files, "manifests": sizes}.items()])


def _counted(kind: str, files: pl.DataFrame) -> pl.DataFrame:
    is_old = ~pl.col("is_current")
    return files.select(
        kind=pl.lit(kind),
        num_current=pl.col("is_current").sum().cast(pl.Int64),
        current_bytes=pl.col("size_bytes").filter("is_current").sum(),
        num_old=is_old.sum().cast(pl.Int64),
        old_bytes=pl.col("size_bytes").filter(is_old).sum(),
        num_unknown=pl.col("size_bytes").null_count().cast(pl.Int64),
    )
