"""Tags and branches of the whole table."""

from typing import Any

import polars as pl

from lance_explorer.answers import Answer, Place, Section
from lance_explorer.errors import LanceExplorerError, NotFoundError
from lance_explorer.format.refs import Branch, Tag
from lance_explorer.frames.columns import BYTES, ID, TEXT, TIME, Column, FrameSchema
from lance_explorer.frames.sizes import counted
from lance_explorer.frames.text import json_text
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.frame_answers import says

__all__ = ["REFS", "refs", "refs_answer"]

REFS = FrameSchema(
    "refs",
    (
        Column("kind", pl.Enum(["tag", "branch"]), "tag or branch"),
        Column("name", TEXT, "name of the tag or branch"),
        Column(
            "branch",
            TEXT,
            "branch that the version is on (of a branch, its parent); null is the main branch",
            nullable=True,
        ),
        Column(
            "version",
            ID,
            "tagged version, or version of the parent that the branch was created from; null if "
            "that cannot be read",
            nullable=True,
        ),
        Column("created_at", TIME, "time when the tag or branch was created", nullable=True),
        Column("updated_at", TIME, "time when the tag was moved", nullable=True),
        Column(
            "parent_branch",
            TEXT,
            "parent of the branch; null for tags, and if the parent is the main branch",
            nullable=True,
        ),
        Column(
            "manifest_bytes",
            BYTES,
            "size of the version's manifest, as the tag stores it",
            nullable=True,
            unit="bytes",
        ),
        Column(
            "identifier",
            TEXT,
            "versions that the branch and its ancestors were created from, as JSON",
            nullable=True,
        ),
        Column("metadata", TEXT, "metadata as a JSON object", nullable=True),
        Column("is_kept", pl.Boolean(), "whether that version is kept", nullable=True),
        Column("problem", TEXT, "why the tag or branch cannot be read", nullable=True),
    ),
)
"""The columns of ``inspect.refs()``."""

_SHOWN = ("name", "version", "branch", "created_at", "is_kept", "problem")


def refs(view: HistoryView) -> pl.DataFrame:
    """Return one row for each tag and each branch of the whole table: tags first, by name."""
    unreadable = [
        {"kind": ref.kind, "name": ref.name, "problem": ref.problem}
        for ref in view.refs.unreadable
        if ref.name is not None
    ]
    rows = [
        *map(_tag, view.refs.tags.values()),
        *map(_branch, view.refs.branches.values()),
        *unreadable,
    ]
    rows.sort(key=lambda row: (row["kind"] == "branch", row["name"]))
    known = [row for row in rows if "version" in row]
    kept = {branch: _kept_versions(view, branch) for branch in {row["branch"] for row in known}}
    for row in known:
        row["is_kept"] = _contains(kept[row["branch"]], row["version"])
    return REFS.build({name: [row.get(name) for row in rows] for name in REFS.names})


@says(REFS)
def refs_answer(view: HistoryView, refs: pl.DataFrame) -> Answer:
    """Return tags and branches as an answer: how many, and which have missing versions."""
    tags, branches = (refs.filter(kind=kind) for kind in ("tag", "branch"))
    gone = refs.filter(~pl.col("is_kept"))
    lost = f"; {_named(gone)} of versions that are not kept" if len(gone) else ""
    plural = "branch" if len(branches) == 1 else "branches"
    count = f"{counted(len(tags), 'tag')} and {len(branches):,} {plural}"
    return Answer(
        f"{count}{lost}." if len(refs) else "No tags and no branches.",
        (
            Section("tags", "Tags", tags, shown=tags.select(_SHOWN), schema=REFS),
            Section("branches", "Branches", branches, shown=branches.select(_SHOWN), schema=REFS),
        ),
        "table.inspect.refs()",
        findings=tuple(view.refs.findings),
        place=Place("overview"),
    )


def _named(refs: pl.DataFrame) -> str:
    names = ", ".join([f"`{name}`" for name in refs["name"]])
    return f"{names} {'is' if len(refs) == 1 else 'are'}"


def _tag(tag: Tag) -> dict[str, Any]:
    return {
        "kind": "tag",
        "name": tag.name,
        "branch": tag.branch,
        "version": tag.version,
        "created_at": tag.created_at,
        "updated_at": tag.updated_at,
        "manifest_bytes": tag.manifest_bytes,
        "metadata": json_text(dict(tag.metadata)),
    }


def _branch(branch: Branch) -> dict[str, Any]:
    return {
        "kind": "branch",
        "name": branch.name,
        "branch": branch.parent_branch,
        "version": branch.parent_version,
        "created_at": branch.created_at,
        "parent_branch": branch.parent_branch,
        "manifest_bytes": branch.manifest_bytes,
        "identifier": json_text(branch.identifier),
        "metadata": json_text(dict(branch.metadata)),
    }


def _kept_versions(view: HistoryView, branch: str | None) -> frozenset[int] | None:
    """Return the versions that a branch keeps, including detached ones; None if unknown."""
    try:
        listing = view.on_branch(branch).listing
    except NotFoundError:
        return frozenset()
    except LanceExplorerError:
        return None
    return frozenset([file.version for file in (*listing.versions, *listing.detached)])


def _contains(versions: frozenset[int] | None, version: int) -> bool | None:
    return None if versions is None else version in versions
