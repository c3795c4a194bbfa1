"""A bucket can be explored in a notebook, whose cells run inside an event loop."""

from collections.abc import Iterator

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.format.samples import DATA
from tests.notebooks.running import run
from tests.remote.bucket import SECRET, Bucket

SETUP = """import os
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
import asyncio
import lance_explorer as lx
asyncio.get_running_loop()
table = lx.open_table({uri!r}, storage_options={options!r})
"""


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    server = Bucket()
    yield server
    server.stop()


def test_a_bucket_is_read_in_a_notebook_and_nothing_shown_lets_in(bucket, tmp_path):
    uri = bucket.copy(DATA / "14.0.2" / "stable_row_ids.lance", "t.lance")
    sources = [
        SETUP.format(uri=uri, options=bucket.options),
        "table",
        "table.latest.row_ids()",
        "table.latest.read()",
        "lx.widgets.TimeTravel(table)",
    ]
    path = tmp_path / "bucket.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in sources]), path)
    notebook = run(path, tmp_path)
    assert notebook.frame("row_ids()").height == notebook.frame("read()").height > 0
    shown = "".join(str(cell.outputs) for cell in notebook.cells)
    assert "t.lance" in shown
    assert SECRET not in shown
