"""Links to what an explorer shows."""

import pytest

from lance_explorer import open_database, open_table
from lance_explorer.errors import InvalidArgumentError, RefNotFoundError
from lance_explorer.widgets import DatabaseExplorer, Explorer
from lance_explorer.widgets.addresses import address_of, read_address
from tests.synthetic import SyntheticTable


@pytest.fixture
def path(tmp_path):
    written = SyntheticTable(tmp_path / "db" / "t.lance").append(rows=4).append(rows=3)
    written.branch("dev").append(rows=1)
    return written.append(rows=2).path


def test_a_link_leads_to_what_another_explorer_shows(path):
    one, other = Explorer(open_table(path)), Explorer(open_table(path))
    one.view = "changes"
    one.state.version, one.state.compared_version = 3, 1
    one.state.filter = "score > 0.5 and name = 'a&b=#ü'"
    one.state.row_id = 2**63
    other.visit(one.link())
    assert other.selection == one.selection
    assert other.link() == one.link()


def test_what_a_link_does_not_name_is_not_chosen(path):
    explorer = Explorer(open_table(path), "changes")
    explorer.state.filter = "x"
    explorer.visit("view=time_travel&version=2")
    assert explorer.selection == {
        "view": "time_travel",
        "version": 2,
        "compared_version": None,
        "fragment_id": None,
        "row_id": None,
        "filter": "",
    }


def test_a_link_leads_to_a_branch_and_back(path):
    explorer = Explorer(open_table(path))
    explorer.visit("branch=dev&view=log")
    assert explorer.link() == "branch=dev&view=log&version=3"
    explorer.visit("view=log&version=1")
    assert explorer.link() == "view=log&version=1"


def test_columns_that_were_chosen_are_in_a_link(path):
    explorer = Explorer(open_table(path), "time_travel")
    explorer.state.chosen_columns["time_travel"] = ("score", "_rowid")
    link = explorer.link()
    assert link == "view=time_travel&version=3&column=score&column=_rowid"
    other = Explorer(open_table(path))
    other.visit(link)
    assert other.state.chosen_columns["time_travel"] == ("score", "_rowid")


def test_what_rows_are_sorted_by_is_in_a_link(path):
    explorer = Explorer(open_table(path), "time_travel")
    explorer.state.chosen_sorts["time_travel"] = (("score", True), ("name", False))
    link = explorer.link()
    assert link == "view=time_travel&version=3&down=score&sort=name"
    other = Explorer(open_table(path), "time_travel")
    before = other._views["time_travel"]
    other.visit(link)
    assert other.link() == link
    assert other._views["time_travel"] is not before


def test_the_page_hears_of_each_step_and_of_moves_within_one(path):
    explorer = Explorer(open_table(path))
    first = explorer.address
    explorer.view = "log"
    assert (explorer.address.text, explorer.address.step) == ("view=log&version=3", first.step + 1)
    explorer.state.version = 2
    second = explorer.address
    explorer.state.version = 1
    assert explorer.address.step == second.step
    assert explorer.address.text == "view=log&version=1"


def test_a_link_leads_to_a_table_of_a_database(path):
    database = open_database(path.parent)
    one, other = DatabaseExplorer(database), DatabaseExplorer(database)
    assert one.address.text == "view=tables"
    one.open_table("t")
    assert one.table is not None
    one.table.view = "log"
    assert one.address.text == one.link() == "table=t&view=log&version=3"
    other.visit(one.link())
    assert other.table is not None
    assert other.table.selection == one.table.selection
    other.visit("view=disk")
    assert repr(other) == "DatabaseExplorer(db: disk)"


@pytest.mark.parametrize(
    "address", ["view=nonsense", "version=-1", "version=1.5", "token=secret", "version=²"]
)
def test_what_no_link_of_ours_has_is_refused(path, address):
    explorer = Explorer(open_table(path), "log")
    with pytest.raises(InvalidArgumentError):
        explorer.visit(address)
    assert explorer.view == "log"


def test_a_link_to_a_branch_that_is_gone_says_so(path):
    with pytest.raises(RefNotFoundError, match="old"):
        Explorer(open_table(path)).visit("branch=old&view=log")


def test_an_address_is_read_as_it_is_written():
    every: list[dict[str, int | str | None]] = [
        {"version": 2**64 - 1, "filter": "a = '%20+&'"},
        {"row_id": 0},
    ]
    for choices in every:
        read = read_address(address_of("log", "ö/x", choices, columns=["a b", "c&d"]))
        assert (read.view, read.branch, read.columns) == ("log", "ö/x", ("a b", "c&d"))
        assert read.choices == choices
