"""Looks at unchanged tables: kept in memory and in the user's cache folder.

A look counts as long as the folder of the table has the same objects, by name, size and time, for a
day at most, and until a file of a running commit would count as left over.
"""

import time
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from importlib.metadata import version as release_of

import msgspec
import polars as pl

from lance_explorer.database.look import TABLES, Look
from lance_explorer.database.members import Member
from lance_explorer.disk.owners import DAYS_IN_FLIGHT
from lance_explorer.disk.usage import USAGE
from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import Finding
from lance_explorer.ledger.cache_files import read_file, write_file
from lance_explorer.storage import open_storage

__all__ = ["KeptLooks", "Listed", "listed"]

_LONGEST = timedelta(days=1).total_seconds()
_IN_FLIGHT = timedelta(days=DAYS_IN_FLIGHT).total_seconds()
_FILE = "looks.msgpack"


class Listed(msgspec.Struct, frozen=True):
    """The content of the folder of a table.

    Attributes
    ----------
    digest : str
        Of all objects: names, sizes, times.
    until : float
        When a look at it does not count any more, in seconds since 1970.
    """

    digest: str
    until: float


class _Kept(msgspec.Struct):
    """A look in its stored form."""

    listed: Listed
    facts: dict[str, int | str | list[int] | None]
    times: dict[str, datetime | None]
    usage: list[tuple[str, str, int, int]]
    findings: list[Finding]
    not_counted: tuple[str, ...]
    tags: tuple[str, ...]


class _File(msgspec.Struct):
    release: str
    looks: dict[str, _Kept]


_TIMES = [column.name for column in TABLES.columns if isinstance(column.dtype, pl.Datetime)]


def listed(member: Member) -> Listed | None:
    """Return the content of the folder of a table; None if a look at it must not be kept."""
    if member.problem is not None or member.commits is not None or member.ledger is not None:
        return None
    now, digest, soonest = time.time(), sha256(release_of("lance-explorer").encode()), float("inf")
    try:
        storage = open_storage(member.uri, member.storage_options)
        files = sorted(storage.live.list_all())
    except LanceExplorerError:
        return None
    for file in files:
        digest.update(f"{file.name}\0{file.size_bytes}\0{file.modified_ns}\0".encode())
        ripe = file.modified_ns / 1e9 + _IN_FLIGHT
        if ripe > now:
            soonest = min(soonest, ripe)
    for base in member.allow_bases:
        digest.update(base.encode())
    return Listed(digest.hexdigest(), min(soonest, now + _LONGEST))


class KeptLooks:
    """The looks at the tables of one database.

    Parameters
    ----------
    uri : str
        The database.
    """

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._looks: dict[str, _Kept] | None = None

    def get(self, member: Member, there: Listed | None) -> Look | None:
        """Return the look at a table, if nothing changed since."""
        if self._looks is None:
            self._looks = self._read()
        kept = self._looks.get(member.name)
        if there is None or kept is None or kept.listed.digest != there.digest:
            return None
        return _look(kept) if time.time() < kept.listed.until else None

    def put(self, there: Mapping[str, Listed | None], looks: Collection[Look]) -> None:
        """Keep looks at tables, with the content of their folders before the look."""
        kept = self._looks if self._looks is not None else {}
        for look in looks:
            before = there[look.name]
            if before is not None and not look.bases:  # else files elsewhere may change
                kept[look.name] = _kept(before, look)
        gone = kept.keys() - there.keys()
        self._looks = {name: one for name, one in kept.items() if name not in gone}
        if looks or gone:
            self._write()

    def _read(self) -> dict[str, _Kept]:
        data = read_file(self._folder, _FILE)
        if data is None:
            return {}
        try:
            read = msgspec.msgpack.decode(data, type=_File)
        except (msgspec.DecodeError, KeyError):
            return {}  # another release wrote it
        return read.looks if read.release == release_of("lance-explorer") else {}

    def _write(self) -> None:
        kept = _File(release_of("lance-explorer"), self._looks or {})
        write_file(self._folder, _FILE, msgspec.msgpack.encode(kept))

    @property
    def _folder(self) -> str:
        return f"database-{sha256(self._uri.encode()).hexdigest()[:32]}"


def _kept(there: Listed, look: Look) -> _Kept:
    facts = {name: value for name, value in look.facts.items() if name not in _TIMES}
    times = {name: look.facts[name] for name in _TIMES}
    usage = look.usage.with_columns(pl.col("kind", "status").cast(pl.String))
    return msgspec.convert(
        {
            "listed": there,
            "facts": facts,
            "times": times,
            "usage": usage.rows(),
            "findings": [*look.findings],
            "not_counted": look.not_counted,
            "tags": look.tags,
        },
        _Kept,
    )


def _look(kept: _Kept) -> Look:
    facts = {**kept.facts, **kept.times}
    columns = zip(*kept.usage, strict=True) if kept.usage else [()] * len(USAGE.names)
    usage = USAGE.build(
        {name: [*column] for name, column in zip(USAGE.names, columns, strict=True)}
    )
    return Look(
        {name: facts[name] for name in TABLES.names},
        usage,
        tuple(kept.findings),
        kept.not_counted,
        kept.tags,
    )
