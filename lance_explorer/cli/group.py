"""The group of commands, what they share, and how they print."""

from importlib import import_module

import click
import polars as pl

from lance_explorer.cells.json_rows import json_lines
from lance_explorer.errors import LanceExplorerError
from lance_explorer.panics import panics_as_errors
from lance_explorer.shown import one_line, visible

__all__ = [
    "ALLOW_BASES",
    "BRANCH",
    "JSON",
    "LEDGER",
    "LONGEST_TEXT",
    "UNKNOWN",
    "main",
    "print_lines",
    "text_table",
    "without_nulls",
]

LONGEST_TEXT = 1000
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

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")

LEDGER = click.option(
    "--ledger", help="Where the table was recorded; versions that it keeps no more are there, too."
)


@click.group(cls=_Group)
@click.version_option(package_name="lance-explorer")
def main() -> None:
    """Explore Lance tables: versions, fragments, rows and their lineage."""


def print_lines(frame: pl.DataFrame) -> None:
    """Print a frame as JSON, one object a row."""
    for line in json_lines(frame):
        click.echo(line)


def text_table(frame: pl.DataFrame) -> str:
    """Return a frame with all its rows, however wide."""
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=-1,
        fmt_str_lengths=LONGEST_TEXT,
        fmt_table_cell_list_len=-1,
        tbl_formatting="NOTHING",
        tbl_cell_numeric_alignment="RIGHT",
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
    ):
        return visible(str(frame))


def without_nulls(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame of short texts, without columns of nulls."""
    some = [column.name for column in frame if column.null_count() < len(frame)]
    texts = pl.col(pl.String).map_elements(one_line, pl.String)
    lists = pl.col(pl.List(pl.String)).list.eval(pl.element().map_elements(one_line, pl.String))
    return frame.select(some).with_columns(texts, lists.list.join(", "))
