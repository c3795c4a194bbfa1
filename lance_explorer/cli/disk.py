"""Commands on what is on disk, and on whether a table is whole. Nothing is ever changed."""

import json
import re
import sys
from datetime import timedelta
from typing import Any

import click
import polars as pl

from lance_explorer.cells.json_rows import json_rows
from lance_explorer.cli.group import (
    ALLOW_BASES,
    BRANCH,
    LONGEST_TEXT,
    main,
    text_table,
    without_nulls,
)
from lance_explorer.cli.opening import open_apart
from lance_explorer.findings import SEVERITIES, Severity
from lance_explorer.frames.sizes import byte_size
from lance_explorer.shown import one_line, visible_json

__all__ = ["check", "cleanup", "compact", "du"]

_FOUND = 1
_AGE = re.compile(r"([0-9]+) *(s|m|h|d|w|seconds?|minutes?|hours?|days?|weeks?)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_MOST_DIGITS = 5
_MOST_LINES = 50

_json = click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
_dry_run = click.option(
    "--dry-run", is_flag=True, help="Needed: this command only says what would be done."
)
_clones = click.option(
    "--clone", "clones", multiple=True, help="A shallow clone of the table; can be repeated."
)


class _Age(click.ParamType[timedelta]):
    """An age such as 14d or "2 weeks"."""

    name = "age"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        match = _AGE.fullmatch(str(value).strip().lower())
        if match is None or len(match[1]) > _MOST_DIGITS:
            self.fail(f"expected an age such as 14d, 12h or 2w, not {value!r}", param, ctx)
        return timedelta(**{_UNITS[match[2][0]]: int(match[1])})


@main.command()
@click.argument("uri")
@BRANCH
@ALLOW_BASES
@_clones
@_json
def du(
    uri: str,
    branch: str | None,
    allow_bases: tuple[str, ...],
    clones: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print how much the table at URI takes on disk, and why."""
    usage = open_apart(uri, branch=branch, allow_bases=allow_bases).disk_usage(clones)
    found = usage.summary()
    if as_json:
        told = {
            "uri": uri,
            "total_bytes": usage.total_bytes,
            "live_bytes": usage.live_bytes,
            "not_counted": usage.not_counted,
            "summary": json_rows(found),
            "versions": json_rows(usage.versions()),
        }
        click.echo(visible_json(json.dumps(told)))
        return
    click.echo(one_line(usage.sentence, LONGEST_TEXT))
    click.echo(text_table(_sizes(found.sort("size_bytes", descending=True))))


@main.command()
@click.argument("uri")
@_dry_run
@click.option("--older-than", type=_Age(), help="How old versions are that go, as 14d.")
@click.option("--retain-versions", type=int, help="How many of the last versions stay.")
@click.option("--delete-unverified", is_flag=True, help="Files that no version names go, too.")
@BRANCH
@ALLOW_BASES
@_clones
@click.option("--files", "list_files", is_flag=True, help="Print each file that would go.")
@_json
def cleanup(
    uri: str,
    dry_run: bool,
    older_than: timedelta | None,
    retain_versions: int | None,
    delete_unverified: bool,
    branch: str | None,
    allow_bases: tuple[str, ...],
    clones: tuple[str, ...],
    list_files: bool,
    as_json: bool,
) -> None:
    """Print what a cleanup of the table at URI would remove, and what is lost by it.

    Nothing is removed: at the end are the calls of pylance that do it. A call that would break what
    branches, clones or others need is not among them.
    """
    _require_dry_run(dry_run, "cleanup")
    table = open_apart(uri, branch=branch, allow_bases=allow_bases)
    preview = table.cleanup_preview(older_than, retain_versions, delete_unverified, clones)
    parts = {
        "summary": preview.summary(),
        "versions": preview.versions(),
        "held": preview.held(),
        "losses": preview.losses(),
    }
    if as_json:
        told = {
            "uri": uri,
            "problem": preview.problem,
            "breaks": preview.breaks,
            "freed_bytes": preview.freed_bytes,
            "num_versions": preview.num_versions,
            "code": preview.code,
            **{name: json_rows(part) for name, part in parts.items()},
            "files": json_rows(preview.files()),
        }
        click.echo(visible_json(json.dumps(told)))
        return
    click.echo(one_line(preview.sentence, LONGEST_TEXT))
    for sentence in preview.breaks:
        click.secho(one_line(sentence, LONGEST_TEXT), fg="red", bold=True)
    parts["versions"] = parts["versions"].filter(~pl.col("is_removed")).drop("is_removed")
    titles = {
        "summary": "would go",
        "versions": "versions that stay",
        "held": "what holds other files back",
        "losses": "what is lost",
    }
    for name, title in titles.items():
        _print_part(title, parts[name])
    if list_files:
        click.echo(f"\nfiles:\n{text_table(preview.files())}")
    if preview.breaks:
        done = preview.instead
        words = "there is no call that breaks nothing" if done is None else done.sentence
        click.echo(f"\nwithout breaking anything: {one_line(words, LONGEST_TEXT)}")
    click.echo()
    for line in preview.code.splitlines():
        click.echo(one_line(line, LONGEST_TEXT))


@main.command()
@click.argument("uri")
@_dry_run
@click.option("--target-rows-per-fragment", type=int)
@click.option("--materialize-deletions/--keep-deletions", default=None)
@click.option("--materialize-deletions-threshold", type=float)
@click.option("--max-source-fragments", type=int)
@click.option("--max-source-rows", type=int)
@click.option("--max-source-bytes", type=int)
@BRANCH
@ALLOW_BASES
@_json
def compact(
    uri: str,
    dry_run: bool,
    branch: str | None,
    allow_bases: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Print what a compaction of the table at URI would rewrite, and why fragments stay.

    Nothing is rewritten: the last line is the call of pylance that does it.
    """
    _require_dry_run(dry_run, "compact")
    given = {name: value for name, value in options.items() if value is not None}
    table = open_apart(uri, branch=branch, allow_bases=allow_bases)
    preview = table.compaction_preview(**given)
    if as_json:
        told = {
            "uri": uri,
            "problem": preview.problem,
            "code": preview.code,
            "summary": json_rows(preview.summary())[0],
            "tasks": json_rows(preview.tasks()),
            "new_fragments": json_rows(preview.new_fragments()),
            "fragments": json_rows(preview.fragments()),
        }
        click.echo(visible_json(json.dumps(told)))
        return
    for sentence in (preview.sentence, *preview.costs):
        click.echo(one_line(sentence, LONGEST_TEXT))
    _print_part("tasks", preview.tasks().drop("fragment_ids"))
    _print_part("fragments that are written", preview.new_fragments())
    fragments = preview.fragments()
    reasons = fragments.group_by("is_rewritten", "reason", "message").agg(
        num_fragments=pl.len(), data_bytes=pl.col("data_bytes").sum()
    )
    _print_part("why", reasons.sort("is_rewritten", "reason", descending=[True, False]))
    click.echo(f"\n{one_line(preview.code, LONGEST_TEXT)}")


@main.command()
@click.argument("uri")
@click.option(
    "--level",
    type=click.Choice(SEVERITIES),
    default="warning",
    show_default=True,
    help="The least severity that is printed, and counts for the exit code.",
)
@click.option("--deep", is_flag=True, help="Also open versions with pylance, and each data file.")
@BRANCH
@ALLOW_BASES
@_json
def check(
    uri: str,
    level: Severity,
    deep: bool,
    branch: str | None,
    allow_bases: tuple[str, ...],
    as_json: bool,
) -> None:
    """Check the table at URI: metadata, row IDs, indices, files on disk, bugs of its writers.

    The exit code is 0 if nothing is found, 1 if something is, and 2 if it could not be checked.
    """
    table = open_apart(uri, branch=branch, allow_bases=allow_bases)
    every = table.check(deep=deep)
    worst = SEVERITIES[: SEVERITIES.index(level) + 1]
    is_shown = pl.col("severity").cast(pl.String).is_in(worst)
    found = every.filter(is_shown)
    unchecked = every.filter(~is_shown, code="not_checked")["message"].to_list()
    if as_json:
        told = {
            "uri": uri,
            "level": level,
            "findings": json_rows(found),
            "not_checked": unchecked,
        }
        click.echo(visible_json(json.dumps(told)))
    else:
        for row in found.iter_rows(named=True):
            where = "" if row["version"] is None else f" (version {row['version']})"
            line = f"{row['severity']}: {row['code']}{where}: {row['message']} {row['advice']}"
            click.echo(one_line(line.strip(), LONGEST_TEXT))
        if found.is_empty():
            click.echo(f"nothing found of level {level} or worse")
        for message in unchecked:
            click.echo(one_line(f"not checked: {message}", LONGEST_TEXT))
    sys.exit(_FOUND if len(found) else 0)


def _require_dry_run(is_given: bool, command: str) -> None:
    if not is_given:
        raise click.UsageError(
            f"{command} only says what would be done: add --dry-run. To do it, run the call of "
            "pylance that it prints."
        )


def _print_part(title: str, frame: pl.DataFrame) -> None:
    """Print a frame under its title, if it has any row; of many rows the first ones."""
    if frame.is_empty():
        return
    shown = without_nulls(_sizes(frame.head(_MOST_LINES)))
    more = len(frame) - _MOST_LINES
    click.echo(f"\n{title}:\n{text_table(shown)}")
    if more > 0:
        click.echo(f"... and {more:,} more; --json has them all")


def _sizes(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with numbers of bytes as a person says them."""
    names = [name for name in frame.columns if name.endswith(("_bytes", "_bytes_after"))]
    return frame.with_columns(
        [
            pl.Series(name, [None if v is None else byte_size(v) for v in frame[name]], pl.String)
            for name in names
        ]
    )
