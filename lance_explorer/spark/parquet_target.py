"""Writes changes into a folder of Parquet files, which any reader reads as a whole.

Files with a changed key are written again without it, and new rows go into a new file. A list names
the files of the folder, and is replaced atomically. Then unlisted files are removed, and new files
get names that readers see; after a crash, the next writer does that. A folder that has files but no
such list belongs to somebody else.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs
from pyarrow.dataset import dataset

from lance_explorer.arguments import of_kind
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.spark.merge_targets import Batch, Mark

__all__ = ["ParquetTarget"]

_LIST, _NEW = "_merged.json", "_new-"
_OURS = re.compile(rf"({_NEW})?part-[0-9a-f]{{32}}\.parquet")
_SMALL_BYTES = 32 << 20
_MOST_SMALL = 8
"""If there are more small files than this, they become one."""


class ParquetTarget:
    """A folder of Parquet files."""

    def __init__(self, target: Any, _: Any, __: Mapping[str, str]) -> None:
        self.uri = of_kind("target", target, str, "a folder")
        uri = self.uri if "://" in self.uri else Path(self.uri).absolute().as_uri()
        self._fs, self._folder = fs.FileSystem.from_uri(uri)

    def has(self, mark: Mark) -> bool:
        """Return whether the list has the number of a batch, or a later one."""
        content = self._read()
        self._begin(content)
        return int(content["batches"].get(mark.query, -1)) >= mark.number

    def merge(self, batch: Batch, mark: Mark) -> None:
        """Merge a batch: the folder stays as it was until its list is replaced."""
        content = self._read()
        self._begin(content)
        changed = pl.DataFrame(batch.changed)
        kept, written = list[str](), list[str]()
        columns = self._columns(content["files"], batch.puts.schema)
        for name in content["files"]:
            rest = self._without(name, changed, columns)
            if rest is None:
                kept.append(name)
            elif rest.num_rows:
                written.append(self._write(rest, columns))
        if batch.puts.num_rows:
            written.append(self._write(batch.puts, columns))
        files = self._together(kept, written, columns)
        batches = {**content["batches"], mark.query: mark.number}
        self._replace(json.dumps({"files": files, "batches": batches}, indent=1))
        self._tidy(files)

    def _begin(self, content: dict[str, Any]) -> None:
        """Create the folder, or finish what a crashed writer left."""
        self._fs.create_dir(self._folder)
        self._tidy(content["files"])

    def _columns(self, files: list[str], added: pa.Schema) -> pa.Schema:
        """Return the columns of all files, which are the same in each, and the added ones."""
        if not files:
            return added.remove_metadata()
        with self._open(files[0]) as file:
            return pa.unify_schemas([file.schema_arrow, added]).remove_metadata()

    def _without(self, name: str, changed: pl.DataFrame, columns: pa.Schema) -> pa.Table | None:
        """Return the rows of a file without some keys; None if the file can stay as it is."""
        with self._open(name) as file:
            if file.schema_arrow.names == columns.names and not self._may_have(name, changed):
                return None
            there = pl.DataFrame(file.read(columns=changed.columns)).with_row_index("_row")
            rest = there.join(changed, on=changed.columns, how="anti", maintain_order="left")
            if len(rest) == len(there) and file.schema_arrow.names == columns.names:
                return None
            return file.read().take(rest["_row"].to_arrow())

    def _may_have(self, name: str, changed: pl.DataFrame) -> bool:
        """Whether a file has rows between the smallest and the largest of some keys."""
        key = changed.columns[0]
        low, high = changed[key].min(), changed[key].max()
        if not isinstance(low, int | str):
            return True
        field = pc.field(key)
        file = dataset(self._path(name), filesystem=self._fs)
        return bool(file.count_rows(filter=(field >= low) & (field <= high)))

    def _together(self, kept: list[str], written: list[str], columns: pa.Schema) -> list[str]:
        """Return the files, with small ones merged if there are many."""
        names = [*kept, *written]
        small = [name for name in names if self._size(name, written) < _SMALL_BYTES]
        if len(small) <= _MOST_SMALL:
            return names
        tables = []
        for name in small:
            with self._open(name, is_new=name in written) as file:
                tables.append(file.read())
        rows = self._write(pa.concat_tables(tables), columns)
        return [*[name for name in names if name not in small], rows]

    def _size(self, name: str, written: list[str]) -> int:
        path = self._path(name, is_new=name in written)
        return int(self._fs.get_file_info(path).size or 0)

    def _write(self, rows: pa.Table, columns: pa.Schema) -> str:
        """Write a file that readers do not see yet; return its name."""
        rows = pa.concat_tables([columns.empty_table(), rows], promote_options="default")
        name = f"part-{uuid4().hex}.parquet"
        with self._fs.open_output_stream(self._path(name, is_new=True)) as stream:
            pq.write_table(rows, stream, compression="zstd")
        return name

    def _open(self, name: str, *, is_new: bool = False) -> pq.ParquetFile:
        return pq.ParquetFile(self._fs.open_input_file(self._path(name, is_new=is_new)))

    def _read(self) -> dict[str, Any]:
        """Return the list: the files, and the last batch of each query."""
        path = f"{self._folder}/{_LIST}"
        if self._fs.get_file_info(path).type == fs.FileType.NotFound:
            self._check_empty()
            return {"files": [], "batches": {}}
        with self._fs.open_input_stream(path) as stream:
            content: dict[str, Any] = json.loads(stream.read())
        return content

    def _check_empty(self) -> None:
        """Raise InvalidArgumentError if the folder has files that merge_into did not write."""
        files = fs.FileSelector(self._folder, allow_not_found=True)
        for info in self._fs.get_file_info(files):
            if not info.base_name.startswith((_NEW, _LIST)):
                raise InvalidArgumentError(
                    f"{self.uri} has files that were not written by merge_into, such as "
                    f"{info.base_name}: choose another folder"
                )

    def _replace(self, text: str) -> None:
        """Replace the list atomically: a store does so by itself."""
        path = f"{self._folder}/{_LIST}"
        is_local = isinstance(self._fs, fs.LocalFileSystem)
        with self._fs.open_output_stream(f"{path}.new" if is_local else path) as stream:
            stream.write(text.encode())
        if is_local:
            self._fs.move(f"{path}.new", path)

    def _tidy(self, files: list[str]) -> None:
        """Give listed files their names, and remove the other files that merge_into wrote."""
        for name in self._there():
            listed = name.removeprefix(_NEW)
            if listed not in files:
                self._fs.delete_file(f"{self._folder}/{name}")
            elif listed != name:
                self._fs.move(f"{self._folder}/{name}", self._path(listed))

    def _there(self) -> Iterator[str]:
        for info in self._fs.get_file_info(fs.FileSelector(self._folder)):
            if _OURS.fullmatch(info.base_name):
                yield info.base_name

    def _path(self, name: str, *, is_new: bool = False) -> str:
        return f"{self._folder}/{_NEW if is_new else ''}{name}"
