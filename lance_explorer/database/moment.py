"""All tables of a database at one time: the version of each, and a lock of all."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from lance_explorer.answers import Answer, Section
from lance_explorer.arguments import path, shown
from lance_explorer.database.of_tables import OfTables
from lance_explorer.errors import (
    InvalidArgumentError,
    LanceExplorerError,
    StorageError,
)
from lance_explorer.frames.columns import COUNT, ID, TEXT, TIME, Column, FrameSchema
from lance_explorer.frames.documented import documented
from lance_explorer.frames.sizes import counted
from lance_explorer.locks import Verification, lock, verify
from lance_explorer.shown import visible_json
from lance_explorer.snapshot import Snapshot

__all__ = ["MOMENT", "VERIFIED", "Moment", "Verifications", "locks_in", "verify_all"]

MOMENT = FrameSchema(
    "moment",
    (
        Column("name", TEXT, "name of the table"),
        Column("version", ID, "its version then; null: it had none, or cannot be read", True),
        Column("timestamp", TIME, "when that was committed", nullable=True),
        Column("operation", TEXT, "operation as Lance names it", nullable=True),
        Column("num_rows", COUNT, "its rows; null: not known", nullable=True, unit="rows"),
        Column("problem", TEXT, "why there is no version; null: there is", nullable=True),
    ),
)
"""The columns of ``Moment.to_polars()``."""

VERIFIED = FrameSchema(
    "verified",
    (
        Column("name", TEXT, "name of the table"),
        Column("version", ID, "the version that was locked", nullable=True),
        Column("status", TEXT, "what became of it, as `lx.verify` says; null: not known", True),
        Column("sentence", TEXT, "that in words, or why it is not known"),
    ),
)
"""The columns of ``Verifications.to_polars()``."""

_FORMAT_KEY = "lance_explorer_locks"
_FORMAT = 1
_MOST_BYTES = 256 << 20


class Moment(OfTables[Snapshot]):
    """All tables of a database at one time.

    Made by :meth:`Database.at`. ``moment["photos"]`` is the Snapshot of a table.

    Attributes
    ----------
    answer : Answer
        The version of each table.

    Examples
    --------
    >>> moment = database.at("today")
    >>> moment["people"].version
    7
    >>> [*moment]
    ['people']
    """

    def __init__(
        self, name: str, uri: str, when: str, found: Mapping[str, Snapshot | LanceExplorerError]
    ) -> None:
        super().__init__(name, found)
        self._uri, self._when = uri, when

    @documented(MOMENT)
    def to_polars(self) -> pl.DataFrame:
        """Return one row for each table.

        Examples
        --------
        >>> database.at("today").to_polars().select("name", "version", "num_rows").rows()
        [('people', 7, 9)]
        """
        some = [
            (name, one, None) if isinstance(one, Snapshot) else (name, None, str(one))
            for name, one in self._found.items()
        ]
        return MOMENT.build(
            {
                "name": [name for name, _, _ in some],
                "version": [one and one.version for _, one, _ in some],
                "timestamp": [one and one.timestamp for _, one, _ in some],
                "operation": [one and one.operation for _, one, _ in some],
                "num_rows": [one and one.num_rows for _, one, _ in some],
                "problem": [problem for _, _, problem in some],
            }
        )

    @property
    def answer(self) -> Answer:
        """Which version each table had."""
        there = len(self)
        rest = len(self._found) - there
        without = f"; {counted(rest, 'table')} had none, or cannot be read" if rest else ""
        return Answer(
            f"At {self._when}: a version of {counted(there, 'table')}{without}.",
            (Section("tables", "", self.to_polars(), schema=MOMENT),),
            f"database.at({self._when!r})",
        )

    def lock(self) -> str:
        """Return what identifies these versions of all tables, as a text to keep in a file.

        It is JSON that contains a lock of each table, as :func:`lance_explorer.lock` makes it.
        :meth:`Database.verify` and ``lance-explorer verify`` later check whether all are still
        there.

        Raises
        ------
        StorageError
            If a table has no version of that time or cannot be read: then it cannot be locked.

        Examples
        --------
        >>> text = database.at("today").lock()
        >>> database.verify(text)
        Verifications(lock: 1 table is as it was locked.)
        """
        missing = [name for name, one in self._found.items() if not isinstance(one, Snapshot)]
        if missing:
            raise StorageError(
                f"{counted(len(missing), 'table')} cannot be locked, such as {shown(missing[0])}: "
                f"{self._found[missing[0]]}"
            )
        tables = {name: json.loads(lock(one)) for name, one in self._answers.items()}
        members = {_FORMAT_KEY: _FORMAT, "database": self._uri, "tables": tables}
        return visible_json(json.dumps(members, indent=2, ensure_ascii=False)) + "\n"


class Verifications(OfTables[Verification]):
    """The state of the versions in a lock of many tables.

    It is true if all are unchanged. ``found["photos"]`` is the Verification of a table.

    Attributes
    ----------
    answer : Answer
        It in words, table by table.
    """

    def __init__(self, found: Mapping[str, Verification | LanceExplorerError]) -> None:
        super().__init__("lock", found)

    def __bool__(self) -> bool:
        return self.is_known and all(self._answers.values())

    @property
    def is_known(self) -> bool:
        """Whether the state of all tables is known."""
        return len(self) == len(self._found)

    @documented(VERIFIED)
    def to_polars(self) -> pl.DataFrame:
        """Return one row for each table.

        Examples
        --------
        >>> database.verify(database.lock()).to_polars().select("name", "status").rows()
        [('people', 'unmoved')]
        """
        some = [
            (name, one.lock.version, one.status, one.sentence)
            if isinstance(one, Verification)
            else (name, None, None, str(one))
            for name, one in self._found.items()
        ]
        return VERIFIED.build(
            {part: [one[place] for one in some] for place, part in enumerate(VERIFIED.names)}
        )

    @property
    def answer(self) -> Answer:
        """How many are unchanged, and the state of the others."""
        frame = self.to_polars()
        same = sum(bool(one) for one in self._answers.values())
        others = len(frame) - same
        verb = "is as it was" if same == 1 else "are as they were"
        rest = f"; {counted(others, 'other table')} not" if others else ""
        section = Section("tables", "", frame, words=("sentence",), schema=VERIFIED)
        return Answer(f"{counted(same, 'table')} {verb} locked{rest}.", (section,))


def locks_in(given: str | os.PathLike[str]) -> dict[str, str] | None:
    """Return the locks of a lock of many tables, by name; None if it is not one.

    Parameters
    ----------
    given : str or os.PathLike
        The path of a file, or its text.
    """
    text = given if isinstance(given, str) and given.lstrip().startswith("{") else _read(given)
    try:
        members: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(members, dict) or _FORMAT_KEY not in members:
        return None
    number, tables = members[_FORMAT_KEY], members.get("tables")
    if number != _FORMAT:
        raise InvalidArgumentError(
            f"this is a lock of many tables of format {shown(number)}, and this release knows "
            f"{_FORMAT}"
        )
    if not isinstance(tables, dict):
        raise InvalidArgumentError("this lock of many tables is damaged: 'tables' is no object")
    return {name: json.dumps(one) for name, one in tables.items()}


def _read(given: str | os.PathLike[str]) -> str:
    file = Path(path("lock", given))
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode(errors="replace")
    except OSError:
        return ""  # as a lock of one table it gets a better error


def verify_all(locks: Mapping[str, str], tables: Mapping[str, Any]) -> Verifications:
    """Return the state of locked versions; ``tables`` says where each table is now."""
    answers = dict[str, Verification | LanceExplorerError]()
    for name, one in locks.items():
        try:
            answers[name] = verify(one, tables.get(name))
        except LanceExplorerError as error:
            answers[name] = error
    return Verifications(answers)
