"""Keys that several rows of a version have, and the commits that wrote each of these rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import polars as pl
import pyarrow as pa
from polars.exceptions import PolarsError

from lance_explorer.answers import Answer, Answering, Section
from lance_explorer.answers.calls import call
from lance_explorer.arguments import names, whole_number
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.frames.columns import (
    BRANCH,
    COUNT,
    EVIDENCE,
    ID,
    TEXT,
    TIME,
    Column,
    FrameSchema,
)
from lance_explorer.frames.sizes import counted
from lance_explorer.history.columns.names import free_name
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.blame import blamed_rows
from lance_explorer.lineage.cell_search import Question

__all__ = ["DEFAULT_KEYS", "DUPLICATES", "Duplicates", "duplicates", "key_columns"]

DEFAULT_KEYS = 1_000

EARLIER_COPIES = ("none", "same commit", "not read", "read", "unknown")

DUPLICATES = FrameSchema(
    "duplicates",
    (
        Column(
            "copies",
            COUNT,
            "how many rows have the key; null where a part of the key is null, since null equals "
            "nothing",
            nullable=True,
        ),
        Column("_rowid", ID, "row ID; without stable row IDs, the row address"),
        Column("_rowaddr", ID, "row address in the examined version"),
        BRANCH,
        Column("version", ID, "version that gave the row its key", nullable=True),
        Column("timestamp", TIME, "when that was committed", nullable=True),
        Column("operation", TEXT, "the commit's operation as Lance names it", nullable=True),
        Column("author", TEXT, "who made it, if a property of the commit says so", nullable=True),
        Column("job", TEXT, "job that made it, likewise", nullable=True),
        Column("run", TEXT, "run of that job, likewise", nullable=True),
        Column("read_version", ID, "version that the commit had read", nullable=True),
        Column(
            "earlier_copy",
            pl.Enum(EARLIER_COPIES),
            "whether the commit had read a version with an earlier copy of the key; `none`: this "
            "is the first; `same commit`: that brought an earlier copy, too; `unknown`: Lance "
            "notes a commit that was rebased as if it had read the version before",
        ),
        Column("is_uncertain", pl.Boolean(), "whether another commit may have given it its key"),
        Column("evidence", EVIDENCE, "how that is known", nullable=True),
    ),
)
"""The columns of ``Duplicates.to_polars()`` after those of the key."""


@dataclass(frozen=True, slots=True)
class _Counts:
    """How many keys several rows have, how many rows these are, and how many have a null key."""

    keys: int
    rows: int
    null_rows: int
    shown_keys: int


class Duplicates(Answering):
    """Keys that several rows of a version have, and rows with a null in their key.

    Made by :meth:`~lance_explorer.table.Table.duplicates`; true if there are any.

    Attributes
    ----------
    key : tuple of str
        The columns.
    version : int
        The version that was looked at.
    num_keys, num_rows, num_null_rows : int
        How many keys several rows have, how many rows these are, and how many rows have a null in
        their key.
    """

    def __init__(
        self, key: Sequence[str], version: int, counts: _Counts, frame: pl.DataFrame
    ) -> None:
        self.key = tuple(key)
        self.version = version
        self.num_keys, self.num_rows = counts.keys, counts.rows
        self.num_null_rows = counts.null_rows
        self._num_shown = counts.shown_keys
        self._frame = frame

    def __bool__(self) -> bool:
        return bool(self.num_keys or self.num_null_rows)

    @property
    def sentence(self) -> str:
        """How many keys occur more than once, and what the later commits had read.

        Examples
        --------
        >>> table.duplicates("id").sentence
        'Each key of id is there once in version 7.'
        """
        key = ", ".join(self.key)
        nulls = f"{counted(self.num_null_rows, 'row')} with a null key"
        if not self.num_keys:
            sentence = f"Each key of {key} is there once in version {self.version}"
            return f"{sentence}, beside {nulls}." if self.num_null_rows else f"{sentence}."
        verb = "is" if self.num_keys == 1 else "are"
        sentence = (
            f"{counted(self.num_keys, 'key')} of {key} {verb} there more than once in version "
            f"{self.version}, in {counted(self.num_rows, 'row')}"
        )
        return f"{sentence}, beside {nulls}." if self.num_null_rows else f"{sentence}."

    @property
    def causes(self) -> list[str]:
        """The causes of the later copies, in sentences, with their numbers."""
        later = self._frame.filter(pl.col("copies").is_not_null())["earlier_copy"]
        counts = dict(later.cast(pl.String).value_counts().iter_rows())
        return [
            f"{counts[how]:,} later cop{'y' if counts[how] == 1 else 'ies'} {words}"
            for how, words in _CAUSES.items()
            if how in counts
        ]

    @property
    def since(self) -> int | None:
        """The version that first wrote an existing key; None if that is not certain."""
        later = self._frame.filter(pl.col("copies").is_not_null(), pl.col("earlier_copy") != "none")
        if self._num_shown < self.num_keys or self._frame["is_uncertain"].any():
            return None
        return cast("int | None", later["version"].min())

    @property
    def answer(self) -> Answer:
        """The rows, key by key, each with the commit that gave it its key."""
        key = _frame_names(self.key)
        totals = {name: getattr(self, f"num_{name}") for name in ("keys", "rows", "null_rows")}
        cut = f", of the first {self._num_shown:,} keys" if self._num_shown < self.num_keys else ""
        return Answer(
            " ".join([self.sentence, *[f"{cause}." for cause in self.causes]]),
            (
                Section("totals", None, totals),
                Section(
                    "rows",
                    f"Rows{cut}",
                    self._frame,
                    shown=self._frame.select(
                        *key, "version", "earlier_copy", "operation", "author", "job", "_rowid"
                    ),
                    values=tuple(key),
                ),
            ),
            f"{call('table.duplicates', [*self.key], version=self.version)}.to_polars()",
        )

    def to_polars(self) -> pl.DataFrame:
        """Return the rows, those of a key together, the first copy first; then rows with null keys.

        Returns
        -------
        polars.DataFrame
            The columns of the key, and those of
            :data:`~lance_explorer.lineage.duplicates.DUPLICATES`.

        Examples
        --------
        >>> copies = table.duplicates("city").to_polars()
        >>> copies.select("city", "copies", "version", "earlier_copy").rows()[:2]
        [('city 0', 3, 1, 'none'), ('city 0', 3, 2, 'read')]
        """
        return self._frame


_OF_COMMIT = ("branch", "version", "timestamp", "operation", "author", "job", "run", "evidence")

_NEVER_REBASED = (OperationName.APPEND, OperationName.OVERWRITE)
"""For other operations ``read_version`` may be the rebased one (docs/FORMAT.md 7)."""

_CAUSES = {
    "not read": "came by a commit that had not read the earlier one: two writers wrote the key at "
    "once",
    "same commit": "came with the earlier one, by the same commit",
    "read": "came by a commit that had read the earlier one: it inserts without checking keys",
    "unknown": "came by a commit that may not have read the earlier one: two upserts of a key at "
    "once both insert it, and Lance notes the second as if it had read the first",
}


def duplicates(
    view: HistoryView,
    key: str | Sequence[str],
    version: int | None = None,
    limit: int = DEFAULT_KEYS,
) -> Duplicates:
    """Return keys that several rows have: see :meth:`lance_explorer.table.Table.duplicates`."""
    number = view.latest_version if version is None else version
    columns = key_columns(view, key, number)
    limit = whole_number("limit", limit, least=1)
    shown_as = _frame_names(columns)
    alike, nulls = _candidates(view, number, columns)
    copies = _with_keys(view, number, columns, alike)
    copies = copies.with_columns(copies=pl.len().over(shown_as)).filter(pl.col("copies") > 1)
    keys = copies.select(shown_as).unique().sort(shown_as)
    shown = copies.join(keys.head(limit), on=shown_as, how="semi")
    some_nulls = _with_keys(view, number, columns, nulls.head(limit))
    rows = pl.concat(
        [
            shown.with_columns(pl.col("copies").cast(pl.Int64)),
            some_nulls.with_columns(copies=pl.lit(None, pl.Int64)),
        ]
    )
    counts = _Counts(len(keys), len(copies), len(nulls), min(limit, len(keys)))
    return Duplicates(columns, number, counts, _with_commits(view, number, columns, rows))


def key_columns(view: HistoryView, key: str | Sequence[str], version: int) -> list[str]:
    """Return the columns of a key.

    Raises
    ------
    InvalidArgumentError
        If there are none, or the version does not have them.
    """
    columns = list(dict.fromkeys(names("key", key)))
    schema = view.version(version).records[0].schema
    tops = [field.name for field in schema if field.parent_id == NO_PARENT]
    if not columns:
        raise InvalidArgumentError("key is one or more columns, and not empty")
    if unknown := [name for name in columns if name not in tops]:
        raise InvalidArgumentError(
            f"version {version} has no column {unknown[0]!r}; there are: {', '.join(tops)}"
        )
    return columns


def _candidates(
    view: HistoryView, version: int, columns: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return rows whose key has the same hash as that of another row, and rows with a null key.

    For each row a hash is held in memory, and no value.
    """
    from lance_explorer.values.rows import row_batches

    check_values(view, version)
    history = view.version(version)
    wanted = [*columns, "_rowid", "_rowaddr"]
    empty = {"_rowid": pl.UInt64, "_rowaddr": pl.UInt64, "hash": pl.UInt64, "is_null": pl.Boolean}
    fragments = history.states.ids.tolist()
    root, options = value_root(view, version), view.storage.options
    batches = row_batches(root, version, fragments, wanted, storage_options=options)
    rows = pl.concat([pl.DataFrame(schema=empty), *[_hashed(one, columns) for one in batches]])
    keyed = rows.filter(~pl.col("is_null"))
    alike = keyed.filter(keyed["hash"].is_duplicated())
    return alike.select("_rowid", "_rowaddr"), rows.filter("is_null").select("_rowid", "_rowaddr")


def _hashed(batch: pa.RecordBatch, columns: list[str]) -> pl.DataFrame:
    from lance_explorer.values.opening import to_polars

    rows = to_polars(pa.Table.from_batches([batch]))
    try:
        numbers = rows.select(columns).hash_rows()
    except PolarsError as error:
        types = ", ".join([f"{rows.schema[name]}" for name in columns])
        raise InvalidArgumentError(f"columns of these types are no key: {types}") from error
    is_null = rows.select(pl.any_horizontal(pl.col(columns).is_null())).to_series()
    return rows.select("_rowid", "_rowaddr").with_columns(hash=numbers, is_null=is_null)


def _with_keys(
    view: HistoryView, version: int, columns: list[str], rows: pl.DataFrame
) -> pl.DataFrame:
    """Return rows with the values of their keys."""
    from lance_explorer.values import read_rows_at

    values = read_rows_at(
        value_root(view, version),
        version,
        rows["_rowaddr"].to_numpy(),
        rows["_rowid"].to_numpy(),
        columns,
        view.storage.options,
        check_values(view, version),
    )
    names = dict(zip(columns, _frame_names(columns), strict=True))
    return values.select(columns).rename(names).hstack(rows)


def _frame_names(columns: Sequence[str]) -> list[str]:
    """Return the names of key columns beside those of the frame."""
    own = {column.name for column in DUPLICATES.columns}
    return [free_name(name, {*own, *columns}) if name in own else name for name in columns]


def _with_commits(
    view: HistoryView, version: int, columns: list[str], rows: pl.DataFrame
) -> pl.DataFrame:
    """Return rows with the commit that gave each its key, and its read version."""
    question = Question(None, tuple(columns), version, whole_blobs=True)
    cells = blamed_rows(view, question, rows.select("_rowid", "_rowaddr"))
    last = (
        cells.sort("version", nulls_last=False)
        .group_by("_rowaddr")
        .agg(pl.col(*_OF_COMMIT).last(), pl.col("is_uncertain").any())
    )
    commits = last.select("branch", "version").unique()
    read = [_read_version(view, *commit) for commit in commits.iter_rows()]
    commits = commits.with_columns(pl.Series("read_version", read, pl.UInt64))
    last = last.join(commits, on=["branch", "version"], nulls_equal=True)
    rows = rows.join(last, on="_rowaddr", maintain_order="left")
    key = _frame_names(columns)
    earlier = pl.col("version").shift().over(key)
    begin = pl.col("version").min().over(key)
    is_first = pl.int_range(pl.len()).over(key) == 0
    is_known = pl.col("version").is_not_null() & ~pl.col("is_uncertain")
    rows = rows.sort(*key, "version", "_rowaddr", nulls_last=True)
    how = (
        pl.when(pl.col("copies").is_null() | is_first)
        .then(pl.lit("none"))
        .when(~is_known.all().over(key))
        .then(pl.lit("unknown"))
        .when(pl.col("version") == earlier)
        .then(pl.lit("same commit"))
        .when(pl.col("read_version").is_null())
        .then(pl.lit("unknown"))
        .when(pl.col("read_version") < begin)
        .then(pl.lit("not read"))
        .when(pl.col("operation").is_in(_NEVER_REBASED))
        .then(pl.lit("read"))
        .otherwise(pl.lit("unknown"))
    )
    rows = rows.with_columns(earlier_copy=how)
    return rows.select(*key, *[pl.col(one.name).cast(one.dtype) for one in DUPLICATES.columns])


def _read_version(view: HistoryView, branch: str | None, version: int | None) -> int | None:
    """Return the version that a commit had read; None if that is not kept."""
    history = view.on_branch(branch).history
    if version is None or version not in history:
        return None
    transaction = history.records[history.position(version)].transaction
    return transaction.header.read_version if transaction else None
