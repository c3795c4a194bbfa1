"""Compaction lineage as JSON in the config of a table.

Both forms that were proposed are read: ``rewrite_groups``, which counts the rows of fragments, and
``fragment_mappings``, which only names them.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, TypeVar

from lance_explorer.errors import CorruptFileError
from lance_explorer.format.fragments import LARGEST_FRAGMENT
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.rewrites.compaction_records import (
    CompactionLineage,
    CompactionLineageEntry,
    FragDigest,
    FragReuseGroup,
    newest_first,
)

__all__ = [
    "LINEAGE_KEY",
    "decode_lineage",
    "encode_lineage",
    "lasting_lineages",
    "stored_lineage",
]

LINEAGE_KEY = "lancedb::compaction_lineage"
"""The key in the config of a table."""

_LARGEST = (1 << 64) - 1

_T = TypeVar("_T")


def stored_lineage(config: Iterable[tuple[str, str]]) -> CompactionLineage | None:
    """Return the lineage in the config of a version; None if there is none.

    Parameters
    ----------
    config : iterable of tuple of (str, str)
        Keys and values.

    Examples
    --------
    >>> from lance_explorer.history.rewrites.stored_compactions import LINEAGE_KEY, stored_lineage
    >>> stored_lineage([(LINEAGE_KEY, '{"entries": [], "max_entries": 9}')])
    CompactionLineage: 0 compactions; at most 9 stored
    """
    text = dict(config).get(LINEAGE_KEY)
    return None if text is None else decode_lineage(text)


def lasting_lineages(history: History) -> Iterator[tuple[VersionRecord, str]]:
    """Yield the lineage in the configs of a history, undecoded, each with its last version.

    An entry that a later commit extended or limited is left out: a table that records each of its
    compactions has a list of each length.
    """
    for record, after in zip_longest(history.records, history.records[1:]):
        text = _stored_text(record)
        if text is not None and (after is None or not _took_over(record, text, after)):
            yield record, text


def decode_lineage(text: str) -> CompactionLineage:
    """Decode the JSON; entries are sorted, newest first."""
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _corrupt(f"no JSON: {error}") from error
    lineage = _object(loaded, "the lineage")
    max_entries = lineage.get("max_entries")
    return CompactionLineage(
        newest_first(_list(lineage, "entries", _entry)),
        None if max_entries is None else _number(lineage, "max_entries", least=1),
    )


def encode_lineage(lineage: CompactionLineage) -> str:
    """Encode as JSON: entries without counts use the form that only names fragments.

    Raises
    ------
    ValueError
        If an entry is not complete.

    Examples
    --------
    >>> from lance_explorer.history.rewrites.compaction_records import CompactionLineage
    >>> from lance_explorer.history.rewrites.stored_compactions import encode_lineage
    >>> encode_lineage(CompactionLineage(max_entries=9))
    '{"entries":[],"max_entries":9}'
    """
    encoded = {
        "entries": [_encoded_entry(entry) for entry in lineage.entries],
        "max_entries": lineage.max_entries,
    }
    return json.dumps(encoded, separators=(",", ":"))


def _stored_text(record: VersionRecord) -> str | None:
    return dict(record.manifest.config).get(LINEAGE_KEY)


def _took_over(record: VersionRecord, text: str, after: VersionRecord) -> bool:
    later = _stored_text(after)
    if later is None or after.operation != OperationName.UPDATE_CONFIG or after.transaction is None:
        return later == text
    return later == text or after.transaction.header.read_version == record.version


def _entry(value: Any) -> CompactionLineageEntry:
    entry = _object(value, "an entry")
    if "rewrite_groups" in entry:
        groups = _list(entry, "rewrite_groups", _group)
    else:
        groups = _mapped_groups(_list(entry, "fragment_mappings", _mapping))
    return CompactionLineageEntry(
        compaction_id=_text(entry, "compaction_id"),
        timestamp=_time(entry, "timestamp"),
        source_version=_number(entry, "source_version"),
        target_version=_number(entry, "target_version"),
        rewrite_groups=groups,
    )


def _group(value: Any) -> FragReuseGroup:
    group = _object(value, "a rewrite group")
    return FragReuseGroup(_list(group, "old_frags", _digest), _list(group, "new_frags", _digest))


def _digest(value: Any) -> FragDigest:
    digest = _object(value, "a fragment")
    physical_rows = _number(digest, "physical_rows", most=LARGEST_FRAGMENT)
    return FragDigest(
        _number(digest, "id"),
        physical_rows,
        _number(digest, "num_deleted_rows", most=physical_rows),
    )


def _mapping(value: Any) -> tuple[int, tuple[int, ...]]:
    mapping = _object(value, "a fragment mapping")
    sources = _list(mapping, "source_fragment_ids", lambda id_: _whole(id_, "a source fragment ID"))
    return _number(mapping, "target_fragment_id"), sources


def _mapped_groups(
    mappings: Iterable[tuple[int, tuple[int, ...]]],
) -> tuple[FragReuseGroup, ...]:
    """Return one group for all targets that have the same sources."""
    targets: dict[tuple[int, ...], list[int]] = {}
    for target, sources in mappings:
        targets.setdefault(sources, []).append(target)
    return tuple(
        [FragReuseGroup(_named(sources), _named(many)) for sources, many in targets.items()]
    )


def _named(ids: Iterable[int]) -> tuple[FragDigest, ...]:
    return tuple([FragDigest(id_, None, None) for id_ in ids])


def _encoded_entry(entry: CompactionLineageEntry) -> dict[str, Any]:
    if entry.timestamp is None or not entry.is_complete:
        raise ValueError(f"the entry of version {entry.target_version} is not complete")
    return {
        "compaction_id": entry.compaction_id,
        "timestamp": entry.timestamp.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "source_version": entry.source_version,
        "target_version": entry.target_version,
        **_encoded_groups(entry.rewrite_groups),
    }


def _encoded_groups(groups: tuple[FragReuseGroup, ...]) -> dict[str, Any]:
    digests = [digest for group in groups for digest in (*group.old_frags, *group.new_frags)]
    if any(None in (digest.physical_rows, digest.num_deleted_rows) for digest in digests):
        mappings = [
            {
                "target_fragment_id": new.id,
                "source_fragment_ids": [old.id for old in group.old_frags],
            }
            for group in groups
            for new in group.new_frags
        ]
        return {"fragment_mappings": mappings}
    return {"rewrite_groups": [_encoded_group(group) for group in groups]}


def _encoded_group(group: FragReuseGroup) -> dict[str, Any]:
    return {
        "changed_row_addrs": [],  # readers in Rust require it
        "old_frags": [_encoded_digest(digest) for digest in group.old_frags],
        "new_frags": [_encoded_digest(digest) for digest in group.new_frags],
    }


def _encoded_digest(digest: FragDigest) -> dict[str, int | None]:
    return {
        "id": digest.id,
        "physical_rows": digest.physical_rows,
        "num_deleted_rows": digest.num_deleted_rows,
    }


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _corrupt(f"{what} is {_shown(value)}: expected an object")
    return value


def _list(value: dict[str, Any], key: str, convert: Callable[[Any], _T]) -> tuple[_T, ...]:
    items = value.get(key)
    if not isinstance(items, list):
        raise _corrupt(f"{key} is {_shown(items)}: expected a list")
    return tuple([convert(item) for item in items])


def _number(value: dict[str, Any], key: str, least: int = 0, most: int = _LARGEST) -> int:
    return _whole(value.get(key), key, least, most)


def _whole(value: Any, what: str, least: int = 0, most: int = _LARGEST) -> int:
    if type(value) is not int or not least <= value <= most:
        raise _corrupt(f"{what} is {_shown(value)}: expected a number from {least} to {most}")
    return value


def _text(value: dict[str, Any], key: str) -> str:
    text = value.get(key)
    if not isinstance(text, str) or not text or not text.isprintable():
        raise _corrupt(f"{key} is {_shown(text)}: expected text")
    return text


def _time(value: dict[str, Any], key: str) -> datetime:
    text = _text(value, key)
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _corrupt(f"{key} is {_shown(text)}: expected a time, as RFC 3339 has it") from error


def _corrupt(problem: str) -> CorruptFileError:
    return CorruptFileError(f"config key {LINEAGE_KEY}: {problem}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
