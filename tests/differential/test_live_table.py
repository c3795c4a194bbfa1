"""A table that is written to, cleaned up, dropped and made again while it is read.

``python -m tests.soak --minutes 20`` does the same for longer, with other seeds.
"""

import pytest

from tests.soak.rounds import soak_round

COMMITS = 80


@pytest.mark.parametrize("stable_row_ids", [True, False])
def test_readers_beside_a_writer_are_told_what_is_so(tmp_path, stable_row_ids):
    found = soak_round(tmp_path, 2026, COMMITS, stable=stable_row_ids)
    assert found.wrong == []
    assert {"open", "versions", "rows"} <= {told.question for told in found.told if not told.error}
    assert {span.kind for span in found.log.spans} == {"cleanup", "drop"}
