"""What lets somebody into an object store shows nowhere, and goes nowhere with what is kept."""

import inspect
import json
import logging
import pickle
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lance_explorer as lx
from lance_explorer.errors import LanceExplorerError
from lance_explorer.inspect.catalogue import FRAMES, frame
from lance_explorer.storage import Options, open_storage
from lance_explorer.widgets.code_lines import opening_code
from lance_explorer.widgets.view import View
from tests.format.samples import DATA
from tests.remote.bucket import KEY_ID, SECRET, Bucket
from tests.remote.faults import faulty_server

NAME = "secrets.lance"


@pytest.fixture(scope="module")
def uri(bucket: Bucket) -> str:
    return bucket.copy(DATA / "14.0.2" / "branches.lance", NAME)


@pytest.fixture
def table(bucket: Bucket, uri: str) -> lx.Table:
    return bucket.table(NAME)


def lets_in(text: object) -> bool:
    return SECRET in str(text) or KEY_ID in str(text)


def shown(thing: Any) -> Iterator[str]:
    """Yield every text that a notebook or a person sees of an object."""
    yield from (repr(thing), str(thing), f"{thing}")
    for name in ("_repr_html_", "_repr_svg_", "_repr_markdown_", "_repr_latex_"):
        if callable(draw := getattr(thing, name, None)):
            yield str(draw())
    if callable(bundle := getattr(thing, "_repr_mimebundle_", None)):
        yield str(bundle(include=None, exclude=None))


def things(table: lx.Table) -> Iterator[Any]:
    """Yield what a table hands out."""
    source, latest = table._view, table.latest
    yield from (table, source, source.storage, source.storage.options, source.history, table.io)
    yield from (latest, latest.transaction, latest.row_id_index(), latest.scan(), table.tags)
    yield from (source.listing, table.branches, table.row(0), table.inspect)
    yield from (table.changes(1), table.diff(1, 3), table.lineage(), lx.Table.at(table, ("dev", 5)))
    for name in FRAMES:
        yield frame(source, name).write_json()
    lineage = table.lineage()
    yield from (lineage.to_json(), lineage.to_graphml(), lineage.to_dot())
    yield from (lineage.to_openlineage("here"), latest.scan().explain(), table.refresh())
    yield lx.figures.history(table).to_json()
    yield opening_code(table, "table.versions()")


def test_nothing_that_a_table_hands_out_shows_it(table, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    for thing in things(table):
        assert not [text for text in shown(thing) if lets_in(text)], type(thing)
    assert not lets_in(caplog.text)
    assert not lets_in(capfd.readouterr())


def widgets() -> list[Callable[[lx.Table], View]]:
    found = [getattr(lx.widgets, name) for name in dir(lx.widgets) if name[0].isupper()]
    views = [kind for kind in found if isinstance(kind, type) and issubclass(kind, View)]
    of_tables = [k for k in views if next(iter(inspect.signature(k).parameters), "") == "table"]
    return [*of_tables, lx.Table.explore]


@pytest.mark.parametrize("widget", widgets(), ids=lambda widget: widget.__name__)
def test_no_widget_keeps_it(table, widget):
    view = widget(table)
    try:
        texts = [*shown(view), str(view.get_state()), str(view.trait_values())]
        assert not [text for text in texts if lets_in(text)]
    finally:
        view.close()


def test_no_report_has_it(table, tmp_path):
    report = Path(table.report(tmp_path / "report.html"))
    assert not lets_in(report.read_text())


def test_a_copy_of_a_frame_has_only_the_frame(table, tmp_path):
    table.versions().write_parquet(tmp_path / "versions.parquet")
    assert SECRET.encode() not in (tmp_path / "versions.parquet").read_bytes()


@pytest.mark.parametrize("asked", [False, True])
def test_what_holds_it_is_not_pickled(table, asked):
    if asked:
        table.versions()
    for thing in (table, table.latest, table._view, table.changes(1), table.row(0)):
        with pytest.raises(TypeError, match=r"not pickled|cannot be pickled"):
            pickle.dumps(thing)
    with pytest.raises(TypeError, match=r"not pickled|cannot be pickled"):
        pickle.dumps(table._view.storage.options)


def test_without_options_nothing_is_held_back():
    local = lx.open_table(DATA / "14.0.2" / "branches.lance")
    again = pickle.loads(pickle.dumps(local))
    assert again.versions().equals(local.versions())


def failures(bucket: Bucket, uri: str, endpoint: str) -> Iterator[Callable[[], object]]:
    """Yield what fails, each in another way, at a server that says what it was told."""
    there, not_there = bucket.options, {**bucket.options, "aws_endpoint": endpoint}
    not_there.update(client_max_retries="0", client_retry_timeout="1")
    yield lambda: lx.open_table(uri, storage_options=not_there)
    yield lambda: lx.open_table(uri + "/missing", storage_options=there)
    yield lambda: lx.open_table(uri, storage_options={**there, "timeout": SECRET})
    yield lambda: lx.open_table(uri, storage_options={**there, "aws_endpoint": f"x {SECRET}"})
    yield lambda: lx.open_table(f"s3://{KEY_ID}:{SECRET}@tables/{NAME}", storage_options=there)
    yield lambda: open_storage(uri, not_there).get("x")
    yield lambda: open_storage(uri, not_there).get_range("x", 0, 1)
    yield lambda: open_storage(uri, not_there).list_folders("")
    table = lx.open_table(uri, storage_options=there)
    yield lambda: lx.open_table(uri, branch="missing", storage_options=there)
    yield lambda: lx.open_table(uri, storage_options={**there, "timeout": "soon"})
    yield lambda: table.at(-5000)
    yield lambda: table.at(("missing", 3))
    yield lambda: table.changes(5, 99)
    yield lambda: table.diff(1, 99)
    yield lambda: table.row(10**15).history(values=True)
    yield lambda: table.sql("SELECT * FROM nothing")
    yield lambda: table.latest.row_id_index().locate(10**15)
    yield lambda: table.latest.read(columns=["missing"])
    yield lambda: table.latest.read(filter="no such filter")
    yield lambda: table.at(99)
    yield lambda: table.at("missing")


@pytest.mark.parametrize("status", [403, 500])
def test_no_error_tells_it(bucket, uri, caplog, status):
    caplog.set_level(logging.DEBUG)
    said = f"<Error><Code>No</Code><Message>{KEY_ID} {SECRET}</Message></Error>"
    with faulty_server(status, said) as faulty:
        for fail in failures(bucket, uri, faulty.endpoint):
            with pytest.raises(LanceExplorerError) as failure:
                fail()
            lines = traceback.format_exception(failure.value)
            assert not [line for line in lines if lets_in(line)]
            assert not [place for place, text in told(failure.value) if lets_in(text)]
    assert not lets_in(caplog.text)


LOCAL = DATA / "14.0.2" / "branches.lance"

WRONG_OPTIONS: dict[str, Any] = {
    "a number": {"aws_secret_access_key": SECRET, "timeout": 5},
    "a number as a name": {"aws_secret_access_key": SECRET, 5: "x"},
    "bytes": {"aws_secret_access_key": SECRET.encode()},
    "a list": {"aws_secret_access_key": [SECRET]},
    "pairs": [("aws_secret_access_key", SECRET)],
    "text": SECRET,
}

SIGNED = [
    f"https://host/t.lance?X-Amz-Signature={SECRET}",
    f"s3://tables/t.lance?sig={SECRET}",
    f"abfss://c@a.dfs.core.windows.net/t.lance?sig={SECRET}",
    f"s3+ddb://tables/t.lance?ddbTableName=a&sig={SECRET}",
    f"s3://user:{SECRET}@tables/t.lance",
]


def check_hidden(fail: Callable[[], object]) -> None:
    with pytest.raises(LanceExplorerError) as failure:
        fail()
    assert not [line for line in traceback.format_exception(failure.value) if lets_in(line)]
    assert not [place for place, text in told(failure.value) if lets_in(text)]


@pytest.mark.parametrize("wrong", WRONG_OPTIONS)
def test_options_of_a_wrong_type_are_no_locals(wrong, tmp_path):
    options = WRONG_OPTIONS[wrong]
    ledger, lock = lx.Ledger(tmp_path / "ledger"), lx.lock(lx.open_table(LOCAL).latest)
    check_hidden(lambda: lx.open_table("s3://tables/t.lance", storage_options=options))
    check_hidden(lambda: lx.Ledger("s3://tables/ledger", storage_options=options))
    check_hidden(lambda: ledger.record("s3://tables/t.lance", storage_options=options))
    check_hidden(lambda: lx.verify(lock, "s3://tables/t.lance", storage_options=options))


@pytest.mark.parametrize("uri", SIGNED)
def test_a_url_that_is_refused_for_its_signature_is_no_local(uri, tmp_path):
    ledger, lock = lx.Ledger(tmp_path / "ledger"), lx.lock(lx.open_table(LOCAL).latest)
    check_hidden(lambda: lx.open_table(uri))
    check_hidden(lambda: lx.open_table(LOCAL, ledger=uri))
    check_hidden(lambda: lx.open_table(LOCAL, allow_bases=[uri]))
    check_hidden(lambda: lx.Ledger(uri))
    check_hidden(lambda: ledger.record(uri))
    check_hidden(lambda: ledger.open(uri))
    check_hidden(lambda: ledger.refs(uri))
    check_hidden(lambda: ledger.forget(uri))
    check_hidden(lambda: lx.verify(lock, uri))


def told(error: BaseException | None) -> Iterator[tuple[str, str]]:
    """Yield what tools show that show locals: where, and every local of the frames of others."""
    while error is not None:
        for place, line in traceback.walk_tb(error.__traceback__):
            if place.f_code.co_filename != __file__:
                for name, value in place.f_locals.items():
                    for text in leaves(value):
                        yield f"{place.f_code.co_qualname}:{line} {name}", text
        shown = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        error = shown


def leaves(value: Any) -> Iterator[str]:
    """Yield how a value shows, and what is in it if that is a container; long text is cut."""
    yield repr(value)
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(key)
            yield from leaves(item)
    elif isinstance(value, (list, tuple, set)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, str) and len(value) > 1:
        yield repr(value[: len(value) - 1])


def test_locals_are_seen_where_nothing_hides_them():
    def fail(storage_options: dict[str, str]) -> None:
        raise LanceExplorerError("no")

    hidden = Options({"key": SECRET})
    for options in (hidden, hidden.copy(), hidden | {}, {} | hidden, {**hidden}, dict(hidden)):
        assert not [text for text in leaves(options) if lets_in(text)]
    assert [text for text in leaves({"key": SECRET}) if lets_in(text)]
    with pytest.raises(LanceExplorerError) as failure:
        fail({"key": SECRET})
    frames = [frame for frame, _ in traceback.walk_tb(failure.value.__traceback__)]
    assert [text for text in leaves(frames[-1].f_locals) if lets_in(text)]


def test_options_are_the_text_that_they_were():
    hidden = Options({"key": SECRET})
    assert hidden == {"key": SECRET} == {**hidden}
    assert json.dumps(hidden) == json.dumps({"key": SECRET})
    assert pickle.loads(pickle.dumps(hidden["key"])) == SECRET
    assert type(hidden | {}) is type(hidden.copy()) is Options
