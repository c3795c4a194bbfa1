"""Tags and branches of the whole table."""

import polars as pl

from lance_explorer.errors import LanceExplorerError, NotFoundError
from lance_explorer.format.refs import Branch, Tag
from lance_explorer.frames.columns import BYTES, ID, TEXT, TIME, Column, FrameSchema
from lance_explorer.frames.text import json_text
from lance_explorer.history.source import TableSource

__all__ = ["REFS", "refs"]

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
            "tagged version, or version of the parent that the branch was created from",
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
        Column("metadata", TEXT, "metadata as a JSON object"),
        Column("is_kept", pl.Boolean(), "whether that version is kept", nullable=True),
    ),
)
"""The columns of ``inspect.refs()``."""


def refs(source: TableSource) -> pl.DataFrame:
    """Return one row for each tag and each branch, on whatever branch: tags first, by name."""
    tags = list(source.tags.values())
    branches = list(source.branches.values())
    all_refs: list[Tag | Branch] = [*tags, *branches]
    places = [
        *[(tag.branch, tag.version) for tag in tags],
        *[(branch.parent_branch, branch.parent_version) for branch in branches],
    ]
    kept = {branch: _kept_versions(source, branch) for branch, _ in places}
    of_tags, of_branches = [None] * len(tags), [None] * len(branches)
    return REFS.build(
        {
            "kind": ["tag"] * len(tags) + ["branch"] * len(branches),
            "name": [ref.name for ref in all_refs],
            "branch": [branch for branch, _ in places],
            "version": [version for _, version in places],
            "created_at": [ref.created_at for ref in all_refs],
            "updated_at": [*[tag.updated_at for tag in tags], *of_branches],
            "parent_branch": [*of_tags, *[branch.parent_branch for branch in branches]],
            "manifest_bytes": [ref.manifest_bytes for ref in all_refs],
            "identifier": [*of_tags, *[json_text(branch.identifier) for branch in branches]],
            "metadata": [json_text(dict(ref.metadata)) for ref in all_refs],
            "is_kept": [_contains(kept[branch], version) for branch, version in places],
        }
    )


def _kept_versions(source: TableSource, branch: str | None) -> frozenset[int] | None:
    """Return the versions that a branch keeps, detached ones too; None if that cannot be told."""
    try:
        listing = source.on_branch(branch).listing
    except NotFoundError:
        return frozenset()
    except LanceExplorerError:
        return None
    return frozenset([file.version for file in (*listing.versions, *listing.detached)])


def _contains(versions: frozenset[int] | None, version: int) -> bool | None:
    return None if versions is None else version in versions
