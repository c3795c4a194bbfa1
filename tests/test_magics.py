import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import lance_explorer as lx
from tests.synthetic import SyntheticTable


@pytest.fixture
def path(tmp_path):
    return str(SyntheticTable(tmp_path / "with space.lance").append().append().path)


@pytest.fixture
def shell():
    made = InteractiveShell()
    assert made.extension_manager
    made.extension_manager.load_extension("lance_explorer")
    yield made
    made.history_manager = None


def test_a_table_is_opened_by_its_path_or_by_a_variable(shell, path):
    explorer = shell.run_line_magic("lance", f"'{path}' time_travel")
    assert (explorer.view, explorer.state.version) == ("time_travel", 2)
    shell.user_ns["events"] = lx.open_table(path)
    assert shell.run_line_magic("lance", "events").view == "overview"
    shell.user_ns["where"] = path
    assert shell.run_line_magic("lance", "where changes").view == "changes"


def test_a_query_gives_its_frame_or_puts_it_into_a_variable(shell, path):
    shell.user_ns["events"] = lx.open_table(path)
    query = "SELECT max(version) AS last\nFROM versions"
    assert shell.run_cell_magic("lance_sql", "events", query).item() == 2
    assert shell.run_cell_magic("lance_sql", f"'{path}' found", query) is None
    assert shell.user_ns["found"].item() == 2


@pytest.mark.parametrize("line", ["", "a b c", "'no end"])
def test_a_line_that_is_not_understood_is_refused_with_what_would_be(shell, line):
    with pytest.raises(UsageError, match="TABLE is a URI"):
        shell.run_line_magic("lance", line)
    with pytest.raises(UsageError, match="TABLE is a URI"):
        shell.run_cell_magic("lance_sql", line, "SELECT 1")


def test_a_name_that_no_variable_can_have_is_refused(shell, path):
    with pytest.raises(UsageError, match="'2x' cannot be the name"):
        shell.run_cell_magic("lance_sql", f"'{path}' 2x", "SELECT 1")


def test_a_table_that_is_not_there_is_told(shell, tmp_path):
    with pytest.raises(lx.TableNotFoundError):
        shell.run_line_magic("lance", str(tmp_path / "none.lance"))


def test_a_folder_of_tables_is_a_database(shell, tmp_path):
    SyntheticTable(tmp_path / "db" / "one.lance").append()
    folder = str(tmp_path / "db")
    assert shell.run_line_magic("lance", folder).names == ["one"]
    shell.user_ns["tables"] = lx.open_database(folder)
    assert shell.run_line_magic("lance", "tables") is shell.user_ns["tables"]
    with pytest.raises(UsageError, match="has several tables"):
        shell.run_line_magic("lance", "tables changes")
