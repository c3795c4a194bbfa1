"""Two versions, on any branches, and what a diff needs to know of both."""

import polars as pl
from propcache.api import cached_property

from lance_explorer.changes.branches import changes_between, with_replaced_columns
from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.diff_commits import fields_between
from lance_explorer.changes.diff_layout import FragmentParts, fragment_diff
from lance_explorer.changes.diff_rows import RowsOfBoth
from lance_explorer.changes.diff_schema import FieldPair
from lance_explorer.changes.needed_versions import needed_versions
from lance_explorer.changes.version_rows import PlaceRows, place_rows
from lance_explorer.errors import RefNotFoundError
from lance_explorer.history.ancestors import Ancestry, BranchVersion, ancestry
from lance_explorer.history.history import History, VersionRecord

__all__ = ["VersionPair"]

_CONTENT_PARTS = ("data_files", "overlays", "deletions")


class VersionPair:
    """Two versions.

    Parameters
    ----------
    first, second : BranchVersion
        The versions, in any order.
    """

    def __init__(self, first: BranchVersion, second: BranchVersion) -> None:
        self.first = first
        self.second = second

    @property
    def is_one_table(self) -> bool:
        """Whether both are versions of one table."""
        return self.first.view.uri == self.second.view.uri

    @cached_property
    def near(self) -> tuple[BranchVersion, BranchVersion]:
        """Both, on a branch of which only the needed versions are read."""
        first, second = self.first, self.second
        if first.view is not second.view:
            return first, second
        ends = sorted([first.version, second.version])
        is_backward = first.version > second.version
        part = needed_versions(first.view, *ends, is_backward=is_backward)
        return BranchVersion(part, first.version), BranchVersion(part, second.version)

    @cached_property
    def common(self) -> Ancestry:
        """The common ancestor of both."""
        return ancestry(*self.near)

    @cached_property
    def histories(self) -> tuple[History, History]:
        """Both, each as a history of one version."""
        first, second = self.first, self.second
        return first.view.version(first.version), second.view.version(second.version)

    @property
    def records(self) -> tuple[VersionRecord, VersionRecord]:
        """What their manifests say."""
        first, second = self.histories
        return first.records[0], second.records[0]

    @cached_property
    def fields(self) -> list[FieldPair]:
        """The pairs of fields of both."""
        try:
            common = self.common if self.is_one_table else None
        except RefNotFoundError:
            common = None
        return fields_between(*self.near, common)

    @cached_property
    def fragments(self) -> pl.DataFrame:
        """Which fragments differ."""
        places = zip(self.histories, (self.first, self.second), strict=True)
        return fragment_diff(*[FragmentParts(one, place.view.storage) for one, place in places])

    @property
    def fragments_to_read(self) -> tuple[list[int], list[int]]:
        """The fragments of both whose rows may have other values."""
        is_content = pl.col("differs").list.set_intersection(list(_CONTENT_PARTS)).list.len() > 0
        both = pl.col("change").is_in(["changed", "replaced"]) & is_content
        before = self.fragments.filter((pl.col("change") == "removed") | both)
        after = self.fragments.filter((pl.col("change") == "added") | both)
        return before["fragment_id"].to_list(), after["fragment_id"].to_list()

    @cached_property
    def rows_before(self) -> PlaceRows:
        """The rows of the first."""
        return place_rows(self.near[0])

    @cached_property
    def rows_after(self) -> PlaceRows:
        """The rows of the second."""
        return place_rows(self.near[1])

    @property
    def shares_row_ids(self) -> bool:
        """Whether equal row IDs are the same row."""
        is_one_branch = self.first.view.branch == self.second.view.branch
        return (
            is_one_branch
            and self.is_one_table
            and self.rows_before.has_row_ids
            and self.rows_after.has_row_ids
        )

    @cached_property
    def runs(self) -> ChangeRuns:
        """The fate of the rows of the first in the second."""
        common = self.common
        runs = changes_between(*self.near, common)
        is_one_branch = len((*common.to_first, *common.to_second)) < 2
        columns = [pair for pair in self.fields if pair.is_top_level]
        if is_one_branch or not any(pair.change == "replaced" for pair in columns):
            return runs
        return with_replaced_columns(runs, self.rows_after)

    @property
    def rows(self) -> RowsOfBoth:
        """The rows that differ."""
        return RowsOfBoth(self.rows_before, self.rows_after, self.runs, self.common)
