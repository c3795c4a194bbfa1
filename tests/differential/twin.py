"""A Lance table that pylance writes, and beside it a dict that says what must be in it.

Every commit goes through a ``Twin``, which notes what it must have been: the operation, and how
many rows it added, updated, deleted and so on. That is known from the dict alone, and checked
against what the API returns; only where a row lies is asked of pylance.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import lance
import pyarrow as pa
from lance.file import LanceFileWriter

__all__ = ["ALL_KEYS", "COUNTS", "NO_KEYS", "OTHER_TYPE", "Commit", "Keys", "Twin"]

ROWS_PER_FRAGMENT = 4

COUNTS = (
    "added",
    "updated",
    "deleted",
    "overwritten",
    "restored",
    "reverted",
    "moved",
    "column_rewritten",
    "column_added",
)
"""What a commit can do to rows; ``rows_`` and such a name is a column of ``versions()``."""

NOTHING: Mapping[str, int | None] = dict.fromkeys(COUNTS, 0)

NO_NAMES = frozenset[str]()

MERGE_SUMS = frozenset({"added", "updated", "deleted"})
"""What only row IDs can tell of a merge that took rows out and put rows in."""

RESTORE_COUNTS = frozenset({"deleted", "restored", "reverted", "moved"})
"""What only row IDs can tell of a restore after a merge that took rows out and put rows in."""

IN_PLACE_COUNTS = frozenset({"reverted", "moved"})
"""What only row IDs can tell of a restore after rows were written in place."""

OTHER_TYPE = {
    pa.int64(): pa.int32(),
    pa.int32(): pa.int64(),
    pa.string(): pa.large_string(),
    pa.large_string(): pa.string(),
}
"""To which a column of a type can be cast."""

SPILL = {"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "16"}

PRIMARY_KEY = {"lance-schema:unenforced-primary-key": "true"}

BASE_SCHEMA = pa.schema(
    [
        ("key", pa.int64()),
        ("value", pa.int64()),
        ("label", pa.string()),
        ("place", pa.struct([("x", pa.int64()), ("y", pa.string())])),
        ("parts", pa.list_(pa.int64())),
    ]
)


@dataclass(frozen=True, slots=True)
class Keys:
    """Every key that leaves ``rest`` when it is divided by ``modulus``: an SQL filter and a set."""

    modulus: int
    rest: int

    @property
    def sql(self) -> str:
        return f"key % {self.modulus} = {self.rest}"

    def of(self, keys: Iterable[int]) -> list[int]:
        return [key for key in keys if key % self.modulus == self.rest]


NO_KEYS = Keys(1, 1)
ALL_KEYS = Keys(1, 0)


@dataclass(frozen=True, slots=True)
class Commit:
    """What one version must be.

    A count of None is one that the dict does not tell. ``may_be_null`` are counts that
    ``versions()`` may leave open. ``written`` is the version that last wrote each row.
    """

    operation: str
    counts: Mapping[str, int | None]
    may_be_null: frozenset[str]
    rows: Mapping[int, int]
    written: Mapping[int, int]
    message: str | None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a row is, and the version that last wrote it."""

    address: int
    written: int


@dataclass
class Twin:
    """A table at ``uri`` and its rows as a dict of keys and values."""

    uri: str
    branch: str | None = None
    stable_row_ids: bool = False
    data_format: str = "2.2"
    has_primary_key: bool = False
    rows: dict[int, int] = field(default_factory=dict, repr=False)
    written: dict[int, int] = field(default_factory=dict, repr=False)
    commits: dict[int, Commit] = field(default_factory=dict, repr=False)
    open_in_restores: frozenset[str] = NO_NAMES
    next_key: int = 0
    clock: int = 0

    @classmethod
    def create(cls, uri: str, num_rows: int = 0, *, v2_names: bool = True, **facts: Any) -> Self:
        """Create the table."""
        twin = cls(uri, **facts)
        data = twin._table(twin._new_rows(num_rows), twin._base_schema)
        twin._write(
            data,
            uri,
            "create",
            "created",
            enable_stable_row_ids=twin.stable_row_ids,
            data_storage_version=twin.data_format,
            enable_v2_manifest_paths=v2_names,
        )
        twin._note("Overwrite", message="created", added=num_rows)
        return twin

    @property
    def dataset(self) -> Any:
        """The latest version, opened anew."""
        return lance.dataset(self.uri)

    @property
    def version(self) -> int:
        """The latest version."""
        return max(self.commits)

    @property
    def kept(self) -> list[int]:
        """The versions that pylance lists."""
        return [ref["version"] for ref in self.dataset.version_refs()]

    @property
    def index_names(self) -> list[str]:
        """The names of the indices that people made."""
        names = [index.name for index in self.dataset.describe_indices()]
        return [name for name in names if not name.startswith("__lance")]

    # ------------------------------------------------------------------------------- rows

    def append(self, num_rows: int, message: str | None = None) -> None:
        """Append rows with new keys."""
        data = self._table(self._new_rows(num_rows))
        self._write(data, self.uri, "append", message)
        self._note("Append", message=message, added=num_rows)

    def append_to_stale(self, num_rows: int) -> None:
        """Append twice, the second time to the version before the first."""
        stale = self.dataset
        self.append(num_rows)
        self._write(self._table(self._new_rows(num_rows)), stale, "append")
        self._note("Append", added=num_rows)

    def overwrite(self, num_rows: int) -> None:
        """Replace all rows, and the schema."""
        before = len(self.rows)
        self.rows.clear()
        data = self._table(self._new_rows(num_rows), self._base_schema)
        self._write(data, self.uri, "overwrite")
        self._note("Overwrite", added=num_rows, overwritten=before)

    def delete(self, keys: Keys) -> None:
        """Delete rows."""
        self._delete_rows(keys.sql, keys.of(self.rows))

    def delete_from_stale(self, keys: Keys) -> None:
        """Append, then delete old rows from the version before."""
        stale, matched = self.dataset, keys.of(self.rows)
        self.append(ROWS_PER_FRAGMENT)
        self._delete_rows(keys.sql, matched, stale)

    def delete_fragment(self, position: int) -> None:
        """Delete all rows of one fragment."""
        fragments = self.dataset.get_fragments()
        if fragments:
            chosen = fragments[position % len(fragments)]
            keys = chosen.to_table(columns=["key"])["key"].to_pylist()
            self._delete_rows(f"key IN ({', '.join(map(str, keys))})", keys)

    def truncate(self) -> None:
        """Delete all rows."""
        before = len(self.rows)
        self.dataset.truncate_table()
        self.rows.clear()
        self._note("Delete", deleted=before)

    def update(self, keys: Keys) -> None:
        """Set the value of rows."""
        self._update_rows(keys, {})
        self._note("Update", updated=len(keys.of(self.rows)))

    def update_all_columns(self, keys: Keys) -> None:
        """Set every column of rows, so that the commit may look like that of a merge."""
        others = [name for name in self.dataset.schema.names if name != "value"]
        matched = keys.of(self.rows)
        self._update_rows(keys, {name: name for name in others})
        may_be_null = self._unless_ids_tell(MERGE_SUMS) if matched else NO_NAMES
        if matched:
            self.open_in_restores |= self._unless_ids_tell(RESTORE_COUNTS)
        self._note("Update", may_be_null=may_be_null, updated=len(matched))

    # ----------------------------------------------------------------------------- merges

    def upsert(self, keys: Keys, num_new: int) -> None:
        """Update rows and insert rows with new keys."""
        merge = self._merge().when_matched_update_all().when_not_matched_insert_all()
        self._execute(merge, updated=keys.of(self.rows), num_new=num_new)

    def upsert_where(self, keys: Keys, condition: Keys) -> None:
        """Update those of the rows for which a condition holds."""
        matched = keys.of(self.rows)
        merge = self._merge().when_matched_update_all(condition.sql.replace("key", "target.key"))
        self._execute(merge, updated=condition.of(matched), ignored=matched)

    def insert(self, keys: Keys, num_new: int) -> None:
        """Insert rows with new keys; the source has known ones too."""
        merge = self._merge().when_not_matched_insert_all()
        self._execute(merge, ignored=keys.of(self.rows), num_new=num_new)

    def mirror(self, keys: Keys, num_new: int, absent: Keys) -> None:
        """Upsert, and delete ``absent`` rows that the source does not have."""
        matched = keys.of(self.rows)
        removed = [key for key in absent.of(self.rows) if key not in matched]
        merge = self._merge().when_matched_update_all().when_not_matched_insert_all()
        merge = merge.when_not_matched_by_source_delete(absent.sql)
        self._execute(merge, updated=matched, num_new=num_new, deleted=removed)

    def delete_matched(self, keys: Keys) -> None:
        """Delete rows by a merge."""
        matched = keys.of(self.rows)
        self._execute(self._merge().when_matched_delete(), deleted=matched, ignored=matched)

    def upsert_value(self, keys: Keys) -> None:
        """Update one column of rows; they move."""
        merge = self._merge().when_matched_update_all().write_mode("rewrite_rows")
        self._execute(merge, updated=keys.of(self.rows), columns=["key", "value"])

    def rewrite_value(self, keys: Keys, *, by_index: bool = False) -> None:
        """Update one column of rows in place; pylance says which rows if they have stable IDs.

        It does so unasked where the keys are indexed.
        """
        matched, value = keys.of(self.rows), self._tick()
        source = self._table(dict.fromkeys(matched, value)).select(["key", "value"])
        touched = [
            fragment
            for fragment in self.dataset.get_fragments()
            if not set(matched).isdisjoint(_keys_of(fragment))
        ]
        live = sum(fragment.count_rows() for fragment in touched)
        merge = self._merge(by_index).when_matched_update_all()
        merge = merge.write_mode("auto" if by_index else "rewrite_columns")
        result = merge.execute(_one_batch(source))
        assert result["num_updated_rows"] == len(matched)
        self.rows.update(dict.fromkeys(matched, value))
        if self.stable_row_ids:
            self._note("Update", updated=len(matched))
        else:
            self.open_in_restores |= IN_PLACE_COUNTS
            self._note("Update", column_rewritten=live)

    def replace_value(self, position: int) -> None:
        """Replace the values of one fragment by those of a new data file, deleted rows too."""
        fragments = self.dataset.get_fragments()
        chosen, value = fragments[position % len(fragments)], self._tick()
        group = lance.LanceOperation.DataReplacementGroup(
            chosen.fragment_id, self._write_values([value] * chosen.physical_rows)
        )
        operation = lance.LanceOperation.DataReplacement([group])
        keys = _keys_of(chosen)
        lance.LanceDataset.commit(self.uri, operation, read_version=self.version)
        self.rows.update(dict.fromkeys(keys, value))
        self._note("DataReplacement", column_rewritten=len(keys))

    def lay_over_value(self, keys: Keys) -> None:
        """Lay new values over rows, and over all deleted ones of the same fragments."""
        matched, value = set(keys.of(self.rows)), self._tick()
        groups = []
        for fragment in self.dataset.get_fragments():
            table = fragment.to_table(columns=["key"], with_row_address=True)
            places = zip(table["key"].to_pylist(), table["_rowaddr"].to_pylist(), strict=True)
            live = {address % 2**32: key for key, address in places}
            offsets = [n for n in range(fragment.physical_rows) if live.get(n) in matched]
            if offsets:
                offsets += [n for n in range(fragment.physical_rows) if n not in live]
                file = self._write_values([value] * len(offsets))
                overlay = lance.LanceOperation.DataOverlayFile(file, sorted(offsets))
                group = lance.LanceOperation.DataOverlayGroup(fragment.fragment_id, [overlay])
                groups.append(group)
        operation = lance.LanceOperation.DataOverlay(groups)
        lance.LanceDataset.commit(self.uri, operation, read_version=self.version)
        self.rows.update(dict.fromkeys(matched, value))
        self._note("DataOverlay", updated=len(matched))

    # ----------------------------------------------------------------------------- schema

    def add_column(self, name: str) -> None:
        """Add a column with values."""
        self.dataset.add_columns({name: "key + 1"})
        self._note("Merge", column_added=len(self.rows))

    def add_null_column(self, name: str) -> None:
        """Add a column of nulls, which changes the schema alone."""
        self.dataset.add_columns(pa.field(name, pa.int64()))
        self._note("Merge")

    def join_column(self, name: str) -> None:
        """Add a column from another table."""
        values = pa.table({"key": list(self.rows), name: [key * 2 for key in self.rows]})
        self.dataset.merge(values, "key")
        self._note("Merge", column_added=len(self.rows))

    def cast_column(self, name: str, data_type: pa.DataType) -> None:
        """Write a column anew as another type."""
        self.dataset.alter_columns({"path": name, "data_type": data_type})
        self._note("Merge", column_rewritten=len(self.rows))

    def cast_all_columns(self) -> None:
        """Write every column anew, so that no fragment keeps a data file."""
        schema = self.dataset.schema
        casts = [{"path": field.name, "data_type": OTHER_TYPE[field.type]} for field in schema]
        self.dataset.alter_columns(*casts)
        self._note("Merge", column_rewritten=len(self.rows))

    def rename_column(self, name: str, new_name: str) -> None:
        """Rename a column."""
        self.dataset.alter_columns({"path": name, "name": new_name})
        self._note("Project")

    def drop_column(self, name: str) -> None:
        """Drop a column."""
        self.dataset.drop_columns([name])
        self._note("Project")

    # ------------------------------------------------------------------------ maintenance

    def create_index(self, column: str, index_type: str) -> None:
        """Index a column, anew if it has that index."""
        self.dataset.create_scalar_index(column, index_type, name=f"{column}_index")
        self._note("CreateIndex")

    def optimize_indices(self, **options: Any) -> None:
        """Bring the indices up to date; that may be nothing to commit."""
        self.dataset.optimize.optimize_indices(**options)
        self._note(*["CreateIndex"] * (self.dataset.version - self.version))

    def drop_index(self, name: str) -> None:
        """Drop an index."""
        self.dataset.drop_index(name)
        self._note("CreateIndex")

    def compact(self, **options: Any) -> None:
        """Compact fragments; that may be nothing to commit."""
        before = {fragment.fragment_id for fragment in self.dataset.get_fragments()}
        self.dataset.optimize.compact_files(**options)
        new = [f for f in self.dataset.get_fragments() if f.fragment_id not in before]
        if self.dataset.version > self.version:
            reservations = ["ReserveFragments"] * (self.dataset.version - self.version - 1)
            self._note(*reservations, "Rewrite", moved=sum(f.physical_rows for f in new))

    def restore(self, version: int) -> None:
        """Restore a version."""
        before, target = self.dataset, lance.dataset(self.uri, version=version)
        restored = self.commits[version]
        old, new = self._places(before, self.written), self._places(target, restored.written)
        counts: dict[str, Any] = _restored(old, new)
        target.restore()
        self.rows, self.written = dict(restored.rows), dict(restored.written)
        self._note("Restore", may_be_null=self.open_in_restores, **counts)

    def clean_up(self, **options: Any) -> None:
        """Remove versions, but none with a tag."""
        self.open_in_restores |= self._unless_ids_tell(RESTORE_COUNTS)
        self.dataset.cleanup_old_versions(error_if_tagged_old_versions=False, **options)

    def tag(self, name: str, version: int) -> None:
        """Tag a version."""
        self.dataset.tags.create(name, (self.branch, version))

    def configure(self, **settings: str | None) -> None:
        """Set configuration keys; None removes one."""
        self.dataset.update_config(settings)
        self._note("UpdateConfig")

    def spill(self) -> None:
        """Have sequences written into hidden columns of data files unless they are tiny."""
        self.configure(**SPILL)

    def describe(self, what: str, **entries: Any) -> None:
        """Change the metadata of the table, its schema or its fields."""
        getattr(self.dataset, f"update_{what}")(entries)
        self._note("UpdateConfig")

    def initialize_mem_wal(self) -> None:
        """Make the system index of a write-ahead log."""
        self.dataset.initialize_mem_wal(unsharded=True)
        self._note("CreateIndex")

    def migrate_names(self) -> None:
        """Give version files the names of the newer scheme."""
        self.dataset.migrate_manifest_paths_v2()

    def add_base(self, path: str) -> None:
        """Add a base path."""
        self.dataset.add_bases([lance.DatasetBasePath(path, name="more", is_dataset_root=True)])
        self._note("UpdateBases")

    def fork(self, branch: str) -> "Twin":
        """Make a branch of the latest version, and return its twin."""
        made = self.dataset.create_branch(branch)
        rows = dict(self.rows)
        written = dict(self.written)
        twin = replace(self, uri=made.uri, branch=branch, rows=rows, written=written, commits={})
        twin.next_key, twin.clock = self.next_key + 1000, self.clock + 1000
        twin.commits[made.version] = Commit("Clone", NOTHING, NO_NAMES, rows, written, None)
        twin.rows, twin.written = dict(rows), dict(written)
        return twin

    # ---------------------------------------------------------------------------- private

    @property
    def _base_schema(self) -> pa.Schema:
        if not self.has_primary_key:
            return BASE_SCHEMA
        return BASE_SCHEMA.set(0, pa.field("key", pa.int64(), nullable=False, metadata=PRIMARY_KEY))

    def _unless_ids_tell(self, names: frozenset[str]) -> frozenset[str]:
        return NO_NAMES if self.stable_row_ids else names

    def _tick(self) -> int:
        self.clock += 1
        return self.clock

    def _new_rows(self, num_rows: int) -> dict[int, int]:
        keys = range(self.next_key, self.next_key + num_rows)
        self.next_key += num_rows
        new = dict.fromkeys(keys, self._tick())
        self.rows.update(new)
        return new

    def _table(self, rows: Mapping[int, int], schema: pa.Schema | None = None) -> pa.Table:
        """Return rows with values for all columns that the table has."""
        schema = schema or self.dataset.schema
        columns = {
            "key": list(rows),
            "value": list(rows.values()),
            "label": [f"row {key}" for key in rows],
            "place": [{"x": key, "y": str(key)} for key in rows],
            "parts": [[key] * (key % 3) for key in rows],
        }
        arrays = [pa.array(columns.get(name, list(rows))) for name in schema.names]
        return pa.table(arrays, names=schema.names).cast(schema)

    def _write(
        self, data: pa.Table, target: Any, mode: str, message: str | None = None, **options: Any
    ) -> None:
        lance.write_dataset(
            data,
            target,
            mode=mode,
            commit_message=message,
            max_rows_per_file=ROWS_PER_FRAGMENT,
            max_rows_per_group=ROWS_PER_FRAGMENT,
            **options,
        )

    def _write_values(self, values: list[int]) -> Any:
        """Write a data file of the value column."""
        major, minor = map(int, self.dataset.data_storage_version.split("."))
        file = Path(self.uri, "data", f"{uuid.uuid4().hex}.lance")
        data = pa.table({"value": values})
        with LanceFileWriter(str(file), data.schema, version=f"{major}.{minor}") as writer:
            writer.write_batch(data)
        return lance.fragment.DataFile(
            file.name,
            fields=[self.dataset.lance_schema.field("value").id()],
            column_indices=[0],
            file_major_version=major,
            file_minor_version=minor,
            file_size_bytes=file.stat().st_size,
        )

    def _delete_rows(self, where: str, keys: list[int], dataset: Any = None) -> None:
        result = (dataset or self.dataset).delete(where)
        assert result["num_deleted_rows"] == len(keys)
        for key in keys:
            del self.rows[key]
        self._note("Delete", deleted=len(keys))

    def _update_rows(self, keys: Keys, updates: Mapping[str, str]) -> None:
        matched, value = keys.of(self.rows), self._tick()
        result = self.dataset.update({**updates, "value": str(value)}, where=keys.sql)
        assert result["num_rows_updated"] == len(matched)
        self.rows.update(dict.fromkeys(matched, value))

    def _merge(self, by_index: bool = False) -> Any:
        return self.dataset.merge_insert("key").use_index(by_index)

    def _execute(
        self,
        merge: Any,
        *,
        updated: list[int] | None = None,
        num_new: int = 0,
        deleted: list[int] | None = None,
        ignored: list[int] | None = None,
        columns: list[str] | None = None,
    ) -> None:
        """Run a merge; ``ignored`` keys are in its source and are not updated."""
        updated, deleted, value = updated or [], deleted or [], self._tick()
        new = self._new_rows(num_new)
        source = {**dict.fromkeys([*(ignored or []), *updated], value), **new}
        data = self._table(source)
        result = merge.execute(_one_batch(data.select(columns) if columns else data))
        assert result["num_inserted_rows"] == num_new
        assert result["num_updated_rows"] == len(updated)
        assert result["num_deleted_rows"] == len(deleted)
        self.rows.update(dict.fromkeys(updated, value))
        for key in deleted:
            del self.rows[key]
        rows_in, rows_out = num_new + len(updated), len(deleted) + len(updated)
        told_by_filter = self.has_primary_key and not num_new
        if not (rows_in and rows_out) or told_by_filter:
            may_be_null = NO_NAMES
        else:
            may_be_null = self._unless_ids_tell(MERGE_SUMS)
        if rows_in and rows_out:
            self.open_in_restores |= self._unless_ids_tell(RESTORE_COUNTS)
        counts: dict[str, Any] = {
            "added": num_new,
            "updated": len(updated),
            "deleted": len(deleted),
        }
        self._note("Update", may_be_null=may_be_null, **counts)

    def _note(
        self,
        *operations: str,
        message: str | None = None,
        may_be_null: frozenset[str] = NO_NAMES,
        **counts: int | None,
    ) -> None:
        """Note the commits that were just made; what is said of them is said of the last."""
        version = max(self.commits, default=0)
        for operation in operations[:-1]:
            version += 1
            before = self.commits[version - 1]
            self.commits[version] = replace(
                before, operation=operation, counts=NOTHING, may_be_null=NO_NAMES, message=None
            )
        for operation in operations[-1:]:
            version += 1
            counts = {**NOTHING, **counts}
            if operation != "Restore":
                self._note_written(
                    version,
                    all_rows=operation == "Merge"
                    and (counts["column_rewritten"] or counts["column_added"]),
                )
            self.commits[version] = Commit(
                operation, counts, may_be_null, dict(self.rows), dict(self.written), message
            )
        assert self.dataset.version == version

    def _note_written(self, version: int, all_rows: Any) -> None:
        """Note which rows a commit wrote: those with other values, or those with a new column."""
        before = self.commits[version - 1].rows if version - 1 in self.commits else {}
        self.written = {
            key: version if all_rows or before.get(key) != value else self.written[key]
            for key, value in self.rows.items()
        }

    def _places(self, dataset: Any, written: Mapping[int, int]) -> dict[int, _Place]:
        """Return where each row is, by its key; stable tables store when it was written, too."""
        names = ["key", "_rowaddr", "_row_last_updated_at_version"]
        keys, addresses, updates = [dataset.to_table(columns=names)[n].to_pylist() for n in names]
        if self.stable_row_ids:
            assert dict(zip(keys, updates, strict=True)) == written
        return {k: _Place(a, written[k]) for k, a in zip(keys, addresses, strict=True)}


def _one_batch(table: pa.Table) -> pa.RecordBatchReader:
    """Return rows as a stream of one batch: only then is the order of a merge always the same."""
    return pa.RecordBatchReader.from_batches(table.schema, table.combine_chunks().to_batches())


def _keys_of(fragment: Any) -> list[int]:
    keys: list[int] = fragment.to_table(columns=["key"])["key"].to_pylist()
    return keys


def _restored(before: Mapping[int, _Place], after: Mapping[int, _Place]) -> dict[str, int]:
    shared = before.keys() & after.keys()
    reverted = [key for key in shared if before[key].written != after[key].written]
    elsewhere = [key for key in shared if before[key].address != after[key].address]
    return {
        "deleted": len(before.keys() - after.keys()),
        "restored": len(after.keys() - before.keys()),
        "reverted": len(reverted),
        "moved": len(set(elsewhere).difference(reverted)),
    }
