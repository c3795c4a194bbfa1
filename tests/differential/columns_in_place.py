"""Random lives of small tables whose columns are written in place, in every way that there is.

pylance does all of it: with ``merge_insert`` and ``update_columns``, and with operations put
together by hand as other engines commit them. The key of a row never changes, so pylance's scans
tell what became of each row; ``Done`` says besides which rows a commit wrote.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import lance
import pyarrow as pa
from lance.file import LanceFileWriter
from lance.fragment import DataFile, write_fragments

__all__ = ["Done", "InPlaceLife"]

_Operation = lance.LanceOperation

PLACE = pa.struct([("x", pa.int64()), ("y", pa.string())])
SCHEMA = pa.schema([("key", pa.int64()), ("a", pa.int64()), ("s", pa.string()), ("place", PLACE)])
OTHER_TYPE = {
    pa.int64(): pa.int32(),
    pa.int32(): pa.int64(),
    pa.string(): pa.large_string(),
    pa.large_string(): pa.string(),
}

MERGE_REFUSED = "missing from merge insert input schema"
"""pylance 14.0.2 refuses some merges of single columns after a column was cast."""


@dataclass(frozen=True)
class Done:
    """What a commit did: the keys of the rows that it wrote, put in and took out."""

    name: str
    written: frozenset[int] = frozenset()
    added: frozenset[int] = frozenset()
    deleted: frozenset[int] = frozenset()


@dataclass
class InPlaceLife:
    """A table, and what its commits did."""

    uri: str
    random: Random
    stable_row_ids: bool
    done: dict[int, Done] = field(default_factory=dict)
    next_key: int = 0
    clock: int = 100

    @classmethod
    def live(cls, uri: str, seed: int, *, steps: int, stable_row_ids: bool) -> "InPlaceLife":
        """Create a table, and do something random to it a number of times."""
        life = cls(uri, Random(seed), stable_row_ids)
        keys = life._new_keys(9)
        lance.write_dataset(
            life._rows(keys, SCHEMA),
            uri,
            enable_stable_row_ids=stable_row_ids,
            max_rows_per_file=life.random.choice([3, 4, 9]),
        )
        life._note("create", added=keys)
        while len(life.done) < steps:
            life.step()
        return life

    @property
    def dataset(self) -> Any:
        """The latest version, opened anew."""
        return lance.dataset(self.uri)

    def step(self) -> None:
        """Do something random."""
        names = [*_STEPS]
        [name] = self.random.choices(names, [_STEPS[name][1] for name in names])
        if not self.dataset.count_rows():
            self.append()
            return
        try:
            _STEPS[name][0](self)
        except OSError as error:
            if MERGE_REFUSED not in str(error):
                raise

    # ------------------------------------------------------------------- whole rows

    def append(self) -> None:
        """Append rows, of which the columns but the key may be missing: then no file has them."""
        schema, keys = self.dataset.schema, self._new_keys(3)
        names = self.random.choice([schema.names, ["key"], ["key", "a"]])
        names = [name for name in schema.names if name in names]
        rows = self._rows(keys, schema).select(names)
        lance.write_dataset(rows, self.uri, mode="append")
        self._note("append", added=keys)

    def delete(self) -> None:
        """Delete rows."""
        keys = self._some_keys()
        self.dataset.delete(f"key IN ({_listed(keys)})")
        self._note("delete", deleted=keys)

    def update(self) -> None:
        """Set a column, or all but the key."""
        keys, names = self._some_keys(), self._columns()
        if self.random.random() < 0.5:
            names = names[:1]
        values = {name: self._sql(name) for name in names}
        self.dataset.update(values, where=f"key IN ({_listed(keys)})")
        self._note("update", written=keys)

    def merge(self) -> None:
        """Merge whole rows: update, insert, and delete by source or what matches."""
        keys, new = self._some_keys(), self._new_keys(self.random.choice([0, 1, 2]))
        others = sorted({*self._keys()} - {*keys})
        removed = self.random.sample(others, min(len(others), self.random.choice([0, 0, 1])))
        merge = self.dataset.merge_insert("key")
        is_deletion = self.random.random() < 0.15
        merge = merge.when_matched_delete() if is_deletion else merge.when_matched_update_all()
        if new:
            merge = merge.when_not_matched_insert_all()
        if removed:
            merge = merge.when_not_matched_by_source_delete(f"key IN ({_listed(removed)})")
        merge.execute(_one_batch(self._rows([*keys, *new], self.dataset.schema)))
        written, removed = ([], [*keys, *removed]) if is_deletion else (keys, removed)
        self._note("merge", written=written, added=new, deleted=removed)

    def compact(self) -> None:
        """Compact fragments."""
        self.dataset.optimize.compact_files(target_rows_per_fragment=100)
        self._note("compact")

    def restore(self) -> None:
        """Restore a version."""
        version = self.random.choice([*self.done])
        lance.dataset(self.uri, version=version).restore()
        self._note("restore")

    # ------------------------------------------------------------------- in place

    def merge_some_columns(self) -> None:
        """Merge a column, in place where the keys are indexed; it may insert rows."""
        if not self.dataset.describe_indices():
            self.dataset.create_scalar_index("key", "BTREE")
            self._note("index")
        keys, new = self._some_keys(), self._new_keys(self.random.choice([0, 1, 2]))
        rows = self._rows([*keys, *new], self.dataset.schema).select(["key", self._column()])
        merge = self.dataset.merge_insert("key").when_matched_update_all()
        if new:
            merge = merge.when_not_matched_insert_all()
        elif self.random.random() < 0.3:
            merge = merge.write_mode("rewrite_rows")
        merge.execute(_one_batch(rows))
        self._note("merge_some_columns", written=keys, added=new)

    def update_columns(self) -> None:
        """Write a column of some fragments in place, of each say which rows or not.

        Beside them new fragments may be added, and others lose rows.
        """
        dataset, random = self.dataset, self.random
        fragments = dataset.get_fragments()
        chosen = random.sample(fragments, min(len(fragments), random.choice([1, 1, 2])))
        others = [
            one for one in fragments if one.fragment_id not in {f.fragment_id for f in chosen}
        ]
        name, updated, offsets, written = self._column(), [], {}, list[int]()
        modified = set[int]()
        for fragment in chosen:
            has_offsets = random.random() < 0.5
            keys = self._keys_of(fragment)
            keys = random.sample(keys, random.randint(1, len(keys)))
            written += keys
            rows = self._rows(keys, dataset.schema).select(["key", name])
            found = fragment.update_columns(rows, "key", "key", with_offsets=has_offsets)
            updated.append(found[0])
            modified.update(found[1])
            if has_offsets:
                offsets[fragment.fragment_id] = found[2]
        new, removed = list[int](), list[int]()
        added = []
        if random.random() < 0.4:
            new = self._new_keys(2)
            rows = self._rows(new, dataset.schema)
            added = [*write_fragments(rows, self.uri, schema=dataset.schema)]
        if others and random.random() < 0.2:
            keys = self._keys_of(others[0])
            if len(keys) > 1:
                removed = keys[:1]
                updated.append(others[0].delete(f"key IN ({_listed(removed)})"))
        operation = _Operation.Update(
            updated_fragments=updated,
            new_fragments=added,
            fields_modified=sorted(modified),
            update_mode="rewrite_columns",
            updated_fragment_offsets=offsets or None,
        )
        lance.LanceDataset.commit(self.uri, operation, read_version=dataset.version)
        self._note("update_columns", written=written, added=new, deleted=removed)

    def replace_file(self) -> None:
        """Replace the values that a fragment has of a column, or give it some."""
        dataset = self.dataset
        fragment = self.random.choice(dataset.get_fragments())
        name = self.random.choice(["a", "s"])
        column = self._values(name, dataset.schema.field(name).type, fragment.physical_rows)
        file = self._write(pa.table({name: column}, pa.schema([dataset.schema.field(name)])))
        group = _Operation.DataReplacementGroup(fragment.fragment_id, file)
        operation = _Operation.DataReplacement([group])
        lance.LanceDataset.commit(self.uri, operation, read_version=dataset.version)
        self._note("replace_file", written=self._keys_of(fragment))

    def merge_by_hand(self) -> None:
        """Commit a Merge that gives some fragments another file for a column that they have."""
        dataset = self.dataset
        name, written = self._column(), list[int]()
        fragments = list[Any]()
        for fragment in dataset.get_fragments():
            if self.random.random() < 0.5:
                fragments.append(fragment.metadata)
                continue
            keys = self._keys_of(fragment)
            keys = self.random.sample(keys, self.random.randint(1, len(keys)))
            rows = self._rows(keys, dataset.schema).select(["key", name])
            fragments.append(fragment.update_columns(rows, "key", "key")[0])
            written += keys
        operation = _Operation.Merge(fragments, dataset.lance_schema)
        lance.LanceDataset.commit(self.uri, operation, read_version=dataset.version)
        self._note("merge_by_hand", written=written)

    # ------------------------------------------------------------------- columns

    def add_column(self) -> None:
        """Add a column, with values or without; some fragments may get other values at once."""
        names = self.dataset.schema.names
        name = next(name for n in range(len(names)) if (name := f"c{n}") not in names)
        chance = self.random.random()
        if chance < 0.3:
            self.dataset.add_columns(pa.field(name, pa.int64()))
        elif chance < 0.6:
            self.dataset.add_columns({name: "key + 1"})
        else:
            self._add_by_hand(name)
            return
        self._note("add_column")

    def _add_by_hand(self, name: str) -> None:
        dataset, fragments, schema = self.dataset, list[Any](), None
        replaced, written = self._column(), list[int]()
        for fragment in dataset.get_fragments():
            found, schema = fragment.merge_columns({name: "key * 2"})
            if self.random.random() < 0.5:
                keys = self._keys_of(fragment)
                rows = self._rows(keys, dataset.schema).select(["key", replaced])
                both = fragment.update_columns(rows, "key", "key")[0]
                found.files = [*both.files, found.files[-1]]
                written += keys
            fragments.append(found)
        operation = _Operation.Merge(fragments, schema)
        lance.LanceDataset.commit(self.uri, operation, read_version=dataset.version)
        self._note("add_by_hand", written=written)

    def drop_column(self) -> None:
        """Drop a column that was added."""
        names = [name for name in self.dataset.schema.names if name not in SCHEMA.names]
        if names:
            self.dataset.drop_columns([self.random.choice(names)])
            self._note("drop_column")

    def cast_column(self) -> None:
        """Cast a column, or a part of one."""
        name = self.random.choice(["a", "s", "place.x"])
        parts = name.split(".")
        found = self.dataset.schema.field(parts[0]).type
        if parts[1:]:
            found = found.field(parts[1]).type
        self.dataset.alter_columns({"path": name, "data_type": OTHER_TYPE[found]})
        self._note("cast_column")

    # ------------------------------------------------------------------- versions

    def lose_versions(self) -> None:
        """Remove some versions but the latest, as a clean-up does that tags hold back."""
        kept = [version for version in self.done if self.random.random() < 0.6]
        for version in kept:
            self.dataset.tags.create(f"v{version}", version)
        self.dataset.cleanup_old_versions(retain_versions=1, error_if_tagged_old_versions=False)
        self.done = {v: done for v, done in self.done.items() if v in {*kept, max(self.done)}}

    # ------------------------------------------------------------------- values

    def _note(
        self,
        name: str,
        written: Iterable[int] = (),
        added: Iterable[int] = (),
        deleted: Iterable[int] = (),
    ) -> None:
        """Note what the latest version is; those before it only made room for it, or nothing."""
        version = self.dataset.version
        if version not in self.done:
            for earlier in range(max([0, *self.done]) + 1, version):
                self.done[earlier] = Done("reserve")
            self.done[version] = Done(name, *map(frozenset, (written, added, deleted)))

    def _new_keys(self, count: int) -> list[int]:
        keys = [*range(self.next_key, self.next_key + count)]
        self.next_key += count
        return keys

    def _keys(self) -> list[int]:
        keys: list[int] = self.dataset.to_table(columns=["key"])["key"].to_pylist()
        return sorted(keys)

    def _keys_of(self, fragment: Any) -> list[int]:
        keys: list[int] = fragment.to_table(columns=["key"])["key"].to_pylist()
        return sorted(keys)

    def _some_keys(self) -> list[int]:
        keys = self._keys()
        return self.random.sample(keys, self.random.randint(1, min(4, len(keys))))

    def _columns(self) -> list[str]:
        names = ["a", "s", *[n for n in self.dataset.schema.names if n not in SCHEMA.names]]
        return self.random.sample(names, len(names))

    def _column(self) -> str:
        return self._columns()[0]

    def _sql(self, name: str) -> str:
        self.clock += 1
        found = self.dataset.schema.field(name).type
        return f"'{self.clock}'" if found in (pa.string(), pa.large_string()) else str(self.clock)

    def _rows(self, keys: list[int], schema: pa.Schema) -> pa.Table:
        columns = {
            name: self._values(name, schema.field(name).type, len(keys)) for name in schema.names
        }
        return pa.table(columns | {"key": pa.array(keys, pa.int64())}, schema)

    def _values(self, name: str, dtype: pa.DataType, count: int) -> pa.Array:
        self.clock += 1
        if pa.types.is_struct(dtype):
            return pa.array([{"x": self.clock, "y": name}] * count, dtype)
        value = self.clock if pa.types.is_integer(dtype) else f"{name}{self.clock}"
        return pa.array([value] * count, dtype)

    def _write(self, table: pa.Table) -> DataFile:
        name = f"by_hand_{self.clock}.lance"
        [field_] = table.schema
        dataset = self.dataset
        with LanceFileWriter(f"{self.uri}/data/{name}", table.schema, version="2.2") as writer:
            writer.write_batch(table)
        return DataFile(name, [dataset.lance_schema.field(field_.name).id()], [0], 2, 2)


def _listed(keys: Iterable[int]) -> str:
    return ", ".join(map(str, keys))


def _one_batch(table: pa.Table) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())


_STEPS: dict[str, tuple[Callable[[InPlaceLife], None], int]] = {
    "append": (InPlaceLife.append, 2),
    "delete": (InPlaceLife.delete, 2),
    "update": (InPlaceLife.update, 2),
    "merge": (InPlaceLife.merge, 3),
    "compact": (InPlaceLife.compact, 1),
    "restore": (InPlaceLife.restore, 2),
    "merge_some_columns": (InPlaceLife.merge_some_columns, 3),
    "update_columns": (InPlaceLife.update_columns, 4),
    "replace_file": (InPlaceLife.replace_file, 2),
    "merge_by_hand": (InPlaceLife.merge_by_hand, 2),
    "add_column": (InPlaceLife.add_column, 2),
    "drop_column": (InPlaceLife.drop_column, 1),
    "cast_column": (InPlaceLife.cast_column, 2),
}
