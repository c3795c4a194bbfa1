"""Commands that give the numbers of databases to a monitor, once or repeatedly."""

import itertools
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lance_explorer.arguments import file_to_write
from lance_explorer.cli.ages import AGE
from lance_explorer.cli.group import ALLOW_BASES, LEDGER, LONGEST_TEXT, main, print_answer
from lance_explorer.database import Database, open_database
from lance_explorer.database.metrics import Reading, collector, metrics_answer, read_metrics
from lance_explorer.errors import StorageError
from lance_explorer.shown import one_line

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

__all__ = ["metrics", "watch"]

_URIS = click.argument("uris", metavar="URI...", nargs=-1, required=True)
_FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(["prometheus", "json"]),
    default="prometheus",
    show_default=True,
    help="How they are printed.",
)
_COLUMNS = click.option(
    "--column",
    "columns",
    multiple=True,
    help="A column whose values are read, too, in tables that have it; can be repeated.",
)


@main.command()
@_URIS
@_COLUMNS
@_FORMAT
@ALLOW_BASES
@LEDGER
def metrics(
    uris: tuple[str, ...],
    columns: tuple[str, ...],
    form: str,
    allow_bases: tuple[str, ...],
    ledger: str | None,
) -> None:
    """Print the numbers of the tables at each URI, a table or a folder of tables, for a monitor.

    docs/METRICS.md says what each means.
    """
    _print(_read(_opened(uris, allow_bases, ledger), columns), form)


@main.command()
@_URIS
@click.option("--every", type=AGE, default="5m", show_default=True, help="How long to wait.")
@click.option("--port", type=click.IntRange(0, 65535), help="Serve them to this machine there.")
@click.option(
    "--textfile",
    type=click.Path(path_type=Path),
    help="Write them to this file, for the textfile collector of node_exporter.",
)
@click.option("--count", type=click.IntRange(1), help="How many times; by default until Ctrl+C.")
@_COLUMNS
@_FORMAT
@ALLOW_BASES
@LEDGER
def watch(
    uris: tuple[str, ...],
    every: timedelta,
    port: int | None,
    textfile: Path | None,
    count: int | None,
    columns: tuple[str, ...],
    form: str,
    allow_bases: tuple[str, ...],
    ledger: str | None,
) -> None:
    """Read the tables at each URI repeatedly, and give their numbers to a monitor.

    They are printed, or with --port served as http://127.0.0.1:PORT/metrics, or with --textfile
    written. Unchanged tables are not read again.
    """
    databases = _opened(uris, allow_bases, ledger)
    current: list[list[Reading]] = [[]]
    if port is not None:
        _serve(port, lambda: current[0])
    ended = threading.Event()
    for number in itertools.count(1):
        current[0] = _read(databases, columns)
        if textfile is not None:
            _write(textfile, current[0])
        elif port is None:
            _print(current[0], form)
        if number == count:
            return
        ended.wait(every.total_seconds())


def _opened(
    uris: tuple[str, ...], allow_bases: tuple[str, ...], ledger: str | None
) -> list[Database]:
    return [open_database(uri, allow_bases=allow_bases, ledger=ledger) for uri in uris]


def _read(databases: list[Database], columns: Sequence[str]) -> list[Reading]:
    return [reading for database in databases for reading in read_metrics(database, columns)]


def _print(readings: list[Reading], form: str) -> None:
    if form == "json":
        print_answer(metrics_answer(readings), as_json=True)
        return
    registry = _registry(lambda: readings)
    from prometheus_client import generate_latest

    click.echo(generate_latest(registry).decode(), nl=False)


def _write(file: Path, readings: list[Reading]) -> None:
    registry = _registry(lambda: readings)
    from prometheus_client import write_to_textfile

    try:
        write_to_textfile(str(file_to_write("textfile", file)), registry)
    except OSError as error:
        raise StorageError(f"cannot write {file}: {error.strerror}") from error


def _serve(port: int, newest: Callable[[], Sequence[Reading]]) -> None:
    registry = _registry(newest)
    from prometheus_client import start_http_server

    try:
        server, _ = start_http_server(port, "127.0.0.1", registry)
    except OSError as error:
        raise click.ClickException(f"port {port}: {one_line(str(error), LONGEST_TEXT)}") from error
    click.echo(f"http://127.0.0.1:{server.server_port}/metrics")
    click.echo("End with Ctrl+C.", err=True)


def _registry(newest: Callable[[], Sequence[Reading]]) -> "CollectorRegistry":
    made = collector(newest)  # which reports a missing prometheus_client
    from prometheus_client import CollectorRegistry

    registry = CollectorRegistry()
    registry.register(made)
    return registry
