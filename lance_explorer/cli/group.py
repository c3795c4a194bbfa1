"""The group of commands, what they share, and how they print."""

from importlib import import_module

import click

from lance_explorer.answers import Answer
from lance_explorer.errors import LanceExplorerError
from lance_explorer.panics import panics_as_errors
from lance_explorer.shown import one_line

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

_TELLING = ("diff", "check", "merge-preview")
"""Commands whose exit code is an answer, 0 or 1, so that an error has to be another one."""


class _Unknown(click.ClickException):
    """What was asked cannot be told; that is neither 0, as it was, nor 1, different."""

    exit_code = UNKNOWN


_MODULES = {
    "assistant": ("mcp",),
    "branches": ("merge-preview",),
    "commits": ("log", "show"),
    "disk": ("check", "cleanup", "compact", "du"),
    "rows": ("blame", "find", "row", "sql"),
    "tables": ("diff", "lab", "lock", "open", "record", "report", "verify", "versions"),
}
"""Where each command is; its module is loaded when it is called."""


class _Group(click.Group):
    """Commands whose expected errors are one line, without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([name for names in _MODULES.values() for name in names])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for module, names in _MODULES.items():
            if cmd_name in names:
                import_module(f"lance_explorer.cli.{module}")
        return super().get_command(ctx, cmd_name)

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


def print_answer(answer: Answer, *, as_json: bool, most: int | None = MOST_ROWS) -> None:
    """Print an answer for people or for programs; for people, of many rows the first ones."""
    if as_json:
        click.echo(answer.json())
        return
    from lance_explorer.answers.terminal import for_terminal

    click.echo(for_terminal(answer, most))
