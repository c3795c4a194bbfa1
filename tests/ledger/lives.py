"""``python -m tests.ledger.lives --lives 200 --seed 1``: what cleanups take, a ledger has.

A table lives a random life (tests/differential/random_lives) and is cleaned up at random moments,
each time recorded before, with its values. Every file that it ever had is kept apart, too. In the
end what is said of the table with its ledger is what is said of the table with all of its files.
"""

import argparse
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import polars as pl

import lance_explorer as lx
from lance_explorer.errors import LanceExplorerError
from lance_explorer.history import view as views
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.catalogue import Inspect
from lance_explorer.ledger.recorded_history import recorded_history
from tests.differential.random_lives.life import Lived, take
from tests.differential.random_lives.registry import ACTIONS
from tests.differential.random_lives.upkeep import clean_up_front, clean_up_some
from tests.differential.random_lives.world import Refused, World
from tests.ledger.asking import everything, log_of, read

__all__ = ["Cleaned", "live_and_clean_up", "main"]


def _clean_up_most(world: World, rng: Random) -> str:
    retained = rng.randint(1, 2)
    world.dataset().cleanup_old_versions(
        retain_versions=retained, error_if_tagged_old_versions=False
    )
    return f"clean up all but {retained}"


_CLEANUPS = {
    "clean_up_some": clean_up_some,
    "clean_up_front": clean_up_front,
    "clean_up_most": _clean_up_most,
}
_WITHOUT = ("migrate_names", *_CLEANUPS)  # files of both schemes are no table

_FRAMES = [
    name
    for name in vars(Inspect)
    if not name.startswith("_") and name not in ("findings", "rows", "storage", "tables", "query")
]
"""What a cleanup does not change, where a ledger has what it removed: not what is on disk."""

_IS_NULL = "value IS NULL"
_FILTERS = ("key % 3 = 1", "label LIKE '%3%'", _IS_NULL, "s2")

Answer = pl.DataFrame | str


@dataclass
class Cleaned:
    """A life, how often it was cleaned up, how many versions that took, and what is wrong then."""

    seed: int
    kind: str
    cleanups: int = 0
    lost: int = 0
    recordings: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    steps: list[tuple[int, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def live_and_clean_up(seed: int, steps: Iterable[int]) -> Cleaned:
    """Live some steps of a life, and compare the ledger with all the files that there ever were."""
    os.environ["LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES"] = "1"
    with TemporaryDirectory() as folder:
        return _Life(Path(folder), seed).live(steps)


class _Life:
    def __init__(self, folder: Path, seed: int) -> None:
        self._seed = seed
        self._world = World.create(folder, Random(f"{seed}"))
        world = self._world
        self._lived = Lived(seed, "", [], {}, [], {})
        self._cleaned = Cleaned(
            seed, f"{'stable' if world.stable else 'addresses'}, {world.data_format}"
        )
        if "lance.row_lineage.spill" in world.dataset().config():
            self._cleaned.kind += ", spilled"
        self._ledger = lx.Ledger(folder / "ledger")
        self._all_files = folder / "all.lance"

    def live(self, steps: Iterable[int]) -> Cleaned:
        for number in steps:
            rng = Random(f"{self._seed} {number}")
            [chosen] = rng.choices(ACTIONS, [one.weight for one in ACTIONS])
            if chosen.name in _CLEANUPS:
                self._clean_up(number, chosen.name)
            else:
                take(self._world, number, Random(f"{self._seed} {number}"), self._lived, _WITHOUT)
            rng = Random(f"{self._seed} {number} upkeep")
            if rng.random() < 0.1:
                self._clean_up(number, rng.choice([*_CLEANUPS]))
            elif rng.random() < 0.1:
                self._record()
        for branch in self._world.lines:
            self._world.head = branch
            self._clean_up(-1, "clean_up_most")
        self._cleaned.steps = self._lived.steps
        self._compare()
        return self._cleaned

    def _record(self) -> None:
        self._ledger.record(self._world.root, values=True)
        self._cleaned.recordings += 1
        shutil.copytree(self._world.root, self._all_files, dirs_exist_ok=True)

    def _clean_up(self, number: int, name: str) -> None:
        self._record()
        before = self._num_manifests()
        try:
            words = _CLEANUPS[name](self._world, Random(f"{self._seed} {number} {name}"))
        except (Refused, OSError, ValueError, RuntimeError):
            return
        self._lived.steps.append((number, words))
        self._cleaned.cleanups += 1
        self._cleaned.lost += before - self._num_manifests()

    def _num_manifests(self) -> int:
        return len([*Path(self._world.root).rglob("*.manifest")])

    def _compare(self) -> None:
        """Ask the table with its ledger, then the one with all files, at the same place."""
        root = Path(self._world.root)
        self._record()
        shutil.rmtree(self._all_files / "_refs", ignore_errors=True)  # some were removed
        if (root / "_refs").exists():
            shutil.copytree(root / "_refs", self._all_files / "_refs")
        with_ledger = {branch: self._answers(branch, ledger=True) for branch in self._world.lines}
        root.rename(root.with_name("cleaned.lance"))
        self._all_files.rename(root)
        for branch in self._world.lines:
            self._compare_manifests(branch)
            expected = self._answers(branch, ledger=False)
            for question, answer in with_ledger[branch].items():
                self._cleaned.answers[_kind(answer)] += 1
                if not _equal(answer, expected[question]):
                    self._cleaned.wrong.append(
                        f"{question} on {branch or 'main'}: {_unlike(answer, expected[question])}"
                    )

    def _compare_manifests(self, branch: str | None) -> None:
        view = HistoryView.open(self._world.root, branch)
        log = log_of(self._ledger, view)
        for file in (*view.listing.versions, *view.listing.detached):
            if log.manifest(file.version) != view.storage.get(file.path):
                self._cleaned.wrong.append(f"the manifest of {branch}@{file.version} is another")
        fast, slow = recorded_history(log, view.listing.versions), read(view)
        for name, value in everything(fast).items():
            if name != "detached" and value != everything(slow)[name]:
                self._cleaned.wrong.append(f"{name} of the recorded history of {branch}")

    def _answers(self, branch: str | None, *, ledger: bool) -> dict[str, Answer]:
        rng = Random(f"{self._seed} {branch}")
        table = lx.open_table(self._world.root, branch, ledger=self._ledger if ledger else None)
        questions = dict(self._questions(branch, table, rng))
        part_of = 0 if self._seed % 2 else views._PART_OF  # 0: each reads its own versions alone
        with patch.object(views, "_PART_OF", part_of):
            return {name: _answer(ask) for name, ask in questions.items()}

    def _questions(
        self, branch: str | None, table: lx.Table, rng: Random
    ) -> Iterator[tuple[str, Callable[[], pl.DataFrame]]]:
        seen = self._world.lines[branch].seen
        versions = sorted(seen)
        yield "versions", table.versions
        yield "versions, inherited", partial(table.versions, inherited=True)
        for name in _FRAMES:
            yield name, getattr(table.inspect, name)
        yield "check_row_ids", table.check_row_ids
        yield "compaction_lineage", partial(_compactions, table)
        yield "edges", lambda: table.lineage().edges()
        yield "fragments of lineage", lambda: table.lineage().fragments()
        yield "states of lineage", lambda: table.lineage().states()
        yield "commits", partial(_changes, table, versions[0], None, "per_commit")
        yield "commits with values", partial(_with_values, table, versions[0], None, "per_commit")
        for where in _FILTERS:
            if where == _IS_NULL and self._world.data_format == "legacy":
                continue  # pylance finds null, and reads 0, where a file lacks the column
            yield f"find {where}", partial(_found, table, where)
        yield "blame", partial(_blame, table)
        yield "profile", lambda: table.profile().to_polars()
        for version in rng.sample(versions, min(3, len(versions))):
            yield f"row_ids at {version}", partial(_row_ids, table, version)
            yield f"fragments at {version}", partial(table.inspect.fragments, version)
            yield f"transaction of {version}", partial(_transaction, table, version)
        for _ in range(4):
            begin, end = sorted(rng.choices([0, *versions], k=2))
            yield f"net {begin} {end}", partial(_changes, table, begin, end, "net")
            yield f"drift {begin} {end}", partial(_drift, table, begin, end)
            yield f"net {begin} {end}, values", partial(_with_values, table, begin, end, "net")
            begin, end = rng.choices(versions, k=2)
            rows = [*seen[begin].rows.values()]
            places = [row.address for row in rows]
            where = f"{begin} {end}"
            yield f"addresses {where}", partial(table.follow_addresses, places, begin, end)
            begin, end = sorted((begin, end))
            numbers = [row.id if self._world.stable else row.address for row in rows]
            yield f"follow {begin} {end}", partial(table.follow, numbers, begin, end)
            for number in rng.sample(numbers, min(2, len(numbers))):
                at = None if self._world.stable else begin
                yield f"row {number} at {at}", partial(_row_history, table, number, at)


def _row_ids(table: lx.Table, version: int) -> pl.DataFrame:
    return table.at(version).row_ids()


def _transaction(table: lx.Table, version: int) -> pl.DataFrame:
    return _shown(table.at(version).transaction)


def _row_history(table: lx.Table, number: int, at: int | None) -> pl.DataFrame:
    return table.row(number, at).history(values=True)


def _changes(table: lx.Table, begin: int, end: int | None, mode: Any) -> pl.DataFrame:
    every = ("moved", "column_added")
    return table.changes(begin, end, mode=mode, images=None, include=every).to_polars()


def _with_values(table: lx.Table, begin: int, end: int | None, mode: Any) -> pl.DataFrame:
    return table.changes(begin, end, mode=mode, images="both").to_polars()


def _drift(table: lx.Table, begin: int, end: int) -> pl.DataFrame:
    return table.changes(begin, end).drift("value").to_polars()


def _found(table: lx.Table, where: str) -> pl.DataFrame:
    return table.find(where, limit=10_000, max_bytes=2**40).to_polars()


def _blame(table: lx.Table) -> pl.DataFrame:
    return table.blame(limit=10_000).to_polars()


def _compactions(table: lx.Table) -> pl.DataFrame:
    found = table.compaction_lineage(include_undone=True)
    return _shown(None) if found is None else found.to_frame()


def _shown(thing: object) -> pl.DataFrame:
    return pl.DataFrame({"shown": [repr(thing)]})


_OF_WHAT_IS_STORED = ("many_versions", "v1_manifest_names")
"""Advice about files that are there now: a cleanup does what it says."""


def _answer(ask: Callable[[], pl.DataFrame]) -> Answer:
    try:
        answer = ask().drop("known_from", strict=False)
        if "code" in answer.columns:
            answer = answer.filter(~pl.col("code").is_in(_OF_WHAT_IS_STORED))
        return answer
    except LanceExplorerError as error:
        return f"{type(error).__name__}: {error}"


def _equal(one: Answer, other: Answer) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one == other
    return one.schema == other.schema and one.equals(other)


def _unlike(one: Answer, other: Answer) -> str:
    """Return what is different, in short."""
    if isinstance(one, str) or isinstance(other, str):
        return f"\n  {_line(one)}\nwithout cleanup\n  {_line(other)}"
    if one.schema != other.schema:
        return f"columns {set(one.schema.items()) ^ set(other.schema.items())}"
    names = one.columns
    if len(one) == len(other):
        names = [name for name in names if not one[name].equals(other[name], null_equal=True)]
        rows = [
            number
            for number, (a, b) in enumerate(zip(one.rows(), other.rows(), strict=True))
            if a != b
        ][:3]
        return f"{names}\n  {one[rows].rows()}\nwithout cleanup\n  {other[rows].rows()}"
    left = Counter(map(str, one.rows()))
    left.subtract(map(str, other.rows()))
    return f"{len(one)} rows, {len(other)} without cleanup: {[r for r in left.items() if r[1]][:4]}"


def _kind(answer: Answer) -> str:
    """Return how a question was answered, to be counted."""
    if isinstance(answer, str):
        return answer.partition(":")[0]
    return "frames" if len(answer) else "empty frames"


def _line(answer: Answer) -> str:
    return answer if isinstance(answer, str) else f"{len(answer)} rows {answer.columns[:4]}"


def main(arguments: list[str] | None = None) -> int:
    """Live, and print what is wrong; return how many lives had something wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", type=int, default=20)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="numbers of the steps that are taken")
    parser.add_argument("--verbose", action="store_true")
    told = parser.parse_args(arguments)
    wrong = 0
    for seed in range(told.seed, told.seed + told.lives):
        start = time.monotonic()
        steps = [*map(int, told.only.split(","))] if told.only else [*range(told.steps)]
        found = live_and_clean_up(seed, steps)
        wrong += bool(found.wrong)
        print(
            f"seed {seed} ({found.kind}), {time.monotonic() - start:.1f} s, {found.cleanups} "
            f"cleanups of {found.lost} versions, {found.recordings} recordings, "
            f"{dict(found.answers)}: {f'{len(found.wrong)} wrong' if found.wrong else 'agrees'}",
            flush=True,
        )
        if told.verbose:
            print(*found.steps, sep="\n")
        for words in found.wrong[: None if told.verbose else 8]:
            print(f"  ! {words[:1500]}", flush=True)
    print(f"{told.lives} lives, {wrong} with differences")
    return wrong


if __name__ == "__main__":
    sys.exit(main() > 0)
