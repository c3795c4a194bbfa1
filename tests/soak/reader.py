"""Asks a table for everything while it is written to, and notes what it is told, and when."""

import json
import pickle
import random
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

import lance_explorer as lx
from lance_explorer.errors import (
    LanceExplorerError,
    NotFoundError,
    StorageError,
    TableNotFoundError,
)
from lance_explorer.inspect.catalogue import FRAMES, frame
from tests.soak.log import is_over, log_size

__all__ = ["Told", "main"]


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody was told: an answer, or an error.

    The table was looked at when the log had ``looked`` bytes or later; the question was put at
    ``begin`` and answered by ``end``.
    """

    question: str
    looked: int
    begin: int
    end: int
    answer: Any
    error: str | None
    message: str


class _SharedTable:
    """A table that several threads have; each may look again while others ask."""

    def __init__(self, table: lx.Table, looked: int) -> None:
        self.table = table
        self.looked = looked
        self.refreshing = threading.Lock()


class Reader:
    """One thread, which opens tables of its own, or uses a shared one."""

    def __init__(
        self, uri: str, log: Path, turns: Path, seed: int, options: dict[str, str]
    ) -> None:
        self._uri, self._log, self._turns = uri, log, turns
        self._options = options or None
        self._random = random.Random(seed)
        self.told: list[Told] = []
        self.crashes: list[str] = []

    def run(self, shared: _SharedTable | None) -> None:
        """Ask until the writer is over, and once more."""
        try:
            is_last = False
            while not is_last:
                is_last = is_over(self._log)
                with self._turns.open("ab") as file:
                    file.write(b".")
                self._turn(shared)
        except Exception:  # noqa: BLE001 - whatever it is, it is told
            self.crashes.append(traceback.format_exc())

    def _turn(self, shared: _SharedTable | None) -> None:
        held = shared
        if held is None:
            looked = log_size(self._log)
            table = self._ask("open", looked, lambda: lx.open_table(self._uri, None, self._options))
            if table is None:
                time.sleep(0.02)
                return
            held = _SharedTable(table, looked)
        elif self._random.random() < 0.5:
            with held.refreshing:
                looked = log_size(self._log)
                if self._ask("refresh", looked, held.table.refresh) is not None:
                    held.looked = looked
        for name in self._random.sample(sorted(_QUESTIONS), 5):
            looked = held.looked
            self._ask(name, looked, partial(_QUESTIONS[name], held.table, self._random))

    def _ask(self, question: str, looked: int, ask: Callable[[], Any]) -> Any:
        begin, answer, error, message = log_size(self._log), None, None, ""
        try:
            answer = ask()
        except LanceExplorerError as failure:
            kinds = (TableNotFoundError, NotFoundError, StorageError)
            kind = next((kind for kind in kinds if isinstance(failure, kind)), type(failure))
            error, message = kind.__name__, str(failure)
        except Exception:  # noqa: BLE001 - none but ours is documented
            error, message = "crash", traceback.format_exc()
        end = log_size(self._log)
        kept = None if isinstance(answer, lx.Table) else answer
        self.told.append(Told(question, looked, begin, end, kept, error, message))
        return answer


def _versions(table: lx.Table, _: random.Random) -> Any:
    return _facts(table.versions())


def _facts(versions: pl.DataFrame) -> list[tuple[int, int, int]]:
    times = versions["timestamp"].dt.epoch("us")
    return [*zip(versions["version"], times, versions["num_rows"], strict=True)]


def _any_two(table: lx.Table, chance: random.Random) -> list[tuple[int, int]]:
    """Return two kept versions as pairs of number and time, the earlier one first."""
    facts = [fact[:2] for fact in _facts(table.versions())]
    return sorted(chance.choices(facts[-12:], k=2))


def _rows(table: lx.Table, chance: random.Random) -> Any:
    version, _ = _any_two(table, chance)[0]
    snapshot = table.at(version)
    rows = snapshot.row_ids()
    read = snapshot.read(columns=["id", "stamp", "_rowid", "_rowaddr"])
    assert snapshot.timestamp is not None
    time = round(snapshot.timestamp.timestamp() * 1e6)
    values = sorted(read.select("_rowid", "_rowaddr", "id", "stamp").rows())
    return version, time, sorted(rows.select("_rowid", "_rowaddr").rows()), values


def _index(table: lx.Table, chance: random.Random) -> Any:
    snapshot = table.latest
    rows = snapshot.row_ids()
    found = snapshot.row_id_index().locate_many(rows["_rowid"])
    return found.to_list() == rows["_rowaddr"].to_list()


def _net(table: lx.Table, chance: random.Random) -> Any:
    one, other = _any_two(table, chance)
    changes = table.changes(one[0], other[0], images=None)
    lines = changes.to_polars().select("_change_type", "_rowid", "is_uncertain").rows()
    return one, other, lines, changes.summary().to_dicts()[0]


def _commits(table: lx.Table, chance: random.Random) -> Any:
    one, other = _any_two(table, chance)
    lines = table.changes(one[0], other[0], mode="per_commit", images=None).to_polars()
    return (
        one,
        other,
        lines.select("_commit_version", "_change_type", "_rowid", "is_uncertain").rows(),
    )


def _images(table: lx.Table, chance: random.Random) -> Any:
    one, other = _any_two(table, chance)
    lines = table.changes(one[0], other[0], mode="per_commit", images="both").to_polars()
    told = lines.filter(pl.col("_commit_version").is_not_null())
    return one, other, told.select("_commit_version", "_change_type", "_rowid", "stamp").rows()


def _diff(table: lx.Table, chance: random.Random) -> Any:
    one, other = _any_two(table, chance)
    diff = table.diff(one[0], other[0])
    return (
        one,
        other,
        bool(diff.same_content()),
        diff.rows().select("_change_type", "_rowid").rows(),
    )


def _follow(table: lx.Table, chance: random.Random) -> Any:
    one, other = _any_two(table, chance)
    ids = table.at(one[0]).row_ids()["_rowid"].to_list()[:40]
    events = table.follow(ids, begin_version=one[0], end_version=other[0])
    return (
        one,
        other,
        ids,
        events.select("_rowid", "version", "event", "is_uncertain", "evidence").rows(),
    )


def _follow_addresses(table: lx.Table, chance: random.Random) -> Any:
    one, other = _any_two(table, chance)
    ids = table.at(one[0]).row_ids()["_rowaddr"].to_list()[:40]
    found = table.follow_addresses(ids, one[0], other[0])
    return one, other, found.select("_rowaddr", "end_rowaddr", "outcome", "evidence").rows()


def _history(table: lx.Table, chance: random.Random) -> Any:
    ids = table.latest.row_ids()["_rowid"].to_list()
    if not ids:
        return None
    row_id = chance.choice(ids)
    events = table.row(row_id).history(values=True)
    times = events["timestamp"].dt.epoch("us")
    return row_id, [*zip(events["version"], times, events["event"], strict=True)]


def _check(table: lx.Table, _: random.Random) -> Any:
    return table.check_row_ids().select("code", "first_version", "statement").rows()


def _findings(table: lx.Table, _: random.Random) -> Any:
    return table.inspect.findings().select("code", "first_version", "statement").rows()


def _gaps(table: lx.Table, _: random.Random) -> Any:
    return _facts(table.versions())[-1][:2], table.inspect.gaps().select(
        "first_version", "last_version"
    ).rows()


def _health(table: lx.Table, _: random.Random) -> Any:
    found = table.inspect.health()
    return (
        found.filter(pl.col("code") == "not_checked")
        .select("code", "first_version", "statement")
        .rows()
    )


def _frame(table: lx.Table, chance: random.Random) -> Any:
    name = chance.choice(sorted(FRAMES))
    ask = table.versions if name == "versions" else getattr(table.inspect, name)
    found: pl.DataFrame = ask()
    problems = found["problem"].drop_nulls().to_list() if "problem" in found.columns else []
    return [("problem", None, f"{name}: {problem}") for problem in problems]


def _sql(table: lx.Table, _: random.Random) -> Any:
    query = (
        "SELECT (SELECT count(*) FROM dataset) AS n, (SELECT max(version) FROM versions) AS v, "
        "(SELECT max(timestamp) FROM versions) AS t"
    )
    [(rows, version, time)] = table.sql(query).rows()
    return version, round(time.timestamp() * 1e6), rows


def _lineage(table: lx.Table, _: random.Random) -> Any:
    lineage = table.lineage()
    return len(lineage.fragments()), len(lineage.edges())


def _tags(table: lx.Table, chance: random.Random) -> Any:
    tags = sorted(table.tags)
    return table.at(chance.choice(tags)).num_rows if tags else None


def _branches(table: lx.Table, chance: random.Random) -> Any:
    branches = sorted(table.branches)
    if not branches:
        return None
    name = chance.choice(branches)
    fork = table.branches[name].parent_version
    rows = table.at((name, fork)).row_ids()
    return len(rows), len(table.diff(table.latest, (name, fork)).rows(images=None))


def _text(table: lx.Table, _: random.Random) -> Any:
    return len(repr(table)), len(table._repr_html_())


_QUESTIONS: dict[str, Callable[[lx.Table, random.Random], Any]] = {
    "versions": _versions,
    "rows": _rows,
    "index": _index,
    "net": _net,
    "commits": _commits,
    "images": _images,
    "diff": _diff,
    "follow": _follow,
    "follow_addresses": _follow_addresses,
    "history": _history,
    "check": _check,
    "findings": _findings,
    "gaps": _gaps,
    "health": _health,
    "frame": _frame,
    "sql": _sql,
    "lineage": _lineage,
    "tags": _tags,
    "branches": _branches,
    "text": _text,
}


def read_along(
    uri: str, log: Path, turns: Path, seed: int, options: dict[str, str]
) -> tuple[list[Told], list[str]]:
    """Ask from three threads, of whom two share a table, until the writer is over."""
    while not (log.exists() and log_size(log)):
        time.sleep(0.002)
    looked = log_size(log)
    shared = _SharedTable(lx.open_table(uri, None, options or None), looked)
    readers = [Reader(uri, log, turns, seed + number, options) for number in range(3)]
    threads = [
        threading.Thread(target=reader.run, args=(held,))
        for reader, held in zip(readers, (shared, shared, None), strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    crashes = [crash for reader in readers for crash in reader.crashes]
    fresh = lx.open_table(uri, None, options or None)
    shared.table.refresh()
    for name in FRAMES:
        followed, opened = [frame(table._view, name) for table in (shared.table, fresh)]
        if not followed.equals(opened):
            one, other = [{str(line) for line in rows.to_dicts()} for rows in (followed, opened)]
            crashes.append(
                f"a table that was refreshed all the time has another frame {name} than one opened "
                f"now: {sorted(one - other)[:3]} instead of {sorted(other - one)[:3]}"
            )
    return [told for reader in readers for told in reader.told], crashes


def main() -> None:
    """Read along as the command line says; write what was told into a file."""
    uri, log, turns, seed, options, out = sys.argv[1:]
    found = read_along(uri, Path(log), Path(turns), int(seed), json.loads(options))
    Path(out).write_bytes(pickle.dumps(found))
