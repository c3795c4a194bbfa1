"""What a plan does to configuration, metadata and indices."""

from collections.abc import Iterator

from lance_explorer.answers.calls import call
from lance_explorer.changes.diff_config import config_diff
from lance_explorer.format.indices import SYSTEM_INDICES, IndexMetadata
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.schema import NO_PARENT, field_paths
from lance_explorer.frames.config_entries import config_entries
from lance_explorer.frames.sizes import listed
from lance_explorer.history.history import VersionRecord
from lance_explorer.plans.records import Conflict, Step

__all__ = ["index_work", "rebuilt_index", "setting_work"]

_MAPS = {
    "config": "config_updates",
    "table_metadata": "table_metadata_updates",
    "schema_metadata": "schema_metadata_updates",
}

_KEYS = "lance-schema:unenforced-"
"""Entries of field metadata with these prefixes cannot be set later in Lance."""

_SIMPLE_TYPES = {
    "BTreeIndexDetails": "BTREE",
    "BitmapIndexDetails": "BITMAP",
    "LabelListIndexDetails": "LABEL_LIST",
    "NGramIndexDetails": "NGRAM",
    "ZoneMapIndexDetails": "ZONEMAP",
    "BloomFilterIndexDetails": "BLOOMFILTER",
}
"""Scalar indices without settings that affect results."""


def setting_work(
    undone: VersionRecord, before: VersionRecord, now: VersionRecord, *, overwrites: bool
) -> Iterator[Step | Conflict]:
    """Yield the step that sets entries back, and the entries that were changed again since."""
    entries = {(one.map, one.field, one.key): one.value for one in config_entries(now)}
    both = {*field_paths(undone.schema).values()} & {*field_paths(before.schema).values()}
    there = {*field_paths(now.schema).values()}
    maps, fields, count = dict[str, dict[str, str | None]](), dict[str, dict[str, str | None]](), 0
    for row in config_diff(undone, before).iter_rows(named=True):
        name, path, key = row["map"], row["field"], row["key"]
        shown = key if path is None else f"{key} of {path}"
        if path is not None and (path not in both or path not in there):
            continue
        value = entries.get((name, path, key))
        if value == row["value_after"]:
            continue
        if name == "clustering" or key.startswith(_KEYS):
            yield Conflict("not_possible", "setting", shown, note="pylance has no call for it")
        elif value != row["value_before"] and not overwrites:
            yield Conflict("changed_since", "setting", shown, row["value_after"], value)
        else:
            place = (
                maps.setdefault(_MAPS[name], {}) if path is None else fields.setdefault(path, {})
            )
            place[key] = row["value_after"]
            count += 1
    if count:
        verb = "entry" if count == 1 else "entries"
        words = f"Set {count:,} {verb} of configuration or metadata back."
        code = "LanceOperation.UpdateConfig(...)"
        yield Step("settings", words, code, {"maps": maps, "fields": fields})


def index_work(
    undone: VersionRecord, before: VersionRecord, now: VersionRecord
) -> Iterator[Step | Conflict | str]:
    """Yield steps that drop the index that a commit created, or create the one that it dropped."""
    if undone.operation != OperationName.CREATE_INDEX:
        return
    had, has, there = (
        {index.name: index for index in record.indices if index.name not in SYSTEM_INDICES}
        for record in (before, undone, now)
    )
    for name in sorted(has.keys() - had.keys()):
        if name in there:
            words = f"Drop index `{name}`."
            yield Step("drop_index", words, call("dataset.drop_index", name), {"name": name})
    for name in sorted(had.keys() - has.keys() - there.keys()):
        yield _built(now, had[name])
    replaced = [
        name
        for name in has.keys() & had.keys()
        if has[name].uuid != had[name].uuid and name in there
    ]
    if replaced:
        names = listed([f"`{name}`" for name in sorted(replaced)])
        yield f"Building an index again, or merging its segments, changes no row: {names} stays."


def rebuilt_index(now: VersionRecord, index: IndexMetadata) -> Iterator[Step | Conflict]:
    """Yield the steps that drop an index and build it again."""
    built = _built(now, index)
    if isinstance(built, Step):
        words, arguments = f"Drop index `{index.name}`.", {"name": index.name}
        yield Step("drop_index", words, call("dataset.drop_index", index.name), arguments)
    yield built


def _built(now: VersionRecord, index: IndexMetadata) -> Step | Conflict:
    """Return the step that builds an index, or why it cannot be built."""
    kind = _SIMPLE_TYPES.get((index.type_url or "").rpartition(".")[2])
    column = _column(now, index)
    if kind is None or column is None:
        note = "build it again, with the settings in `snapshot.indices()` of a version that has it"
        return Conflict("not_possible", "index", index.name, note=note)
    return Step(
        "create_index",
        f"Build index `{index.name}` on `{column}` anew.",
        call("dataset.create_scalar_index", column, kind, name=index.name),
        {"name": index.name, "column": column, "type": kind},
    )


def _column(now: VersionRecord, index: IndexMetadata) -> str | None:
    """Return the present name of the column of an index; None if it is not a whole column."""
    tops = {field.id: field.name for field in now.schema if field.parent_id == NO_PARENT}
    return tops.get(index.fields[0]) if len(index.fields) == 1 else None
