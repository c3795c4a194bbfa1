"""Facts that several parts of a report share: each is read once."""

import polars as pl
from propcache.api import cached_property

from lance_explorer.checks.advice import advice
from lance_explorer.disk.survey import Survey, survey
from lance_explorer.findings import Finding
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.commit_words import describe_commits
from lance_explorer.inspect.size_origins import size_origins
from lance_explorer.inspect.versions import versions

__all__ = ["WHAT_IT_DID", "Facts"]

WHAT_IT_DID = "what it did"
"""The column of ``versions`` that describes each commit in words."""


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
        return survey(self.view)
