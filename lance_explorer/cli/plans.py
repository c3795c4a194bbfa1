"""Commands that plan how to undo a commit, put rows back, merge a branch or repair a table."""

import shlex
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lance_explorer.checks.depths import DEPTHS, Depth
from lance_explorer.cli.group import (
    ALLOW_BASES,
    BRANCH,
    JSON,
    LEDGER,
    main,
    print_answer,
)
from lance_explorer.cli.opening import open_apart

if TYPE_CHECKING:
    from lance_explorer import Table
    from lance_explorer.plans.plan import Plan

__all__ = ["merge", "plan", "recovery", "restore_rows", "revert"]

_KEY = click.option("--key", multiple=True, help="A column that identifies a row; can be repeated.")
_ON_CONFLICT = click.option(
    "--on-conflict",
    type=click.Choice(("keep", "overwrite")),
    default="keep",
    show_default=True,
    help="What becomes of what others changed since.",
)


def _planning(make: Callable[..., "Plan"]) -> Callable[..., None]:
    """Open the table at URI, print the plan that a function makes, and save it on request."""

    @wraps(make)
    def planned(
        uri: str,
        branch: str | None,
        allow_bases: tuple[str, ...],
        ledger: str | None,
        save: Path | None,
        *,
        as_json: bool,
        **options: Any,
    ) -> None:
        table = open_apart(uri, branch=branch, allow_bases=allow_bases, ledger=ledger)
        made = make(table, **options)
        script = made.save(save) if save is not None and made else None
        print_answer(made.answer, as_json=as_json)
        if script is not None and not as_json:
            click.echo(f"\nSaved. Carry it out with:\n  python {shlex.join([str(script), uri])}")

    command: Callable[..., None] = planned
    for option in (
        JSON,
        click.option("--reason", help="What the commits say about why; by default what is undone."),
        click.option("--author", help="Who they say made them; by default who runs the script."),
        click.option(
            "--save",
            type=click.Path(file_okay=False, path_type=Path),
            help="A folder, not inside a table, into which the script and its rows are written.",
        ),
        LEDGER,
        ALLOW_BASES,
    ):
        command = option(command)
    return command


@main.group()
def plan() -> None:
    """Plan what would undo a commit, put rows back, merge a branch, or repair a table.

    Nothing is written to the table: with --save the plan becomes a script, which its reader runs.
    """


@plan.command()
@click.argument("uri")
@click.argument("version")
@BRANCH
@_KEY
@_ON_CONFLICT
@_planning
def revert(table: "Table", version: str, key: tuple[str, ...], **options: Any) -> "Plan":
    """Plan how to undo what the commit of VERSION did, and keep what came after.

    Example: lance-explorer plan revert photos.lance 29 --save undo-29
    """
    return table.plan_revert(version, key=key or None, **options)


@plan.command("restore-rows")
@click.argument("uri")
@click.argument("where")
@click.option("--at", required=True, help="The version that the rows are to be as in.")
@BRANCH
@_KEY
@_planning
def restore_rows(
    table: "Table", where: str, at: str, key: tuple[str, ...], **options: Any
) -> "Plan":
    """Plan how to put the rows that match WHERE back as they were, deleted ones too.

    Example: lance-explorer plan restore-rows photos.lance "id = 4711" --at 28 --save put-back
    """
    return table.plan_restore_rows(where, at, key=key or None, **options)


@plan.command()
@click.argument("uri")
@click.option(
    "--depth",
    type=click.Choice(DEPTHS),
    default="deep",
    show_default=True,
    help="How files are checked: their sizes, their ends, or all values.",
)
@BRANCH
@_planning
def recovery(table: "Table", depth: Depth, **options: Any) -> "Plan":
    """Plan how to repair the table at URI: go back, rebuild, or leave out.

    Example: lance-explorer plan recovery photos.lance --save recover
    """
    return table.plan_recovery(depth, **options)


@plan.command()
@click.argument("uri")
@click.argument("source", metavar="BRANCH")
@click.option("--into", "branch", help="What BRANCH is merged into; the main branch by default.")
@_KEY
@_ON_CONFLICT
@_planning
def merge(table: "Table", source: str, key: tuple[str, ...], **options: Any) -> "Plan":
    """Plan how to merge BRANCH into another branch of the table at URI.

    Example: lance-explorer plan merge photos.lance dev --save merge-dev
    """
    return table.merge_preview(source, key or None).plan(**options)
