"""Actions that change no row: indices, compaction, settings, tags, branches, cleanup, restores."""

from datetime import timedelta
from random import Random
from typing import Any

import lance
from lance.optimize import Compaction

from tests.differential.random_lives.registry import ACTIONS, action
from tests.differential.random_lives.world import Refused, World


@action(0.8)
def create_index(world: World, rng: Random) -> str:
    column = rng.choice(["key", rng.choice(world.plain_columns() or ["key"])])
    kind = rng.choice(["BTREE", "BTREE", "BITMAP"])
    world.dataset().create_scalar_index(column, kind, name=f"{column}_index")
    return f"{kind} index on {column}"


@action(0.7)
def optimize_indices(world: World, rng: Random) -> str:
    options = rng.choice([{}, {"num_indices_to_merge": 0}, {"num_indices_to_merge": 2}])
    world.dataset().optimize.optimize_indices(**options)
    return f"optimize indices {options}"


@action(0.3)
def drop_index(world: World, rng: Random) -> str:
    names = sorted(name for name in world.latest.indices if not name.startswith("__"))
    if not names:
        raise Refused("no index")
    name = rng.choice(names)
    world.dataset().drop_index(name)
    return f"drop index {name}"


@action(2)
def compact(world: World, rng: Random) -> str:
    options: dict[str, Any] = {"target_rows_per_fragment": rng.choice([3, 5, 8, 1000])}
    if rng.random() < 0.3:
        options["materialize_deletions_threshold"] = 0.0
    world.dataset().optimize.compact_files(**options)
    return f"compact {options}"


@action(0.8)
def compact_without_indices(world: World, rng: Random) -> str:
    target = rng.choice([4, 1000])
    world.dataset().optimize.compact_files(defer_index_remap=True, target_rows_per_fragment=target)
    return f"compact to {target}, indices later"


@action(0.6)
def compact_in_part(world: World, rng: Random) -> str:
    """Compact some of what could be, perhaps with another commit while that goes on."""
    dataset = world.dataset()
    target = rng.choice([3, 6, 1000])
    tasks = Compaction.plan(dataset, {"target_rows_per_fragment": target}).tasks
    if not tasks:
        raise Refused("nothing to compact")
    done = [task.execute(dataset) for task in rng.sample(tasks, rng.randint(1, len(tasks)))]
    between = rng.choice(["nothing", "append", "configure"])
    if between == "append":
        world.write(world.table(world.new_keys(2)), "append", 10)
    elif between == "configure":
        world.dataset().update_config({"between": str(world.tick())})
    Compaction.commit(world.dataset(), done)
    return f"compact {len(done)} of {len(tasks)} groups, {between} between"


@action(1.6)
def restore(world: World, rng: Random) -> str:
    version = rng.choice(world.kept(world.head))
    if not world.has_ids_as_now(version):
        raise Refused("that turns row IDs off")
    world.dataset(version).restore()
    return f"restore {version}"


@action(0.3)
def configure(world: World, rng: Random) -> str:
    key, value = rng.choice("abc"), rng.choice(["x", "y", None])
    world.dataset().update_config({key: value})
    return f"configure {key} = {value}"


@action(0.2)
def describe(world: World, rng: Random) -> str:
    what = rng.choice(["metadata", "schema_metadata"])
    getattr(world.dataset(), f"update_{what}")({rng.choice("abc"): rng.choice("xy")})
    return f"update {what}"


@action(0.2)
def make_primary_key(world: World, rng: Random) -> str:
    field = {"lance-schema:unenforced-primary-key": "true"}
    world.dataset().update_field_metadata({"key": field})
    return "make the key a primary key"


@action(0.1)
def add_base(world: World, rng: Random) -> str:
    name = f"base{world.tick()}"
    path = lance.DatasetBasePath(f"{world.root}-{name}", name=name, is_dataset_root=True)
    world.dataset().add_bases([path])
    return f"add base {name}"


@action(0.4)
def tag(world: World, rng: Random) -> str:
    name, version = f"tag{world.tick()}", rng.choice(world.kept(world.head))
    world.dataset().tags.create(name, (world.head, version))
    return f"tag {version} as {name}"


@action(0.15)
def untag(world: World, rng: Random) -> str:
    names = sorted(world.dataset().tags.list())
    if not names:
        raise Refused("no tag")
    name = rng.choice(names)
    world.dataset().tags.delete(name)
    return f"remove tag {name}"


@action(0.5)
def clean_up_some(world: World, rng: Random) -> str:
    kept = world.kept(world.head)
    chosen = sorted(version for version in kept[:-1] if rng.random() < 0.25)
    if not chosen:
        raise Refused("nothing chosen")
    world.dataset().cleanup_old_versions(versions=chosen, error_if_tagged_old_versions=False)
    return f"clean up {chosen}"


@action(0)
def lose(world: World, rng: Random) -> str:
    """Do some things, and one more, and remove all versions before that one."""
    first = world.latest.version + 1
    many = {
        "overwrite_alike": 5,
        "compact": 3,
        "compact_without_indices": 1,
        "update_all_rows": 2,
        "cast": 1,
        "cast_everything": 1,
        "configure": 1,
        "append": 1,
        "delete": 1,
        "merge": 1,
        "restore": 1,
        "create_index": 0.5,
        "rename": 0.5,
    }
    few = ["append", "append", "delete", "configure", "add_column", "update"]
    deeds = {one.name: one.deed for one in ACTIONS}
    done = []
    for name in [*rng.choices([*many], [*many.values()], k=rng.choice([1, 2, 2])), rng.choice(few)]:
        done.append(deeds[name](world, rng))
        world.observe()
    lost = [version for version in world.kept(world.head)[:-1] if version >= first]
    world.dataset().cleanup_old_versions(versions=lost, error_if_tagged_old_versions=False)
    return f"{'; '.join(done)}; lose {lost}"


@action(0.25)
def clean_up_front(world: World, rng: Random) -> str:
    retained = rng.randint(1, 12)
    world.dataset().cleanup_old_versions(
        retain_versions=retained,
        older_than=timedelta(0) if rng.random() < 0.2 else None,
        error_if_tagged_old_versions=False,
    )
    return f"clean up all but {retained}"


@action(0.8)
def fork(world: World, rng: Random) -> str:
    if len(world.lines) > 3:
        raise Refused("there are enough branches")
    version = rng.choice(world.kept(world.head)[-4:])
    name = f"dev{len(world.lines)}"
    origin = world.head
    world.fork(name, version)
    return f"fork {name} from {origin}@{version}"


@action(1.2)
def switch(world: World, rng: Random) -> str:
    others = [branch for branch in world.lines if branch != world.head]
    if not others:
        raise Refused("there is one branch")
    world.head = rng.choice(others)
    return f"go to {world.head}"


@action(0.1)
def migrate_names(world: World, rng: Random) -> str:
    world.dataset().migrate_manifest_paths_v2()
    return "name version files by the newer scheme"
