"""Commands on commits: the log, and one of them."""

from collections.abc import Iterator
from typing import Any

import click
import polars as pl

from lance_explorer.cells.json_rows import json_rows
from lance_explorer.cli.group import (
    ALLOW_BASES,
    BRANCH,
    JSON,
    LEDGER,
    main,
    print_lines,
    without_nulls,
)
from lance_explorer.cli.opening import open_apart
from lance_explorer.table import Table

__all__ = ["log", "show"]

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
    """Print the commits of the table at URI, newest first, of all branches or of one."""
    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    most = None if is_all or (as_json and limit is None) else limit or _DEFAULT_LINES
    found = table.log(
        limit=0 if limit == 0 else None if most is None else most + 1,
        since=since,
        until=until,
        operation=operation,
        text=text,
        column=column,
        all_branches=branch is None,
    )
    has_more = most is not None and len(found) > most
    found = found if most is None else found.head(most)
    if as_json:
        print_lines(found)
        return
    _print_log(found, graph=graph or found["branch"].n_unique() > 1)
    if has_more and limit is None:
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
    if as_json:
        print_lines(line)
        return
    _print_commit(json_rows(line)[0])
    _print_rows(own, at.version)


def _print_log(log: pl.DataFrame, *, graph: bool) -> None:
    from rich.text import Text

    from lance_explorer.cli.graph import graph_cells
    from lance_explorer.cli.printing import KIND_STYLES, print_table, when
    from lance_explorer.frames.sizes import byte_size
    from lance_explorer.shown import one_line

    cells = graph_cells(log) if graph else [""] * len(log)
    rows = list[list[object]]()
    for drawn, row in zip(cells, log.iter_rows(named=True), strict=True):
        style = KIND_STYLES.get(row["kind"], "")
        words = Text()
        for name in row["tags"].split(", ") if row["tags"] else ():
            words.append(f"({one_line(name)}) ", "bold yellow")
        for name in [row["branch"] or "main"] if graph and row["is_latest"] else []:
            words.append(f"[{one_line(name)}] ", "bold magenta")
        words.append(one_line(row["words"], 400))
        if row["message"]:
            words.append(f"  {one_line(row['message'])}", "italic")
        change = row["data_bytes_change"]
        grown = "" if not change else f"{'+' if change > 0 else '-'}{byte_size(abs(change))}"
        rows.append(
            [
                Text(drawn, "bright_black"),
                Text(str(row["version"]), "bold"),
                Text(when(row["timestamp"]), "bright_black"),
                Text(row["kind"], style),
                Text(one_line(row["author"] or row["job"] or "", 24)),
                words,
                row["num_rows"],
                grown,
            ]
        )
    titles = ["graph", "version", "time", "kind", "by", "what", "rows", "bytes"]
    empty = {place for place in (0, 4) if all(not str(row[place]) for row in rows)}
    kept = [place for place in range(len(titles)) if place not in empty]
    print_table(
        [titles[place] for place in kept],
        [[row[place] for place in kept] for row in rows],
        right=("version", "rows", "bytes"),
        wide=("what",),
        bottom=True,
    )


def _print_commit(row: dict[str, Any]) -> None:
    from lance_explorer.cli.printing import KIND_STYLES, console
    from lance_explorer.frames.sizes import byte_size
    from lance_explorer.shown import visible

    printed = console()
    branch = f" of branch {row['branch']}" if row["branch"] else ""
    printed.print(visible(f"version {row['version']}{branch}"), style="bold")
    printed.print(visible(row["words"]), style=KIND_STYLES.get(row["kind"], ""))
    for name, value in _told(row):
        if name.endswith("bytes") or name == "data_bytes_change":
            value = byte_size(value) if value >= 0 else f"-{byte_size(-value)}"
        elif isinstance(value, list):
            value = ", ".join(value)
        printed.print(visible(f"{name:>18}  {value}"))


def _told(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what is known of a commit, but for what is said above."""
    for name, value in row.items():
        if name not in ("version", "branch", "words", "lane", "is_latest") and value not in (
            None,
            [],
            0,
        ):
            yield name, value


def _print_rows(table: Table, version: int) -> None:
    """Print what the commit did to rows, schema, indices and config, as far as is known."""
    from lance_explorer.cli.group import text_table
    from lance_explorer.errors import LanceExplorerError

    kept = table.versions()["version"].to_list()
    if version - 1 not in kept:
        return
    found = table.diff(version - 1, version)
    for name in ("schema", "indices", "config"):
        try:
            part = getattr(found, name)()
        except LanceExplorerError:
            continue
        if len(part):
            click.echo(f"\n{name}:\n{text_table(without_nulls(part))}")
