"""How much is on disk and why: by kind and status, and by the version that wrote it."""

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from lance_explorer.answers import Answer, Answering, Section, lines, said
from lance_explorer.arguments import of_kind
from lance_explorer.disk.named_files import KINDS
from lance_explorer.disk.owners import STATUSES, owned
from lance_explorer.disk.plans import plans
from lance_explorer.disk.survey import Survey, closed_bases, survey
from lance_explorer.frames.columns import BYTES, COUNT, ID, TEXT, TIME, Column, FrameSchema
from lance_explorer.frames.documented import documented
from lance_explorer.frames.sizes import byte_size
from lance_explorer.history.view import HistoryView

__all__ = ["KIND_WORDS", "PART_WORDS", "USAGE", "USAGE_BY_VERSION", "DiskUsage", "disk_usage"]

USAGE = FrameSchema(
    "disk_usage",
    (
        Column("kind", pl.Enum(KINDS), "the purpose of the objects"),
        Column("status", pl.Enum(STATUSES), "whose they are, as in `storage`"),
        Column("num_objects", COUNT, "how many there are"),
        Column("size_bytes", BYTES, "their size on disk", unit="bytes"),
    ),
)

PART_WORDS = {
    "data": "data files and blobs",
    "deletion": "deletion files",
    "index": "index files, reuse history too",
    "manifest": "manifests",
    "other": "everything else",
}
"""Categories of sizes, for each version."""

USAGE_BY_VERSION = FrameSchema(
    "disk_usage_by_version",
    (
        Column(
            "version",
            ID,
            "version of the branch that is the first to need the objects, and mostly wrote them; "
            "null: objects that it does not need",
            nullable=True,
        ),
        Column("timestamp", TIME, "when it was committed", nullable=True),
        Column("operation", TEXT, "operation as Lance names it", nullable=True),
        Column("num_objects", COUNT, "how many objects of it are still there"),
        Column("size_bytes", BYTES, "their size", unit="bytes"),
        Column("live_bytes", BYTES, "of these, what the latest version needs", unit="bytes"),
        *[
            Column(f"{part}_bytes", BYTES, f"of these, {words}", unit="bytes")
            for part, words in PART_WORDS.items()
        ],
        Column("total_bytes", BYTES, "size of this and all rows before", unit="bytes"),
    ),
)

_PART_OF = {"blob": "data", "reuse": "index"}

KIND_WORDS = {
    "data": "data files",
    "blob": "blobs",
    "deletion": "deletion files",
    "index": "index files",
    "reuse": "reuse history",
    "manifest": "manifests",
    "transaction": "transaction files",
    "ref": "tags and branches",
    "hint": "hints",
    "mem_wal": "write-ahead log",
    "computed": "signatures of computed columns",
    "other": "other files",
}
_WORDS = {
    "old": "old {}",
    "pinned": "{} of tags, branches and clones",
    "in_flight": "young {} that no version names",
    "orphan": "{} that no version names",
    "wrong_size": "{} of the wrong size",
    "unknown": "{} of unknown use",
}
_MOST_PARTS = 4
_LEAST_SHARE = 0.005


class DiskUsage(Answering):
    """How much a table takes on disk, and why.

    Made by :meth:`Table.disk_usage`, which reads the table again.

    Attributes
    ----------
    total_bytes : int
        Size of all objects below the root of the table and in its own base paths: what it reads in
        another table, as clones do, is not its own.
    live_bytes : int
        Of these, what the latest version of the branch needs.
    not_counted : list of str
        Why there may be more: places that could not be looked at, and files that may be another
        table's.
    sentence : str
        The answer in one sentence.
    answer : Answer
        It with its evidence.

    Examples
    --------
    >>> usage = table.disk_usage()
    >>> usage
    DiskUsage(people.lance: ...)
    >>> usage.summary()["size_bytes"].sum() == usage.total_bytes
    True
    """

    def __init__(self, found: Survey) -> None:
        self._found = of_kind("found", found, Survey, "what table.disk_usage() gives")
        every = owned(found)
        is_there = pl.col("size_bytes").is_not_null()
        self._objects = every.filter(is_there, "is_own")
        self._every = every

    @property
    def answer(self) -> Answer:
        """What is on disk, largest first; by version, too."""
        totals = {"total_bytes": self.total_bytes, "live_bytes": self.live_bytes}
        usage = self.summary()
        largest = usage.sort("size_bytes", descending=True)
        return Answer(
            said(self.sentence),
            (
                Section("totals", None, totals),
                Section("not_counted", None, lines(self.not_counted)),
                Section("summary", "By kind and status", usage, shown=largest, schema=USAGE),
                Section("versions", None, self.versions(), schema=USAGE_BY_VERSION),
            ),
            "table.disk_usage().summary()",
        )

    @property
    def answer_with_plans(self) -> Answer:
        """The same, with what a cleanup and a compaction would do, and their calls of pylance.

        Examples
        --------
        >>> table.disk_usage().answer_with_plans.words("plans")[0].split(":")[0]
        'A cleanup now, of what is older than 14 days'
        """
        words = [
            f"{title}: {plan.sentence} `{plan.code}`" for title, plan in plans(self._found).items()
        ]
        section = Section("plans", "What can be done", lines(words))
        return replace(self.answer, sections=(*self.answer.sections, section))

    @property
    def _subject(self) -> str:
        return self._found.view.name

    @property
    def total_bytes(self) -> int:
        """Size of all objects below the root of the table and in its own base paths."""
        return int(self._objects["size_bytes"].sum())

    @property
    def live_bytes(self) -> int:
        """Of these, what the latest version needs."""
        return int(self._objects.filter(pl.col("status") == "live")["size_bytes"].sum())

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        rest = self.summary().filter(pl.col("status") != "live").sort("size_bytes", descending=True)
        is_told = pl.col("size_bytes") >= _LEAST_SHARE * self.total_bytes
        largest = rest.filter(is_told).head(_MOST_PARTS)
        parts = [f"{byte_size(self.live_bytes)} the latest version"]
        for row in largest.iter_rows(named=True):
            words = _WORDS[row["status"]].format(KIND_WORDS[row["kind"]])
            parts.append(f"{byte_size(row['size_bytes'])} {words}")
        if len(rest) > len(largest):
            more = int(rest["size_bytes"].sum()) - int(largest["size_bytes"].sum())
            parts.append(f"{byte_size(more)} of other kinds")
        at_least = "at least " if self.not_counted else ""
        sentence = f"{at_least}{byte_size(self.total_bytes)} on disk: {', '.join(parts)}"
        return "; ".join([sentence, *self.not_counted])

    @property
    def not_counted(self) -> list[str]:
        """Why there may be more than the total."""
        every, problems = self._every, list[str]()
        for uri, why in closed_bases(self._found).items():
            named = byte_size(int(every.filter(base_uri=uri)["named_bytes"].sum()))
            problems.append(f"not listed, although manifests name {named} there: {why}")
        doubtful = every.filter(pl.col("is_own").is_null())["size_bytes"].sum()
        if doubtful:
            size = byte_size(int(doubtful))
            problems.append(f"{size} in base paths may be the table's or that of its source")
        return problems

    @documented(USAGE)
    def summary(self) -> pl.DataFrame:
        """Return how much there is of each kind and status.

        Examples
        --------
        >>> table.disk_usage().summary().filter(kind="deletion")["status"].to_list()
        ['live', 'old']
        """
        totals = self._objects.group_by("kind", "status").agg(
            num_objects=pl.len().cast(pl.Int64), size_bytes=pl.col("size_bytes").sum()
        )
        return USAGE.build(totals.sort("kind", "status").to_dict())

    @documented(USAGE_BY_VERSION)
    def versions(self) -> pl.DataFrame:
        """Return which version wrote the current bytes; one more row for the rest.

        Objects count for the version that first needed them. The last row, without a version, is
        what other branches need, and files that no version names.

        Examples
        --------
        >>> versions = table.disk_usage().versions()
        >>> versions["total_bytes"].to_list()[-1] == table.disk_usage().total_bytes
        True
        """
        view = self._found.view
        records = [record for record in view.history.records if not record.file.is_recorded]
        every = pl.DataFrame(
            {
                "version": [record.version for record in records],
                "timestamp": [record.manifest.timestamp for record in records],
                "operation": [record.operation for record in records],
            },
            schema={"version": pl.UInt64, "timestamp": TIME, "operation": pl.String},
        )
        is_own = pl.col("branch").eq_missing(pl.lit(view.branch, pl.String))
        part = pl.col("kind").cast(pl.String).replace(_PART_OF)
        part = pl.when(part.is_in([*PART_WORDS])).then(part).otherwise(pl.lit("other"))
        objects = self._objects.with_columns(
            version=pl.when(is_own).then("first_version"), part=part
        ).with_columns(
            version=pl.when(pl.col("version").is_in(every["version"].implode())).then("version")
        )
        size = pl.col("size_bytes")
        sums = objects.group_by("version").agg(
            num_objects=pl.len().cast(pl.Int64),
            size_bytes=size.sum(),
            live_bytes=size.filter(pl.col("status") == "live").sum(),
            **{f"{name}_bytes": size.filter(pl.col("part") == name).sum() for name in PART_WORDS},
        )
        rows = every.join(sums, on="version", how="full", coalesce=True, nulls_equal=True)
        rows = rows.sort("version", nulls_last=True)
        counts = [name for name in USAGE_BY_VERSION.names if name.endswith("_bytes")][:-1]
        filled = rows.with_columns(pl.col("num_objects", *counts).fill_null(0))
        totals = filled.with_columns(total_bytes=pl.col("size_bytes").cum_sum())
        return USAGE_BY_VERSION.build(totals.select(USAGE_BY_VERSION.names).to_dict())


def disk_usage(view: HistoryView, clones: Iterable[HistoryView] = ()) -> DiskUsage:
    """Return how much a table takes on disk, and why."""
    return DiskUsage(survey(view, clones))
