"""The buttons of the explorer that plan: undo a commit, put a row back, recover."""

from pathlib import Path

import lance
import pyarrow as pa
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

OPEN = """
import lance_explorer as lx
table = lx.open_table({path!r})
explorer = table.explore({view!r})
explorer
"""


def _table(path: Path) -> str:
    rows = pa.table({"id": range(6), "label": ["dog"] * 6})
    lance.write_dataset(rows, str(path), enable_stable_row_ids=True, max_rows_per_file=3)
    lance.dataset(str(path)).update({"label": "'wrong'"}, where="id IN (1, 4)")  # 2
    lance.dataset(str(path)).update({"label": "'mine'"}, where="id = 4")  # 3
    return str(path)


@pytest.fixture(scope="module")
def animals(shared_notebook, tmp_path_factory):
    path = _table(tmp_path_factory.mktemp("plans") / "animals.lance")
    shared_notebook.run_cells(OPEN.format(path=path, view="log"))
    shared_notebook.widgets(".lx-search-try").first.wait_for()
    return shared_notebook


def _answer(notebook):
    return notebook.widgets(".lx-search-answer")


def test_a_commit_of_the_log_is_undone_by_a_plan(animals):
    animals.show()
    animals.run("explorer.view = 'log'; explorer.state.version = 2")
    animals.widgets(".lx-log-actions").get_by_role("button", name="Undo this commit").click()
    expect(_answer(animals)).to_contain_text("Undo version 2 with 1 commit: write label of 1 row")
    expect(_answer(animals).locator("pre")).to_contain_text("plan.save(")
    expect(_answer(animals)).to_contain_text("changed_since")


def test_a_row_is_put_back_by_a_plan(animals):
    animals.show()
    animals.run("explorer.view = 'row'; explorer.state.row_id = 1; explorer.state.version = 2")
    row = animals.widgets('[role="tabpanel"][aria-label="Row"]')
    back = row.get_by_role("button", name="Put the row back as it was then")
    expect(row).to_contain_text("version 2, Update")
    expect(back).to_be_hidden()  # it is so already
    animals.run("explorer.state.version = 1")
    back.click()
    expect(_answer(animals)).to_contain_text("write label of 1 row in place")


def test_damage_in_the_overview_leads_to_a_recovery(spare_notebook, tmp_path):
    path = _table(tmp_path / "broken.lance")
    lost = lance.dataset(path).get_fragments()[0].data_files()[0].path
    Path(path, "data", lost).unlink()
    spare_notebook.run_cells(OPEN.format(path=path, view="overview"))
    recover = spare_notebook.widgets(".lx-findings").get_by_role("button", name="Recover")
    recover.click()
    expect(_answer(spare_notebook)).to_contain_text("Recover with 1 commit: ")
