"""Carries out a plan: this script is written beside the rows of a plan, with the plan in it."""

import argparse
import getpass
import hashlib
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import lance
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lance.fragment import FragmentMetadata, RowIdSequence, write_fragments

PLAN: Any = {}

# The rest is the same in every plan.

HERE = Path(__file__).resolve().parent
FRAGMENT = 2**32

Operation: TypeAlias = lance.LanceOperation.BaseOperation
LONGEST_PREDICATE = 2_000


def main() -> None:
    """Carry out the plan, or say why not."""
    parser = argparse.ArgumentParser(description=PLAN["title"])
    parser.add_argument("table", help="path or URI of the table, or of a copy of it")
    parser.add_argument("--author", default=PLAN["author"] or getpass.getuser())
    parser.add_argument(
        "--storage-option", action="append", default=[], metavar="KEY=VALUE", help="can be repeated"
    )
    arguments = parser.parse_args()
    options = dict(option.split("=", 1) for option in arguments.storage_option)
    moved = [set_aside(arguments.table, **damaged) for damaged in PLAN["set_aside"]]
    try:
        dataset = opened(arguments.table, options)
    except Exception as error:  # noqa: BLE001  whatever pylance raises, people need the reason
        stop(f"pylance cannot open the table: {reason_of(error)}")
    done, version = steps_done(dataset)
    if moved and not PLAN["steps"] and not any(moved):
        print("The table has no such damaged file: nothing was done.")
        return
    if done == len(PLAN["steps"]) and not any(moved):
        print(f"This plan was carried out already, in version {version}: nothing was done.")
        return
    if version != dataset.version:
        stop(
            f"the plan was made for version {PLAN['version']}, and version {version + 1} was "
            "committed since: make the plan again",
            done,
        )
    if not done:
        check_table(dataset)
    for number, step in enumerate(PLAN["steps"][done:], done):
        print(f"{number + 1}/{len(PLAN['steps'])} {step['words']}", flush=True)
        try:
            operation = STEPS[step["kind"]](dataset, step)
            if operation is not None:
                commit(dataset, operation, number, arguments.author)
        except Exception as error:  # noqa: BLE001  whatever pylance raises, people need the step and the reason
            stop(f"in step {number + 1} pylance refused: {reason_of(error)}", number)
        dataset = opened(arguments.table, options)
    check_result(dataset)
    print(f"Done: the table is at version {dataset.version}.")
    back = PLAN["version"] if PLAN["branch"] is None else (PLAN["branch"], PLAN["version"])
    if PLAN["steps"]:
        print(f"To undo everything: dataset.checkout_version({back!r}).restore()")


def stop(reason: str, done: int = 0) -> NoReturn:
    """End without a commit, after so many steps."""
    begin = f"Stopped after step {done}" if done else "Nothing was done"
    sys.exit(f"{begin}: {reason}.")


def reason_of(error: Exception) -> str:
    """Return the first line of what an error says."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def set_aside(table: str, file: str, sha256: str) -> bool:
    """Move a damaged manifest out of the table, to the plan; tell whether it was still there.

    A file of that name with other bytes belongs to another table or a later commit.
    """
    if "://" in table:
        print(f"Move {file} out of the table first, if it is still there, and keep a copy of it.")
        return False
    place = Path(table, file)
    if place.exists() and hashlib.sha256(place.read_bytes()).hexdigest() == sha256:
        print(f"Moving {file} to {HERE / 'set_aside'}", flush=True)
        (HERE / "set_aside").mkdir(exist_ok=True)
        shutil.move(place, HERE / "set_aside" / place.name)
        return True
    return False


def opened(uri: str, options: dict[str, str]) -> lance.LanceDataset:
    """Open the latest version of the plan's branch."""
    dataset = lance.dataset(uri, storage_options=options or None)
    return dataset if PLAN["branch"] is None else dataset.checkout_version((PLAN["branch"], None))


def at(dataset: lance.LanceDataset, branch: str | None, version: int) -> lance.LanceDataset:
    """Return a version of a branch; None is the main branch."""
    return dataset.checkout_version((branch, version))


def steps_done(dataset: lance.LanceDataset) -> tuple[int, int]:
    """Return how many steps the table already has, and the version of the last of them."""
    done, version = 0, PLAN["version"]
    if dataset.version < version:
        stop(f"the plan was made for version {version}, and the table is at {dataset.version}")
    while done < len(PLAN["steps"]) and version < dataset.version:
        if not is_step(dataset, version + 1, done):
            break
        done, version = done + 1, version + 1
    return done, version


def is_step(dataset: lance.LanceDataset, version: int, number: int) -> bool:
    """Tell whether a commit is a step of the plan."""
    transaction = dataset.read_transaction(version)
    if transaction is None:
        return False
    properties = transaction.transaction_properties or {}
    if "lance_explorer.plan" in properties:
        own = properties["lance_explorer.plan"], properties["lance_explorer.step"]
        return own == (PLAN["id"], str(number))
    step = PLAN["steps"][number]
    if step["kind"] not in PLAIN:
        return False
    operations, is_done = PLAIN[step["kind"]]
    kind = type(transaction.operation).__name__
    return kind in operations and is_done(at(dataset, PLAN["branch"], version), step)


def check_table(dataset: lance.LanceDataset) -> None:
    """Stop unless the table has the files that the plan was made for."""
    if fingerprint(dataset) != PLAN["fingerprint"]:
        stop("the files of this version are not those that the plan was made for")


def fingerprint(dataset: lance.LanceDataset) -> str:
    """Return a digest of the names of all data files."""
    lines = [
        f"{fragment.fragment_id} {file.path}"
        for fragment in dataset.get_fragments()
        for file in fragment.metadata.files
    ]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def commit(
    dataset: lance.LanceDataset,
    operation: Operation,
    number: int,
    author: str,
) -> None:
    """Commit an operation with properties that name the plan."""
    properties = {
        "lance_explorer.plan": PLAN["id"],
        "lance_explorer.step": str(number),
        "author": author,
        "__lance_commit_message": PLAN["reason"],
        **PLAN["steps"][number].get("properties", {}),
    }
    transaction = lance.Transaction(
        read_version=dataset.version, operation=operation, transaction_properties=properties
    )
    lance.LanceDataset.commit(dataset, transaction)


def read(name: str) -> pa.Table:
    """Return rows of the plan; they stay on disk."""
    with pa.memory_map(str(HERE / name)) as file:
        return pa.ipc.open_file(file).read_all()


def fragment_of(dataset: lance.LanceDataset, fragment_id: int) -> lance.LanceFragment:
    """Return a fragment of the table."""
    fragment = dataset.get_fragment(fragment_id)
    if fragment is None:
        raise ValueError(f"the table has no fragment {fragment_id}")
    return fragment


def by_fragment(rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of each fragment, by address."""
    rows = rows.sort_by("_rowaddr")
    fragments, starts = np.unique(rows["_rowaddr"].to_numpy() // FRAGMENT, return_index=True)
    spans = pairwise([*starts.tolist(), len(rows)])
    for fragment_id, (start, stop) in zip(fragments.tolist(), spans, strict=True):
        yield fragment_id, rows.slice(start, stop - start)


def as_stored(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return rows in the types of the table's columns."""
    columns, fields = [], []
    for column, own in zip(rows.columns, rows.schema, strict=True):
        field = schema.field(own.name) if own.name in schema.names else own
        if getattr(field.type, "extension_name", None) == "lance.blob.v2":
            blobs = lance.blob_array(column.to_pylist())
            columns.append(blobs)
            fields.append(field.with_type(blobs.type))
        else:
            columns.append(column.cast(field.type))
            fields.append(field)
    return pa.table(columns, pa.schema(fields, schema.metadata))


def write_rows(dataset: lance.LanceDataset, step: Any) -> Operation:
    """Write values in place, delete rows and append rows, in one commit."""
    rows = read(step["file"])
    repaired = step.get("fragments", [])
    changes = {name: rows.filter(pc.equal(rows["_change"], name)) for name in CHANGES}
    moved = changes["update"].slice(0, 0)
    if not step["in_place"]:  # legacy files, where pylance writes only live rows, or damaged ones
        moved, changes["update"] = changes["update"], moved
        changes["delete"] = pa.concat_tables([changes["delete"], moved])
    updated, offsets = dict[int, Any](), dict[int, bytes]()
    modified = list[int]()
    for fragment_id, some in by_fragment(changes["update"]):
        fragment = fragment_of(dataset, fragment_id)
        updated[fragment_id], modified, offsets[fragment_id] = fragment.update_columns(
            as_stored(some.select(["_rowaddr", *step["columns"]]), dataset.schema),
            left_on="_rowaddr",
            right_on="_rowaddr",
            with_offsets=True,
        )
    removed, predicates = [*repaired], [f"_fragid = {one}" for one in repaired]
    for fragment_id, some in by_fragment(changes["delete"]):
        if fragment_id in repaired:
            continue
        predicate = f"_rowaddr IN ({', '.join(map(str, some['_rowaddr'].to_pylist()))})"
        predicates.append(predicate)
        left = fragment_of(dataset, fragment_id).delete(predicate)
        if left is None:
            removed.append(fragment_id)
        elif fragment_id in updated:
            one = updated[fragment_id]
            updated[fragment_id] = replace(one, deletion_file=left.deletion_file)
        else:
            updated[fragment_id] = left
    new = [*appended(dataset, changes["insert"]), *appended(dataset, moved, are_moved=True)]
    operation: Operation
    if new and not updated and not removed:
        operation = lance.LanceOperation.Append(new)
    elif not new and not modified:
        predicate = " OR ".join(predicates)
        if len(predicate) > LONGEST_PREDICATE:
            predicate = f"{len(changes['delete'])} rows of plan {PLAN['id']}"
        operation = lance.LanceOperation.Delete([*updated.values()], removed, predicate)
    else:
        operation = lance.LanceOperation.Update(
            removed_fragment_ids=removed,
            updated_fragments=[*updated.values()],
            new_fragments=new,
            fields_modified=modified,
            # Otherwise indices would claim to cover rows that are new.
            fields_for_preserving_frag_bitmap=[*field_ids(dataset.lance_schema.fields())],
            update_mode="rewrite_columns" if modified else "rewrite_rows",
            updated_fragment_offsets=offsets or None,
        )
    return operation


def appended(
    dataset: lance.LanceDataset, rows: pa.Table, *, are_moved: bool = False
) -> Iterator[FragmentMetadata]:
    """Write rows into new fragments; moved rows keep their row IDs."""
    if not len(rows):
        return
    values, start = rows.select(dataset.schema.names), 0
    for fragment in write_fragments(as_stored(values, dataset.schema), dataset):
        if are_moved and dataset.has_stable_row_ids:
            ids = RowIdSequence(rows["_rowid"].slice(start, fragment.physical_rows))
            yield replace(fragment, row_id_meta=ids.to_inline_metadata())
        else:
            yield fragment
        start += fragment.physical_rows


def field_ids(fields: Any) -> Iterator[int]:
    """Yield the IDs of fields and of their nested fields."""
    for field in fields:
        yield field.id()
        yield from field_ids(field.children())


def add_columns(dataset: lance.LanceDataset, step: Any) -> Operation | None:
    """Add columns with values at some addresses, and nulls elsewhere."""
    values = read(step["file"])
    fragments = dataset.get_fragments()
    if not fragments:  # Lance does not accept properties here
        dataset.add_columns(values.drop_columns("_rowaddr").schema)
        return None
    some, schema, made = dict(by_fragment(values)), dataset.lance_schema, []
    nowhere = pa.table([[2**64 - 1], *[[None]] * len(step["names"])], schema=values.schema)
    for fragment in fragments:
        rows = some.get(fragment.fragment_id, nowhere)
        metadata, schema = fragment.merge(rows, left_on="_rowaddr", right_on="_rowaddr")
        made.append(metadata)
    return lance.LanceOperation.Merge(made, schema)


def leave_out(_: lance.LanceDataset, step: Any) -> Operation:
    """Take fragments out of the table."""
    predicate = f"the rows of {len(step['fragments'])} damaged fragments"
    return lance.LanceOperation.Delete([], step["fragments"], predicate)


def undelete(dataset: lance.LanceDataset, step: Any) -> Operation:
    """Give fragments the deletion files that they had in an earlier version."""
    then = at(dataset, PLAN["branch"], step["version"])
    made, removed = [], []
    for fragment_id in step["fragments"]:
        former: Any = fragment_of(then, fragment_id)
        if step["deleted"]:
            former = former.delete(f"_rowaddr IN ({', '.join(map(str, step['deleted']))})")
        else:
            former = former.metadata
        if former is None:
            removed.append(fragment_id)
        else:
            one = fragment_of(dataset, fragment_id).metadata
            made.append(replace(one, deletion_file=former.deletion_file))
    words = "the deletions before the damage, plus the rows that are elsewhere now"
    return lance.LanceOperation.Delete(made, removed, words)


def restore(_: lance.LanceDataset, step: Any) -> Operation:
    """Go back to a version."""
    return lance.LanceOperation.Restore(step["version"])


def set_entries(dataset: lance.LanceDataset, step: Any) -> Operation:
    """Set entries of configuration and metadata; None removes one."""
    maps = {name: lance.LanceOperation.UpdateMap(entries) for name, entries in step["maps"].items()}
    fields = {
        field.id(): lance.LanceOperation.UpdateMap(entries)
        for path, entries in step["fields"].items()
        if (field := dataset.lance_schema.field(path)) is not None
    }
    return lance.LanceOperation.UpdateConfig(**maps, field_metadata_updates=fields or None)


def drop_columns(dataset: lance.LanceDataset, step: Any) -> None:
    """Drop columns; Lance does not accept properties here."""
    dataset.drop_columns(step["names"])


def alter_columns(dataset: lance.LanceDataset, step: Any) -> None:
    """Give columns their former names and types; Lance does not accept properties here."""
    there = at(dataset, step["branch"], step["types_of"]).schema
    alterations: list[Any] = []
    for one in step["alterations"]:
        made = {"path": one["path"]}
        if one["name"] != one["path"]:
            made["name"] = one["name"]
        if "type" in one:
            made["data_type"] = there.field(one["name"]).type
        alterations.append(made)
    dataset.alter_columns(*alterations)


def drop_index(dataset: lance.LanceDataset, step: Any) -> None:
    """Drop an index; Lance does not accept properties here."""
    dataset.drop_index(step["name"])


def create_index(dataset: lance.LanceDataset, step: Any) -> None:
    """Create a scalar index; Lance does not accept properties here."""
    dataset.create_scalar_index(step["column"], step["type"], name=step["name"])


def index_names(dataset: lance.LanceDataset) -> list[str]:
    """Return the names of all indices."""
    return [index.name for index in dataset.describe_indices()]


def is_altered(dataset: lance.LanceDataset, step: Any) -> bool:
    """Tell whether columns have their former names and types."""
    former = at(dataset, step["branch"], step["types_of"]).schema
    here = {field.name: field.type for field in dataset.schema}
    return all(
        one["name"] in here
        and ("type" not in one or here[one["name"]] == former.field(one["name"]).type)
        for one in step["alterations"]
    )


def is_added(dataset: lance.LanceDataset, step: Any) -> bool:
    """Tell whether columns were added to a table without fragments."""
    return not dataset.get_fragments() and {*step["names"]} <= {*dataset.schema.names}


def check_result(dataset: lance.LanceDataset) -> None:
    """Check that the table is what the plan promised."""
    wrong = []
    if PLAN["num_rows"] not in (None, dataset.count_rows()):
        wrong.append(f"it has {dataset.count_rows()} rows, and not {PLAN['num_rows']}")
    for step in PLAN["steps"]:
        if step["kind"] == "rows" and step["in_place"]:
            wrong += wrong_rows(dataset, read(step["file"]), step["columns"])
    if wrong:
        back = PLAN["version"]
        sys.exit(
            f"The table is not what the plan promised: {'; '.join(wrong)}. Somebody may have "
            f"committed at the same time. Version {back} is the one before the plan."
        )


def wrong_rows(dataset: lance.LanceDataset, rows: pa.Table, columns: list[str]) -> Iterator[str]:
    """Yield what is wrong with updated rows, and keys that are now there twice."""
    for fragment_id, some in by_fragment(rows.filter(pc.equal(rows["_change"], "update"))):
        scanner = dataset.scanner(
            columns=columns,
            with_row_address=True,
            fragments=[fragment_of(dataset, fragment_id)],
            blob_handling="all_binary",
        )
        stored = scanner.to_table()
        stored = stored.filter(pc.is_in(stored["_rowaddr"], some["_rowaddr"]))
        if any(repr(stored[one].to_pylist()) != repr(some[one].to_pylist()) for one in columns):
            yield f"rows of fragment {fragment_id} have other values"
    key = PLAN["key"]
    brought = rows.filter(pc.equal(rows["_change"], "insert"))
    if key and len(brought):
        keys = dataset.to_table(columns=key)
        counts = keys.group_by(key).aggregate([([], "count_all")])
        twice = counts.filter(pc.greater(counts["count_all"], 1)).drop_columns("count_all")
        stored = brought.select(key).join(twice, key, join_type="left semi")
        if len(stored):
            first = stored.slice(0, 1).to_pylist()[0]
            yield f"{len(stored)} keys that the plan brought are there twice, such as {first}"


CHANGES = ("update", "delete", "insert")

STEPS = {
    "rows": write_rows,
    "add_columns": add_columns,
    "leave_out": leave_out,
    "undelete": undelete,
    "restore": restore,
    "settings": set_entries,
    "drop_columns": drop_columns,
    "alter_columns": alter_columns,
    "drop_index": drop_index,
    "create_index": create_index,
}

PLAIN: dict[str, tuple[tuple[str, ...], Callable[[Any, Any], bool]]] = {
    "add_columns": (("Merge",), is_added),
    "drop_columns": (
        ("Project",),
        lambda dataset, step: not {*step["names"]} & {*dataset.schema.names},
    ),
    "alter_columns": (("Project", "Merge"), is_altered),
    "drop_index": (
        ("CreateIndex",),
        lambda dataset, step: step["name"] not in index_names(dataset),
    ),
    "create_index": (
        ("CreateIndex",),
        lambda dataset, step: step["name"] in index_names(dataset),
    ),
}
"""The steps that Lance commits without properties: their operations, and a test of being done."""

if __name__ == "__main__":
    main()
