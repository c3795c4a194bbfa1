"""Write small Lance tables with the release of pylance that runs this script.

    python datagen.py OUT_FOLDER [SCENARIO ...]

Each scenario is one function and becomes ``OUT_FOLDER/<scenario>.lance``; without names all are
written that the running release can write. What a release can do is found by looking at its classes
and signatures, so that one script serves every release from 0.10 on. README.md says what the tables
show.

The script works inside OUT_FOLDER and opens its tables by relative paths, because Lance stores the
path of the parent of a branch or clone as the writer spelled it.
"""

import argparse
import contextlib
import inspect
import os
import shutil
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
from lance.dataset import DatasetOptimizer

# Any, because their signatures differ from release to release.
LanceDataset: Any = lance.LanceDataset
LanceFragment: Any = lance.LanceFragment
LanceOperation: Any = lance.LanceOperation

ROWS_PER_FRAGMENT = 6

Scenario = Callable[[str], None]  # takes the path of the table that it writes

SCENARIOS: dict[str, Scenario] = {}


def accepts(function: Callable[..., Any], parameter: str) -> bool:
    """Tell whether a function of the running release has a parameter."""
    return parameter in inspect.signature(function).parameters


STABLE_ROW_IDS = {
    name: True
    for name in ("enable_stable_row_ids", "enable_move_stable_row_ids")
    if accepts(lance.write_dataset, name)
}
HAS_TAGS = hasattr(LanceDataset, "tags")
HAS_CONFIG = hasattr(LanceDataset, "update_config")
HAS_BRANCHES = hasattr(LanceDataset, "create_branch")
HAS_TABLE_METADATA = hasattr(LanceDataset, "update_metadata")
HAS_SELECTABLE_NAMES = accepts(lance.write_dataset, "enable_v2_manifest_paths")
HAS_DEFERRED_REMAP = accepts(DatasetOptimizer.compact_files, "defer_index_remap")
HAS_UPDATE_COLUMNS = hasattr(LanceFragment, "update_columns")
UPDATE_COLUMNS_GIVES_OFFSETS = HAS_UPDATE_COLUMNS and accepts(
    LanceFragment.update_columns, "with_offsets"
)
HAS_OVERLAYS = hasattr(LanceOperation, "DataOverlay")
# Releases that know 2.2 write every column below in every format; some older ones panic.
HAS_FORMAT_2_2 = "'2.2'" in str(inspect.signature(lance.write_dataset))
HAS_MEM_WAL = hasattr(LanceDataset, "mem_wal_writer")
HAS_MINHASH_INDEX = "MINHASHLSH" in (inspect.getdoc(LanceDataset.create_scalar_index) or "")
# Nothing in the Python API tells this one: it is switched on by the configuration of a table.
HAS_SPILLED_LINEAGE = int(lance.__version__.partition(".")[0]) >= 14


def scenario(*, possible: bool = True) -> Callable[[Scenario], Scenario]:
    """Register a scenario, unless the running release cannot write it."""

    def register(function: Scenario) -> Scenario:
        if possible:
            SCENARIOS[function.__name__] = function
        return function

    return register


def rows(start: int, stop: int, *, shift: float = 0.0) -> pa.Table:
    """Make rows with ids start..stop; shift changes the scores and nothing else."""
    return rows_of(range(start, stop), shift=shift)


def rows_of(ids: range | list[int], *, shift: float = 0.0) -> pa.Table:
    """Make one row for each id."""
    coordinates = pa.array([float(part) for id_ in ids for part in (id_, -id_)], pa.float32())
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "name": pa.array([f"name {id_}" for id_ in ids], pa.string()),
            "score": pa.array([id_ / 2 + shift for id_ in ids], pa.float64()),
            "point": pa.FixedSizeListArray.from_arrays(coordinates, 2),
        }
    )


def write(data: pa.Table, target: Any, mode: str = "append", **options: Any) -> Any:
    """Write data in fragments of a few rows."""
    options.setdefault("max_rows_per_file", ROWS_PER_FRAGMENT)
    options.setdefault("max_rows_per_group", ROWS_PER_FRAGMENT)
    return lance.write_dataset(data, target, mode=mode, **options)


def latest(path: str) -> Any:
    """Open the latest version: every commit below starts from here."""
    return lance.dataset(path)


def upsert(table: Any, data: pa.Table) -> None:
    """Update the rows whose id is known, insert the others."""
    merge = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(data)


def add_tag(path: str, name: str, version: int) -> None:
    """Tag a version of the main branch, if the release has tags."""
    if HAS_TAGS:
        latest(path).tags.create(name, version)


def add_vector_index(path: str) -> None:
    """Index the points, if the release has an index type that a few rows suffice for."""
    with contextlib.suppress(NotImplementedError):
        latest(path).create_index("point", "IVF_FLAT", num_partitions=1)


def write_life_cycle(path: str, **options: Any) -> None:
    """Do once what people do with a table, as far as the release can."""
    write(rows(0, 12), path, "create", **options)
    write(rows(12, 18), path)
    latest(path).delete("id IN (1, 4, 8)")
    latest(path).update({"score": "score + 100"}, where="id IN (2, 9)")
    upsert(latest(path), rows_of([10, 19, 5, 18], shift=200.0))
    latest(path).add_columns({"half": "score / 2"})
    latest(path).drop_columns(["half"])
    latest(path).create_scalar_index("id", "BTREE")
    add_vector_index(path)
    latest(path).optimize.compact_files()
    write(rows(20, 24), path)
    latest(path).delete("id >= 20")
    before_overwrite = latest(path).version
    write(rows(100, 110), path, "overwrite")
    write(rows(110, 114), path)
    lance.dataset(path, version=before_overwrite).restore()
    if HAS_CONFIG:
        latest(path).update_config({"owner": "tests"})
    add_tag(path, "first", 1)
    add_tag(path, "before-overwrite", before_overwrite)


@scenario()
def life_cycle(path: str) -> None:
    """Every ordinary operation once, on a table without stable row IDs."""
    write_life_cycle(path)


@scenario(possible=bool(STABLE_ROW_IDS))
def stable_row_ids(path: str) -> None:
    """The life cycle with stable row IDs, then the merges that only insert or also delete."""
    write_life_cycle(path, **STABLE_ROW_IDS)
    insert_only = latest(path).merge_insert("id").when_not_matched_insert_all()
    insert_only.execute(rows(16, 26, shift=300.0))
    delete_by_source = (
        latest(path)
        .merge_insert("id")
        .when_matched_update_all()
        .when_not_matched_insert_all()
        .when_not_matched_by_source_delete("id < 7")
    )
    delete_by_source.execute(rows_of([3, 22, 30], shift=400.0))
    some_columns = rows_of([11, 23], shift=500.0).select(["id", "score"])
    latest(path).merge_insert("id").when_matched_update_all().execute(some_columns)
    latest(path).optimize.compact_files()
    latest(path).update({"name": "'renamed'"}, where="id IN (12, 24)")
    latest(path).drop_columns(["point"])


def write_cleaned(path: str, **options: Any) -> None:
    """Keep a tagged version and the latest of eight, then go on."""
    write(rows(0, 12), path, "create", **options)
    write(rows(12, 18), path)
    add_tag(path, "baseline", 2)
    latest(path).delete("id IN (3, 13)")
    latest(path).update({"score": "score + 100"}, where="id IN (4, 14)")
    latest(path).optimize.compact_files()
    write(rows(18, 24), path)
    upsert(latest(path), rows_of([20, 5, 24], shift=200.0))
    cleanup = latest(path).cleanup_old_versions
    keep_tags = accepts(cleanup, "error_if_tagged_old_versions")
    cleanup(timedelta(0), **({"error_if_tagged_old_versions": False} if keep_tags else {}))
    write(rows(25, 28), path)
    latest(path).delete("id = 6")


@scenario()
def cleaned(path: str) -> None:
    """Versions cleaned away in front of a tag and behind it, no stable row IDs."""
    write_cleaned(path)


@scenario(possible=bool(STABLE_ROW_IDS))
def cleaned_stable_row_ids(path: str) -> None:
    """The same with stable row IDs."""
    write_cleaned(path, **STABLE_ROW_IDS)


@scenario(possible=HAS_BRANCHES)
def branches(path: str) -> None:
    """Two branches of main and a branch of a branch, commits on each, a tag on a branch."""
    main = write(rows(0, 12), path, "create", **STABLE_ROW_IDS)
    main = write(rows(12, 18), path)
    main.delete("id = 0")
    dev = main.create_branch("dev")
    dev = write(rows(100, 104), dev)
    dev.update({"score": "score + 100"}, where="id IN (2, 101)")
    deep = dev.create_branch("dev/deep")
    deep.delete("id IN (3, 102)")
    upsert(deep, rows_of([4, 200], shift=200.0))
    dev.delete("id = 1")
    main.create_branch("early", 2).delete("id = 12")
    write(rows(18, 22), path)
    latest(path).update({"score": "score + 300"}, where="id IN (2, 20)")
    if accepts(main.tags.create, "branch"):
        main.tags.create("dev-updated", dev.version, "dev")
    else:
        main.tags.create("dev-updated", ("dev", dev.version))
    main.tags.create("base", 1)


@scenario(possible=HAS_DEFERRED_REMAP)
def deferred_remap(path: str) -> None:
    """Two compactions that leave the indices behind: a fragment reuse index of two entries."""
    write(rows(0, 12), path, "create")
    latest(path).create_scalar_index("id", "BTREE")
    write(rows(12, 24), path)
    latest(path).create_scalar_index("name", "BITMAP")
    latest(path).delete("id IN (2, 3, 14)")
    latest(path).optimize.compact_files(defer_index_remap=True)
    latest(path).delete("id IN (5, 20)")
    latest(path).update({"score": "score + 100"}, where="id = 7")
    latest(path).optimize.compact_files(defer_index_remap=True)
    write(rows(24, 27), path)


@scenario(possible=HAS_DEFERRED_REMAP)
def rewritten_indices(path: str) -> None:
    """A compaction that rewrites indices of several types; later segments; a dropped index."""
    write(rows(0, 24), path, "create")
    for column, index_type in (("id", "BTREE"), ("name", "BITMAP"), ("score", "ZONEMAP")):
        latest(path).create_scalar_index(column, index_type)
    add_vector_index(path)
    latest(path).delete("id IN (2, 14)")
    latest(path).optimize.compact_files()
    write(rows(24, 30), path)
    latest(path).optimize.optimize_indices(num_indices_to_merge=0)
    latest(path).drop_index("name_idx")


def nested_rows(start: int, stop: int) -> pa.Table:
    """Make rows with nested columns, field metadata and a primary key."""
    schema = pa.schema(
        [
            pa.field(
                "id",
                pa.int32(),
                nullable=False,
                metadata={"lance-schema:unenforced-primary-key": "true"},
            ),
            pa.field("text", pa.string(), metadata={"lance-encoding:compression": "zstd"}),
            pa.field("place", pa.struct([("x", pa.float32()), ("tags", pa.list_(pa.string()))])),
            pa.field("parts", pa.list_(pa.struct([("n", pa.int16())]))),
        ],
        metadata={"made by": "datagen"},
    )
    records = [
        {
            "id": n,
            "text": f"text {n}",
            "place": {"x": n / 4, "tags": [f"t{n % 3}", "t"]},
            "parts": [{"n": part} for part in range(n % 3)],
        }
        for n in range(start, stop)
    ]
    return pa.Table.from_pylist(records, schema=schema)


@scenario(possible=HAS_TABLE_METADATA)
def schema_changes(path: str) -> None:
    """Nested columns; columns added, cast, renamed and dropped; metadata; a primary-key upsert."""
    write(nested_rows(0, 8), path, "create", **STABLE_ROW_IDS)
    latest(path).add_columns(pa.field("note", pa.string()))
    latest(path).add_columns({"double": "id * 2"})
    latest(path).alter_columns({"path": "double", "data_type": pa.int64()})
    latest(path).alter_columns({"path": "text", "name": "body"})
    latest(path).alter_columns({"path": "double", "nullable": True})
    latest(path).drop_columns(["double"])
    latest(path).add_columns(pa.field("reused", pa.bool_()))
    latest(path).alter_columns({"path": "place.x", "name": "longitude"})
    latest(path).update_schema_metadata({"reviewed": "yes"})
    latest(path).update_field_metadata({"body": {"comment": "free text"}})
    latest(path).update_metadata({"team": "tests"})
    latest(path).drop_columns(["note", "reused"])
    table = latest(path)
    upsert(table, nested_rows(7, 9).rename_columns(table.schema.names).cast(table.schema))


@scenario(possible=HAS_TABLE_METADATA)
def detached(path: str) -> None:
    """A detached commit, another on top of it, a tag on the first, and its restore into main."""
    main = write(rows(0, 6), path, "create", enable_v2_manifest_paths=True, **STABLE_ROW_IDS)
    aside = append_detached(main, rows(100, 103))
    append_detached(aside, rows(103, 105))
    write(rows(6, 9), path)
    latest(path).tags.create("experiment", aside.version)
    aside.restore()
    write(rows(9, 11), path)


def append_detached(table: Any, data: pa.Table) -> Any:
    """Append to a version without putting the result in the list of versions."""
    operation = LanceOperation.Append(lance.fragment.write_fragments(data, table.uri))
    return LanceDataset.commit(table, operation, read_version=table.version, detached=True)


@scenario(possible=HAS_SPILLED_LINEAGE)
def spilled(path: str) -> None:
    """Row lineage moved from the manifest into hidden columns of the data files."""
    write(rows(0, 12), path, "create", **STABLE_ROW_IDS)
    settings = {"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "16"}
    latest(path).update_config(settings)
    latest(path).update({"score": "score + 100"}, where="id IN (1, 2, 5, 9)")
    upsert(latest(path), rows_of([9, 30, 3, 0, 31], shift=200.0))
    latest(path).delete("id = 5")
    latest(path).optimize.compact_files()
    write(rows(12, 15), path)


@scenario(possible=HAS_BRANCHES)
def shallow_clone(path: str) -> None:
    """A clone of version 2 of the table beside it, with commits of its own."""
    source_path = "shallow_clone_source.lance"
    write(rows(0, 12), source_path, "create", **STABLE_ROW_IDS)
    source = latest(source_path)
    source.delete("id IN (1, 7)")
    write(rows(12, 15), source_path)
    source.shallow_clone(path, 2)
    write(rows(50, 53), path)
    latest(path).delete("id IN (2, 51)")


def write_columns(path: str, **columns: list[Any]) -> Any:
    """Write columns into a new data file of the table and describe that file."""
    from lance.file import LanceFileWriter  # not in the oldest releases

    table = latest(path)
    major, minor = table.data_storage_version.split(".")
    file = Path(path, "data", f"{uuid.uuid4().hex}.lance")
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


@scenario(possible=HAS_UPDATE_COLUMNS)
def data_replacement(path: str) -> None:
    """A column of one fragment replaced: one with a file of its own, one that shares its file."""
    write(rows(0, 12), path, "create", **STABLE_ROW_IDS)
    latest(path).add_columns({"half": "score / 2"})
    replace_column(path, "half", [-1.0] * ROWS_PER_FRAGMENT)
    latest(path).delete("id = 2")
    replace_column(path, "half", [-2.0] * ROWS_PER_FRAGMENT)
    if HAS_OVERLAYS:  # before them a column could not be taken out of a file that it shares
        replace_column(path, "score", [-3.0] * ROWS_PER_FRAGMENT)


def replace_column(path: str, name: str, values: list[float]) -> None:
    """Replace one column of fragment 0, deleted rows included."""
    group = LanceOperation.DataReplacementGroup(0, write_columns(path, **{name: values}))
    operation = LanceOperation.DataReplacement([group])
    LanceDataset.commit(path, operation, read_version=latest(path).version)


@scenario(possible=HAS_OVERLAYS)
def data_overlay(path: str) -> None:
    """Cells replaced by overlays: two dense ones, folded by a compaction, and a sparse one."""
    os.environ["LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES"] = "1"
    write(rows(0, 12), path, "create", **STABLE_ROW_IDS)
    lay_over(path, [1, 4], score=[1001.0, 1004.0])
    lay_over(path, [4, 5], score=[2004.0, 2005.0])
    latest(path).delete("id = 1")
    latest(path).optimize.compact_files()
    lay_over(path, [[0, 10], [2, 3]], score=[3000.0, 3010.0], name=["two", "three"])


def lay_over(path: str, offsets: list[Any], **columns: list[Any]) -> None:
    """Commit an overlay at physical offsets of the first fragment."""
    fragment_id = latest(path).get_fragments()[0].fragment_id
    overlay = LanceOperation.DataOverlayFile(write_columns(path, **columns), offsets)
    group = LanceOperation.DataOverlayGroup(fragment_id, [overlay])
    operation = LanceOperation.DataOverlay([group])
    LanceDataset.commit(path, operation, read_version=latest(path).version)


@scenario(possible=HAS_UPDATE_COLUMNS)
def update_columns(path: str) -> None:
    """Values changed in place by Update commits that say nothing of rows, and by one that does."""
    write(rows(0, 12), path, "create", **STABLE_ROW_IDS)
    change_scores(path, [7, 9])
    latest(path).delete("id = 8")
    change_scores(path, [10])
    if UPDATE_COLUMNS_GIVES_OFFSETS:
        change_scores(path, [6, 11], with_offsets=True)


def change_scores(path: str, ids: list[int], **options: Any) -> None:
    """Rewrite the score column of fragment 1 in place."""
    table = latest(path)
    data = rows_of(ids, shift=1000.0).select(["id", "score"])
    fragment, fields, *offsets = table.get_fragment(1).update_columns(data, "id", **options)
    operation = LanceOperation.Update(
        updated_fragments=[fragment],
        fields_modified=fields,
        update_mode="rewrite_columns",
        **({"updated_fragment_offsets": {1: offsets[0]}} if offsets else {}),
    )
    LanceDataset.commit(path, operation, read_version=table.version)


@scenario()
def bitmap_deletions(path: str) -> None:
    """Thousands of scattered deletions in one fragment, few in another, then a compaction."""
    numbers = pa.table({"n": pa.array(range(6000), pa.int32())})
    write(numbers, path, "create", max_rows_per_file=6000, **STABLE_ROW_IDS)
    write(pa.table({"n": pa.array(range(6000, 6200), pa.int32())}), path, max_rows_per_file=200)
    latest(path).delete("n < 6000 AND n % 1000 = 7")
    latest(path).delete("n < 6000 AND n % 8 <> 0")
    latest(path).delete("n = 6100")
    latest(path).optimize.compact_files(materialize_deletions_threshold=0.0)


@scenario()
def empty(path: str) -> None:
    """Created without rows, filled, and emptied again."""
    write(rows(0, 0), path, "create", **STABLE_ROW_IDS)
    write(rows(0, 4), path)
    latest(path).delete("true")


@scenario()
def one_version(path: str) -> None:
    """A table that was written once."""
    write(rows(0, 12), path, "create")


def write_eleven_versions(path: str, **options: Any) -> None:
    """Write enough versions for their decimal numbers to have different lengths."""
    write(rows(0, 2), path, "create", **options)
    for id_ in range(2, 12):
        write(rows(id_, id_ + 1), path)


@scenario(possible=HAS_MEM_WAL)
def mem_wal(path: str) -> None:
    """A write-ahead log: a generation that was merged, one that was not, and rows in the log."""
    key = pa.field(
        "id", pa.int64(), False, metadata={"lance-schema:unenforced-primary-key": "true"}
    )
    schema = pa.schema([key, pa.field("name", pa.string())])

    def some(start: int, stop: int) -> pa.Table:
        names = [f"name {number}" for number in range(start, stop)]
        return pa.table({"id": range(start, stop), "name": names}, schema=schema)

    table = lance.write_dataset(some(0, 12), path)
    table.initialize_mem_wal(unsharded=True)
    shard = str(uuid.UUID(int=1))
    with table.mem_wal_writer(shard) as writer:
        writer.put(some(10, 14))
    builder = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    builder.mark_sstables_as_compacted([lance.mem_wal.CompactedSsTable(shard, 1)])
    builder.execute(some(10, 14))
    with table.mem_wal_writer(shard) as writer:
        writer.put(some(14, 19))
        writer.delete(pa.table({"id": pa.array([3], pa.int64())}))
    other = table.mem_wal_writer(str(uuid.UUID(int=2)))
    other.put(some(100, 107))
    copy = f"{path}.copy"
    shutil.copytree(path, copy)  # closing the writer would empty its log
    other.close()
    shutil.rmtree(path)
    Path(copy).rename(path)


@scenario(possible=HAS_MINHASH_INDEX)
def index_types(path: str) -> None:
    """An index of each type, some of them in two segments, over updated and deleted rows."""
    from lance.indices import IndexConfig

    count = 40
    point = pa.struct([("x", pa.float64()), ("y", pa.float64())])
    numbers = range(count)
    vectors = [float(number % 7) for number in range(count * 8)]
    data = pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "kind": [f"k{number % 4}" for number in numbers],
            "tags": [[f"t{number % 3}", f"u{number % 2}"] for number in numbers],
            "words": [f"word{number % 5} and more" for number in numbers],
            "document": pa.array([f'{{"x": {number}}}' for number in numbers], pa.json_()),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors, pa.float32()), 8),
        }
    )
    places = pa.array([{"x": float(number), "y": 1.0} for number in numbers], point)
    place = pa.field("place", point, metadata={"ARROW:extension:name": "geoarrow.point"})
    data = data.append_column(place, places)
    table = lance.write_dataset(data.slice(0, 30), path, max_rows_per_file=10)
    scalar: tuple[tuple[str, Any], ...] = (
        ("id", "BTREE"),
        ("kind", "BITMAP"),
        ("tags", "LABEL_LIST"),
        ("words", "INVERTED"),
        ("words", "NGRAM"),
        ("id", "ZONEMAP"),
        ("id", IndexConfig("bloomfilter", {"number_of_items": 64, "probability": 0.01})),
        ("words", "MINHASHLSH"),
        ("place", "RTREE"),
        ("words", IndexConfig("fm", {})),
        ("document", IndexConfig("json", {"target_index_type": "btree", "path": "x"})),
    )
    for column, kind in scalar:
        name = kind if isinstance(kind, str) else kind.index_type
        table.create_scalar_index(column, kind, name=f"{column}_{name.lower()}")
    for kind in ("IVF_FLAT", "IVF_SQ", "IVF_RQ", "IVF_HNSW_FLAT"):
        table.create_index("vector", kind, name=kind.lower(), num_partitions=1)
    lance.write_dataset(data.slice(30), path, mode="append")
    table = lance.dataset(path)
    table.optimize.optimize_indices(num_indices_to_merge=0, index_names=["id_btree", "kind_bitmap"])
    table = lance.dataset(path)
    table.delete("id in (3, 33)")
    table.update({"kind": "'k9'"}, where="id = 5")


@scenario(possible=HAS_SELECTABLE_NAMES)
def v1_names(path: str) -> None:
    """Eleven manifests named by the version: 10 sorts before 9."""
    write_eleven_versions(path, enable_v2_manifest_paths=False)


@scenario(possible=HAS_SELECTABLE_NAMES)
def v2_names(path: str) -> None:
    """Eleven manifests named by the distance from 2^64 - 1."""
    write_eleven_versions(path, enable_v2_manifest_paths=True)


def write_in_format(path: str, version: str) -> None:
    """Write many kinds of columns, an index, a deletion and an update in one data format."""
    colours = pa.array(["red", "green", None] * 4).dictionary_encode()
    parts = pa.array([[n, None] for n in range(12)], pa.list_(pa.int16()))
    places = pa.array([{"x": n, "y": {"z": str(n)}} for n in range(12)])
    times = pa.array(range(12), pa.timestamp("us", "UTC"))
    table = rows(0, 12)
    for name, column in (("colour", colours), ("parts", parts), ("place", places), ("at", times)):
        table = table.append_column(name, column)
    write(table, path, "create", data_storage_version=version)
    latest(path).create_scalar_index("id", "BTREE")
    latest(path).delete("id IN (1, 7)")
    latest(path).update({"score": "0.5"}, where="id = 3")
    write(table.slice(0, 3), path)
    latest(path).optimize.compact_files()


@scenario(possible=HAS_FORMAT_2_2)
def format_legacy(path: str) -> None:
    """Data format 0.1: dictionary values stand in front of the manifest."""
    write_in_format(path, "legacy")


@scenario(possible=HAS_FORMAT_2_2)
def format_2_0(path: str) -> None:
    """Data format 2.0."""
    write_in_format(path, "2.0")


@scenario(possible=HAS_FORMAT_2_2)
def format_2_1(path: str) -> None:
    """Data format 2.1."""
    write_in_format(path, "2.1")


@scenario(possible=HAS_FORMAT_2_2)
def format_2_2(path: str) -> None:
    """Data format 2.2."""
    write_in_format(path, "2.2")


def main() -> None:
    """Write the scenarios named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out_folder")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.scenarios) - SCENARIOS.keys())
    if unknown:
        parser.error(f"pylance {lance.__version__} cannot write: {', '.join(unknown)}")
    out_folder = Path(arguments.out_folder)
    out_folder.mkdir(parents=True, exist_ok=True)
    os.chdir(out_folder)
    for name in arguments.scenarios or SCENARIOS:
        SCENARIOS[name](f"{name}.lance")


if __name__ == "__main__":
    main()
