"""What is recorded of manifests is all of them: each is put together again, byte for byte."""

from hashlib import sha256

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lance_explorer as lx
from lance_explorer.history.listing import VersionListing
from lance_explorer.history.loading import extend
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.branch_log import BranchLog
from lance_explorer.ledger.recorded_history import recorded_history
from tests.format.samples import covering_tables
from tests.ledger.asking import everything, log_of, read, sources

Recorded = list[tuple[HistoryView, BranchLog]]

EVERY = {f"{path.parent.name}-{path.stem}": path for path in covering_tables()}


@pytest.fixture(scope="module")
def every(tmp_path_factory) -> dict[str, Recorded]:
    """The branches of all stored tables, and what is recorded of each."""
    found = dict[str, Recorded]()
    for name, path in EVERY.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(path.parent)
            ledger = lx.Ledger(tmp_path_factory.mktemp("ledger"))
            ledger.record(path)
            found[name] = [(view, log_of(ledger, view)) for view in sources(path)]
    return found


@pytest.fixture(params=EVERY)
def recorded(request, every) -> Recorded:
    found: Recorded = every[request.param]
    return found


def test_every_manifest_is_put_together_again(recorded: Recorded):
    for view, log in recorded:
        files = [*view.listing.versions, *view.listing.detached]
        digests = dict(log.versions.select("version", "sha256").iter_rows())
        assert sorted(digests) == [file.version for file in files]
        for file in files:
            data = view.storage.get(file.path)
            assert log.manifest(file.version) == data
            assert digests[file.version] == sha256(data).hexdigest()


def test_only_detached_manifests_are_kept_whole(recorded: Recorded):
    for view, log in recorded:
        whole = log.versions.filter(pl.col("raw").is_not_null())["version"].to_list()
        assert whole == [file.version for file in view.listing.detached]


def test_the_recorded_history_is_the_one_that_manifests_tell(recorded: Recorded):
    for view, log in recorded:
        fast = recorded_history(log, view.listing.versions)
        slow = read(view, VersionListing(view.listing.versions, ()))
        assert everything(fast) == everything(slow)


@pytest.mark.slow
@settings(max_examples=150)
@given(data=st.data())
def test_so_it_is_of_some_versions_and_others_are_read_on_top_of_it(every, data):
    view, log = data.draw(st.sampled_from(every[data.draw(st.sampled_from([*EVERY]))]))
    some = st.sets(st.sampled_from(view.listing.versions), min_size=1)
    listing = VersionListing(tuple(sorted(data.draw(some))), view.listing.detached)
    known = listing.versions[: data.draw(st.integers(1, len(listing.versions)))]
    fast, slow = recorded_history(log, known), read(view, listing)
    assert everything(fast) == everything(read(view, VersionListing(known, ())))
    assert everything(extend(fast, view.storage, listing)) == everything(slow)
