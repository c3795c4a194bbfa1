"""The group of commands, their shared options, and their output."""

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
"""The most rows of a section that are printed for people by default."""

UNKNOWN = 2
"""The exit code of an unknown answer."""

_TELLING = ("diff", "check", "damage", "duplicates", "merge-preview", "profile", "salvage")
"""Commands whose exit code is an answer, 0 or 1, so that an error needs another one."""


class _Unknown(click.ClickException):
    """The answer is unknown, which is neither 0, unchanged, nor 1, different."""

    exit_code = UNKNOWN


class _Listed(NamedTuple):
    """A command in the list of commands.

    Attributes
    ----------
    module : str
        The module that has it.
    words : str
        What it prints or does.
    example : str
        How it is called.
    """

    module: str
    words: str
    example: str


_COMMANDS = {
    "Look at many tables": {
        "tables": _Listed(
            "tables",
            "The tables of a folder or bucket, what hurts most first.",
            "tables s3://bucket/db",
        ),
        "metrics": _Listed(
            "metrics",
            "Their numbers for a monitor, once.",
            "metrics s3://bucket/db --format json",
        ),
        "watch": _Listed(
            "metrics", "The same again and again.", "watch s3://bucket/db --port 9464"
        ),
    },
    "Look at a table": {
        "open": _Listed("tables", "Open its explorer in a browser.", "open photos.lance"),
        "log": _Listed("commits", "Its commits, newest first.", "log photos.lance --limit 5"),
        "show": _Listed("commits", "What one commit did.", "show photos.lance 29"),
        "inspect": _Listed(
            "commits",
            "A frame of its metadata, such as refs or fragments.",
            "inspect photos.lance fragments",
        ),
        "versions": _Listed(
            "tables",
            "What each version holds, one line each.",
            "versions photos.lance --branch dev",
        ),
        "sql": _Listed(
            "rows",
            "The result of a SELECT over its metadata.",
            'sql photos.lance "SELECT version, message FROM versions"',
        ),
        "report": _Listed(
            "tables",
            "Write a report into one HTML file.",
            "report photos.lance --output photos.html",
        ),
        "lab": _Listed(
            "tables",
            "Make sample tables, open the notebooks in JupyterLab.",
            "lab --folder my_notebooks",
        ),
    },
    "Follow rows": {
        "find": _Listed(
            "rows", "The rows that match, in every version.", "find photos.lance \"label = 'dog'\""
        ),
        "row": _Listed("rows", "What happened to one row.", "row photos.lance 42 --values"),
        "blame": _Listed(
            "rows", "Which commit last changed each cell.", 'blame photos.lance "photo_id = 42"'
        ),
    },
    "Compare versions": {
        "diff": _Listed(
            "comparing",
            "How two versions differ.",
            "diff photos.lance yesterday -1 --html review.html",
        ),
        "merge-preview": _Listed(
            "comparing",
            "What a merge of a branch would bring.",
            "merge-preview photos.lance dev --key photo_id",
        ),
        "lock": _Listed(
            "tables", "A file that identifies a version.", "lock photos.lance --output data.lock"
        ),
        "verify": _Listed(
            "tables", "Whether locked versions are as they were.", "verify data.lock"
        ),
    },
    "Values over time": {
        "profile": _Listed(
            "values",
            "What values columns have, and which commits moved them.",
            "profile photos.lance --column rating",
        ),
        "drift": _Listed(
            "values",
            "How far vectors or numbers moved between two versions.",
            "drift photos.lance embedding yesterday -1",
        ),
    },
    "Health and disk": {
        "check": _Listed(
            "disk", "What is wrong with it, and what to do.", "check photos.lance --depth deep"
        ),
        "damage": _Listed(
            "disk", "Damaged files: what is lost, and where copies are.", "damage photos.lance"
        ),
        "salvage": _Listed(
            "disk", "What is left of a table that does not open.", "salvage photos.lance"
        ),
        "duplicates": _Listed(
            "disk",
            "Keys that several rows have, and who brought them.",
            "duplicates photos.lance photo_id",
        ),
        "du": _Listed("disk", "How much it takes on disk, and why.", "du photos.lance"),
        "cleanup": _Listed(
            "disk",
            "What a cleanup would remove, and what it would break.",
            "cleanup photos.lance --older-than 14d",
        ),
        "compact": _Listed("disk", "What a compaction would do.", "compact photos.lance"),
    },
    "Undo and repair": {
        "plan": _Listed(
            "plans",
            "A script that undoes a commit, puts rows back, repairs a table.",
            "plan revert photos.lance 29 --save undo-29",
        ),
    },
    "Keep and serve": {
        "record": _Listed(
            "tables",
            "Keep what metadata says, before a cleanup removes it.",
            "record photos.lance --ledger my_ledger",
        ),
        "forget-values": _Listed(
            "tables",
            "Remove a person's values from a ledger and the cache.",
            'forget-values photos.lance "photo_id = 42" --ledger my_ledger',
        ),
        "mcp": _Listed("assistant", "Let an assistant ask about tables.", "mcp photos.lance"),
    },
}
"""The commands by purpose; the module of a command is loaded when it is called."""

_SHOWN_FIRST = ("open", "tables", "log", "find", "diff", "plan")
"""Commands whose examples are in the help of the group."""


class _Group(click.Group):
    """Commands whose expected errors are one line, without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for commands in _COMMANDS.values() for name in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for commands in _COMMANDS.values():
            if cmd_name in commands:
                import_module(f"lance_explorer.cli.{commands[cmd_name].module}")
                command = self.commands[cmd_name]
                # \b keeps click from filling the lines.
                command.epilog = f"\b\nExample:\n  lance-explorer {commands[cmd_name].example}"
                return command
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
        every = {name: one for commands in _COMMANDS.values() for name, one in commands.items()}
        with formatter.section("Examples"):
            for name in _SHOWN_FIRST:
                formatter.write(f"  lance-explorer {every[name].example}\n")

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
    "--ledger", help="Where the table was recorded; then cleaned-up versions are included."
)


@click.group(cls=_Group)
@click.version_option(package_name="lance-explorer")
def main() -> None:
    """Explore Lance tables: versions, fragments, rows and their lineage."""


def print_answer(answer: "Answer", *, as_json: bool, most: int | None = MOST_ROWS) -> None:
    """Print an answer for people or for programs; people get the first rows."""
    if as_json:
        click.echo(answer.json())
        return
    from lance_explorer.answers.terminal import for_terminal

    click.echo(for_terminal(answer, most))
