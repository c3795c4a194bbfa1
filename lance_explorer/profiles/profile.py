"""Profiles: the values of a column in each version, and which commits moved them."""

from collections.abc import Iterable, Sequence

import polars as pl

from lance_explorer.answers import Answer, Answering, Section
from lance_explorer.answers.calls import call
from lance_explorer.arguments import names, whole_number
from lance_explorer.cells.text import briefs_of
from lance_explorer.errors import StorageError
from lance_explorer.findings import Finding
from lance_explorer.frames.columns import ID, TEXT, TIME, Column, FrameSchema
from lance_explorer.frames.commit_facts import COMMIT_FACTS, facts_of_records
from lance_explorer.frames.documented import documented
from lance_explorer.frames.findings import FINDINGS, findings_frame
from lance_explorer.frames.sizes import byte_size, counted, percent
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.identity.version_positions import check_some, position_of
from lance_explorer.history.live import LiveTable
from lance_explorer.history.version_refs import VersionRef, kept_versions
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.commit_words import words_at
from lance_explorer.profiles.frame import PROFILE, profile_frame
from lance_explorer.profiles.kept import keep_profile, kept_profile, profile_key
from lance_explorer.profiles.reading import ProfileRows
from lance_explorer.profiles.shift import SHIFTED
from lance_explorer.profiles.summaries import Summaries

__all__ = ["SHIFTS", "Profile", "asked_positions", "profile", "profile_of", "typical"]

_SHOWN = ("column", "type", "num_rows", "num_nulls", "num_distinct", "typical", "min", "max")
_SHIFTS_SHOWN = ("version", "column", "shift", "shift_of", "timestamp", "author", "what")

_LONGEST_VALUE = 32

_NO_SPREAD = 1e-6
"""A standard deviation below this part of the mean is a rounding error."""

_MEASURED = {
    "value": "",
    "characters": "characters",
    "bytes": "bytes",
    "items": "items",
    "length": "in length",
}

_MOST_SHIFTS = 20
_SHIFTS_IN_ANSWER = 5

SHIFTS = FrameSchema(
    "shifts",
    (
        Column("version", ID, "version in which the values of the column moved"),
        Column("timestamp", TIME, "when it was committed", nullable=True),
        Column("column", TEXT, "path of the column"),
        Column("shift", pl.Float64(), "how far they moved since `from_version`, from 0 to 1"),
        Column("shift_of", SHIFTED, "what moved that far"),
        Column("from_version", ID, "version of the profile before"),
        Column("mean_before", pl.Float64(), "mean of `from_version`", nullable=True),
        Column("mean", pl.Float64(), "mean of the measured numbers", nullable=True),
        Column("centroid_cosine", pl.Float64(), "cosine between both centroids", nullable=True),
        Column("what", TEXT, "what the commit did, in words"),
        Column("operation", TEXT, "the commit's operation as Lance names it", nullable=True),
        *COMMIT_FACTS,
    ),
)
"""The columns of ``Profile.shifts()``."""


def profile(
    view: HistoryView,
    columns: str | Sequence[str] | None = None,
    versions: Iterable[VersionRef] | None = None,
    max_bytes: int | None = None,
) -> "Profile":
    """Return the values of columns: see :meth:`lance_explorer.table.Table.profile`."""
    most = None if max_bytes is None else whole_number("max_bytes", max_bytes)
    chosen = None if columns is None else names("columns", columns)
    rows = state_rows(view)
    positions = asked_positions(rows, versions)
    key = profile_key(view, rows.history, positions, chosen)
    kept = kept_profile(view, key)
    if kept is not None:
        return Profile(view, _versions(rows, positions), *kept)
    profiled = ProfileRows(rows, positions, chosen, Summaries.of(view))
    profiled.read(most)
    return profile_of(profiled, key)


def asked_positions(rows: StateRows, versions: Iterable[VersionRef] | None) -> list[int]:
    """Return the positions of the requested versions, in order; all by default."""
    check_some(rows)
    if versions is None:
        return [*range(len(rows.history))]
    asked = kept_versions(rows.view, "versions", versions)
    return [position_of(rows, version) for version in asked]


def profile_of(profiled: ProfileRows, key: str) -> "Profile":
    """Return the profile of what was read, and keep it if it is complete."""
    lines = profile_frame(profiled)
    view = profiled.rows.view
    if not profiled.waiting and not profiled.findings:
        keep_profile(view, key, profiled.names, lines)
    return Profile(
        view, _versions(profiled.rows, profiled.positions), profiled.names, lines, profiled, key
    )


def _versions(rows: StateRows, positions: Sequence[int]) -> list[int]:
    return [rows.history.records[position].version for position in positions]


class Profile(Answering):
    """The values of columns in each version, and which commits changed their distribution.

    Made by :meth:`~lance_explorer.table.Table.profile`.

    Attributes
    ----------
    versions : list of int
        The versions, in order.
    columns : list of str
        The columns, as the last version that has them calls them.
    """

    def __init__(
        self,
        view: HistoryView,
        versions: list[int],
        columns: list[str],
        lines: pl.DataFrame,
        found: ProfileRows | None = None,
        key: str = "",
    ) -> None:
        self._view = view
        self.versions = versions
        self.columns = columns
        self._frame = lines
        self._found = found
        self._key = key

    @property
    def bytes_read(self) -> int:
        """About how many bytes of data files were read."""
        return self._found.bytes_read if self._found else 0

    @property
    def bytes_left(self) -> int:
        """About how many bytes of data files are still to be read."""
        return sum([task.num_bytes for task in self._found.waiting]) if self._found else 0

    @property
    def is_complete(self) -> bool:
        """Whether all values were read."""
        return not (self._found and self._found.waiting)

    @property
    def largest_shift(self) -> float:
        """The largest distance that the values of any column moved from one version to the next.

        Raises
        ------
        StorageError
            If values were lost or not read, so that it is unknown.

        Examples
        --------
        >>> table.profile("id").largest_shift
        0.4
        """
        if not self.is_complete:
            raise StorageError("not all values were read: go_on() reads the rest")
        lost = [one.statement for one in self._findings if one.code == "values_lost"]
        if lost:
            raise StorageError(f"it is unknown how far values moved: {lost[0]}")
        largest = self._frame["shift"].max()
        return largest if isinstance(largest, float) else 0.0

    @documented(PROFILE)
    def to_polars(self) -> pl.DataFrame:
        """Return a line for each version and each column or nested field.

        Examples
        --------
        >>> lines = table.profile("id").to_polars()
        >>> lines.select("version", "num_rows", "min", "max", "mean").rows()[:2]
        [(1, 4, '1', '4', 2.5), (2, 6, '1', '6', 3.5)]
        """
        return self._frame

    @documented(SHIFTS)
    def shifts(self, limit: int = _MOST_SHIFTS) -> pl.DataFrame:
        """Return the versions in which the values of columns moved, furthest first.

        Parameters
        ----------
        limit : int, default 20
            How many lines at most.

        Examples
        --------
        >>> table.profile("id").shifts(1).select("version", "shift", "what").row(0)
        (3, 0.4, '1 row updated, 4 rows added; 1 new fragment, 1 changed.')
        """
        most = whole_number("limit", limit)
        return LiveTable(self._view).answer(lambda view: self._shifts(view, most))

    @documented(FINDINGS)
    def findings(self) -> pl.DataFrame:
        """Return which values could not be read, and which columns may be one column.

        Examples
        --------
        >>> table.profile("id").findings().is_empty()
        True
        """
        return findings_frame(self._findings)

    @property
    def _findings(self) -> list[Finding]:
        return self._found.findings if self._found else []

    def go_on(self, max_bytes: int | None = None) -> "Profile":
        """Read what ``max_bytes`` left out, and return the profile with it.

        Parameters
        ----------
        max_bytes : int, optional
            How many bytes more to read; all by default.

        Examples
        --------
        >>> part = table.profile("id", max_bytes=0)
        >>> part.is_complete, part.go_on().is_complete
        (False, True)
        """
        most = None if max_bytes is None else whole_number("max_bytes", max_bytes)

        profiled = self._found
        if profiled is None or not profiled.waiting:
            return self

        def read(_: HistoryView) -> "Profile":
            profiled.read(most)
            return profile_of(profiled, self._key)

        return LiveTable(self._view).answer(read)

    @property
    def sentence(self) -> str:
        """What was read, and what moved furthest.

        Examples
        --------
        >>> print(table.profile("id").sentence)
        1 column in 7 versions; `id` moved furthest in version 3, by 40 %.
        """
        return self._sentence(self._largest())

    @property
    def answer(self) -> Answer:
        """The columns in the last version, and the commits that moved their values furthest."""
        shifts = self.shifts(_SHIFTS_IN_ANSWER)
        last = self._frame.filter(pl.col("version") == self.versions[-1])
        totals = {
            "num_columns": len(self.columns),
            "num_versions": len(self.versions),
            "is_complete": self.is_complete,
            "bytes_read": self.bytes_read,
        }
        return Answer(
            self._sentence(shifts),
            (
                Section("totals", None, totals),
                Section("lines", None, self._frame, schema=PROFILE),
                Section(
                    "columns",
                    f"In version {self.versions[-1]}",
                    last,
                    shown=_shown(last),
                    values=("min", "max"),
                    schema=PROFILE,
                ),
                Section(
                    "shifts",
                    "What moved values furthest",
                    shifts,
                    shown=shifts.select(_SHIFTS_SHOWN),
                    words=("what",),
                    schema=SHIFTS,
                ),
            ),
            f"{call('table.profile', self.columns)}.to_polars()",
            findings=tuple(self._findings),
        )

    def _largest(self) -> pl.DataFrame:
        moved = self._frame.filter(pl.col("shift") > 0)
        return moved.sort("shift", descending=True, maintain_order=True)

    def _sentence(self, shifts: pl.DataFrame) -> str:
        said = f"{counted(len(self.columns), 'column')} in {counted(len(self.versions), 'version')}"
        if not self.is_complete:
            return f"{said}; {byte_size(self.bytes_left)} were not read: go_on() reads them."
        if len(shifts):
            column, version, shift = shifts.select("column", "version", "shift").row(0)
            said += f"; `{column}` moved furthest in version {version}, by {percent(shift)}"
        elif len(self.versions) > 1:
            said += "; no values moved"
        return f"{said}."

    def _shifts(self, view: HistoryView, limit: int) -> pl.DataFrame:
        largest = self._largest().head(limit)
        history = view.history
        positions = [history.position(version) for version in largest["version"].to_list()]
        records = [history.records[position] for position in positions]
        words = words_at(view, positions)
        means = self._frame.select("column", from_version="version", mean_before="mean")
        before = largest.join(
            means, on=["column", "from_version"], how="left", maintain_order="left"
        )
        facts = facts_of_records([(view, record) for record in records])
        return SHIFTS.build(
            {
                **{name: before[name] for name in SHIFTS.names[:9]},
                "what": [words[position] for position in positions],
                "operation": [one.operation and one.operation.value for one in records],
                **facts,
            }
        )


def _shown(lines: pl.DataFrame) -> pl.DataFrame:
    """Return the lines as people read them."""
    words = [typical(*one) for one in lines.select("measure", "mean", "std").iter_rows()]
    ends = [briefs_of(lines[name], _LONGEST_VALUE)[0].alias(name) for name in ("min", "max")]
    shown = lines.with_columns(pl.Series("typical", words, dtype=TEXT), *ends)
    return shown.select(_SHOWN)


def typical(measure: str, mean: object, std: object) -> str | None:
    """Return mean and standard deviation in words."""
    if not isinstance(mean, float) or measure not in _MEASURED:
        return None
    is_spread = isinstance(std, float) and std > _NO_SPREAD * abs(mean)
    spread = f" ± {std:.3g}" if is_spread else ""
    return f"{mean:,.4g}{spread} {_MEASURED[measure]}".strip()
