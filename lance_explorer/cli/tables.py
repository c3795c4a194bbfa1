"""Commands on versions of tables, on reports, ledgers and locks, and on the notebooks."""

import os
import shutil
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click
import polars as pl

from lance_explorer import locks
from lance_explorer.answers import Answer, Section
from lance_explorer.arguments import file_to_write
from lance_explorer.cli.group import (
    ALLOW_BASES,
    BRANCH,
    JSON,
    LEDGER,
    LONGEST_TEXT,
    UNKNOWN,
    main,
    print_answer,
)
from lance_explorer.cli.opening import database_at, open_apart
from lance_explorer.errors import (
    InvalidArgumentError,
    LanceExplorerError,
    MissingDependencyError,
    StorageError,
)
from lance_explorer.frames.sizes import counted
from lance_explorer.history.discovery import tables_below
from lance_explorer.inspect.log_answer import versions_answer
from lance_explorer.ledger.ledger import Ledger
from lance_explorer.shown import one_line, visible

if TYPE_CHECKING:
    from lance_explorer.database.moment import Verifications

__all__ = [
    "forget_values",
    "lab",
    "lock",
    "record",
    "report",
    "tables",
    "verify",
    "versions",
]

_FIRST_NOTEBOOK = "01_explore_a_table.ipynb"
_DIFFERENT = 1
_LATEST = "-1"
_OF_VALUES = {
    "kept_rows": "former values kept",
    "left_out_rows": "left out (--max-bytes) those",
    "lost_rows": "lost before those",
}


@main.command()
@click.argument("uri")
@BRANCH
@ALLOW_BASES
@LEDGER
@JSON
def versions(
    uri: str,
    branch: str | None,
    allow_bases: tuple[str, ...],
    ledger: str | None,
    as_json: bool,
) -> None:
    """Print what happened to the table at URI, one line for each version."""
    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    print_answer(versions_answer(table._view, table.versions()), as_json=as_json, most=None)


@main.command()
@click.argument("uri")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="The file to write; an existing file is replaced.",
)
@click.option(
    "--interactive",
    is_flag=True,
    help="Write the explorer: slider, changes and rows, without a kernel and without a network.",
)
@click.option(
    "--max-bytes",
    type=click.IntRange(1),
    default=20_000_000,
    show_default=True,
    help="How large an interactive page may get.",
)
@BRANCH
@ALLOW_BASES
@LEDGER
def report(
    uri: str,
    output: Path,
    interactive: bool,
    max_bytes: int,
    branch: str | None,
    allow_bases: tuple[str, ...],
    ledger: str | None,
) -> None:
    """Write a report on the table at URI into one HTML file."""
    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    written = table.report(output, interactive=interactive, max_bytes=max_bytes)
    click.echo(visible(str(written)))


@main.command()
@click.argument("uris", metavar="URI...", nargs=-1, required=True)
@click.option(
    "--ledger", required=True, help="The folder, or the place in an object store, to record into."
)
@click.option("--checksums", is_flag=True, help="Also read new data files, and keep digests.")
@click.option("--values", is_flag=True, help="Also keep values that commits ended: all but blobs.")
@click.option("--column", "columns", multiple=True, help="The same of a column; may be repeated.")
@click.option("--max-bytes", type=int, default=1 << 30, help="Of values, for each branch; 1 GiB.")
@ALLOW_BASES
@JSON
def record(
    uris: tuple[str, ...],
    ledger: str,
    checksums: bool,
    values: bool,
    columns: tuple[str, ...],
    max_bytes: int,
    allow_bases: tuple[str, ...],
    as_json: bool,
) -> None:
    """Record new versions of the table at each URI, or of all tables anywhere below it.

    There is one line for each table. What is recorded outlives a cleanup. The exit code is 0 if
    all tables were recorded, 1 if one was not, and 2 if the command is not understood.
    """
    try:
        target = Ledger(ledger)
    except InvalidArgumentError as error:
        raise click.BadParameter(str(error), param_hint="--ledger") from error
    has_failed = False
    for uri in uris:
        try:
            tables = tables_below(uri)
        except LanceExplorerError as error:
            has_failed = _failed(uri, error, as_json)
            continue
        for table in tables:
            try:
                added = target.record(
                    table,
                    allow_bases=allow_bases,
                    checksums=checksums,
                    values=values or (columns or False),
                    max_bytes=max_bytes,
                )
            except LanceExplorerError as error:
                has_failed = _failed(table, error, as_json)
                continue
            branches = Section("branches", None, added)
            print_answer(Answer(f"{table}: {_added(added)}", (branches,)), as_json=as_json)
    sys.exit(1 if has_failed else 0)


@main.command("forget-values")
@click.argument("table")
@click.argument("where")
@click.option("--ledger", required=True, help="Where the table was recorded.")
@JSON
def forget_values(table: str, where: str, ledger: str, as_json: bool) -> None:
    """Forget the kept values of the rows of TABLE that match WHERE, and say where they still are.

    TABLE is a URI, or the name of a recorded table. WHERE is an SQL expression.
    """
    report = Ledger(ledger).forget_values(table, where)
    removed = report.filter(what="removed")["statement"].to_list()
    left = int((report["what"] == "still there").sum())
    sentence = f"{table}: nothing of such rows was in the ledger."
    if removed:
        sentence = f"{table}: removed {'; '.join(removed)}."
    shown = (
        report
        if as_json
        else report.filter(pl.col("what") != "removed").select("what", "statement")
    )
    title = "Where they still stand" if left else "What was not searched"
    print_answer(
        Answer(sentence, (Section("forgotten", title, shown),)), as_json=as_json, most=None
    )


@main.command(context_settings={"ignore_unknown_options": True})  # so that -1 is a version
@click.argument("uri")
@click.argument("version", default=_LATEST)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="The file to write, instead of stdout."
)
@ALLOW_BASES
def lock(uri: str, version: str, output: Path | None, allow_bases: tuple[str, ...]) -> None:
    """Print a lock, which identifies a VERSION of the table at URI, to keep in a file.

    For a folder of tables, one lock of all: then VERSION is a time or a tag. A version is named as
    for diff; by default it is the latest. Later, verify says whether it is still there. An existing
    file is replaced.
    """
    target = None if output is None else file_to_write("output", output)
    database = database_at(uri, {}, allow_bases)
    if database is not None:
        text = database.lock(None if version == _LATEST else version)
    else:
        text = locks.lock(open_apart(uri, allow_bases=allow_bases).at(version))
    if target is None:
        click.echo(text, nl=False)
        return
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot write {target}: {error.strerror}") from error
    click.echo(visible(str(target)))


@main.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--table", help="Where the table of all FILEs is now, if it was moved.")
@ALLOW_BASES
@JSON
def verify(
    files: tuple[str, ...], table: str | None, allow_bases: tuple[str, ...], as_json: bool
) -> None:
    """Print whether the versions in lock FILEs are still there, one line for each.

    A FILE may be the lock of many tables. The exit code is 0 if all are, 1 if one is not, and 2 if
    that is unknown of one: the file is not a lock, or its table cannot be read.
    """
    codes = {0}
    for file in files:
        try:
            if (of_many := _verified_all(file, table)) is not None:
                codes.add(0 if of_many else _DIFFERENT if of_many.is_known else UNKNOWN)
                answer = of_many.answer
                answer = replace(answer, sentence=f"{file}: {answer.sentence}")
                print_answer(answer, as_json=as_json, most=None)
                continue
            verified = locks.verify(Path(file), table, allow_bases=allow_bases)
        except LanceExplorerError as error:
            click.echo(f"Error: {one_line(f'{file}: {error}', LONGEST_TEXT)}", err=True)
            codes.add(UNKNOWN)
            continue
        codes.add(0 if verified else _DIFFERENT)
        answer = verified.answer
        sentence = f"{file}: {verified.status}. {verified.sentence}"
        sections = answer.sections if as_json else ()
        print_answer(replace(answer, sentence=sentence, sections=sections), as_json=as_json)
    sys.exit(max(codes))


@main.command()
@click.argument("uri")
@ALLOW_BASES
@LEDGER
@JSON
def tables(uri: str, allow_bases: tuple[str, ...], ledger: str | None, as_json: bool) -> None:
    """Print the tables in the folder or bucket at URI, what hurts most first."""
    from lance_explorer.database import open_database

    database = open_database(uri, allow_bases=allow_bases, ledger=ledger)
    print_answer(database.answer, as_json=as_json, most=None)


@main.command("open")
@click.argument("uri")
@BRANCH
@ALLOW_BASES
@LEDGER
@click.option("--view", help="The view to begin with; the overview, or the list of tables.")
@click.option("--version", "version", help="A version, a tag or a time; the latest by default.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="A free one by default.")
@click.option("--no-browser", is_flag=True, help="Print the address, but open no browser.")
@click.option("--no-follow", is_flag=True, help="Do not look for new versions.")
def open_explorer(
    uri: str,
    branch: str | None,
    allow_bases: tuple[str, ...],
    ledger: str | None,
    view: str | None,
    version: str | None,
    port: int,
    no_browser: bool,
    no_follow: bool,
) -> None:
    """Open the explorer of the table at URI, or of all tables below it, in a browser.

    End it with Ctrl+C. It is served to this machine only, to those who have its address, which
    contains a token.
    """
    from lance_explorer.widgets.serving import redirecting_page, serve
    from lance_explorer.widgets.view import View

    database = database_at(uri, {"--branch": branch, "--version": version}, allow_bases, ledger)
    if database is not None:
        name, place = database.name, database.uri
    else:
        table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
        name, place = table._view.name, table.uri

    def make() -> View:
        """Make a view of the latest version for a page."""
        if database is not None:
            database.refresh()
            return database.explore(view or "tables", follow=not no_follow)
        table.refresh()
        explorer = table.explore(view or "overview", follow=not no_follow)
        if version is not None:
            explorer.state.version = table.at(version).version
        return explorer

    @contextmanager
    def started(address: str) -> Iterator[None]:
        click.echo(f"{place} is at {address}\nEnd with Ctrl+C.")
        with nullcontext() if no_browser else redirecting_page(address) as page:
            if page is not None:
                webbrowser.open(page.as_uri())
            yield

    try:
        serve(make, name, port=port, started=started)
    except OSError as error:
        raise click.ClickException(f"port {port}: {one_line(str(error), LONGEST_TEXT)}") from error


@main.command()
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("lance_explorer_notebooks"),
    show_default=True,
    help="Where to copy the notebooks, unless this is a checkout of the project.",
)
@click.option("--no-browser", is_flag=True, help="Print the address instead of opening a browser.")
def lab(folder: Path, no_browser: bool) -> None:
    """Make the sample tables and open the notebooks in JupyterLab."""
    if find_spec("jupyterlab") is None:
        raise MissingDependencyError("JupyterLab is missing: pip install 'lance-explorer[lab]'")
    from lance_explorer.demo import make_samples

    try:
        notebooks = _notebooks(folder)
        samples = make_samples(_samples_folder(notebooks))
    except OSError as error:
        raise click.ClickException(one_line(str(error), LONGEST_TEXT)) from error
    for path in samples:
        click.echo(f"sample table: {path}")
    _run_lab(notebooks, samples[0].parent, no_browser)


def _verified_all(file: str, table: str | None) -> "Verifications | None":
    """Return the state of the versions in a lock of many tables; None if the file is not one."""
    from lance_explorer.database.moment import locks_in, verify_all

    locked = locks_in(Path(file))
    if locked is not None and table is not None:
        raise InvalidArgumentError(f"{file} is a lock of many tables: leave out --table")
    return None if locked is None else verify_all(locked, {})


def _failed(uri: str, error: LanceExplorerError, as_json: bool) -> bool:
    """Print why a table was not recorded."""
    if as_json:
        print_answer(Answer(uri, (Section("error", None, str(error)),)), as_json=True)
    else:
        click.echo(f"Error: {one_line(f'{uri}: {error}', LONGEST_TEXT)}", err=True)
    return True


def _added(added: pl.DataFrame) -> str:
    """Return what was recorded of the branches of a table, in words."""
    parts = list[str]()
    for row in added.iter_rows(named=True):
        count, first, last = row["new_versions"], row["first_version"], row["last_version"]
        which = "" if first is None else f", {first}" + ("" if first == last else f" to {last}")
        new_words = [f"{count:,} new version{'' if count == 1 else 's'}{which}"] if count else []
        new_words += [
            f"{words} of {counted(row[name], 'row')}"
            for name, words in _OF_VALUES.items()
            if row[name]
        ]
        if new_words:
            branch = "" if row["branch"] is None else f"branch {row['branch']}: "
            parts.append(branch + ", ".join(new_words))
    return "; ".join(parts) or "nothing new"


def _notebooks(folder: Path) -> Path:
    """Return the folder of the notebooks: the originals of a checkout, else editable copies."""
    package = Path(__file__).parent.parent
    checkout = package.parent / "notebooks"
    if (checkout / _FIRST_NOTEBOOK).exists():
        return checkout
    folder.mkdir(parents=True, exist_ok=True)
    for notebook in sorted((package / "notebooks").glob("*.ipynb")):
        target = folder / notebook.name
        if not target.exists():
            shutil.copyfile(notebook, target)
    return folder


def _samples_folder(notebooks: Path) -> Path:
    """Return where the sample tables are: beside the notebooks, where a double click opens them.

    No link leads there, as in earlier releases: a cleanup through a link breaks branches.
    """
    folder = notebooks / "samples"
    if folder.is_symlink():
        folder.unlink()
    return Path(os.environ.get("LANCE_EXPLORER_SAMPLES") or folder)


def _run_lab(folder: Path, samples: Path, no_browser: bool) -> NoReturn:
    """Replace this process by JupyterLab, which as root needs a flag to run.

    The notebooks find existing sample tables.
    """
    options = ["--no-browser"] if no_browser else []
    options += ["--allow-root"] if os.geteuid() == 0 else []
    # The only log line left is the address, which Jupyter logs as critical.
    options += ["--ServerApp.log_level=ERROR", "--LabApp.log_level=ERROR"]
    lab = "lance_explorer.jupyter.quiet_lab"
    command = [sys.executable, "-m", lab, str(folder / _FIRST_NOTEBOOK), *options]
    os.execve(sys.executable, command, {**os.environ, "LANCE_EXPLORER_SAMPLES": str(samples)})
