"""Nothing is certain that is false: our answers about a table whose rows have a key.

For tables that commits beyond the contract made (docs/EVIDENCE.md): they need not be exact. What is
uncertain, or lost, may be anything.
"""

from collections.abc import Iterator
from typing import Any

import lance
import polars as pl

from lance_explorer import Table, open_table

__all__ = ["false_certainties"]

_Rows = dict[int, tuple[Any, ...]]
"""The key of each row of a version and its other values, by its address."""

_ALL = ("moved", "column_added")


def false_certainties(uri: str, key: str = "key") -> list[str]:
    """Return what our answers say with certainty, and what is not so, between all versions."""
    table, seen = open_table(uri), _seen(uri, key)
    found = list[str]()
    for begin in seen:
        for end in seen:
            found += _followed(table, begin, end, seen)
            if begin < end:
                net = table.changes(begin, end, images=None, include=_ALL).to_polars()
                found += _changed(net, seen[begin], seen[end], f"net {begin} to {end}")
    commits = table.changes(min(seen), mode="per_commit", images=None, include=_ALL).to_polars()
    for before, after in zip([*seen], [*seen][1:], strict=False):
        own = commits.filter(pl.col("_commit_version").is_between(before + 1, after))
        if before + 1 == after:
            found += _changed(own, seen[before], seen[after], f"commit {after}")
    return [*found, *_unknown(table, seen)]


def _seen(uri: str, key: str) -> dict[int, _Rows]:
    """Return the rows of all kept versions as pylance reads them."""
    found = dict[int, _Rows]()
    for version in sorted(known["version"] for known in lance.dataset(uri).versions()):
        rows = lance.dataset(uri, version=version).to_table(with_row_address=True)
        names = [name for name in rows.column_names if name not in (key, "_rowaddr")]
        columns = [rows[name].to_pylist() for name in ("_rowaddr", key, *names)]
        found[version] = {address: values for address, *values in zip(*columns, strict=True)}  # type: ignore[misc]
    return found


def _is_certain(line: dict[str, Any]) -> bool:
    return not line["is_uncertain"] and line["evidence"] != "lost"


def _changed(frame: pl.DataFrame, old: _Rows, new: _Rows, told: str) -> Iterator[str]:
    keys = [{values[0] for values in rows.values()} for rows in (old, new)]
    listed = set[int]()
    for line in frame.iter_rows(named=True):
        before, after = line["_rowaddr_before"], line["_rowaddr_after"]
        listed.add(before)
        if line["_event"] == "lost" or not _is_certain(line):
            continue
        where = f"{told}: {line['_event']} from {before} to {after}, {line['evidence']}"
        goes, comes = old.get(before, (None,)), new.get(after, (None,))
        if before is not None and after is not None:
            if goes[0] != comes[0]:
                yield f"{where}: key {goes[0]} becomes {comes[0]}"
            elif line["_event"] == "moved" and len(goes) == len(comes) and goes != comes:
                yield f"{where}: {goes} becomes {comes}"
        elif after is None and goes[0] in keys[1]:
            yield f"{where}: key {goes[0]} is there"
        elif before is None and comes[0] in keys[0]:
            yield f"{where}: key {comes[0]} was there"
    if (frame["_event"] == "lost").any():
        return  # a line that says that there may be others
    for address in old.keys() & new.keys() - listed:
        if len(old[address]) == len(new[address]) and old[address] != new[address]:
            yield f"{told}: {old[address]} at {address} is said to be {new[address]}"


def _followed(table: Table, begin: int, end: int, seen: dict[int, _Rows]) -> Iterator[str]:
    before = seen[begin]
    places = {values[0]: address for address, values in seen[end].items()}
    frame = table.follow_addresses([*before], begin, end)
    for values, line in zip(before.values(), frame.iter_rows(named=True), strict=True):
        where = f"follow {values} from {begin} to {end}: {line}"
        if not _is_certain(line) or "_or_" in line["outcome"]:
            continue
        if line["outcome"] == "live" and line["end_rowaddr"] != places.get(values[0]):
            yield f"{where}; it is at {places.get(values[0])}"
        if line["outcome"] in ("deleted", "created") and values[0] in places:
            yield f"{where}; it is there"


def _unknown(table: Table, seen: dict[int, _Rows]) -> Iterator[str]:
    """Yield events that are about no row, and rows whose counts are wrong."""
    for line in table.versions().iter_rows(named=True):
        if line["num_rows"] != len(seen[line["version"]]):
            yield f"version {line['version']} has {len(seen[line['version']])} rows"
        before = seen.get(line["version"] - 1)
        is_whole = [*seen][: line["version"]] == [*range(1, line["version"] + 1)]
        if before is None or line["rows_added"] is None or not is_whole:
            continue
        keys, old = [
            {values[0] for values in rows.values()} for rows in (seen[line["version"]], before)
        ]
        ever = {v[0] for n, rows in seen.items() if n < line["version"] for v in rows.values()}
        if line["rows_added"] not in (len(keys - old), len(keys - ever)):
            yield f"version {line['version']} is said to add {line['rows_added']} rows"
