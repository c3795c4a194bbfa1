"""Whether each data file is whole and has the rows of its fragment."""

from collections.abc import Iterator

import polars as pl

from lance_explorer.checks.data_file_ends import read_end
from lance_explorer.disk.columns import columns
from lance_explorer.disk.named_data_files import NamedDataFile, named_data_files
from lance_explorer.errors import (
    CorruptFileError,
    FormatError,
    StorageError,
    UnreachableError,
)
from lance_explorer.findings import Finding, Remedy, Subject
from lance_explorer.format.data_footer import DataFooter
from lance_explorer.format.fragments import DataFile
from lance_explorer.format.schema import field_paths
from lance_explorer.frames.sizes import byte_size
from lance_explorer.history.file_roots import data_file
from lance_explorer.history.progress import with_progress
from lance_explorer.history.view import HistoryView

__all__ = ["DROPPED_SHARE", "LARGE_DROPPED_BYTES", "data_file_findings", "dropped_columns"]

LARGE_DROPPED_BYTES = 1_000_000
"""Bytes of dropped columns that are worth knowing ..."""

DROPPED_SHARE = 0.1
"""... if they are this part of the data, too."""

_MOST_NAMED = 3


def data_file_findings(view: HistoryView) -> Iterator[Finding]:
    """Yield a finding for each data file of a kept version whose end is wrong.

    That reads the last bytes of each file, and its description: two or three requests. Missing
    files are reported by the survey of the folder.

    Raises
    ------
    UnreachableError
        If a file cannot be reached: that does not mean that it is damaged.
    """
    for named in with_progress([*named_data_files(view)], "Opening data files"):
        file = named.file
        try:
            root, path = data_file(file, named.bases, view.storage)
            size = file.size_bytes
            if size is None:
                info = root.find(path)
                size = 0 if info is None else info.size_bytes
            end = read_end(root, path, size)
            _check(file, end.footer)
            if not named.is_overlay and end.num_rows is not None:
                yield from _other_rows(named, end.num_rows)
        except FileNotFoundError:
            continue
        except UnreachableError:
            raise
        except (FormatError, StorageError) as error:
            yield Finding(
                "corrupt_data_file",
                f"{file.path}: {error}",
                subject=Subject("fragment", str(named.fragment.id), file.path),
                versions=named.versions,
            )


def dropped_columns(view: HistoryView) -> Iterator[Finding]:
    """Yield a finding if columns that were dropped take much of the files of the latest version."""
    version = view.latest_version
    sizes = columns(view, version).select("field_id", "path", "size_bytes")
    dropped = sizes.filter(pl.col("path").is_null(), pl.col("size_bytes") > 0)
    held, total = int(dropped["size_bytes"].sum()), int(sizes["size_bytes"].sum())
    if held < LARGE_DROPPED_BYTES or held < DROPPED_SHARE * total:
        return
    names = {
        field: path
        for record in view.history.records
        for field, path in field_paths(record.schema).items()
    }
    ids = dropped.sort("size_bytes", descending=True)["field_id"].unique(maintain_order=True)
    column_names = [names.get(key, f"the field with ID {key}") for key in ids.head(_MOST_NAMED)]
    more = ", ..." if len(ids) > _MOST_NAMED else ""
    yield Finding(
        "dropped_columns_stay",
        f"{byte_size(held)} of {byte_size(total)} in data files of the latest version are of "
        f"columns that it does not have: {', '.join(column_names)}{more}",
        subject=Subject("files", "data"),
        versions=(version, version),
        remedy=Remedy(
            "Write the table anew, which gives its rows other row IDs and takes indices along",
            'lance.write_dataset(dataset.scanner().to_reader(), dataset.uri, mode="overwrite")',
            f"dataset.checkout_version({version}).restore()",
        ),
    )


def _other_rows(named: NamedDataFile, rows: int) -> Iterator[Finding]:
    """Yield a finding if a file has another number of rows than its fragment."""
    fragment, stored = named.fragment, named.fragment.physical_rows
    if stored is not None and stored != rows:
        yield Finding(
            "rows_contradict_file",
            f"the manifest says that fragment {fragment.id} has {stored:,} rows, and its data "
            f"file {named.file.path} has {rows:,}",
            subject=Subject("fragment", str(fragment.id), named.file.path),
            versions=named.versions,
        )


def _check(file: DataFile, footer: DataFooter) -> None:
    """Check the footer of a file against its manifest.

    Raises
    ------
    CorruptFileError
        If they contradict.
    """
    needed = max(file.column_indices, default=-1) + 1
    if footer.num_columns is not None and footer.num_columns < needed:
        raise CorruptFileError(
            f"it has {footer.num_columns} columns, and the manifest names column {needed - 1}"
        )
