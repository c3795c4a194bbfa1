"""Plans that bring changes of one side to the other: columns, rows, and losses."""

from lance_explorer.answers.calls import literal
from lance_explorer.changes.three_way import ThreeWay
from lance_explorer.changes.version_rows import place_rows
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.frames.sizes import counted, listed
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.plans.added_columns import AddedColumns
from lance_explorer.plans.column_work import Target, column_work, plain_columns
from lance_explorer.plans.plan import COLUMNS_FILE, ROWS_FILE, PlanParts
from lance_explorer.plans.records import Conflict, Loss, Step
from lance_explorer.plans.row_work import RowWork
from lance_explorer.plans.table_facts import TableFacts
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["bring_all", "bring_rows", "can_go_back", "go_back"]

_MOST_NAMED = 4


def bring_all(parts: PlanParts, sides: ThreeWay, *, overwrites: bool, come_back: bool) -> None:
    """Add the steps for columns and rows.

    Parameters
    ----------
    parts : PlanParts
        The plan.
    sides : ThreeWay
        What is compared; our side is the version that the plan is for.
    overwrites : bool
        Whether rows in conflict get the values of their side.
    come_back : bool
        Whether rows that are appended had been deleted.
    """
    work = column_work(sides, overwrites=overwrites)
    parts.add(*work.steps, *work.conflicts, *work.losses)
    if work.added:
        some = [target for target in work.targets if target.name in work.added]
        parts.columns = AddedColumns(sides.between, some)
        words = f"Add {', '.join([f'`{name}`' for name in work.added])} with the values from there."
        code = "fragment.merge(values, left_on='_rowaddr')  # of each fragment, committed as Merge"
        arguments = {"names": work.added, "file": COLUMNS_FILE}
        parts.add(Step("add_columns", words, code, arguments))
    bring_rows(parts, sides, work.targets, overwrites=overwrites, come_back=come_back)


def bring_rows(
    parts: PlanParts,
    sides: ThreeWay,
    targets: list[Target] | None = None,
    only: Uint64Array | None = None,
    *,
    overwrites: bool,
    come_back: bool,
) -> None:
    """Add the step for rows, by default into the existing columns."""
    targets = plain_columns(sides) if targets is None else targets
    work = RowWork(sides, targets, overwrites=overwrites, only=only)
    parts.rows = work
    note = "versions are lost, so it may be another column: it is left as it is"
    names = [target.name for target in targets if target.name in sides.doubtful]
    parts.add(*[Conflict("uncertain", "column", name, note=note) for name in names])
    parts.num_rows = place_rows(parts.place).num_rows
    if not work.num_rows:
        return
    updated, deleted, inserted = work.counts.tolist()
    parts.num_rows += inserted - deleted
    names = [target.name for target in work.written]
    sentences, calls = list[str](), list[str]()
    if updated:
        columns, how = listed([f"`{name}`" for name in names]), "in place"
        if not work.in_place:
            columns, how = "all columns", "anew"
        elif len(names) > _MOST_NAMED:
            columns = counted(len(names), "column")
        sentences.append(f"write {columns} of {counted(updated, 'row')} {how}")
        calls.append(f"fragment.update_columns(rows)  # {literal(names)}")
    if deleted:
        sentences.append(f"delete {counted(deleted, 'row')}")
        calls.append("fragment.delete(rows)")
    if inserted:
        sentences.append(f"append {counted(inserted, 'row')}")
        calls.append("lance.fragment.write_fragments(rows, dataset)")
    words = "; ".join(sentences)
    arguments = {"file": ROWS_FILE, "columns": names, "in_place": work.in_place}
    arguments |= {"properties": _former_ids(work)}
    parts.add(Step("rows", f"{words[0].upper()}{words[1:]}.", "; ".join(calls), arguments))
    if inserted and come_back and sides.has_row_ids:
        rows = "1 row comes" if inserted == 1 else f"{inserted:,} rows come"
        ids = "a new row ID" if inserted == 1 else "new row IDs"
        parts.add(Loss("row_ids", f"{rows} back with {ids}", inserted))
    parts.add(*TableFacts(parts.place).index_losses(work))


def can_go_back(place: BranchVersion, version: int) -> bool:
    """Tell whether Lance can restore a version: not if stable row IDs were turned on later."""
    now, then = [place.view.version(one).records[0].manifest for one in (place.version, version)]
    return not now.reader_feature_flags & ~then.reader_feature_flags & STABLE_ROW_IDS


def go_back(parts: PlanParts, version: int, why: str) -> None:
    """Add the step that restores a version."""
    words = f"Restore version {version}, {why}."
    code = f"dataset.checkout_version({version}).restore()"
    parts.add(Step("restore", words, code, {"version": version}))
    parts.num_rows = place_rows(BranchVersion(parts.place.view, version)).num_rows


def _former_ids(work: RowWork) -> dict[str, str]:
    """Return a commit property with the IDs of the rows that come back, if they are few."""
    ids = work.former_row_ids
    return {"lance_explorer.former_row_ids": ", ".join(map(str, ids))} if ids else {}
