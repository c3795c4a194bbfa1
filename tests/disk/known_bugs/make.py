"""``python make.py``: write the table of each known bug that the installed pylance has.

Each was written by the release in its name, and is kept as that left it. Nothing may write to them.
"""

from pathlib import Path

import lance
import pyarrow as pa

HERE = Path(__file__).parent


def zone_maps_left_behind(path: str) -> None:
    """A compaction with stable row IDs leaves a zone map with nothing of what it wrote."""
    days = pa.table({"day": list(range(40))})
    lance.write_dataset(days, path, max_rows_per_file=10, enable_stable_row_ids=True)
    lance.dataset(path).create_scalar_index("day", "ZONEMAP")
    lance.dataset(path).optimize.compact_files()


def rebuilt_for_nothing(path: str) -> None:
    """Each optimize_indices writes an index again that covers all rows already."""
    lance.write_dataset(pa.table({"day": list(range(40))}), path)
    lance.dataset(path).create_scalar_index("day", "BTREE")
    for _ in range(3):
        lance.dataset(path).optimize.optimize_indices()


def blobs_emptied(path: str) -> None:
    """A compaction empties payloads of a blob column that stand after a null."""
    blob = pa.field("image", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    schema = pa.schema([pa.field("id", pa.int64()), blob])
    images = [b"one" * 50, None, b"", b"two" * 50, b"six" * 50]
    for part in range(2):
        table = pa.table({"id": range(part * 5, part * 5 + 5), "image": images}, schema=schema)
        mode = "append" if part else "create"
        lance.write_dataset(table, path, mode=mode, data_storage_version="2.0")
    lance.dataset(path).optimize.compact_files()


def fields_renumbered(path: str) -> None:
    """A Merge with a schema from Arrow gives names of columns to the field IDs of others."""
    from lance.schema import LanceSchema

    table = pa.table({"key": [1, 2, 3], "cost": [10, 20, 30], "price": [100, 200, 300]})
    lance.write_dataset(table, path, enable_stable_row_ids=True)
    lance.dataset(path).drop_columns(["cost"])
    lance.dataset(path).add_columns({"twice": "key * 2"})
    dataset = lance.dataset(path)
    renumbered = LanceSchema.from_pyarrow(dataset.lance_schema.to_pyarrow())
    fragments = [fragment.metadata for fragment in dataset.get_fragments()]
    merge = lance.LanceOperation.Merge(fragments=fragments, schema=renumbered)
    lance.LanceDataset.commit(path, merge, read_version=dataset.version)


BUGS = {
    "4.0.1": [rebuilt_for_nothing],
    "8.0.1": [blobs_emptied, fields_renumbered],
    "10.0.0": [zone_maps_left_behind],
}

if __name__ == "__main__":
    for bug in BUGS[lance.__version__]:
        bug(str(HERE / f"{bug.__name__}-{lance.__version__}.lance"))
