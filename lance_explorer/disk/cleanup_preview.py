"""What a cleanup would remove, what that frees and costs, and what keeps the rest."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from json import dumps

import polars as pl
from propcache.api import cached_property

from lance_explorer.answers import Answer, Answering, Section, lines, said
from lance_explorer.arguments import flag, of_kind, whole_number
from lance_explorer.disk.cleanup import Cleanup, CleanupRules, cleanup, tags_before
from lance_explorer.disk.cleanup_losses import LOSSES, losses, without_damage
from lance_explorer.disk.owners import owned
from lance_explorer.disk.roots import OWN
from lance_explorer.disk.survey import survey
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.frames.columns import BYTES, COUNT, TEXT, TIME, VERSION, Column, FrameSchema
from lance_explorer.frames.documented import documented
from lance_explorer.frames.sizes import byte_size, counted
from lance_explorer.history.version_refs import VersionRef, kept_versions
from lance_explorer.history.view import HistoryView

__all__ = ["CleanupPreview", "cleanup_preview"]

_KIND = pl.Enum(
    ["data", "blob", "deletion", "index", "reuse", "transaction", "manifest", "temporary"]
)


_BASES = "base paths, where a cleanup does not look: no version needs them then"

_PATH = Column("path", TEXT, "path below the root of the table")
_SIZE = Column("size_bytes", BYTES, "size on disk", unit="bytes")

FILES = FrameSchema(
    "cleanup_files",
    (
        _PATH,
        Column("kind", _KIND, "its purpose; `temporary`: of a write that ended early"),
        _SIZE,
        Column(
            "is_unverified",
            pl.Boolean(),
            "whether Lance counts it as unverified: removed for its age or because that was asked "
            "for, and not because it is known that only removed versions name it",
        ),
    ),
)

VERSIONS = FrameSchema(
    "cleanup_versions",
    (
        VERSION,
        Column("timestamp", TIME, "time of the commit", nullable=True),
        Column("operation", TEXT, "operation as Lance names it", nullable=True),
        Column("is_removed", pl.Boolean(), "whether it would go"),
        Column("reason", TEXT, "why it stays; null: it goes", nullable=True),
    ),
)

SUMMARY = FrameSchema(
    "cleanup_summary",
    (
        Column("kind", _KIND, "the purpose of the files"),
        Column("num_files", COUNT, "how many would go"),
        _SIZE,
        Column("unverified_bytes", BYTES, "of these, what no known version named", unit="bytes"),
    ),
)

HELD = FrameSchema(
    "cleanup_held",
    (
        Column("holder", TEXT, "what holds the files back; the latest version does not need them"),
        Column("num_files", COUNT, "how many it holds"),
        _SIZE,
    ),
)


class CleanupPreview(Answering):
    """What ``cleanup_old_versions`` would do to a branch now; nothing is removed.

    Made by :meth:`Table.cleanup_preview`. It describes the table at the time of the call; a cleanup
    looks again.

    Attributes
    ----------
    freed_bytes : int
        Size of all files that would go.
    num_files : int
        How many files would go.
    num_versions : int
        How many versions would go.
    read_bytes : int
        Size of the manifests that it would read: all of the branch, however few go.
    problem : str or None
        Why Lance would refuse to work; then no file would go.
    breaks : list of str
        What others need and could no longer read, in sentences: branches, clones, commits under
        way.
    instead : CleanupPreview or None
        If something breaks: the same cleanup after tags that keep what others need, and without
        unnamed files. None if even that would break something.
    answer : Answer
        All of that, with what it rests on.
    code : str
        The call that does it; where something breaks, the calls of ``instead``, or nothing.

    Examples
    --------
    >>> preview = table.cleanup_preview(retain_versions=2)
    >>> preview
    CleanupPreview(people.lance: frees ...)
    >>> preview.versions().filter("is_removed")["version"].to_list()
    [1, 3, 5]
    """

    def __init__(self, found: Cleanup) -> None:
        self._found = of_kind("found", found, Cleanup, "what table.cleanup_preview() gives")

    @property
    def answer(self) -> Answer:
        """What would be removed, lost and kept, and why, with the calls that break nothing."""
        return self._answer(None)

    @property
    def answer_with_files(self) -> Answer:
        """The same, with each file that would be removed.

        Examples
        --------
        >>> "Files:" in table.cleanup_preview(retain_versions=2).answer_with_files.text()
        True
        """
        return self._answer("Files")

    def _answer(self, title_of_files: str | None) -> Answer:
        totals = {
            "freed_bytes": self.freed_bytes,
            "num_versions": self.num_versions,
            "problem": self.problem,
        }
        versions = self.versions()
        stay = versions.filter(~pl.col("is_removed")).drop("is_removed")
        return Answer(
            said(self.sentence),
            (
                Section("totals", None, totals),
                *self._warnings,
                Section("lost", "What is lost", lines(self._lost)),
                Section("summary", "Would go", self.summary(), schema=SUMMARY),
                Section("versions", "Versions that stay", versions, shown=stay, schema=VERSIONS),
                Section("cost", "What the cleanup itself does", self._cost),
                Section("held", "What holds other files back", self.held(), schema=HELD),
                Section("losses", None, self.losses(), schema=LOSSES),
                Section("files", title_of_files, self.files(), schema=FILES),
            ),
            self.code,
            is_call=True,
        )

    def in_words(self) -> Answer:
        """Return the answer without its frames.

        Examples
        --------
        >>> table.cleanup_preview(retain_versions=2).in_words().words("breaks")
        []
        """
        lost = Section("lost", "What is lost", lines(self._lost))
        return Answer(said(self.sentence), (*self._warnings, lost), self.code, is_call=True)

    @property
    def _warnings(self) -> tuple[Section, ...]:
        """What would break, and what to do instead."""
        if not self.breaks:
            return ()
        instead = "Nothing that Lance offers keeps what others need and frees this."
        if self.instead is not None:
            instead = f"Instead, without breaking anything: {self.instead.sentence}."
        title = "This would break what others need"
        return (
            Section("breaks", title, lines(self.breaks), is_warning=True),
            Section("instead", "", instead),
        )

    @property
    def _lost(self) -> list[str]:
        """What :attr:`code` removes for good, as intended."""
        done = self if self.instead is None else self.instead
        is_meant = pl.col("what") != "damage"
        return done.losses().filter(is_meant)["message"].to_list() if self.code else []

    @property
    def _subject(self) -> str:
        return self._found.survey.view.name

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        if self.problem is not None:
            return f"Lance refuses, {self.problem}"
        if not len(self._found.files):
            return "frees nothing"
        files, versions = len(self._found.files), self.num_versions
        left = self._left_in_bases
        stays = (
            f"; {byte_size(int(left['size_bytes'].sum()))} in base paths stay, though no version "
            "needs them then"
        )
        tags = self._found.rules.tagged_before
        before = f"with {counted(len(tags), 'tag')} first, " if tags else ""
        harm = "; others could no longer read what they need" if self.breaks else ""
        return (
            f"{before}frees {byte_size(self.freed_bytes)} in {counted(files, 'file')}, and "
            f"{counted(versions, 'version')} can no longer be opened{harm}"
            + stays
            * (len(left) > 0)
        )

    @property
    def freed_bytes(self) -> int:
        """Size of all files that would go."""
        return int(self._found.files["size_bytes"].sum())

    @property
    def num_files(self) -> int:
        """How many files would go."""
        return len(self._found.files)

    @property
    def read_bytes(self) -> int:
        """Size of the manifests that it would read."""
        return int(self._found.manifests_read["size_bytes"].sum())

    @property
    def _cost(self) -> dict[str, int]:
        """What the cleanup costs: Lance reads each manifest, lists the branch, deletes files."""
        return {
            "manifests_read": len(self._found.manifests_read),
            "read_bytes": self.read_bytes,
            "objects_listed": len(self._found.survey.objects.filter(root=OWN)),
            "files_removed": self.num_files,
        }

    @property
    def num_versions(self) -> int:
        """How many versions would go."""
        return len(self._found.removed_versions)

    @property
    def problem(self) -> str | None:
        """Why Lance would refuse to work."""
        return self._found.problem

    @cached_property
    def breaks(self) -> list[str]:
        """What others need and could no longer read, in sentences."""
        messages = self.losses().filter(pl.col("what") == "damage")["message"]
        return [f"{message[:1].upper()}{message[1:]}." for message in messages]

    @cached_property
    def instead(self) -> "CleanupPreview | None":
        """The same cleanup made safe, if this one breaks something and that is possible."""
        safe = without_damage(self._found, self._owned) if self.breaks else None
        return None if safe is None else CleanupPreview(safe)

    @property
    def code(self) -> str:
        """The call that does it; if something breaks, the calls of :attr:`instead`."""
        if self.breaks:
            return "" if self.instead is None else self.instead.code
        return "\n".join([*self._tagging, self._call])

    @property
    def _tagging(self) -> list[str]:
        """The calls that create the tags first."""
        view = self._found.survey.view
        return [
            f"dataset.tags.create({dumps(name)}, "
            + (f"({dumps(view.branch)}, {version}))" if view.branch else f"{version})")
            for version, name in tags_before(view, self._found.rules).items()
        ]

    @property
    def _call(self) -> str:
        rules, branch = self._found.rules, self._found.survey.view.branch
        given = list[str]()
        if rules.age is not None:
            seconds = rules.age.total_seconds()
            whole = f"days={seconds / 86400:g}" if seconds % 3600 == 0 else f"seconds={seconds:g}"
            given.append(f"older_than=timedelta({whole})")
        if rules.retain_versions is not None:
            given.append(f"retain_versions={rules.retain_versions}")
        if rules.versions is not None:
            given.append(f"versions={[*rules.versions]}")
        if rules.delete_unverified:
            given.append("delete_unverified=True")
        if self._found.tagged_versions:
            given.append("error_if_tagged_old_versions=False")
        at = f".checkout_version(({dumps(branch)}, None))" if branch else ""
        return f"dataset{at}.cleanup_old_versions({', '.join(given)})"

    @documented(FILES)
    def files(self) -> pl.DataFrame:
        """Return the files that would be removed, one row each.

        Examples
        --------
        >>> files = table.cleanup_preview(retain_versions=2).files()
        >>> files["size_bytes"].sum() == table.cleanup_preview(retain_versions=2).freed_bytes
        True
        """
        kind = pl.when(pl.col("kind").str.starts_with("temporary")).then(pl.lit("temporary"))
        files = self._found.files.with_columns(kind.otherwise("kind").alias("kind").cast(_KIND))
        return FILES.build(files.select(FILES.names).to_dict())

    @documented(VERSIONS)
    def versions(self) -> pl.DataFrame:
        """Return all kept versions of the branch: which would be removed, and why the others stay.

        Examples
        --------
        >>> table.cleanup_preview(retain_versions=2).versions()["reason"].to_list()[1]
        'branch dev was created from it'
        """
        records = [r for r in self._found.survey.view.history.records if not r.file.is_recorded]
        removed, reasons = self._found.removed_versions, self._found.reasons
        return VERSIONS.build(
            {
                "version": [record.version for record in records],
                "timestamp": [record.manifest.timestamp for record in records],
                "operation": [record.operation for record in records],
                "is_removed": [record.version in removed for record in records],
                "reason": [reasons.get(record.version) for record in records],
            }
        )

    @documented(SUMMARY)
    def summary(self) -> pl.DataFrame:
        """Return how much would be removed, one row for each kind of file.

        Examples
        --------
        >>> table.cleanup_preview(retain_versions=2).summary()["kind"].to_list()
        ['deletion', 'transaction', 'manifest']
        """
        unverified = pl.col("size_bytes").filter("is_unverified").sum()
        totals = (
            self.files()
            .group_by("kind")
            .agg(
                num_files=pl.len().cast(pl.Int64),
                size_bytes=pl.col("size_bytes").sum(),
                unverified_bytes=unverified,
            )
        )
        return SUMMARY.build(totals.sort("kind").to_dict())

    @documented(HELD)
    def held(self) -> pl.DataFrame:
        """Return what keeps files that the latest version does not need, largest first.

        Examples
        --------
        >>> held = table.cleanup_preview(retain_versions=2).held()
        >>> held.filter(pl.col("holder").str.contains("tag"))["holder"].to_list()
        ['tag clean']
        """
        status = pl.col("status").cast(pl.String)
        root = self._found.survey.named.roots.uris[OWN]
        going = self._found.files.with_columns(base_uri=pl.lit(root))
        kept = self._owned.join(going, on=["base_uri", "path"], how="anti").filter(
            ~status.is_in(["live", "missing"])
        )
        is_left = pl.struct("base_uri", "path").is_in(
            self._left_in_bases.select(pl.struct("base_uri", "path")).to_series().implode()
        )
        holder = (
            pl.when(status == "pinned")
            .then(pl.col("reason").str.strip_prefix("kept by "))
            .when(is_left)
            .then(pl.lit(_BASES))
            .when(status == "old")
            .then(pl.lit("versions that stay by the rules"))
            .otherwise(pl.col("reason"))
        )
        totals = kept.group_by(holder=holder).agg(
            num_files=pl.len().cast(pl.Int64), size_bytes=pl.col("size_bytes").sum()
        )
        return HELD.build(totals.sort("size_bytes", "holder", descending=[True, False]).to_dict())

    @documented(LOSSES)
    def losses(self) -> pl.DataFrame:
        """Return what is lost with the files, the worst first.

        Examples
        --------
        >>> table.cleanup_preview(retain_versions=2).losses()["what"].to_list()
        ['time_travel', 'row_history']
        """
        return losses(self._found, self._owned, self._left_in_bases)

    @cached_property
    def _owned(self) -> pl.DataFrame:
        return owned(self._found.survey).filter("is_own")

    @cached_property
    def _left_in_bases(self) -> pl.DataFrame:
        """The files in base paths that no version needs after the cleanup."""
        roots = self._found.survey.named.roots
        bases = pl.DataFrame(
            {"root": [*roots.bases], "base_uri": [roots.uris[root] for root in roots.bases]},
            schema={"root": pl.Int32, "base_uri": pl.String},
        )
        old = self._owned.filter(pl.col("status").cast(pl.String) == "old")
        needed = self._found.needed.select("root", key="path")
        return (
            old.join(bases, on="base_uri")
            .with_columns(key=pl.col("path").str.replace(r"/[^/]+\.blob$", ".lance"))
            .join(needed, on=["root", "key"], how="anti")
        )


def cleanup_preview(
    view: HistoryView,
    older_than: timedelta | None,
    retain_versions: int | None,
    delete_unverified: bool,
    clones: Iterable[HistoryView],
    versions: Sequence[VersionRef] | None = None,
) -> CleanupPreview:
    """Return what a cleanup would do.

    Raises
    ------
    InvalidArgumentError
        If ``older_than`` is negative.
    """
    if older_than is not None:
        of_kind("older_than", older_than, timedelta, "a timedelta")
        if older_than < timedelta(0):
            raise InvalidArgumentError(f"older_than is a timedelta from 0 on, not {older_than!r}")
    if retain_versions is not None:
        retain_versions = whole_number("retain_versions", retain_versions, 1)
    only = None
    if versions is not None:
        only = tuple(kept_versions(view, "versions", versions))
    is_unverified = flag("delete_unverified", delete_unverified)
    rules = CleanupRules(older_than, retain_versions, is_unverified, only)
    return CleanupPreview(cleanup(survey(view, clones), rules))
