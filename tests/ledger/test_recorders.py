"""Several record a table at once, each as it sees it: what one of them saw is known."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Barrier

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lance_explorer as lx
from lance_explorer.history.listing import VersionListing
from lance_explorer.history.loading import extend
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.ledger import recorded_table
from lance_explorer.ledger.recorded_history import recorded_history
from tests.ledger.asking import everything, log_of, read
from tests.ledger.recorders import EarlierPlace, seeing
from tests.remote.bucket import Bucket
from tests.synthetic import SyntheticTable

RECORDERS = 10


def write_turns(path: Path, *, stable: bool) -> SyntheticTable:
    """Make a table of 26 versions, in which fragments come, go and come back."""
    table = SyntheticTable(path, stable_row_ids=stable).append(rows=4, fragments=3)
    for turn in range(4):
        table.append(rows=3)
        for change in (table.delete, table.update):
            number = table.fragment_ids[turn % 2]
            change({number: [min(table.state.fragments[number].live_offsets)]})
        table.compact(table.fragment_ids[:2]).restore(table.version - 2)
        table.create_index(f"index{turn}")
    return table.overwrite(rows=2)


@pytest.fixture(scope="module", params=[True, False], ids=["stable", "plain"])
def table(request, tmp_path_factory) -> SyntheticTable:
    return write_turns(tmp_path_factory.mktemp("turns") / "t.lance", stable=request.param)


def known(ledger: lx.Ledger, view: HistoryView, versions: set[int]) -> None:
    """Check that a ledger has these versions, and has them right."""
    log = log_of(ledger, view)
    assert {*log.versions["version"].to_list()} == versions
    files = [file for file in view.listing.versions if file.version in versions]
    for file in files:
        assert log.manifest(file.version) == view.storage.get(file.path)
    listing = VersionListing(tuple(files), ())
    fast = extend(recorded_history(log, files), view.storage, listing)
    assert everything(fast) == everything(read(view, listing))


def views(table: SyntheticTable, seed: int) -> list[set[int]]:
    """Return what each recorder sees; each version is seen by one at least."""
    rng = Random(seed)
    versions = range(1, table.version + 1)
    seen = [{one for one in versions if rng.random() < 0.5} for _ in range(RECORDERS)]
    for version in versions:
        seen[version % RECORDERS].add(version)
    return seen


def record_at_once(
    ledger_uri: str, uri: str, seen: list[set[int]], options: dict[str, str] | None = None
) -> None:
    barrier = Barrier(len(seen))

    def record(versions: set[int]) -> None:
        ledger = lx.Ledger(ledger_uri, options)
        view = seeing(uri, versions, options)
        barrier.wait()
        ledger.record(view)

    with ThreadPoolExecutor(len(seen)) as threads:
        list(threads.map(record, seen))


@pytest.mark.slow
@pytest.mark.drawn(1)
def test_what_one_of_ten_recorders_saw_is_known(table: SyntheticTable, tmp_path, seed):
    uri = str(table.path)
    record_at_once(str(tmp_path / "ledger"), uri, views(table, seed))
    ledger = lx.Ledger(tmp_path / "ledger")
    every = {*range(1, table.version + 1)}
    known(ledger, HistoryView.open(uri), every)
    ledger.compact()
    known(ledger, HistoryView.open(uri), every)


@pytest.mark.slow
@pytest.mark.drawn(1)
def test_so_it_is_in_a_bucket(bucket: Bucket, tmp_path, seed):
    table = write_turns(tmp_path / "t.lance", stable=True)
    uri = bucket.copy(table.path, "turns.lance")
    place = bucket.uri("ledger-of-turns")
    record_at_once(place, uri, views(table, seed), bucket.options)
    every = {*range(1, table.version + 1)}
    known(lx.Ledger(place, bucket.options), bucket.view("turns.lance"), every)


@pytest.mark.slow
@settings(max_examples=15)
@given(data=st.data())
def test_whatever_recorders_see_of_the_table_and_of_one_another(table: SyntheticTable, data):
    versions = st.sets(st.integers(1, table.version), min_size=1)
    states = [set[str]()]
    every = set[int]()
    with TemporaryDirectory() as folder:
        ledger = lx.Ledger(Path(folder, "ledger"))
        for _ in range(data.draw(st.integers(1, 5))):
            seen = data.draw(versions)
            late = lx.Ledger(ledger.uri)
            late._place = EarlierPlace(ledger, data.draw(st.sampled_from(states)))
            late.record(seeing(str(table.path), seen))
            every |= seen
            states.append({str(p.relative_to(ledger.uri)) for p in Path(ledger.uri).rglob("*.*")})
            if data.draw(st.integers(0, 4)) == 0:
                ledger.compact()
        view = HistoryView.open(str(table.path))
        digests = dict[int, str]()
        for life in recorded_table(ledger, view.uri).lives(None):
            assert not life.digests.keys() & digests.keys()
            digests |= life.digests
            for file in view.listing.versions:
                if file.version in life.digests:
                    assert life.log.manifest(file.version) == view.storage.get(file.path)
        assert digests.keys() == every
        # Who sees all of it records what is missing, and shows that it is one table.
        ledger.record(table.path)
        known(ledger, view, {*range(1, table.version + 1)})
