"""Facts that several parts of a report share: each is read once."""

import polars as pl
from propcache.api import cached_property

from lance_explorer.changes.change_feed import changes
from lance_explorer.checks.advice import advice
from lance_explorer.disk.survey import Survey, survey
from lance_explorer.findings import Finding
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.commit_words import describe_commits
from lance_explorer.inspect.size_origins import size_origins
from lance_explorer.inspect.versions import versions

__all__ = ["WHAT_IT_DID", "Facts"]

WHAT_IT_DID = "what it did"
"""The column of ``versions`` that describes each commit in words."""


_COUNTS = {
    "created": "added",
    "overwritten": "overwritten",
    "deleted": "deleted",
    "updated": "updated",
    "column_added": "column_added",
    "moved": "moved",
}
"""The classes of rows that counts tell, as changes and as versions name them."""


class Facts:
    """The frames that parts of a report share.

    Parameters
    ----------
    view : HistoryView
        The table, or a branch of it.
    """

    def __init__(self, view: HistoryView) -> None:
        self.view = view

    @cached_property
    def versions(self) -> pl.DataFrame:
        """All kept versions, with their commits described in words."""
        words = pl.Series(WHAT_IT_DID, describe_commits(self.view), pl.String)
        return versions(self.view).with_columns(words)

    @cached_property
    def changed_rows(self) -> pl.DataFrame:
        """How many rows each commit changed: counts of the changes per commit.

        The counts of :attr:`versions` are these, and need no row to be compared, where row IDs are
        stable, no version is lost and no commit leaves a row in doubt.
        """
        history = self.view.history
        every = self.versions.with_columns(**{did: f"rows_{n}" for did, n in _COUNTS.items()})
        in_doubt = pl.any_horizontal(
            pl.col("operation", *_COUNTS).is_null(),
            pl.col("operation") == OperationName.CLONE,
            pl.col("rows_restored", "rows_reverted", "rows_column_rewritten") > 0,
        )
        flags = [one.manifest.reader_feature_flags for one in history.records]
        is_exact = history.begins_exactly.all() and all(one & STABLE_ROW_IDS for one in flags)
        if every.select(in_doubt.any()).item() or not is_exact:
            return changes(self.view, 0, mode="per_commit").summary()
        did_something = pl.any_horizontal(pl.col(*_COUNTS) > 0)
        return every.filter(did_something).select("version", *_COUNTS, uncertain=0, versions_lost=0)

    @cached_property
    def size_origins(self) -> pl.DataFrame:
        """Which versions wrote what the latest one needs."""
        return size_origins(self.view)

    @cached_property
    def advice(self) -> list[Finding]:
        """Problems and recommendations, and what could not be checked."""
        return advice(self.view, lambda _: self.on_disk)

    @cached_property
    def on_disk(self) -> Survey:
        """The files in the folder of the table."""
        self.view.history  # noqa: B018  read now: the survey's later views read only what is new
        return survey(self.view)
