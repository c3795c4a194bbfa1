"""Commands on values over time: the values of columns, and how far rows moved."""

import sys

import click

from lance_explorer.cli.group import ALLOW_BASES, BRANCH, JSON, LEDGER, main, print_answer
from lance_explorer.cli.opening import open_apart

__all__ = ["drift", "profile"]

_MOVED = 1

_SHARE = click.FloatRange(0, 1)


@main.command()
@click.argument("uri")
@BRANCH
@ALLOW_BASES
@LEDGER
@click.option("--column", "columns", multiple=True, help="A column; can be repeated.")
@click.option(
    "--version", "versions", multiple=True, help="A version; can be repeated. All by default."
)
@click.option("--max-bytes", type=click.IntRange(0), help="How many bytes to read; all by default.")
@click.option(
    "--fail-on",
    type=_SHARE,
    help="Exit with 1 if values moved by more from one version to the next; 0.1 is a tenth.",
)
@JSON
def profile(
    uri: str,
    branch: str | None,
    allow_bases: tuple[str, ...],
    ledger: str | None,
    columns: tuple[str, ...],
    versions: tuple[str, ...],
    max_bytes: int | None,
    fail_on: float | None,
    as_json: bool,
) -> None:
    r"""Print the values of the columns of the table at URI, and the commits that moved them.

    Each value is read once, however many versions have it. With --fail-on and two versions, such as
    --version production --version -1, it is a check: exit code 1 if a column moved by more, 2 if
    that is unknown.

    \b
    lance-explorer profile documents.lance --column score
    """
    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    answer = table.profile(columns or None, versions or None, max_bytes)
    print_answer(answer.answer, as_json=as_json, most=None)
    if fail_on is not None:
        sys.exit(_MOVED if answer.largest_shift > fail_on else 0)


@main.command(context_settings={"ignore_unknown_options": True})  # so that -1 is a version
@click.argument("uri")
@click.argument("column")
@click.argument("begin")
@click.argument("end", required=False)
@BRANCH
@ALLOW_BASES
@LEDGER
@click.option("--key", multiple=True, help="A column that identifies rows; can be repeated.")
@JSON
def drift(
    uri: str,
    column: str,
    begin: str,
    end: str | None,
    branch: str | None,
    allow_bases: tuple[str, ...],
    ledger: str | None,
    key: tuple[str, ...],
    as_json: bool,
) -> None:
    r"""Print how far the vectors, or numbers, of COLUMN moved from version BEGIN to END.

    END is the latest version by default.

    \b
    lance-explorer drift documents.lance embedding 15 16
    """
    table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
    answer = table.changes(begin, end, key=key or None).drift(column)
    print_answer(answer.answer, as_json=as_json)
