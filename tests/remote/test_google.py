"""The code for Google Cloud Storage, on a server that answers like the XML interface of it."""

import json
from collections.abc import Iterator

import lance
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from benchmarks.bucket import served
from lance_explorer.inspect.catalogue import FRAMES, frame
from tests.format.samples import DATA
from tests.remote.test_same_answers import comparable

TABLES = DATA / "14.0.2"

Options = dict[str, str]


@pytest.fixture(scope="module", params=["service_account_key", "google_service_account_key"])
def options(request) -> Iterator[Options]:
    with served(TABLES, 0) as endpoint:
        key = {"gcs_base_url": endpoint, "disable_oauth": True}
        key.update(dict.fromkeys(("client_email", "private_key", "private_key_id"), ""))
        yield {request.param: json.dumps(key), "allow_http": "true"}


@pytest.mark.parametrize(
    ("name", "branch"), [("stable_row_ids", None), ("branches", "dev/deep"), ("detached", None)]
)
def test_a_table_says_what_it_says_on_the_disk(options, name, branch):
    local = lx.open_table(TABLES / f"{name}.lance", branch)
    remote = lx.open_table(f"gs://tables/{name}.lance", branch, options)
    for one in FRAMES:
        answers = [comparable(frame(t._view, one), t) for t in (local, remote)]
        assert_frame_equal(
            answers[1].drop("etag", strict=False), answers[0].drop("etag", strict=False)
        )


def test_values_are_read_with_the_same_options(options):
    uri = "gs://tables/stable_row_ids.lance"
    dataset = lance.dataset(uri, storage_options=options)
    opened = lx.open_table(uri, storage_options=options)
    assert opened.versions()["version"].to_list() == [v["version"] for v in dataset.versions()]
    assert opened.latest.read()["id"].to_list() == dataset.to_table()["id"].to_pylist()
    assert len(lx.open_table(dataset).latest.row_ids()) == dataset.count_rows()
