"""Actions on columns: added, cast, renamed and dropped, at the top and nested."""

from random import Random

import pyarrow as pa

from tests.differential.random_lives.registry import action
from tests.differential.random_lives.world import BASE, Refused, World

OTHER_TYPE = {
    pa.int64(): pa.int32(),
    pa.int32(): pa.int64(),
    pa.string(): pa.large_string(),
    pa.large_string(): pa.string(),
}


def _columns(world: World, *, nested: bool = False) -> list[str]:
    schema = world.dataset().schema
    names = [one.name for one in schema if one.type in OTHER_TYPE]
    if nested:
        names += [f"place.{one.name}" for one in _place(schema) if one.type in OTHER_TYPE]
    return names


def _place(schema: pa.Schema) -> list[pa.Field]:
    found = schema.get_field_index("place")
    return list(schema.field(found).type) if found >= 0 else []


def _type(world: World, path: str) -> pa.DataType:
    schema = world.dataset().schema
    if "." not in path:
        return schema.field(path).type
    return next(one.type for one in _place(schema) if one.name == path.split(".")[1])


@action(1.2)
def add_column(world: World, rng: Random) -> str:
    name = world.new_name(rng)
    world.dataset().add_columns({name: rng.choice(["key + 1000000", "cast(key AS string)"])})
    return f"add column {name}"


@action(0.5)
def add_null_column(world: World, rng: Random) -> str:
    name = world.new_name(rng)
    world.dataset().add_columns(pa.field(name, rng.choice([pa.int64(), pa.string()])))
    return f"add column {name} of nulls"


@action(0.3)
def join_column(world: World, rng: Random) -> str:
    name, keys = world.new_name(rng), world.some_keys(rng, 1.0)
    values = pa.table({"key": pa.array(keys, world.dataset().schema.field("key").type)})
    values = values.append_column(name, pa.array([world.tick() for _ in keys], pa.int64()))
    world.dataset().merge(values, "key")
    return f"join column {name} for {keys}"


@action(1.3)
def cast(world: World, rng: Random) -> str:
    # A legacy struct of which a field is cast twice makes pylance 14.0.2 abort when it is read.
    paths = _columns(world, nested=world.data_format != "legacy")
    chosen = rng.sample(paths, min(len(paths), rng.choice([1, 1, 2])))
    casts = [{"path": path, "data_type": OTHER_TYPE[_type(world, path)]} for path in chosen]
    world.dataset().alter_columns(*casts)
    return f"cast {chosen}"


@action(0.2)
def cast_everything(world: World, rng: Random) -> str:
    """Leave only columns that can be cast, and give every fragment other data files."""
    nested = [one.name for one in world.dataset().schema if one.type not in OTHER_TYPE]
    if nested:
        world.dataset().drop_columns(nested)
        world.observe()
    casts = [
        {"path": one.name, "data_type": OTHER_TYPE[one.type]} for one in world.dataset().schema
    ]
    world.dataset().alter_columns(*casts)
    return "cast all columns"


@action(0.6)
def rename(world: World, rng: Random) -> str:
    path = rng.choice([p for p in _columns(world, nested=True) if p != "key"] or ["key"])
    if path == "key":
        raise Refused("only the key is there")
    name = world.new_name(rng)
    world.dataset().alter_columns({"path": path, "name": name})
    return f"rename {path} to {name}"


@action(0.2)
def swap_names(world: World, rng: Random) -> str:
    names = [name for name in _columns(world) if name != "key"]
    if len(names) < 2:
        raise Refused("too few columns")
    one, other = rng.sample(names, 2)
    world.dataset().alter_columns({"path": one, "name": "between"})
    world.dataset().alter_columns({"path": other, "name": one})
    world.dataset().alter_columns({"path": "between", "name": other})
    return f"swap the names of {one} and {other}"


@action(0.2)
def make_nullable(world: World, rng: Random) -> str:
    name = rng.choice([*world.latest.fields])
    nullable = rng.random() < 0.7
    world.dataset().alter_columns({"path": name, "nullable": nullable})
    return f"{name} may be null: {nullable}"


@action(0.7)
def drop_column(world: World, rng: Random) -> str:
    names = [name for name in world.latest.fields if name != "key"]
    names += [f"place.{one.name}" for one in _place(world.dataset().schema)]
    if not names:
        raise Refused("only the key is there")
    name = rng.choice(names)
    world.dataset().drop_columns([name])
    if name not in BASE.names and "." not in name:
        world.dropped.append(name)
    return f"drop {name}"
