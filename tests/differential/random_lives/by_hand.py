"""Actions that make their commits by hand, of every operation that pylance has a class for.

``_commit`` sometimes makes them detached: on a version of the branch or on another detached one.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
from lance import LanceOperation as Lance
from lance.fragment import RowIdSequence
from lance.schema import LanceSchema

from tests.differential.random_lives.registry import action
from tests.differential.random_lives.world import BASE, Refused, World


def _commit(world: World, rng: Random, base: Any, operation: Any) -> str:
    """Commit an operation as the next version, late or detached."""
    how = 0.0 if base.version in world.detached else rng.random()
    if how < 0.15:
        made = world.commit(operation, base.version, detached=True)
        world.observe_detached(made, base.version)
        return f", detached as {made.version} on {base.version}"
    if how < 0.3:
        world.write(world.table(world.new_keys(1)), "append", 10)
        world.commit(operation, base.version)
        return f", late, on {base.version}"
    world.commit(operation, base.version)
    return ""


def _some_base(world: World, rng: Random) -> Any:
    """Return the latest version, now and then a detached one."""
    own = [number for number, seen in world.detached.items() if seen.branch == world.head]
    own = [number for number in own if world.has_ids_as_now(number)]
    if own and rng.random() < 0.15:
        return world.dataset().checkout_version(rng.choice(own))
    return world.dataset()


def _fragment(base: Any, rng: Random) -> Any:
    fragments = base.get_fragments()
    if not fragments:
        raise Refused("no fragment")
    return rng.choice(fragments)


def _live(fragment: Any) -> list[int]:
    keys: list[int] = fragment.to_table(columns=["key"])["key"].to_pylist()
    return keys


def _subset(keys: list[int], rng: Random) -> list[int]:
    return [key for key in keys if rng.random() < 0.5] or keys[:1]


def _columns(base: Any) -> list[str]:
    return [f.name for f in base.schema if f.name != "key" and not pa.types.is_nested(f.type)]


def _in_place(world: World, base: Any, fragment: Any, rng: Random) -> tuple[Any, str]:
    """Write values of some rows of a fragment in place; return what ``update_columns`` does."""
    columns, keys = _columns(base), _subset(_live(fragment), rng)
    if not columns or not keys:
        raise Refused("nothing to write")
    names = ["key", *rng.sample(columns, rng.choice([1, 1, min(2, len(columns))]))]
    if world.data_format == "legacy" and _replaces_a_first_field(base, fragment, names[1:]):
        raise Refused("pylance 14.0.2 cannot read, or aborts (docs/FORMAT.md 2.6)")
    data = world.table(keys, base.schema, names)
    made = fragment.update_columns(data, left_on="key", right_on="key", with_offsets=True)
    return made, f"{names[1:]} of {keys}"


def _replaces_a_first_field(base: Any, fragment: Any, names: list[str]) -> bool:
    """Tell whether the field with the lowest ID of a data file is one of some columns."""
    firsts = {min([f for f in file.fields if f >= 0], default=-1) for file in fragment.data_files()}
    return not firsts.isdisjoint([base.lance_schema.field(name).id() for name in names])


def _update(made: dict[int, Any], *, offsets: bool, **more: Any) -> Any:
    fields = sorted({field for one in made.values() for field in one[1]})
    if offsets:
        more["updated_fragment_offsets"] = {number: one[2] for number, one in made.items()}
    return Lance.Update(
        updated_fragments=[one[0] for one in made.values()],
        fields_modified=fields,
        update_mode="rewrite_columns",
        **more,
    )


@action(2)
def update_columns(world: World, rng: Random) -> str:
    """Write in place in one or more fragments, with the offsets told or not, perhaps inserting."""
    base = _some_base(world, rng)
    fragments = base.get_fragments()
    chosen = rng.sample(fragments, min(len(fragments), rng.choice([1, 1, 2])))
    if not chosen:
        raise Refused("no fragment")
    made, words = {}, []
    for fragment in chosen:
        made[fragment.fragment_id], what = _in_place(world, base, fragment, rng)
        words.append(f"{what} in fragment {fragment.fragment_id}")
    offsets, more = rng.random() < 0.5, {}
    if rng.random() < 0.3:
        data = world.table(world.new_keys(2), base.schema)
        more["new_fragments"] = world.fragments(data)
        words.append("2 new rows")
    operation = _update(made, offsets=offsets, **more)
    where = _commit(world, rng, base, operation)
    return f"update_columns {'; '.join(words)}, offsets told: {offsets}{where}"


@action(0.8)
def merge_by_hand(world: World, rng: Random) -> str:
    """Merge: give some fragments other files of existing fields, or a new column, or both."""
    base, words = _some_base(world, rng), []
    fragments = base.get_fragments()
    if not fragments:
        raise Refused("no fragment")
    schema = base.lance_schema
    metadata = {fragment.fragment_id: fragment.metadata for fragment in fragments}
    if rng.random() < 0.5:
        name = world.new_name(rng)
        for fragment in fragments:
            made, schema = fragment.merge_columns({name: "key + 2000000"}, columns=["key"])
            metadata[fragment.fragment_id] = made
        words.append(f"add {name}")
    else:
        for fragment in _some(fragments, rng):
            made, what = _in_place(world, base, fragment, rng)
            metadata[fragment.fragment_id] = made[0]
            words.append(f"replace {what} in fragment {fragment.fragment_id}")
    where = _commit(world, rng, base, Lance.Merge([*metadata.values()], schema))
    return f"Merge: {'; '.join(words)}{where}"


def _some(things: list[Any], rng: Random) -> list[Any]:
    return rng.sample(things, rng.randint(1, len(things)))


@action(0.8)
def data_replacement(world: World, rng: Random) -> str:
    base = _some_base(world, rng)
    columns = _columns(base)
    if not columns:
        raise Refused("no column")
    name, words, groups = rng.choice(columns), [], []
    for fragment in _some(base.get_fragments() or [_fragment(base, rng)], rng)[:2]:
        rows = fragment.physical_rows
        values = [world.value(base.schema.field(name).type) for _ in range(rows)]
        data = pa.table({name: pa.array(values, base.schema.field(name).type)})
        file = world.data_file(data, base)
        groups.append(Lance.DataReplacementGroup(fragment.fragment_id, file))
        words.append(str(fragment.fragment_id))
    where = _commit(world, rng, base, Lance.DataReplacement(groups))
    return f"DataReplacement of {name} in fragments {', '.join(words)}{where}"


@action(0.5)
def data_overlay(world: World, rng: Random) -> str:
    base = _some_base(world, rng)
    columns, fragment = _columns(base), _fragment(base, rng)
    if not columns:
        raise Refused("no column")
    name = rng.choice(columns)
    offsets = sorted(
        rng.sample(range(fragment.physical_rows), rng.randint(1, fragment.physical_rows))
    )
    values = [world.value(base.schema.field(name).type) for _ in offsets]
    file = world.data_file(pa.table({name: pa.array(values, base.schema.field(name).type)}), base)
    group = Lance.DataOverlayGroup(fragment.fragment_id, [Lance.DataOverlayFile(file, offsets)])
    where = _commit(world, rng, base, Lance.DataOverlay([group]))
    return f"DataOverlay of {name} at {offsets} of fragment {fragment.fragment_id}{where}"


@action(0.8)
def append_by_hand(world: World, rng: Random) -> str:
    base = _some_base(world, rng)
    data = world.table(world.new_keys(rng.randint(1, 5)), base.schema)
    operation = Lance.Append(world.fragments(data, rng.choice([1, 2, 10])))
    return f"Append {len(data)}{_commit(world, rng, base, operation)}"


@action(0.2)
def overwrite_by_hand(world: World, rng: Random) -> str:
    base = _some_base(world, rng)
    data = world.table(world.new_keys(rng.randint(1, 5)), BASE)
    operation = Lance.Overwrite(LanceSchema.from_pyarrow(BASE), world.fragments(data, 2))
    return f"Overwrite by {len(data)}{_commit(world, rng, base, operation)}"


@action(0.7)
def delete_by_hand(world: World, rng: Random) -> str:
    base = _some_base(world, rng)
    updated, removed, keys = _masked(world, base, rng)
    operation = Lance.Delete(updated, removed, "by hand")
    return f"Delete {keys}{_commit(world, rng, base, operation)}"


def _masked(
    world: World, base: Any, rng: Random, fragments: list[Any] | None = None
) -> tuple[list[Any], list[int], list[int]]:
    """Delete some rows; return the states of fragments, IDs of those that end, and the keys."""
    updated, removed, keys = [], [], []
    for fragment in fragments or base.get_fragments():
        chosen = _subset(_live(fragment), rng) if rng.random() < 0.6 else []
        if not chosen:
            continue
        made = fragment.delete(f"key IN ({', '.join(map(str, chosen))})")
        keys += chosen
        if made is None:
            removed.append(fragment.fragment_id)
        else:
            updated.append(made)
    if not keys:
        raise Refused("no rows")
    return updated, removed, keys


@action(1)
def update_by_hand(world: World, rng: Random) -> str:
    """Update that masks rows and writes them elsewhere, in any order, some new ones among them.

    With stable row IDs the fragment says whose rows they are, or all of them are new.
    """
    base = _some_base(world, rng)
    updated, removed, keys = _masked(world, base, rng)
    words = f"Update: out {keys}"
    if world.stable and rng.random() < 0.5:
        new = world.new_keys(rng.randint(0, 4))
        made = world.fragments(world.table(new, base.schema), 2) if new else []
        words += f", new {new}"
    else:
        kept = _subset(keys, rng)
        rng.shuffle(kept)
        new = world.new_keys(rng.randint(0, 2)) if not world.stable else []
        made = world.fragments(world.table(kept + new, base.schema))
        if world.stable:
            identities = _identities(base)
            sequence = RowIdSequence([identities[key] for key in kept])
            made = [replace(made[0], row_id_meta=sequence.to_inline_metadata())]
        words += f", in {kept}, new {new}"
    operation = Lance.Update(
        removed_fragment_ids=removed, updated_fragments=updated, new_fragments=made
    )
    return words + _commit(world, rng, base, operation)


def _identities(base: Any) -> dict[int, int]:
    rows = base.to_table(columns=["key", "_rowid"])
    return dict(zip(rows["key"].to_pylist(), rows["_rowid"].to_pylist(), strict=True))


@action(0.4)
def update_in_place_and_elsewhere(world: World, rng: Random) -> str:
    """Update that writes one fragment in place and masks and inserts rows of others."""
    base = _some_base(world, rng)
    fragments = base.get_fragments()
    if len(fragments) < 2:
        raise Refused("too few fragments")
    one, *others = rng.sample(fragments, len(fragments))
    made, what = _in_place(world, base, one, rng)
    updated, removed, keys = _masked(world, base, rng, others)
    new = world.fragments(world.table(world.new_keys(2), base.schema))
    offsets = rng.random() < 0.5
    operation = Lance.Update(
        removed_fragment_ids=removed,
        updated_fragments=[made[0], *updated],
        new_fragments=new,
        fields_modified=made[1],
        update_mode="rewrite_columns",
        updated_fragment_offsets={one.fragment_id: made[2]} if offsets else None,
    )
    where = _commit(world, rng, base, operation)
    return f"Update: {what} in place, offsets told: {offsets}, out {keys}, 2 new{where}"


@action(0.3)
def restore_by_hand(world: World, rng: Random) -> str:
    version = rng.choice(world.kept(world.head))
    if not world.has_ids_as_now(version):
        raise Refused("that turns row IDs off")
    return f"Restore {version}" + _commit(world, rng, world.dataset(), Lance.Restore(version))


@action(0.7, is_beyond=True)
def restore_detached(world: World, rng: Random) -> str:
    own = [number for number, seen in world.detached.items() if seen.branch == world.head]
    own = [number for number in own if world.has_ids_as_now(number)]
    if not own:
        raise Refused("no detached version")
    version = rng.choice(own)
    world.dataset().checkout_version(version).restore()
    return f"restore the detached {version}"


@action(0.7)
def detach(world: World, rng: Random) -> str:
    """Make a detached version that has rows of its own, or other values."""
    base = _some_base(world, rng)
    operations: list[Callable[[], Any]] = [
        lambda: Lance.Append(world.fragments(world.table(world.new_keys(2), base.schema))),
        lambda: Lance.Delete(*_masked(world, base, rng)[:2], "detached"),
        lambda: _update(
            {(one := _fragment(base, rng)).fragment_id: _in_place(world, base, one, rng)[0]},
            offsets=rng.random() < 0.7,
        ),
    ]
    operation = rng.choice(operations)()
    made = world.commit(operation, base.version, detached=True)
    world.observe_detached(made, base.version)
    return f"detached {type(operation).__name__} as {made.version} on {base.version}"


@action(0.3, is_beyond=True)
def rewrite_by_hand(world: World, rng: Random) -> str:
    """Rewrite some fragments as others with the same rows, deleted ones left out."""
    base = world.dataset()
    chosen = base.get_fragments()[: rng.randint(1, 3)]
    rows = [fragment.to_table(with_row_id=True) for fragment in chosen]
    if not any(map(len, rows)):
        raise Refused("no rows")
    data = pa.concat_tables(rows)
    new = world.fragments(data.drop(["_rowid"]), 1000)
    world.write(world.table(world.new_keys(1)), "append", 10)  # which gives out a fragment ID
    if world.stable:
        sequence = RowIdSequence(data["_rowid"].to_pylist())
        new = [replace(new[0], row_id_meta=sequence.to_inline_metadata())]
    group = Lance.RewriteGroup([fragment.metadata for fragment in chosen], new)
    world.commit(Lance.Rewrite([group], []), base.version)
    return f"Rewrite fragments {[fragment.fragment_id for fragment in chosen]}"


@action(0.2)
def project_by_hand(world: World, rng: Random) -> str:
    base = world.dataset()
    names = base.schema.names[: rng.randint(1, len(base.schema.names))]
    schema = LanceSchema.from_pyarrow(pa.schema([base.schema.field(name) for name in names]))
    given: Any = schema
    ids = [_field_ids(given.field(name)) for name in names]
    if "key" not in names or ids != [_field_ids(base.lance_schema.field(name)) for name in names]:
        raise Refused("pylance gives out other field IDs")
    where = _commit(world, rng, base, Lance.Project(schema))
    return f"Project to {names}{where}"


def _field_ids(field: Any) -> list[int]:
    """Return the IDs of a field and of all in it."""
    return [field.id(), *[id_ for child in field.children() for id_ in _field_ids(child)]]


@action(0.2)
def configure_by_hand(world: World, rng: Random) -> str:
    base = _some_base(world, rng)
    updates = Lance.UpdateMap({"by": str(world.tick())}, replace=rng.random() < 0.3)
    which = rng.choice(["config_updates", "table_metadata_updates", "schema_metadata_updates"])
    changes: dict[str, Any] = {which: updates}
    where = _commit(world, rng, base, Lance.UpdateConfig(**changes))
    return f"UpdateConfig: {which}{where}"


@action(0.2)
def index_by_hand(world: World, rng: Random) -> str:
    """Commit the removal of an index."""
    base = world.dataset()
    transactions = base.get_transactions(20)
    made = [t.operation for t in transactions if t and isinstance(t.operation, Lance.CreateIndex)]
    indices = [index for operation in made for index in operation.new_indices]
    if not indices:
        raise Refused("no index")
    operation = Lance.CreateIndex([], [rng.choice(indices)])
    return "CreateIndex that removes one" + _commit(world, rng, base, operation)
