"""Columns written in place, between all else that is done to rows: nothing certain is wrong.

``make nightly`` lives more of these lives.
"""

import pytest

from lance_explorer import open_table
from tests.differential.columns_in_place import InPlaceLife
from tests.differential.columns_in_place_agreement import assert_life_is_told


@pytest.mark.drawn(3)
def test_whatever_is_written_is_told(seed, tmp_path):
    uri = str(tmp_path / "t.lance")
    life = InPlaceLife.live(uri, seed, steps=8, stable_row_ids=seed % 2 == 1)
    assert_life_is_told(open_table(uri), life)


@pytest.mark.drawn(1)
def test_it_is_told_of_what_lost_versions_leave(seed, tmp_path):
    uri = str(tmp_path / "t.lance")
    life = InPlaceLife.live(uri, seed, steps=9, stable_row_ids=seed % 2 == 1)
    life.lose_versions()
    assert_life_is_told(open_table(uri), life)
