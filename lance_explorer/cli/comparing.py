"""Commands that compare: two versions, or a branch with its target."""

import sys
from pathlib import Path

import click

from lance_explorer.cli.group import ALLOW_BASES, JSON, LEDGER, main, print_answer
from lance_explorer.cli.opening import open_apart
from lance_explorer.shown import visible

__all__ = ["diff", "merge_preview"]

_DIFFERENT = 1

_HTML = click.option(
    "--html", type=click.Path(path_type=Path), help="Write a page for a review there."
)
_MARKDOWN = click.option(
    "--markdown", is_flag=True, help="Print Markdown for a comment on a pull request."
)
_KEY = click.option("--key", multiple=True, help="A column that identifies a row; can be repeated.")


@main.command(context_settings={"ignore_unknown_options": True})  # so that -1 is a version
@click.argument("uri")
@click.argument("a")
@click.argument("b")
@_KEY
@ALLOW_BASES
@LEDGER
@click.option(
    "--content", is_flag=True, help="Compare only rows and values, not in which files they are."
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 if anything differs, as git does.")
@_HTML
@_MARKDOWN
@JSON
def diff(
    uri: str,
    a: str,
    b: str,
    key: tuple[str, ...],
    allow_bases: tuple[str, ...],
    ledger: str | None,
    content: bool,
    exit_code: bool,
    html: Path | None,
    markdown: bool,
    as_json: bool,
) -> None:
    """Print how versions A and B of the table at URI differ.

    A version is a number (-1 is the latest), a tag, a day or time in UTC such as
    2026-01-31, 2026-01-31T09:30, yesterday or "3 hours ago", or a version of a branch such as
    dev@5. Write a tag that looks like one of these as tag:26. The page and the Markdown match rows
    by --key. With --exit-code, the exit code is 0 if nothing differs, and 1 if something does; it
    is 2 if that is unknown.
    """
    _check_alone(markdown=markdown, as_json=as_json, content=content)
    if key and html is None and not markdown:
        raise click.UsageError("--key is for --html and --markdown: counts do not need it")
    table = open_apart(uri, allow_bases=allow_bases, ledger=ledger)
    difference = table.diff(a, b)
    different = _DIFFERENT if exit_code else 0
    if html is not None:
        _say_path(difference.report(html, key or None), aside=markdown or as_json)
    if content:
        same = difference.same_content()
        print_answer(same.answer, as_json=as_json)
        sys.exit(0 if same else different)
    if markdown:
        click.echo(difference.markdown(key or None), nl=False)
    else:
        print_answer(difference.answer, as_json=as_json)
    sys.exit(0 if difference.is_identical else different)


@main.command("merge-preview")
@click.argument("uri")
@click.argument("branch")
@click.option("--into", help="What BRANCH is merged into; the main branch by default.")
@_KEY
@ALLOW_BASES
@LEDGER
@click.option("--exit-code", is_flag=True, help="Exit with 1 if anything is in conflict.")
@_HTML
@_MARKDOWN
@JSON
def merge_preview(
    uri: str,
    branch: str,
    into: str | None,
    key: tuple[str, ...],
    allow_bases: tuple[str, ...],
    ledger: str | None,
    exit_code: bool,
    html: Path | None,
    markdown: bool,
    as_json: bool,
) -> None:
    """Print what a merge of BRANCH of the table at URI would bring; nothing is merged.

    BRANCH is a name, or a version such as dev@5. Rows that only BRANCH changed since the fork would
    come; rows that both changed differently are in conflict. With --exit-code, the exit code is 0
    if there is no conflict, 1 if there is one, and 2 if that is unknown.
    """
    _check_alone(markdown=markdown, as_json=as_json)
    table = open_apart(uri, branch=into, allow_bases=allow_bases, ledger=ledger)
    preview = table.merge_preview(branch, key or None)
    if html is not None:
        _say_path(preview.report(html), aside=markdown or as_json)
    if markdown:
        click.echo(preview.markdown(), nl=False)
    else:
        print_answer(preview.answer, as_json=as_json)
    sys.exit(_DIFFERENT if exit_code and not preview.is_clean else 0)


def _check_alone(**options: bool) -> None:
    """Check that only one of several ways to print is chosen."""
    chosen = ["--json" if name == "as_json" else f"--{name}" for name, on in options.items() if on]
    if "--markdown" in chosen and len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} cannot be used together")


def _say_path(path: Path, *, aside: bool) -> None:
    """Print the path of a page, on stderr if a program reads the output."""
    click.echo(visible(str(path)), err=aside)
