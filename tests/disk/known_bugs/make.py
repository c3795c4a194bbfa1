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


def fragment_ids_given_again(path: str) -> None:
    """After a Delete of all rows, new ones get the fragment ID of those that the index has."""
    lance.write_dataset(pa.table({"id": list(range(20))}), path)
    lance.dataset(path).create_scalar_index("id", "BTREE")
    lance.dataset(path).delete("true")
    lance.write_dataset(pa.table({"id": list(range(100, 120))}), path, mode="append")


def replaced_column_indexed(path: str) -> None:
    """An index keeps the values of a column that was replaced in place."""
    from lance.file import LanceFileWriter
    from lance.fragment import DataFile

    lance.write_dataset(pa.table({"id": list(range(20))}), path, max_rows_per_file=10)
    lance.dataset(path).add_columns({"price": "id * 2"})
    lance.dataset(path).create_scalar_index("price", "BTREE")
    dataset = lance.dataset(path)
    [fragment, _] = dataset.get_fragments()
    old, name = fragment.metadata.files[-1], "replacement.lance"
    prices = pa.table({"price": list(range(100, 110))})
    file = Path(path) / "data" / name
    with LanceFileWriter(str(file), prices.schema, version="2.0") as writer:
        writer.write_batch(prices)
    new = DataFile(name, list(old.fields), [0], 2, 0, file.stat().st_size)
    replacement = lance.LanceOperation.DataReplacement(
        [lance.LanceOperation.DataReplacementGroup(0, new)]
    )
    lance.LanceDataset.commit(path, replacement, read_version=dataset.version)


def updated_rows_kept(path: str) -> None:
    """Each optimize_indices keeps the values that rows had before an update."""
    rows = pa.table({"id": list(range(20)), "word": ["old"] * 10 + ["new"] * 10})
    lance.write_dataset(rows, path, enable_stable_row_ids=True)
    lance.dataset(path).create_scalar_index("word", "BITMAP")
    lance.dataset(path).update({"word": "'new'"}, where="id < 5")
    lance.dataset(path).optimize.optimize_indices()


def labels_kept(path: str) -> None:
    """Each optimize_indices keeps the labels that rows had before an update."""
    rows = pa.table({"id": list(range(20)), "labels": [["old"]] * 10 + [["new"]] * 10})
    lance.write_dataset(rows, path, enable_stable_row_ids=True)
    lance.dataset(path).create_scalar_index("labels", "LABEL_LIST")
    changed = pa.table({"id": [0, 1, 2], "labels": [["new"]] * 3})
    lance.dataset(path).merge_insert("id").when_matched_update_all().execute(changed)
    lance.dataset(path).optimize.optimize_indices()


def moved_rows_dropped(path: str) -> None:
    """An optimize_indices drops the rows that a compaction moved."""
    lance.write_dataset(
        pa.table({"id": list(range(40))}), path, max_rows_per_file=10, enable_stable_row_ids=True
    )
    lance.dataset(path).create_scalar_index("id", "BTREE")
    lance.dataset(path).optimize.compact_files()
    lance.write_dataset(pa.table({"id": list(range(40, 45))}), path, mode="append")
    lance.dataset(path).optimize.optimize_indices()


def zone_maps_after_updates(path: str) -> None:
    """A zone map has nothing of the rows that an update wrote."""
    rows = pa.table({"id": list(range(20)), "score": [0] * 20})
    lance.write_dataset(rows, path, enable_stable_row_ids=True)
    lance.dataset(path).create_scalar_index("id", "ZONEMAP")
    lance.dataset(path).update({"score": "10"}, where="id = 0")


BUGS = {
    "0.16.1": [fragment_ids_given_again],
    "2.0.1": [replaced_column_indexed],
    "3.0.1": [moved_rows_dropped],
    "4.0.1": [rebuilt_for_nothing],
    "8.0.1": [blobs_emptied, fields_renumbered, updated_rows_kept, zone_maps_after_updates],
    "10.0.0": [zone_maps_left_behind],
    "12.0.0": [labels_kept],
}
"""What each release wrote."""

if __name__ == "__main__":
    for bug in BUGS[lance.__version__]:
        bug(str(HERE / f"{bug.__name__}-{lance.__version__}.lance"))
