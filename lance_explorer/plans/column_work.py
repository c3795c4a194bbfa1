"""What a plan does to columns, and which values each column of a row gets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from lance_explorer.answers.calls import literal
from lance_explorer.changes.changed_cells import changed_values
from lance_explorer.changes.three_way import ThreeWay
from lance_explorer.format.manifest import LEGACY_FORMAT
from lance_explorer.format.schema import column_fields
from lance_explorer.frames.sizes import counted, listed
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.columns.identity import columns_at
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.plans.places import row_chunks
from lance_explorer.plans.records import Conflict, Loss, Step

__all__ = ["ColumnWork", "Target", "column_work", "plain_columns"]


@dataclass(frozen=True, slots=True)
class Target:
    """A column of the table at the time when rows are written.

    Attributes
    ----------
    field : pyarrow.Field
        Its name and type.
    images : tuple of (str or None)
        What its values are called among those of the base, of our side and of theirs.
    """

    field: pa.Field
    images: tuple[str | None, str | None, str | None]

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.field.name)


@dataclass
class ColumnWork:
    """The steps for columns, and the columns after them.

    ``added`` are columns whose values are written by a step of their own, by their names on their
    side.
    """

    targets: list[Target]
    steps: list[Step] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    added: list[str] = field(default_factory=list)


def plain_columns(sides: ThreeWay) -> list[Target]:
    """Return the columns of our side."""
    shown = {own: name for name, own in sides.ours.names(at_end=True).items()}
    compared = sides.values.columns.compared
    theirs = {*sides.values.columns.theirs.values()}
    same = _same_on_their_side(sides)
    targets = []
    for one in _schema(sides.places[0]):
        name = shown[one.name]
        alike = same.get(one.name, name if name in theirs else None)
        base, ours, there = compared.get(name) or (None, name, alike)
        is_open = one.name in sides.doubtful  # existing rows keep their values
        targets.append(Target(one, (None if is_open else base, ours, there)))
    return targets


def _same_on_their_side(sides: ThreeWay) -> dict[str, str]:
    """Return what our columns are called among the values of their side.

    Both sides may have a column that the base lacks: an overwrite is the base of undoing it, and a
    restore may have brought the columns from before it back.
    """
    stops = [side.pair.rows_after.stop for side in (sides.theirs, sides.ours)]
    there, here = map(columns_at(stops).columns, stops)
    places, names = sides.values.columns.theirs, sides.theirs.names(at_end=True)
    called = {there[own]: places[name] for name, own in names.items() if own in there}
    return {own: called[number] for own, number in here.items() if number in called}


def column_work(sides: ThreeWay, *, overwrites: bool) -> ColumnWork:
    """Return the steps that bring the columns that their side changed."""
    work = ColumnWork(plain_columns(sides))
    schema = _schema(sides.places[1])
    altered, dropped = list[dict[str, Any]](), list[str]()
    whole = {
        path
        for path, change in sides.schema.select("path", "change_theirs").iter_rows()
        if change in ("added", "dropped", "cast", "replaced")
    }
    not_null = {
        pair.path_before
        for pair in sides.theirs.fields
        if pair.before and pair.after and pair.before.nullable and not pair.after.nullable
    }
    for row in sides.schema.iter_rows(named=True):
        change, name = row["change_theirs"], row["path_ours"] or row["path"]
        if change is None or row["outcome"] in ("kept", "same"):
            continue
        if row["path"].rpartition(".")[0] in whole:
            continue  # it comes with its column
        paths = row["path"], row["path_ours"], row["path_theirs"]
        if {path.strip("`") for path in paths if path is not None} & sides.doubtful:
            continue  # bring_rows tells of it
        if row["outcome"] == "conflict" and not (change == "dropped" and overwrites):
            note = f"it was {row['change_ours']} since, too"
            work.conflicts.append(Conflict("changed_since", "column", name, note=note))
        elif (why := _not_possible(sides, row, schema, not_null)) is not None:
            work.conflicts.append(Conflict("not_possible", "column", name, note=why))
        elif change != "altered" and _is_taken(row, work.targets):
            note = f"another column is called `{row['path_theirs']}` by now"
            work.conflicts.append(Conflict("changed_since", "column", name, note=note))
        elif change == "dropped":
            written = _num_written_since(sides, row["path"])
            rows = counted(written, "row")
            if written and not overwrites:
                note = f"{rows} got values of it since"
                work.conflicts.append(Conflict("changed_since", "column", name, note=note))
                continue
            if written:
                note = f"the values of `{name}` that {rows} got since"
                work.losses.append(Loss("values", note, written))
            dropped.append(name)
        elif change == "added":
            work.added.append(row["path_theirs"])
        elif change != "altered" and (made := _alteration(row, schema, work.targets)):
            altered.append(made)
    _apply(work, altered, dropped, schema, sides)
    return work


def _not_possible(
    sides: ThreeWay, row: Mapping[str, Any], theirs: pa.Schema, not_null: set[str | None]
) -> str | None:
    """Return why pylance cannot repeat their side's change of a column; None if it can."""
    change, path = row["change_theirs"], row["path"]
    if "." in path:
        return "pylance has no call that does this with nested fields"
    if change == "replaced":
        return "another column has this name now"
    if path in not_null:
        return "pylance has no call that makes a column non-nullable"
    if change == "added" and _needs_nulls(sides, theirs.field(row["path_theirs"]).type):
        return "rows that were added since have no value, and the data format has no nulls for it"
    index = _index_on(sides, row["path_ours"] or path) if change == "cast" else None
    return None if index is None else f"drop index `{index}` first, and build it anew afterwards"


def _is_taken(row: Mapping[str, Any], targets: Sequence[Target]) -> bool:
    """Tell whether another column of ours has the name that the column has on their side."""
    name = row["path_theirs"]
    is_own = row["change_theirs"] != "added" and name == (row["path_ours"] or row["path"])
    return not is_own and any(target.name == name for target in targets)


def _index_on(sides: ThreeWay, name: str) -> str | None:
    """Return the name of an index on a column; pylance cannot cast an indexed column."""
    record = sides.ours.pair.rows_after.record
    ids = {one.id for one in column_fields(record.schema)[name]}
    return next((index.name for index in record.indices if ids & {*index.fields}), None)


def _needs_nulls(sides: ThreeWay, kind: pa.DataType) -> bool:
    """Tell whether rows would get nulls, which the data format cannot store."""
    rows = sides.between.rows_after
    data_format = rows.record.manifest.data_format
    if data_format != LEGACY_FORMAT and not (data_format == "2.0" and pa.types.is_struct(kind)):
        return False
    runs = sides.between.runs
    return not rows.fragments or bool((runs.is_live & ~runs.was_live).any())


def _alteration(
    row: Mapping[str, Any], theirs: pa.Schema, targets: Sequence[Target]
) -> dict[str, Any] | None:
    """Return what a column becomes: its name on their side, and its type there if it differs."""
    name, place = row["path_theirs"], row["path_ours"] or row["path"]
    made: dict[str, Any] = {"path": place, "name": name}
    kind = theirs.field(name).type
    if any(target.name == place and target.field.type != kind for target in targets):
        made["type"] = str(kind)
    return made if "type" in made or name != place else None


def _apply(
    work: ColumnWork,
    altered: list[dict[str, Any]],
    dropped: list[str],
    theirs: pa.Schema,
    sides: ThreeWay,
) -> None:
    """Add the steps, and set the columns to the state after them."""
    if dropped:
        words = f"Drop {_named(dropped)}."
        code = f"dataset.drop_columns({literal(dropped)})"
        work.steps.append(Step("drop_columns", words, code, {"names": dropped}))
        work.targets = [one for one in work.targets if one.name not in dropped]
    if altered:
        view, version = sides.places[1]
        changes = [
            f"`{one['path']}` gets the name `{one['name']}`"
            + (f" and the type {one['type']}" if "type" in one else "")
            if one["path"] != one["name"]
            else f"`{one['path']}` gets the type {one['type']}"
            for one in altered
        ]
        code = f"dataset.alter_columns(...)  # {', '.join(changes).replace('`', '')}"
        arguments = {"alterations": altered, "types_of": version, "branch": view.branch}
        step = Step("alter_columns", f"{listed(changes)}.", code, arguments)
        work.steps.append(step)
        becomes = {one["path"]: one for one in altered}
        work.targets = [
            replace(one, field=_altered(one.field, becomes.get(one.name), theirs))
            for one in work.targets
        ]
    if work.added:
        names = {own: name for name, own in sides.theirs.names(at_end=True).items()}
        places = sides.values.columns.theirs
        for name in work.added:
            place = places[names[name]]
            made = theirs.field(name)
            if not made.nullable:
                work.losses.append(Loss("columns", f"`{name}` may be null then, and was not"))
            work.targets.append(Target(made.with_nullable(True), (None, None, place)))


def _altered(one: pa.Field, made: Mapping[str, Any] | None, theirs: pa.Schema) -> pa.Field:
    if made is None:
        return one
    return theirs.field(made["name"]) if "type" in made else one.with_name(made["name"])


def _num_written_since(sides: ThreeWay, path: str) -> int:
    """Return how many rows got another value of a column after the base."""
    base = {own: name for name, own in sides.ours.names(at_end=False).items()}
    name = base[path]
    here = sides.ours.kept_columns.get(path)
    if here is None:
        return 0
    written = 0
    for runs in row_chunks(sides.ours.runs):
        images = sides.values.only(runs, is_ours=True)
        was, now, _ = images.are_there
        has_value = images.ours[here].is_not_null().to_numpy()
        differ = changed_values(images.base[name], images.ours[here])
        written += int((now & np.where(was, differ, has_value)).sum())
    return written


def _schema(place: BranchVersion) -> pa.Schema:
    from lance_explorer.values.rows import arrow_schema

    view, version = place
    check_values(view, version)
    return arrow_schema(value_root(view, version), version, view.storage.options)


def _named(names: list[str]) -> str:
    word = "column" if len(names) == 1 else "columns"
    return f"the {word} {listed([f'`{name}`' for name in names])}"
