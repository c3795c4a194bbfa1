"""Whose each object is, what a cleanup removes and a compaction rewrites: compared with pylance."""

import random
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import Any

import lance
import polars as pl
from lance.optimize import Compaction

import lance_explorer as lx
from lance_explorer.disk.cleanup import CleanupRules, cleanup
from lance_explorer.disk.survey import survey

__all__ = [
    "check_cleanup",
    "check_compaction",
    "check_storage",
    "check_with_clone",
    "check_with_unreadable",
    "explained",
    "planned",
    "planned_by_us",
    "random_options",
    "removed_by_us",
    "tracked",
]

_KINDS = {
    "manifest": "manifest",
    "data file": "data",
    "deletion file": "deletion",
    "transaction file": "transaction",
    "index file": "index",
}
_STRUCTURE = ["ref", "hint", "mem_wal"]

_OURS_AS_THEIRS = {"blob": "data", "temporary_data": "data", "reuse": "index"}

File = tuple[str, str, int, bool]
"""Path, kind, size, and whether it is unverified."""

# ------------------------------------------------------------------------------------- statuses


def listed(path: Path) -> dict[str, int]:
    """Return what pylance finds in the folder of a table."""
    every = lance.dataset(str(path)).all_files().read_all()
    return dict(zip(every["path"].to_pylist(), every["size_bytes"].to_pylist(), strict=True))


def tracked(dataset: lance.LanceDataset, root: Path) -> pl.DataFrame:
    """Return what the versions of a branch name, as paths below the root of the table."""
    files = pl.from_arrow(dataset.tracked_files().read_all())
    assert isinstance(files, pl.DataFrame)
    full = pl.col("base_uri").cast(pl.String).str.strip_chars_end("/") + "/" + pl.col("path")
    return files.with_columns(
        path=full.str.strip_prefix(f"{root}/"), kind=pl.col("type").cast(pl.String).replace(_KINDS)
    ).select("version", "path", "kind")


def check_storage(path: Path) -> pl.DataFrame:
    """Check every object of a table."""
    dataset = lance.dataset(str(path))
    found = lx.open_table(path).inspect.storage()
    there = found.filter(pl.col("size_bytes").is_not_null())
    assert dict(there.select("path", "size_bytes").iter_rows()) == listed(path)
    assert len(there) == len(listed(path))

    main = tracked(dataset, path)
    named = set(main["path"])
    for branch in dataset.branches.list():
        named |= set(tracked(dataset.checkout_version((branch, None)), path)["path"])
    status = dict(found.select("path", "status").iter_rows())
    structure = set(found.filter(pl.col("kind").is_in(_STRUCTURE))["path"])
    detached = set(found.filter(pl.col("needed_by").str.contains("detached"))["path"])
    assert {status[p] for p in named & set(listed(path))} <= {"live", "old", "pinned"}
    assert {p for p in named if p not in listed(path)} <= {
        p for p in status if status[p] == "missing"
    }
    for p in set(there["path"]) - named - structure - detached:
        assert status[p] in ("in_flight", "orphan", "unknown"), p

    latest = set(main.filter(pl.col("version") == dataset.version)["path"])
    live = set(found.filter(pl.col("status") == "live", ~pl.col("kind").is_in(_STRUCTURE))["path"])
    assert live == latest & set(listed(path))

    spans = main.group_by("path").agg(
        first=pl.col("version").min(), last=pl.col("version").max(), kind=pl.first("kind")
    )
    own = found.filter(pl.col("path").is_in(spans["path"].implode()))
    ours = own.select(
        "path",
        pl.col("first_version", "last_version").cast(pl.Int64),
        pl.col("kind").cast(pl.String),
    )
    assert sorted(ours.rows()) == sorted(spans.rows())
    return found


def check_with_clone(path: Path, clone: Path) -> None:
    """Check that what a clone reads is kept, once the clone is named."""
    found = lx.open_table(path).inspect.storage(clones=[clone])
    status = dict(found.select("path", "status").iter_rows())
    needed = set(tracked(lance.dataset(str(clone)), path)["path"]) & status.keys()
    assert needed
    assert {status[p] for p in needed} <= {"live", "pinned", "missing"}


def check_with_unreadable(path: Path, manifest: Path) -> None:
    """Check that nothing is called left over when a manifest cannot be read any more.

    The manifest is made as it was again.
    """
    data = manifest.read_bytes()
    files = {str(f.relative_to(path)) for f in path.rglob("*") if f.is_file()}
    manifest.write_bytes(data[: len(data) // 2])
    try:
        table = lx.open_table(path)
        found = table.inspect.storage()
        assert set(found.filter(pl.col("size_bytes").is_not_null())["path"]) == files
        assert found.filter(pl.col("status").is_in(["orphan", "in_flight"])).is_empty()
        assert table.cleanup_preview(timedelta(0)).problem is not None
        try:
            lance.dataset(str(path)).cleanup_old_versions(timedelta(0))
        except OSError:
            return
        raise AssertionError("pylance cleans up though a manifest cannot be read")
    finally:
        manifest.write_bytes(data)


# -------------------------------------------------------------------------------------- cleanup


def explained(path: Path, branch: str | None = None, **options: Any) -> list[File]:
    """Return what pylance says that it would remove."""
    dataset = lance.dataset(str(path))
    if branch is not None:
        dataset = dataset.checkout_version((branch, None))
    told = dataset.explain_cleanup_old_versions(
        **options, include_files=True, max_files=10**6, error_if_tagged_old_versions=False
    )
    root = str(path).lstrip("/") + "/"
    return sorted(
        (file.path.removeprefix(root), file.kind, file.size_bytes, file.unverified)
        for file in told.candidate_files
    )


def removed_by_us(path: Path, branch: str | None = None, **options: Any) -> list[File]:
    """Return what we say that a cleanup would remove."""
    found = cleanup(survey(lx.open_table(path, branch=branch)._view), CleanupRules(**options))
    return sorted(
        (name, _OURS_AS_THEIRS.get(kind, kind), size, unverified)
        for name, kind, size, unverified in found.files.iter_rows()
    )


def check_cleanup(path: Path, branches: Collection[str], chosen: random.Random) -> None:
    """Check the files of a cleanup with random options."""
    options: dict[str, Any] = {"delete_unverified": chosen.random() < 0.3}
    if chosen.random() < 0.7:
        options["older_than"] = timedelta(seconds=chosen.choice([0, 0, 0, 86400]))
    if chosen.random() < 0.4:
        options["retain_versions"] = chosen.randint(1, 5)
    branch = chosen.choice([None, None, *branches])
    if chosen.random() < 0.3:
        kept = lx.open_table(path, branch=branch).versions()["version"].to_list()
        options["versions"] = sorted(chosen.sample(kept, chosen.randint(1, len(kept))))
    ours, theirs = removed_by_us(path, branch, **options), explained(path, branch, **options)
    assert ours == theirs, (branch, options)


# ------------------------------------------------------------------------------------ compaction


def planned(path: Path, branch: str | None, options: dict[str, Any]) -> list[list[int]]:
    """Return which fragments pylance would rewrite together."""
    dataset = lance.dataset(str(path))
    if branch is not None:
        dataset = dataset.checkout_version((branch, None))
    plan = Compaction.plan(dataset, options)  # type: ignore[arg-type]
    return [[fragment.id for fragment in task.fragments] for task in plan.tasks]


def planned_by_us(path: Path, branch: str | None, options: dict[str, Any]) -> list[list[int]]:
    """Return which fragments we say that a compaction would rewrite together."""
    preview = lx.open_table(path, branch=branch).compaction_preview(**options)
    return preview.tasks()["fragment_ids"].to_list()


def random_options(chosen: random.Random, ids: list[int]) -> dict[str, Any]:
    """Return options of a compaction, each of which may be left out."""
    options: dict[str, Any] = {
        "target_rows_per_fragment": chosen.choice([1, 3, 5, 8, 12, 30, 1000]),
        "materialize_deletions": chosen.random() < 0.8,
        "materialize_deletions_threshold": chosen.choice([0.0, 0.1, 0.2, 1 / 3, 0.5, 1.0, 2.0]),
        "max_source_fragments": chosen.randint(1, 8),
        "max_source_rows": chosen.randint(1, 40),
        "max_source_bytes": chosen.randint(500, 8000),
        "excluded_fragment_ids": chosen.sample(ids, min(len(ids), 2)),
        "num_threads": 2,
    }
    return {name: value for name, value in options.items() if chosen.random() < 0.4}


def check_compaction(path: Path, branches: Collection[str], chosen: random.Random) -> None:
    """Check the tasks of a compaction with random options."""
    branch = chosen.choice([None, None, *branches])
    ids = [fragment.fragment_id for fragment in lance.dataset(str(path)).get_fragments()]
    options = random_options(chosen, ids)
    ours, theirs = planned_by_us(path, branch, options), planned(path, branch, options)
    assert ours == theirs, (branch, options)
