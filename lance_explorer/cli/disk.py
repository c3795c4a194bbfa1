"""Commands on what is on disk, and on whether a table is whole. Nothing is ever changed."""

import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import click

from lance_explorer.checks.depths import DEPTHS, Depth
from lance_explorer.checks.salvage import salvage as salvage_folder
from lance_explorer.cli.ages import AGE
from lance_explorer.cli.group import (
    ALLOW_BASES,
    BRANCH,
    JSON,
    main,
    print_answer,
)
from lance_explorer.cli.opening import database_at, open_apart
from lance_explorer.findings import SEVERITIES, Severity

__all__ = ["check", "cleanup", "compact", "damage", "du", "duplicates", "salvage"]

_FOUND = 1

_F = TypeVar("_F", bound=Callable[..., Any])

_clones = click.option(
    "--clone", "clones", multiple=True, help="A shallow clone of the table; can be repeated."
)


def _depth(default: Depth) -> Callable[[_F], _F]:
    """Return the option for the depth of a check."""
    return click.option(
        "--depth",
        type=click.Choice(DEPTHS),
        default=default,
        show_default=True,
        help="quick: metadata; deep: also the ends of data files, and indices; values: all values.",
    )


@main.command()
@click.argument("uri")
@BRANCH
@ALLOW_BASES
@_clones
@JSON
def du(
    uri: str,
    branch: str | None,
    allow_bases: tuple[str, ...],
    clones: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print how much the table at URI takes on disk, why, and what can be freed.

    Of a folder of tables, how much each takes.
    """
    of_a_table = {"--branch": branch, "--clone": clones}
    if (database := database_at(uri, of_a_table, allow_bases)) is not None:
        print_answer(database.disk_usage().answer, as_json=as_json)
        return
    usage = open_apart(uri, branch=branch, allow_bases=allow_bases).disk_usage(clones)
    print_answer(usage.answer_with_plans, as_json=as_json)


@main.command()
@click.argument("uri")
@click.option("--older-than", type=AGE, help="How old versions are that go, as 14d.")
@click.option("--retain-versions", type=int, help="How many of the last versions stay.")
@click.option("--version", "versions", multiple=True, help="Only this one goes; can be repeated.")
@click.option("--delete-unverified", is_flag=True, help="Files that no version names go, too.")
@BRANCH
@ALLOW_BASES
@_clones
@click.option("--files", "list_files", is_flag=True, help="Print each file that would go.")
@JSON
def cleanup(
    uri: str,
    older_than: timedelta | None,
    retain_versions: int | None,
    versions: tuple[str, ...],
    delete_unverified: bool,
    branch: str | None,
    allow_bases: tuple[str, ...],
    clones: tuple[str, ...],
    list_files: bool,
    as_json: bool,
) -> None:
    """Print what a cleanup of the table at URI would remove, and what is lost by it.

    For a folder of tables, what each cleanup would free, and the calls that free most. Nothing is
    removed: at the end are the calls of pylance that do it. Calls that would break what branches,
    clones or others need are not printed.
    """
    of_a_table = {
        "--branch": branch,
        "--clone": clones,
        "--version": versions,
        "--files": list_files,
    }
    if (database := database_at(uri, of_a_table, allow_bases)) is not None:
        all_of = database.cleanup_preview(older_than, retain_versions, delete_unverified)
        print_answer(all_of.answer, as_json=as_json)
        return
    table = open_apart(uri, branch=branch, allow_bases=allow_bases)
    preview = table.cleanup_preview(
        older_than, retain_versions, delete_unverified, clones, versions or None
    )
    answer = preview.answer_with_files if list_files else preview.answer
    print_answer(answer, as_json=as_json)


@main.command()
@click.argument("uri")
@click.option("--target-rows-per-fragment", type=int)
@click.option("--materialize-deletions/--keep-deletions", default=None)
@click.option("--materialize-deletions-threshold", type=float)
@click.option("--max-source-fragments", type=int)
@click.option("--max-source-rows", type=int)
@click.option("--max-source-bytes", type=int)
@BRANCH
@ALLOW_BASES
@JSON
def compact(
    uri: str,
    branch: str | None,
    allow_bases: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Print what a compaction of the table at URI would rewrite, and why fragments stay.

    Nothing is rewritten: the last line is the call of pylance that does it.
    """
    given = {name: value for name, value in options.items() if value is not None}
    table = open_apart(uri, branch=branch, allow_bases=allow_bases)
    preview = table.compaction_preview(**given)
    print_answer(preview.answer, as_json=as_json)


@main.command()
@click.argument("uri")
@_depth("quick")
@click.option(
    "--severity",
    type=click.Choice(SEVERITIES),
    default="warning",
    show_default=True,
    help="The least severity that is printed, and counts for the exit code.",
)
@click.option("--key", help="Columns that no two rows should have alike, with commas between.")
@BRANCH
@ALLOW_BASES
@JSON
def check(
    uri: str,
    depth: Depth,
    severity: Severity,
    key: str | None,
    branch: str | None,
    allow_bases: tuple[str, ...],
    as_json: bool,
) -> None:
    """Check the table at URI: metadata, row IDs, indices, files on disk, bugs of its writers.

    In a folder of tables all are checked; one that cannot be read is a finding. The exit code is 0
    if nothing is found, 1 if something is, and 2 if it could not be checked.
    """
    database = database_at(uri, {"--branch": branch, "--key": key}, allow_bases)
    if database is not None:
        answer = database.health(depth, severity)
    else:
        table = open_apart(uri, branch=branch, allow_bases=allow_bases)
        answer = table.health(depth, severity, key and key.split(","))
    print_answer(answer, as_json=as_json, most=None)
    sys.exit(_FOUND if answer.findings else 0)


@main.command()
@click.argument("uri")
@_depth("deep")
@BRANCH
@ALLOW_BASES
@JSON
def damage(
    uri: str, depth: Depth, branch: str | None, allow_bases: tuple[str, ...], as_json: bool
) -> None:
    """Print which files of the table at URI are damaged, what is lost, and where else the rows are.

    The exit code is 0 if nothing is damaged, 1 if something is, and 2 if that is not known.
    """
    answer = open_apart(uri, branch=branch, allow_bases=allow_bases).damage(depth)
    print_answer(answer.answer, as_json=as_json, most=None)
    sys.exit(_FOUND if answer else 0)


@main.command()
@click.argument("uri")
@JSON
def salvage(uri: str, as_json: bool) -> None:
    """Print what is left of a table at URI that does not open, with code that copies its rows.

    The exit code is 0 if a data file can be read, 1 if none can, and 2 if that is not known.
    """
    left = salvage_folder(uri)
    print_answer(left.answer, as_json=as_json, most=None)
    sys.exit(0 if left else _FOUND)


@main.command()
@click.argument("uri")
@click.argument("key")
@BRANCH
@ALLOW_BASES
@JSON
def duplicates(
    uri: str, key: str, branch: str | None, allow_bases: tuple[str, ...], as_json: bool
) -> None:
    """Print keys that several rows of the table at URI have, and the commits that wrote them.

    KEY is a column, or several separated by commas. The exit code is 0 if each key is unique, 1 if
    not, and 2 if that is not known.
    """
    answer = open_apart(uri, branch=branch, allow_bases=allow_bases).duplicates(key.split(","))
    print_answer(answer.answer, as_json=as_json)
    sys.exit(_FOUND if answer else 0)
