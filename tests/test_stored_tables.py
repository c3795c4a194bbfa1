"""Each stored table is opened once and asked everything that holds for all of them.

What is asked stands in the modules of tests that it belongs to (``tests/stored_tables.py``). Each
check is a subtest, which names itself, its table, and how to repeat it.
"""

import pytest

from tests.sampling import stored_tables
from tests.stored_tables import Asked, Check, all_checks, parts_of
from tests.widgets.conftest import recorded

__all__ = ["recorded"]


@pytest.fixture(scope="module")
def checks(request: pytest.FixtureRequest) -> list[Check]:
    """What is asked."""
    wanted = request.config.getoption("--check")
    found = [check for check in all_checks() if wanted in check.name]
    assert found, f"no check has {wanted!r} in its name"
    return found


def test_stored_table(stored_table, checks, subtests, tmp_path, monkeypatch):
    monkeypatch.chdir(stored_table.root.parent)
    for root in parts_of(stored_table):
        asked = Asked(stored_table, root, tmp_path)
        for check in checks:
            if check.applies(asked):
                with subtests.test(f"{check.name} of {asked}"):
                    ask(check, asked)


def ask(check: Check, asked: Asked) -> None:
    """Ask; a failure says how to repeat it."""
    try:
        check.ask(asked)
    except Exception as error:
        command = "pytest tests/test_stored_tables.py"
        error.add_note(f"to repeat it: {command} --stored {asked.stored} --check {check.name}")
        raise


def test_every_check_is_asked_of_some_table(tmp_path):
    waiting = all_checks()
    for table in stored_tables():
        for root in parts_of(table):
            asked = Asked(table, root, tmp_path)
            waiting = [check for check in waiting if not check.applies(asked)]
    assert waiting == []
