"""What is left of a table that does not open: its data files, with the columns that they have.

No manifest says which files belong together. Transactions do, if they are still there; but it is
unknown which of them were committed.
"""

import os
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl
from propcache.api import cached_property

from lance_explorer.answers import Answer, Answering, Section, lines
from lance_explorer.answers.calls import literal, options_lines
from lance_explorer.arguments import path
from lance_explorer.checks.data_file_ends import read_end
from lance_explorer.errors import (
    FormatError,
    LanceExplorerError,
    StorageError,
    TableNotFoundError,
    UnreachableError,
)
from lance_explorer.format.column_operations import DataOverlay
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.layout_operations import Rewrite
from lance_explorer.format.operations import Operation
from lance_explorer.format.row_operations import Overwrite
from lance_explorer.format.transactions import decode_transaction
from lance_explorer.frames.columns import BYTES, COUNT, TEXT, Column, FrameSchema
from lance_explorer.frames.sizes import counted
from lance_explorer.history.progress import with_progress
from lance_explorer.history.view import HistoryView
from lance_explorer.shown import visible
from lance_explorer.storage import FileInfo, Options, Storage, open_storage
from lance_explorer.storage.secrets import hiding_arguments

__all__ = ["SALVAGE", "Salvage", "SalvagedFile", "salvage"]

SALVAGE = FrameSchema(
    "salvage",
    (
        Column("path", TEXT, "the data file, below the root of the table"),
        Column("size_bytes", BYTES, "its size", unit="bytes"),
        Column("problem", TEXT, "why it cannot be read; null: its end is whole", nullable=True),
        Column("format_version", TEXT, "version of the data format", nullable=True),
        Column("num_rows", COUNT, "rows in it, deleted ones too", nullable=True),
        Column(
            "num_deleted",
            COUNT,
            "how many of them were deleted, as the newest transaction says that names the file; "
            "null: none does",
            nullable=True,
        ),
        Column("columns", pl.List(pl.String), "columns that it has; empty in legacy files"),
        Column("types", pl.List(pl.String), "their types, as Lance names them"),
        Column("note", TEXT, "what transactions say of it", nullable=True),
    ),
)
"""The columns of ``Salvage.to_polars()``."""

_KINDS = {
    "_versions": "manifests",
    "_transactions": "transactions",
    "_deletions": "deletion files",
    "_indices": "files of indices",
    "_refs": "tags and branches",
    "_mem_wal": "files of the write-ahead log",
}
_DATA = "data"
_BRANCHES = "tree"
_FORMATS = {(0, 3): "2.0", (0, 1): "0.1", (0, 2): "0.1"}
_SHOWN_COLUMNS = 6

_LONG_NAME = r"([0-9a-f]{12})[0-9a-f]{12,}\.lance"
"""A file name in Lance's form."""

_Columns = tuple[tuple[str, str], ...]
"""Names and types."""


@dataclass(frozen=True, slots=True)
class SalvagedFile:
    """A data file that is left: a line of the frame, whose columns are the first attributes.

    Attributes
    ----------
    columns : tuple of (str, str)
        Its columns with their types; empty in files of the legacy format.
    described : frozenset of str
        Blob columns of which it has where the payloads are, and not these.
    is_replaced : bool
        Whether its rows are again in another file that is left, as after a compaction.
    is_overlay : bool
        Whether it has new values of some rows of other files.
    is_beside : bool
        Whether it has further columns of rows of other files.
    """

    path: str
    size_bytes: int
    problem: str | None = None
    format_version: str | None = None
    num_rows: int | None = None
    columns: _Columns = ()
    described: frozenset[str] = frozenset()
    num_deleted: int | None = None
    note: str | None = None
    is_replaced: bool = False
    is_overlay: bool = False
    is_beside: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether its end can be read."""
        return self.problem is None

    @property
    def is_left_out(self) -> bool:
        """Whether a copy of the rows would duplicate them, or cannot place them."""
        return self.is_replaced or self.is_overlay


class Salvage(Answering):
    """What is left of a table; true if any data file can be read.

    Made by :func:`lance_explorer.salvage`.

    Attributes
    ----------
    uri : str
        The folder.
    why : str or None
        Why the table does not open; None if it does.
    files : sequence of SalvagedFile
        Its data files.
    others : mapping of str to (int, int)
        Number and bytes of all other files, by what they are.
    """

    def __init__(
        self,
        uri: str,
        why: str | None,
        files: Sequence[SalvagedFile],
        others: Mapping[str, tuple[int, int]],
        options: Options,
    ) -> None:
        self.uri = uri
        self.why = why
        self.files = files
        self.others = others
        self._options = options

    def __bool__(self) -> bool:
        return any(file.is_whole for file in self.files)

    @cached_property
    def _groups(self) -> dict[_Columns, list[SalvagedFile]]:
        """The files that are worth copying, by their columns."""
        groups = dict[_Columns, list[SalvagedFile]]()
        for file in self.files:
            if file.is_whole and not file.is_left_out:
                groups.setdefault(file.columns, []).append(file)
        return dict(sorted(groups.items(), key=lambda group: group[1][0].is_beside))

    @property
    def sentence(self) -> str:
        """What is left, and whether the table opens.

        Examples
        --------
        >>> print(lx.salvage(table.uri).sentence.partition(":")[0])
        The table opens
        """
        opens = f"The table opens: `{self._opening}.damage()` says what of it is damaged."
        begin = opens if self.why is None else f"The table does not open: {self.why}."
        if not self.files:
            return f"{begin} No data file is left."
        parts = [
            f"{counted(sum([file.num_rows or 0 for file in files]), 'row')} of "
            f"{self._column_words(columns)} in {counted(len(files), 'file')}"
            for columns, files in self._groups.items()
        ]
        damaged = sum([not file.is_whole for file in self.files])
        rest = f" {counted(damaged, 'data file')} cannot be read." if damaged else ""
        whole = [file for file in self.files if file.is_whole]
        if replaced := sum([file.is_replaced for file in whole]):
            rest += f" The rows of {counted(replaced, 'other file')} are in these again."
        if overlays := sum([file.is_overlay and not file.is_replaced for file in whole]):
            rest += f" {counted(overlays, 'more file')} {'has' if overlays == 1 else 'have'} new "
            rest += "values of some of the rows."
        return f"{begin} What is left: {'; '.join(parts) or 'nothing that can be read'}.{rest}"

    @property
    def _opening(self) -> str:
        return f"lx.open_table({literal(self.uri)})"

    def _column_words(self, columns: _Columns) -> str:
        """Return the names of columns, with their types if names alone are ambiguous."""
        if not columns:
            return "unknown columns (legacy format)"
        names = [name for name, _ in columns]
        is_told = sum([[name for name, _ in other] == names for other in self._groups]) == 1
        words = [
            visible(name if is_told else f"{name} ({kind})")
            for name, kind in columns[:_SHOWN_COLUMNS]
        ]
        more = len(columns) - len(words)
        return ", ".join(words) + (f" and {counted(more, 'other column')}" if more else "")

    @property
    def code(self) -> str:
        """Code that copies the rows into new tables, one for each set of columns.

        Files of the legacy format are left out: pylance reads them only through a manifest.
        """
        groups = [(columns, files) for columns, files in self._groups.items() if columns]
        if not groups:
            return ""
        arguments = ['f"{folder}/{name}"']
        fill_in = options_lines(self._options, arguments)
        made = ["import lance", "from lance.file import LanceFileReader", "", *fill_in]
        made.append(f"folder = {literal(self.uri)}")
        for number, (columns, files) in enumerate(groups, 1):
            left_out = files[0].described
            kept = [name for name, _ in columns if name not in left_out]
            if not kept:
                continue
            only = f", columns={literal(kept)}" if left_out else ""
            blobs = f", without the payloads of {', '.join(sorted(left_out))}" if left_out else ""
            made += [
                f"# {self._column_words(columns)}{blobs}",
                "names = [",
                *[f"    {literal(file.path)}," for file in files],
                "]",
                "for name in names:",
                f"    rows = LanceFileReader({', '.join(arguments)}{only}).read_all().to_batches()",
                f'    lance.write_dataset(rows, "salvaged-{number}.lance", mode="append")',
            ]
        return "\n".join(made)

    @property
    def answer(self) -> Answer:
        """The files, other remains, and code that copies the rows."""
        notes = list[str]()
        if self.files:
            copied = [file for files in self._groups.values() for file in files]
            deleted = [file.num_deleted for file in copied if not file.is_beside]
            if self.others.get(_KINDS["_deletions"]) and (any(deleted) or None in deleted):
                count = sum(filter(None, deleted))
                least = f"At least {count:,}" if None in deleted else f"{count:,}"
                notes.append(
                    f"{least if count else 'Some'} of these rows were deleted, and come back if "
                    "the files are copied."
                )
            if len(self._groups) > 1:
                notes.append(
                    "Files with other columns may hold further values of the same rows, in the "
                    "same order: `note` says so where a transaction does."
                )
            if () in self._groups:
                notes.append(
                    "Files of the legacy format do not say their columns, and pylance reads them "
                    "through a manifest only: restore one from a backup."
                )
            if any(file.described for file in self.files):
                notes.append(
                    "Of blobs the files have where the payloads are: those are in folders with "
                    "the names of the files, and are not copied."
                )
            notes.append("Only the ends of files were read, not the values in them.")
        others = pl.DataFrame(
            {
                "kind": [*self.others],
                "num_files": [count for count, _ in self.others.values()],
                "size_bytes": [size for _, size in self.others.values()],
            },
            schema={"kind": pl.String, "num_files": pl.Int64, "size_bytes": pl.Int64},
        )
        frame = self.to_polars().sort("note", nulls_last=False, maintain_order=True)
        # Columns without a value are left out, and long file names need room.
        without = ["format_version", "types"]
        without += ["columns"] * (not frame["columns"].list.len().sum())
        without += [name for name in ("problem", "note") if frame[name].null_count() == len(frame)]
        short = pl.col("note").str.replace_all(_LONG_NAME, "$1...")
        parts = [
            Section("notes", "", lines(notes)),
            Section(
                "files",
                "Data files",
                frame,
                shown=frame.with_columns(short).drop(without),
                schema=SALVAGE,
            ),
            Section("others", "Other files", others),
        ]
        return Answer(self.sentence, tuple(parts), self.code)

    def to_polars(self) -> pl.DataFrame:
        """Return one row for each data file.

        Returns
        -------
        polars.DataFrame
            The columns of :data:`~lance_explorer.checks.salvage.SALVAGE`.

        Examples
        --------
        >>> lx.salvage(table.uri).to_polars()["problem"].null_count()
        3
        """
        return SALVAGE.build(
            {
                "path": [file.path for file in self.files],
                "size_bytes": [file.size_bytes for file in self.files],
                "problem": [file.problem for file in self.files],
                "format_version": [file.format_version for file in self.files],
                "num_rows": [file.num_rows for file in self.files],
                "num_deleted": [file.num_deleted for file in self.files],
                "columns": [[name for name, _ in file.columns] for file in self.files],
                "types": [[kind for _, kind in file.columns] for file in self.files],
                "note": [file.note for file in self.files],
            }
        )


@hiding_arguments
def salvage(
    uri: str | os.PathLike[str], storage_options: Mapping[str, str] | None = None
) -> Salvage:
    """Say what is left of a table that does not open: files, rows and columns.

    Parameters
    ----------
    uri : str or os.PathLike
        Path or URI of the folder; in part removed, or without a manifest that can be read.
    storage_options : mapping of str to str, optional
        As :func:`lance_explorer.open_table` takes them.

    Returns
    -------
    Salvage
        Shown as an answer; ``to_polars()`` has a row for each data file, ``code`` copies the rows
        into new tables.

    Raises
    ------
    TableNotFoundError
        If there is no file at all.

    Notes
    -----
    The last bytes of each data file are read, two or three requests, and all transactions. Each
    file since format 2.0 says how many rows and which columns it has.

    Examples
    --------
    >>> left = lx.salvage(table.uri)
    >>> left.to_polars()["num_rows"].sum()
    11
    """
    options = None if storage_options is None else Options(storage_options)
    storage = open_storage(path("uri", uri), options)
    every = sorted(storage.list_all(), key=lambda info: info.name)
    if not every:
        raise TableNotFoundError(f"there is no file at {storage.uri}")
    data, others = list[FileInfo](), dict[str, tuple[int, int]]()
    transactions = list[str]()
    for info in every:
        kind = _kind(info.name)
        if kind == _DATA:
            data.append(info)
            continue
        if kind == _KINDS["_transactions"]:
            transactions.append(info.name)
        count, size = others.get(kind, (0, 0))
        others[kind] = count + 1, size + info.size_bytes
    kept = _NamedInTransactions()
    for content in storage.get_many(transactions):
        if isinstance(content, bytes):
            kept.add(content)
    files = [_read(storage, info) for info in with_progress(data, "Opening files")]
    whole = {_name(file.path) for file in files if file.is_whole}
    files = [kept.of(file, whole) for file in files]
    return Salvage(storage.uri, _why_not(storage), files, others, storage.options)


def _name(path: str) -> str:
    """Return the path of a data file in the form of manifests and transactions."""
    return path.rpartition(f"{_DATA}/")[2]


def _why_not(storage: Storage) -> str | None:
    """Return why a table does not open; None if it does."""
    try:
        view = HistoryView.open(storage.uri, None, storage.options)
        if view.history.records:
            return None
        latest = view.history.unreadable[-1]
    except UnreachableError:
        raise
    except TableNotFoundError as error:
        return str(error).rpartition(": ")[2].partition(";")[0]
    except LanceExplorerError as error:
        return str(error)
    count = counted(len(view.history.unreadable), "manifest")
    return f"none of its {count} can be read; of the latest, {latest.error}"


def _kind(path: str) -> str:
    folders = path.split("/")[:-1]
    for folder in folders:
        if folder == _DATA or folder in _KINDS:
            is_file = folder != _DATA or path.endswith(".lance")
            return (_DATA if folder == _DATA else _KINDS[folder]) if is_file else "other"
        if folder != _BRANCHES and folders[0] != _BRANCHES:
            break
    return "other"


def _read(storage: Storage, info: FileInfo) -> SalvagedFile:
    """Return the content of the end of a data file."""
    name, size = info.name, info.size_bytes
    try:
        end = read_end(storage, name, size)
    except UnreachableError:
        raise
    except FileNotFoundError:
        return SalvagedFile(name, size, "it is gone")
    except (FormatError, StorageError) as error:
        return SalvagedFile(name, size, str(error))
    version = end.footer.major_version, end.footer.minor_version
    named = _FORMATS.get(version, ".".join(map(str, version)))
    return SalvagedFile(name, size, None, named, end.num_rows, end.columns, end.described)


@dataclass(slots=True)
class _NamedInTransactions:
    """What transactions say about data files, by name."""

    deleted: dict[str, tuple[int, int]] = field(default_factory=dict)
    replaced: dict[str, tuple[str, ...]] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)
    overlays: dict[str, str] = field(default_factory=dict)
    overwritten: int = -1

    def add(self, data: bytes) -> None:
        """Collect what a transaction says; a damaged one says nothing."""
        try:
            transaction = decode_transaction(data)
        except FormatError:
            return
        operation, version = transaction.operation, transaction.read_version
        if isinstance(operation, Overwrite):
            self.overwritten = max(self.overwritten, version)
        if isinstance(operation, DataOverlay):
            for changed in operation.groups:
                for overlay in changed.overlays:
                    some = f"some rows of fragment {changed.fragment_id}"
                    self.overlays[overlay.data_file.path] = f"it has new values of {some}"
        for group in operation.groups if isinstance(operation, Rewrite) else ():
            new = tuple([file.path for one in group.new_fragments for file in one.files])
            for one in group.old_fragments:
                self.replaced.update({file.path: new for file in one.all_files})
        for fragment in _fragments_of(operation):
            deletion = fragment.deletion_file
            count = 0 if deletion is None else deletion.num_deleted_rows or 0
            first = fragment.files[0].path if fragment.files else "nothing"
            for file in fragment.files:
                if version >= self.deleted.get(file.path, (0, 0))[0]:
                    self.deleted[file.path] = version, count
                if file.path != first:
                    self.beside[file.path] = f"it has further columns of the rows of {first}"
            for overlay in fragment.overlays:
                self.overlays[overlay.data_file.path] = f"it has new values of some rows of {first}"

    def of(self, file: SalvagedFile, whole: Container[str]) -> SalvagedFile:
        """Return a file with what transactions say about it; ``whole`` are the readable files."""
        name = _name(file.path)
        version, deleted = self.deleted.get(name, (None, None))
        new = self.replaced.get(name)
        is_replaced = new is not None and all(one in whole for one in new)
        is_overlay = name in self.overlays
        note: str | None
        if is_replaced:
            note = f"a compaction wrote its rows into {', '.join(new or ()) or 'no file'}"
        elif version is not None and version < self.overwritten:
            note = "an overwrite came after it: its rows may be of before"
        else:
            note = self.overlays.get(name) or self.beside.get(name)
        return replace(
            file,
            num_deleted=deleted,
            note=note,
            is_replaced=is_replaced,
            is_overlay=is_overlay,
            is_beside=name in self.beside,
        )


def _fragments_of(operation: Operation) -> Iterator[Fragment]:
    """Yield the fragments of an operation, in their state after it."""
    groups = operation.groups if isinstance(operation, Rewrite) else ()
    yield from [fragment for group in groups for fragment in group.new_fragments]
    for name in ("fragments", "updated_fragments", "new_fragments"):
        yield from getattr(operation, name, ())
