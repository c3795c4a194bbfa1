import pytest

from tools.docs.notebooks import NOTEBOOKS


@pytest.mark.parametrize("name", [path.name for path in sorted(NOTEBOOKS.glob("*.ipynb"))])
def test_a_notebook_runs_without_errors_and_warnings(run_once, name):
    outputs = [output for cell in run_once(name).cells for output in cell.outputs]
    assert outputs
    assert [output for output in outputs if output.get("name") == "stderr"] == []
