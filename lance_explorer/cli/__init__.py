"""The ``lance-explorer`` command."""

from lance_explorer.cli.group import main

__all__ = ["main"]
