"""What is on disk and who owns it, for the browser; what a cleanup or a compaction would do.

The views of a table share one survey of its folder, so that their numbers agree.
"""

import threading
from collections.abc import Callable
from weakref import WeakKeyDictionary

import polars as pl

from lance_explorer.answers import said
from lance_explorer.disk.plans import plans
from lance_explorer.disk.survey import Survey, survey
from lance_explorer.disk.usage import KIND_WORDS, PART_WORDS
from lance_explorer.disk.usage import DiskUsage as Usage
from lance_explorer.errors import LanceExplorerError
from lance_explorer.figures.disk_usage import STATUS_WORDS
from lance_explorer.figures.palette import DISK_COLORS, STATUS_COLORS
from lance_explorer.history.collector import collector_paused
from lance_explorer.table import Table
from lance_explorer.widgets.answer_view import answer_view
from lance_explorer.widgets.arrays import floats
from lance_explorer.widgets.code_lines import dataset_code
from lance_explorer.widgets.messages.disk import (
    DiskKind,
    DiskPart,
    DiskStatus,
    DiskUsage,
    Plan,
    Plans,
)
from lance_explorer.widgets.messages.shared import Problem
from lance_explorer.widgets.view import Request

__all__ = ["disk_answer", "disk_data", "forget_what_is_on_disk", "on_disk", "plans_answer"]


class _Looked:
    """A survey of the folder of a table, made once for all views."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.listing: object = None
        self.found: Survey | None = None


_LOOKED = WeakKeyDictionary[Table, _Looked]()


def on_disk(table: Table) -> Survey:
    """Return the survey of the folder of a table, made once until the table is refreshed."""
    looked, view = _LOOKED.setdefault(table, _Looked()), table._view
    with looked.lock:
        if looked.found is None or looked.listing is not view.listing:
            looked.found, looked.listing = survey(view), view.listing
        return looked.found


def forget_what_is_on_disk(table: Table) -> None:
    """Make the next call survey the folder again."""
    _LOOKED.pop(table, None)


def plans_answer(table: Table, request: Request) -> Plans:
    """Return what could be done about the size of a table; none if that is unknown."""
    request.progress("computing what a cleanup and a compaction would do")
    try:
        with collector_paused():
            made = plans(on_disk(table), request.check)
    except LanceExplorerError:
        return Plans([])  # :func:`disk_answer` tells why
    return Plans(
        [
            answer_view(
                plan,
                Plan,
                title=title,
                lines=dataset_code(table, plan.code) if plan.code else "",
            )
            for title, plan in made.items()
        ]
    )


def disk_answer(table: Table, request: Request) -> DiskUsage | Problem:
    """Return :func:`disk_data` to a page; an error is part of the answer."""
    request.progress("listing what is on disk")
    try:
        return disk_data(table, request.check)
    except LanceExplorerError as error:
        return Problem(str(error))


@collector_paused()
def disk_data(table: Table, check: Callable[[], None]) -> DiskUsage:
    """Return how much space each kind takes, and since which version.

    ``check`` is called between the steps, and may end the work. The arrays have one value for each
    version: the bytes of current files that were written up to it.
    """
    surveyed = on_disk(table)
    check()
    usage = Usage(surveyed)
    summary = usage.summary().with_columns(pl.col("kind", "status").cast(pl.String))
    sizes = dict(summary.group_by("status").agg(pl.col("size_bytes").sum()).iter_rows())
    versions = usage.versions()
    of_versions = versions.drop_nulls("version")
    check()
    return DiskUsage(
        sentence=said(usage.sentence),
        statuses=[
            DiskStatus(name, STATUS_WORDS[name], color, str(sizes[name]))
            for name, color in STATUS_COLORS.items()
            if name in sizes
        ],
        kinds=[
            DiskKind(
                KIND_WORDS[kind],
                dict(zip(rows["status"], map(str, rows["size_bytes"]), strict=True)),
            )
            for (kind,), rows in summary.group_by("kind", maintain_order=True)
        ],
        parts=[
            DiskPart(name, PART_WORDS[name], color, floats(of_versions[f"{name}_bytes"].cum_sum()))
            for name, color in DISK_COLORS.items()
        ],
        versions=of_versions["version"].to_numpy(),
        rest_bytes=str(versions.filter(pl.col("version").is_null())["size_bytes"].sum()),
    )
