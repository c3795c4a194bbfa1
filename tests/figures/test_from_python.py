"""What the browser's half is compared with is what Python says today."""

import pytest

from tests.figures.from_python import WRITTEN, from_python


@pytest.mark.slow
def test_what_the_browser_is_compared_with_is_not_stale():
    assert WRITTEN.read_text(encoding="utf-8") == from_python(), (
        "run python -m tests.figures.from_python"
    )
