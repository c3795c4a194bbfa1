"""Ledgers that earlier releases wrote are read by this one."""

from pathlib import Path

import polars as pl
import pytest

import lance_explorer as lx

DATA = Path(__file__).parents[1] / "data"
NAMES = ["deferred_remap", "detached", "life_cycle", "spilled", "stable_row_ids"]


def frames(table: lx.Table) -> list[pl.DataFrame]:
    found = [
        table.versions(),
        table.inspect.all_fragments(),
        table.inspect.all_indices(),
        table.inspect.all_deletions(),
        table.inspect.all_row_id_segments(),
        table.inspect.all_version_runs(),
        table.inspect.transactions(),
        table.inspect.detached(),
        table.inspect.rewrite_groups(),
        table.lineage().edges(),
        table.changes(0, mode="per_commit", images=None).to_polars(),
    ]
    return [frame.drop("known_from", strict=False) for frame in found]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ledger", sorted(DATA.glob("ledger-*")), ids=lambda path: path.name)
def test_a_ledger_of_each_format_says_what_its_table_says(ledger: Path, name: str) -> None:
    found = frames(lx.Ledger(ledger).open(f"{name}.lance"))
    expected = frames(lx.open_table(DATA / "14.0.2" / f"{name}.lance"))
    for one, other in zip(found, expected, strict=True):
        assert one.equals(other)


def test_there_is_a_ledger_of_each_format() -> None:
    from lance_explorer.ledger.kinds import FORMAT

    assert [path.name for path in sorted(DATA.glob("ledger-*"))] == [
        f"ledger-{number}" for number in range(1, FORMAT + 1)
    ]
