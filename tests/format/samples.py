"""Tables that the installed pylance writes, the bytes in their metadata, and damaged bytes."""

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import lance
import pyarrow as pa
from hypothesis import strategies as st
from lance.file import LanceFileWriter

from lance_explorer.format._pb import table_pb2
from lance_explorer.format.indices import IndexMetadata, decode_index_section

# Read once by the writer, before its first overlay.
os.environ["LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES"] = "1"

DATA = Path(__file__).parent.parent / "data"


def stored_tables() -> list[Path]:
    """Return the tables of former and present writers that are stored with the tests."""
    return sorted(DATA.glob("*/*.lance"))


def covering_tables() -> list[Path]:
    """Return each scenario once, by its latest writer, and the life cycles of every writer.

    What holds for any table is tested with these; all stored tables are compared with pylance in
    ``tests/differential``.
    """
    latest = {table.name: table for table in sorted(stored_tables(), key=_writer)}
    of_every_writer = {"life_cycle.lance", "stable_row_ids.lance", "cleaned.lance"}
    return [
        table
        for table in stored_tables()
        if table.name in of_every_writer or latest[table.name] == table
    ]


def _writer(table: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in table.parent.name.split("."))


def manifest_files(table: Path) -> Iterator[bytes]:
    """Yield the manifest files of a table and of its branches."""
    for path in sorted(table.rglob("_versions/*.manifest")):
        yield path.read_bytes()


def manifest_of(table: Path, version: int | None = None) -> bytes:
    """Return the manifest file of a version of the main branch, by default of the latest."""
    wanted = version or lance.dataset(table).version
    for path in table.glob("_versions/*.manifest"):
        file = path.read_bytes()
        if read_manifest(file).version == wanted:
            return file
    raise LookupError(wanted)


def read_manifest(file: bytes) -> table_pb2.ManifestEnvelope:
    """Return the message of a manifest file."""
    start, _, _, magic = struct.unpack("<QHH4s", file[-16:])
    assert magic == b"LANC"
    return table_pb2.ManifestEnvelope.FromString(read_section(file, start))


def read_section(file: bytes, offset: int) -> bytes:
    """Return what stands behind the length at an offset."""
    (length,) = struct.unpack_from("<I", file, offset)
    return file[offset + 4 : offset + 4 + length]


def inline_transaction(file: bytes) -> bytes | None:
    """Return the transaction in a manifest file, None if its writer did not put it there."""
    manifest = read_manifest(file)
    for name in ("transaction_section", "transaction_section_until_13"):
        if manifest.HasField(name):
            return read_section(file, getattr(manifest, name))
    return None


def index_section(file: bytes) -> bytes | None:
    """Return the index section of a manifest file, None if it has none."""
    manifest = read_manifest(file)
    if not manifest.HasField("index_section"):
        return None
    return read_section(file, manifest.index_section)


def indices_of(table: Path, version: int | None = None) -> list[IndexMetadata]:
    """Return the indices of a version of the main branch."""
    return list(decode_index_section(index_section(manifest_of(table, version)) or b""))


def transaction_files(table: Path) -> Iterator[bytes]:
    """Yield the transaction files of a table and of its branches."""
    for path in sorted(table.rglob("_transactions/*.txn")):
        yield path.read_bytes()


def rows(start: int, stop: int, *, shift: float = 0.0) -> pa.Table:
    """Make rows with ids start..stop."""
    ids = range(start, stop)
    vectors = pa.array([float(n % 7) for n in ids for _ in range(4)], pa.float32())
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "kind": pa.array([f"kind {n % 5}" for n in ids]),
            "score": pa.array([n / 2 + shift for n in ids]),
            "vector": pa.FixedSizeListArray.from_arrays(vectors, 4),
        }
    )


def write(data: pa.Table, path: Path, mode: str = "append", **options: Any) -> lance.LanceDataset:
    """Write fragments of at most 20 rows."""
    return lance.write_dataset(data, path, mode=mode, max_rows_per_file=20, **options)


def write_life_cycle(path: Path, *, stable_row_ids: bool) -> Path:
    """Make a table and do to it, one after the other, all that people do to tables."""
    table = write(rows(0, 60), path, "create", enable_stable_row_ids=stable_row_ids)
    table = write(rows(60, 90), path)
    table.delete("id IN (3, 4, 25)")
    table.delete("id >= 40 AND id < 60")
    table.update({"score": "score + 100"}, where="id IN (2, 9)")
    merge = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(rows(88, 94, shift=1000.0))
    table = lance.dataset(path)
    table.create_scalar_index("id", "BTREE")
    table.create_scalar_index("kind", "BITMAP")
    table.create_index("vector", "IVF_FLAT", num_partitions=1)
    table.optimize.compact_files()
    write(rows(100, 110), path)
    table = lance.dataset(path)
    table.optimize.optimize_indices(num_indices_to_merge=0)
    table.drop_index("kind_idx")
    table.add_columns({"half": "score / 2"})
    replace_half(path)
    lay_over(path)
    table = lance.dataset(path)
    table.drop_columns(["half"])
    table.update_config({"owner": "tests", "colour": "blue"})
    table.update_config({"owner": None})
    table.update_metadata({"team": "tests"})
    table.update_schema_metadata({"reviewed": "yes"}, replace=True)
    table.update_field_metadata({"kind": {"comment": "free text"}})
    table.add_bases([lance.DatasetBasePath(str(path.parent / "base"), name="spare")])
    before = table.version
    write(rows(200, 230), path, "overwrite")
    lance.dataset(path, version=before).restore()
    if stable_row_ids:
        change_scores(path)
    append = lance.LanceOperation.Append(lance.fragment.write_fragments(rows(300, 310), str(path)))
    version = lance.dataset(path).version
    lance.LanceDataset.commit(path, append, read_version=version, commit_message="the last rows")
    branch = lance.dataset(path).create_branch("dev")
    branch.delete("id = 300")
    return path


def change_scores(path: Path) -> None:
    """Change two cells of one fragment in place."""
    table = lance.dataset(path)
    fragment = table.get_fragments()[-1]
    ids = fragment.to_table(columns=["id"]).column("id").slice(1, 2)
    changes = pa.table({"id": ids, "score": [-4.0, -5.0]})
    updated, fields, offsets = fragment.update_columns(
        changes, left_on="id", right_on="id", with_offsets=True
    )
    operation = lance.LanceOperation.Update(
        updated_fragments=[updated],
        fields_modified=fields,
        update_mode="rewrite_columns",
        updated_fragment_offsets={fragment.fragment_id: offsets},
    )
    lance.LanceDataset.commit(path, operation, read_version=table.version)


def replace_half(path: Path) -> None:
    """Replace a column of one fragment."""
    table = lance.dataset(path)
    fragment = table.get_fragments()[-1]
    file = write_columns(path, half=[-1.0] * fragment.physical_rows)
    group = lance.LanceOperation.DataReplacementGroup(fragment.fragment_id, file)
    operation = lance.LanceOperation.DataReplacement([group])
    lance.LanceDataset.commit(path, operation, read_version=table.version)


def lay_over(path: Path) -> None:
    """Commit an overlay over two cells of one fragment."""
    table = lance.dataset(path)
    fragment_id = table.get_fragments()[-1].fragment_id
    file = write_columns(path, score=[-2.0, -3.0])
    overlay = lance.LanceOperation.DataOverlayFile(file, [1, 4])
    group = lance.LanceOperation.DataOverlayGroup(fragment_id, [overlay])
    operation = lance.LanceOperation.DataOverlay([group])
    lance.LanceDataset.commit(path, operation, read_version=table.version)


def write_columns(path: Path, **columns: list[float]) -> lance.fragment.DataFile:
    """Write columns of a table into a new data file and describe that file."""
    table: Any = lance.dataset(path)
    major, minor = table.data_storage_version.split(".")
    file = path / "data" / f"{uuid4().hex}.lance"
    data = pa.table(columns)
    with LanceFileWriter(str(file), data.schema, version=f"{major}.{minor}") as writer:
        writer.write_batch(data)
    return lance.fragment.DataFile(
        file.name,
        fields=[table.lance_schema.field(name).id() for name in columns],
        column_indices=list(range(len(columns))),
        file_major_version=int(major),
        file_minor_version=int(minor),
        file_size_bytes=file.stat().st_size,
    )


@st.composite
def damaged(draw: st.DrawFn, samples: list[bytes]) -> bytes:
    """Draw one of some files with bytes changed, lost, or replaced by those of another."""
    data = bytearray(draw(st.sampled_from(samples)))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(["change", "truncate", "lose", "splice"])):
            case "change":
                data[start : start + 1] = bytes([draw(st.integers(0, 255))])
            case "truncate":
                del data[start:]
            case "lose":
                del data[start : start + draw(st.integers(1, 16))]
            case "splice":
                other = draw(st.sampled_from(samples))
                begin = draw(st.integers(0, len(other)))
                piece = other[begin : begin + draw(st.integers(1, 64))]
                data[start : start + len(piece)] = piece
    return bytes(data)
