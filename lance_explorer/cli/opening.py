"""How commands open tables: what a damaged data file does to pylance must not end a command."""

from functools import partial

from lance_explorer.table import open_table

__all__ = ["open_apart"]

open_apart = partial(open_table, values_apart=True)
"""Open a table whose values another process reads."""
