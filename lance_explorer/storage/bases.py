"""Which roots a table may use beside its own.

The writer of a table chose the paths in it; whoever opens it lends it credentials and a disk. So a
location that a table names is opened only if it is near the table, or allowed by the user.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, Literal, NamedTuple, TypeVar
from urllib.parse import unquote

from lance_explorer.arguments import paths
from lance_explorer.errors import InvalidArgumentError, UnsupportedFeatureError
from lance_explorer.storage.commit_store import EXTERNAL_SCHEME, TABLE_OF_COMMITS
from lance_explorer.storage.secrets import without_secrets

__all__ = ["Access", "Bases", "Place", "leads_elsewhere", "place_of"]

_Opened = TypeVar("_Opened")
"""What opens a location: a ``Storage``."""

Access = Literal["near", "another_bucket", "allowed", "unclear", "far"]
"""The relation of a root to a table; the last two may not be opened."""

_NO_NAMES = {"", ".", ".."}
_FILES = "file"
_FILE_SCHEMES = ("file", "file-object-store")
_SERVICES = {
    "s3": "s3",
    "s3a": "s3",
    "gs": "gs",
    "az": "azure",
    "abfs": "azure",
    "abfss": "azure",
}
_VERSIONS = "_versions"
_LONGEST_SHOWN = 200

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NO_TEXT = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_URI = re.compile(
    r"([a-z][a-z0-9+.-]+)://(?:([\w$.-]+)@)?([\w$.-]*(?::\d+)?)(/[^?#\\]*)?",
    re.ASCII | re.IGNORECASE,
)
_AZURE_HOST = re.compile(
    r"([^.]+)\.(?:blob|dfs)\.(core\.windows\.net|fabric\.microsoft\.com)", re.IGNORECASE
)
_PUBLIC_CLOUD, _FABRIC = "core.windows.net", "fabric.microsoft.com"
_ACCOUNT_OPTIONS = ("azure_storage_account_name", "account_name")
_FABRIC_OPTIONS = ("azure_use_fabric_endpoint", "use_fabric_endpoint")


class Place(NamedTuple):
    """Where a URI leads.

    ``account`` is that of Azure and of schemes that are not known, which credentials are given for;
    ``path`` the names of folders. Local paths are resolved paths, without links.
    """

    service: str
    account: str
    bucket: str
    path: tuple[str, ...]

    def holds(self, other: "Place") -> bool:
        """Whether another location is this one, or below it."""
        return self[:3] == other[:3] and other.path[: len(self.path)] == self.path


class Bases(Generic[_Opened]):
    """The roots that a table may use, shared by all storage of that table.

    Near a local table are its parent folder, and every Lance table and what is inside one. Near a
    table in an object store is everything in the same service and account: requests go to the same
    place.

    Parameters
    ----------
    uri : str
        Root of the table.
    options : mapping of str to str
        Storage options, which may name an account.
    allowed : iterable of str or os.PathLike
        What else may be opened, with all that is below it.

    Attributes
    ----------
    allowed : tuple of str
        The same, with absolute paths.
    opened : dict of str to Storage
        The roots in use, as the table spells them.
    commit_store : str, optional
        The name of the external manifest store of the table.
    opened_as : str, optional
        The root as somebody gave it, where Lance takes that for another place than the real one.
    over : callable
        What is put before each root that is opened: a ledger may have files that it has no more.

    Examples
    --------
    >>> bases = Bases("s3://tables/t.lance", {}, ["s3://other/a", "/data/files"])
    >>> [bases.access(uri) for uri in ("s3://more/b", "gs://more/b", "/data/files/c", "/data/d")]
    ['another_bucket', 'far', 'allowed', 'far']
    """

    def __init__(
        self,
        uri: str,
        options: Mapping[str, str],
        allowed: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        self._options = options
        self.opened: dict[str, _Opened] = {}
        self.over: Callable[[_Opened], _Opened] = _itself
        self.commit_store: str | None = None
        self.opened_as: str | None = None
        self.allowed = tuple([_absolute(each) for each in paths("allow_bases", allowed)])
        self._allowed = tuple([_allowed_place(each, options) for each in self.allowed])
        self.own_root(uri)

    def own_root(self, uri: str) -> None:
        """Use a URI that the user gave as the root of the table."""
        self._own = place_of(uri, self._options) or Place(uri, "", "", ())  # near to nothing

    def objects(self, uri: str) -> str:
        """Return a root that the table names as the root of objects alone.

        A table with an external manifest store names it in its own roots.
        """
        plain = uri.removesuffix(f"?{TABLE_OF_COMMITS}={self.commit_store}")
        if self.commit_store is None or not plain.startswith(f"{EXTERNAL_SCHEME}://"):
            return uri
        return plain.replace(EXTERNAL_SCHEME, "s3", 1)

    def access(self, uri: str) -> Access:
        """Return the relation of a root that the table names to the table."""
        uri = self.objects(uri)
        place = place_of(uri, self._options) if _is_clear(uri) else None
        if place is None:
            return "unclear"
        if self._is_near(place):
            own = self._own
            return "near" if place.bucket == own.bucket else "another_bucket"
        return "allowed" if self._is_allowed(place) else "far"

    def may_follow(self, real_path: str) -> bool:
        """Return whether a link in a local folder may lead to a path."""
        place = Place(_FILES, "", "", _names(real_path))
        return self._is_near(place) or self._is_allowed(place)

    def check(self, uri: str) -> None:
        """Raise UnsupportedFeatureError if a root that the table names must not be opened."""
        if self.access(uri) in ("far", "unclear"):
            raise UnsupportedFeatureError(self.why_not(uri))

    def why_not(self, uri: str) -> str:
        """Return why a root must not be opened, and how to allow it."""
        uri = self.objects(uri)
        place = place_of(uri, self._options) if _is_clear(uri) else None
        shown = repr(uri if len(uri) <= _LONGEST_SHOWN else f"{uri[:_LONGEST_SHOWN]}...")
        if place is None:
            return f"{shown} is not opened, because it is not clear which location it means"
        lends = ""
        if place.service != _FILES:
            why, lends = (
                "in another store than the table",
                ", and reads it with the same storage_options",
            )
        elif not _SCHEME.match(uri) and not os.path.isabs(os.path.expanduser(uri)):
            why = "a path relative to the working directory, and not near the table"
        elif self._own.service != _FILES:
            why = "on this machine, but the table is not"
        else:
            why = "neither a Lance table nor in the parent folder of the table"
        return (
            f"{shown} is not opened: it is {why}; open_table(..., allow_bases=[{shown}]) "
            f"allows it{lends}"
        )

    def _is_near(self, place: Place) -> bool:
        own = self._own
        if place[:2] != own[:2]:
            return False
        if own.service != _FILES:
            return own.service in _SERVICES.values()
        folder = own.path[:-1]
        is_beside = bool(folder) and place.path[: len(folder)] == folder
        return is_beside or own.holds(place) or _is_in_a_table(place.path)

    def _is_allowed(self, place: Place) -> bool:
        return any(allowed.holds(place) for allowed in self._allowed)


def _itself(storage: _Opened) -> _Opened:
    return storage


def leads_elsewhere(path: str) -> bool:
    """Tell whether a path may leave its start; in URIs, encoded dots are dots, too.

    Examples
    --------
    >>> leads_elsewhere("a/b.lance"), leads_elsewhere("a/%2E%2e/b"), leads_elsewhere("/etc/passwd")
    (False, True, True)
    """
    return not _NO_NAMES.isdisjoint([*path.split("/"), *unquote(path).split("/")])


def place_of(uri: str, options: Mapping[str, str]) -> Place | None:
    """Return where a URI leads; None if it is not clear.

    Examples
    --------
    >>> place_of("abfss://files@Mine.dfs.core.windows.net/a/b", {}) == place_of(
    ...     "az://files/a/b", {"account_name": "mine"}
    ... )
    True
    """
    if not _SCHEME.match(uri):
        return Place(_FILES, "", "", _names(_real_path(uri)))
    parts = _URI.fullmatch(uri)
    if parts is None:
        return None
    scheme, user, host, path = parts[1].lower(), parts[2], parts[3], unquote(parts[4] or "")
    if scheme in _FILE_SCHEMES:
        is_here = user is None and host.lower() in ("", "localhost") and path
        return Place(_FILES, "", "", _names(_real_path(path))) if is_here else None
    below = path.removeprefix("/").removesuffix("/")
    names = below.split("/") if below else []
    if not host or not _NO_NAMES.isdisjoint(names):
        return None
    service = _SERVICES.get(scheme)
    if service == "azure":
        return _in_azure(user, host, tuple(names), options)
    if service is None:
        return Place(scheme, f"{user or ''}@{host}".lower(), "", tuple(names))
    return None if user or ":" in host else Place(service, "", host, tuple(names))


def _in_azure(
    user: str | None, host: str, names: tuple[str, ...], options: Mapping[str, str]
) -> Place | None:
    """Return the location in an account, which the URI names or else the options do."""
    lower = {name.lower(): value for name, value in options.items()}
    if ":" in host:
        return None
    if user is not None:
        match = _AZURE_HOST.fullmatch(host)
        return match and Place("azure", f"{match[1]}.{match[2]}".lower(), user, names)
    account = os.environ.get("AZURE_STORAGE_ACCOUNT_NAME", "")
    account = next((lower[name] for name in _ACCOUNT_OPTIONS if name in lower), account)
    fabric = any(lower.get(name, "").lower() == "true" for name in _FABRIC_OPTIONS)
    cloud = _FABRIC if fabric else _PUBLIC_CLOUD
    return Place("azure", f"{account}.{cloud}".lower(), host, names)


def _is_clear(uri: str) -> bool:
    """Whether a URI in a table means the same location to all its readers.

    Parsers of URLs ignore some characters, and take some paths for URLs.
    """
    if _NO_TEXT.search(uri) or uri != uri.strip() or not uri:
        return False
    if _SCHEME.match(uri):
        match = _URI.fullmatch(uri)
        return match is not None and not _NO_TEXT.search(unquote(match[4] or ""))
    if uri.startswith("~") and not uri.startswith("~/"):
        return False
    # What lies above a link depends on whether the link is followed first.
    return _real_path(uri) == os.path.realpath(os.path.expanduser(uri))


def _real_path(path: str) -> str:
    """Return the path with links resolved."""
    try:
        return os.path.realpath(os.path.abspath(os.path.expanduser(path)))
    except ValueError:  # no file can have such a name
        return os.path.abspath(path)


def _names(path: str) -> tuple[str, ...]:
    return tuple([name for name in path.split("/") if name])


def _is_in_a_table(path: tuple[str, ...]) -> bool:
    roots = ["/" + "/".join(path[:count]) for count in range(len(path), 0, -1)]
    return any(os.path.isdir(f"{root}/{_VERSIONS}") for root in roots)


def _absolute(uri: str) -> str:
    is_path = _is_clear(uri) and not _SCHEME.match(uri)
    return os.path.abspath(os.path.expanduser(uri)) if is_path else uri


def _allowed_place(uri: str, options: Mapping[str, str]) -> Place:
    place = place_of(uri, options) if _is_clear(uri) else None
    if place is None:
        raise InvalidArgumentError(
            f"allow_bases: it is not clear which place {without_secrets(uri)!r} is: use a path, or "
            "a URI such as "
            f"s3://bucket/folder or abfss://container@account.dfs.core.windows.net/folder"
        )
    return place
