"""How objects and texts show: never with an error, never with a trick."""

import importlib
import inspect
import json
import pkgutil
from pathlib import Path
from traceback import TracebackException
from typing import Any

import lance
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis.strategies import text

import lance_explorer
import lance_explorer as lx
from lance_explorer.answers import answer
from lance_explorer.cli import main
from lance_explorer.errors import CorruptFileError
from lance_explorer.findings import Cause, Finding, Remedy
from lance_explorer.inspect.catalogue import frame
from lance_explorer.shown import visible, visible_json
from lance_explorer.storage import LocalStorage

DATA = Path(__file__).parent / "data"


# ------------------------------------------------------------------------------- how objects show


def described_classes() -> list[Any]:
    """Return the classes that say themselves how they show."""
    found = list[Any]()
    for about in pkgutil.walk_packages(lance_explorer.__path__, "lance_explorer."):
        if "._pb" not in about.name:
            module = importlib.import_module(about.name)
            for _, kind in inspect.getmembers(module, inspect.isclass):
                shows = inspect.unwrap(kind.__repr__)
                code = getattr(shows, "__code__", None)
                is_own = code and code.co_filename in (module.__file__, answer.__file__)
                if is_own and kind.__module__ == about.name:
                    found.append(kind)
    return found


def test_an_object_that_is_half_made_shows_without_an_error():
    classes = described_classes()
    assert {"Snapshot", "Table", "Row", "Changes", "RowIdIndex"} <= {k.__name__ for k in classes}
    for kind in classes:
        assert inspect.isabstract(kind) or repr(kind.__new__(kind))


def test_what_fails_while_an_object_is_made_is_what_is_told():
    table = lx.open_table(DATA / "14.0.2" / "stable_row_ids.lance")
    with pytest.raises(lx.VersionNotFoundError) as failure:
        table.at(99)
    shown = "".join(TracebackException.from_exception(failure.value, capture_locals=True).format())
    assert "self = <Snapshot that cannot be shown: AttributeError>" in shown
    assert "repr() failed" not in shown


# --------------------------------------------------------------------------------- how texts show

TRICKS = "a\x1b[31mred\x1b]8;;http://x\x07l\x1b]8;;\x07\u202eb\x9bz\x7f\u2066"
"""Colours, a link, a text that runs backwards, and controls of all sorts."""


@pytest.fixture(scope="module")
def tricky(tmp_path_factory) -> lx.Table:
    """Return a table whose names, messages and settings are full of tricks."""
    path = str(tmp_path_factory.mktemp("tricky") / "t.lance")
    dataset: Any = lance.write_dataset(pa.table({TRICKS: [1, 2]}), path)
    dataset.update_config({TRICKS: TRICKS})
    lance.write_dataset(
        pa.table({TRICKS: [3]}),
        path,
        mode="append",
        transaction_properties={"__lance_commit_message": TRICKS, "other": TRICKS},
    )
    return lx.open_table(path)


def seen(text: str) -> bool:
    return text.replace("\n", "").replace("\t", "").isprintable()


def test_what_is_written_for_people_can_be_seen(tricky):
    assert tricky._view.history.records[2].transaction.header.message == TRICKS
    message = tricky.versions()["message"][2]
    assert message == tricky.inspect.transactions()["message"][2]
    assert seen(message)
    assert r"\x1b[31mred" in message
    assert r"\u202e" in message
    for name in ("versions", "transactions", "findings", "gaps", "health", "refs", "indices"):
        assert seen(str(frame(tricky._view, name))), name


def test_names_and_settings_in_frames_are_what_they_are(tricky):
    assert tricky.inspect.fields()["name"].to_list() == [TRICKS]
    assert TRICKS in tricky.inspect.config()["value"].to_list()
    assert tricky.latest.read(columns=[TRICKS])[TRICKS].to_list() == [1, 2, 3]


def test_json_of_properties_can_be_seen_and_means_the_same(tricky):
    properties = tricky.inspect.transactions()["properties"][2]
    assert seen(properties)
    assert json.loads(properties)["other"] == TRICKS


def test_every_object_can_be_seen(tricky):
    things = [tricky, tricky.latest, tricky.row(0), tricky.changes(1), tricky.diff(1, 3)]
    for thing in (*things, tricky.lineage(), tricky.inspect, LocalStorage(TRICKS)):
        assert seen(repr(thing)), type(thing)


@pytest.mark.parametrize(
    "ask",
    [
        lambda table: lx.open_table(f"/tmp/{TRICKS}"),
        lambda table: table.at(TRICKS),
        lambda table: table.latest.read(columns=[TRICKS + "x"]),
        lambda table: table.latest.read(filter=f"{TRICKS} = 1"),
        lambda table: table.sql(f'SELECT "{TRICKS}" FROM versions'),
        lambda table: table.changes(1, key=TRICKS + "x").to_polars(),
        lambda table: lx.open_table(table.uri, branch=TRICKS),
        lambda table: raised(TRICKS),
    ],
    ids=[*"12345678"],
)
def test_every_error_can_be_seen(tricky, ask):
    with pytest.raises(lx.LanceExplorerError) as failure:
        ask(tricky)
    assert seen(str(failure.value))


def raised(text: str) -> None:
    raise CorruptFileError(text, text, 3)


def test_a_finding_can_be_seen():
    finding = Finding(
        "not_opened", TRICKS, consequence=TRICKS, causes=(Cause(TRICKS),), remedy=Remedy(TRICKS)
    )
    assert seen(finding.sentence)


@pytest.mark.parametrize("version", ["3", TRICKS])
@pytest.mark.parametrize("options", [[], ["--json"], ["--content"], ["--content", "--json"]])
def test_all_that_a_comparison_prints_can_be_seen(tricky, version, options):
    printed = CliRunner().invoke(main, ["diff", tricky.uri, "1", version, *options]).output
    assert printed
    assert seen(printed)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_all_that_the_command_prints_of_versions_can_be_seen(tricky, options):
    printed = CliRunner().invoke(main, ["versions", tricky.uri, *options]).output
    assert seen(printed)
    assert "red" in printed


def test_json_of_the_command_means_what_was_written(tricky):
    printed = CliRunner().invoke(main, ["versions", tricky.uri, "--json"]).output
    rows = json.loads(printed)["sections"]["versions"]["rows"]
    assert [row.get("message") for row in rows] == [None, None, TRICKS]


@given(text())
def test_json_that_can_be_seen_means_the_same(value):
    for told in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        assert json.loads(visible_json(told)) == value
        assert seen(visible_json(told))


@given(text())
def test_text_is_seen_and_what_could_be_seen_stays(value):
    assert seen(visible(value))
    if value.isprintable():
        assert visible(value) == value
