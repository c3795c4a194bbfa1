"""How two versions of a table differ, on the same branch or on different ones."""

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TypeVar

import polars as pl

from lance_explorer.above import review_of_diff
from lance_explorer.answers import Answer, Answering, Section
from lance_explorer.answers.calls import call
from lance_explorer.changes.branches import lost_on_the_way
from lance_explorer.changes.diff_commits import COMMITS_BETWEEN, commits_between
from lance_explorer.changes.diff_config import CONFIG_DIFF, config_diff
from lance_explorer.changes.diff_content import SameContent, compare_content, same_by_metadata
from lance_explorer.changes.diff_layout import FRAGMENT_DIFF, INDEX_DIFF, index_diff
from lance_explorer.changes.diff_schema import SCHEMA_DIFF, schema_diff
from lance_explorer.changes.diff_summary import DIFF_SUMMARY, diff_summary
from lance_explorer.changes.lost_values import LostValues
from lance_explorer.changes.row_options import ImageChoice, RowOptions
from lance_explorer.changes.version_pair import VersionPair
from lance_explorer.errors import InvalidArgumentError, NotFoundError, UnsupportedFeatureError
from lance_explorer.frames.columns import TIME
from lance_explorer.frames.documented import documented
from lance_explorer.frames.findings import FINDINGS
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.events.event_runs import NET_EVENTS
from lance_explorer.history.live import LiveTable
from lance_explorer.history.readable import check_readable
from lance_explorer.history.view import HistoryView

__all__ = ["Diff", "content_of_both", "diff"]

_T = TypeVar("_T")


def diff(
    first_view: HistoryView, first_version: int, second_view: HistoryView, second_version: int
) -> "Diff":
    """Return how two versions differ; see :meth:`~lance_explorer.table.Table.diff`."""
    first_view.file(first_version)
    second_view.file(second_version)
    return Diff(
        BranchVersion(first_view, first_version), BranchVersion(second_view, second_version)
    )


class Diff(Answering):
    """How the second version differs from the first; either may be the later one.

    Made by :meth:`~lance_explorer.table.Table.diff`. Nothing is read before a method needs it.
    """

    def __init__(self, first: BranchVersion, second: BranchVersion) -> None:
        self._pair = VersionPair(first, second)
        self._lost = LostValues()

    @property
    def before(self) -> tuple[str | None, int]:
        """Branch and number of the first version; None is the main branch."""
        return self._pair.first.view.branch, self._pair.first.version

    @property
    def after(self) -> tuple[str | None, int]:
        """Branch and number of the second version."""
        return self._pair.second.view.branch, self._pair.second.version

    @property
    def common_ancestor(self) -> tuple[str | None, int] | None:
        """Branch and number of the last common version; None if its branch was deleted.

        Raises
        ------
        InvalidArgumentError
            If the versions are of two tables.
        RefNotFoundError
            If it is unknown from which version a branch was created.
        """
        common = self._answer(lambda pair: pair.common)
        return None if common.branch is None else (common.branch.branch, common.version)

    @property
    def is_identical(self) -> bool:
        """Whether nothing differs: fragments, schema, indices and configuration.

        Known from metadata alone. Versions with the same rows in different files are not identical:
        see :meth:`same_content`.
        """
        return not self.differs

    @property
    def differs(self) -> tuple[str, ...]:
        """Which of fragments, schema, indices and config differ."""
        parts = (self.fragments, self.schema, self.indices, self.config)
        return tuple([part.__name__ for part in parts if len(part())])

    @documented(DIFF_SUMMARY)
    def summary(self) -> pl.DataFrame:
        """Return how many rows differ, and how: one row. No data file is opened.

        Rows that only the second version has are inserted, those that only the first has are
        deleted. Row IDs that two branches assigned after the fork are those of different rows.

        Raises
        ------
        InvalidArgumentError
            If the versions are of two tables.
        NotFoundError
            If versions between the two are not kept, or the common version is not.

        Examples
        --------
        >>> table.diff(3, 1).summary().select("inserted", "deleted", "updated").row(0)
        (0, 6, 1)
        """
        return self._answer(_summary)

    def rows(
        self,
        images: ImageChoice | None = "known",
        columns: Sequence[str] | None = None,
        key: str | Sequence[str] | None = None,
        include: Collection[str] = (),
        tolerance: float = 0.0,
    ) -> pl.DataFrame:
        """Return the rows that differ.

        Parameters
        ----------
        images : {"known", "after", "both"}, optional
            Which values to read. ``"known"``: those of the second version, and those of rows that
            only the first one has; lost values are null, and :meth:`findings` says why.
            ``"after"``: only those of the second version; ``"both"``: those of both versions. None:
            no values, and no data file is opened. Blobs are read whole: if they are large, name the
            other columns.
        columns : sequence of str, optional
            The columns to read, by their names in the second version; all by default. In the frame
            they are named as by :meth:`~lance_explorer.table.Table.changes`.
        key : str or sequence of str, optional
            Columns that identify a row: a row that only the first version has and one that only the
            second has are one updated row if they have the same key.
        include : collection of {"moved", "column_added"}
            Rows to include that are left out by default: rows that only moved, or only got or lost
            a column.
        tolerance : float, default 0.0
            How much floats may differ to count as equal, as in
            :meth:`~lance_explorer.table.Table.changes`.

        Returns
        -------
        polars.DataFrame
            The columns of :meth:`~lance_explorer.changes.change_feed.Changes.to_polars`. Version
            numbers are those of the second version's branch.

        Raises
        ------
        InvalidArgumentError
            If the versions are of two tables.
        NotFoundError
            If versions between the two are not kept, or the common version is not.

        Examples
        --------
        >>> table.diff(4, 3).rows().select("_change_type", "_rowid", "id").rows()
        [('insert', 1, 2)]
        """
        options = RowOptions.of(images, columns, key, include, tolerance)
        return self._answer(lambda pair: pair.rows.frame(options, self._lost))

    @documented(FINDINGS)
    def findings(self) -> pl.DataFrame:
        """Return which of the values that :meth:`rows` has read so far were lost.

        It also reports two columns that may be the same, because versions are missing.

        Examples
        --------
        >>> diff = table.diff(4, 3)
        >>> lines = diff.rows()
        >>> diff.findings().is_empty()
        True
        """
        return self._lost.frame()

    @documented(SCHEMA_DIFF)
    def schema(self) -> pl.DataFrame:
        """Return which fields differ: added, dropped, renamed, cast, altered or replaced.

        Examples
        --------
        >>> table.diff(6, 7).schema().select("change", "path_before", "path_after").rows()
        [('renamed', 'mood', 'score')]
        """
        return self._answer(lambda pair: schema_diff(pair.fields))

    @documented(FRAGMENT_DIFF)
    def fragments(self) -> pl.DataFrame:
        """Return which fragments differ.

        Examples
        --------
        >>> table.diff(3, 4).fragments().select("change", "fragment_id", "differs").rows()
        [('changed', 0, ['deletions'])]
        """
        return self._answer(lambda pair: pair.fragments)

    @documented(INDEX_DIFF)
    def indices(self) -> pl.DataFrame:
        """Return which index segments differ.

        Examples
        --------
        >>> table.diff(4, 5).indices().select("change", "name").rows()
        [('added', 'id_idx')]
        """
        return self._answer(lambda pair: index_diff(*pair.records))

    @documented(CONFIG_DIFF)
    def config(self) -> pl.DataFrame:
        """Return which entries of config and metadata differ.

        Examples
        --------
        >>> table.diff(5, 6).config().select("change", "key", "value_after").rows()
        [('added', 'owner', 'docs')]
        """
        return self._answer(lambda pair: config_diff(*pair.records))

    @documented(COMMITS_BETWEEN)
    def commits(self) -> pl.DataFrame:
        """Return the commits between both: back to the common version, and forward to the second.

        Raises
        ------
        InvalidArgumentError
            If the versions are of two tables.
        RefNotFoundError
            If it is unknown from which version a branch was created.

        Examples
        --------
        >>> table.diff(4, 2).commits().select("side", "version").rows()
        [('first', 4), ('first', 3)]
        """
        return self._answer(lambda pair: commits_between(pair.common))

    def same_content(self) -> SameContent:
        """Return whether both versions have the same rows with the same values.

        This can prove that a compaction, a restore or a clone changed nothing. Values of fragments
        that are the same in both versions need not be read; all others are read in batches. If both
        versions have the same row IDs, each row must have the same values in both; in a table
        without stable row IDs, after an Overwrite, and between branches and tables, both must have
        the same rows, in any order.

        Returns
        -------
        SameContent
            True or false; ``method`` says how that is known, ``columns`` which columns differ. Its
            text is a sentence that says what was compared.

        Examples
        --------
        >>> table.diff(1, 2).same_content()
        SameContent(is_same=False, method='multiset hash', columns=('id', 'city', 'mood'), \
num_rows_before=4, num_rows_after=6, num_compared_before=0, num_compared_after=2)
        >>> bool(table.diff(5, 6).same_content())
        True
        """
        return self._answer(_same_content)

    def report(self, path: str | os.PathLike[str], key: str | Sequence[str] | None = None) -> Path:
        """Write what differs into one HTML file, for a review; return its path.

        It has counts by column, how values are distributed before and after, the first rows as
        ``old → new`` with the columns that rows are known by first, schema, indices, config, the
        commits between, and what is left out: blobs, and values if more than 200,000 rows differ.
        It needs no network. An existing file is replaced.

        Parameters
        ----------
        path : str or os.PathLike
            The file; its folder must exist.
        key : str or sequence of str, optional
            Columns that identify a row, as of :meth:`rows`. Without them rows are matched by their
            identity, and named by the primary key, the first column with a BTREE index, or row IDs.

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
        >>> table.diff(3, 4).report(folder / "review.html").name
        'review.html'
        """
        return self._answer(lambda pair: review_of_diff(self, pair.second, key).write(path))

    def markdown(self, key: str | Sequence[str] | None = None) -> str:
        """Return the same as GitHub-flavoured Markdown, short enough for a comment.

        Parameters
        ----------
        key : str or sequence of str, optional
            As of :meth:`report`.

        Examples
        --------
        >>> table.diff(3, 4).markdown().splitlines()[0]
        '## people.lance: version 3 to version 4'
        """
        return self._answer(lambda pair: review_of_diff(self, pair.second, key).markdown())

    def _answer(self, build: Callable[[VersionPair], _T]) -> _T:
        first, second = self._pair.first, self._pair.second

        def if_kept(one: HistoryView, other: HistoryView) -> _T:
            one.file(first.version)
            other.file(second.version)
            if (one, other) == (first.view, second.view):
                return build(self._pair)
            return build(
                VersionPair(BranchVersion(one, first.version), BranchVersion(other, second.version))
            )

        if first.view is second.view:
            return LiveTable(first.view).answer(lambda one: if_kept(one, one))
        return LiveTable(first.view).answer(
            lambda one: LiveTable(second.view).answer(lambda other: if_kept(one, other))
        )

    @property
    def sentence(self) -> str:
        """Which parts differ, in one line."""
        differs = _listed(self.differs)
        warning = f"; {self._lost.hint}" if self._lost.hint else ""
        return f"{_named(self.before)} to {_named(self.after)}: {differs}{warning}"

    @property
    def answer(self) -> Answer:
        """How many rows differ and how, what else differs, and the commits between."""
        rows, words = self._row_counts()
        parts = [
            Section(part.__name__, part.__name__.capitalize(), part(), schema=schema)
            for part, schema in (
                (self.schema, SCHEMA_DIFF),
                (self.fragments, FRAGMENT_DIFF),
                (self.indices, INDEX_DIFF),
                (self.config, CONFIG_DIFF),
            )
        ]
        commits = self._commits_or_none()
        if commits is not None:
            shown = commits.drop("known_from")
            parts.append(
                Section("commits", "Commits between", commits, shown=shown, schema=COMMITS_BETWEEN)
            )
        ends = [place if place[0] else place[1] for place in (self.before, self.after)]
        return Answer(
            f"{_named(self.before)} to {_named(self.after)}: {_listed(self.differs)}; {words}.",
            (
                Section("identical", None, {"is_identical": self.is_identical}),
                Section("versions", "Versions", self._versions()),
                Section("rows", None, rows, schema=DIFF_SUMMARY),
                *parts,
            ),
            call("table.diff", *ends),
            findings=tuple(self._lost.findings),
        )

    def _row_counts(self) -> tuple[pl.DataFrame | str, str]:
        """Return how many rows differ, as a frame and in words; or why it is unknown."""
        try:
            summary = self.summary()
        except (UnsupportedFeatureError, NotFoundError, InvalidArgumentError) as error:
            return str(error), f"it is unknown which rows differ: {error}"
        counts = summary.row(0, named=True)
        names = [*[change.label for change in NET_EVENTS], "uncertain"]
        words = [f"{counts[name]:,} {name.replace('_', ' ')}" for name in names if counts[name]]
        unknown = [name.replace("_", " ") for name in names if counts[name] is None]
        words += [f"unknown how many {', '.join(unknown)}"] if unknown else []
        return summary, f"rows: {', '.join(words) or 'none'}"

    def _versions(self) -> pl.DataFrame:
        records = self._pair.records
        return pl.DataFrame(
            {
                "version": [_named(self.before), _named(self.after)],
                "timestamp": [record.manifest.timestamp for record in records],
                "operation": [record.operation for record in records],
            },
            schema_overrides={"timestamp": TIME, "operation": pl.String},
        )

    @property
    def _subject(self) -> str:
        return self._pair.first.view.name

    def _commits_or_none(self) -> pl.DataFrame | None:
        try:
            return self.commits()
        except (InvalidArgumentError, NotFoundError):
            return None


def _summary(pair: VersionPair) -> pl.DataFrame:
    return diff_summary(pair.near[0], pair.rows_after, pair.runs, lost_on_the_way(pair.common))


def content_of_both(first: BranchVersion, second: BranchVersion) -> SameContent:
    """Return whether two versions hold the same rows with the same values."""
    return _same_content(VersionPair(first, second))


def _same_content(pair: VersionPair) -> SameContent:
    for record in pair.records:
        check_readable(record)
    fragments = pair.fragments_to_read
    if not any(fragments) and not len(schema_diff(pair.fields)):
        return same_by_metadata(pair.first, pair.second)
    by_row_id = pair.shares_row_ids
    return compare_content(pair.first, pair.second, fragments, by_row_id=by_row_id)


def _listed(differs: Sequence[str]) -> str:
    return f"different {', '.join(differs)}" if differs else "identical"


def _named(place: tuple[str | None, int]) -> str:
    branch, version = place
    return f"{branch}:{version}" if branch else str(version)
