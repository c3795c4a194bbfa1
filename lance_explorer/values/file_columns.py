"""The columns of a single data file, read to see whether they can be read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from lance_explorer.values.child import is_child
from lance_explorer.values.gate import reads_values
from lance_explorer.values.opening import StorageOptions, failing, file_reader

__all__ = ["columns_of_file", "read_columns"]

_ROWS_AT_ONCE = 8_192


@reads_values()
def columns_of_file(path: str, storage_options: StorageOptions = None) -> tuple[list[str], int]:
    """Return the names of the columns of a data file, and how many rows it has.

    Raises
    ------
    StorageError
        If the file cannot be opened.
    """
    with _quietly(), failing(f"{path} cannot be opened", storage_options):
        reader = file_reader(path, storage_options)
        return reader.metadata().schema.names, reader.num_rows()


@reads_values()
def read_columns(
    path: str,
    columns: list[str],
    begin: int,
    count: int,
    storage_options: StorageOptions = None,
) -> None:
    """Read some rows of some columns of a data file, and keep nothing of them.

    Raises
    ------
    StorageError
        If they cannot be read, or are no values of their type.
    """
    with _quietly(), failing(f"{path}: {', '.join(columns)} cannot be read", storage_options):
        found = file_reader(path, storage_options, columns).read_range(
            begin, count, batch_size=_ROWS_AT_ONCE
        )
        for batch in found.to_batches():
            batch.validate(full=True)


@contextmanager
def _quietly() -> Iterator[None]:
    """Print nothing meanwhile: a library that panics here does what is asked, and is heard."""
    if not is_child():  # the output is not ours
        yield
        return
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)
