"""How much is read of a table in an object store to follow one row."""

import lance
import pyarrow as pa

from tests.remote.bucket import Bucket


def test_the_history_of_a_row_reads_no_deletion_files_of_fragments_it_was_never_in(
    bucket: Bucket, tmp_path
):
    path = str(tmp_path / "t.lance")
    ids = pa.table({"id": range(40)})
    lance.write_dataset(ids, path, max_rows_per_file=20, enable_stable_row_ids=True)
    for number in (3, *range(20, 36)):
        lance.dataset(path).delete(f"id = {number}")
    bucket.copy(tmp_path / "t.lance", "followed.lance")
    table = bucket.table("followed.lance")
    table.versions()
    before = table.io.requests
    assert table.row(3).history()["event"].to_list() == ["created", "deleted"]
    assert table.io.requests - before < 16
    before = table.io.requests
    assert table.row(39).history()["event"].to_list() == ["created"]
    assert table.io.requests - before >= 16
