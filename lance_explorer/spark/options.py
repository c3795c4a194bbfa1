"""The options of data sources: the table, and further options of each source.

Spark passes options as text, with names in any case. An unknown option is an error, so that a
typing error does not get the answer to another question.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lance_explorer.arguments import names, shown, whole_number
from lance_explorer.errors import InvalidArgumentError, VersionNotFoundError
from lance_explorer.history.version_refs import VersionRef, version_number
from lance_explorer.history.view import HistoryView
from lance_explorer.shown import described
from lance_explorer.storage import Hidden

__all__ = ["LEDGER_PREFIX", "STORAGE_PREFIX", "Options", "hidden"]

STORAGE_PREFIX = "storage."
"""The prefix of storage options. They are never shown."""

LEDGER_PREFIX = "ledger.storage."
"""The same for the storage of the ledger, which has its own options."""

_MOST_DIGITS = 20

_COMMON = ("path", "branch", "allow_bases", "ledger")

_LATEST = "latest"
_ZONE = "timezone"

_OTHER_NAMES = {
    "version": ("versionAsOf", "timestampAsOf"),
    "begin_version": ("startingVersion", "startingTimestamp"),
    "end_version": ("endingVersion", "endingTimestamp"),
}
"""The names of versions in readers of Delta tables; they have the same meaning."""


def hidden(options: Mapping[str, str]) -> dict[str, str]:
    """Return options with lower-case names; storage options are hidden from tracebacks."""
    lower = {name.lower(): value for name, value in options.items()}
    return {k: Hidden(v) if _prefix(k) else v for k, v in lower.items()}


def _prefix(name: str) -> str:
    """Return the prefix that the name of an option has; empty if it has none."""
    return next((one for one in (LEDGER_PREFIX, STORAGE_PREFIX) if name.startswith(one)), "")


@dataclass(frozen=True, slots=True)
class Options:
    """The options that somebody gave."""

    source: str
    known: tuple[str, ...]
    values: tuple[tuple[str, str], ...]
    storage: tuple[tuple[str, str], ...]
    ledger_storage: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, source: str, given: Mapping[str, str], known: Collection[str]) -> "Options":
        """Return the options of a source, which accepts some of its own beside the common ones."""
        others = [other for name in known for other in _OTHER_NAMES.get(name, ())]
        names = (*_COMMON, *known, *others, *(("timeZone",) if others else ()))
        given = hidden(given)
        of_stores = {
            prefix: {n.removeprefix(prefix): v for n, v in given.items() if _prefix(n) == prefix}
            for prefix in (STORAGE_PREFIX, LEDGER_PREFIX)
        }
        values = {name: value for name, value in given.items() if not _prefix(name)}
        for name in values:
            if name not in {one.lower() for one in names}:
                raise _no_option(source, name, names)
        storage, ledger_storage = (tuple(sorted(some.items())) for some in of_stores.values())
        if ledger_storage and "ledger" not in values:
            raise InvalidArgumentError(f"{LEDGER_PREFIX}... is for a ledger: give that, too")
        return cls(source, names, tuple(sorted(values.items())), storage, ledger_storage)

    @described
    def __repr__(self) -> str:
        return f"Options({self.source}, {dict(self.values)}, {len(self.storage)} storage options)"

    def with_values(self, **values: str) -> "Options":
        """Return the same options with some replaced."""
        return replace(self, values=tuple(sorted({**dict(self.values), **values}.items())))

    def text(self, name: str) -> str | None:
        """Return an option as given; None if it was not given."""
        return dict(self.values).get(name)

    def required(self, name: str, example: str) -> str:
        """Return a required option."""
        text = self.text(name)
        if text is None:
            raise InvalidArgumentError(f"{self.source} needs {name}, such as {example}")
        return text

    def number(self, name: str, default: int, *, least: int = 1) -> int:
        """Return an option that must be a whole number."""
        text = self.text(name)
        if text is None:
            return default
        number = int(text) if text.isdecimal() and len(text) < _MOST_DIGITS else text
        return whole_number(name, number, least)

    def flag(self, name: str, *, default: bool) -> bool:
        """Return an option that must be true or false."""
        text = self.text(name.lower())
        if text is not None and text.lower() not in ("true", "false"):
            raise InvalidArgumentError(f"{name} is true or false, not {shown(text)}")
        return default if text is None else text.lower() == "true"

    @property
    def allow_bases(self) -> tuple[str, ...]:
        """The locations that the table may use, beside those near it."""
        return tuple(self.texts("allow_bases") or ())

    def has_version(self, name: str) -> bool:
        """Tell whether a version was given, under any of its names."""
        return self._name_of(name) is not None

    def version_ref(self, name: str, view: HistoryView) -> VersionRef | None:
        """Return a version as given, as text or number; None if it was not given."""
        given = self._name_of(name)
        if given is None:
            return None
        text = self.text(given.lower()) or ""
        if given == name:
            return text
        if given.endswith("Timestamp") or given == "timestampAsOf":
            return self._version_at(view, given, text)
        if given == "startingVersion" and text.lower() == _LATEST:
            return view.latest_version
        if not text.isdecimal() or len(text) >= _MOST_DIGITS:
            raise InvalidArgumentError(f"{given} is a number of a version, not {shown(text)}")
        return int(text) - 1 if given == "startingVersion" and int(text) else int(text)

    def version(self, name: str, view: HistoryView, *, is_begin: bool = False) -> int | None:
        """Return an option that names a version of a branch; None if it was not given."""
        ref = self.version_ref(name, view)
        if ref is None:
            return None
        try:
            return version_number(view, ref, is_begin=is_begin)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{name}: {error}") from None

    def _name_of(self, name: str) -> str | None:
        """Return the name under which a version was given."""
        given = [n for n in (name, *_OTHER_NAMES[name]) if self.text(n.lower()) is not None]
        if len(given) > 1:
            raise InvalidArgumentError(f"give {given[0]} or {given[1]}, not both")
        return given[0] if given else None

    def _version_at(self, view: HistoryView, name: str, text: str) -> int:
        """Return the version at a time; as a start, the last version before that time."""
        time = self._time(name, text)
        if name == "startingTimestamp":
            last = view.history.records[-1]
            if last.manifest.timestamp is not None and time > last.manifest.timestamp:
                raise VersionNotFoundError(f"{name} {text} is after the latest version")
            try:
                return view.version_as_of(time - timedelta(microseconds=1))
            except VersionNotFoundError:
                return 0
        version = view.version_as_of(time)
        timestamp = view.version(view.latest_version).records[0].manifest.timestamp
        if name == "timestampAsOf" and timestamp is not None and time > timestamp:
            raise VersionNotFoundError(
                f"{name} {text} is after the latest version, {view.latest_version}, which was "
                f"committed at {timestamp.isoformat(sep=' ')}"
            )
        return version

    def _time(self, name: str, text: str) -> datetime:
        zone = self.text(_ZONE) or "UTC"
        try:
            time = datetime.fromisoformat(text.strip())
            return time if time.tzinfo else time.replace(tzinfo=ZoneInfo(zone))
        except (ValueError, ZoneInfoNotFoundError, OSError) as error:
            raise InvalidArgumentError(
                f"{name} must be a time such as 2026-11-22 12:00:00 and timeZone one such as "
                f"Europe/Berlin, not {shown(text)} in {shown(zone)}"
            ) from error

    def texts(self, name: str) -> list[str] | None:
        """Return an option that is a list: as JSON, or separated by commas."""
        text = self.text(name)
        if text is None:
            return None
        if not text.lstrip().startswith("["):
            return [part.strip() for part in text.split(",") if part.strip()]
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidArgumentError(f"{name} is a list in JSON, not {shown(text)}") from error
        return list(names(name, content))


def _no_option(source: str, name: str, names: Collection[str]) -> InvalidArgumentError:
    lower = {one.lower(): one for one in names}
    meant = get_close_matches(name, lower, 1)
    hint = f"; did you mean {lower[meant[0]]!r}? There" if meant else "; there"
    return InvalidArgumentError(
        f"{source} has no option {name!r}{hint} are: {', '.join(names)}, "
        f"and {STORAGE_PREFIX}... for object stores"
    )
