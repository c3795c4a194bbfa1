"""A table in a bucket that is written to while it is read: a snapshot is one version there, too."""

import lance

from tests.differential.live_writer import rows
from tests.differential.test_live_table import (
    expect_all_that_a_fresh_one_knows,
    read_beside_a_writer,
)
from tests.remote.bucket import Bucket

COMMITS = 20


def test_a_reader_beside_a_writer_sees_whole_versions(bucket: Bucket):
    name = "live.lance"
    options = bucket.options
    lance.write_dataset(
        rows(0), bucket.uri(name), storage_options=options, enable_stable_row_ids=True
    )
    table = bucket.table(name)
    read_beside_a_writer(table, COMMITS, options)
    expect_all_that_a_fresh_one_knows(table, bucket.table(name), COMMITS)
