"""What a merge of one branch into another would bring; nothing is merged, and nothing written."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl
from propcache.api import cached_property

from lance_explorer.above import merge_plan, review_of_merge
from lance_explorer.answers import Answer, Answering, Section, lines
from lance_explorer.answers.calls import call
from lance_explorer.arguments import check_choice, names
from lance_explorer.changes.branches import lost_on_the_way
from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.merge_frames import MERGE_CELLS, MERGE_SCHEMA, MERGE_SUMMARY, OUTCOME
from lance_explorer.changes.merge_lines import change_numbers
from lance_explorer.changes.merge_schema import merge_words
from lance_explorer.changes.three_way import ThreeWay, check_columns, named
from lance_explorer.errors import RefNotFoundError
from lance_explorer.frames.documented import documented
from lance_explorer.history.ancestors import Ancestry, BranchVersion, ancestry
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.live import LiveTable
from lance_explorer.history.version_refs import VersionRef, resolve
from lance_explorer.history.view import HistoryView

if TYPE_CHECKING:
    from lance_explorer.plans.plan import Plan
    from lance_explorer.plans.records import OnConflict

__all__ = ["MergePreview", "merge_preview"]

_T = TypeVar("_T")


def merge_preview(
    view: HistoryView, branch: VersionRef, key: str | Sequence[str] | None
) -> "MergePreview":
    """Return what a merge would bring; see :meth:`~lance_explorer.table.Table.merge_preview`."""
    is_name = isinstance(branch, str) and (branch == "main" or branch in view.refs.branches)
    resolved = resolve(view, (str(branch), -1) if is_name else branch)
    resolved.view.file(resolved.version)
    keys = () if key is None else names("key", key)
    ours, theirs = (
        BranchVersion(view, view.latest_version),
        BranchVersion(resolved.view, resolved.version),
    )
    for place in (ours, theirs):
        check_columns(place, keys)
    return MergePreview(ours, theirs, keys)


class MergePreview(Answering):
    """What a merge of one branch into another would bring, row by row: a three-way comparison.

    Made by :meth:`~lance_explorer.table.Table.merge_preview`. Both sides are compared with their
    fork, their last common version. Lance has no merge of branches; this shows what a script that
    merges them has to write, and which conflicts need a decision. Nothing is read before a method
    needs it, and nothing is written.

    Examples
    --------
    >>> dev = lx.open_table(table.uri, branch="dev")
    >>> preview = dev.merge_preview("main")
    >>> preview
    MergePreview(people.lance: 7 into dev@2)
    >>> preview.is_clean
    True
    """

    def __init__(self, ours: BranchVersion, theirs: BranchVersion, key: Sequence[str]) -> None:
        self._ours, self._theirs = ours, theirs
        self._key = tuple(key)
        self._merge = _Merge(ours, theirs, self._key)

    @property
    def branch(self) -> tuple[str | None, int]:
        """Name and version of the branch that is merged; None is the main branch."""
        return self._theirs.view.branch, self._theirs.version

    @property
    def into(self) -> tuple[str | None, int]:
        """Name and version of what it is merged into."""
        return self._ours.view.branch, self._ours.version

    @property
    def fork(self) -> tuple[str | None, int]:
        """Branch and number of the last common version."""
        return self._answer(lambda merge: (merge.fork.view.branch, merge.fork.version))

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that identify a row; none if a row is what it was at the fork."""
        return self._key

    @property
    def is_clean(self) -> bool:
        """Whether no row and no column is in conflict."""
        counts = self.summary().row(0, named=True)
        return not counts["conflicts"] and not counts["conflicting_columns"]

    @documented(MERGE_SUMMARY)
    def summary(self) -> pl.DataFrame:
        """Return how many rows a merge would bring, and how many are in conflict: one row.

        Values are read only of keys, and of rows that both sides changed. So a row that one side
        rewrote counts as updated, even if its values did not change.

        Examples
        --------
        >>> preview = lx.open_table(table.uri, branch="dev").merge_preview("main")
        >>> preview.summary().select("inserted", "updated", "deleted", "conflicts").row(0)
        (4, 1, 1, 0)
        """
        return self._answer(_Merge.summary)

    def rows(
        self, outcome: str | Sequence[str] | None = None, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """Return the rows that either side changed since the fork, with the outcome of each.

        Parameters
        ----------
        outcome : str or sequence of str, optional
            Only rows with these outcomes: ``"incoming"``, ``"kept"``, ``"same"``, ``"combined"``
            and ``"conflict"``; all by default.
        columns : sequence of str, optional
            The columns whose values are in the frame; all by default, and blobs are read whole.

        Returns
        -------
        polars.DataFrame
            The columns of ``MERGE_ROWS``, and three structs of these columns: ``base``, the values
            at the fork, ``ours`` and ``theirs``; null where the row is not.

        Examples
        --------
        >>> rows = lx.open_table(table.uri, branch="dev").merge_preview("main").rows("incoming")
        >>> rows.select("change_theirs", "_rowid").rows()[:3]
        [('deleted', 1), ('updated', 2), ('inserted', 6)]
        >>> rows["theirs"].struct.field("id").to_list()[:3]
        [None, 3, 7]
        """
        chosen = _outcomes(outcome)
        some = None if columns is None else names("columns", columns)
        return self._answer(lambda merge: merge.sides.rows(chosen, some))

    @documented(MERGE_CELLS)
    def cells(self) -> pl.DataFrame:
        """Return the cells in conflict: the values at the fork and on both sides, as text.

        Examples
        --------
        >>> table.merge_preview("dev").cells().is_empty()
        True
        """
        return self._answer(lambda merge: merge.sides.cells())

    @documented(MERGE_SCHEMA)
    def schema(self) -> pl.DataFrame:
        """Return the fields that either side changed, with the outcome of each.

        Examples
        --------
        >>> table.merge_preview("dev").schema().select("outcome", "path", "change_ours").rows()
        [('kept', 'mood', 'renamed')]
        """
        return self._answer(lambda merge: merge.sides.schema)

    def words(self) -> list[str]:
        """Return what a merge would change, in sentences; names are in backticks.

        Examples
        --------
        >>> lx.open_table(table.uri, branch="dev").merge_preview("main").words()[1]
        'A merge of `main` into `dev` would insert 4 rows, update 1 row and delete 1 row.'
        """
        return self._answer(_Merge.words)

    def plan(
        self,
        *,
        on_conflict: "OnConflict" = "keep",
        author: str | None = None,
        reason: str | None = None,
    ) -> "Plan":
        """Return a plan that merges the branch: a script for the person who runs it.

        It brings over rows that only the branch changed, and cells that only the branch changed in
        rows that both changed. It is for the latest version of the branch that is merged into.

        Parameters
        ----------
        on_conflict : {"keep", "overwrite"}
            What becomes of rows in conflict: they stay, or get the values of the branch.
        author, reason : str, optional
            What the commit will say; by default who runs the script, and what it does.

        Returns
        -------
        Plan

        Examples
        --------
        >>> dev = lx.open_table(table.uri, branch="dev")
        >>> [step.words for step in dev.merge_preview("main").plan().steps]
        ['`mood` gets the name `score`.', 'Delete 1 row; append 4 rows.']
        """
        return self._answer(lambda merge: merge_plan(merge.sides, on_conflict, author, reason))

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write what a merge would bring into one HTML file, for a review; return its path.

        It has the conflicts, the rows that would come with the columns that rows are known by
        first, counts by column and how values are distributed at the fork and on the branch,
        changed fields, and what is left out: blobs, and values if more than 200,000 rows would
        come. It needs no network. An existing file is replaced.

        Parameters
        ----------
        path : str or os.PathLike
            The file; its folder must exist.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InvalidArgumentError
            If the folder does not exist, or ``path`` is a folder.
        StorageError
            If the file cannot be written.

        Examples
        --------
        >>> table.merge_preview("dev").report(folder / "merge.html").name
        'merge.html'
        """
        return self._answer(lambda merge: review_of_merge(self, merge.places[1]).write(path))

    def markdown(self) -> str:
        """Return the same as GitHub-flavoured Markdown, short enough for a comment.

        Examples
        --------
        >>> table.merge_preview("dev").markdown().splitlines()[0]
        '## people.lance: merge dev into main'
        """
        return self._answer(lambda merge: review_of_merge(self, merge.places[1]).markdown())

    def _answer(self, build: Callable[["_Merge"], _T]) -> _T:
        ours, theirs = self._ours, self._theirs

        def if_kept(one: HistoryView, other: HistoryView) -> _T:
            one.file(ours.version)
            other.file(theirs.version)
            if (one, other) != (ours.view, theirs.view):
                places = BranchVersion(one, ours.version), BranchVersion(other, theirs.version)
                return build(_Merge(*places, self._key))
            return build(self._merge)

        return LiveTable(ours.view).answer(
            lambda one: LiveTable(theirs.view).answer(lambda other: if_kept(one, other))
        )

    @property
    def sentence(self) -> str:
        """What is merged into what."""
        return f"{named(self._theirs)} into {named(self._ours)}"

    @property
    def answer(self) -> Answer:
        """What a merge would bring, and the cells in conflict."""
        cells, (first, *rest) = self.cells(), self.words()
        branch, version = self.branch
        num_told = 1 if self.is_clean else 2
        shown = cells.drop("_rowid" if self._key else "key")
        values = ("key", "base", "ours", "theirs")
        key = {"key": [*self._key]} if self._key else {}
        return Answer(
            " ".join(rest[:num_told]) or first,
            (
                Section("words", "", lines([first, *rest[num_told:]])),
                Section("summary", None, self.summary(), schema=MERGE_SUMMARY),
                Section("schema", "Fields", self.schema(), schema=MERGE_SCHEMA),
                Section(
                    "cells", "Conflicts", cells, shown=shown, values=values, schema=MERGE_CELLS
                ),
            ),
            call("table.merge_preview", (branch or "main", version), **key),
        )

    @property
    def _subject(self) -> str:
        return self._ours.view.name


class _Merge:
    """Both sides, and the changes of rows since the fork."""

    def __init__(self, ours: BranchVersion, theirs: BranchVersion, key: Sequence[str]) -> None:
        self.places = ours, theirs
        self._key = key

    @cached_property
    def common(self) -> Ancestry:
        return ancestry(*self.places)

    @cached_property
    def fork(self) -> BranchVersion:
        common = self.common
        if common.branch is None:
            raise RefNotFoundError(
                f"version {common.version}, from which both come, is of a branch that was deleted"
            )
        common.branch.file(common.version)
        return BranchVersion(common.branch, common.version)

    @cached_property
    def sides(self) -> ThreeWay:
        return ThreeWay(self.fork, *self.places, self._key)

    def summary(self) -> pl.DataFrame:
        ours, theirs = self.places
        matched, both, schema = self.sides.matched, self.sides.compared, self.sides.schema
        late = both.theirs.where(both.has_outcome("incoming"))
        brings = _counts(matched.only_theirs, late)
        every = [matched.only_ours, matched.only_theirs, both.ours, both.theirs]
        weakest = max((int(runs.evidence.max()) for runs in every if len(runs)), default=None)
        unsure = [int(runs.length[runs.is_uncertain].sum()) for runs in every[:2]]
        return MERGE_SUMMARY.build(
            {
                "branch": [theirs.view.branch],
                "version": [theirs.version],
                "into_branch": [ours.view.branch],
                "into_version": [ours.version],
                "fork_branch": [self.fork.view.branch],
                "fork_version": [self.fork.version],
                "inserted": [brings[0]],
                "updated": [brings[1] + both.count("combined")],
                "deleted": [brings[2]],
                "kept": [matched.only_ours.num_rows + both.count("kept")],
                "same": [both.count("same")],
                "combined": [both.count("combined")],
                "conflicts": [both.count("conflict")],
                "conflicting_columns": [int((schema["outcome"] == "conflict").sum())],
                "uncertain": [sum(unsure) + int(both.is_uncertain.sum())],
                "evidence": [None if weakest is None else Evidence(weakest).label],
                "versions_lost": [lost_on_the_way(self.common)],
            }
        )

    def words(self) -> list[str]:
        counts = self.summary().row(0, named=True)
        sides = self.sides
        return merge_words(counts, sides.schema, sides.cells(), sorted(sides.doubtful))


def _counts(*several: ChangeRuns) -> list[int]:
    """Return how many rows were inserted, updated and deleted."""
    counts = np.zeros(3, dtype=np.int64)
    for runs in several:
        np.add.at(counts, change_numbers(runs), runs.length.astype(np.int64))
    return [int(count) for count in counts]


def _outcomes(outcome: str | Sequence[str] | None) -> tuple[str, ...]:
    known = tuple(OUTCOME.categories)
    chosen = known if outcome is None else names("outcome", outcome)
    for name in chosen:
        check_choice("outcome", name, known)
    return chosen
