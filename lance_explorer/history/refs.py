"""Load tags and branches (docs/FORMAT.md 9)."""

from collections.abc import Callable, Mapping
from typing import TypeVar
from urllib.parse import unquote

from lance_explorer.errors import FormatError
from lance_explorer.findings import Finding
from lance_explorer.format.refs import Branch, Tag, decode_branch, decode_tag
from lance_explorer.storage import Storage, given

__all__ = ["BRANCHES_FOLDER", "TAGS_FOLDER", "branch_root", "load_branches", "load_tags"]

TAGS_FOLDER = "_refs/tags"
BRANCHES_FOLDER = "_refs/branches"

_SUFFIX = ".json"

_R = TypeVar("_R", Tag, Branch)


def branch_root(name: str) -> str:
    """Return the folder of a branch below the root of its table."""
    return f"tree/{name}"


def load_tags(storage: Storage, findings: list[Finding]) -> dict[str, Tag]:
    """Return the tags by name, in the order of their names; damaged ones become findings."""
    return _load(storage, TAGS_FOLDER, decode_tag, findings)


def load_branches(storage: Storage, findings: list[Finding]) -> dict[str, Branch]:
    """Return the branches by name, in the order of their names; damaged ones become findings."""
    branches = _load(storage, BRANCHES_FOLDER, decode_branch, findings)
    findings += [_in_circle(name) for name in branches if _is_in_circle(name, branches)]
    return branches


def _is_in_circle(name: str, branches: Mapping[str, Branch]) -> bool:
    """Tell whether a branch is its own parent, or that of its parents."""
    parent = branches[name].parent_branch
    for _ in branches:
        if parent is None or parent == name or parent not in branches:
            break
        parent = branches[parent].parent_branch
    return parent == name


def _in_circle(name: str) -> Finding:
    return Finding(
        code="corrupt_ref",
        severity="error",
        message=f"branch {name!r} is its own ancestor, as the files of branches tell",
        advice="Restore these files from a backup: what was before the branch is unknown.",
    )


def _load(
    storage: Storage, folder: str, decode: Callable[[bytes, str], _R], findings: list[Finding]
) -> dict[str, _R]:
    try:
        listed = storage.list_files(folder)
    except FormatError as error:
        findings.append(_damaged(folder, error))
        return {}
    files = [info.name for info in listed if info.name.endswith(_SUFFIX)]
    paths = dict(
        sorted((unquote(file.removesuffix(_SUFFIX)), f"{folder}/{file}") for file in files)
    )
    refs: dict[str, _R] = {}
    for (name, path), data in zip(paths.items(), storage.get_many(paths.values()), strict=True):
        if data is None:  # deleted since it was listed
            continue
        try:
            refs[name] = decode(given(data), name)
        except FormatError as error:
            findings.append(_damaged(name, error.located(path)))
    return refs


def _damaged(name: str, error: FormatError) -> Finding:
    return Finding(
        code="corrupt_ref",
        severity="error",
        message=str(error),
        advice=f"{name!r} is left out; create it again, or delete its file.",
    )
