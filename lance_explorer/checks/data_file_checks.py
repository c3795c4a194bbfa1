"""Whether each data file of the latest version is whole, as far as its footer tells."""

import polars as pl

from lance_explorer.errors import CorruptFileError, FormatError, StorageError
from lance_explorer.findings import Finding
from lance_explorer.format.data_footer import DATA_FOOTER_BYTES, decode_data_footer
from lance_explorer.format.fragments import DataFile
from lance_explorer.frames.findings import findings_frame
from lance_explorer.history.file_roots import data_file
from lance_explorer.history.progress import with_progress
from lance_explorer.history.source import TableSource

__all__ = ["data_file_findings"]


def data_file_findings(source: TableSource) -> pl.DataFrame:
    """Return one row for each data file of the latest version whose end is not what it should be.

    That reads the last bytes of each, with one request. Files that are missing are told by what is
    on disk.
    """
    history = source.version(source.latest_version)
    bases = history.records[0].manifest.base_paths
    found = list[Finding]()
    for fragment in with_progress(history.states, "Opening data files"):
        for file in fragment.all_files:
            try:
                root, path = data_file(file, bases, source.storage)
                size = file.size_bytes
                if size is None:
                    info = root.find(path)
                    size = 0 if info is None else info.size_bytes
                begin = max(size - DATA_FOOTER_BYTES, 0)
                _check(file, root.get_range(path, begin, DATA_FOOTER_BYTES))
            except FileNotFoundError:
                continue
            except (FormatError, StorageError) as error:
                found.append(
                    Finding(
                        code="corrupt_data_file",
                        severity="error",
                        message=f"{file.path}: {error}",
                        advice="Its rows cannot be read: restore the file from a backup.",
                        version=source.latest_version,
                        fragment_id=fragment.id,
                    )
                )
    return findings_frame(found, [source.branch] * len(found))


def _check(file: DataFile, end: bytes) -> None:
    """Check the end of a file against what its manifest says of it.

    Raises
    ------
    CorruptFileError
        If they contradict.
    """
    footer = decode_data_footer(end)
    needed = max(file.column_indices, default=-1) + 1
    if footer.num_columns is not None and footer.num_columns < needed:
        raise CorruptFileError(
            f"it has {footer.num_columns} columns, and the manifest names column {needed - 1}"
        )
