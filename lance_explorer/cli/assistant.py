"""The command that lets an assistant ask about tables, by the Model Context Protocol on stdio."""

from collections.abc import Sequence

import click

from lance_explorer.cli.group import ALLOW_BASES, LEDGER, main
from lance_explorer.errors import MissingDependencyError

__all__ = ["mcp"]


@main.command()
@click.argument("uris", metavar="URI...", nargs=-1, required=True)
@ALLOW_BASES
@LEDGER
@click.option(
    "--seconds",
    type=click.FloatRange(1),
    default=60,
    show_default=True,
    help="How long a question may take; then it is given up, and answered with an error.",
)
def mcp(
    uris: Sequence[str], allow_bases: tuple[str, ...], ledger: str | None, seconds: float
) -> None:
    """Let an assistant ask about the history of the tables at each URI, and of no others.

    It speaks the Model Context Protocol on stdin and stdout; an assistant starts it. Nothing is
    written, and answers are short: limited rows, and limited text of each.
    """
    try:
        from lance_explorer.cli.assistant_tools import Opening, server
    except ImportError as error:
        raise MissingDependencyError(
            "the library mcp is missing: pip install 'lance-explorer[mcp]'"
        ) from error
    opening = Opening(tuple(uris), allow_bases, ledger)
    opening.tables()  # what cannot be opened is an error here
    server(opening, seconds).run("stdio")
