"""Commands on rows: who changed them, where they are, and SQL."""

import click

from lance_explorer.answers import Answer, Section
from lance_explorer.answers.calls import call
from lance_explorer.cli.group import ALLOW_BASES, BRANCH, JSON, LEDGER, main, print_answer
from lance_explorer.cli.opening import database_at, open_apart
from lance_explorer.frames.sizes import counted

__all__ = ["blame", "find", "row", "sql"]

_NUMBER = click.IntRange(1)
_COLUMNS = click.option("--column", "columns", multiple=True, help="A column; can be repeated.")


@main.command()
@click.argument("uri")
@click.argument("row_id", type=int)
@BRANCH
@ALLOW_BASES
@LEDGER
@click.option("--at", help="Without stable row IDs: the version in which ROW_ID is the address.")
@click.option("--values", is_flag=True, help="Print the values of the row, too.")
@JSON
def row(
    uri: str,
    row_id: int,
    branch: str | None,
    allow_bases: tuple[str, ...],
    ledger: str | None,
    at: str | None,
    values: bool,
    as_json: bool,
) -> None:
    """Print what happened to a row of the table at URI, newest first."""
    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    print_answer(table.row(row_id, at).answer_with(values=values), as_json=as_json, most=None)


@main.command()
@click.argument("uri")
@click.argument("where")
@BRANCH
@ALLOW_BASES
@LEDGER
@click.option("--live", is_flag=True, help="Only rows of the latest version.")
@_COLUMNS
@click.option("-n", "--limit", type=_NUMBER, default=100, show_default=True, help="How many rows.")
@click.option("--max-bytes", type=click.IntRange(0), help="How many bytes to read; 256 MiB.")
@JSON
def find(
    uri: str,
    where: str,
    branch: str | None,
    allow_bases: tuple[str, ...],
    ledger: str | None,
    live: bool,
    columns: tuple[str, ...],
    limit: int,
    max_bytes: int | None,
    as_json: bool,
) -> None:
    """Print the rows of the table at URI that match WHERE, live and deleted ones, newest first.

    WHERE is a filter such as "photo_id = 42", or a word to look for in texts. In a folder of
    tables, all that have the columns are searched.
    """
    from lance_explorer.lineage.find import DEFAULT_BYTES

    most = DEFAULT_BYTES if max_bytes is None else max_bytes
    of_a_table = {"--branch": branch, "--live": live, "--column": columns}
    if (database := database_at(uri, of_a_table, allow_bases, ledger)) is not None:
        print_answer(database.find(where, limit, most).answer, as_json=as_json, most=None)
        return
    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    answer = table.find(where, not live, columns or None, limit, most)
    print_answer(answer.answer, as_json=as_json, most=None)


@main.command()
@click.argument("uri")
@click.argument("where", required=False)
@BRANCH
@ALLOW_BASES
@LEDGER
@_COLUMNS
@click.option("--version", help="The version to look at; the latest by default.")
@click.option("-n", "--limit", type=_NUMBER, default=100, show_default=True, help="How many rows.")
@JSON
def blame(
    uri: str,
    where: str | None,
    branch: str | None,
    allow_bases: tuple[str, ...],
    ledger: str | None,
    columns: tuple[str, ...],
    version: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Print for each cell of the table at URI the commit that last changed it.

    WHERE is a filter such as "photo_id = 42"; by default it is the first rows.
    """
    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    answer = table.blame(where, columns or None, version, limit)
    print_answer(answer.answer, as_json=as_json, most=None)


@main.command()
@click.argument("uri")
@click.argument("query")
@BRANCH
@ALLOW_BASES
@LEDGER
@JSON
def sql(
    uri: str,
    query: str,
    branch: str | None,
    allow_bases: tuple[str, ...],
    ledger: str | None,
    as_json: bool,
) -> None:
    """Print the result of a SELECT over the frames of the table at URI.

    Its tables are versions, fragments and all other frames, dataset (the rows of the latest
    version) and changes.
    """
    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    frame = table.sql(query)
    rows = Section("rows", "", frame, values=tuple(frame.columns))
    answer = Answer(f"{counted(len(frame), 'row')}.", (rows,), call("table.sql", query))
    print_answer(answer, as_json=as_json, most=None)
