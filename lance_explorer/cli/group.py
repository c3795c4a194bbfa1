"""The group of commands, what they share, and how they print."""

import click
import polars as pl

from lance_explorer.display import one_line
from lance_explorer.errors import LanceExplorerError
from lance_explorer.shown import visible

__all__ = [
    "ALLOW_BASES",
    "BRANCH",
    "LEDGER",
    "LONGEST_TEXT",
    "UNKNOWN",
    "main",
    "text_table",
    "without_nulls",
]

LONGEST_TEXT = 1000
UNKNOWN = 2
"""The exit code of what cannot be told."""

_TELLING = ("diff", "check")
"""Commands whose exit code is an answer, 0 or 1, so that an error has to be another one."""


class _Unknown(click.ClickException):
    """What was asked cannot be told; that is neither 0, as it was, nor 1, different."""

    exit_code = UNKNOWN


class _Group(click.Group):
    """Commands whose expected errors are one line, without a traceback."""

    def invoke(self, ctx: click.Context) -> object:
        try:
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

LEDGER = click.option(
    "--ledger", help="Where the table was recorded; versions that it keeps no more are there, too."
)


@click.group(cls=_Group)
@click.version_option(package_name="lance-explorer")
def main() -> None:
    """Explore Lance tables: versions, fragments, rows and their lineage."""


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
