"""Tasks of a compaction are those that releases of pylance plan; see ``plans_of_release.py``."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.disk.agreement import planned_by_us
from tests.disk.lives import Compacted

PLANS = Path(__file__).with_name("plans")
DATA = Path(__file__).parents[1] / "data"

OTHERWISE = {
    "mem_wal": ["0.20.0", "0.32.1", "1.0.4", "4.0.2", "8.0.1"],  # an index that does not count
    "stable_row_ids": ["8.0.1"],  # which passes over the index of 14.0.2 that it cannot read
}
"""The tables of 14.0.2 that releases plan otherwise."""

Answer = tuple[str, dict[str, Any], list[list[int]]]


def different(folder: Path, answers: list[Answer]) -> list[str]:
    """Return what we plan otherwise."""
    found = []
    for table, options, tasks in answers:
        ours = planned_by_us(folder / table, None, options)
        if ours != tasks:
            found.append(f"{table} {options}: {tasks}, ours {ours}")
    return found


@pytest.mark.parametrize("release", sorted(PLANS.glob("*.json")), ids=lambda path: path.stem)
def test_tasks_are_those_of_the_release(release: Path) -> None:
    answers = json.loads(release.read_text())
    alike, others = list[Answer](), list[Answer]()
    for answer in answers:
        writer, _, name = answer[0].removesuffix(".lance").partition("/")
        differs = writer == "14.0.2" and release.stem in OTHERWISE.get(name, ())
        (others if differs else alike).append(answer)
    assert len(alike) > 50
    assert different(DATA, alike) == []
    assert not others or different(DATA, others) != []


def main(folder: Path, *answers: Path) -> None:
    """Make random tables, or compare the answers that a release gave for them."""
    if not answers:
        for seed in range(1, 121, 2):  # without stable row IDs, so that old releases read them
            life = Compacted(folder / f"{seed}.lance", seed)
            life.live(20)
    for file in answers:
        told = json.loads(file.read_text())
        found = different(folder, told)
        print(f"{file.name}: {len(found)} of {len(told)} differ", *found[:5], sep="\n  ")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
