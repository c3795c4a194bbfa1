"""A table that pylance writes, and what pylance read of each version right after its commit.

Every row has a ``key`` that no action ever changes, and that no other row ever has: it says who the
row is. A value that is written is always a new one, so rows whose values were written differ.
"""

import shutil
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import lance
import pyarrow as pa
from lance.file import LanceFileWriter

__all__ = ["FILL", "Line", "Observed", "Refused", "Row", "World"]

BASE = pa.schema(
    [
        ("key", pa.int64()),
        ("value", pa.int64()),
        ("label", pa.string()),
        ("place", pa.struct([("x", pa.int64()), ("y", pa.string())])),
        ("parts", pa.list_(pa.int64())),
    ]
)

PRIMARY_KEY = {"lance-schema:unenforced-primary-key": "true"}

SYSTEM = ("_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version")

FILL = 2**32
"""Addresses are a fragment ID times this, and an offset."""


class Refused(Exception):  # noqa: N818  it is no error
    """An action does not fit the table as it is."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a version as pylance reads it."""

    id: int
    address: int
    created: int | None
    updated: int | None
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Observed:
    """One version as pylance reads it.

    ``era`` is the overwrite that gave out the field IDs. ``columns`` numbers columns for life,
    since an ID may be given again after a column was dropped; ``children`` are the fields inside.
    ``files`` are those of each fragment, ``overlaid`` the fragments with overlays.
    """

    branch: str | None
    version: int
    operation: str
    read_version: int
    restored: int | None
    offsets: Mapping[int, Any]
    rows: Mapping[int, Row]
    fields: Mapping[str, int]
    columns: Mapping[str, int]
    children: Mapping[str, Mapping[str, int]]
    era: tuple[str | None, int]
    files: Mapping[int, tuple[Any, ...]]
    overlaid: frozenset[int]
    stable: bool
    indices: frozenset[str]

    @property
    def at(self) -> dict[int, int]:
        """The key of the row at each address."""
        return {row.address: key for key, row in self.rows.items()}

    def named_as_in(self, later: "Observed", among: Iterable["Observed"] = ()) -> "Observed":
        """Return the same with columns named as in a later version, which may be of another branch.

        A column that is there is told by its number, else by its name in the latest version
        ``among`` these that has it, or by its own; where IDs began anew on the way only if both
        agree. One whose name is another column's there is left out, and one that some version
        ``among`` these has beside that.
        """
        latest = dict[int, str]()
        for one in sorted(among, key=lambda one: one.version):
            latest |= {number: name for name, number in one.columns.items()}
        if self.era == later.era:
            by_number = {number: name for name, number in later.columns.items()}
            names = {n: by_number[i] for n, i in self.columns.items() if i in by_number}
        else:
            same = [n for n, i in self.fields.items() if later.fields.get(n) == i]
            names = {n: n for n in same if latest.get(self.columns[n], n) == n}
        for name, number in self.fields.items():
            last = latest.get(self.columns[name], name)
            told = number in later.fields.values() and self.era != later.era and not latest
            both = {self.columns[name], later.columns.get(last, -1)}
            told |= len(both) > 1 and any(both <= {*one.columns.values()} for one in among)
            if name not in names and last not in names.values() and not told:
                names[name] = last
        rows = {
            key: replace(
                row, values={names[n]: value for n, value in row.values.items() if n in names}
            )
            for key, row in self.rows.items()
        }
        return replace(
            self,
            rows=rows,
            fields={names[n]: i for n, i in self.fields.items() if n in names},
            children={names[n]: c for n, c in self.children.items() if n in names},
        )


EMPTY = Observed(
    None, 0, "", 0, None, {}, {}, {}, {}, {}, (None, 0), {}, frozenset(), False, frozenset()
)


@dataclass
class Line:
    """One branch: where it lies, where it left its parent, and its versions as they were read."""

    branch: str | None
    uri: str
    parent: str | None = None
    fork: int = 0
    seen: dict[int, Observed] = field(default_factory=dict)


@dataclass
class World:
    """A table with all its branches and detached versions."""

    folder: Path
    data_format: str
    lines: dict[str | None, Line] = field(default_factory=dict)
    head: str | None = None
    detached: dict[int, Observed] = field(default_factory=dict)
    next_key: int = 0
    clock: int = 0
    names: int = 0
    dropped: list[str] = field(default_factory=list)

    @classmethod
    def create(cls, folder: Path, rng: Random, *, without_row_ids: bool = False) -> "World":
        """Create a table of a random kind."""
        stable = rng.random() < 0.55 and not without_row_ids
        data_format = rng.choice(["2.0", "2.1", "2.1", "2.2", "2.2", "legacy"])
        world = cls(folder, data_format)
        schema = BASE
        if rng.random() < 0.2:
            schema = BASE.set(0, pa.field("key", pa.int64(), nullable=False, metadata=PRIMARY_KEY))
        world.lines[None] = Line(None, world.root)
        world.write(
            world.table(world.new_keys(rng.randint(0, 9)), schema),
            "create",
            rows=rng.choice([2, 3, 4, 100]),
            enable_stable_row_ids=stable,
            data_storage_version=data_format,
            enable_v2_manifest_paths=rng.random() < 0.8,
        )
        world.observe()
        if rng.random() < 0.15:
            spill = {"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "16"}
            world.dataset().update_config(spill)
            world.observe()
        return world

    @property
    def root(self) -> str:
        """The URI of the table."""
        return str(self.folder / "table.lance")

    @property
    def line(self) -> Line:
        """The branch that is being written."""
        return self.lines[self.head]

    @property
    def latest(self) -> Observed:
        """The latest version of the branch that is being written."""
        return self.line.seen[max(self.line.seen)]

    @property
    def stable(self) -> bool:
        """Whether the latest version of the branch that is being written has stable row IDs."""
        return self.latest.stable

    def has_ids_as_now(self, version: int) -> bool:
        """Whether a version has stable row IDs if the latest has, as a restore must leave it."""
        seen = self.detached.get(version) or self.line.seen[version]
        return seen.stable == self.stable

    def dataset(self, version: int | None = None) -> Any:
        """Open a version of the branch that is being written."""
        dataset = lance.dataset(self.line.uri)
        return dataset if version is None else dataset.checkout_version(version)

    def kept(self, branch: str | None) -> list[int]:
        """Return the versions of a branch that pylance lists."""
        return [ref["version"] for ref in lance.dataset(self.lines[branch].uri).version_refs()]

    # ----------------------------------------------------------------------------- values

    def tick(self) -> int:
        """Return a value that no row ever had."""
        self.clock += 1
        return self.clock

    def new_name(self, rng: Random) -> str:
        """Return a name for a column: a new one, or one that a dropped column had."""
        if self.dropped and rng.random() < 0.15:
            name = self.dropped.pop()
            if name not in self.latest.fields:
                return name
        self.names += 1
        return f"c{self.names}"

    def new_keys(self, num_rows: int) -> list[int]:
        """Return keys that no row ever had."""
        self.next_key += num_rows
        return [*range(self.next_key - num_rows, self.next_key)]

    def some_keys(self, rng: Random, most: float = 0.6) -> list[int]:
        """Return some keys of rows that are there, in table order or in any."""
        keys = [*self.latest.rows]
        chosen = [key for key in keys if rng.random() < rng.random() * most * 2]
        if rng.random() < 0.5:
            rng.shuffle(chosen)
        return chosen

    def table(
        self, keys: Sequence[int], schema: pa.Schema | None = None, names: Iterable[str] = ()
    ) -> pa.Table:
        """Return rows with new values in all columns of the table, or the named ones."""
        schema = schema or self.dataset().schema
        if names:
            schema = pa.schema([schema.field(name) for name in schema.names if name in {*names}])
        arrays = [
            pa.array([*keys], one.type) if one.name == "key" else self._array(one.type, len(keys))
            for one in schema
        ]
        return pa.Table.from_arrays(arrays, schema=schema)

    def _array(self, data_type: pa.DataType, length: int) -> pa.Array:
        return pa.array([self.value(data_type) for _ in range(length)], data_type)

    def value(self, data_type: pa.DataType) -> Any:
        """Return a value of a type that no row ever had."""
        if pa.types.is_struct(data_type):
            return {one.name: self.value(one.type) for one in data_type}
        if pa.types.is_list(data_type) or pa.types.is_large_list(data_type):
            return [self.value(data_type.value_type)]
        if pa.types.is_string(data_type) or pa.types.is_large_string(data_type):
            return f"s{self.tick()}"
        return self.tick()

    def sql_values(self, names: Iterable[str]) -> dict[str, str]:
        """Return an expression of a new value for each of these columns."""
        values = {name: self.value(self.dataset().schema.field(name).type) for name in names}
        return {
            name: f"'{value}'" if isinstance(value, str) else str(value)
            for name, value in values.items()
        }

    def plain_columns(self) -> list[str]:
        """Return the names of the columns of numbers and strings, but for the key."""
        schema = self.dataset().schema
        return [f.name for f in schema if f.name != "key" and not pa.types.is_nested(f.type)]

    # ---------------------------------------------------------------------------- writing

    def write(self, data: pa.Table, mode: str, rows: int, target: Any = None, **how: Any) -> None:
        """Write rows, so many in a fragment."""
        lance.write_dataset(
            data,
            target or self.line.uri,
            mode=mode,
            max_rows_per_file=rows,
            max_rows_per_group=rows,
            **how,
        )

    def fragments(self, data: pa.Table, rows: int = 100) -> list[Any]:
        """Write rows into data files that no version has."""
        return list(
            lance.fragment.write_fragments(
                data,
                self.line.uri,
                max_rows_per_file=rows,
                max_rows_per_group=rows,
                data_storage_version=self.dataset().data_storage_version,
            )
        )

    def data_file(self, data: pa.Table, base: Any) -> Any:
        """Write a data file of some columns of a version."""
        if self.data_format == "legacy":
            raise Refused("a legacy file has no such writer")
        major, minor = map(int, base.data_storage_version.split("."))
        file = Path(self.line.uri, "data", f"{uuid.uuid4().hex}.lance")
        with LanceFileWriter(str(file), data.schema, version=f"{major}.{minor}") as writer:
            writer.write_batch(data)
        return lance.fragment.DataFile(
            file.name,
            fields=[base.lance_schema.field(name).id() for name in data.schema.names],
            column_indices=[*range(len(data.schema.names))],
            file_major_version=major,
            file_minor_version=minor,
            file_size_bytes=file.stat().st_size,
        )

    def commit(self, operation: Any, read_version: int | None = None, **how: Any) -> Any:
        """Commit an operation that was made by hand."""
        version = self.latest.version if read_version is None else read_version
        return lance.LanceDataset.commit(self.line.uri, operation, read_version=version, **how)

    # -------------------------------------------------------------------------- observing

    def observe(self) -> None:
        """Read all versions of the present branch that were made since it was last looked at."""
        line = self.line
        last = max(line.seen, default=0)
        for version in range(last + 1, lance.dataset(line.uri).version + 1):
            # Opened anew: what pylance remembers of other versions hides that it cannot read one.
            line.seen[version] = self._read(lance.dataset(line.uri, version=version), version)

    def observe_detached(self, dataset: Any, base: int) -> None:
        """Read a detached version."""
        self.detached[dataset.version] = self._read(dataset, dataset.version, base)

    def fork(self, branch: str, version: int) -> None:
        """Make a branch of a version of the present one, and go there."""
        made = self.dataset(version).create_branch(branch)
        line = Line(branch, made.uri, self.head, made.version)
        parent = self.line.seen[version]
        self.lines[branch] = line
        line.seen[made.version] = replace(
            self._read(made, made.version, version),
            branch=branch,
            era=parent.era,
            columns=parent.columns,
        )
        self.head = branch

    def _read(self, dataset: Any, version: int, base: int | None = None) -> Observed:
        transaction = _transaction(dataset)
        operation: Any = transaction.operation if transaction else None
        name = type(operation).__name__ if operation else "Rewrite"
        restored = operation.version if name == "Restore" else None
        columns = [*dataset.schema.names, *SYSTEM]
        found = dataset.scanner(columns=columns, scan_in_order=True).to_table().to_pylist()
        assert len({row["key"] for row in found}) == len(found), "a key is there twice"
        rows = {
            row["key"]: Row(
                id=row["_rowid"],
                address=row["_rowaddr"],
                created=row["_row_created_at_version"],
                updated=row["_row_last_updated_at_version"],
                values={name: row[name] for name in dataset.schema.names},
            )
            for row in found
        }
        if restored is not None:
            base = restored
        elif base is None:
            base = version - 1
        before = self.detached.get(base) or self.line.seen.get(base)
        era = (self.head, version) if name == "Overwrite" or before is None else before.era
        fields = {name: dataset.lance_schema.field(name).id() for name in dataset.schema.names}
        return Observed(
            self.head,
            version,
            name,
            transaction.read_version if transaction else version - 1,
            restored,
            getattr(operation, "updated_fragment_offsets", None) or {},
            rows,
            fields,
            self._columns(fields, before if before and era == before.era else None),
            {
                name: {one.name(): one.id() for one in dataset.lance_schema.field(name).children()}
                for name in dataset.schema.names
            },
            era,
            {f.fragment_id: tuple(map(str, f.metadata.files)) for f in dataset.get_fragments()},
            frozenset(f.fragment_id for f in dataset.get_fragments() if f.metadata.overlays),
            dataset.has_stable_row_ids,
            frozenset(index.name for index in dataset.describe_indices()),
        )

    def _columns(self, fields: Mapping[str, int], before: Observed | None) -> dict[str, int]:
        """Return the numbers of columns: a cast gives another ID to the one of that name."""
        columns = {}
        known = {i: before.columns[name] for name, i in before.fields.items()} if before else {}
        for name, number in fields.items():
            is_cast = before and before.fields.get(name, number) not in fields.values()
            if number in known:
                columns[name] = known[number]
            elif before and is_cast:
                columns[name] = before.columns[name]
            else:
                columns[name] = self.tick()
        return columns

    # ----------------------------------------------------------------------------- backup

    def save(self) -> Path:
        """Keep a copy of the files, in case that an action made by hand breaks the table."""
        copy = self.folder / "before.lance"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.root, copy)
        return copy

    def take_back(self, copy: Path) -> None:
        """Go back to the files as they were kept, and forget what was read of others."""
        shutil.rmtree(self.root)
        copy.rename(self.root)
        self.lines = {name: line for name, line in self.lines.items() if Path(line.uri).exists()}
        for line in self.lines.values():
            last = lance.dataset(line.uri).version
            line.seen = {version: one for version, one in line.seen.items() if version <= last}


def _transaction(dataset: Any) -> Any:
    """Return a version's transaction; None where pylance makes no object of it: of compactions."""
    try:
        return dataset.read_transaction(dataset.version)
    except (TypeError, OSError):
        return None
