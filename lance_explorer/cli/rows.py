"""Commands on rows: who changed them, where they are, and SQL."""

import click
import polars as pl

from lance_explorer.cli.group import ALLOW_BASES, BRANCH, JSON, LEDGER, main, print_lines
from lance_explorer.cli.opening import open_apart

__all__ = ["blame", "find", "row", "sql"]

_NUMBER = click.IntRange(1)
_COLUMNS = click.option("--column", "columns", multiple=True, help="A column; can be repeated.")
_LIVES = ("first_version", "last_version", "is_live", "ended_as", "ended_version", "ended_at")
_WHO = ("predicate", "message", "author", "job", "run")


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
    from lance_explorer.cli.printing import print_frame

    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    history = table.row(row_id, at).history(values=values)
    found = history[[*range(len(history))][::-1]]  # Polars does not reverse arrays of texts
    if as_json:
        print_lines(found)
        return
    unsure = pl.when("is_uncertain").then(pl.lit("uncertain")).alias("")
    more = ("changed_columns", "values") if values else ()
    shown = ("branch", "version", "timestamp", "event", "operation", *_WHO)
    print_frame(found.select(*shown, unsure, *more), values=("values",))


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

    WHERE is a filter such as "photo_id = 42", or a word to look for in texts.
    """
    from lance_explorer.cli.printing import print_frame
    from lance_explorer.lineage.find import DEFAULT_BYTES

    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    most = DEFAULT_BYTES if max_bytes is None else max_bytes
    found = table.find(where, not live, columns or None, limit, most)
    rows = found.to_polars()
    if as_json:
        print_lines(rows)
        return
    told = found.sentence.replace("go_on() tells more", "--limit and --max-bytes tell more")
    click.echo(told.replace("go_on() searches more", "--max-bytes searches more"))
    for message in found.findings()["message"].to_list():
        click.echo(f"  {message}")
    own = rows.columns[_num_own(rows.columns) :]
    if len(rows):
        print_frame(rows.select("_rowid", *_LIVES, *_WHO, *own), values=own)


@main.command()
@click.argument("uri")
@click.argument("where", required=False)
@BRANCH
@ALLOW_BASES
@LEDGER
@_COLUMNS
@click.option("--version", help="The version that is looked at; the latest by default.")
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
    """Print for each cell of the table at URI which commit last changed it, and what it was.

    WHERE is a filter such as "photo_id = 42"; by default it is the first rows.
    """
    from lance_explorer.cli.printing import print_frame

    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    found = table.blame(where, columns or None, version, limit)
    cells = found.to_polars()
    if as_json:
        print_lines(cells)
        return
    click.echo(found.sentence.replace("go_on() looks at them", "--limit looks at them"))
    shown = ("_rowid", "column", "value", "before", "branch", "version", "timestamp", "event")
    print_frame(cells.select(*shown, *_WHO), values=("value", "before"))


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
    """Print what a SELECT over the frames of the table at URI gives.

    Its tables are versions, fragments and all other frames, dataset (the rows of the latest
    version) and changes.
    """
    from lance_explorer.cli.printing import print_frame

    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    found = table.sql(query)
    if as_json:
        print_lines(found)
    else:
        print_frame(found, values=found.columns)


def _num_own(columns: list[str]) -> int:
    """Return how many columns stand before the values of found rows."""
    return columns.index("known_from") + 1
