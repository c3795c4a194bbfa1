"""What is on disk, as views tell it: one look at the folder, the same numbers everywhere."""

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from lance_explorer import demo, open_table
from lance_explorer.table import Table
from lance_explorer.widgets import Disk, Overview
from lance_explorer.widgets.disk_data import disk_data


@pytest.fixture
def photos(tmp_path: Path) -> Table:
    """The sample table."""
    return open_table(demo.make_photos(tmp_path / "photos.lance"))


@pytest.mark.slow
def test_numbers_are_those_of_python(photos):
    found, usage = disk_data(photos, lambda: None), photos.disk_usage()
    assert found.sentence == usage.answer.sentence
    assert sum(int(status.bytes) for status in found.statuses) == usage.total_bytes
    versions = usage.versions().drop_nulls("version")
    assert found.versions.tolist() == versions["version"].to_list()
    totals = np.sum([part.values for part in found.parts], axis=0)
    assert totals.tolist() == versions["total_bytes"].to_list()
    assert totals[-1] + int(found.rest_bytes) == usage.total_bytes


@pytest.mark.slow
def test_lines_to_copy_do_what_they_say(photos, browse):
    plans = browse(Overview(photos)).ask("plans")["content"]["plans"]
    before = photos.disk_usage().total_bytes
    freed = photos.cleanup_preview(older_than=timedelta(0)).freed_bytes
    assert plans[1]["lines"].startswith("from datetime import timedelta\n\nimport lance\n")
    exec(plans[1]["lines"], {})
    assert photos.disk_usage().total_bytes == before - freed < before
    exec(plans[2]["lines"], {})
    assert open_table(photos.uri).latest.operation == "Rewrite"


@pytest.mark.slow
def test_views_list_a_folder_once_until_a_refresh(photos, browse):
    before = browse(Overview(photos)).ask("disk")["content"]
    (Path(photos.uri) / "data" / "new.lance").write_bytes(b"x" * 1000)
    assert str(browse(Disk(photos)).ask("disk")["content"]) == str(before)
    browser = browse(Overview(photos))
    browser.ask("story", refresh=True)
    after = browser.ask("disk")["content"]
    statuses = [{one["name"] for one in told["statuses"]} for told in (before, after)]
    assert statuses[1] - statuses[0] == {"in_flight"}
