"""The ``lance-explorer`` command."""

from lance_explorer.cli import disk, tables
from lance_explorer.cli.group import main

__all__ = ["disk", "main", "tables"]
