"""The files that manifests name: one row for each branch, file and kind of reference.

Fragments of a version name data files; for files of an index, the folder counts as one. Files that
no manifest names are not included.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.disk.roots import OWN, Roots
from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.fragments import BasePath, DeletionFile
from lance_explorer.format.indices import FRAGMENT_REUSE_INDEX, MEM_WAL_INDEX, IndexMetadata
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.refs import Tag
from lance_explorer.frames.counts import nullable
from lance_explorer.frames.derived import signature_files
from lance_explorer.history.history import History
from lance_explorer.history.intervals import Intervals, intervals_of
from lance_explorer.history.listing import FIRST_DETACHED, VersionFile
from lance_explorer.history.loading import TRANSACTIONS_FOLDER
from lance_explorer.history.view import HistoryView
from lance_explorer.storage import Storage

__all__ = ["KINDS", "NAMED", "NamedFiles", "named_by", "named_files"]

KINDS = (
    "data",
    "blob",
    "deletion",
    "index",
    "reuse",
    "manifest",
    "transaction",
    "ref",
    "hint",
    "mem_wal",
    "computed",
    "other",
)
"""The purposes of objects. ``blob`` files belong to a data file, ``reuse`` ones tell indices
where compactions moved rows, a ``hint`` tells which version is the latest, ``computed`` files from
what LanceDB computed a column."""

_FILES = {
    "owner": pl.Int64(),
    "path": pl.String(),
    "named_bytes": pl.Int64(),
    "base_id": pl.Int64(),
}

NAMED = pl.Schema(
    {
        "root": pl.Int32(),
        "path": pl.String(),
        "kind": pl.String(),
        "named_bytes": pl.Int64(),
        "branch": pl.String(),
        "first": pl.UInt64(),
        "last": pl.UInt64(),
        "is_latest": pl.Boolean(),
        "is_exact": pl.Boolean(),
        "is_detached": pl.Boolean(),
        "tags": pl.String(),
        "clone": pl.String(),
        "is_folder": pl.Boolean(),
    }
)
"""The columns of :attr:`NamedFiles.frame`."""

_SPANS = pl.Schema(
    {
        "kind": pl.String(),
        "folder": pl.String(),
        "is_folder": pl.Boolean(),
        "path": pl.String(),
        "named_bytes": pl.Int64(),
        "base_id": pl.Int64(),
        "first": pl.Int64(),
        "last": pl.Int64(),
    }
)
"""References to files, with the range of versions of each."""

_WRITES_NOTHING = {OperationName.RESTORE, OperationName.CLONE}


@dataclass
class NamedFiles:
    """The files that all readable versions name.

    Attributes
    ----------
    frame : polars.DataFrame
        ``root``, a number of ``roots``; ``path`` below it, of an index that of its folder with a
        slash; ``kind``; ``named_bytes``, null where nothing tells it; ``branch``; the ``first`` and
        the ``last`` kept version that names it; ``is_latest``, whether the latest of the branch
        does; ``is_exact``, whether ``first`` wrote it for certain; ``is_detached``; ``tags`` of
        versions that name it; the ``clone`` whose version it is, null if it is the table's own;
        ``is_folder``, whether it is a folder, whose files need not be named one by one.
    roots : Roots
        Where files may lie.
    problems : list of str
        What could not be read: a file that nobody names here may be named there.
    num_manifests : int
        How many were read.
    cloned_in : int or None
        The version that made the table, if it is a clone and that version is kept.
    """

    frame: pl.DataFrame
    roots: Roots
    problems: list[str] = field(default_factory=list)
    num_manifests: int = 0
    has_mem_wal: bool = False
    cloned_in: int | None = None


def named_by(
    branch: HistoryView, history: History, versions: Collection[int], roots: Roots
) -> pl.DataFrame:
    """Return what some versions of a branch name, as the columns of :attr:`NamedFiles.frame`."""
    named = NamedFiles(NAMED.to_frame(), roots)
    return pl.concat([named.frame, _OfBranch(branch, history, {}, named, versions).frame()])


def named_files(view: HistoryView, clones: Iterable[HistoryView] = ()) -> NamedFiles:
    """Return what the versions of all branches name, including detached ones and clones."""
    named = NamedFiles(NAMED.to_frame(), Roots.of(view.main_storage))
    frames = [*_of_table(view, named)]
    _find_own_bases(view, named)
    of_table = [OWN, *named.roots.bases]
    for clone in clones:
        for frame in _of_table(clone, named):
            of_both = frame.filter(pl.col("root").is_in(of_table))
            frames.append(of_both.with_columns(clone=pl.lit(clone.uri)))
    named.frame = pl.concat([named.frame, *frames])
    return named


def _find_own_bases(view: HistoryView, named: NamedFiles) -> None:
    """Find the places besides its root where the table's commits write."""
    used = dict[BasePath, Storage]()
    inherited: tuple[BasePath, ...] = ()
    for name in [None, *view.refs.branches]:
        try:
            branch = view.on_branch(name)
            records = branch.history.records
        except LanceExplorerError:  # which is a problem already
            continue
        for record in records:
            used.update(dict.fromkeys(record.manifest.base_paths, branch.storage))
        if name is None and records:
            inherited = records[0].manifest.base_paths
            is_clone = records[0].operation == OperationName.CLONE
            named.cloned_in = records[0].version if is_clone else None
    named.roots.find_own_bases(used.items(), inherited)


def _of_table(view: HistoryView, named: NamedFiles) -> Iterator[pl.DataFrame]:
    """Yield what each branch of a table names."""
    tags = list(view.refs.tags.values())
    branches = [None, *view.refs.branches]
    named.problems += [finding.statement for finding in view.refs.findings]
    for name in branches:
        try:
            branch = view.on_branch(name)
            history = branch.history
        except LanceExplorerError as error:
            named.problems.append(f"branch {name or 'main'}: {error}")
            continue
        tagged = _tags_by_version([tag for tag in tags if tag.branch == name])
        yield _forked_from(branch, named)
        yield _OfBranch(branch, history, tagged, named).frame()
        for version in history.unreadable:
            if not version.file.is_recorded:
                named.problems.append(str(version.error))
                yield _manifest(branch, version.file, tagged, named)
        for file in branch.listing.detached:
            if file.is_recorded:
                continue
            try:
                single = branch.version(file.version)
            except LanceExplorerError as error:
                named.problems.append(str(error))
                yield _manifest(branch, file, tagged, named)
            else:
                yield _OfBranch(branch, single, tagged, named).frame()


def _forked_from(branch: HistoryView, named: NamedFiles) -> pl.DataFrame:
    """Return the manifests of versions from which branches were created: the branches need them."""
    versions = {file.version: file for file in branch.listing.versions if not file.is_recorded}
    rows = [
        {**_manifest_row(branch, versions[child.parent_version], named), "branch": child.name}
        for child in branch.refs.branches.values()
        if child.parent_branch == branch.branch and child.parent_version in versions
    ]
    return pl.DataFrame(rows, schema=NAMED)


def _tags_by_version(tags: Sequence[Tag]) -> dict[int, str]:
    names: dict[int, list[str]] = {}
    for tag in tags:
        names.setdefault(tag.version, []).append(tag.name)
    return {version: ", ".join(some) for version, some in names.items()}


def _manifest(
    branch: HistoryView, file: VersionFile, tagged: Mapping[int, str], named: NamedFiles
) -> pl.DataFrame:
    """Return the manifest file of a version that cannot be read."""
    named.num_manifests += 1
    row = _manifest_row(branch, file, named)
    row["is_latest"] = file.version == branch.latest_version
    row["is_exact"] = True
    row["tags"] = tagged.get(file.version)
    return pl.DataFrame([row], schema=NAMED)


def _manifest_row(branch: HistoryView, file: VersionFile, named: NamedFiles) -> dict[str, object]:
    root, prefix = named.roots.locate(branch.storage)
    return {
        "root": root,
        "path": prefix + file.path,
        "kind": "manifest",
        "named_bytes": None,
        "branch": branch.branch,
        "first": file.version,
        "last": file.version,
        "is_latest": False,
        "is_exact": False,
        "is_detached": file.version >= FIRST_DETACHED,
        "tags": None,
        "clone": None,
        "is_folder": False,
    }


class _OfBranch:
    """The files that versions of a branch name, or one detached version."""

    def __init__(
        self,
        branch: HistoryView,
        history: History,
        tagged: Mapping[int, str],
        named: NamedFiles,
        versions: Collection[int] | None = None,
    ) -> None:
        self._branch, self._history, self._roots = branch, history, named.roots
        there = [
            not record.file.is_recorded and (versions is None or record.version in versions)
            for record in history.records
        ]
        self._live = np.flatnonzero(there)
        self._records = [history.records[position] for position in self._live.tolist()]
        self._versions = history.versions[self._live].astype(np.uint64)
        self._tagged = tagged
        named.num_manifests += len(self._live)
        if self._records and self._is_last_current:
            names = {segment.name for segment in self._records[-1].indices}
            named.has_mem_wal |= MEM_WAL_INDEX in names

    @property
    def _is_last_current(self) -> bool:
        """Whether the last of these versions is the latest one of the branch."""
        return bool(self._versions[-1] == self._branch.latest_version)

    def frame(self) -> pl.DataFrame:
        """Return what fragments, indices and commits name."""
        if not self._records:
            return NAMED.to_frame()
        return self._named(pl.concat([*self._parts()]))

    def _parts(self) -> Iterator[pl.DataFrame]:
        """Yield files of each kind, once for each reference, with the range of versions."""
        states = self._history.states
        intervals = self._history.intervals.only(self._live)
        files = states.files
        data = pl.DataFrame(
            {
                "owner": files.states,
                "path": files.paths,
                "named_bytes": nullable(files.size_bytes),
                "base_id": nullable(files.base_ids),
            },
            schema=_FILES,
        )
        yield _spans("data", "data/", data, intervals)
        owners = np.flatnonzero(states.deletion_types >= 0).tolist()
        deletions = [states[owner].deletion_file for owner in owners]
        paths = [
            "" if file is None else file.path(int(states.ids[owner])).removeprefix("_deletions/")
            for owner, file in zip(owners, deletions, strict=True)
        ]
        yield _spans("deletion", "_deletions/", _files(owners, paths, deletions), intervals)
        yield from self._segments()
        yield self._signatures()
        commits = Intervals(*[np.arange(len(self._live))] * 3)
        of_commits: tuple[tuple[str, str, list[str | None]], ...] = (
            ("manifest", "", [r.file.path for r in self._records]),
            (
                "transaction",
                f"{TRANSACTIONS_FOLDER}/",
                [r.manifest.transaction_file for r in self._records],
            ),
        )
        for kind, folder, of_commit in of_commits:
            owners = [place for place, path in enumerate(of_commit) if path]
            frame = _files(owners, [path for path in of_commit if path], [None] * len(owners))
            yield _spans(kind, folder, frame, commits)

    def _segments(self) -> Iterator[pl.DataFrame]:
        """Yield the folders of index segments, and the files that are listed for them."""
        segments, intervals = intervals_of([record.indices for record in self._records])
        for kind in ("index", "reuse"):
            owners = [
                owner
                for owner, segment in enumerate(segments)
                if (segment.name == FRAGMENT_REUSE_INDEX) == (kind == "reuse")
            ]
            some = [segments[owner] for owner in owners]
            folders = _files(owners, [f"{segment.uuid}/" for segment in some], some)
            yield _spans(kind, "_indices/", folders, intervals, is_folder=True)
            listed = [
                (owner, segment, file)
                for owner, segment in zip(owners, some, strict=True)
                for file in segment.files
            ]
            files = _files(
                [owner for owner, _, _ in listed],
                [f"{segment.uuid}/{file.path}" for _, segment, file in listed],
                [segment for _, segment, _ in listed],
                [file.size_bytes for _, _, file in listed],
            )
            yield _spans(kind, "_indices/", files, intervals)

    def _signatures(self) -> pl.DataFrame:
        """Return the files that record from which data columns were computed."""
        schemas, intervals = intervals_of([(record.schema,) for record in self._records])
        named = [
            (owner, f"{name}.sig")
            for owner, schema in enumerate(schemas)
            for field in schema
            for name in signature_files(field)
        ]
        owners, paths = [owner for owner, _ in named], [path for _, path in named]
        files = _files(owners, paths, [None] * len(owners))
        return _spans("computed", "_computed/", files, intervals)

    def _named(self, spans: pl.DataFrame) -> pl.DataFrame:
        """Return one row for each file, with the range of versions that name it."""
        last = len(self._live) - 1
        placed = self._placed(spans)
        each = placed.group_by("kind", "is_folder", "root", "path", maintain_order=True).agg(
            pl.col("named_bytes").max(),
            pl.col("first").min(),
            pl.col("last").max(),
            is_latest=(pl.col("last") == last).any() & self._is_last_current,
        )
        tags = self._tags(placed.join(each.filter(~pl.col("is_latest")), ["root", "path"], "semi"))
        first = each["first"].to_numpy()
        return (
            each.join(tags, on=["root", "path"], how="left", maintain_order="left")
            .with_columns(
                branch=pl.lit(self._branch.branch, pl.String),
                first=pl.Series(self._versions[first], dtype=pl.UInt64),
                last=pl.Series(self._versions[each["last"].to_numpy()], dtype=pl.UInt64),
                is_exact=pl.Series(self._writes[first], dtype=pl.Boolean),
                is_detached=pl.lit(bool(self._versions[-1] >= FIRST_DETACHED)),
                clone=pl.lit(None, pl.String),
            )
            .select(NAMED.names())
            .cast(NAMED)
        )

    @cached_property
    def _writes(self) -> NDArray[np.bool_]:
        """Whether each version wrote the files that it is the first to name."""
        wrote = [record.operation not in _WRITES_NOTHING for record in self._records]
        return np.array(wrote, dtype=np.bool_) & self._history.begins_exactly[self._live]

    def _placed(self, spans: pl.DataFrame) -> pl.DataFrame:
        """Return the files with root, and path below it."""
        storage, places = self._branch.storage, list[tuple[int, str]]()
        is_own = pl.col("base_id").is_null()
        # The same ID of a base path may mean another place in another version.
        position = pl.when(~is_own).then("first").alias("position")
        distinct = spans.select("folder", "base_id", position).unique(maintain_order=True)
        for folder, base_id, place in distinct.iter_rows():
            bases = () if base_id is None else self._records[place].manifest.base_paths
            places.append(self._roots.folder(base_id, bases, storage, folder))
        roots = distinct.with_columns(
            root=pl.Series([root for root, _ in places], dtype=pl.Int32),
            prefix=pl.Series([prefix for _, prefix in places], dtype=pl.String),
        )
        on = ["folder", "base_id", "position"]
        return (
            spans.with_columns(position)
            .join(roots, on=on, nulls_equal=True, maintain_order="left")
            .with_columns(path=pl.col("prefix") + pl.col("path"))
            .drop("position")
        )

    def _tags(self, placed: pl.DataFrame) -> pl.DataFrame:
        """Return the tags of versions that name each of some files."""
        versions = enumerate(self._versions.tolist())
        tagged = [(place, version) for place, version in versions if version in self._tagged]
        if not tagged:
            return placed.clear().select("root", "path", tags=pl.lit(None, pl.String))
        tags = pl.DataFrame(
            {
                "position": [place for place, _ in tagged],
                "tag": [self._tagged[version] for _, version in tagged],
            },
            schema={"position": pl.Int64, "tag": pl.String},
        )
        with_tags = placed.join_where(
            tags, pl.col("position") >= pl.col("first"), pl.col("position") <= pl.col("last")
        )
        return with_tags.group_by("root", "path").agg(
            tags=pl.col("tag").unique().sort().str.join(", ")
        )


def _spans(
    kind: str, folder: str, files: pl.DataFrame, intervals: Intervals, *, is_folder: bool = False
) -> pl.DataFrame:
    """Return files once for each reference, with the first and last position."""
    if files.is_empty():
        return _SPANS.to_frame()
    of_owner = pl.DataFrame(
        {"owner": intervals.keys, "first": intervals.first, "last": intervals.last},
        schema={"owner": pl.Int64, "first": pl.Int64, "last": pl.Int64},
    )
    named = files.join(of_owner, on="owner").with_columns(
        kind=pl.lit(kind), folder=pl.lit(folder), is_folder=pl.lit(is_folder)
    )
    return named.select(_SPANS.names())


def _files(
    owners: list[int],
    paths: list[str],
    based: Sequence[DeletionFile | IndexMetadata | None],
    sizes: Sequence[int | None] | None = None,
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "owner": owners,
            "path": paths,
            "named_bytes": [None] * len(owners) if sizes is None else list(sizes),
            "base_id": [None if each is None else each.base_id for each in based],
        },
        schema=_FILES,
    )
