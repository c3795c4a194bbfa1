"""The lock of a version as text: JSON that people read, compare and commit.

The text alone identifies the version, later and without the table. It holds no path inside the
table: manifests may be renamed, and the manifest names the files of the version. The lock has the
digest of the manifest.
"""

import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from lance_explorer.arguments import of_kind, path, shown
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.format.schema import Field, field_paths
from lance_explorer.history.live import LiveTable
from lance_explorer.history.refs import Refs
from lance_explorer.history.view import HistoryView
from lance_explorer.shown import visible_json
from lance_explorer.snapshot import Snapshot
from lance_explorer.storage.opening import is_remote

__all__ = ["Lock", "branch_id", "lock", "read_lock", "schema_columns", "schema_digest"]

FORMAT = 1
"""The format of the locks that are written and read."""

_FORMAT_KEY = "lance_explorer_lock"
_MOST_BYTES = 64 << 20
_AZURE = ("abfs", "abfss")
"""URI schemes with a container before the ``@``; in other URIs a user stands there."""

_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Lock:
    """What a lock says about a version.

    Attributes
    ----------
    uri : str
        Root of the table, without user, query or credentials.
    branch : str or None
        The branch of the version; None is the main branch.
    branch_id : str or None
        What tells the branch from a later one of the same name; None where that is not known.
    version : int
        The version number.
    tags : tuple of str
        The tags that pointed to the version.
    committed_at : datetime or None
        When the version was committed, in UTC.
    manifest_bytes : int
        Size of the manifest file.
    manifest_sha256 : str
        SHA-256 of the manifest file, which names all other files of the version.
    num_rows : int or None
        Number of live rows; None where that is not known.
    num_fragments : int
        Number of fragments.
    data_format : str
        Version of the data storage format, such as ``2.1``.
    has_stable_row_ids : bool
        Whether rows keep their ID when they move.
    schema_sha256 : str
        SHA-256 of all that the schema says: names, IDs, types, nullability, keys, metadata.
    columns : dict of str to str
        The type of each field, nested ones too, by its path.
    """

    uri: str
    branch: str | None
    branch_id: str | None
    version: int
    tags: tuple[str, ...]
    committed_at: datetime | None
    manifest_bytes: int
    manifest_sha256: str
    num_rows: int | None
    num_fragments: int
    data_format: str
    has_stable_row_ids: bool
    schema_sha256: str
    columns: dict[str, str]


def lock(snapshot: Snapshot) -> str:
    """Return a short text that identifies a version of a table, to keep.

    Write it to a file such as ``photos.lock``; :func:`verify` tells later whether the version still
    exists. It is a few lines of JSON: the location of the table, branch and version, the tags that
    point to it, size and SHA-256 of its manifest, its number of rows, and its columns. The same
    version with the same tags always gives the same text.

    Parameters
    ----------
    snapshot : Snapshot
        The version, such as ``table.at("gold")`` or ``table.latest``. No data file is opened.

    Examples
    --------
    >>> text = lx.lock(table.at("clean"))
    >>> print(text)
    {
      "lance_explorer_lock": 1,
      "uri": "...people.lance",
      "branch": null,
      "branch_id": null,
      "version": 4,
      "tags": [
        "clean"
      ],
      "committed_at": "...+00:00",
      "manifest_bytes": ...,
      "manifest_sha256": "...",
      "num_rows": 9,
      "num_fragments": 3,
      "data_format": "2.1",
      "has_stable_row_ids": true,
      "schema_sha256": "...",
      "columns": {
        "id": "int64",
        "city": "string",
        "mood": "int32"
      }
    }
    """
    given = of_kind("snapshot", snapshot, Snapshot, "a Snapshot, such as table.at(7)")
    locked = LiveTable(given._view).answer(lambda view: _lock_of(given, view))
    time = locked.committed_at
    members = {
        _FORMAT_KEY: FORMAT,
        **asdict(locked),
        "committed_at": None if time is None else time.isoformat(),
    }
    return visible_json(json.dumps(members, indent=2, ensure_ascii=False)) + "\n"


def read_lock(given: Any) -> Lock:
    """Return the content of a lock; ``given`` is the path of its file, or its text.

    Raises
    ------
    InvalidArgumentError
        If there is no such file, it is not a lock, or its format is newer.
    """
    if isinstance(given, str) and given.lstrip().startswith("{"):
        return _parsed(given, "the lock")
    file = Path(path("lock", given))
    try:
        if not file.is_file():
            raise InvalidArgumentError(f"lock: there is no file {shown(os.fspath(file))}")
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InvalidArgumentError(f"lock: cannot read {file}: {error.strerror}") from error
    if len(data) > _MOST_BYTES:
        raise InvalidArgumentError(f"{file} is not a lock: it is larger than {_MOST_BYTES:,} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"{file} is not a lock: it is not text: {error}") from error
    return _parsed(text, str(file))


def branch_id(view: HistoryView, branch: str | None) -> str | None:
    """Return what distinguishes a branch from one with its name; None if nothing does."""
    if branch is None:
        return None
    branch_ref = Refs(view.main_storage).branches.get(branch)
    return branch_ref.identifier[-1][1] if branch_ref and branch_ref.identifier else None


def schema_columns(fields: Iterable[Field]) -> dict[str, str]:
    """Return the types of fields by their paths.

    Examples
    --------
    >>> schema_columns(table.latest.fields)
    {'id': 'int64', 'city': 'string', 'score': 'int32'}
    """
    some = tuple(fields)
    paths = field_paths(some)
    return {paths[field.id]: field.logical_type for field in some}


def schema_digest(fields: Iterable[Field]) -> str:
    """Return a digest of everything in a schema; adding anything here changes all digests.

    Examples
    --------
    >>> schema_digest(table.at(1).fields) == schema_digest(table.at(2).fields)
    True
    >>> schema_digest(table.at(1).fields) == schema_digest(table.latest.fields)
    False
    """
    content = [
        [
            field.id,
            field.parent_id,
            field.name,
            field.logical_type,
            field.nullable,
            field.extension_name,
            field.primary_key_position,
            field.clustering_key_position,
            [[key, value.hex()] for key, value in field.metadata],
        ]
        for field in fields
    ]
    return sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()


def _lock_of(snapshot: Snapshot, view: HistoryView) -> Lock:
    version, branch = snapshot.version, snapshot.branch
    try:
        manifest = view.storage.get(view.file(version).path)
    except FileNotFoundError as error:
        raise view.missing_version(version) from error
    tags = Refs(view.main_storage).tags.values()
    stored = view.version(version).records[0].manifest
    return Lock(
        uri=_plain(view.uri),
        branch=branch,
        branch_id=branch_id(view, branch),
        version=version,
        tags=tuple([tag.name for tag in tags if (tag.branch, tag.version) == (branch, version)]),
        committed_at=snapshot.timestamp,
        manifest_bytes=len(manifest),
        manifest_sha256=sha256(manifest).hexdigest(),
        num_rows=snapshot.num_rows,
        num_fragments=snapshot.num_fragments,
        data_format=stored.data_format,
        has_stable_row_ids=snapshot.has_stable_row_ids,
        schema_sha256=schema_digest(snapshot.fields),
        columns=schema_columns(snapshot.fields),
    )


def _plain(uri: str) -> str:
    """Return a URI without secrets, in one spelling.

    Examples
    --------
    >>> _plain("S3://me@bucket/t.lance/"), _plain("abfss://files@mine.dfs.core.windows.net/t")
    ('s3://bucket/t.lance', 'abfss://files@mine.dfs.core.windows.net/t')
    """
    if not is_remote(uri):
        return uri
    scheme, _, rest = uri.partition("://")
    host, slash, below = rest.partition("/")
    if scheme.lower() not in _AZURE:
        host = host.rpartition("@")[2]
    return f"{scheme.lower()}://{host}{slash}{below}".rstrip("/")


def _parsed(text: str, name: str) -> Lock:
    """Return the content of a lock, with each known member checked; other members are ignored."""
    try:
        members = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"{name} is not a lock: it is not JSON: {error}") from error
    number = members.get(_FORMAT_KEY) if isinstance(members, dict) else None
    if type(number) is not int or number < 1:
        raise InvalidArgumentError(
            f"{name} is not a lock: it must be an object with {_FORMAT_KEY!r}, a format number"
        )
    if number > FORMAT:
        raise InvalidArgumentError(
            f"{name} is a lock of format {shown(number)}, and this release knows {FORMAT}: a "
            "newer release of lance_explorer can read it"
        )
    parsed = dict[str, Any]()
    for key, (is_right, expected) in _MEMBERS.items():
        if key not in members:
            raise InvalidArgumentError(f"{name} is damaged: {key!r} is missing")
        if not is_right(members[key]):
            raise InvalidArgumentError(
                f"{name} is damaged: {key!r}: expected {expected}, found {shown(members[key])}"
            )
        parsed[key] = members[key]
    time = parsed["committed_at"]
    parsed["committed_at"] = None if time is None else datetime.fromisoformat(time)
    return Lock(**{**parsed, "tags": tuple(parsed["tags"])})


def _is_text(value: object) -> bool:
    r"""Tell whether a value is text; JSON also has strings that are none, such as "\ud800"."""
    return isinstance(value, str) and value.encode(errors="replace").decode() == value


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**64


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_text_mapping(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_text, [*value, *value.values()]))


def _or_null(is_right: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or is_right(value)


_MEMBERS: dict[str, tuple[Callable[[object], bool], str]] = {
    "uri": (_is_text, "text"),
    "branch": (_or_null(_is_text), "text or null"),
    "branch_id": (_or_null(_is_text), "text or null"),
    "version": (_is_count, "a whole number"),
    "tags": (_is_texts, "a list of texts"),
    "committed_at": (_or_null(_is_time), "a time with its zone, or null"),
    "manifest_bytes": (_is_count, "a whole number"),
    "manifest_sha256": (_is_digest, "64 hexadecimal digits"),
    "num_rows": (_or_null(_is_count), "a whole number or null"),
    "num_fragments": (_is_count, "a whole number"),
    "data_format": (_is_text, "text"),
    "has_stable_row_ids": (lambda value: isinstance(value, bool), "true or false"),
    "schema_sha256": (_is_digest, "64 hexadecimal digits"),
    "columns": (_is_text_mapping, "an object of texts"),
}
"""The members of a lock other than its format, and what each must be."""
