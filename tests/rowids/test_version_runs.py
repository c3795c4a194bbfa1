"""Runs of versions answer as the list of versions, row by row, does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from lance_explorer.rowids.version_runs import RowVersionRuns
from tests.rowids.strategies import numbers, uint64

VERSIONS = st.lists(
    st.tuples(st.one_of(st.integers(1, 3), numbers()), st.integers(1, 5)), max_size=12
).map(lambda runs: uint64([version for version, count in runs for _ in range(count)]))


@given(VERSIONS)
def test_runs_expand_to_the_versions(versions):
    runs = RowVersionRuns.of(versions)
    assert runs.expand().tolist() == versions.tolist()
    assert len(runs) == len(versions)


@given(VERSIONS)
def test_runs_are_as_long_as_can_be(versions):
    runs = RowVersionRuns.of(versions)
    assert (runs.counts > 0).all()
    assert (runs.versions[1:] != runs.versions[:-1]).all()


@given(VERSIONS, st.data())
def test_versions_are_found_by_offset(versions, data):
    offsets = np.array(data.draw(st.permutations(range(len(versions)))), dtype=np.int64)
    assert RowVersionRuns.of(versions).at(offsets).tolist() == versions[offsets].tolist()


@given(VERSIONS, st.data())
def test_a_slice_is_the_slice_of_the_list(versions, data):
    start = data.draw(st.integers(0, len(versions)))
    stop = data.draw(st.integers(0, len(versions)))
    part = RowVersionRuns.of(versions).slice(start, stop)
    assert part.expand().tolist() == versions[start:stop].tolist()


@given(VERSIONS, st.sets(st.integers(0, 70)))
def test_deleted_rows_are_left_out(versions, deleted):
    live = [version for offset, version in enumerate(versions.tolist()) if offset not in deleted]
    assert RowVersionRuns.of(versions).without(BitMap(deleted)).expand().tolist() == live


def test_without_deletions_nothing_is_left_out():
    runs = RowVersionRuns.of(uint64([4, 4, 2]))
    assert runs.without(None) is runs


def test_the_text_stays_short():
    runs = RowVersionRuns.of(np.arange(2_000_000, dtype=np.uint64))
    assert repr(runs) == "RowVersionRuns(2,000,000 rows in 2,000,000 runs)"
