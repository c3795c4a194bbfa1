"""The group of commands, what they share, and how they print."""

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import click

from lance_explorer.errors import LanceExplorerError
from lance_explorer.panics import panics_as_errors
from lance_explorer.shown import one_line

if TYPE_CHECKING:
    from lance_explorer.answers import Answer

__all__ = [
    "ALLOW_BASES",
    "BRANCH",
    "JSON",
    "LEDGER",
    "LONGEST_TEXT",
    "UNKNOWN",
    "main",
    "print_answer",
]

LONGEST_TEXT = 1000
MOST_ROWS = 50
"""So many rows of a section are printed for people, where not all are asked for."""

UNKNOWN = 2
"""The exit code of what cannot be told."""

_TELLING = ("diff", "check", "damage", "duplicates", "merge-preview", "profile", "salvage")
"""Commands whose exit code is an answer, 0 or 1, so that an error has to be another one."""


class _Unknown(click.ClickException):
    """What was asked cannot be told; that is neither 0, as it was, nor 1, different."""

    exit_code = UNKNOWN


class _Listed(NamedTuple):
    """A command in the list of commands: the module that has it, and what it prints or does."""

    module: str
    words: str


_COMMANDS = {
    "Look at many tables": {
        "tables": _Listed("tables", "The tables of a folder or bucket, what hurts most first."),
        "metrics": _Listed("metrics", "Their numbers for a monitor, once."),
        "watch": _Listed("metrics", "The same again and again."),
    },
    "Look at a table": {
        "open": _Listed("tables", "Open its explorer in a browser."),
        "log": _Listed("commits", "Its commits, newest first."),
        "show": _Listed("commits", "What one commit did."),
        "inspect": _Listed("commits", "A frame of its metadata, such as refs or fragments."),
        "versions": _Listed("tables", "What each version holds, one line each."),
        "sql": _Listed("rows", "The result of a SELECT over its metadata."),
        "report": _Listed("tables", "Write a report into one HTML file."),
        "lab": _Listed("tables", "Make sample tables, open the notebooks in JupyterLab."),
    },
    "Follow rows": {
        "find": _Listed("rows", "The rows that match, in every version."),
        "row": _Listed("rows", "What happened to one row."),
        "blame": _Listed("rows", "Which commit last changed each cell."),
    },
    "Compare versions": {
        "diff": _Listed("tables", "How two versions differ."),
        "merge-preview": _Listed("branches", "What a merge of a branch would bring."),
        "lock": _Listed("tables", "A file that identifies a version."),
        "verify": _Listed("tables", "Whether locked versions are as they were."),
    },
    "Values over time": {
        "profile": _Listed("values", "What values columns have, and which commits moved them."),
        "drift": _Listed("values", "How far vectors or numbers moved between two versions."),
    },
    "Health and disk": {
        "check": _Listed("disk", "What is wrong with it, and what to do."),
        "damage": _Listed("disk", "Damaged files: what is lost, and where else it stands."),
        "salvage": _Listed("disk", "What is left of a table that does not open."),
        "duplicates": _Listed("disk", "Keys that several rows have, and who brought them."),
        "du": _Listed("disk", "How much it takes on disk, and why."),
        "cleanup": _Listed("disk", "What a cleanup would remove, and what it would break."),
        "compact": _Listed("disk", "What a compaction would do."),
    },
    "Undo and repair": {
        "plan": _Listed("plans", "A script that undoes a commit, puts rows back, repairs a table."),
    },
    "Keep and serve": {
        "record": _Listed("tables", "Keep what metadata says, before a cleanup removes it."),
        "forget-values": _Listed("tables", "Remove a person's values from a ledger and the cache."),
        "mcp": _Listed("assistant", "Let an assistant ask about tables."),
    },
}
"""The commands by what they are for; the module of a command is loaded when it is called."""

_EXAMPLES = (
    "lance-explorer open photos.lance",
    "lance-explorer tables s3://bucket/db",
    "lance-explorer log photos.lance --limit 5",
    "lance-explorer find photos.lance \"label = 'dog'\"",
    "lance-explorer plan revert photos.lance 29 --save undo-29",
)


class _Group(click.Group):
    """Commands whose expected errors are one line, without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for commands in _COMMANDS.values() for name in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for commands in _COMMANDS.values():
            if cmd_name in commands:
                import_module(f"lance_explorer.cli.{commands[cmd_name].module}")
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        near = get_close_matches(args[0], self.list_commands(ctx), n=1)
        if near and args[0] != near[0]:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in _COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name, one.words) for name, one in commands.items()])
        with formatter.section("Examples"):
            for example in _EXAMPLES:
                formatter.write(f"  {example}\n")

    def invoke(self, ctx: click.Context) -> object:
        try:
            with panics_as_errors():
                return super().invoke(ctx)
        except LanceExplorerError as error:
            kind = _Unknown if ctx.invoked_subcommand in _TELLING else click.ClickException
            raise kind(one_line(str(error), LONGEST_TEXT)) from error


ALLOW_BASES = click.option(
    "--allow-base",
    "allow_bases",
    multiple=True,
    help="A path or URI outside the table from which its files may be read; can be repeated.",
)


BRANCH = click.option("--branch", help="A branch of the table; the main branch by default.")

JSON = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the answer as one JSON object.",
)

LEDGER = click.option(
    "--ledger", help="Where the table was recorded; versions that it keeps no more are there, too."
)


@click.group(cls=_Group)
@click.version_option(package_name="lance-explorer")
def main() -> None:
    """Explore Lance tables: versions, fragments, rows and their lineage."""


def print_answer(answer: "Answer", *, as_json: bool, most: int | None = MOST_ROWS) -> None:
    """Print an answer for people or for programs; for people, of many rows the first ones."""
    if as_json:
        click.echo(answer.json())
        return
    from lance_explorer.answers.terminal import for_terminal

    click.echo(for_terminal(answer, most))
