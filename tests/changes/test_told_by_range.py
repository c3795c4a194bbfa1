"""Where the versions of a range tell what changed, they tell what all versions would."""

import pytest

from lance_explorer.changes.change_feed import Mode, changes
from lance_explorer.changes.told_by_range import has_whole_range, is_told_by_range
from lance_explorer.errors import LanceExplorerError
from lance_explorer.history.source import TableSource
from tests.differential.lives import LIVES, Life
from tests.format.samples import DATA

MODES: tuple[Mode, ...] = ("net", "per_commit")
LIFE = [Life(script, True, "2.2") for script in LIVES]
OLD = [*sorted(DATA.glob("*/*stable_row_ids*.lance")), *sorted(DATA.glob("*/detached.lance"))]


def answers(source: TableSource, begin: int, end: int, mode: Mode) -> list[object]:
    try:
        include = ("column_added",) if mode == "net" else ("moved", "column_added")
        found = changes(source, begin, end, mode=mode, images=None, include=include)
        return [found.to_polars().to_dicts(), found.summary().to_dicts()]
    except LanceExplorerError as error:
        return [type(error), str(error)]


def check_ranges(uri: str) -> int:
    """Compare all ranges; return how many are told by themselves."""
    source, told = TableSource(uri), 0
    last = source.latest_version
    for begin in range(1, last + 1):
        for end in sorted({begin, begin + 1, begin + 3, (begin + last) // 2, last}):
            if not has_whole_range(source, begin, end) or end > last:
                continue
            some = TableSource(uri).only(begin, end)
            if not is_told_by_range(some):
                continue
            told += 1
            for mode in MODES:
                assert answers(some, begin, end, mode) == answers(source, begin, end, mode)
    return told


@pytest.mark.parametrize("life", LIFE, ids=str)
def test_ranges_of_a_life_tell_what_all_versions_do(life, tmp_path):
    uri = life.live(tmp_path).uri
    assert check_ranges(uri) > 0


@pytest.mark.parametrize("path", OLD, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_ranges_of_old_tables_tell_what_all_versions_do(path):
    check_ranges(str(path))


def test_without_row_ids_no_range_tells_by_itself(tmp_path):
    [script] = [one for one in LIVES if one.__name__ == "ordinary_days"]
    uri = Life(script, False, "2.2").live(tmp_path).uri
    assert check_ranges(uri) == 0
