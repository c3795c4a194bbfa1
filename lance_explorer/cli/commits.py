"""Commands on commits: the log, and one of them."""

from collections.abc import Iterator

import click
import polars as pl

from lance_explorer.answers import Section
from lance_explorer.cli.group import ALLOW_BASES, BRANCH, JSON, LEDGER, main, print_answer
from lance_explorer.cli.opening import database_at, open_apart
from lance_explorer.errors import LanceExplorerError
from lance_explorer.inspect.catalogue import FRAMES
from lance_explorer.inspect.log_answer import commit_answer, log_answer
from lance_explorer.table import Table

__all__ = ["inspect_frame", "log", "show"]

_DEFAULT_LINES = 30


@main.command(context_settings={"ignore_unknown_options": True})  # so that -1 is a version
@click.argument("uri")
@BRANCH
@ALLOW_BASES
@LEDGER
@click.option("--graph", is_flag=True, help="Draw the branches; by default if there are any.")
@click.option("-n", "--limit", type=click.IntRange(0), help="How many; all for --json, else 30.")
@click.option("--all", "is_all", is_flag=True, help="Print all commits.")
@click.option("--since", help="A day, a time, 'yesterday', '3 hours ago', a tag or a version.")
@click.option("--until", help="The same.")
@click.option("--operation", multiple=True, help="An operation or a kind, as delete; repeatable.")
@click.option("--grep", "text", help="Text in words, predicate, message, properties or tags.")
@click.option("--column", help="Only commits that can have changed this column.")
@JSON
def log(
    uri: str,
    branch: str | None,
    allow_bases: tuple[str, ...],
    ledger: str | None,
    graph: bool,
    limit: int | None,
    is_all: bool,
    since: str | None,
    until: str | None,
    operation: tuple[str, ...],
    text: str | None,
    column: str | None,
    as_json: bool,
) -> None:
    """Print the commits of the table at URI, newest first, of all branches or of one.

    Of a folder of tables, the commits of all.
    """
    most = None if is_all or (as_json and limit is None) else limit or _DEFAULT_LINES
    of_a_table = {"--branch": branch, "--graph": graph}
    if (database := database_at(uri, of_a_table, allow_bases, ledger)) is not None:
        filters = {"since": since, "until": until, "text": text, "column": column}
        answer = database.log_answer(limit=most, operation=operation, **filters)
        print_answer(answer, as_json=as_json, most=None)
        return
    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    commits = table.log(
        limit=0 if limit == 0 else None if most is None else most + 1,
        since=since,
        until=until,
        operation=operation,
        text=text,
        column=column,
        all_branches=branch is None,
    )
    has_more = most is not None and len(commits) > most
    commits = commits if most is None else commits.head(most)
    print_answer(
        log_answer(commits, graph=graph or None, has_more=has_more), as_json=as_json, most=None
    )
    if has_more and limit is None and not as_json:
        click.echo(f"... the newest {most}; --limit, --since or --all print others", err=True)


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("uri")
@click.argument("version", default="-1")
@ALLOW_BASES
@LEDGER
@JSON
def show(
    uri: str, version: str, allow_bases: tuple[str, ...], ledger: str | None, as_json: bool
) -> None:
    """Print what one commit of the table at URI did; VERSION is named as for diff."""
    table = open_apart(uri, allow_bases=allow_bases, ledger=ledger)
    at = table.at(version)
    own = open_apart(uri, branch=at.branch, allow_bases=allow_bases, ledger=ledger)
    commits = own.log(all_branches=False, since=at.version, until=at.version)
    line = commits.filter(pl.col("version") == at.version)
    [row] = line.to_dicts()
    print_answer(commit_answer(row, [*_parts(own, at.version)]), as_json=as_json)


@main.command("inspect")
@click.argument("uri")
@click.argument("frame", type=click.Choice([*FRAMES]), metavar="FRAME")
@BRANCH
@ALLOW_BASES
@LEDGER
@JSON
def inspect_frame(
    uri: str,
    frame: str,
    branch: str | None,
    allow_bases: tuple[str, ...],
    ledger: str | None,
    as_json: bool,
) -> None:
    """Print a frame of table.inspect, such as refs, fragments or gaps."""
    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    print_answer(table.answer(frame), as_json=as_json)


def _parts(table: Table, version: int) -> Iterator[Section]:
    """Yield what the commit did to schema, indices and config, as far as it is known."""
    if version - 1 not in table.versions()["version"]:
        return
    difference = table.diff(version - 1, version)
    for part in (difference.schema, difference.indices, difference.config):
        try:
            yield Section(part.__name__, part.__name__.capitalize(), part())
        except LanceExplorerError:
            continue
