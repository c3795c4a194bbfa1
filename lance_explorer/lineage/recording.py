"""Record compactions in the config of a table, where cleanup does not remove them.

This is the only module of the package that writes to a table, and it writes only one config key. It
stores the compactions that transactions and the fragment reuse index contain; a stored compaction
is removed only by the limit that :func:`set_lineage_retention` sets.
"""

from dataclasses import dataclass
from typing import Any

import lance
from lance.commit import CommitConflictError

from lance_explorer.arguments import of_kind, whole_number
from lance_explorer.errors import InvalidArgumentError, StorageError
from lance_explorer.history.rewrites.compaction_records import (
    CompactionLineage,
    FragReuseGroup,
)
from lance_explorer.history.rewrites.stored_compactions import (
    LINEAGE_KEY,
    encode_lineage,
    stored_lineage,
)
from lance_explorer.history.table_input import dataset_of, open_view
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.compactions import compaction_lineage
from lance_explorer.storage import check_not_forked

__all__ = [
    "CompactionMetrics",
    "compact_files",
    "record_compaction_lineage",
    "set_lineage_retention",
]

_COMMIT_MESSAGE = "Record compactions"

_MOST_TRIES = 100
"""An attempt fails only if another writer succeeded."""

_LARGEST = (1 << 63) - 1


def __dir__() -> list[str]:
    return list(__all__)


@dataclass(frozen=True, slots=True)
class CompactionMetrics:
    """What a compaction did: pylance's counts, and which fragments became which.

    ``rewrite_groups`` is empty if there was nothing to compact.

    Examples
    --------
    >>> CompactionMetrics(3, 1, 3, 1, ()).fragments_removed
    3
    """

    fragments_removed: int
    fragments_added: int
    files_removed: int
    files_added: int
    rewrite_groups: tuple[FragReuseGroup, ...]


def record_compaction_lineage(dataset: Any) -> CompactionLineage | None:
    """Store the compactions that led to the latest version in the config of the table.

    Call it after a compaction, at any time before its version is cleaned up; each call stores all
    compactions that are not stored yet. If there are none, nothing is written. Otherwise the table
    gets one more version, and ``dataset`` is at the latest version afterwards.

    Other writers may commit and record at the same time: no entry is lost. Compactions that are
    known only from a fragment reuse index have neither ID nor time, and are not stored.

    Parameters
    ----------
    dataset : lance.LanceDataset or lancedb table
        The table, on the branch to record.

    Returns
    -------
    CompactionLineage or None
        What is now stored; None if nothing is.

    Raises
    ------
    CorruptFileError
        If the config holds a lineage that cannot be decoded; it is not changed.
    StorageError
        If the table cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import lance
    >>> import pyarrow as pa
    >>> from lance_explorer.lineage.recording import record_compaction_lineage
    >>> with TemporaryDirectory() as folder:
    ...     numbers = pa.table({"n": [1, 2, 3, 4]})
    ...     dataset = lance.write_dataset(numbers, f"{folder}/n.lance", max_rows_per_file=1)
    ...     metrics = dataset.optimize.compact_files()
    ...     record_compaction_lineage(dataset)
    CompactionLineage: 1 compaction, the latest in version 3
    """
    table = _lance_dataset(dataset)
    stored = _store(table, open_view(table))
    _follow(dataset, table)
    return stored


def set_lineage_retention(dataset: Any, max_entries: int) -> None:
    """Set how many compactions the config keeps at most; older ones are removed from it.

    The limit is also stored if there are no entries. It limits what is stored, not what
    :func:`~lance_explorer.lineage.compactions.compaction_lineage` finds in transactions.

    Parameters
    ----------
    dataset : lance.LanceDataset or lancedb table
        The table, on the branch to set it for.
    max_entries : int
        The number, at least 1.

    Raises
    ------
    InvalidArgumentError
        If ``max_entries`` is less than 1.
    CorruptFileError
        If the config holds a lineage that cannot be decoded; it is not changed.
    StorageError
        If the table cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import lance
    >>> import pyarrow as pa
    >>> with TemporaryDirectory() as folder:
    ...     dataset = lance.write_dataset(pa.table({"id": [1]}), folder)
    ...     set_lineage_retention(dataset, 100)
    ...     lx.open_table(dataset).compaction_lineage().max_entries
    100
    """
    max_entries = whole_number("max_entries", max_entries, least=1, most=_LARGEST)
    table = _lance_dataset(dataset)
    _store(table, open_view(table), max_entries)
    _follow(dataset, table)


def compact_files(dataset: Any, **options: Any) -> CompactionMetrics:
    """Compact a table through pylance, and store which fragments became which.

    If the process dies between the two, the table is compacted, and the next recording stores the
    compaction.

    Parameters
    ----------
    dataset : lance.LanceDataset or lancedb table
        The table, on the branch to compact.
    **options
        Arguments of pylance's ``dataset.optimize.compact_files``, such as
        ``target_rows_per_fragment``. Its errors are raised unchanged, except those about arguments.

    Returns
    -------
    CompactionMetrics

    Raises
    ------
    CorruptFileError
        If the config holds a lineage that cannot be decoded; the table is then compacted already.
    StorageError
        If the lineage cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import lance
    >>> import pyarrow as pa
    >>> with TemporaryDirectory() as folder:
    ...     for number in range(3):
    ...         dataset = lance.write_dataset(pa.table({"id": [number]}), folder, mode="append")
    ...     metrics = compact_files(dataset)
    >>> metrics.fragments_removed, metrics.fragments_added, len(metrics.rewrite_groups)
    (3, 1, 1)
    """
    table = _lance_dataset(dataset)
    try:
        metrics = table.optimize.compact_files(**options)
    except (TypeError, ValueError, OverflowError) as error:
        if not options:
            raise
        raise InvalidArgumentError(
            f"pylance cannot compact with {', '.join(options)}: {error}"
        ) from error
    view = open_view(table)
    made = compaction_lineage(view, table.version) if metrics.fragments_removed else None
    _store(table, view)
    _follow(dataset, table)
    return CompactionMetrics(
        metrics.fragments_removed,
        metrics.fragments_added,
        metrics.files_removed,
        metrics.files_added,
        made.entries[0].rewrite_groups if made else (),
    )


def _store(
    table: Any, view: HistoryView, max_entries: int | None = None
) -> CompactionLineage | None:
    """Store what history shows, until that is what is stored; return it.

    pylance refuses to set a key that another writer set after the version that was read. But it
    does not notice a restore in between, or versions that were cleaned up in between. So the
    history is read again afterwards: it shows what the version before held.
    """
    for _ in range(_MOST_TRIES):
        table.checkout_latest()
        view = view.refreshed()
        if view.latest_version != table.version:
            continue
        stored = stored_lineage(view.version(table.version).records[0].manifest.config)
        wanted = _wanted(view, stored or CompactionLineage(), max_entries)
        if wanted == (stored or CompactionLineage()):
            return stored
        _set(table, wanted)
    raise StorageError(
        f"{view.uri}: gave up recording: others committed first, {_MOST_TRIES} times"
    )


def _wanted(
    view: HistoryView, stored: CompactionLineage, max_entries: int | None
) -> CompactionLineage:
    known = compaction_lineage(view) or stored
    most = stored.max_entries if max_entries is None else max_entries
    return CompactionLineage(
        tuple([entry for entry in known.entries if entry.is_complete][:most]), most
    )


def _set(table: Any, lineage: CompactionLineage) -> None:
    """Commit a lineage; do nothing if another writer was first."""
    updates = lance.LanceOperation.UpdateMap({LINEAGE_KEY: encode_lineage(lineage)})
    operation = lance.LanceOperation.UpdateConfig(config_updates=updates)
    try:
        lance.LanceDataset.commit(
            table, operation, read_version=table.version, commit_message=_COMMIT_MESSAGE
        )
    except CommitConflictError:
        return
    except (OSError, ValueError, RuntimeError) as error:
        raise StorageError(f"{table.uri}: the lineage cannot be stored: {error}") from error


def _lance_dataset(dataset: Any) -> Any:
    check_not_forked()
    opened = dataset_of(dataset)
    return of_kind("dataset", opened, lance.LanceDataset, "a LanceDataset or a lancedb table")


def _follow(dataset: Any, table: Any) -> None:
    """Move a lancedb table to the version that was written."""
    if dataset is not table:
        dataset.checkout_latest()
