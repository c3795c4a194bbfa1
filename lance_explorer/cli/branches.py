"""The command on branches: what a merge of one would bring."""

import sys

import click

from lance_explorer.cli.group import ALLOW_BASES, JSON, LEDGER, main, print_answer
from lance_explorer.cli.opening import open_apart

__all__ = ["merge_preview"]

_CONFLICT = 1


@main.command("merge-preview")
@click.argument("uri")
@click.argument("branch")
@click.option("--into", help="What BRANCH is merged into; the main branch by default.")
@click.option("--key", multiple=True, help="A column that identifies a row; can be repeated.")
@ALLOW_BASES
@LEDGER
@click.option("--exit-code", is_flag=True, help="Exit with 1 if anything is in conflict.")
@JSON
def merge_preview(
    uri: str,
    branch: str,
    into: str | None,
    key: tuple[str, ...],
    allow_bases: tuple[str, ...],
    ledger: str | None,
    exit_code: bool,
    as_json: bool,
) -> None:
    """Print what a merge of BRANCH of the table at URI would bring; nothing is merged.

    BRANCH is a name, or a version such as dev@5. Rows that only BRANCH changed since both parted
    would come; rows that both changed differently are in conflict. With --exit-code, the exit code
    is 0 if there is no conflict, 1 if there is one, and 2 if that is unknown.
    """
    table = open_apart(uri, branch=into, allow_bases=allow_bases, ledger=ledger)
    found = table.merge_preview(branch, key or None)
    print_answer(found.answer, as_json=as_json)
    sys.exit(_CONFLICT if exit_code and not found.is_clean else 0)
