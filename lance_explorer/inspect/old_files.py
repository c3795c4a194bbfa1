"""Which files the latest version needs, and which only older versions do."""

import polars as pl

from lance_explorer.history.source import TableSource
from lance_explorer.inspect.data_files import all_data_files
from lance_explorer.inspect.fragments import all_fragments
from lance_explorer.inspect.indices import all_indices
from lance_explorer.inspect.manifests import manifests

__all__ = ["deletion_sizes", "old_files"]

_DELETIONS = "_deletions"


def deletion_sizes(source: TableSource) -> pl.DataFrame:
    """Return the ``path`` and ``size_bytes`` of the deletion files below the root of the branch.

    No metadata tell these: the folder is listed, which no file has to be opened for.

    Raises
    ------
    StorageError
        If the folder cannot be listed.
    """
    files = source.storage.list_files(_DELETIONS)
    columns = {
        "path": [f"{_DELETIONS}/{file.name}" for file in files],
        "size_bytes": [file.size_bytes for file in files],
    }
    return pl.DataFrame(columns, schema={"path": pl.String, "size_bytes": pl.Int64})


def old_files(source: TableSource) -> pl.DataFrame:
    """Return one row for each kind of file: those of the latest version, and all others.

    Only files below the root of the branch are counted, since others are not its own. Sizes are
    sums of those that are known: writers of long ago did not record all.

    Returns
    -------
    polars.DataFrame
        ``kind``; ``num_current`` and ``current_bytes`` of files that the latest version needs;
        ``num_old`` and ``old_bytes`` of those that only older versions do; ``num_unknown``, how
        many of both have a size that is not known.

    Raises
    ------
    StorageError
        If a manifest cannot be read, or a folder not be listed.

    Examples
    --------
    >>> old_files(table.source).select("kind", "num_current", "num_old").rows()[:2]
    [('data files', 3, 0), ('deletion files', 1, 1)]
    """
    files = {
        "data files": _own(all_data_files(source)).select("path", "size_bytes", "is_current"),
        "deletion files": all_fragments(source)
        .drop_nulls("deletion_file")
        .select("is_current", path="deletion_file")
        .join(deletion_sizes(source), on="path", how="left"),
        "index segments": _own(all_indices(source).filter(~pl.col("is_system"))).select(
            "size_bytes", "is_current", path="uuid"
        ),
        "manifests": manifests(source).select(
            "path",
            size_bytes="manifest_bytes",
            is_current=pl.col("version") == pl.col("version").max(),
        ),
    }
    return pl.concat([_counted(kind, some) for kind, some in files.items()])


def _own(files: pl.DataFrame) -> pl.DataFrame:
    return files.filter(pl.col("base_id").is_null())


def _counted(kind: str, files: pl.DataFrame) -> pl.DataFrame:
    """Count files of one kind, each once, however many intervals it has."""
    each = files.group_by("path").agg(pl.col("is_current").any(), pl.col("size_bytes").first())
    is_old = ~pl.col("is_current")
    return each.select(
        kind=pl.lit(kind),
        num_current=pl.col("is_current").sum().cast(pl.Int64),
        current_bytes=pl.col("size_bytes").filter("is_current").sum(),
        num_old=is_old.sum().cast(pl.Int64),
        old_bytes=pl.col("size_bytes").filter(is_old).sum(),
        num_unknown=pl.col("size_bytes").null_count().cast(pl.Int64),
    )
