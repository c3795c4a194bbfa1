"""How much a database takes on disk, and why, table by table."""

from collections.abc import Sequence

import polars as pl

from lance_explorer.answers import Answer, Answering, Section, lines, said
from lance_explorer.database.look import Look
from lance_explorer.database.other_files import OtherFiles
from lance_explorer.disk.usage import USAGE
from lance_explorer.frames.columns import BYTES, TEXT, Column, FrameSchema
from lance_explorer.frames.documented import documented
from lance_explorer.frames.sizes import byte_size, counted

__all__ = ["TABLE_USAGE", "TABLE_USAGE_KINDS", "DatabaseUsage"]

TABLE_USAGE_KINDS = FrameSchema(
    "database_usage", (Column("name", TEXT, "name of the table"), *USAGE.columns)
)
"""The columns of ``DatabaseUsage.kinds()``."""

TABLE_USAGE = FrameSchema(
    "table_usage",
    (
        Column("name", TEXT, "name of the table"),
        Column("size_bytes", BYTES, "size of all its objects", unit="bytes"),
        Column("live_bytes", BYTES, "of these, what the latest version needs", unit="bytes"),
        Column("old_bytes", BYTES, "of these, what only older versions need", unit="bytes"),
        Column(
            "pinned_bytes", BYTES, "of these, what tags, branches and clones keep", unit="bytes"
        ),
        Column(
            "left_over_bytes",
            BYTES,
            "of these, what no version names and is older than seven days",
            unit="bytes",
        ),
        Column("other_bytes", BYTES, "all others, or of a table that cannot be read", unit="bytes"),
    ),
)
"""The columns of ``DatabaseUsage.tables()``."""

_PARTS = {
    "live_bytes": ("live",),
    "old_bytes": ("old",),
    "pinned_bytes": ("pinned",),
    "left_over_bytes": ("orphan",),
}
_WORDS = {
    "live_bytes": "the latest versions",
    "old_bytes": "only old versions need",
    "pinned_bytes": "tags, branches and clones keep",
    "left_over_bytes": "no version names",
    "other_bytes": "others",
}
_MOST_NAMED = 3


class DatabaseUsage(Answering):
    """How much a database takes on disk, and why.

    Made by :meth:`Database.disk_usage`.

    Attributes
    ----------
    total_bytes : int
        Size of all objects of all tables, and of the files that lie beside them in the folder.
    live_bytes : int
        Of these, what the latest versions of all tables need.
    answer : Answer
        It in words, with its evidence.

    Examples
    --------
    >>> usage = database.disk_usage()
    >>> usage.tables()["name"].to_list()
    ['people']
    >>> usage.total_bytes == usage.kinds()["size_bytes"].sum() + usage.other_files.size_bytes
    True
    """

    def __init__(self, name: str, looks: Sequence[Look], other_files: OtherFiles) -> None:
        self._name = name
        self._looks = looks
        self.other_files = other_files

    @property
    def _subject(self) -> str:
        return self._name

    @property
    def total_bytes(self) -> int:
        """Size of all of it."""
        return int(self.kinds()["size_bytes"].sum()) + self.other_files.size_bytes

    @property
    def live_bytes(self) -> int:
        """Size of what the latest versions need."""
        return int(self.tables()["live_bytes"].sum())

    @documented(TABLE_USAGE)
    def tables(self) -> pl.DataFrame:
        """Return one row for each table, the largest first.

        Examples
        --------
        >>> row = database.disk_usage().tables().row(0, named=True)
        >>> row["name"], row["live_bytes"] < row["size_bytes"]
        ('people', True)
        """
        size, shown = pl.col("size_bytes"), [one for kinds in _PARTS.values() for one in kinds]
        rows = (
            self.kinds()
            .group_by("name")
            .agg(
                size.sum(),
                *[
                    size.filter(pl.col("status").cast(TEXT).is_in(kinds)).sum().alias(name)
                    for name, kinds in _PARTS.items()
                ],
                other_bytes=size.filter(~pl.col("status").cast(TEXT).is_in(shown)).sum(),
            )
        )
        # A table without a file, partly created or partly dropped, has a row of zeros.
        every = pl.Series("name", [look.name for look in self._looks], TEXT).to_frame()
        rows = every.join(rows, on="name", how="left").with_columns(pl.exclude("name").fill_null(0))
        rows = rows.sort("size_bytes", "name", descending=[True, False])
        return TABLE_USAGE.build(rows.select(TABLE_USAGE.names).to_dict())

    @documented(TABLE_USAGE_KINDS)
    def kinds(self) -> pl.DataFrame:
        """Return the bytes of each kind and status in each table.

        Examples
        --------
        >>> database.disk_usage().kinds().filter(kind="deletion")["status"].to_list()
        ['live', 'old']
        """
        parts = [
            look.usage.select(pl.lit(look.name).alias("name"), pl.all()) for look in self._looks
        ]
        every = pl.concat([TABLE_USAGE_KINDS.polars_schema.to_frame(), *parts])
        return TABLE_USAGE_KINDS.build(every.to_dict())

    @property
    def not_counted(self) -> list[str]:
        """Why there may be more than the total."""
        return [f"`{look.name}`: {why}" for look in self._looks for why in look.not_counted]

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        tables = self.tables()
        sums = {name: int(tables[name].sum()) for name in _WORDS}
        sums["other_bytes"] += self.other_files.size_bytes
        at_least = "at least " if self.not_counted else ""
        parts = [f"{byte_size(sums[name])} {words}" for name, words in _WORDS.items() if sums[name]]
        total = f"{at_least}{byte_size(self.total_bytes)} in {counted(len(self._looks), 'table')}"
        waste = tables.with_columns(waste=pl.col("size_bytes") - pl.col("live_bytes"))
        worst = waste.filter(pl.col("waste") > 0).sort("waste", descending=True).head(_MOST_NAMED)
        named = [
            f"`{name}` ({byte_size(size)})" for name, size in worst["name", "waste"].iter_rows()
        ]
        most = f"; most beside the latest versions is in {', '.join(named)}" if named else ""
        return f"{total}: {', '.join(parts) or 'nothing'}{most}"

    @property
    def answer(self) -> Answer:
        """What is on disk, table by table, the largest first."""
        totals = {"total_bytes": self.total_bytes, "live_bytes": self.live_bytes}
        beside = {
            "num_objects": self.other_files.num_objects,
            "size_bytes": self.other_files.size_bytes,
        }
        return Answer(
            said(self.sentence),
            (
                Section("totals", None, totals),
                Section("not_counted", "Not counted", lines(self.not_counted)),
                Section("tables", "By table", self.tables(), schema=TABLE_USAGE),
                Section("kinds", None, self.kinds(), schema=TABLE_USAGE_KINDS),
                Section(
                    "other_files", "In no table", beside if self.other_files.num_objects else {}
                ),
            ),
            "database.disk_usage().tables()",
        )
