"""Load tags and branches (docs/FORMAT.md 9)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar
from urllib.parse import unquote

from propcache.api import cached_property

from lance_explorer.errors import FormatError, RefNotFoundError
from lance_explorer.findings import Finding, Subject
from lance_explorer.format.refs import Branch, Tag, decode_branch, decode_tag
from lance_explorer.storage import Storage, given

__all__ = [
    "BRANCHES_FOLDER",
    "TAGS_FOLDER",
    "Refs",
    "UnreadableRef",
    "branch_root",
]

TAGS_FOLDER = "_refs/tags"
BRANCHES_FOLDER = "_refs/branches"

_SUFFIX = ".json"

_Kind: TypeAlias = Literal["tag", "branch"]
_KINDS: dict[str, _Kind] = {TAGS_FOLDER: "tag", BRANCHES_FOLDER: "branch"}

_R = TypeVar("_R", Tag, Branch)


@dataclass(frozen=True, slots=True)
class UnreadableRef:
    """A tag or branch that is listed, but cannot be read.

    Attributes
    ----------
    kind : str
        ``tag`` or ``branch``.
    name : str or None
        Its name; None if no tags or branches can be listed at all.
    problem : str
        Why it cannot be read.
    is_missing : bool
        Whether its file is not found, though it is listed.
    """

    kind: _Kind
    name: str | None
    problem: str
    is_missing: bool = False

    @property
    def finding(self) -> Finding:
        """The same for the owner of the table."""
        subject = Subject(self.kind, self.name or "")
        if self.is_missing:
            return Finding("missing_ref", self.problem, subject=subject)
        shown = self.name or f"every {self.kind}"
        lost = "what the branch reads" if self.kind == "branch" else "the version"
        return Finding(
            "corrupt_ref",
            self.problem,
            subject=subject,
            consequence=f"{shown!r} is left out. Without its file, a cleanup removes {lost}.",
        )


class Refs:
    """The tags and branches of a table, each kind read on first use.

    Parameters
    ----------
    storage : Storage
        The root of the table.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    @property
    def tags(self) -> Mapping[str, Tag]:
        """The tags by name, of versions on any branch."""
        return self._tags[0]

    @property
    def branches(self) -> Mapping[str, Branch]:
        """The branches by name; the main branch is not among them."""
        return self._branches[0]

    @property
    def unreadable(self) -> list[UnreadableRef]:
        """The tags and branches that are listed, but cannot be read."""
        return [*self._tags[1], *self._branches[1]]

    @property
    def findings(self) -> list[Finding]:
        """What is wrong with the files of tags and branches."""
        circles = [_in_circle(name) for name in self.branches if self._is_in_circle(name)]
        return [*(ref.finding for ref in self.unreadable), *circles]

    @property
    def branch_names(self) -> list[str]:
        """The names of all branches, with those whose references cannot be read."""
        hidden = [ref.name for ref in self.unreadable if ref.kind == "branch" and ref.name]
        return sorted([*self.branches, *hidden])

    def tag(self, name: str) -> Tag:
        """Return a tag."""
        if name in self.tags:
            return self.tags[name]
        for ref in self.unreadable:
            if (ref.kind, ref.name) == ("tag", name):
                raise RefNotFoundError(f"tag {name!r} cannot be read: {ref.problem}")
        names = ", ".join(self.tags) or "none"
        raise RefNotFoundError(f"no tag {name!r} in {self._storage.uri}; there are: {names}")

    @cached_property
    def _tags(self) -> tuple[dict[str, Tag], list[UnreadableRef]]:
        return _load(self._storage, TAGS_FOLDER, decode_tag)

    @cached_property
    def _branches(self) -> tuple[dict[str, Branch], list[UnreadableRef]]:
        return _load(self._storage, BRANCHES_FOLDER, decode_branch)

    def _is_in_circle(self, name: str) -> bool:
        """Return whether a branch is its own ancestor."""
        parent = self.branches[name].parent_branch
        for _ in self.branches:
            if parent is None or parent == name or parent not in self.branches:
                break
            parent = self.branches[parent].parent_branch
        return parent == name


def branch_root(name: str) -> str:
    """Return the folder of a branch below the root of its table."""
    return f"tree/{name}"


def _in_circle(name: str) -> Finding:
    return Finding(
        "corrupt_ref",
        f"branch {name!r} is its own ancestor, as the files of branches say",
        subject=Subject("branch", name),
        consequence="The versions before the branch are unknown.",
    )


def _load(
    storage: Storage, folder: str, decode: Callable[[bytes, str], _R]
) -> tuple[dict[str, _R], list[UnreadableRef]]:
    """Return the references in a folder by name, and the unreadable ones."""
    kind = _KINDS[folder]
    try:
        paths = _paths(storage, folder)
        contents = dict(zip(paths, storage.get_many(paths.values()), strict=True))
        missing = [name for name, data in contents.items() if data is None]
        # A store may wrongly report a file as missing; a deleted one is not listed.
        still_listed = _paths(storage, folder) if missing else {}
        again = [name for name in missing if name in still_listed]
        contents_again = storage.get_many([paths[name] for name in again])
        contents.update(zip(again, contents_again, strict=True))
    except FormatError as error:
        return {}, [UnreadableRef(kind, None, str(error))]
    refs, unreadable = dict[str, _R](), list[UnreadableRef]()
    for name, data in contents.items():
        try:
            if data is not None:
                refs[name] = decode(given(data), name)
            elif name in again:
                problem = f"{kind} {name!r} is listed, but its reference {paths[name]} is not found"
                unreadable.append(UnreadableRef(kind, name, problem, is_missing=True))
        except FormatError as error:
            unreadable.append(UnreadableRef(kind, name, str(error.located(paths[name]))))
    return refs, unreadable


def _paths(storage: Storage, folder: str) -> dict[str, str]:
    """Return the files of references by name, in order."""
    files = [info.name for info in storage.list_files(folder) if info.name.endswith(_SUFFIX)]
    return dict(sorted((unquote(file.removesuffix(_SUFFIX)), f"{folder}/{file}") for file in files))
