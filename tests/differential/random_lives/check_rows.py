"""Counts of commits, rows of versions, and the row-ID index, against what pylance read."""

from collections.abc import Iterator
from random import Random

import polars as pl

from lance_explorer import Table
from lance_explorer.errors import RowNotFoundError
from tests.differential.random_lives.checks import check, differing, observed, state
from tests.differential.random_lives.world import FILL, Observed, World

__all__: list[str] = []

COUNTS = (
    *("added", "updated", "deleted", "overwritten"),
    *("restored", "reverted", "moved", "column_rewritten"),
)

OPEN = {
    "Update": {"added", "updated", "deleted", "column_rewritten", "moved"},
    "Restore": {"deleted", "restored", "reverted", "moved"},
}
"""Counts that may be null in a table without stable row IDs."""


@check
def counts(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """Counts of ``versions()``: right where they are given, and given where they can be told."""
    kept = observed(world, branch)
    frame = table.versions()
    if frame["version"].to_list() != [*kept]:
        yield f"versions {frame['version'].to_list()}, pylance lists {[*kept]}"
        return
    made_up = _made_up(world)
    for row in frame.iter_rows(named=True):
        version, new = row["version"], kept[row["version"]]
        where = f"version {version} ({row['operation']})"
        if row["num_rows"] != len(new.rows):
            yield f"{where}: num_rows {row['num_rows']}, not {len(new.rows)}"
        ours = {name: row[f"rows_{name}"] for name in COUNTS}
        written, got = ours["column_rewritten"], row["rows_column_added"]
        ours["column_rewritten"] = None if None in (written, got) else written + got
        if row["operation"] == "Clone":
            continue
        if version - 1 not in kept and version > 1:
            continue
        old = state(kept, version - 1)
        may_be_null = OPEN.get(str(row["operation"]), set()) if not new.stable else set()
        if row["operation"] == "Restore" and _has_untold_writes(world):
            may_be_null = {"reverted", "moved"} | may_be_null
        if row["operation"] == "Restore" and not {*range(new.restored or 0, version)} <= {*kept}:
            may_be_null = {"reverted", "moved"} | may_be_null  # lost ones may have written in place
        yield from _wrong_counts(ours, old, new, may_be_null, made_up, where)


def _made_up(world: World) -> set[int]:
    """Return the keys of rows that a rewrite by hand left without versions, or gave others.

    pylance then shows some of its own.
    """
    steps = [
        (line.seen[version - 1].rows, one.rows)
        for line in world.lines.values()
        for version, one in line.seen.items()
        if one.operation == "Rewrite" and version - 1 in line.seen
    ]
    return {
        key
        for old, new in steps
        for key in old.keys() & new.keys()
        if old[key].updated != new[key].updated
    }


def _has_untold_writes(world: World) -> bool:
    """Return whether a commit wrote values of which no row version tells."""
    lines = [line.seen for line in world.lines.values()]
    commits = [
        (seen[version - 1], new)
        for seen in lines
        for version, new in seen.items()
        if version - 1 in seen and new.operation != "Restore"
    ]
    commits += [
        (seen[new.read_version], new)
        for new in world.detached.values()
        for seen in (world.detached, *lines)
        if new.read_version in seen
    ]
    return any(
        old.rows[key].updated == new.rows[key].updated and differing(old, new, key)
        for old, new in commits
        for key in old.rows.keys() & new.rows.keys()
    )


def _wrong_counts(
    ours: dict[str, int | None],
    old: Observed,
    new: Observed,
    may_be_null: set[str],
    made_up: set[int],
    where: str,
) -> Iterator[str]:
    for name, allowed in _expected(old, new, made_up).items():
        if ours[name] is not None and ours[name] not in allowed:
            yield f"{where}: rows_{name} {ours[name]}, not {sorted(allowed)}"
    if nulls := {name for name, count in ours.items() if count is None} - may_be_null:
        yield f"{where}: null: {sorted(nulls)}"
    added_rows = sum(ours[name] or 0 for name in ("added", "restored"))
    removed_rows = sum(ours[name] or 0 for name in ("deleted", "overwritten"))
    if None not in ours.values() and len(new.rows) != len(old.rows) + added_rows - removed_rows:
        yield f"{where}: rows are not conserved: {ours}, {len(old.rows)} to {len(new.rows)}"


def _expected(old: Observed, new: Observed, made_up: set[int]) -> dict[str, set[int]]:
    """Return which numbers are right; ``made_up`` are keys of rows as of :func:`_made_up`."""
    added_rows, removed = new.rows.keys() - old.rows, old.rows.keys() - new.rows
    both = [key for key in new.rows if key in old.rows]
    named = old.named_as_in(new)
    changed = {key for key in both if differing(named, new, key)}
    elsewhere = {key for key in both if old.rows[key].address != new.rows[key].address}
    written = {key for key in both if new.rows[key].updated == new.version and new.stable}
    rewritten = {number for number in new.files if new.files[number] != old.files.get(number)}
    rewritten &= old.files.keys()
    inside = {key for key in both if new.rows[key].address // FILL in rewritten} - elsewhere
    exact: dict[str, int] = dict.fromkeys(COUNTS, 0)
    exact |= {"added": len(added_rows), "deleted": len(removed)}
    either: dict[str, set[int]] = {}
    match new.operation:
        case "Overwrite":
            exact |= {"deleted": 0, "overwritten": len(old.rows)}
        case "Restore":
            exact |= {"added": 0, "restored": len(added_rows)}
            if new.stable:
                reverted = {k for k in both if old.rows[k].updated != new.rows[k].updated}
                exact |= {"reverted": len(reverted), "moved": len(elsewhere - reverted)}
                either["reverted"] = {len(reverted), len(reverted | changed)}
                either["moved"] = {len(elsewhere - reverted), len(elsewhere - reverted - changed)}
                sure, all_ = reverted - made_up, reverted | (made_up & {*both})
                either["reverted"] |= {*range(len(sure), len(all_) + 1)}
                either["moved"] |= {*range(len(elsewhere - all_), len(elsewhere - sure) + 1)}
            else:
                either["reverted"] = {*range(len(changed), len(both) + 1)}
                either["moved"] = {*range(len(elsewhere - changed) + 1)}
        case "Rewrite":
            exact |= {"moved": len(elsewhere)}
        case "Update":
            told = {number * FILL + offset for number, offset in _told(new)}
            known = {key for key in inside if new.rows[key].address in told}
            exact |= {"updated": len(elsewhere | (written & inside))}
            exact |= {"column_rewritten": 0 if written & inside else len(inside)}
            # A rewrite by hand may have left out the row versions of a fragment.
            tell = {new.rows[key].address // FILL for key in written & inside}
            untold = {key for key in inside if new.rows[key].address // FILL not in tell}
            either["column_rewritten"] = {exact["column_rewritten"], len(untold)}
            # An Update takes overlays of its fields away, which row versions do not tell of.
            bare = {key for key in both if old.rows[key].address // FILL in old.overlaid}
            bare -= written | elsewhere
            if bare:
                least, most = len(untold | (bare & changed)), len(untold | bare)
                either["column_rewritten"] |= {*range(least, most + 1)}
            if not new.stable and told:
                either["updated"] = {len(elsewhere), len(elsewhere | known)}
                either["column_rewritten"] = {0, len(inside)}
        case "DataOverlay":
            exact |= {"updated": len(written if new.stable else changed)}
        case "Merge" | "DataReplacement":
            exact |= {"column_rewritten": len(inside)}
            either["column_rewritten"] = {len(inside), len(written)}
    return {name: either.get(name, {exact[name]}) for name in COUNTS}


def _told(new: Observed) -> list[tuple[int, int]]:
    from pyroaring import BitMap

    found = []
    for number, offsets in new.offsets.items():
        told = BitMap.deserialize(offsets) if isinstance(offsets, bytes) else offsets
        found += [(number, offset) for offset in told]
    return found


@check
def rows(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """Rows of each version: who they are, where, and when they were written; their values, too."""
    for version, seen in observed(world, branch).items():
        snapshot = table.at(version)
        ours = {
            row["_rowaddr"]: (
                row["_rowid"],
                row["_row_created_at_version"] or 1,
                row["_row_last_updated_at_version"] or 1,
            )
            for row in snapshot.row_ids().iter_rows(named=True)
        }
        theirs = {r.address: (r.id, r.created or 1, r.updated or 1) for r in seen.rows.values()}
        if ours != theirs:
            unlike = {a: (ours.get(a), theirs.get(a)) for a in ours.keys() | theirs.keys()}
            unlike = {a: both for a, both in unlike.items() if both[0] != both[1]}
            yield f"rows of {version} (ours, pylance's): {unlike}"
        yield from _wrong_index(table, version, seen)


def _wrong_index(table: Table, version: int, seen: Observed) -> Iterator[str]:
    index = table.at(version).row_id_index()
    ids = sorted({row.id for row in seen.rows.values()})
    asked = sorted({*ids, *(i + 1 for i in ids), *(i - 1 for i in ids if i), 0})
    places = {row.id: row.address for row in seen.rows.values()}
    if index.locate_many(asked).to_list() != [places.get(number) for number in asked]:
        yield f"row_id_index of {version}: locate_many is wrong"
    whose = {row.address: row.id for row in seen.rows.values()}
    asked = sorted({*whose, *(a + 1 for a in whose)})
    if index.ids_at(asked).to_list() != [whose.get(number) for number in asked]:
        yield f"row_id_index of {version}: ids_at is wrong"


@check
def reasons(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """Why a row is not there: the version in which it ended, and its operation."""
    kept = observed(world, branch)
    versions = [*kept]
    at = versions[rng.randrange(len(versions) // 2, len(versions))]
    index = table.at(at).row_id_index()
    live = {row.id for row in kept[at].rows.values()}
    versions = [v for v in versions if kept[v].stable == kept[at].stable]
    ever = {row.id for v in versions if v <= at for row in kept[v].rows.values()} - live
    for number in rng.sample(sorted(ever), min(4, len(ever))):
        places = [v for v in versions if v <= at and number in _ids(kept[v])]
        after = min(v for v in versions if v > places[-1])
        try:
            yield f"row {number} is in {at}, says locate: {index.locate(number)}"
        except RowNotFoundError as error:
            if after == places[-1] + 1:
                expected = f"it was removed in version {after} by "
            else:
                expected = f"live in version {places[-1]} and removed by {after}"
            if expected not in str(error):
                yield f"row {number} in {at}: {error}; expected: {expected}"


def _ids(seen: Observed) -> set[int]:
    return {row.id for row in seen.rows.values()}


@check
def row_ids(world: World, branch: str | None, table: Table, _: Table, rng: Random) -> Iterator[str]:
    """Nothing is wrong with row IDs, and nothing is found to be broken."""
    wrong = table.check_row_ids().filter(severity="error")
    if len(wrong):
        yield f"check_row_ids: {wrong.rows()}"
    findings = table.inspect.findings().filter(pl.col("severity") == "error")
    if len(findings):
        yield f"findings: {findings.rows()}"
