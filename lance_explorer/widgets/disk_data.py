"""What is on disk and whose it is, for the browser, and what a cleanup or a compaction would do."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import polars as pl

from lance_explorer.disk.cleanup import CleanupRules, cleanup
from lance_explorer.disk.cleanup_preview import CleanupPreview
from lance_explorer.disk.compaction_preview import CompactionPreview, compaction_preview
from lance_explorer.disk.survey import survey
from lance_explorer.disk.usage import KIND_WORDS, DiskUsage
from lance_explorer.figures.disk_usage import STATUS_COLORS, STATUS_WORDS
from lance_explorer.frames.sizes import counted
from lance_explorer.history.source import TableSource

__all__ = ["disk_data"]

_CLEANUPS = {
    "A cleanup now, of what is older than 14 days": CleanupRules(),
    "A cleanup of all but the latest version": CleanupRules(older_than=timedelta(0)),
}


def disk_data(source: TableSource, check: Callable[[], None]) -> dict[str, Any]:
    """Return what takes how much space, and what can be done about it.

    The table is looked at anew. ``check`` is called between the steps, and may end the work.
    """
    found = survey(source)
    check()
    usage = DiskUsage(found)
    summary = usage.summary().with_columns(pl.col("kind", "status").cast(pl.String))
    sizes = dict(summary.group_by("status").agg(pl.col("size_bytes").sum()).iter_rows())
    plans = []
    for title, rules in _CLEANUPS.items():
        preview = CleanupPreview(cleanup(found, rules))
        lost = preview.losses()["message"].to_list()
        plans.append(_plan(title, preview, "What is lost", lost))
        check()
    compaction = compaction_preview(found.source, {})
    plans.append(
        _plan("A compaction", compaction, "Fragments that stay as they are", _stay(compaction))
    )
    return {
        "sentence": usage.sentence,
        "statuses": [
            {"name": name, "words": STATUS_WORDS[name], "color": color, "bytes": str(sizes[name])}
            for name, color in STATUS_COLORS.items()
            if name in sizes
        ],
        "kinds": [
            {
                "words": KIND_WORDS[kind],
                "bytes": dict(zip(rows["status"], map(str, rows["size_bytes"]), strict=True)),
            }
            for (kind,), rows in summary.group_by("kind", maintain_order=True)
        ],
        "plans": plans,
    }


def _plan(
    title: str, preview: CleanupPreview | CompactionPreview, about: str, details: list[str]
) -> dict[str, Any]:
    sentence = preview.sentence
    return {
        "title": title,
        "sentence": f"{sentence[:1].upper()}{sentence[1:]}.",
        "code": preview.code,
        "about": about,
        "details": details,
    }


def _stay(compaction: CompactionPreview) -> list[str]:
    """Return why fragments stay, the reason of most of them first."""
    stay = compaction.fragments().filter(~pl.col("is_rewritten"))
    reasons = stay.group_by("message").len().sort("len", "message", descending=[True, False])
    return [f"{counted(number, 'fragment')}: {message}" for message, number in reasons.iter_rows()]
