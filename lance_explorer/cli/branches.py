"""The command on branches: what a merge of one would bring."""

import json
import sys

import click

from lance_explorer.cells.json_rows import json_rows
from lance_explorer.cli.group import ALLOW_BASES, LEDGER, LONGEST_TEXT, main
from lance_explorer.cli.opening import open_apart
from lance_explorer.shown import one_line, visible_json

__all__ = ["merge_preview"]

_CONFLICT = 1
_SHOWN = 50


@main.command("merge-preview")
@click.argument("uri")
@click.argument("branch")
@click.option("--into", help="What BRANCH is merged into; the main branch by default.")
@click.option("--key", multiple=True, help="A column that identifies a row; can be repeated.")
@ALLOW_BASES
@LEDGER
@click.option("--exit-code", is_flag=True, help="Exit with 1 if anything is in conflict.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
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
    from lance_explorer.cli.printing import print_frame

    table = open_apart(uri, branch=into, allow_bases=allow_bases, ledger=ledger)
    found = table.merge_preview(branch, key or None)
    summary, schema, cells = found.summary(), found.schema(), found.cells()
    if as_json:
        told = {
            "summary": json_rows(summary)[0],
            "words": found.words(),
            "schema": json_rows(schema),
            "cells": json_rows(cells),
        }
        click.echo(visible_json(json.dumps(told)))
    else:
        for sentence in found.words():
            click.echo(one_line(sentence.replace("`", ""), LONGEST_TEXT))
        if len(cells):
            click.echo("\nconflicts:")
            shown = cells.head(_SHOWN).drop("key" if not key else "_rowid")
            print_frame(shown, values=("key", "base", "ours", "theirs"))
            if len(cells) > _SHOWN:
                click.echo(f"and {len(cells) - _SHOWN:,} more; --json prints all")
    sys.exit(_CONFLICT if exit_code and not found.is_clean else 0)
