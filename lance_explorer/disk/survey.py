"""A survey of what exists and what is named, which a writer or a cleanup cannot disturb.

Manifests are listed, then objects, then manifests again: files that a commit wrote in between are
named by then. If versions vanish in between, it starts again, and files that seem to be missing are
looked up a second time.
"""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from lance_explorer.disk.named_files import NamedFiles, named_files
from lance_explorer.disk.roots import OWN
from lance_explorer.errors import LanceExplorerError, StorageError, UnreachableError
from lance_explorer.history.listing import VersionFile
from lance_explorer.history.progress import with_count
from lance_explorer.history.view import HistoryView
from lance_explorer.storage import FileInfo, Storage

__all__ = ["Survey", "closed_bases", "survey"]

_TRIES = 4
_FEW = 100

OBJECTS = pl.Schema(
    {
        "root": pl.Int32(),
        "path": pl.String(),
        "size_bytes": pl.Int64(),
        "modified_ns": pl.Int64(),
    }
)


@dataclass
class Survey:
    """A table as it is on disk.

    Attributes
    ----------
    view : HistoryView
        The branch, as it was when its files were listed.
    named : NamedFiles
        What manifests name.
    objects : polars.DataFrame
        What is there: ``root``, ``path`` below it, ``size_bytes`` and ``modified_ns``. Of the
        table's own root all files, of its base paths all data files, of other places those that
        are named.
    listed_ns : int
        When it was listed, in nanoseconds since 1970.
    owned : polars.DataFrame or None
        Whose each object is, once that was asked (``owners.py``).
    """

    view: HistoryView
    named: NamedFiles
    objects: pl.DataFrame
    listed_ns: int
    owned: pl.DataFrame | None = None

    @property
    def problems(self) -> list[str]:
        """Why a file that seems unnamed may be named."""
        return self.named.problems


def survey(view: HistoryView, clones: Iterable[HistoryView] = ()) -> Survey:
    """Survey the current state of a table and of its folder."""
    clones = list(clones)
    for _ in range(_TRIES):
        before = view.refreshed()
        kept = _versions(before)
        listed_ns = time.time_ns()
        objects = _objects(
            OWN, with_count(before.main_storage.live.list_all(), "Listing", "objects")
        )
        view = before.refreshed()
        named = named_files(view, [clone.refreshed() for clone in clones])
        every = pl.concat([objects, *_elsewhere(named), *_looked_for_again(named, objects)])
        gone = kept - _versions(view.refreshed())
        result = Survey(view, named, every, listed_ns)
        if not gone:
            return result
    named.problems.append("versions were removed all the time while the table was listed")
    return result


def closed_bases(surveyed: Survey) -> dict[str, str]:
    """Return the table's own base paths that could not be listed, and why."""
    roots = surveyed.named.roots
    return {
        roots.uris[root]: problem
        for root in roots.bases
        if (problem := roots.problems[root]) is not None
    }


def _versions(view: HistoryView) -> set[tuple[str | None, VersionFile]]:
    """Return the versions that are kept now, on all branches."""
    versions = set[tuple[str | None, VersionFile]]()
    for name in [None, *view.refs.branches]:
        try:
            listing = view.on_branch(name).listing
        except LanceExplorerError:
            continue
        files = [file for file in (*listing.versions, *listing.detached) if not file.is_recorded]
        versions.update([(name, file) for file in files])
    return versions


def _objects(root: int, files: Iterable[FileInfo]) -> pl.DataFrame:
    paths, sizes, times = list[str](), list[int](), list[int]()
    for file in files:
        paths.append(file.name)
        sizes.append(file.size_bytes)
        times.append(file.modified_ns)
    roots = pl.Series("root", [root], OBJECTS["root"]).new_from_index(0, len(paths))
    return pl.DataFrame(
        {"root": roots, "path": paths, "size_bytes": sizes, "modified_ns": times}, schema=OBJECTS
    )


def _elsewhere(named: NamedFiles) -> Iterator[pl.DataFrame]:
    """Yield the files in other places that are named and exist.

    In base paths that only this table writes to, it also yields unnamed data files.
    """
    roots = named.roots
    for root, storage in enumerate(roots.storages):
        if root == OWN or storage is None:
            continue
        of_root = named.frame.filter(root=root)
        own = roots.bases[root] if root in roots.bases and root not in roots.shared else None
        paths = of_root["path"]
        try:
            if own is not None:
                paths = paths.append(pl.Series([own]))
            files = _objects(root, _in_folders(storage, paths))
            if root in roots.bases:
                blobs = _objects(root, _in_folders(storage, _folders_of_blobs(storage, files)))
                files = pl.concat([files, blobs]).unique("path")
        except LanceExplorerError as error:
            roots.problems[root] = str(error)
            continue
        folders = of_root.filter("is_folder")["path"].to_list()
        data_file = pl.col("path").str.replace(r"/[^/]+\.blob$", ".lance")
        is_named = data_file.is_in(of_root["path"].implode())
        is_left = pl.lit(False)
        if own is not None:
            is_left = data_file.str.contains(f"^{re.escape(own)}[^/]+\\.lance$")
        yield files.filter(is_named | is_left | pl.any_horizontal(False, *map(_is_below, folders)))


def _is_below(folder: str) -> pl.Expr:
    return pl.col("path").str.starts_with(folder)


def _folders_of_blobs(storage: Storage, files: pl.DataFrame) -> pl.Series:
    """Return the folders that are named for some data files, where their blobs are."""
    stems = files.filter(pl.col("path").str.ends_with(".lance"))["path"].str.strip_suffix(".lance")
    folders = set[str]()
    for folder in stems.str.replace(r"[^/]*$", "").unique().to_list():
        folders.update([f"{folder}{name}" for name in storage.list_folders(folder.rstrip("/"))])
    return stems.filter(stems.is_in(folders)) + "/"


def _in_folders(storage: Storage, paths: pl.Series) -> Iterator[FileInfo]:
    """Yield what lies in the folders that some files are in."""
    folders = paths.str.replace(r"[^/]*$", "").unique().to_list()
    for folder in folders:
        for info in storage.list_files(folder.rstrip("/")):
            yield info._replace(name=f"{folder}{info.name}")


def _looked_for_again(named: NamedFiles, objects: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield files that are named and were not listed, but exist after all."""
    own = named.frame.filter(root=OWN, is_folder=False).select("path").unique()
    paths = own.join(objects, on="path", how="anti")["path"]
    storage = named.roots.storages[OWN]
    if storage is None or paths.is_empty():
        return
    files = _in_folders(storage, paths) if len(paths) > _FEW else _one_by_one(storage, paths)
    yield _objects(OWN, files).filter(pl.col("path").is_in(paths.implode()))


def _one_by_one(storage: Storage, paths: Sequence[str] | pl.Series) -> Iterator[FileInfo]:
    for path in paths:
        try:
            info = storage.find(path)
        except UnreachableError:
            raise
        except StorageError:
            continue
        if info is not None:
            yield info._replace(name=path)
