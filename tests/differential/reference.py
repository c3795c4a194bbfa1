"""What pylance, the reference, says of versions: all of it comes from its Python API.

Where pylance has no answer of its own, that is said by name and never by an exception.
"""

import re
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import lance

__all__ = [
    "NAMELESS",
    "UNREADABLE",
    "branches_of",
    "contents_of",
    "describe",
    "transaction_of",
]

NAMELESS = frozenset({"ReserveFragments", "UpdateBases", "UpdateMemWalState"})
"""Operations that pylance has no class for: it calls each of them BaseOperation."""

UNREADABLE = "a Rewrite that rewrote indices, of which pylance cannot make an object"

_UNREADABLE_REWRITE = re.compile("RewrittenIndex|new_index_details is a required field")

_MESSAGE_KEY = "__lance_commit_message"


def branches_of(path: Path) -> list[str | None]:
    """Return all branches of a table; None is the main branch."""
    return [None, *lance.dataset(path).branches.list()]


def describe(dataset: Any, branch: str | None) -> dict[str, Any]:
    """Return everything that pylance says of the version that a dataset stands at."""
    fragments = [fragment.metadata for fragment in dataset.get_fragments()]
    sizes = [file.file_size_bytes for fragment in fragments for file in _files_of(fragment)]
    tags = dataset.tags.list().items()
    indices = _list_indices(dataset)
    return {
        "version": dataset.version,
        "branch": branch,
        "timestamp": commit_time(dataset),
        "num_rows": dataset.count_rows(),
        "num_deleted_rows": sum(fragment.num_deletions for fragment in fragments),
        "num_fragments": len(fragments),
        "num_data_files": len(sizes),
        "data_bytes": sum(sizes) if all(sizes) else None,
        "num_indices": len({i["name"] for i in indices if not i["name"].startswith("__lance")}),
        "tags": ", ".join(
            sorted(
                name
                for name, tag in tags
                if (tag["branch"], tag["version"]) == (branch, dataset.version)
            )
        ),
        "data_format": dataset.data_storage_version.replace("0.1", "legacy"),
        "has_stable_row_ids": dataset.has_stable_row_ids,
        "fragments": [(f.id, f.physical_rows, f.num_deletions) for f in fragments],
        "data_files": [
            (fragment.id, *_describe_file(file), file not in fragment.files)
            for fragment in fragments
            for file in _files_of(fragment)
        ],
        "fields": _describe_fields(dataset.lance_schema.fields(), None, ""),
        "config": dataset.config(),
        "table_metadata": dataset.metadata,
        "schema_metadata": dataset.schema_metadata,
        "indices": sorted((i["uuid"], i["name"], i["version"]) for i in indices),
    }


def contents_of(dataset: Any) -> dict[str, Any]:
    """Return everything in a version but what tells commits apart: two equal ones are the same."""
    described = describe(dataset, None)
    same = ("fields", "config", "table_metadata", "schema_metadata")
    return {
        **{name: described[name] for name in same},
        "fragments": [fragment.metadata.to_json() for fragment in dataset.get_fragments()],
        "indices": {(i["uuid"], *i["fragment_ids"]) for i in _list_indices(dataset)},
        "base_paths": {key: base.path for key, base in dataset.base_paths().items()},
    }


def transaction_of(dataset: Any) -> dict[str, Any] | str:
    """Return what pylance says of a version's transaction, or UNREADABLE."""
    try:
        transaction = dataset.read_transaction(dataset.version)
    except (TypeError, OSError) as error:
        if _UNREADABLE_REWRITE.search(str(error)):
            return UNREADABLE
        raise
    properties = transaction.transaction_properties or {}
    return {
        "operation": type(transaction.operation).__name__,
        "read_version": transaction.read_version,
        "uuid": transaction.uuid,
        "message": properties.get(_MESSAGE_KEY),
        "properties": properties,
    }


def commit_time(dataset: Any) -> datetime:
    """Return the time of the version that is checked out; the public one went through a float."""
    nanoseconds = dataset._ds.current_version()["timestamp"]
    seconds, fraction = divmod(nanoseconds, 1_000_000_000)
    return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=fraction // 1000)


def _list_indices(dataset: Any) -> list[Any]:
    """Return the segments of indices; what replaces this call leaves out some of old writers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return list(dataset.list_indices())


def _files_of(fragment: Any) -> list[Any]:
    return [*fragment.files, *(overlay.data_file for overlay in fragment.overlays)]


def _describe_file(file: Any) -> tuple[Any, ...]:
    """Return path, fields and their places, format version, size and base of a data file."""
    version = f"{file.file_major_version}.{file.file_minor_version}"
    return (
        file.path,
        list(file.fields),
        list(file.column_indices),
        version if file.file_major_version else "legacy",
        file.file_size_bytes or None,
        file.base_id,
    )


def _describe_fields(fields: list[Any], parent_id: int | None, above: str) -> list[tuple[Any, ...]]:
    """Return id, path, name, parent, type, nullability, metadata of fields, depth first."""
    described = []
    for field in fields:
        logical_type = re.search(r'logical_type: LogicalType\("(.*?)"\)', repr(field))
        assert logical_type
        name = field.name()
        path = f"{above}`{name}`" if "." in name else f"{above}{name}"
        own = field.id(), path, name, parent_id, logical_type[1], field.to_arrow().nullable
        inner = _describe_fields(field.children(), field.id(), f"{path}.")
        described += [(*own, field.metadata), *inner]
    return described
