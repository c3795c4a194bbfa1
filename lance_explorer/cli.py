"""The ``lance-explorer`` command."""

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import click
import polars as pl

from lance_explorer.display import one_line
from lance_explorer.errors import LanceExplorerError, MissingDependencyError
from lance_explorer.table import open_table

__all__ = ["main"]

_FIRST_NOTEBOOK = "01_explore_a_table.ipynb"
_LONGEST_TEXT = 1000
_SHOWN_COLUMNS = (
    "version",
    "timestamp",
    "operation",
    "num_rows",
    "rows_added",
    "rows_updated",
    "rows_deleted",
    "num_fragments",
    "data_bytes",
    "tags",
    "message",
)


class _Group(click.Group):
    """Commands whose expected errors are one line, without a traceback."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except LanceExplorerError as error:
            raise click.ClickException(one_line(str(error), _LONGEST_TEXT)) from error


@click.group(cls=_Group)
@click.version_option(package_name="lance-explorer")
def main() -> None:
    """Explore Lance tables: versions, fragments, rows and their lineage."""


@main.command()
@click.argument("uri")
@click.option("--branch", help="A branch of the table; the main branch by default.")
@click.option("--json", "as_json", is_flag=True, help="Print all columns, one JSON object a line.")
def versions(uri: str, branch: str | None, as_json: bool) -> None:
    """Print what happened to the table at URI, one line a version."""
    frame = open_table(uri, branch=branch).versions()
    if as_json:
        click.echo(frame.write_ndjson(), nl=False)
        return
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=-1,
        fmt_str_lengths=_LONGEST_TEXT,
        tbl_formatting="NOTHING",
        tbl_cell_numeric_alignment="RIGHT",
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
    ):
        click.echo(str(_for_terminals(frame.select(_SHOWN_COLUMNS))))


@main.command()
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("lance_explorer_notebooks"),
    show_default=True,
    help="Where the notebooks are copied to, if this is not a checkout of the project.",
)
@click.option("--no-browser", is_flag=True, help="Print the address instead of opening a browser.")
def lab(folder: Path, no_browser: bool) -> None:
    """Make the sample tables and open JupyterLab on the first notebook."""
    if find_spec("jupyterlab") is None:
        raise MissingDependencyError("JupyterLab is missing: pip install 'lance-explorer[lab]'")
    from lance_explorer.demo import make_samples

    for path in make_samples():
        click.echo(f"sample table: {path}")
    _run_lab(_notebooks(folder), no_browser)


def _for_terminals(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame of short texts, without what a terminal would take for a command."""
    time = pl.col("timestamp").dt.strftime("%Y-%m-%d %H:%M:%S")
    tags, message = pl.col("tags").list.join(", "), pl.col("message").fill_null("")
    texts = [text.map_elements(one_line, pl.String) for text in (tags, message)]
    return frame.with_columns(time, *texts)


def _notebooks(folder: Path) -> Path:
    """Return the folder of the notebooks: that of a checkout, else copies that a user may edit."""
    package = Path(__file__).parent
    checkout = package.parent / "notebooks"
    if (checkout / _FIRST_NOTEBOOK).exists():
        return checkout
    folder.mkdir(parents=True, exist_ok=True)
    for notebook in sorted((package / "notebooks").glob("*.ipynb")):
        target = folder / notebook.name
        if not target.exists():
            shutil.copyfile(notebook, target)
    return folder


def _run_lab(folder: Path, no_browser: bool) -> NoReturn:
    """Replace this process by JupyterLab; it refuses to run as root unless it is told to."""
    options = ["--no-browser"] if no_browser else []
    options += ["--allow-root"] if os.geteuid() == 0 else []
    command = [sys.executable, "-m", "jupyterlab", str(folder / _FIRST_NOTEBOOK), *options]
    os.execv(sys.executable, command)
