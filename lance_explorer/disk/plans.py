"""What could be done about the size of a table: two cleanups and a compaction, in words."""

from collections.abc import Callable
from datetime import timedelta

from lance_explorer.answers import Answer
from lance_explorer.disk.cleanup import CleanupRules, cleanup
from lance_explorer.disk.cleanup_preview import CleanupPreview
from lance_explorer.disk.compaction_preview import compaction_preview
from lance_explorer.disk.survey import Survey

__all__ = ["plans"]

_CLEANUPS = {
    "A cleanup now, of what is older than 14 days": CleanupRules(),
    "A cleanup of all but the latest version": CleanupRules(older_than=timedelta(0)),
}


def plans(surveyed: Survey, check: Callable[[], None] = lambda: None) -> dict[str, Answer]:
    """Return what a cleanup and a compaction would do, by their titles.

    ``check`` is called between them, and may end the work.

    Examples
    --------
    >>> from lance_explorer.disk.survey import survey
    >>> plans(survey(table._view))["A compaction"].code
    'dataset.optimize.compact_files()'
    """
    made = dict[str, Answer]()
    for title, rules in _CLEANUPS.items():
        made[title] = CleanupPreview(cleanup(surveyed, rules)).in_words()
        check()
    return {**made, "A compaction": compaction_preview(surveyed.view, {}).in_words()}
