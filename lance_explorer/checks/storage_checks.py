"""Problems with the files of a table: missing, cut off, left over, or of unknown use."""

from collections.abc import Iterator

import polars as pl

from lance_explorer.checks.damage import damage_of
from lance_explorer.disk.cleanup import roots_named_otherwise
from lance_explorer.disk.owners import DAYS_IN_FLIGHT, owned_lazily
from lance_explorer.disk.roots import OWN
from lance_explorer.disk.survey import Survey, closed_bases
from lance_explorer.disk.usage import KIND_WORDS
from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import Cause, Finding, Remedy, Subject
from lance_explorer.frames.sizes import byte_size, counted
from lance_explorer.storage import LocalStorage

__all__ = ["LARGE_LEFTOVER_BYTES", "LARGE_OLD_BYTES", "LEFTOVER_SHARE", "storage_findings"]

LARGE_LEFTOVER_BYTES = 1_000_000_000
"""Bytes that no version names and that are worth a warning ..."""

LEFTOVER_SHARE = 0.2
"""... or so large a part of all, if it is more than a megabyte."""

_SOME_BYTES = 1_000_000

LARGE_OLD_BYTES = 1_000_000_000
"""Bytes that only old versions need; more than the latest version needs is a warning."""


def storage_findings(found: Survey) -> Iterator[Finding]:
    """Yield a finding for each kind of problem."""
    needed = (
        *("base_uri", "path", "kind", "size_bytes", "status", "first_version", "last_version"),
        "is_own",
    )
    objects = owned_lazily(found).select(needed).collect().sort("path")
    objects = objects.with_columns(pl.col("status", "kind").cast(pl.String))
    yield from _damaged(objects, found)
    in_root = objects.filter(base_uri=found.named.roots.uris[OWN])
    yield from _of_old_versions(in_root)
    yield from _left_over(in_root)
    yield from _unknown(in_root, found)
    yield from _in_bases(objects.filter(pl.col("base_uri") != found.named.roots.uris[OWN]), found)
    yield from _refs(found)
    yield from _empty_index_folders(objects, found)


_COPIED = Remedy("The manifest has a copy.")


def _damaged(objects: pl.DataFrame, found: Survey) -> Iterator[Finding]:
    """Report files that are missing or have another size, those of the latest version first."""
    latest = found.view.latest_version
    for status, code, words in (
        ("missing", "missing_files", "missing"),
        ("wrong_size", "files_of_wrong_size", "of another size than the manifest names"),
    ):
        some = objects.filter(pl.col("status") == status)
        for kind in some["kind"].unique().sort().to_list():
            of_kind = some.filter(pl.col("kind") == kind)
            current = of_kind.filter(pl.col("last_version") == latest)
            whose = "the latest version needs" if len(current) else "only older versions need"
            needed = current if len(current) else of_kind
            path, first, last = needed.select("path", "first_version", "last_version").row(0)
            verb = "is" if len(needed) == 1 else "are"
            is_copied = kind == "transaction"
            whole = damage_of(found) if kind == "data" else None
            yield Finding(
                code,
                f"{counted(len(needed), f'{kind} file')} that {whose} {verb} {words}: {path}"
                + (", ..." if len(needed) > 1 else ""),
                subject=Subject("files", kind, path),
                versions=(first, last),
                consequence=whole.consequence if whole else "",
                remedy=whole.remedy if whole else _COPIED if is_copied else None,
                is_mild=is_copied,
            )


def _empty_index_folders(objects: pl.DataFrame, found: Survey) -> Iterator[Finding]:
    """Report folders of indices without any file; object stores have none."""
    if not isinstance(found.view.storage.live, LocalStorage):
        return
    folder = "_indices/"
    paths = objects.filter(pl.col("path").str.starts_with(folder))["path"]
    filled = set(paths.str.split("/").list.get(1))
    empty = sorted({*found.view.storage.live.list_folders(folder)} - filled)
    if empty:
        yield Finding(
            "empty_index_folders",
            f"{counted(len(empty), 'folder')} of former indices below {folder} "
            f"{'is' if len(empty) == 1 else 'are'} empty: {empty[0]}{', ...' if empty[1:] else ''}",
            subject=Subject("files", "index", f"{folder}{empty[0]}/"),
        )


def _of_old_versions(objects: pl.DataFrame) -> Iterator[Finding]:
    """Report files that only old versions need, and neither a tag nor a branch keeps."""
    size = pl.col("size_bytes").sum()
    old = objects.filter(pl.col("status") == "old")
    total = int(old.select(size).item())
    if total < LARGE_OLD_BYTES:
        return
    live = int(objects.filter(pl.col("status") == "live").select(size).item())
    parts = old.group_by("kind").agg(pl.len(), size).sort("size_bytes", descending=True)
    words = ", ".join(
        [
            f"{byte_size(of_kind)} in {KIND_WORDS[kind]} ({count:,})"
            for kind, count, of_kind in parts.iter_rows()
        ]
    )
    yield Finding(
        "old_version_bytes",
        f"{byte_size(total)} are needed by old versions only: {words}; the latest version "
        f"needs {byte_size(live)}",
        subject=Subject("files"),
        is_mild=total <= live,
    )


def _left_over(objects: pl.DataFrame) -> Iterator[Finding]:
    """Report files that no version names, once they are old enough."""
    orphans = objects.filter(pl.col("status") == "orphan")
    size, total = int(orphans["size_bytes"].sum()), int(objects["size_bytes"].sum())
    if not len(orphans):
        return
    is_large = size >= LARGE_LEFTOVER_BYTES or (
        size >= _SOME_BYTES and size >= LEFTOVER_SHARE * total
    )
    yield Finding(
        "files_left_over",
        f"no version names {counted(len(orphans), 'file')}, {byte_size(size)}, older than "
        f"{DAYS_IN_FLIGHT} days",
        subject=Subject("files", path=orphans["path"][0]),
        causes=(
            Cause("writers ended before they committed them"),
            Cause("a cleanup removed the versions that named them, and left the files"),
        ),
        is_mild=not is_large,
    )


def _unknown(objects: pl.DataFrame, found: Survey) -> Iterator[Finding]:
    some = objects.filter(pl.col("status") == "unknown", pl.col("size_bytes").is_not_null())
    if not len(some):
        return
    problems = found.problems
    yield Finding(
        "files_of_unknown_use",
        f"{counted(len(some), 'file')} of unknown use, "
        f"{byte_size(int(some['size_bytes'].sum()))}: {some['path'][0]}"
        + (", ..." if len(some) > 1 else ""),
        subject=Subject("files", path=some["path"][0]),
        remedy=Remedy(f"Not all could be read that may name them: {problems[0]}.")
        if problems
        else None,
    )


def _in_bases(objects: pl.DataFrame, found: Survey) -> Iterator[Finding]:
    """Report base paths that could not be listed, and unnamed files in the others."""
    opened = {storage.uri for storage in found.named.roots.storages if storage is not None}
    for uri, problem in closed_bases(found).items():
        if uri not in opened:  # which the check of base paths reports
            continue
        num_named = len(objects.filter(base_uri=uri))
        yield Finding(
            "base_path_not_looked_at",
            f"base path {uri}, where manifests name {counted(num_named, 'file')}, could not be "
            f"looked at: {problem}",
            subject=Subject("base_path", path=uri),
        )
    unnamed = objects.filter("is_own", pl.col("first_version").is_null())
    if len(unnamed):
        size = byte_size(int(unnamed["size_bytes"].sum()))
        yield Finding(
            "files_left_in_base_paths",
            f"{counted(len(unnamed), 'file')} in base paths, {size}, no version names: "
            f"{unnamed['path'][0]}" + (", ..." if len(unnamed) > 1 else ""),
            subject=Subject("files", path=unnamed["path"][0]),
        )


def _refs(found: Survey) -> Iterator[Finding]:
    """Report tags and branches that lead nowhere."""
    view = found.view
    for name in view.refs.branches:
        try:
            view.on_branch(name)
        except LanceExplorerError as error:
            yield Finding(
                "branch_without_versions",
                f"branch {name} has no versions: {error}",
                subject=Subject("branch", name),
            )
    for name, root in roots_named_otherwise(view).items():
        yield Finding(
            "branch_under_another_name",
            f"branch {name} was created in the table under the name {root}: Lance takes "
            f"{view.uri} for another table, and a cleanup there removes what the branch reads",
            subject=Subject("branch", name, root),
        )
    for tag in view.refs.tags.values():
        try:
            listing = view.on_branch(tag.branch).listing
        except LanceExplorerError as error:
            problem = str(error)
        else:
            files = (*listing.versions, *listing.detached)
            if tag.version in {file.version for file in files}:
                continue
            problem = f"version {tag.version} is not kept"
        yield Finding(
            "tag_without_version",
            f"tag {tag.name} leads nowhere: {problem}",
            subject=Subject("tag", tag.name),
            versions=(tag.version, tag.version),
        )
