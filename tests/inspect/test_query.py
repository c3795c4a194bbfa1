import ctypes
import os
import random
import socketserver
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.inspect.query import read_expression, run_query

VERSIONS = pl.DataFrame({"version": [1, 2, 3], "operation": ["Append", "read_csv('x')", "DROP"]})
FRAMES = {
    "versions": VERSIONS,
    "tags": pl.DataFrame({"name": ["a", "b"], "version": [1, 3]}),
    "range": pl.DataFrame({"version": [2]}),
}

FILE_FUNCTIONS = ("read_csv", "read_parquet", "read_ipc", "read_json")
OTHER_FUNCTIONS = ("scan_csv", "scan_parquet", "read_avro", "glob", "generate_series", "range")


def run(query: str) -> pl.DataFrame:
    return run_query(query, FRAMES, FRAMES.__getitem__)


class Watch:
    """Files of a folder and a server: what is opened or asked for is noticed."""

    _OPENED = 0x20
    _ATTRIBUTES_AND_CHANGES = 0x2 | 0x100 | 0x200 | 0x40

    def __init__(self, folder: Path) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._events = self._libc.inotify_init1(os.O_NONBLOCK)
        mask = self._OPENED | self._ATTRIBUTES_AND_CHANGES
        assert self._libc.inotify_add_watch(self._events, os.fsencode(folder), mask) > 0
        self.asked = asked = list[bytes]()

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                asked.append(self.request.recv(100))
                self.request.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")

        self._server = socketserver.TCPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def touched(self) -> bool:
        """Tell whether anything was touched since this was last asked."""
        try:
            opened = bool(os.read(self._events, 1 << 16))
        except BlockingIOError:
            opened = False
        asked = bool(self.asked)
        self.asked.clear()
        return opened or asked

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        os.close(self._events)


@pytest.fixture(scope="module")
def secret(tmp_path_factory):
    folder = tmp_path_factory.mktemp("secret")
    frame = pl.DataFrame({"version": [31337]})
    frame.write_csv(folder / "read_csv")
    frame.write_parquet(folder / "read_parquet")
    frame.write_ipc(folder / "read_ipc")
    frame.write_ndjson(folder / "read_json")
    return folder


@pytest.fixture(scope="module")
def watch(secret) -> Iterator[Watch]:
    if not hasattr(ctypes.CDLL(None), "inotify_init1"):
        pytest.skip("needs Linux to see which files are opened")
    watch = Watch(secret)
    yield watch
    watch.close()


# ---------------------------------------------------------------------------------- what is refused


def spelled(rng: random.Random, name: str) -> str:
    """Write a name in one of the ways that mean the same."""
    ways: list[Callable[[str], str]] = [
        str,
        str.upper,
        str.title,
        lambda n: f'"{n}"',
        lambda n: f"`{n}`",
        lambda n: f"/* tags */{n}",
        lambda n: f"/* /* */ ' */{n}",
        lambda n: f"{n}--(\n",
        lambda n: f"{n} /**/ ",
        lambda n: f"\t{n}\r\n",
        lambda n: f'"{n.upper()}" ',
    ]
    return rng.choice(ways)(name)


def outside(rng: random.Random, secret: Path, url: str) -> str:
    """Write something to read that is no frame."""
    name = rng.choice(FILE_FUNCTIONS)
    place = rng.choice((f"{secret}/{name}", f"file://{secret}/{name}", f"{url}/{name}.csv"))
    match rng.randrange(4):
        case 0:
            return rng.choice((f"'{place}'", f'"{place}"', f"`{place}`"))
        case 1:
            name = rng.choice(OTHER_FUNCTIONS)
            return f"{spelled(rng, name)}({rng.choice((repr(place), '1, 3'))})"
        case _:
            return f"{spelled(rng, name)}({place!r})"


def hostile(rng: random.Random, secret: Path, url: str) -> str:
    """Write a query that reads something else, somewhere inside."""
    source = outside(rng, secret, url)
    name = rng.choice(FILE_FUNCTIONS)
    queries = [
        f"SELECT * FROM {source}",
        f"FROM {source}",
        f"SELECT * FROM versions, {source}",
        f"SELECT * FROM versions v JOIN {source} AS s ON v.version = s.version",
        f"SELECT * FROM versions CROSS JOIN {source}",
        f"SELECT * FROM versions NATURAL JOIN {source}",
        f"SELECT * FROM ({source})",
        f"SELECT * FROM (SELECT * FROM (SELECT * FROM {source}) a) b",
        f"SELECT * FROM versions WHERE version IN (SELECT version FROM {source})",
        f"SELECT * FROM versions WHERE version = ANY (SELECT version FROM {source})",
        f"SELECT (SELECT max(version) FROM {source}) FROM versions",
        f"SELECT CASE WHEN EXISTS (SELECT 1 FROM {source}) THEN 1 END FROM versions",
        f"SELECT version FROM versions UNION ALL SELECT version FROM {source}",
        f"SELECT version FROM versions EXCEPT SELECT version FROM {source}",
        f"WITH w AS (SELECT * FROM {source}) SELECT * FROM w",
        f"WITH {name} AS (SELECT 1 AS version) SELECT * FROM {source}, {name}",
        f"WITH {name} (version) AS (SELECT 1) SELECT * FROM {name}('{secret}/{name}')",
        f"WITH \"{name}\" AS (SELECT 1) SELECT * FROM {name.upper()}/**/('{secret}/{name}')",
        f"WITH w AS (WITH {name} AS (SELECT 1) SELECT 1) SELECT * FROM {source}",
        f"SELECT '/*' FROM {source} -- */",
        f"SELECT '--' , ''';' FROM {source}",
        f"SELECT 'a\\' , (SELECT version FROM {source}) , ' '",
        f'SELECT "a\\" , (SELECT version FROM {source}) , " "',
        f"SELECT $$ ' $$ FROM {source} -- '",
        f"SELECT E'\\'' FROM {source} -- '",
        f"SELECT * FROM LATERAL {source}",
        f"SELECT * FROM versions, LATERAL (SELECT * FROM {source}) x",
        f"SELECT * FROM TABLE({source})",
        f"SELECT 1; SELECT * FROM {source}",
        f"EXPLAIN SELECT * FROM {source}",
        f"CREATE TABLE x AS SELECT * FROM {source}",
        f"DELETE FROM versions WHERE version IN (SELECT version FROM {source})",
        f"WITH x AS (SELECT 1) DELETE FROM {source}",
        f"SELECT * FROM versions ORDER BY (SELECT version FROM {source})",
        f"SELECT * FROM versions LIMIT (SELECT version FROM {source})",
        f"SELECT version FROM versions GROUP BY version HAVING 1 IN (SELECT 1 FROM {source})",
        f"VALUES ((SELECT version FROM {source}))",
        f"SELECT * FROM range({source})",
        f"SELECT * FROM versions('{secret}/{name}')",
    ]
    query = rng.choice(queries)
    return f"({query})" if rng.random() < 0.1 else query


@pytest.mark.parametrize("name", FILE_FUNCTIONS)
def test_polars_alone_would_read_a_file_and_the_watch_sees_it(watch, secret, name):
    watch.touched()
    query = f"SELECT * FROM {name}('{secret}/{name}')"
    assert pl.SQLContext().execute(query).collect().item() == 31337
    assert watch.touched()


@pytest.mark.slow
def test_polars_alone_would_ask_a_server_and_the_watch_sees_it(watch):
    watch.touched()
    with pytest.raises((pl.exceptions.PolarsError, OSError)):
        pl.SQLContext().execute(f"SELECT * FROM read_csv('{watch.url}/x.csv')").collect()
    assert watch.touched()


@pytest.mark.drawn(8)
def test_a_query_that_reads_anything_else_is_refused_before_it_is_touched(watch, secret, seed):
    rng = random.Random(seed)
    watch.touched()
    for _ in range(100):
        query = hostile(rng, secret, watch.url)
        with pytest.raises(InvalidArgumentError, match=r"the frames are range, tags, versions$"):
            pytest.fail(f"{query} gave {run(query)}")
        assert not watch.touched(), query


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM versions",
        "DROP TABLE versions",
        "TRUNCATE TABLE versions",
        "CREATE TABLE x AS SELECT * FROM versions",
        "INSERT INTO versions VALUES (1)",
        "UPDATE versions SET version = 1",
        "SHOW TABLES",
        "EXPLAIN SELECT * FROM versions",
        "SET x = 1",
        "COPY versions TO 'x.csv'",
        "SELECT * INTO x FROM versions",
        "SELECT * FROM versions INTO OUTFILE 'x.csv'",
        "WITH x AS (SELECT 1) DELETE FROM versions",
        "WITH x AS (DELETE FROM versions) SELECT 1",
        "/* SELECT */ DROP TABLE versions",
        "((DELETE FROM versions))",
        "ATTACH 'x' AS y",
        "TABLE versions",
    ],
)
def test_what_is_no_select_is_refused_and_told_what_is_possible(query):
    with pytest.raises(
        InvalidArgumentError, match=r"one SELECT|is not allowed in a query over frames"
    ):
        run(query)


def test_frames_of_the_caller_are_none_of_the_frames():
    mine = pl.DataFrame({"a": [1]})
    with pytest.raises(InvalidArgumentError, match="mine is not a frame"):
        run("SELECT * FROM mine")
    assert mine.height == 1


def test_a_second_statement_is_refused():
    with pytest.raises(InvalidArgumentError, match="one statement"):
        run("SELECT * FROM versions; DROP TABLE versions")


# ------------------------------------------------------------------------------------- what is not


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM versions",
        "SELECT * FROM Versions ;",
        "SELECT * FROM \"versions\" -- read_csv('x'); DROP",
        "SELECT v.* FROM versions v WHERE operation = 'read_csv(''x'')'",
        "SELECT version /* nested /* DROP */ */ FROM versions WHERE operation='DROP'",
        "SELECT 'DELETE FROM versions; DROP', \"version\", `operation` FROM versions",
        'SELECT version AS "delete" FROM versions',
        "SELECT version-1 AS a, -version+2>=0 AS b, version*1.5e-3/.5 AS c FROM versions",
        "WITH w AS (SELECT * FROM versions), u AS (SELECT * FROM w) SELECT * FROM u, tags",
        "WITH read_csv AS (SELECT * FROM versions) SELECT * FROM read_csv",
        "WITH w (a) AS (SELECT version FROM tags) SELECT w.a FROM w",
        "SELECT version FROM versions UNION SELECT version FROM tags ORDER BY version",
        "SELECT * FROM versions WHERE version IN (SELECT version FROM tags)",
        "SELECT * FROM versions v LEFT JOIN tags t USING (version) ORDER BY version",
        "SELECT * FROM range JOIN versions ON range.version = versions.version",
        "VALUES (1, 'x'), (2, 'y')",
        "SELECT * FROM (VALUES (1, 2)) AS v(a, b)",
        "SELECT x'ff' AS a, version::VARCHAR||'!' AS b FROM versions",
        "SELECT EXTRACT(year FROM DATE '2024-01-02') AS year FROM range",
        "SELECT [1,2,3] AS a FROM range",
        "FROM versions SELECT version WHERE version!=2 AND version<>3",
        "SELECT row_number() OVER (ORDER BY version DESC) AS n FROM versions",
        "SELECT version, CASE WHEN operation LIKE 'A%' THEN 'é—ü' ELSE NULL END AS z FROM versions",
    ],
)
def test_a_select_over_frames_answers_as_polars_does(query):
    expected = pl.SQLContext(FRAMES).execute(query).collect()
    assert run(query).rows() == expected.rows()
    assert run(query).schema == expected.schema


def test_only_what_is_read_is_built():
    built = []

    def build(name: str) -> pl.DataFrame:
        built.append(name)
        return FRAMES[name]

    run_query("SELECT 'tags' AS tags FROM versions -- range", FRAMES, build)
    assert built == ["versions"]


@pytest.mark.parametrize(
    "text",
    [
        "version IN (SELECT version FROM {})",
        "EXISTS (SELECT 1 FROM {})",
        "(SELECT max(version) FROM {}) = 1",
        "version = 1 AND version IN (SELECT version FROM {}) AS x",
    ],
)
def test_an_expression_reads_only_columns(watch, secret, text):
    watch.touched()
    with pytest.raises(InvalidArgumentError, match="only the columns of a row"):
        read_expression(text.format(f"read_csv('{secret}/read_csv')"))
    assert not watch.touched()
