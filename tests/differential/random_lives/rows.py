"""Ordinary actions: rows are appended, deleted, updated and merged by calls of pylance."""

from random import Random
from typing import Any

import pyarrow as pa

from tests.differential.random_lives.registry import action
from tests.differential.random_lives.world import BASE, Refused, World


def _in(keys: list[int]) -> str:
    return f"key IN ({', '.join(map(str, keys))})" if keys else "false"


def _stale(world: World, rng: Random) -> Any:
    """Return the latest version, or one that is about to be not the latest any more."""
    dataset = world.dataset()
    if rng.random() < 0.2:
        world.write(world.table(world.new_keys(2)), "append", 10)
    return dataset


@action(3)
def append(world: World, rng: Random) -> str:
    data = world.table(world.new_keys(rng.randint(1, 7)))
    world.write(data, "append", rng.choice([2, 3, 100]), _stale(world, rng))
    return f"append {len(data)}"


@action()
def append_without_columns(world: World, rng: Random) -> str:
    others = [name for name in world.latest.fields if name != "key"]
    names = ["key", *rng.sample(others, rng.randint(0, len(others)))]
    data = world.table(world.new_keys(rng.randint(1, 5)), names=names)
    world.write(data, "append", rng.choice([2, 100]))
    return f"append {len(data)} rows with {names} alone"


@action(0.4)
def overwrite(world: World, rng: Random) -> str:
    schema = BASE if rng.random() < 0.7 else world.dataset().schema
    data = world.table(world.new_keys(rng.randint(0, 6)), schema)
    world.write(data, "overwrite", rng.choice([2, 100]))
    return f"overwrite by {len(data)} rows"


@action(0)
def overwrite_alike(world: World, rng: Random) -> str:
    """Overwrite by as many rows as there are, in as few fragments as a compaction leaves, or more.

    The columns may be others, of which some have the IDs that others had, and the file format too.
    The last rows may be appended by another commit.
    """
    count = max(len(world.latest.rows), 1)
    kind = rng.choice(["same", "same", "same", "other columns", "other format", "both"])
    schema, how = world.dataset().schema, {}
    if kind in ("other columns", "both"):
        others = [one for one in BASE if one.name != "key"]
        schema = pa.schema([BASE.field("key"), *rng.sample(others, rng.randint(1, len(others)))])
    if kind in ("other format", "both"):
        how["data_storage_version"] = rng.choice(["legacy", "2.0", "2.1", "2.2"])
    data = world.table(world.new_keys(count), schema)
    first = rng.choice([count, count, rng.randint(1, count)])
    size = rng.choice([100, 100, 3])
    world.write(data.slice(0, first), "overwrite", size, **how)
    world.data_format = how.get("data_storage_version", world.data_format)
    if first < count:
        world.write(data.slice(first), "append", size)
    return f"overwrite by {first} of {count} rows, {kind} {how}"


@action(0)
def update_all_rows(world: World, rng: Random) -> str:
    """Update, or merge in any order, so that all fragments give way to others with as many rows."""
    keys = [*world.latest.rows]
    names = world.plain_columns()
    if not keys or not names:
        raise Refused("nothing to update")
    if rng.random() < 0.5:
        world.dataset().update(world.sql_values([names[0]]))
        return f"update {names[0]} of all rows"
    rng.shuffle(keys)
    world.dataset().merge_insert("key").when_matched_update_all().execute(world.table(keys))
    return f"merge all columns of all rows, as {keys}"


@action(2)
def delete(world: World, rng: Random) -> str:
    keys = world.some_keys(rng, 0.3)
    _stale(world, rng).delete(_in(keys))
    return f"delete {keys}"


@action(0.7)
def delete_fragment(world: World, rng: Random) -> str:
    fragments = world.dataset().get_fragments()
    if not fragments:
        raise Refused("no fragment")
    keys = rng.choice(fragments).to_table(columns=["key"])["key"].to_pylist()
    world.dataset().delete(_in(keys))
    return f"delete all of a fragment: {keys}"


@action(0.1)
def truncate(world: World, rng: Random) -> str:
    world.dataset().truncate_table()
    return "truncate"


@action(2.5)
def update(world: World, rng: Random) -> str:
    keys = world.some_keys(rng)
    columns = world.plain_columns()
    if not columns:
        raise Refused("no column")
    names = rng.sample(columns, rng.randint(1, len(columns)))
    _stale(world, rng).update(world.sql_values(names), where=_in(keys))
    return f"update {names} of {keys}"


@action(0.5)
def update_all_columns(world: World, rng: Random) -> str:
    keys = world.some_keys(rng)
    names = world.plain_columns()
    same = {name: name for name in world.latest.fields if name not in names}
    world.dataset().update({**same, **world.sql_values(names)}, where=_in(keys))
    return f"update all columns of {keys}"


@action(0.2)
def update_to_itself(world: World, rng: Random) -> str:
    keys = world.some_keys(rng)
    world.dataset().update({"key": "key"}, where=_in(keys))
    return f"update key = key of {keys}"


@action(4)
def merge(world: World, rng: Random) -> str:
    """Every kind of merge: all columns or some, in place or not, with and without inserts."""
    how = []
    columns = world.plain_columns()
    partial = bool(columns) and rng.random() < 0.5
    names = ["key", *rng.sample(columns, rng.randint(1, len(columns)))] if partial else []
    matched, new = world.some_keys(rng), world.new_keys(rng.randint(0, 3))
    keys = matched + new if rng.random() < 0.7 else new + matched
    if not keys:
        raise Refused("no rows to merge")
    builder = _stale(world, rng).merge_insert("key")
    kind = rng.choice(["update", "update", "update", "delete", "none", "update_if"])
    if kind == "update":
        builder = builder.when_matched_update_all()
    elif kind == "update_if":
        rest = rng.randint(0, 1)
        builder = builder.when_matched_update_all(f"target.key % 2 = {rest}")
        kind += f" key % 2 = {rest}"
    elif kind == "delete":
        builder = builder.when_matched_delete()
    inserts = rng.random() < 0.6 or kind == "none"
    if inserts:
        builder = builder.when_not_matched_insert_all()
    how += [kind, "insert" if inserts else "no insert"]
    if rng.random() < 0.3:
        removed = world.some_keys(rng, 0.3)
        builder = builder.when_not_matched_by_source_delete(_in(removed))
        how.append(f"delete by source {removed}")
    uses_index = rng.random() < 0.6
    builder = builder.use_index(uses_index)
    mode = rng.choice(["auto", "auto", "rewrite_rows", "rewrite_columns"])
    if mode != "auto" and partial:
        builder = builder.write_mode(mode)
        how.append(mode)
    if uses_index:
        how.append("index if there is one")
    data = world.table(keys, names=names).combine_chunks()
    reader = pa.RecordBatchReader.from_batches(data.schema, data.to_batches())
    result = builder.execute(reader)
    numbers = [result[f"num_{word}_rows"] for word in ("inserted", "updated", "deleted")]
    return f"merge {names or 'all columns'} of {keys}: {', '.join(how)} -> {numbers}"


@action(0.8)
def merge_by_index(world: World, rng: Random) -> str:
    """Merge some columns where the key is indexed: pylance then writes in place, unasked."""
    if "key_index" not in world.latest.indices:
        world.dataset().create_scalar_index("key", "BTREE", name="key_index")
        world.observe()
    return merge(world, rng)
