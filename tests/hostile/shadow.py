"""A table that names places outside of itself, and what stands there: copies of its own files.

The copies are whole and valid, but hold a secret where the table has values. So whoever follows a
path out of the table tells the secret, and does not merely fail.
"""

import os
import random
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import lance
import pyarrow as pa
from lance.blob import blob_array
from lance.file import LanceFileReader, LanceFileWriter

from lance_explorer.format._pb import index_pb2, table_pb2, transaction_pb2
from tests.format.samples import DATA
from tests.synthetic.folders import MetadataFolder
from tests.synthetic.manifests import ManifestFile
from tests.synthetic.transactions import encode_transaction
from tests.synthetic.wire import record

__all__ = ["SECRET", "SECRET_NUMBER", "Shadow", "templates", "write_shadow"]

SECRET = "TOPSECRET"
SECRET_NUMBER = 987_654_321

_FRAGMENTS = 2
_FOLDERS = ("data", "_deletions", "_indices", "_refs", "_transactions")
_GOLDEN = ("deferred_remap", "spilled", "shallow_clone", "stable_row_ids")


def templates(folder: Path, secret_file: Path) -> list[Path]:
    """Write tables to be changed: by pylance now, and some that it wrote before."""
    rows = pa.table({"id": range(12), "name": [f"name {number}" for number in range(12)]})
    for name, stable in (("stable", True), ("plain", False)):
        table = lance.write_dataset(
            rows, folder / f"{name}.lance", max_rows_per_file=4, enable_stable_row_ids=stable
        )
        table.delete("id IN (1, 5)")
        table.create_scalar_index("id", "BTREE")
        table.update({"name": "'new'"}, where="id = 9")
        table.tags.create("one", 1)
    blobs = blob_array([b"inside", secret_file.as_uri()])
    lance.write_dataset(
        pa.table({"id": [0, 1], "blob": blobs}),
        folder / "blobs.lance",
        data_storage_version="2.2",
        allow_external_blob_outside_bases=True,
    ).delete("id = 7")
    for name in _GOLDEN:
        shutil.copytree(DATA / "14.0.2" / f"{name}.lance", folder / f"{name}.lance")
    return sorted(folder.iterdir())


def write_shadow(table: Path, outside: Path) -> None:
    """Write the files of a table once more, with secrets for values."""
    for name in _FOLDERS:
        if (table / name).is_dir():
            shutil.copytree(table / name, outside / name, dirs_exist_ok=True)
    for file in (table / "data").glob("*.lance"):
        try:
            rows = LanceFileReader(str(file)).read_all().to_table()
        except ValueError:
            continue  # one with hidden columns stays what it is
        columns = [_secret(column, rows.num_rows) for column in rows.columns]
        with LanceFileWriter(str(outside / "data" / file.name), rows.schema) as writer:
            writer.write_batch(pa.table(columns, schema=rows.schema))
        shutil.copyfile(outside / "data" / file.name, outside / file.name)  # no dataset root


def _secret(column: pa.ChunkedArray, count: int) -> pa.Array | pa.ChunkedArray:
    if pa.types.is_string(column.type):
        return pa.array([SECRET] * count)
    if column.type in (pa.int64(), pa.uint64(), pa.float64()):
        return pa.array([SECRET_NUMBER] * count, column.type)
    return column


@dataclass(frozen=True, slots=True)
class Shadow:
    """Makes tables that lead outside: copies of ``template`` with other paths in them.

    ``outside`` is where they lead to; ``near`` the folder that they are made in.
    """

    template: Path
    outside: Path
    near: Path

    def make(self, name: str, chance: random.Random, places: Iterable[str]) -> Path:
        """Write a table that leads to some places, by base paths, file names and links."""
        path, folder, version, file = self._copied(name)
        message = file.message
        message.ClearField("base_paths")
        for number, place in enumerate(places):
            is_root = chance.random() < 0.7
            message.base_paths.add(id=number, is_dataset_root=is_root, path=place)
        bases = [base.id for base in message.base_paths]
        names = [*places, f"../../{self.outside.name}/secret.txt", f"{self.outside}/secret.txt"]
        fragments = table_pb2.ManifestEnvelope.FromString(file.fragments).fragments
        changed = [self._fragment(data, chance, bases, names) for data in fragments]
        section = index_pb2.IndexSection.FromString(file.index_section or b"")
        for index in section.indices:
            if chance.random() < 0.4:
                index.base_id = chance.choice(bases)
            if index.name == "__lance_frag_reuse" and chance.random() < 0.7:
                reuse = index_pb2.FragmentReuseDetails(
                    external=table_pb2.ExternalFile(path=chance.choice(names), size=20)
                )
                index.index_details.value = reuse.SerializeToString()
        transaction = file.transaction
        match chance.randrange(4):
            case 0:
                transaction, message.transaction_file = None, chance.choice(names)
            case 1:
                clone = transaction_pb2.Clone(
                    is_shallow=True, ref_version=1, ref_path=chance.choice(names)
                )
                transaction = encode_transaction("clone", clone, version - 1, "0" * 32, None)
        folder.write(
            version,
            replace(
                file,
                message=message,
                fragments=b"".join([record(_FRAGMENTS, data) for data in changed]),
                index_section=section.SerializeToString() if section.indices else None,
                transaction=transaction,
            ),
        )
        if chance.random() < 0.4:
            self._link(path, chance)
        return path

    def lead_out(self, name: str) -> Path:
        """Write a table whose data files, as they are, are all outside."""
        path, folder, version, file = self._copied(name)
        file.message.base_paths.add(id=0, is_dataset_root=True, path=str(self.outside))
        fragments = table_pb2.ManifestEnvelope.FromString(file.fragments).fragments
        messages = [table_pb2.DataFragment.FromString(data) for data in fragments]
        for message in messages:
            for data_file in message.files:
                data_file.base_id = 0
                data_file.ClearField("file_size_bytes")  # secrets may take less
        changed = [record(_FRAGMENTS, message.SerializeToString()) for message in messages]
        folder.write(version, replace(file, fragments=b"".join(changed)))
        return path

    def _copied(self, name: str) -> tuple[Path, MetadataFolder, int, ManifestFile]:
        """Return a copy of the template without its latest manifest, and what that says."""
        path = self.near / name
        shutil.copytree(self.template, path, copy_function=os.link)
        version = lance.dataset(path).version
        folder = MetadataFolder(path)
        file = folder.read(version)
        folder.manifest_path(version).unlink()  # which the template has, too
        return path, folder, version, file

    def _fragment(
        self, data: bytes, chance: random.Random, bases: list[int], names: list[str]
    ) -> bytes:
        message = table_pb2.DataFragment.FromString(data)
        for file in message.files:
            match chance.randrange(4):
                case 0:
                    file.base_id = chance.choice(bases)
                case 1 if chance.random() < 0.3:
                    file.path = chance.choice(names)
        if message.HasField("deletion_file") and chance.random() < 0.5:
            message.deletion_file.base_id = chance.choice(bases)
            if chance.random() < 0.5:
                message.deletion_file.ClearField("num_deleted_rows")
        if message.WhichOneof("row_ids") and chance.random() < 0.2:
            outer = message.external_row_ids
            outer.path, outer.offset, outer.size = chance.choice(names), 0, 10
        return message.SerializeToString()

    def _link(self, table: Path, chance: random.Random) -> None:
        """Replace a file or a folder of a table by a link to that outside, there or not."""
        there = [place for place in table.rglob("*") if place.parent != table or place.is_dir()]
        place = chance.choice(sorted(there))
        target = self.outside / place.relative_to(table)
        shutil.rmtree(place) if place.is_dir() else place.unlink()
        place.symlink_to(target)
