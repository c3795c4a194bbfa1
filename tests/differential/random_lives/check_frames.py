"""Frames of metadata: of one version against ``all_`` of them, refreshed against opened anew."""

from collections import Counter
from collections.abc import Iterator
from inspect import signature
from random import Random

import polars as pl

from lance_explorer import Table
from lance_explorer.inspect.catalogue import Inspect
from tests.differential.random_lives.checks import check, observed
from tests.differential.random_lives.world import FILL, World
from tests.inspect.test_catalogue import DIFFERENT, WITH_ALL_FORM

__all__: list[str] = []

_METHODS = [name for name in vars(Inspect) if not name.startswith("_")]
_WHOLE = [n for n in _METHODS if "version" not in signature(getattr(Inspect, n)).parameters]


@check
def all_frames(
    world: World, branch: str | None, table: Table, _: Table, rng: Random
) -> Iterator[str]:
    """Each ``all_`` frame is the sum of those of its versions."""
    versions = world.kept(branch)
    chosen = {versions[-1], *rng.sample(versions, min(4, len(versions)))}
    for name in WITH_ALL_FORM:
        everything = getattr(table.inspect, f"all_{name}")()
        for version in sorted(chosen):
            is_there = pl.lit(version).is_between("first_version", "last_version")
            then = everything.filter(is_there)
            now = getattr(table.inspect, name)(version)
            names = [n for n in now.columns if n in then.columns and n not in DIFFERENT[name]]
            now, then = (sorted(map(str, one.select(names).rows())) for one in (now, then))
            if now != then:
                yield f"all_{name} at {version}: {then[:3]}\nnot {now[:3]}"


@check
def refreshed(
    world: World, branch: str | None, table: Table, early: Table, rng: Random
) -> Iterator[str]:
    """A table that was opened early and refreshed says what one says that was opened now."""
    early.refresh()
    pairs: dict[str, tuple[pl.DataFrame, ...]] = {}
    pairs["versions"] = early.versions(), table.versions()
    pairs["gaps"] = early.inspect.gaps(), table.inspect.gaps()
    pairs["findings"] = early.inspect.findings(), table.inspect.findings()
    for name in _WHOLE:
        pairs[name] = getattr(early.inspect, name)(), getattr(table.inspect, name)()
    begin = min(world.kept(branch))
    pairs["commits"] = tuple(
        one.changes(begin, mode="per_commit", images="both", include="moved").to_polars()
        for one in (early, table)
    )
    pairs["edges"] = tuple(one.lineage().edges() for one in (early, table))
    for name, (ours, fresh) in pairs.items():
        if not ours.equals(fresh):
            yield f"{name} after refresh:\n{ours}\nnot\n{fresh}"


@check
def fragments(
    world: World, branch: str | None, table: Table, _: Table, rng: Random
) -> Iterator[str]:
    """The graph has the fragments of each version, with their rows."""
    story, kept = table.lineage(), observed(world, branch)
    own = story.fragments().filter(pl.col("table").is_null())
    own = own.filter(pl.col("branch").eq_missing(pl.lit(branch, pl.String)))
    states = story.states().join(own.select("node", "fragment_id"), on="node")
    for version, seen in kept.items():
        here = states.filter(pl.lit(version).is_between("first_version", "last_version"))
        ours = sorted(here.select("fragment_id", "num_rows").rows())
        live = Counter(row.address // FILL for row in seen.rows.values())
        theirs = sorted((number, live[number]) for number in seen.files)
        if ours != theirs:
            yield f"lineage at {version}: fragments {ours}, not {theirs}"


@check
def edges(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """Rows went from fragment to fragment as the edges say."""
    story, kept = table.lineage(), observed(world, branch)
    own = story.fragments().filter(pl.col("branch").eq_missing(pl.lit(branch, pl.String)))
    place = dict(own.select("node", "fragment_id").iter_rows())
    frame = story.edges().filter(pl.col("kind").is_in(["rewrite", "update"]))
    for version, new in kept.items():
        old = kept.get(version - 1)
        if old is None or new.operation not in ("Rewrite", "Update", "ReserveFragments"):
            continue
        removed = Counter(
            (old.rows[key].address // FILL, row.address // FILL)
            for key, row in new.rows.items()
            if key in old.rows and old.rows[key].address != row.address
        )
        told = {
            (place[start], place[end]): rows
            for start, end, rows in frame.filter(version=version)
            .select("from_node", "to_node", "rows")
            .iter_rows()
            if start in place and end in place
        }
        where = f"edges of {version} ({new.operation})"
        if missing := removed.keys() - told.keys():
            yield f"{where}: rows went {missing} untold; told {told}"
        for way, rows in told.items():
            if rows is not None and rows != removed.get(way, 0):
                yield f"{where}: {rows} rows went {way}, not {removed.get(way, 0)}"
            if rows is None and new.stable:
                yield f"{where}: how many went {way} is null"
