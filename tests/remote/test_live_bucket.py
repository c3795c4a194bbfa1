"""A table in a bucket that is written to while it is read through what fails now and then."""

import obstore
import pytest
from polars.testing import assert_frame_equal

from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.catalogue import frame
from lance_explorer.storage.opening import open_storage
from tests.format.samples import DATA
from tests.remote.bucket import Bucket
from tests.remote.faults import faulty_proxy
from tests.soak.rounds import soak_round

COMMITS = 25
SEED = 2026


def test_readers_beside_a_writer_are_told_what_is_so(bucket: Bucket, tmp_path):
    with faulty_proxy(bucket.options["aws_endpoint"], SEED) as proxy:
        found = soak_round(tmp_path, SEED, COMMITS, stable=True, bucket=bucket, proxy=proxy)
    assert found.wrong == []
    assert {"open", "versions", "rows"} <= {told.question for told in found.told if not told.error}


def test_a_listing_that_breaks_off_is_taken_up_where_it_was(bucket: Bucket):
    store, names = bucket.store("listed"), [f"a/{number:04}" for number in range(1010)]
    for name in names:
        obstore.put(store, name, b"")
    for seed in range(4):
        with faulty_proxy(bucket.options["aws_endpoint"], seed, rate=1.0) as proxy:
            through = {**bucket.options, "aws_endpoint": proxy}
            storage = open_storage(bucket.uri("listed"), through)
            assert [file.name for file in storage.list_all()] == names


@pytest.mark.parametrize("name", ["branches", "cleaned"])
def test_a_bucket_of_which_every_request_fails_twice_gives_the_same_answers(bucket: Bucket, name):
    folder = DATA / "14.0.2" / f"{name}.lance"
    uri = bucket.copy(folder, f"{name}-{SEED}.lance")
    local = HistoryView.open(str(folder))
    with faulty_proxy(bucket.options["aws_endpoint"], SEED, rate=1.0) as proxy:
        view = HistoryView.open(uri, None, {**bucket.options, "aws_endpoint": proxy})
        for kind in ("versions", "all_fragments", "refs", "findings", "gaps"):
            assert_frame_equal(frame(view, kind), frame(local, kind))
