"""The files of a version, for the browser: totals by kind, and arrays to draw."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.checks.advice import NOTHING_TO_DO
from lance_explorer.figures.file_sizes import (
    LARGE_WORDS,
    bins_of_files,
    bins_of_fragments,
    small_words,
)
from lance_explorer.figures.labels import plural
from lance_explorer.figures.palette import PART_COLORS
from lance_explorer.history.history import History
from lance_explorer.inspect.file_lives import deletion_sizes
from lance_explorer.inspect.fragment_health import (
    MANY_DELETED_ROWS,
    SOME_SPARE_FRAGMENTS,
    compaction_counts,
    compaction_settings,
)
from lance_explorer.table import Table
from lance_explorer.widgets.packing import floats, packed
from lance_explorer.widgets.version_data import version_data
from lance_explorer.widgets.view import Reply

__all__ = ["history_data", "no_advice_words", "summary_data"]

_NO_SIZES = pl.DataFrame(schema={"path": pl.String, "size_bytes": pl.Int64})


def history_data(table: Table) -> Reply:
    """Return all versions, and the bytes of their manifests by part."""
    reply = version_data(table)
    sizes = table.inspect.manifests()
    parts = {
        f"part_{name}": sizes[f"{name.replace(' ', '_')}_bytes"].to_numpy().astype(np.float64)
        for name in ("schema", "fragments", "row ids", "row versions", "transaction", "rest")
    }
    parts["part_indices"] = sizes["index_section_bytes"].to_numpy().astype(np.float64)
    ordered = {f"part_{name}": parts[f"part_{name.lower()}"] for name in PART_COLORS}
    about = {
        **reply.content,
        "parts": [{"name": name, "color": color} for name, color in PART_COLORS.items()],
    }
    arrays = packed(ordered, about)
    return Reply(arrays.content, (*reply.buffers, *arrays.buffers))


def summary_data(table: Table, version: int, check: Callable[[], None]) -> Reply:
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
    arrays: dict[str, NDArray[Any]] = {
        "fragment": fragments["fragment_id"].to_numpy(),
        "fragment_rows": floats(fragments["physical_rows"]),
        "fragment_deleted": floats(fragments["num_deleted_rows"]),
    }
    is_overlay = files["is_overlay"]
    totals = [
        _total("data files", files.filter(~is_overlay)["size_bytes"]),
        *([_total("overlays", files.filter(is_overlay)["size_bytes"])] if is_overlay.any() else []),
        _total("deletion files", deletions["size_bytes"]),
        _total("index segments", indices["size_bytes"]),
        _total("manifest", pl.Series([history.records[0].file.size_bytes])),
    ]
    return packed(
        arrays,
        {
            "version": str(version),
            "totals": totals,
            "file_bins": asdict(bins_of_files(files, fragments, target)),
            "row_bins": asdict(bins_of_fragments(fragments, target)),
            "small_words": f"{small_words(target)}, what a compaction aims at ({small:,} of "
            f"{plural(len(fragments), 'fragment')})",
            "large_words": LARGE_WORDS,
            "threshold": settings.materialize_deletions_threshold,
        },
    )


def no_advice_words(history: History) -> str:
    """Return what is said of the files of a version about which there is no advice."""
    before, after = compaction_counts(history)
    if not before:
        return f"{NOTHING_TO_DO}: a compaction would rewrite no fragment."
    return (
        f"{NOTHING_TO_DO}: a compaction would turn {plural(before, 'fragment')} into about "
        f"{after:,}; it is worth while if it saves {SOME_SPARE_FRAGMENTS} fragments or removes "
        f"{MANY_DELETED_ROWS:,} deleted rows."
    )


def _total(kind: str, sizes: pl.Series) -> dict[str, Any]:
    """Return how many files of a kind there are, their bytes, and how many have no known size."""
    return {
        "kind": kind,
        "num_files": str(len(sizes)),
        "size_bytes": str(int(sizes.sum())),
        "num_unknown": sizes.null_count(),
    }
