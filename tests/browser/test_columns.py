"""The widget of columns in JupyterLab: pictures, and marks that choose versions."""

import lance
import numpy as np
import pyarrow as pa
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

OPEN = """
import lance_explorer as lx
widget = lx.widgets.Columns(lx.open_table({path!r}))
widget
"""


@pytest.fixture
def path(tmp_path):
    uri, rng = str(tmp_path / "t.lance"), np.random.default_rng(2)
    rows = pa.table({"score": rng.uniform(size=400), "kind": ["a", "b"] * 200})
    lance.write_dataset(rows, uri, enable_stable_row_ids=True)
    lance.dataset(uri).delete("score < 0.25")
    lance.dataset(uri).add_columns({"late": "score * 2"})
    return uri


def test_a_mark_leads_to_the_version_that_moved_values(spare_notebook, path):
    spare_notebook.run_cells(OPEN.format(path=path))
    view = spare_notebook.widgets('.lx-values[data-shown="3"]')
    view.wait_for()
    score = view.locator('[data-column="score"]')
    late = view.locator('[data-column="late"]')
    expect(score.locator("svg path")).to_have_count(3)
    expect(late).to_contain_text("no nulls")
    spare_notebook.widgets('.lx-values [data-column="score"] .lx-values-shift').click()
    spare_notebook.widgets('.lx-values[data-shown="2"]').wait_for()
    spare_notebook.wait_for("widget.state.version == 2")
    shown = spare_notebook.widgets(".lx-values")
    expect(shown.locator('[data-column="late"]')).to_contain_text("not in this version")
    picture = shown.locator('[data-column="kind"] [role="slider"]')
    picture.focus()
    picture.press("Home")
    spare_notebook.widgets('.lx-values[data-shown="1"]').wait_for()
    expect(shown.locator('[data-column="score"]')).to_contain_text("400 rows")
