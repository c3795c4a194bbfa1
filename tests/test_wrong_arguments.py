"""Every public call with wrong arguments: each is refused in words, before anything is done.

The calls and their parameters are those of the reference. What is wrong for a parameter follows
from its kind, and its kind from its name; so a new call is tried as soon as it is there, and a
parameter of a new name fails until its kind is told here.
"""

import importlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import lance_explorer as lx
from lance_explorer.arguments import shown
from lance_explorer.changes.feed_parts import ChangePart
from lance_explorer.lineage import recording
from lance_explorer.lineage.nodes import FragmentNode
from lance_explorer.shown import visible
from lance_explorer.widgets.state import ExplorerState
from tools.docs.public_names import Name, groups

SENSELESS = {
    "none": None,
    "bytes": b"\xffbytes",
    "float": 1.5,
    "nan": float("nan"),
    "list": [object()],
    "dict": {"a": object()},
    "object": object(),
    "flag": True,
    "array": np.zeros((2, 2)),
    "decimal": Decimal("1.5"),
    "complex": 3j,
    "class": lx.Table,
    "function": print,
    "number": 2,
    "text": "none is called so",
    "table": None,  # which the fixture makes
}
"""Values of many types; a kind names those that are right for it."""

ENDLESS = 10**5000
"""A number that Python refuses to write out."""


@dataclass(frozen=True)
class Kind:
    """A kind of argument.

    ``says`` is what a message says that is expected; ``right`` a value that is right, of which
    tries of other parameters are made; ``fits`` are the senseless values that are of its type, and
    ``values`` values of its type that are wrong.
    """

    says: str
    right: Any
    fits: tuple[str, ...] = ()
    values: tuple[Any, ...] = ()
    is_secret: bool = False


VERSION = Kind(
    "expected a version",
    2,
    ("number", "text"),
    (99, -99, 2**64, ENDLESS, -ENDLESS, "", "7 ago", "99", "dev@99", "no@1", "tag:none", ("no", 1),
     ("dev",), ("dev", ("dev", 1)), "999999999 years ago", "\ud800"),
)  # fmt: skip
ROW_ID = Kind(
    "whole number from 0 to 2^64 - 1", 2, ("number",), (-1, 2**64, ENDLESS, 99, 2**64 - 1)
)
ROW_IDS = Kind(
    "whole numbers from 0 to 2^64 - 1",
    [1, 2],
    (),
    ([-1], [2**64], [ENDLESS], [1.0], ["1"], [None], [[1]], [True], {1, 2}, pl.Series([1, None])),
)
FRAGMENT_ID = Kind("whole number from 0", 0, ("number",), (-1, 99, 2**63 - 1, 2**64, ENDLESS))
NODE = Kind("whole number from 0", 2, ("number",), (99, FragmentNode(None, None, 99, 1), ENDLESS))
COUNT = Kind("whole number from", 3, ("number",), (-1, ENDLESS, 2**64))
SIZE = replace(COUNT, values=(0, -1, ENDLESS, 2**64))
FLAG = Kind("True or False", True, ("flag",), (0, 1, "yes", "", np.array(True)))
NAMES = Kind(
    "a list of names", ["id"], ("text",), ("nowhere", ["nowhere"], ["id", None], [b"id"], [["id"]])
)
EVENTS = Kind("history() gives", pl.DataFrame, (), (pl.DataFrame(), pl.DataFrame({"event": ["a"]})))
TEXT = Kind("text", "text", ("text",), ())
PATH = Kind(
    "a path",
    "page",
    ("text",),
    ("", "a\0b", "\ud800", "x" * 5000, "/nowhere/at/all", "/"),
)
STATE = Kind("an ExplorerState", None, (), (ExplorerState,))
TABLE = Kind("a Table", "table", ("table",), ("people.lance",))
SPARK = Kind("SparkSession", "spark")
ROWS = Kind("DataFrame", "rows")
DATASET = Kind("LanceDataset", "dataset", (), ("people.lance",))
SQL = replace(TEXT, values=("", "SELECT", "DROP TABLE versions", "SELECT * FROM nowhere", "\0"))
TABLE_TEXTS = ("", "a\0b", "http://a/b", "\ud800", "s3://user:password@bucket/t", "az://c/t?sig=1")
TABLES = Kind("expected a path", "table", ("text",), ("nowhere", *TABLE_TEXTS))
RECORDED_NAMES = Kind("a path", "people.lance", ("text",), ("", "a\0b", "\ud800", "nowhere"))
LEDGERS = Kind("a path", "folder", ("text",), TABLE_TEXTS)
BASES = Kind("list of paths and URIs", (), (), ("/a", [""], [b"/a"], [None], ["s3://"], "\ud800"))
AGE = Kind("a timedelta", timedelta(days=1), (), (timedelta(days=-1), 14, "14 days"))
CLONES = Kind("a list of tables", (), (), ("nowhere", ["nowhere"], [None], [b"/a"]))
OPTIONS = Kind(
    "mapping of text to text", {}, (), ({"a": 1}, {1: "a"}, [("a", "b")], {"a": None}), True
)


MADE = replace(PATH, values=("", "a\0b", "\ud800"))
"""Where folders are made that are not there."""


def one_of(right: str | None) -> Kind:
    return Kind("is one of", right, ("text",), ("", "Net", "both "))


DAY = Kind("is a time or a day", "today", ("none",), ("", "99", "7 ago", "clean"))
VIEW = Kind("view is", "view", (), ("people.lance",))

KINDS = {
    "a": VERSION,
    "all_branches": FLAG,
    "addresses": ROW_IDS,
    "after": ROWS,
    "values_apart": FLAG,
    "whole_manifests": FLAG,
    "allow_bases": BASES,
    "depth": one_of("quick"),
    "delete_unverified": FLAG,
    "deleted": FLAG,
    "severity": one_of("info"),
    "older_than": AGE,
    "retain_versions": SIZE,
    "clones": CLONES,
    "app_name": TEXT,
    "as_": RECORDED_NAMES,
    "at": VERSION,
    "author": TEXT,
    "on_conflict": one_of("keep"),
    "reason": TEXT,
    "b": VERSION,
    "batch_size": SIZE,
    "before": ROWS,
    "by": one_of("l2"),
    "begin_version": VERSION,
    "bytes_per_task": SIZE,
    "branch": replace(TEXT, values=("", "no", "../dev", "a\0b", "\ud800")),
    "check_files": FLAG,
    "checksums": FLAG,
    "column": TEXT,
    "columns": NAMES,
    "config": OPTIONS,
    "database": Kind("expected a path", "place", ("text",), ("nowhere", *TABLE_TEXTS)),
    "dataset": DATASET,
    "end": NODE,
    "end_version": VERSION,
    "events": EVENTS,
    "follow": FLAG,
    "filter": replace(TEXT, values=("", "nowhere = 1", "id =", "SELECT", "\0")),
    "folder": PATH,
    "found": Kind("Changes", "changes"),
    "outcome": replace(NAMES, right="kept", values=("", "Kept", ["kept", "x"], [None])),
    "fragment": NODE,
    "fragment_id": FRAGMENT_ID,
    "frame": replace(TEXT, values=("",)),
    "ids": ROW_IDS,
    "images": replace(one_of("after"), fits=("text", "none")),
    "include": replace(NAMES, right=["moved"], values=("nothing", ["moved", "nothing"], [None])),
    "include_undone": FLAG,
    "inherited": FLAG,
    "interactive": FLAG,
    "key": NAMES,
    "last": replace(SIZE, fits=("number", "none")),
    "ledger": LEDGERS,
    "limit": COUNT,
    "lock": Kind(
        "a path",
        "lock",
        ("text",),
        ("", "nowhere.lock", "a\0b", "\ud800", "x" * 5000, "/", "{", "{}", "{" * 100_000),
    ),
    "master": replace(TEXT, values=("", "lokal", "7")),
    "max_bytes": replace(COUNT, fits=("number", "none")),
    "max_entries": SIZE,
    "max_requests": replace(COUNT, fits=("number", "none")),
    "mode": one_of("net"),
    "namespace": TEXT,
    "nodes": Kind(
        "a list of nodes", [0], (), ([99], [None], ["0@1"], [FragmentNode(None, None, 99, 1)])
    ),
    "num_rows": COUNT,
    "one": ROWS,
    "operation": replace(NAMES, values=([None], [b"a"])),
    "other": ROWS,
    "part": Kind(
        "one of Changes.parts",
        None,
        (),
        (ChangePart(0, 99), ChangePart(5, 1), ChangePart(0, 1, 1, 1)),
    ),
    "path": PATH,
    "progress": FLAG,
    "query": SQL,
    "ref": VERSION,
    "row_id": ROW_ID,
    "rows": ROWS,
    "row_ids": ROW_IDS,
    "since": replace(VERSION, fits=("number", "text", "none")),
    "snapshot": Kind("a Snapshot", "snapshot", (), (7, "people.lance")),
    "spark": SPARK,
    "start": NODE,
    "state": STATE,
    "storage_options": OPTIONS,
    "table": TABLE,
    "stream": Kind("a DataFrame of Spark", "stream"),
    "catalog": Kind("a Catalog of pyiceberg", None),
    "keys": replace(NAMES, right="id"),
    "tables": replace(NAMES, values=([None], [b"a"], [["a"]])),
    "text": TEXT,
    "tolerance": Kind("0 or more", 0.5, ("number", "float"), (-1, -0.1, ENDLESS, "0.1")),
    "values": FLAG,
    "until": replace(VERSION, fits=("number", "text", "none")),
    "uri": LEDGERS,
    "uris": Kind("list of paths and URIs", (), ("text",), ([None], [b"a"], [["a"]])),
    "version": VERSION,
    "versions": Kind("a list of versions", [2], (), ([], ["x"], [99], [None])),
    "view": one_of("overview"),
    "when": Kind("is a time, a day or a tag", "today", ("text",), ("", "99", "-1", "7 ago", "no")),
    "where": replace(TEXT, values=("", " ", "id = ", "id + 1", "nowhere = 1")),
    "words": FLAG,
}
"""The kinds of parameters, by name."""

OTHERS = {
    "lx.Snapshot(view)": VIEW,
    "lx.Table(view)": VIEW,
    "blame.go_on(limit)": SIZE,
    "table.blame(limit)": SIZE,
    "found.go_on(limit)": SIZE,
    "found.go_on(max_bytes)": COUNT,
    "table.find(limit)": SIZE,
    "database.explore(view)": one_of("tables"),
    "database.find(limit)": SIZE,
    "database.log(since)": DAY,
    "database.log(until)": DAY,
    "database.log(limit)": replace(COUNT, fits=("number", "none")),
    "database.lock(when)": replace(
        VERSION,
        says="is a time, a day or a tag",
        right="today",
        fits=("text", "none"),
        values=("99",),
    ),
    "table.find(max_bytes)": COUNT,
    "table.report(max_bytes)": replace(SIZE, right=1_000_000),
    "changes.parts(num_rows)": SIZE,
    "changes.drift(column)": replace(TEXT, values=("", "nowhere", "city")),
    "ledger.compact(table)": RECORDED_NAMES,
    "ledger.forget(before)": replace(COUNT, values=(-1, ENDLESS)),
    "ledger.forget(table)": RECORDED_NAMES,
    "ledger.forget_values(table)": RECORDED_NAMES,
    "ledger.forget_values(where)": replace(TEXT, right="id = 1", values=("", "id = = 1")),
    "ledger.open(table)": RECORDED_NAMES,
    "ledger.record(table)": replace(TABLES, right="place", fits=("text", "table")),
    "ledger.record(values)": replace(
        NAMES,
        says="True, False or a list of names of columns",
        fits=("text", "flag"),
        values=(["nowhere"], "nowhere"),
    ),
    "ledger.refs(table)": RECORDED_NAMES,
    "table.merge_preview(branch)": replace(VERSION, right="dev"),
    "lx.Snapshot(version)": replace(FRAGMENT_ID, says="whole number from 0", right=2),
    "lx.open_table(table)": TABLES,
    "lx.demo.make_archive(path)": MADE,
    "lx.demo.make_documents(path)": MADE,
    "lx.demo.make_photos(path)": MADE,
    "lx.demo.make_photos_without_stable_row_ids(path)": MADE,
    "lx.demo.make_samples(folder)": MADE,
    "lx.spark.content(columns)": replace(NAMES, values=([None], [b"a"])),
    "lx.spark.content(path)": TEXT,
    "lx.spark.count(path)": TEXT,
    "lx.spark.profile(path)": replace(TEXT, right="place"),
    "lx.spark.follow(row_id)": TEXT,
    "lx.spark.locate(row_id)": TEXT,
    "lx.spark.follow(path)": replace(TEXT, right="place"),
    "lx.spark.locate(path)": replace(TEXT, right="place"),
    "lx.spark.load(path)": TEXT,
    "lx.spark.load(source)": one_of("rows"),
    "lx.spark.from_polars(frame)": Kind("a Polars DataFrame", pl.DataFrame()),
    "lx.spark.metadata(frame)": TEXT,
    "lx.spark.lag(query)": Kind("a StreamingQuery", "spark"),
    "lx.spark.merge_into(format)": one_of("lance"),
    "lx.spark.merge_into(target)": Kind("the kind of ", "copy.lance", ("text",), ("nowhere",)),
    "lx.spark.record(values)": replace(NAMES, fits=("text", "flag"), values=([None], [b"a"])),
    "lx.spark.record(allow_bases)": replace(BASES, values=("/a", [None], [b"a"])),
    "lx.spark.metadata(allow_bases)": replace(BASES, values=("/a", [None], [b"a"])),
    "lx.runs(place)": Kind("a path", "folder", ("text",), ("", "a\0b", "\ud800")),
    "runs.add(name)": replace(TEXT, right="train-7", values=("", " ")),
    "runs.add(link)": TEXT,
    "runs.add(snapshots)": Kind("a Snapshot", "snapshot", (), ([], [None])),
    "runs.add(started_at)": Kind("a datetime", None, ("none",)),
    "runs.reading(table)": replace(TABLES, fits=("text", "none", "table")),
    "runs.reading(where)": TEXT,
    "lx.salvage(uri)": replace(LEDGERS, right="place"),
    "lx.verify(table)": replace(TABLES, fits=("text", "none", "table"), values=TABLE_TEXTS),
    "lx.widgets.DatabaseExplorer(database)": Kind("a Database", "database", (), ("people.lance",)),
    "lx.widgets.DatabaseExplorer(view)": one_of("tables"),
    "lx.widgets.RowHistory(row_id)": COUNT,
}
"""The kinds of those that are of another kind than their name says."""

BESIDE = {
    "table.changes(columns)": {"images": "after"},
    "diff.rows(columns)": {"images": "after"},
}
"""What must be given beside a parameter so that it is looked at."""

RESULTS = {"lx.Database", "lx.Finding", "lx.Runs", "lx.Verification", "recording.CompactionMetrics"}
"""Classes of which only the package makes objects."""

NOT_TRIED = {"Pictures", "Errors"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a public call."""

    call: Name
    name: str
    default: Any

    @property
    def path(self) -> str:
        return f"{self.call.path}({self.name})"

    @property
    def kind(self) -> Kind:
        return OTHERS.get(self.path) or KINDS[self.name]


def parameters_of(call: Name) -> Iterator[Parameter]:
    if isinstance(call.member, property) or not callable(call.member):
        return
    for name, parameter in inspect.signature(call.member).parameters.items():
        if name != "self" and parameter.kind is not parameter.VAR_KEYWORD:
            yield Parameter(call, name, parameter.default)


PUBLIC = [
    call
    for group in groups()
    for call in group.names
    if group.title not in NOT_TRIED and call.path not in RESULTS
]
PARAMETERS = [parameter for call in PUBLIC for parameter in parameters_of(call)]


class Unasked:
    """What stands for a session of Spark, and must not be asked for anything."""

    dataSource = read = createDataFrame = property(lambda _: pytest.fail("Spark was asked"))  # noqa: N815


@pytest.fixture(scope="module")
def owners(
    example_names: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> SimpleNamespace:
    """Return one object of each kind that has calls, under the name that the reference gives it."""
    import lance
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from lance_explorer.spark.changes_source import ChangesSource

    class Rows(DataFrame):
        """What stands for a frame of Spark; only its columns are known."""

        columns = ["id", "city"]  # noqa: RUF012

        def __new__(cls) -> "Rows":
            return object.__new__(cls)

        def __init__(self) -> None:
            pass

        def __repr__(self) -> str:
            return "Rows()"

    table = example_names["table"]
    changed = ChangesSource({"path": table.uri, "images": "both"}).schema()

    class Feed(Rows):
        """What stands for a stream of changes."""

        isStreaming, columns = True, changed.names  # noqa: N815

        @property
        def schema(self) -> StructType:
            return changed

    ledger = lx.Ledger(tmp_path_factory.mktemp("recorded") / "ledger")
    ledger.record(table)
    snapshot = table.at(2)
    copied = tmp_path_factory.mktemp("copied") / "numbers.lance"
    return SimpleNamespace(
        lx=lx,
        recording=recording,
        table=table,
        database=example_names["database"],
        place=table.uri,
        ledger=ledger,
        snapshot=snapshot,
        index=snapshot.row_id_index(),
        row=table.row(2),
        found=table.find("id = 2"),
        blame=table.blame(limit=2),
        changes=table.changes(1, 3),
        profile=table.profile("id"),
        drift=table.changes(2, 3).drift("id"),
        diff=table.diff(1, 3),
        preview=table.merge_preview("dev"),
        lineage=table.lineage(),
        view=table._view,
        spark=Unasked(),
        rows=Rows(),
        stream=Feed(),
        dataset=lance.write_dataset(pl.DataFrame({"id": [1, 2]}).to_arrow(), copied),
        events=table.row(2).history(),
        lock=lx.lock(snapshot),
        runs=lx.runs(tmp_path_factory.mktemp("runs")),
    )


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Be where nothing is, and see that nothing is written there."""
    monkeypatch.chdir(tmp_path)
    yield
    assert [*tmp_path.iterdir()] == []


def tries(parameter: Parameter, owners: SimpleNamespace) -> Iterator[tuple[str, Any]]:
    """Yield wrong values: those of a wrong type under its name, and other ones under none."""
    kind = parameter.kind
    for name, value in SENSELESS.items():
        if name not in kind.fits and not (value is parameter.default and name != "table"):
            yield name, owners.table if name == "table" else value
    for value in kind.values:
        yield "", value


def right(parameter: Parameter, owners: SimpleNamespace) -> Any:
    given = parameter.kind.right
    if parameter.path == "lx.open_table(table)":
        return owners.table.uri
    if parameter.kind is EVENTS:
        return owners.events
    return getattr(owners, given, given) if isinstance(given, str) else given


def called(parameter: Parameter, owners: SimpleNamespace) -> Callable[[Any], Any]:
    """Return the call with one parameter left open, and what must be given beside it."""
    function: Any = owners
    for part in parameter.call.path.split("."):
        function = getattr(function, part)
    others = {
        other.name: right(other, owners)
        for other in parameters_of(parameter.call)
        if other.default is inspect.Parameter.empty and other.name != parameter.name
    }
    others |= BESIDE.get(parameter.path, {})
    return lambda value: function(**others, **{parameter.name: value})


def used(answer: Any) -> Any:
    """Do what reads, of answers that have not read anything yet."""
    if isinstance(answer, lx.widgets.RowHistory):
        return answer.frame()
    if hasattr(answer, "to_polars") and hasattr(answer, "parts"):
        return answer.to_polars()
    if isinstance(answer, lx.widgets.Changes):
        return answer.frame()
    if type(answer).__name__ == "Row":
        return answer.history()
    return answer


def what_came(call: Callable[[Any], Any], value: Any, *, use: bool) -> BaseException | None:
    try:
        answer = call(value)
        if use:
            used(answer)
    except BaseException as error:  # noqa: BLE001 - a panic of Rust is no Exception
        return error
    return None


def test_each_parameter_of_a_public_call_has_a_kind() -> None:
    paths, names = {it.path for it in PARAMETERS}, {it.name for it in PARAMETERS}
    assert [it.path for it in PARAMETERS if it.path not in OTHERS and it.name not in KINDS] == []
    assert {*OTHERS, *BESIDE} <= paths
    assert {*KINDS} <= names


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.path)
def test_wrong_arguments_are_refused(parameter: Parameter, owners: SimpleNamespace) -> None:
    call = called(parameter, owners)
    tried, problems = 0, list[str]()
    for type_, value in tries(parameter, owners):
        tried += 1
        error = what_came(call, value, use=not type_)
        what = f"{type_ or 'value'} {shown(value)}"
        if not isinstance(error, lx.InvalidArgumentError | lx.NotFoundError):
            problems.append(f"{what}: {type(error).__name__}: {str(error)[:200]}")
        elif type_ and not isinstance(error, lx.InvalidArgumentError):
            problems.append(f"{what}: {type(error).__name__} for a wrong type: {str(error)[:200]}")
        elif type_:
            said = "of type" if parameter.kind.is_secret else visible(shown(value))
            missing = [words for words in (parameter.kind.says, said) if words not in str(error)]
            if missing:
                problems.append(f"{what}: no {missing} in: {str(error)[:200]}")
    assert not problems, "\n" + "\n".join(problems)
    assert tried >= 10


NUMBERS = ("", "-1", "0", "1.5", "nan", "x", "\u00b2", "[1]", "true", "9" * 5000)
LISTS = (
    "[1]",
    "[null]",
    '["a"',
    '["a", 1]',
    "[[]]",
    "[" * 100_000,
    "[{}]",
    "[nan]",
    "[true]",
    "[-1]",
)
VERSIONS = ("", "99", "-99", "9" * 5000, "dev@99", "no@1", "tag:none", "x", "1.5", "[1]")
CHOICES = ("", "Net", "x", "1", "[]", "net ", "None", "null", "true", "\0")
OPTION_TEXTS = {
    "version": VERSIONS,
    "begin_version": VERSIONS,
    "end_version": VERSIONS,
    "rows_per_partition": NUMBERS,
    "tables_per_partition": NUMBERS,
    "tolerance": ("-1", "x", "nan", "1,5", "[1]", "-inf", "0x1", "true", "1e", "--1"),
    "mode": CHOICES[1:],
    "images": CHOICES[1:],
    "columns": LISTS,
    "key": LISTS,
    "include": (*LISTS, "x"),
    "row_ids": (*LISTS, "x", "1.5", "9" * 5000),
    "allow_bases": LISTS,
    "frame": CHOICES,
    "nowhere": CHOICES,
}
"""Wrong texts of options of Spark's data sources."""

SOURCES = {
    "content": ("ContentSource", {}, ("columns", "version", "rows_per_partition", "nowhere")),
    "metadata": ("MetadataSource", {"frame": "fragments"}, ("frame", "tables_per_partition")),
    "history": (
        "HistorySource",
        {},
        ("begin_version", "end_version", "row_ids", "rows_per_partition", "nowhere"),
    ),
    "changes": (
        "ChangesSource",
        {"begin_version": "1", "images": "after"},
        tuple(
            "begin_version end_version mode images columns key include tolerance "
            "rows_per_partition nowhere".split()
        ),
    ),
}
"""The data sources: class, options that must be given, and those that are tried."""


@pytest.mark.parametrize(
    ("source", "option"), [(name, option) for name, it in SOURCES.items() for option in it[2]]
)
def test_wrong_options_of_spark_are_refused(
    source: str, option: str, example_names: dict[str, Any]
) -> None:
    class_name, needed, _ = SOURCES[source]
    of_spark = getattr(importlib.import_module(f"lance_explorer.spark.{source}_source"), class_name)

    def read(text: str) -> None:
        made = of_spark({"path": example_names["table"].uri, **needed, option: text})
        made.reader(made.schema()).partitions()

    problems = list[str]()
    for text in OPTION_TEXTS[option]:
        error = what_came(read, text, use=False)
        is_told = isinstance(error, lx.InvalidArgumentError) and option.rstrip("s") in str(error)
        is_told |= isinstance(error, lx.NotFoundError) and "version" in option
        if not is_told:
            problems.append(f"{shown(text)}: {type(error).__name__}: {str(error)[:200]}")
    assert not problems, "\n" + "\n".join(problems)


def test_wrong_options_that_are_handed_on_are_refused(owners: SimpleNamespace) -> None:
    wrong: tuple[Any, ...] = (None, b"x", 1.5, [1], {}, object(), int, Decimal(1), np.zeros(1))
    for value in (*wrong, owners.table):
        with pytest.raises(lx.InvalidArgumentError, match="the option version is text or"):
            lx.spark.content(owners.spark, "path", version=value)
    for value in (b"x", 1.5, [1], {}, object(), "x", -1, int, Decimal(1), 10**5000):
        with pytest.raises(lx.InvalidArgumentError, match="target_rows_per_fragment"):
            recording.compact_files(owners.dataset, target_rows_per_fragment=value)
    with pytest.raises(lx.InvalidArgumentError, match="no_option"):
        recording.compact_files(owners.dataset, no_option=1)
