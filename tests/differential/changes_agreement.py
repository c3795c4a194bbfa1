"""What must agree between our changes, and comparing pylance's full scans of both versions.

A row of a scan is known by its address. Which row of one version is which row of the other is told
by the row ID or, in a table without stable ones, by the column ``key``, which no two rows share and
no commit changes. Values are compared in full.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from lance_explorer import Table
from lance_explorer.changes.frame import CHANGED_COLUMNS, CHANGES
from tests.differential.agreement import checked_out

__all__ = [
    "Scan",
    "Scans",
    "assert_all_agree",
    "assert_folds_to_net",
    "assert_right_net",
    "assert_same_by_key",
    "assert_same_commits",
    "assert_same_net",
    "kept_pairs",
]

ALL = ("moved", "column_added")
BEFORE, AFTER = "_rowaddr_before", "_rowaddr_after"
WRITTEN = ("updated", "column_rewritten", "restored")

Values = dict[str, Any]


@dataclass(frozen=True)
class Scan:
    """The rows of one version as pylance scans them, by address.

    ``overwrite`` is the last one that its line of commits is known to have, which gave out the IDs
    in ``fields`` anew; 0 if there is none. ``fields`` has the ID that a column had before it was
    cast, ``ids`` that of the version.
    """

    rows: dict[int, Values]
    identities: dict[int, int]
    fields: dict[str, int]
    ids: dict[str, int]
    overwrite: int

    def named_as_in(self, later: "Scan") -> "Scan":
        """Return the same with columns that were renamed by their later names."""
        if self.overwrite != later.overwrite:
            return self
        later_names = {field_id: name for name, field_id in later.fields.items()}
        names = {
            name: name if name in later.fields else later_names.get(field_id, name)
            for name, field_id in self.fields.items()
        }
        rows = {
            address: {names[name]: value for name, value in values.items()}
            for address, values in self.rows.items()
        }
        fields = {names[name]: id_ for name, id_ in self.fields.items()}
        return Scan(rows, self.identities, fields, self.ids, self.overwrite)


EMPTY = Scan({}, {}, {}, {}, 0)


class Scans:
    """The scans of the versions of a table, each made once."""

    def __init__(self) -> None:
        self._scans: dict[int, Scan] = {0: EMPTY}

    def of(self, table: Table, version: int) -> Scan:
        if version not in self._scans:
            self._scans[version] = self._made(table, version)
        return self._scans[version]

    def _made(self, table: Table, version: int) -> Scan:
        dataset = checked_out(table, version)
        columns = [*dataset.schema.names, "_rowid", "_rowaddr"]
        frame = pl.DataFrame(dataset.to_table(columns=columns))
        stable = table.at(version).has_stable_row_ids
        names = frame["_rowid"] if stable else frame["key"]
        addresses = frame["_rowaddr"].to_list()
        values = frame.select(dataset.schema.names).to_dicts()
        ids = {name: dataset.lance_schema.field(name).id() for name in dataset.schema.names}
        return Scan(
            dict(zip(addresses, values, strict=True)),
            dict(zip(addresses, names.to_list(), strict=True)),
            self._first_ids(table, version, ids),
            ids,
            last_overwrite(table, version),
        )

    def _first_ids(self, table: Table, version: int, ids: dict[str, int]) -> dict[str, int]:
        """Return the IDs of columns before they were cast, as far as kept versions tell."""
        operations = dict(table.versions().select("version", "operation").iter_rows())
        if version - 1 not in operations or operations[version] in ("Overwrite", "Restore"):
            return ids
        before = self.of(table, version - 1)
        first = {before.ids[name]: before.fields[name] for name in before.ids}
        first |= {
            ids[name]: before.fields[name]
            for name in ids.keys() & before.ids.keys()
            if before.ids[name] not in ids.values()
        }
        return {name: first.get(id_, id_) for name, id_ in ids.items()}


def last_overwrite(table: Table, version: int) -> int:
    """Return the last overwrite in the line of commits that made a version; 0 if none is kept."""
    operations = dict(table.versions().select("version", "operation").iter_rows())
    while version in operations and operations[version] != "Overwrite":
        before = version - 1
        if operations[version] == "Restore":
            before = checked_out(table, version).read_transaction(version).operation.version
        version = max([kept for kept in operations if kept <= before], default=0)
    return version


def kept_pairs(table: Table) -> Iterator[tuple[int, int]]:
    """Yield pairs of versions, the empty table among them, the earlier first.

    Of some ten versions all pairs; of more those that are 1, 2, 4, 8 ... versions apart, and those
    with the first or the last one.
    """
    versions = [0, *table.versions()["version"].to_list()]
    for place, begin in enumerate(versions):
        for distance, end in enumerate(versions[place + 1 :], 1):
            is_power = distance & (distance - 1) == 0
            if len(versions) <= 12 or is_power or begin == 0 or end == versions[-1]:
                yield begin, end


def assert_all_agree(table: Table) -> None:
    """Check all net changes, those of each commit, and that these fold to the net ones."""
    scans, kept = Scans(), table.versions()["version"].to_list()
    for begin, end in kept_pairs(table):
        assert_same_net(table, scans, begin, end)
    assert_same_commits(table)
    for begin in [0, *kept]:
        assert_same_by_key(table, scans, begin, kept[-1])
        if {*range(begin + 1, kept[-1] + 1)} <= {*kept}:
            assert_folds_to_net(table, scans, begin, kept[-1])


def assert_same_net(table: Table, scans: Scans, begin: int, end: int) -> None:
    """Check the net changes between two versions, their values, and their counts."""
    new = scans.of(table, end)
    old = scans.of(table, begin).named_as_in(new)
    changes = table.changes(begin, end, images="both", include=ALL)
    assert_right_net(changes.to_polars(), changes.summary(), old, new, f"{begin} to {end}")


def assert_right_net(
    feed: pl.DataFrame, summary: pl.DataFrame, old: Scan, new: Scan, where: str
) -> None:
    """Check all net changes with both images, and their counts, beside scans of both versions."""
    lines = feed.to_dicts()
    removed = {line[BEFORE]: line for line in lines if line["_change_type"] == "delete"}
    added_rows = {line[AFTER]: line for line in lines if line["_change_type"] == "insert"}
    kept = {
        line[BEFORE]: line
        for line in lines
        if line["_change_type"] not in ("delete", "insert", "update_preimage")
    }
    pre_images = {line[BEFORE]: line for line in lines if line["_change_type"] == "update_preimage"}
    assert len(removed) + len(added_rows) + len(kept) + len(pre_images) == len(lines), where
    unchanged = old.rows.keys() - removed.keys() - kept.keys()
    assert removed.keys() | kept.keys() <= old.rows.keys(), where
    assert new.rows.keys() - added_rows.keys() == unchanged | {
        line[AFTER] for line in kept.values()
    }, where

    for address, line in removed.items():
        assert shown(line, old.rows[address]), where
        assert line["is_uncertain"] or old.identities[address] not in new.identities.values(), where
    for address, line in added_rows.items():
        assert shown(line, new.rows[address]), where
        assert line["is_uncertain"] or new.identities[address] not in old.identities.values(), where
    for address in unchanged:
        assert old.identities[address] == new.identities[address], where
        assert not differing(old.rows[address], new.rows[address]), (address, where)
    for address, line in kept.items():
        values, now = old.rows[address], new.rows[line[AFTER]]
        assert old.identities[address] == new.identities[line[AFTER]], where
        assert shown(line, now), where
        if line["_event"] == "moved":
            assert line[BEFORE] != line[AFTER], where
            assert line["is_uncertain"] or not differing(values, now), where
            continue
        assert shown(pre_images[address], values), where
        common = [name for name in line["changed_columns"] if name in values and name in now]
        assert sorted(common) == sorted(differing(values, now)), where
        assert line["_event"] != "column_added" or not common, where
    assert_counts(summary, feed, len(old.rows), len(new.rows))


def assert_counts(summary: pl.DataFrame, feed: pl.DataFrame, num_old: int, num_new: int) -> None:
    """Check that classes are those of the feed, and add up."""
    [counts] = summary.to_dicts()
    rows = feed.filter(pl.col("_change_type").ne_missing("update_preimage"))
    told = dict(rows["_event"].cast(pl.String).value_counts().iter_rows())
    kept = ("updated", "column_rewritten", "column_added", "moved", "unchanged")
    for name in ("inserted", "deleted", *kept[:-1]):
        assert counts[name] == told.get(name, 0), (name, counts, told)
    assert counts["uncertain"] == rows["is_uncertain"].sum()
    assert num_old == counts["deleted"] + sum(counts[name] for name in kept)
    assert num_new == counts["inserted"] + sum(counts[name] for name in kept)


def assert_same_by_key(table: Table, scans: Scans, begin: int, end: int) -> None:
    """Check that rows are told apart by their keys where that is wanted."""
    old, new = ({row["key"] for row in scans.of(table, v).rows.values()} for v in (begin, end))
    feed = table.changes(begin, end, images="both", key="key", include=ALL).to_polars()
    by_type = {
        name: set(feed.filter(_change_type=name)["key"])
        for name in ("insert", "delete", "update_preimage", "update_postimage")
    }
    assert by_type["insert"] == new - old
    assert by_type["delete"] == old - new
    assert by_type["update_preimage"] == by_type["update_postimage"] <= old & new
    is_half = pl.col("_change_type").is_in(["insert", "delete"])
    assert not feed.filter(is_half, "is_uncertain").height


def assert_same_commits(table: Table) -> None:
    """Check that what each commit did is what differs between it and the version before."""
    feed = table.changes(0, mode="per_commit", images=None, include=ALL).to_polars()
    versions = table.versions()["version"].to_list()
    places = ["_change_type", "_rowid", BEFORE, AFTER]
    for previous, version in zip([0, *versions], versions, strict=False):
        if version != previous + 1:
            continue
        net = table.changes(previous, version, images=None, include=ALL).to_polars()
        commit = feed.filter(_commit_version=version)
        assert commit.select(places).equals(net.select(places)), (version, commit, net)


def assert_folds_to_net(table: Table, scans: Scans, begin: int, end: int) -> None:
    """Check that following rows through the feed of all commits ends in the net changes.

    Between both there must be no lost versions.
    """
    feed = table.changes(begin, end, "per_commit", images="both", include=ALL).to_polars()
    origin: dict[int, int | None] = {address: address for address in scans.of(table, begin).rows}
    were = {key: address for address, key in scans.of(table, begin).identities.items()}
    last: dict[int, dict[str, Any]] = {}
    for (version,), commit in feed.group_by("_commit_version", maintain_order=True):
        left, entered = {}, {}
        for line in commit.to_dicts():
            if line["_change_type"] == "update_preimage":
                continue
            if line[BEFORE] is not None:
                left[line[BEFORE]] = origin[line[BEFORE]]
            if line[AFTER] is not None:
                entered[line[AFTER]] = left.get(line[BEFORE])
                if line["_event"] == "restored" and line[BEFORE] is None:
                    key = scans.of(table, version).identities[line[AFTER]]
                    entered[line[AFTER]] = were.get(key)
                if line["_change_type"] == "update_postimage":
                    last[line[AFTER]] = line
        origin = {a: o for a, o in origin.items() if a not in left} | entered
    net = table.changes(begin, end, images="both", include=ALL).to_polars()
    lines = net.to_dicts()
    places = {line[side] for line in lines for side in (BEFORE, AFTER) if line["is_uncertain"]}
    unsure = places - {None}
    pairs = {(line[BEFORE], line[AFTER]) for line in lines}
    folded: set[tuple[int | None, int | None]] = {(old, new) for new, old in origin.items()}
    removed = scans.of(table, begin).rows.keys() - {before for before, _ in folded}
    folded |= {(address, None) for address in removed}
    pairs, folded = ({pair for pair in some if unsure.isdisjoint(pair)} for some in (pairs, folded))
    moved = {pair for pair in folded if pair[0] != pair[1]}
    assert moved <= pairs <= folded, (begin, end, moved - pairs, pairs - folded)
    for line in lines:
        if line["is_uncertain"] or line["_event"] != "updated":
            continue
        if line["_change_type"] == "update_postimage" and line[AFTER] in last:
            written = last[line[AFTER]]
            kept = {name: written[name] for name in scans.of(table, end).fields}
            dropped = dict.fromkeys([name for name in values_of(line) if name not in kept])
            assert shown(line, kept | dropped)


def values_of(line: dict[str, Any]) -> list[str]:
    """Return the names of the columns of values."""
    return [name for name in line if name not in (*CHANGES.names, CHANGED_COLUMNS)]


def shown(line: dict[str, Any], values: Values) -> bool:
    """Return whether a line of a feed has the values of a row."""
    return all(line[name] == value for name, value in values.items())


def differing(old: Values, new: Values) -> list[str]:
    """Return the common columns that have other values."""
    return [name for name in old.keys() & new.keys() if old[name] != new[name]]
