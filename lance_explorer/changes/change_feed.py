"""What changed between two versions: counted from metadata, or row by row."""

import copy
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

import polars as pl

from lance_explorer.above import drift_of, spark_frame
from lance_explorer.answers import Answer, Answering, Section
from lance_explorer.answers.calls import call
from lance_explorer.arguments import check_choice, flag, text, whole_number
from lance_explorer.changes.feed_lines import FeedLines
from lance_explorer.changes.feed_parts import ChangePart, check_part, commit_parts, net_parts
from lance_explorer.changes.lost_values import LostValues
from lance_explorer.changes.row_options import ImageChoice, RowOptions
from lance_explorer.changes.steps import VersionRange, version_range
from lance_explorer.changes.summaries import commit_summary, net_summary, quick_summary
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.frames.documented import documented
from lance_explorer.frames.findings import FINDINGS
from lance_explorer.history.live import LiveTable, unbroken
from lance_explorer.history.version_refs import VersionRef, version_number
from lance_explorer.history.view import HistoryView

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lance_explorer.profiles.drift import Drift

__all__ = ["Changes", "ImageChoice", "Mode", "changes"]

Mode = Literal["net", "per_commit"]

_ROWS_IN_A_BATCH = 65_536

_T = TypeVar("_T")


def changes(
    view: HistoryView,
    begin_version: VersionRef,
    end_version: VersionRef | None = None,
    mode: Mode = "net",
    images: ImageChoice | None = "known",
    columns: Sequence[str] | None = None,
    key: str | Sequence[str] | None = None,
    include: str | Collection[str] = (),
    tolerance: float = 0.0,
) -> "Changes":
    """Return what changed between two versions of a branch.

    The parameters and errors are those of :meth:`~lance_explorer.table.Table.changes`.
    """
    begin = version_number(view, begin_version, is_begin=True)
    end = view.latest_version if end_version is None else version_number(view, end_version)
    versions = version_range(view, begin, end, must_begin=mode == "net")
    return Changes(versions, mode, images, columns, key, include, tolerance)


class Changes(Answering):
    """What changed between two versions. Nothing is read before a method needs it.

    Made by :meth:`~lance_explorer.table.Table.changes`.
    """

    def __init__(
        self,
        versions: VersionRange,
        mode: Mode = "net",
        images: ImageChoice | None = "known",
        columns: Sequence[str] | None = None,
        key: str | Sequence[str] | None = None,
        include: Collection[str] = (),
        tolerance: float = 0.0,
    ) -> None:
        check_choice("mode", mode, ("net", "per_commit"))
        self._versions = versions
        self.mode = mode
        self.options = RowOptions.of(images, columns, key, include, tolerance)
        self._lost = LostValues()
        self._known_missing = frozenset[str]()
        self._lines = self._lines_of(versions)

    @property
    def _view(self) -> HistoryView:
        """The branch."""
        return self._versions.rows.view

    @property
    def begin_version(self) -> int:
        """The version before the changes; 0 is the empty table."""
        return self._versions.begin_version

    @property
    def end_version(self) -> int:
        """The version after the changes."""
        return self._versions.end_version

    def without_values(self) -> "Changes":
        """Return the same changes without values: only a ``key`` needs data files.

        Examples
        --------
        >>> table.changes(1, 3).without_values().to_polars().columns[-1]
        'is_uncertain'
        """
        ours = self.options
        return Changes(
            self._versions, self.mode, None, None, ours.key, ours.include, ours.tolerance
        )

    def summary(self) -> pl.DataFrame:
        """Return how many rows changed, and how, without opening a data file.

        Only the columns of a ``key`` are read.

        Returns
        -------
        polars.DataFrame
            Net: one row. Each row of the table counts as one of ``inserted``, ``deleted``,
            ``updated``, ``column_rewritten``, ``column_added``, ``moved`` and ``unchanged``; a
            number is null if it is unknown because versions are lost. Per commit: one row for each
            commit that changed rows. ``uncertain`` counts the uncertain ones of all these rows;
            ``evidence`` is the weakest evidence of any of them.

        Examples
        --------
        >>> table.changes(0, 3).summary().select("inserted", "updated").row(0)
        (10, 0)
        """
        return self._answer(Changes._summary)

    def to_polars(self) -> pl.DataFrame:
        """Return all changed rows.

        Returns
        -------
        polars.DataFrame
            The columns of :data:`~lance_explorer.changes.frame.CHANGES`, then those of the values.
            With ``images="both"`` there is ``changed_columns`` between them: for an update, the
            names of the columns whose values differ; null for other changes.

        Examples
        --------
        >>> table.changes(2, 3).to_polars().select("_change_type", "_rowid", "city").rows()[:2]
        [('update_postimage', 2, 'city 0'), ('insert', 6, 'city 1')]
        """
        made, lines, missing = self._answer(Changes._whole)
        if made is self:  # the versions were listed since, and none was removed
            self._known_missing |= missing
        return lines

    def drift(self, column: str) -> "Drift":
        """Return how far the vector, or the number, of each row moved between both versions.

        Only rows that were written between the versions are read, each in both versions once.

        Parameters
        ----------
        column : str
            A column of vectors, such as an embedding, or of numbers.

        Returns
        -------
        Drift
            ``to_polars()`` has ``l2`` and ``cosine`` of each row, ``top()`` those that moved
            furthest, ``summary()`` how many did and how far.

        Raises
        ------
        InvalidArgumentError
            If the changes are those of each commit, or the column is neither.

        Examples
        --------
        >>> table.changes(2, 3).drift("id").sentence
        '`id` of 6 rows in both versions 2 and 3: none moved.'
        """
        if self.mode != "net":
            raise InvalidArgumentError("drift is between two versions: ask changes with mode='net'")
        name = text("column", column)

        def build(it: Changes) -> "Drift":
            [step] = it._lines.steps()
            return drift_of(it._versions, step, name)

        return self._answer(build)

    @documented(FINDINGS)
    def findings(self) -> pl.DataFrame:
        """Return which of the values read so far were lost, and what to do about it.

        Only with ``images="known"`` are lost values allowed. Findings as well are two columns that
        may be the same, because versions between them are lost, and a ``begin_version`` that is not
        kept. Values that Spark reads are not counted here.

        Examples
        --------
        >>> changes = table.changes(2, 3)
        >>> lines = changes.to_polars()
        >>> changes.findings().is_empty()
        True
        """
        return self._lost.frame()

    @property
    def schema(self) -> pl.Schema:
        """The columns of :meth:`to_polars`."""
        return self._answer(lambda it: it._lines.empty.schema)

    def parts(self, num_rows: int) -> list[ChangePart]:
        """Return parts of about this many rows, for :meth:`batches` on this or other machines.

        Parts are made from metadata alone; together they are the rows of :meth:`to_polars`. Some
        parts contain whole commits; for net changes, or a commit that changed many rows, a part
        contains some of the rows, which are compared independently. These rows are ordered within
        their part only.

        With a ``key``, and without stable row IDs if there is a restore or a lost version, the fate
        of a row is unknown until all rows are compared. Then there is a single part, or, if values
        are read, several: each compares all rows, and contains some of the lines.

        Examples
        --------
        >>> changes = table.changes(1, 3)
        >>> sum(len(batch) for part in changes.parts(2) for batch in changes.batches(part=part))
        7
        """
        num_rows = whole_number("num_rows", num_rows, least=1)
        with unbroken(self._view):
            make = net_parts if self.mode == "net" else commit_parts
            return make(
                self._versions,
                num_rows,
                has_key=bool(self.options.key),
                has_values=self.options.images is not None,
            )

    def batches(
        self,
        batch_size: int = _ROWS_IN_A_BATCH,
        *,
        progress: bool = True,
        part: ChangePart | None = None,
    ) -> Iterator[pl.DataFrame]:
        """Yield the rows of :meth:`to_polars` in batches.

        Values are read one batch at a time, so memory does not grow with the number of changes.

        Parameters
        ----------
        batch_size : int, default 65536
            The maximal number of rows in a batch; a batch also ends where a commit ends.
        progress : bool, default True
            Whether to show progress if it takes more than a second.
        part : ChangePart, optional
            One of :meth:`parts`; everything by default.

        Examples
        --------
        >>> [len(batch) for batch in table.changes(0, 1).batches(2)]
        [2, 2]
        """
        batch_size = whole_number("batch_size", batch_size, least=1)
        if part is not None:
            check_part(self._versions, part)
        return self._batches(batch_size, part, progress=flag("progress", progress))

    def _batches(
        self, batch_size: int, part: ChangePart | None, *, progress: bool
    ) -> Iterator[pl.DataFrame]:
        if not progress:
            with unbroken(self._view):
                yield from self._lines.batches(batch_size, part)
            return
        from tqdm.auto import tqdm

        with (
            unbroken(self._view),
            tqdm(desc="Reading changes", unit=" rows", delay=1.0, leave=False) as bar,
        ):
            for batch in self._lines.batches(batch_size, part):
                yield batch
                bar.update(len(batch))

    def to_spark(self, spark: "SparkSession") -> "DataFrame":
        """Return the rows of :meth:`to_polars` as a Spark DataFrame, computed in Spark's tasks.

        Parameters
        ----------
        spark : pyspark.sql.SparkSession
            Any session; the data sources are registered in it.

        Raises
        ------
        MissingDependencyError
            If PySpark is not installed.
        pyspark.errors.AnalysisException
            If the table has no such column, or Spark has no such type.

        Examples
        --------
        >>> table.changes(1, 2).to_spark(spark).count()
        2
        """
        return spark_frame(spark, self)

    def _answer(self, build: Callable[["Changes"], _T]) -> _T:
        return LiveTable(self._view).answer(lambda view: build(self._of(view)))

    def _of(self, view: HistoryView) -> "Changes":
        """Return the same changes on another view of the branch."""
        if view is self._view:
            return self
        ends = self.begin_version, self.end_version
        again = copy.copy(self)
        again._versions = version_range(view, *ends, must_begin=self.mode == "net")
        again._lines = self._lines_of(again._versions)
        return again

    def _lines_of(self, versions: VersionRange) -> FeedLines:
        if self.mode == "net" and not versions.begin_is_kept:
            self._lost.begin_gone(versions.rows, versions.begin_version)
        return FeedLines(versions, self.options, self._lost, is_net=self.mode == "net")

    def _whole(self) -> tuple["Changes", pl.DataFrame, frozenset[str]]:
        """Return all lines, the sources of their values, and which files were missing."""
        lines = pl.concat([self._lines.empty, *self._lines.batches(None)])
        missing = frozenset(self._lost.missing)
        self._view.storage.sessions.note(*missing - self._known_missing)
        return self, lines, missing

    def _summary(self) -> pl.DataFrame:
        if self.mode == "net":
            quick = None if self.options.key else quick_summary(self._versions)
            if quick is not None:
                return quick
            [step] = self._lines.steps()
            return net_summary(self._versions, step.runs)
        return commit_summary(self._versions, self._lines.steps())

    @property
    def sentence(self) -> str:
        """Which versions are compared, and how."""
        images = f", images={self.options.images!r}" if self.options.images != "known" else ""
        warning = f"; {self._lost.hint}" if self._lost.hint else ""
        return f"{self.begin_version} to {self.end_version}, {self.mode}{images}{warning}"

    @property
    def answer(self) -> Answer:
        """How many rows changed, and how; the rows themselves are not read."""
        mode = None if self.mode == "net" else self.mode
        way = "net" if self.mode == "net" else "commit by commit"
        hint = f" {self._lost.hint}." if self._lost.hint else ""
        return Answer(
            f"Changes from version {self.begin_version} to {self.end_version}, {way}.{hint}",
            (Section("summary", "", self.summary()),),
            f"{call('table.changes', self.begin_version, self.end_version, mode=mode)}.summary()",
            findings=tuple(self._lost.findings),
        )

    @property
    def _subject(self) -> str:
        return self._versions.rows.view.storage.uri.rsplit("/", 1)[-1]
