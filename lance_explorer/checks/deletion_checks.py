"""Whether deletion files contain exactly the rows that manifests count."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from lance_explorer.findings import Finding, Remedy, Subject
from lance_explorer.history.readable import readable_history
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.deletions import all_deletions, deletions

__all__ = ["MOST_FILES", "deletion_findings"]

MOST_FILES = 1_000
"""More deletion files are read only by a deep check."""


def deletion_findings(view: HistoryView, is_deep: bool) -> Iterator[Finding]:
    """Yield a finding for each deletion file that contradicts its manifest.

    Those of all kept versions are read if there are not too many, else those of the latest one.
    """
    history = readable_history(view.history)
    count = int(np.count_nonzero(history.states.deletion_types >= 0))
    if is_deep or count <= MOST_FILES:
        files = all_deletions(view)
        versions = files["first_version"]
    else:
        files = deletions(view, view.latest_version)
        versions = files["version"]
        yield Finding(
            "not_checked",
            f"of {count:,} deletion files those of the latest version were read",
            subject=Subject("check", "files"),
            remedy=Remedy('Call table.check(depth="deep").'),
            is_mild=True,
        )
    # Missing or forbidden files are findings already.
    wrong = files.with_columns(version=versions).filter(
        pl.col("problem").is_not_null(), pl.col("file_bytes").is_not_null()
    )
    for row in wrong.unique("path", keep="first", maintain_order=True).iter_rows(named=True):
        yield Finding(
            "deletion_file_contradicts",
            f"{row['path']}: {row['problem']}",
            subject=Subject("fragment", str(row["fragment_id"]), row["path"]),
            versions=(row["version"], row.get("last_version", row["version"])),
        )
