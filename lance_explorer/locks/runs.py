"""Runs that read tables: locks with a name, a time and a link; and which runs read a row."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import polars as pl

from lance_explorer.answers import Answer, Answering, Section
from lance_explorer.arguments import many, of_kind, path, text
from lance_explorer.errors import InvalidArgumentError, LanceExplorerError
from lance_explorer.frames.columns import BRANCH, COUNT, ID, TEXT, TIME, Column, FrameSchema
from lance_explorer.frames.documented import documented
from lance_explorer.frames.sizes import counted
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.ledger import Ledger, place_of
from lance_explorer.ledger.places import Place
from lance_explorer.lineage.matching_at import matching_in
from lance_explorer.locks.lock_text import Lock, lock, read_lock
from lance_explorer.locks.verifying import verify
from lance_explorer.snapshot import Snapshot
from lance_explorer.storage import Options
from lance_explorer.storage.secrets import hiding_arguments
from lance_explorer.table import open_table

__all__ = ["READINGS", "RUNS", "Runs", "runs"]

_SUFFIX = ".lock"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_IN_LEDGER = "runs"

_FACTS = (
    Column("name", TEXT, "name of the run; for a lock without a name, the name of its file"),
    Column("started_at", TIME, "when it began to read; null: not in the lock", nullable=True),
    Column("link", TEXT, "link to more information on the run", nullable=True),
    Column("uri", TEXT, "root of the table that it read"),
    BRANCH,
    Column("version", ID, "the version that it read"),
)

RUNS = FrameSchema(
    "runs",
    (
        *_FACTS,
        Column("num_rows", COUNT, "rows of that version; null: not known", True, "rows"),
        Column("file", TEXT, "file of the lock"),
    ),
)
"""The columns of ``Runs.to_polars()``."""

READINGS = FrameSchema(
    "readings",
    (
        *_FACTS,
        Column("rows", COUNT, "number of such rows that it read; null: unknown", True, "rows"),
        Column("problem", TEXT, "why the number is unknown; null: it is known", nullable=True),
    ),
)
"""The columns of ``runs.reading(...)``."""


@dataclass(frozen=True, slots=True)
class _Run:
    """One lock of a run."""

    name: str
    started_at: datetime | None
    link: str | None
    lock: Lock
    text: str
    file: str

    @property
    def facts(self) -> tuple[Any, ...]:
        of = self.lock
        return self.name, self.started_at, self.link, of.uri, of.branch, of.version


@hiding_arguments
def runs(
    place: str | os.PathLike[str] | Ledger, storage_options: Mapping[str, str] | None = None
) -> "Runs":
    """Return the runs whose locks are in a folder, or in a ledger.

    Parameters
    ----------
    place : str, os.PathLike or Ledger
        The folder, a local one or one in an object store, and all folders below it: each file
        ``*.lock`` that :meth:`Runs.add` or :func:`lock` made is a run. It need not exist yet.
    storage_options : mapping of str to str, optional
        Address and credentials of the folder's store.

    Returns
    -------
    Runs

    Examples
    --------
    >>> told = lx.runs(folder / "runs")
    >>> _ = told.add("train-7", table.at(4), link="https://ci.example/7")
    >>> told
    Runs(...runs: 1 run, of 1 table.)
    """
    if isinstance(place, Ledger):
        at = place_of(place)
        return Runs(Place(f"{at.uri}/{_IN_LEDGER}", at.storage.options))
    return Runs(Place(path("place", place), Options(storage_options)))


class Runs(Answering):
    """Which runs read which versions. Made by :func:`runs`; looked for anew at each question.

    Examples
    --------
    >>> told = lx.runs(folder / "none yet")
    >>> told.sentence
    '0 runs.'
    """

    def __init__(self, place: Place) -> None:
        self._place = place

    def add(
        self,
        name: str,
        snapshots: Snapshot | Sequence[Snapshot],
        *,
        link: str | None = None,
        started_at: datetime | None = None,
    ) -> list[str]:
        """Record that a run reads some versions; return the paths of the lock files.

        Parameters
        ----------
        name : str
            What the run is called. A run that reads the same version again replaces its lock.
        snapshots : Snapshot or sequence of Snapshot
            The versions, of one table or of several: ``table.at("clean")``.
        link : str, optional
            Where more is said of it, such as the page of an experiment.
        started_at : datetime, optional
            When it began to read; now by default. A time without a zone is UTC.

        Examples
        --------
        >>> lx.runs(folder / "more").add("train-8", table.at("clean"))
        ['train-8-....lock']
        """
        name = text("name", name)
        if not name.strip():
            raise InvalidArgumentError("name of the run must not be empty")
        given = [snapshots] if isinstance(snapshots, Snapshot) else snapshots
        read = many("snapshots", given, Snapshot, "a Snapshot such as table.at(7), or several")
        if not read:
            raise InvalidArgumentError("snapshots is empty: give what the run reads: table.at(7)")
        if started_at is not None:
            started_at = of_kind("started_at", started_at, datetime, "a datetime")
        time = started_at or datetime.now(UTC)
        run = {
            "name": name,
            "started_at": (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat(),
            "link": None if link is None else text("link", link),
        }
        files = list[str]()
        for of in read:
            self._place.check_apart(of._view.uri)
            members = json.loads(lock(of))
            what = f"{name} {members['uri']} {members['branch']} {members['version']}"
            file = f"{_UNSAFE.sub('_', name)}-{sha256(what.encode()).hexdigest()[:12]}{_SUFFIX}"
            lock_text = json.dumps({**members, "run": run}, indent=2, ensure_ascii=False)
            self._place.write(file, f"{lock_text}\n".encode(errors="surrogatepass"))
            files.append(file)
        return files

    @documented(RUNS)
    def to_polars(self) -> pl.DataFrame:
        """Return one row for each version that a run read, the latest run first.

        Examples
        --------
        >>> told = lx.runs(folder / "runs")
        >>> _ = told.add("train-7", table.at("clean"), link="https://ci.example/7")
        >>> told.to_polars().select("name", "version", "num_rows").rows()
        [('train-7', 4, 9)]
        """
        some = [(*run.facts, run.lock.num_rows, run.file) for run in self._runs()]
        return _built(RUNS, some)

    @documented(READINGS)
    def reading(
        self,
        where: str,
        *,
        table: Any = None,
        storage_options: Mapping[str, str] | None = None,
    ) -> pl.DataFrame:
        """Return which runs read matching rows, and how many: their models need a new training.

        A row counts if it matched in the version that the run read. With stable row IDs a row also
        counts if it existed in the version read and matches in the latest version. Runs that read
        no such row are left out.

        Parameters
        ----------
        where : str
            Which rows, as an SQL expression.
        table : str, os.PathLike, Table, lance.LanceDataset or lancedb table, optional
            Only runs that read this table. It is looked for there, if it was moved.
        storage_options : mapping of str to str, optional
            Address and credentials of the tables' store.

        Examples
        --------
        >>> told = lx.runs(folder / "runs")
        >>> _ = told.add("train-7", table.at("clean"))
        >>> told.reading("id = 5").select("name", "version", "rows", "problem").rows()
        [('train-7', 4, 1, None)]
        """
        where = text("where", where)
        options = Options(storage_options)
        asked = None if table is None else open_table(table, storage_options=options)
        known = dict[tuple[str, str | None, int, str], tuple[int | None, str | None]]()
        lines = list[tuple[Any, ...]]()
        for run in self._runs():
            of = run.lock
            if asked is not None and not _is_of(asked._view, of):
                continue
            key = of.uri, of.branch, of.version, of.manifest_sha256
            if key not in known:
                known[key] = _rows_read(run, where, asked or of.uri, options)
            num_rows, problem = known[key]
            if num_rows != 0:
                lines.append((*run.facts, num_rows, problem))
        return _built(READINGS, lines)

    @property
    def answer(self) -> Answer:
        """How many runs there are, and which."""
        runs = self.to_polars()
        names, tables = runs["name"].n_unique(), runs["uri"].n_unique()
        of = f", of {counted(tables, 'table')}" if names else ""
        return Answer(
            f"{counted(names, 'run')}{of}.",
            (Section("runs", "", runs, schema=RUNS),),
            f"lx.runs({self._place.uri!r})",
        )

    @property
    def _subject(self) -> str:
        return PurePosixPath(self._place.uri).name

    def _runs(self) -> list[_Run]:
        """Return all runs, latest first; files that are not locks of a table are ignored."""
        runs = list[_Run]()
        for file in self._files(""):
            try:
                data = self._place.read(file).decode()
                runs.append(_run_of(file, data))
            except (InvalidArgumentError, UnicodeDecodeError, FileNotFoundError):
                continue
        begin = datetime.min.replace(tzinfo=UTC)
        return sorted(runs, key=lambda run: run.started_at or begin, reverse=True)

    def _files(self, folder: str) -> Iterator[str]:
        below = f"{folder}/" if folder else ""
        for info in self._place.files(folder):
            if info.name.endswith(_SUFFIX):
                yield f"{below}{info.name}"
        for name in self._place.folders(folder):
            yield from self._files(f"{below}{name}")


def _built(schema: FrameSchema, rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema.names)
    return schema.build(dict(zip(schema.names, columns, strict=True)))


def _run_of(file: str, data: str) -> _Run:
    """Return the run of a lock."""
    member = json.loads(data).get("run") if data.lstrip().startswith("{") else None
    run = member if isinstance(member, dict) else {}
    name, link = run.get("name"), run.get("link")
    try:
        started_at = datetime.fromisoformat(run["started_at"]).astimezone(UTC)
    except (KeyError, TypeError, ValueError):
        started_at = None
    return _Run(
        name if isinstance(name, str) else file.removesuffix(_SUFFIX),
        started_at,
        link if isinstance(link, str) else None,
        read_lock(data),
        data,
        file,
    )


def _is_of(view: HistoryView, of: Lock) -> bool:
    """Whether a lock belongs to a table, even if the table was moved."""
    if view.uri == of.uri:
        return True
    return _has_manifest(of, view)


def _has_manifest(of: Lock, view: HistoryView) -> bool:
    """Whether a table has the manifest of a lock."""
    try:
        branch = view.on_branch(of.branch)
        manifest = branch.storage.get(branch.file(of.version).path)
    except (LanceExplorerError, FileNotFoundError):
        return False
    return sha256(manifest).hexdigest() == of.manifest_sha256


def _rows_read(
    run: _Run, where: str, table: Any, options: Options
) -> tuple[int | None, str | None]:
    """Return how many matching rows a run read, or why the number is unknown."""
    of = run.lock
    try:
        verified = verify(run.text, table, options, check_files=False)
        if not verified:
            return None, verified.sentence
        opened = open_table(table, of.branch, options) if isinstance(table, str) else table
        view = opened._view.on_branch(of.branch)
        rows = state_rows(view)
        matches = matching_in(rows, rows.history.position(of.version), where)
        ids = matches["_rowid"].to_numpy()
        if of.has_stable_row_ids and rows.has_row_ids:
            ids = np.union1d(ids, _there_by_now(view, of.version, where))
    except LanceExplorerError as error:
        return None, str(error)
    return len(ids), None


def _there_by_now(view: HistoryView, version: int, where: str) -> np.ndarray[Any, Any]:
    """Return the row IDs of rows that match in the latest version and existed in another."""
    rows = state_rows(view)
    last = rows.history.position(view.latest_version)
    try:
        now = matching_in(rows, last, where)["_rowid"]
    except InvalidArgumentError:  # a column has another name now
        return np.empty(0, dtype=np.uint64)
    there = Snapshot(view, version).row_id_index().locate_many(now.to_numpy())
    return now.filter(there.is_not_null()).to_numpy()
