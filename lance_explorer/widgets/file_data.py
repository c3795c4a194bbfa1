"""The files of a version, for the browser: totals by kind, and arrays to draw."""

from collections.abc import Callable

import msgspec
import polars as pl

from lance_explorer.checks.advice import NOTHING_TO_DO
from lance_explorer.figures.file_sizes import (
    LARGE_WORDS,
    bins_of_files,
    bins_of_fragments,
    small_words,
)
from lance_explorer.figures.labels import plural
from lance_explorer.figures.palette import PART_COLORS
from lance_explorer.figures.size_bins import SizeBins
from lance_explorer.history.history import History
from lance_explorer.inspect.file_lives import deletion_sizes
from lance_explorer.inspect.fragment_health import (
    MANY_DELETED_ROWS,
    SOME_SPARE_FRAGMENTS,
    compaction_counts,
    compaction_settings,
)
from lance_explorer.table import Table
from lance_explorer.widgets.arrays import floats
from lance_explorer.widgets.messages.disk import DiskData, FilesSummary, FileTotals, ManifestPart
from lance_explorer.widgets.messages.disk import SizeBins as SizeBinsMessage
from lance_explorer.widgets.version_data import version_data

__all__ = ["history_data", "no_advice_words", "summary_data"]

_NO_SIZES = pl.DataFrame(schema={"path": pl.String, "size_bytes": pl.Int64})


def history_data(table: Table) -> DiskData:
    """Return all versions, and the bytes of their manifests by part."""
    sizes = table.inspect.manifests()
    columns = {name: f"{name.replace(' ', '_').lower()}_bytes" for name in PART_COLORS}
    columns["indices"] = "index_section_bytes"
    parts = [
        ManifestPart(name, color, floats(sizes[columns[name]]))
        for name, color in PART_COLORS.items()
    ]
    return version_data(table, DiskData, parts=parts)


def summary_data(table: Table, version: int, check: Callable[[], None]) -> FilesSummary:
    """Return the totals of one version, its sizes in bins, and values of each fragment to draw.

    A number of rows that is not known is NaN. ``check`` is called between the steps, and
    may end the work.
    """
    inspect = table.inspect
    fragments = inspect.fragments(version)
    check()
    files = inspect.data_files(version)
    check()
    history = table._view.version(version)
    settings = compaction_settings(history)
    target = settings.target_rows_per_fragment
    small = int((fragments["physical_rows"] < target).sum())
    check()
    deletions = fragments.select(path="deletion_file").drop_nulls()
    sizes = deletion_sizes(table._view) if len(deletions) else _NO_SIZES
    deletions = deletions.join(sizes, on="path", how="left")
    indices = inspect.indices(version).filter(~pl.col("is_system"))
    is_overlay = files["is_overlay"]
    totals = [
        _total("data files", files.filter(~is_overlay)["size_bytes"]),
        *([_total("overlays", files.filter(is_overlay)["size_bytes"])] if is_overlay.any() else []),
        _total("deletion files", deletions["size_bytes"]),
        _total("index segments", indices["size_bytes"]),
        _total("manifest", pl.Series([history.records[0].file.size_bytes])),
    ]
    return FilesSummary(
        version=str(version),
        file_bins=_bins(bins_of_files(files, fragments, target)),
        row_bins=_bins(bins_of_fragments(fragments, target)),
        small_words=f"{small_words(target)}, what a compaction aims at ({small:,} of "
        f"{plural(len(fragments), 'fragment')})",
        large_words=LARGE_WORDS,
        threshold=settings.materialize_deletions_threshold,
        totals=totals,
        fragment=fragments["fragment_id"].to_numpy(),
        fragment_rows=floats(fragments["physical_rows"]),
        fragment_deleted=floats(fragments["num_deleted_rows"]),
    )


def _bins(bins: SizeBins) -> SizeBinsMessage:
    return msgspec.convert(bins, SizeBinsMessage, from_attributes=True)


def no_advice_words(history: History) -> str:
    """Return the words on the files of a version for which there is no advice."""
    before, after = compaction_counts(history)
    if not before:
        return f"{NOTHING_TO_DO}: a compaction would rewrite no fragment."
    return (
        f"{NOTHING_TO_DO}: a compaction would turn {plural(before, 'fragment')} into about "
        f"{after:,}; it is worth while if it saves {SOME_SPARE_FRAGMENTS} fragments or removes "
        f"{MANY_DELETED_ROWS:,} deleted rows."
    )


def _total(kind: str, sizes: pl.Series) -> FileTotals:
    """Return how many files of a kind there are, their bytes, and how many have no known size."""
    return FileTotals(kind, str(len(sizes)), str(int(sizes.sum())), sizes.null_count())
