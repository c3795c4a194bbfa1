"""Plans that undo a commit or put rows back: carried out on a copy, and read by pylance."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import lance
import pyarrow as pa

from lance_explorer import Table, open_table
from lance_explorer.errors import LanceExplorerError
from lance_explorer.plans.plan import Plan
from tests.differential.random_lives.checks import check, observed
from tests.differential.random_lives.world import Observed, World
from tests.plans.carrying_out import carried_out

__all__ = ["merge_plans", "plans"]

_PLANS = 3

Values = Mapping[int, Any]
"""Values by the numbers that columns have for life."""


@check
def plans(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """Undo some commits, each on a copy: three versions, compared by keys, say what must come."""
    kept = observed(world, branch)
    latest = max(kept)
    chosen = [version for version in kept if version - 1 in kept]
    for version in rng.sample(chosen, min(_PLANS, len(chosen))):
        overwrite = rng.random() < 0.3
        told = f"undo {version} of {latest}" + (" overwriting" if overwrite else "")
        plan = table.plan_revert(version, on_conflict="overwrite" if overwrite else "keep")
        expected = _expected(kept[version - 1], kept[version], kept[latest], overwrite)
        yield from [f"{told}: {w}" for w in _carry_out(world, branch, plan, kept[latest], expected)]
    for version in rng.sample([*kept], min(1, len(kept))):
        keys = [key for key in kept[version].rows if rng.random() < 0.5]
        if not keys:
            continue
        where = f"key IN ({', '.join(map(str, keys))})"
        told = f"put {where} of {version} back in {latest}"
        plan = table.plan_restore_rows(where, at=version)
        expected = _put_back(kept[version], kept[latest], keys)
        yield from [f"{told}: {w}" for w in _carry_out(world, branch, plan, kept[latest], expected)]


@check
def merge_plans(
    world: World, branch: str | None, table: Table, _: Table, rng: Random
) -> Iterator[str]:
    """Merge another branch on a copy: what it did since the fork must come."""
    now = observed(world, branch)
    for other in [name for name in world.lines if name != branch][:2]:
        preview = table.merge_preview(other or "main")
        try:
            fork = preview.fork
        except LanceExplorerError:
            continue
        theirs, base = observed(world, other), observed(world, fork[0])
        if fork[1] not in base:
            continue
        overwrite = rng.random() < 0.3
        plan = preview.plan(on_conflict="overwrite" if overwrite else "keep")
        three = theirs[max(theirs)], base[fork[1]], now[max(now)]
        expected = _expected(*three, overwrite)
        told = f"merge {other} into {branch}" + (" overwriting" if overwrite else "")
        wrong = _carry_out(world, branch, plan, three[2], expected)
        yield from [f"{told}: {words}" for words in wrong]


def _values(*several: Observed) -> list[dict[int, dict[int, Any]]]:
    """Return the rows of versions: of columns that are not alike inside, none has values."""
    inside = dict[int, set[tuple[tuple[str, int], ...]]]()
    for one in several:
        for name, number in one.columns.items():
            inside.setdefault(number, set()).add(tuple(sorted(one.children[name].items())))
    return [
        {
            key: {
                one.columns[name]: value
                for name, value in row.values.items()
                if len(inside[one.columns[name]]) == 1
            }
            for key, row in one.rows.items()
        }
        for one in several
    ]


def _expected(
    before: Observed, undone: Observed, now: Observed, overwrite: bool
) -> dict[int, Values]:
    """Return what rows must be after a commit was undone, by key: columns that all three have."""
    old, done, new = _values(before, undone, now)
    found = dict[int, Values]()
    for key in {*old, *new}:
        base, theirs, ours = done.get(key), old.get(key), new.get(key)
        result = _one(base, theirs, ours, overwrite=overwrite)
        if result is not None:
            found[key] = result
    return found


def _one(
    base: Values | None, theirs: Values | None, ours: Values | None, *, overwrite: bool
) -> Values | None:
    if base is None:
        if ours is None or theirs is None:
            return ours if theirs is None else theirs
        return ours  # it was brought back by a restore
    if theirs is None and ours is None:
        return None
    if theirs is None:
        assert ours is not None
        changed = any(ours[c] != v for c, v in base.items() if c in ours)
        return ours if changed and not overwrite else None
    common = [c for c in theirs if c in base]
    by_them = [c for c in common if theirs[c] != base[c]]
    if ours is None:
        return theirs if by_them and overwrite else None
    by_them = [c for c in by_them if c in ours]
    conflict = any(ours[c] not in (base[c], theirs[c]) for c in by_them)
    if conflict and not overwrite:
        return ours
    return {**ours, **{c: theirs[c] for c in by_them}}


def _put_back(then: Observed, now: Observed, keys: list[int]) -> dict[int, Values]:
    old, new = _values(then, now)
    return {**new, **{key: {**new.get(key, {}), **old[key]} for key in keys}}


def _shown(value: Any) -> Any:
    """Return a value; data format 2.0 has no null structs, and structs of nulls instead."""
    return None if isinstance(value, dict) and not any(value.values()) else value


def _carry_out(
    world: World, branch: str | None, plan: Plan, now: Observed, expected: Mapping[int, Values]
) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        root = str(Path(folder, "copy.lance"))
        shutil.copytree(world.root, root)
        uri = world.lines[branch].uri.replace(world.root, root)
        if plan:
            try:
                carried_out(plan, root, Path(folder, "plan"))
            except SystemExit as error:
                if "storing nulls for this data type is not supported" in str(error):
                    return  # only the values, of which there are many, say that
                yield f"{plan.sentence}: {error}"
                return
            again = carried_out(plan, root, Path(folder, "plan"))
            if "carried out already" not in again:
                yield f"a second run says {again!r}"
        dataset = lance.dataset(uri)
        rows = dataset.to_table(with_row_id=True).to_pylist()
        if len({row["key"] for row in rows}) < len(rows):
            yield f"{plan.sentence}: a key is there twice"
            return
        found = {row["key"]: row for row in rows}
        doubted = _doubted(plan, now)
        if doubted:  # what comes of these, and of rows that are no more, is not promised
            if -1 in doubted:  # any that is as it was may be one of them
                doubted |= {key for key in now.rows if key in found and _is_as_now(found, key, now)}
            expected = {k: v for k, v in expected.items() if k in now.rows and k not in doubted}
            found = {k: v for k, v in found.items() if k in now.rows and k not in doubted}
        restored = [step.arguments["version"] for step in plan.steps if step.kind == "restore"]
        if restored:
            [version] = restored
            yield from _not_restored(plan, dataset, observed(world, branch)[version])
        else:
            yield from _wrong(plan, now, found, expected)
        ours = lance.dataset(world.lines[branch].uri)
        known = {*_lying(ours, rows)}
        for version in restored:  # whose indices may have lost rows when it was written
            then = ours.checkout_version(version)
            known |= {*_lying(then, then.to_table(with_row_id=True).to_pylist())}
        for where in _lying(dataset, rows):
            if where not in known:
                yield f"{plan.sentence}: afterwards an index answers {where} wrongly"
        findings = open_table(root, branch).check(severity="error")["code"].to_list()
        mine = open_table(world.root, branch).check(severity="error")["code"].to_list()
        if len(findings) > len(mine):
            yield f"{plan.sentence}: afterwards check finds {findings}"


def _doubted(plan: Plan, now: Observed) -> set[int]:
    """Return the keys of rows that a plan leaves alone for a reason that no oracle knows.

    It is uncertain which they are, or fields inside of a column are others since; -1 stands for
    one that does not live.
    """
    nested = {name for name, inside in now.children.items() if inside}
    keys = {row.id if now.stable else row.address: key for key, row in now.rows.items()}
    found = {
        keys.get(row_id, -1)
        for reason, row_id, name in plan.conflicts().select("reason", "_rowid", "name").iter_rows()
        if row_id is not None and (reason in ("uncertain", "not_possible") or name in nested)
    }
    # An address may be that of another row by now.
    return found | {-1} if found and not now.stable else found


def _is_as_now(found: Mapping[int, Any], key: int, now: Observed) -> bool:
    row, was = found[key], now.rows[key].values
    return all(row[name] == value for name, value in was.items() if name in row)


def _not_restored(plan: Plan, dataset: lance.LanceDataset, before: Observed) -> Iterator[str]:
    """Yield what is not as in a version that a plan goes back to."""
    scanner = dataset.scanner(with_row_id=True, with_row_address=True, blob_handling="all_binary")
    found = {row.pop("key"): row for row in scanner.to_table().to_pylist()}
    if found.keys() != before.rows.keys():
        yield f"{plan.sentence}: rows {sorted(found.keys() ^ before.rows.keys())}"
        return
    for key, row in before.rows.items():
        own = found[key]
        if (own.pop("_rowid"), own.pop("_rowaddr")) != (row.id, row.address):
            yield f"{plan.sentence}: key {key} has another row ID or address"
        if own != {name: value for name, value in row.values.items() if name != "key"}:
            yield f"{plan.sentence}: key {key} is {own}, must be {row.values}"


def _lying(dataset: lance.LanceDataset, rows: list[dict[str, Any]]) -> set[str]:
    """Return filters that an index answers otherwise than a scan, or not at all."""
    found = set[str]()
    for index in dataset.describe_indices():
        if len(index.field_names) != 1 or index.field_names[0] not in dataset.schema.names:
            continue
        [name] = index.field_names
        values = {row[name] for row in rows if isinstance(row.get(name), (int, str))}
        literals = [repr(value) for value in sorted(values, key=repr)[:4]]
        for where in [f"{name} = {one}" for one in literals] + [f"{name} IS NULL"]:
            try:
                by_index, by_scan = (_keys(dataset, where, by_index=one) for one in (True, False))
            except pa.ArrowInvalid:
                found.add(where)
            else:
                found |= {where} if by_index != by_scan else set()
    return found


def _keys(dataset: lance.LanceDataset, where: str, *, by_index: bool) -> list[int]:
    scanner = dataset.scanner(columns=["key"], filter=where, use_scalar_index=by_index)
    keys = scanner.to_table()["key"].to_pylist()
    if by_index and dataset.data_storage_version == "0.1":
        # In that format Lance 14 itself gives a row twice by a bitmap, if row IDs are stable and an
        # update moved it to a fragment in which other rows have no entry.
        keys = {*keys}
    return sorted(keys)


def _wrong(
    plan: Plan, now: Observed, found: Mapping[int, Any], expected: Mapping[int, Values]
) -> Iterator[str]:
    """Yield rows that are not as they must be."""
    if "nothing can be put back alone" in plan.sentence:
        [expected] = _values(now)
    if found.keys() != expected.keys():
        differ = sorted(found.keys() ^ expected.keys())
        yield f"{plan.sentence}: keys {differ} must be there or not, {plan.conflicts().rows()}"
        return
    open_ = plan.conflicts().filter(reason="uncertain", subject="column")["name"].to_list()
    names = {number: name for name, number in now.columns.items() if name not in open_}
    for key, row in found.items():
        for number, value in expected[key].items():
            name = names.get(number)
            if name in row and _shown(row[name]) != _shown(value):
                yield f"{plan.sentence}: {name} of key {key} is {row[name]!r}, must be {value!r}"
        is_new = "row_ids" in plan.losses()["kind"]
        if key in now.rows and now.stable and not is_new and row["_rowid"] != now.rows[key].id:
            yield f"{plan.sentence}: key {key} has another row ID"
