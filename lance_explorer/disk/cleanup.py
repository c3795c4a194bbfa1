"""What ``cleanup_old_versions`` of Lance would remove, by its rules and without doing it.

The rules are those of Lance 14 (``rust/lance/src/dataset/cleanup.rs``):

* The latest version of the branch, and tagged ones, stay. The others are removed if they are old
enough, not among the last ones to be kept, and, if versions are named, among these. * A file that a
remaining version names stays. A file that only removed versions name is removed. One that
  nobody names goes if it is seven days old, or if unverified files are to be removed.
* Where no version that goes is newer than one that stays, files are looked at that are older,
  too; but of data all that are seven days old, or all if unverified files are to be removed, and of
  indices all.
* A detached version keeps its manifest, and nothing else.
* Nothing goes that lies in a base path, whoever wrote it.
* Where versions would go that other branches were created from, what these branches read stays, and
  so does the manifest of that version; not its transaction. A branch counts as a reader of files
  only if its manifests name this root with the same text with which it was opened.
"""

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import polars as pl

from lance_explorer.disk.named_files import NAMED, named_by
from lance_explorer.disk.owners import DAYS_IN_FLIGHT
from lance_explorer.disk.roots import OWN, Roots
from lance_explorer.disk.survey import Survey
from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.indices import FRAGMENT_REUSE_INDEX
from lance_explorer.format.refs import Branch
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.view import HistoryView
from lance_explorer.storage import place_of

__all__ = [
    "DEFAULT_AGE",
    "Cleanup",
    "CleanupRules",
    "cleanup",
    "roots_named_otherwise",
    "tags_before",
]

DEFAULT_AGE = timedelta(days=14)
"""The default age of versions to remove."""

_KIND_OF = {
    "temporary_manifest": r"^_versions/\.tmp",
    "index": r"^_indices/[^/]+",
    "data": r"^data/.*\.lance$",
    "blob": r"^data/[^/]+/[^/]+\.blob$",
    "deletion": r"^_deletions/.*\.(arrow|bin)$",
    "transaction": r"^_transactions/.*\.txn$",
    "temporary_data": r"^data/(?:.*/)?\.tmp[^/]*$",
    "reuse": r"^_fri/[^/]+",
}
"""Which files are considered, by their paths below the root of the branch; the last match."""

_TEMPORARY = ["temporary_manifest", "temporary_data"]


@dataclass(frozen=True)
class CleanupRules:
    """What to remove: the arguments of ``cleanup_old_versions``."""

    older_than: timedelta | None = None
    retain_versions: int | None = None
    delete_unverified: bool = False
    versions: tuple[int, ...] | None = None
    """The only versions that may be removed; None: all."""
    tagged_before: tuple[int, ...] = ()
    """Versions that are tagged first, since others need their files."""

    @property
    def age(self) -> timedelta | None:
        """The least age of versions; None: any age."""
        if self.older_than is None and self.retain_versions is None and self.versions is None:
            return DEFAULT_AGE
        return self.older_than


@dataclass(frozen=True)
class Cleanup:
    """What a cleanup would do.

    Attributes
    ----------
    survey : Survey
        The table as it was looked at.
    rules : CleanupRules
        What was to be removed.
    reasons : dict of int to str
        Why each version stays that does; of the branch that was opened.
    removed_versions : set of int
        The versions that would go.
    tagged_versions : set of int
        The versions that stay for a tag alone: Lance refuses to work unless it may ignore them.
    files : polars.DataFrame
        The files that would go: ``path`` below the root of the table, ``kind``, ``size_bytes``,
        ``is_unverified``.
    needed : polars.DataFrame
        What versions name that stay, if the table has base paths: ``root`` and ``path``.
    problem : str or None
        Why Lance would refuse.
    """

    survey: Survey
    rules: CleanupRules
    reasons: dict[int, str]
    removed_versions: set[int]
    tagged_versions: set[int]
    files: pl.DataFrame
    needed: pl.DataFrame
    problem: str | None

    @property
    def manifests_read(self) -> pl.DataFrame:
        """The manifests that it would read, all of the branch: their paths and sizes."""
        _, prefix = self.survey.named.roots.locate(self.survey.view.storage)
        is_manifest = pl.col("path").str.contains(
            rf"^{re.escape(prefix)}_versions/[^/]+\.manifest$"
        )
        return self.survey.objects.filter((pl.col("root") == OWN) & is_manifest)


FILES = pl.Schema(
    {
        "path": pl.String(),
        "kind": pl.String(),
        "size_bytes": pl.Int64(),
        "is_unverified": pl.Boolean(),
    }
)


def cleanup(surveyed: Survey, rules: CleanupRules) -> Cleanup:
    """Return what a cleanup of the branch would do now."""
    view, history = surveyed.view, surveyed.view.history
    now = datetime.fromtimestamp(surveyed.listed_ns / 1e9, UTC)
    records = [record for record in history.records if not record.file.is_recorded]
    tags = tags_before(view, rules)
    tags |= {tag.version: tag.name for tag in view.refs.tags.values() if tag.branch == view.branch}
    is_old = _ages(records, rules, now)
    reasons = dict[int, str]()
    tagged = set[int]()
    for record in records:
        version = record.version
        if version == view.latest_version:
            reasons[version] = "it is the latest version"
        elif not is_old[version]:
            reasons[version] = _why_young(rules, version)
        elif version in tags:
            reasons[version] = f"tag {tags[version]}"
            tagged.add(version)
    removed = {record.version for record in records} - reasons.keys()
    problem = _problem(history)
    if problem is not None:
        every = surveyed.named.frame
        return Cleanup(surveyed, rules, reasons, set(), tagged, FILES.to_frame(), every, problem)
    roots = surveyed.named.roots
    stays = _Stays(named_by(view, history, reasons.keys(), roots))
    goes = named_by(view, history, removed, roots)
    cutoff = _cutoff(records, removed)
    forks = _forks(view, is_old)
    for branch, version in forks.items():
        needed = _read_by_branch(view, branch, roots)
        stays.add(needed)
        if len(needed) and version in removed:
            removed.discard(version)
            reasons[version] = f"branch {branch} was created from it"
    _, prefix = roots.locate(view.storage)
    files = _removable(surveyed, stays, goes, prefix, cutoff, rules)
    manifests = _manifests(surveyed, records, removed, prefix)
    every = pl.concat([files, manifests]).sort("path")
    needed = named_by(view, history, reasons.keys(), roots) if roots.bases else NAMED.to_frame()
    return Cleanup(surveyed, rules, reasons, removed, tagged, every, needed, None)


def tags_before(view: HistoryView, rules: CleanupRules) -> dict[int, str]:
    """Return the names of the tags that are created first, by version."""
    taken, names = set(view.refs.tags), dict[int, str]()
    for version in rules.tagged_before:
        wanted = f"keep-{view.branch or 'main'}-{version}".replace("/", "-")
        free = (f"{wanted}{end}" for end in ("", *[f"-{n}" for n in range(2, len(taken) + 3)]))
        names[version] = next(name for name in free if name not in taken)
        taken.add(names[version])
    return names


def _ages(records: list[VersionRecord], rules: CleanupRules, now: datetime) -> dict[int, bool]:
    """Return for each version whether it is old enough to be removed."""
    before_version = None
    if rules.retain_versions is not None and records:
        versions = [record.version for record in records]
        before_version = versions[max(len(versions) - rules.retain_versions, 0)]
    age = rules.age
    ages = {}
    for record in records:
        time = record.manifest.timestamp or datetime.fromtimestamp(0, UTC)
        is_old = age is None or time < now - age
        ages[record.version] = (
            is_old
            and (before_version is None or record.version < before_version)
            and (rules.versions is None or record.version in rules.versions)
        )
    return ages


def _cutoff(records: list[VersionRecord], removed: Collection[int]) -> datetime | None:
    """Return the time before which considered files must have been written; None: no limit."""
    times = {r.version: r.manifest.timestamp or datetime.fromtimestamp(0, UTC) for r in records}
    stay = min([time for version, time in times.items() if version not in removed])
    go = max([time for version, time in times.items() if version in removed], default=None)
    return stay if go is None or go <= stay else None


def _why_young(rules: CleanupRules, version: int) -> str:
    if rules.versions is not None and version not in rules.versions:
        return "it is not among the versions to remove"
    if rules.retain_versions is not None and rules.age is None:
        return f"it is one of the last {rules.retain_versions:,}"
    if rules.retain_versions is None:
        return "it is not old enough"
    return f"it is not old enough, or one of the last {rules.retain_versions:,}"


def _problem(history: History) -> str | None:
    """Return why Lance would refuse: it wants to read every manifest."""
    if history.unreadable:
        return f"a manifest cannot be read: {history.unreadable[0].error}"
    return None


class _Stays:
    """What remaining versions name: paths of files, and folders of indices."""

    def __init__(self, named: pl.DataFrame) -> None:
        self.paths = pl.Series("path", [], pl.String)
        self.add(named)

    def add(self, named: pl.DataFrame) -> None:
        """Add further named files that are below the root of the table."""
        own = named.filter(root=OWN)["path"]
        self.paths = pl.concat([self.paths, own]).unique()


def _forks(view: HistoryView, is_old: dict[int, bool]) -> dict[str, int]:
    """Return branches whose parent versions are old enough to be removed, and these versions.

    For a branch of a branch, the version counts from which the first of them was created.
    """
    branches = view.refs.branches
    return {
        name: version
        for name in branches
        if (version := _left_at(branches[name], view.branch, branches)) is not None
        and is_old.get(version, True)
    }


def _left_at(branch: Branch, ancestor: str | None, branches: Mapping[str, Branch]) -> int | None:
    """Return the version at which a branch, or the first of its parents, left another one."""
    if branch.identifier:
        line = () if ancestor is None else branches[ancestor].identifier
        if branch.identifier[: len(line)] == line and len(branch.identifier) > len(line):
            return branch.identifier[len(line)][0] or None
        return None
    seen = set[str]()  # of old writers, which named a branch differently
    while branch.name not in seen:
        seen.add(branch.name)
        if branch.parent_branch == ancestor:
            return branch.parent_version
        if branch.parent_branch not in branches:
            return None
        branch = branches[branch.parent_branch or ""]
    return None


def roots_named_otherwise(view: HistoryView) -> dict[str, str]:
    """Return the branches that spell the root of their table differently, and how.

    Lance compares the names as text: a trailing slash, ``file://`` or a link makes them different.
    """
    roots, options = dict[str, str](), view.main_storage.options
    for name in view.refs.branches:
        with suppress(LanceExplorerError):
            own = place_of(view.uri, options)
            bases = [b for r in view.on_branch(name).history.records for b in r.manifest.base_paths]
            for path in dict.fromkeys(base.path for base in bases):
                if path != view.uri and place_of(path, options) == own is not None:
                    roots[name] = path
    return roots


def _read_by_branch(view: HistoryView, name: str, roots: Roots) -> pl.DataFrame:
    """Return the files below the root of this branch that versions of another one read."""
    branch = view.on_branch(name)
    own_root = view.storage.uri
    _, prefix = roots.locate(view.storage)
    history = branch.history
    bases = [base for record in history.records for base in record.manifest.base_paths]
    if not any(base.path == own_root for base in bases):
        return NAMED.to_frame()
    named = named_by(branch, history, [record.version for record in history.records], roots)
    folders = "data|_deletions|_indices"
    return named.filter(
        pl.col("root") == OWN, pl.col("path").str.contains(f"^{re.escape(prefix)}(?:{folders})/")
    )


def _removable(
    surveyed: Survey,
    stays: _Stays,
    goes: pl.DataFrame,
    prefix: str,
    cutoff: datetime | None,
    rules: CleanupRules,
) -> pl.DataFrame:
    """Return the files that are removed, except manifests."""
    own = surveyed.objects.filter(
        pl.col("root") == OWN, pl.col("path").str.starts_with(prefix)
    ).with_columns(inner=pl.col("path").str.slice(len(prefix)))
    kind = pl.lit(None, pl.String)
    for name, pattern in _KIND_OF.items():
        kind = pl.when(pl.col("inner").str.contains(pattern)).then(pl.lit(name)).otherwise(kind)
    folder = pl.col("inner").str.extract(r"^((?:_indices|_fri)/[^/]+)/")
    data_file = pl.col("inner").str.replace(r"^data/([^/]+)/[^/]+\.blob$", "data/${1}.lance")
    files = (
        own.with_columns(kind=kind)
        .drop_nulls("kind")
        .with_columns(
            owner=prefix
            + pl.when(pl.col("kind").is_in(["index", "reuse"]))
            .then(folder.fill_null(pl.col("inner")) + "/")
            .when(pl.col("kind") == "blob")
            .then(data_file)
            .otherwise("inner")
        )
    )
    week_ns = DAYS_IN_FLIGHT * 24 * 3600 * 10**9
    may_be_written = pl.lit(not rules.delete_unverified) & (
        pl.col("modified_ns") >= surveyed.listed_ns - week_ns
    )
    cutoff_ns = 2**63 - 1 if cutoff is None else _nanoseconds(cutoff)
    data_cutoff_ns = 2**63 - 1
    if not rules.delete_unverified:
        data_cutoff_ns = max(cutoff_ns, surveyed.listed_ns - week_ns)
    is_looked_at = (
        pl.when(pl.col("kind").is_in(["index", "reuse"]))
        .then(pl.lit(True))
        .when(pl.col("kind").is_in(["data", "blob", "temporary_data"]))
        .then(pl.col("modified_ns") < data_cutoff_ns)
        .otherwise(pl.col("modified_ns") < cutoff_ns)
    )
    gone = goes.filter(root=OWN)["path"]
    is_named = pl.col("owner").is_in(gone.implode())
    is_unverified = (
        pl.when(pl.col("kind") == "transaction").then(~is_named).otherwise(~may_be_written)
    )
    removable = files.filter(
        is_looked_at,
        (pl.col("kind") != "reuse") | pl.lit(not _has_row_maps(surveyed.view.history)),
        ~pl.col("owner").is_in(stays.paths.implode()),
        ~may_be_written | (is_named & ~pl.col("kind").is_in(_TEMPORARY)),
    )
    return removable.select("path", "kind", "size_bytes", is_unverified=is_unverified).cast(FILES)


def _has_row_maps(history: History) -> bool:
    """Return whether a reuse history may name row maps, which are not decoded here."""
    return any(
        segment.name == FRAGMENT_REUSE_INDEX and (segment.index_version or 0) != 0
        for record in history.records
        for segment in record.indices
    )


def _manifests(
    surveyed: Survey, records: list[VersionRecord], removed: Collection[int], prefix: str
) -> pl.DataFrame:
    """Return the manifests that go."""
    paths = [prefix + record.file.path for record in records if record.version in removed]
    sizes = surveyed.objects.filter(root=OWN)
    named = pl.DataFrame({"path": paths}, schema={"path": pl.String})
    return (
        named.join(sizes, on="path")
        .with_columns(kind=pl.lit("manifest"), is_unverified=pl.lit(False))
        .select(FILES.names())
        .cast(FILES)
    )


def _nanoseconds(time: datetime) -> int:
    return (time - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1) * 1000
