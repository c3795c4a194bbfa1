"""Tags and branches: the JSON files below ``_refs`` (docs/FORMAT.md 9)."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from reprlib import repr as shortened
from typing import Any

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._wire import decoder

__all__ = ["Branch", "Tag", "decode_branch", "decode_tag"]


@dataclass(frozen=True, slots=True)
class Tag:
    """A name for a version. ``branch`` is None for the main branch."""

    name: str
    branch: str | None
    version: int
    created_at: datetime | None
    updated_at: datetime | None
    manifest_bytes: int | None
    metadata: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of versions that left its parent at ``parent_version``.

    ``parent_branch`` is None for the main branch. ``identifier`` lists, from the main branch on,
    the version at which each ancestor was left and the identity of the branch that began there.
    """

    name: str
    parent_branch: str | None
    parent_version: int
    created_at: datetime | None
    manifest_bytes: int | None
    identifier: tuple[tuple[int, str], ...]
    metadata: tuple[tuple[str, str], ...]


@decoder
def decode_tag(data: bytes, name: str) -> Tag:
    """Decode a tag file.

    Raises
    ------
    CorruptFileError
        If it is not a JSON object with a version.

    Examples
    --------
    >>> decode_tag(b'{"version": 3, "manifestSize": 700}', "gold").version
    3
    """
    fields = _Fields(data)
    return Tag(
        name=name,
        branch=fields.text("branch"),
        version=fields.required("version"),
        created_at=fields.time("createdAt"),
        updated_at=fields.time("updatedAt"),
        manifest_bytes=fields.number("manifestSize"),
        metadata=fields.metadata(),
    )


@decoder
def decode_branch(data: bytes, name: str) -> Branch:
    """Decode a branch file.

    Raises
    ------
    CorruptFileError
        If it is not a JSON object with a parent version.

    Examples
    --------
    >>> decode_branch(b'{"parentVersion": 3, "createAt": 0}', "dev").parent_version
    3
    """
    fields = _Fields(data)
    seconds = fields.number("createAt")
    try:
        created_at = None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise fields.wrong("createAt", "a time in seconds since 1970", seconds) from error
    return Branch(
        name=name,
        parent_branch=fields.text("parentBranch"),
        parent_version=fields.required("parentVersion"),
        created_at=created_at,
        manifest_bytes=fields.number("manifestSize"),
        identifier=fields.identifier(),
        metadata=fields.metadata(),
    )


class _Fields:
    """The members of a JSON object, each checked on access.

    As in Lance, numbers and objects may be missing in files of old writers, but not be null.
    """

    def __init__(self, data: bytes) -> None:
        try:
            fields = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise CorruptFileError(f"not JSON: {error}", offset=_place(error)) from error
        if not isinstance(fields, dict):
            raise CorruptFileError(f"expected a JSON object, found {type(fields).__name__}")
        self._fields: dict[str, Any] = fields
        self._data = data

    def required(self, key: str) -> int:
        value = self.number(key)
        if value is None:
            raise CorruptFileError(f"the member {key} is missing")
        return value

    def number(self, key: str) -> int | None:
        value = self._fields.get(key)
        if key not in self._fields or _is_number(value):
            return value
        raise self.wrong(key, "a number from 0 to 2^64 - 1", value)

    def text(self, key: str) -> str | None:
        value = self._fields.get(key)
        if value is None or _is_text(value):
            return value
        raise self.wrong(key, "text", value)

    def time(self, key: str) -> datetime | None:
        value = self.text(key)
        if value is None:
            return None
        try:
            time = datetime.fromisoformat(value)
            return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise self.wrong(key, "a time such as 2026-01-31T09:30:00Z", value) from error

    def metadata(self) -> tuple[tuple[str, str], ...]:
        if "metadata" not in self._fields:
            return ()
        value = self._fields["metadata"]
        if isinstance(value, dict) and all(map(_is_text, [*value, *value.values()])):
            return tuple(sorted(value.items()))
        raise self.wrong("metadata", "an object of texts", value)

    def identifier(self) -> tuple[tuple[int, str], ...]:
        if "identifier" not in self._fields:
            return ()
        value = self._fields["identifier"]
        match value:
            case {"version_mapping": [*pairs]} if all(map(_is_version_and_text, pairs)):
                return tuple([(version, uuid) for version, uuid in pairs])
        raise self.wrong("identifier", "a version_mapping of versions and texts", value)

    def wrong(self, key: str, expected: str, value: object) -> CorruptFileError:
        """Return the error for an invalid member."""
        error = CorruptFileError(f"{key}: expected {expected}, found {shortened(value)}")
        return error.within(f'"{key}"'.encode(), self._data)


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**64


def _is_text(value: object) -> bool:
    r"""Tell whether a value is valid text; JSON also has strings that are not, such as "\ud800"."""
    return isinstance(value, str) and value.encode(errors="replace").decode() == value


def _is_version_and_text(pair: object) -> bool:
    match pair:
        case [version, text]:
            return _is_number(version) and _is_text(text)
    return False


def _place(error: Exception) -> int:
    """Return where text stops being JSON, in bytes, as far as an error shows it."""
    match error:
        case json.JSONDecodeError():
            return len(error.doc[: error.pos].encode(errors="replace"))
        case UnicodeDecodeError():
            return error.start
    return 0
