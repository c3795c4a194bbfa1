"""Lives of tables: what people do with them, one kind of thing at a time.

Each life is done by pylance on a ``Twin`` that was just created with ten rows in three fragments.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pyarrow as pa

from tests.differential.twin import ALL_KEYS, NO_KEYS, Keys, Twin

__all__ = ["Life", "live_on_branches", "lives"]

DATA_FORMATS = ("legacy", "2.0", "2.1", "2.2")

Script = Callable[[Twin], None]


def ordinary_days(twin: Twin) -> None:
    """Append, delete, delete a fragment, update, and all of them in vain; empty the table."""
    twin.append(6, message="six more")
    twin.delete(Keys(5, 3))
    twin.delete(Keys(5, 3))
    twin.delete_fragment(1)
    twin.update(Keys(3, 0))
    twin.update(NO_KEYS)
    twin.update(ALL_KEYS)
    twin.delete(NO_KEYS)
    twin.append(3)
    twin.update_all_columns(Keys(2, 1))
    twin.update_all_columns(NO_KEYS)
    twin.truncate()
    twin.truncate()
    twin.update(ALL_KEYS)
    twin.append(5)


def merges(twin: Twin) -> None:
    """Every way to merge, some of them in vain."""
    twin.upsert(Keys(4, 1), 3)
    twin.upsert(Keys(4, 2), 0)
    twin.upsert(NO_KEYS, 2)
    twin.upsert(NO_KEYS, 0)
    twin.upsert_where(Keys(2, 0), Keys(3, 0))
    twin.upsert_where(Keys(2, 0), NO_KEYS)
    twin.insert(Keys(2, 1), 3)
    twin.insert(ALL_KEYS, 0)
    twin.mirror(Keys(4, 0), 1, Keys(4, 3))
    twin.mirror(NO_KEYS, 0, Keys(7, 5))
    twin.mirror(NO_KEYS, 2, Keys(7, 6))
    twin.delete_matched(Keys(5, 2))
    twin.upsert_value(Keys(3, 1))


def merges_on_a_primary_key(twin: Twin) -> None:
    """Merge where transactions have a filter of the inserted keys."""
    merges(twin)
    twin.mirror(Keys(5, 1), 0, Keys(5, 4))
    twin.update(Keys(3, 2))


def columns(twin: Twin) -> None:
    """Add, cast, rename and drop columns, and write values in place."""
    twin.add_column("more")
    twin.cast_column("more", pa.int32())
    twin.delete(Keys(5, 3))
    twin.rename_column("more", "other")
    twin.append(3)
    if twin.data_format != "legacy":  # which stores no nulls of most types
        twin.add_null_column("nothing")
        twin.update(Keys(4, 0))
    twin.join_column("joined")
    twin.drop_column("other")
    twin.add_column("again")
    twin.drop_column("label")
    if twin.data_format != "legacy":  # whose files are either whole or not there
        twin.rewrite_value(Keys(6, 1))
        twin.rewrite_value(Keys(5, 4))
        twin.replace_value(0)
        twin.replace_value(1)
        twin.lay_over_value(Keys(3, 1))
        twin.delete(Keys(6, 4))
        twin.lay_over_value(Keys(2, 1))
        twin.update(Keys(5, 2))
    twin.compact()
    twin.drop_column("joined")


def casts_of_everything(twin: Twin) -> None:
    """Leave only columns that can be cast, and replace all data files of all fragments."""
    twin.drop_column("place")
    twin.drop_column("parts")
    twin.delete(Keys(4, 1))
    twin.cast_all_columns()
    twin.delete(Keys(3, 2))
    twin.cast_all_columns()
    twin.update(Keys(3, 0))


def indices(twin: Twin) -> None:
    """Create, optimize and drop indices, and compact beneath them."""
    twin.create_index("key", "BTREE")
    twin.create_index("value", "BITMAP")
    twin.append(6)
    twin.optimize_indices(num_indices_to_merge=0)
    twin.update(Keys(3, 0))
    if twin.data_format != "legacy":
        twin.rewrite_value(Keys(4, 2), by_index=True)
    twin.optimize_indices()
    twin.optimize_indices()
    twin.create_index("key", "BTREE")
    twin.delete(Keys(4, 1))
    twin.compact()
    twin.drop_index("value_index")
    twin.append(6)
    if not twin.stable_row_ids:  # with which pylance refuses to defer
        twin.compact(defer_index_remap=True)
        twin.delete(Keys(6, 2))
        twin.append(2)
        twin.compact(defer_index_remap=True)
        twin.optimize_indices()
    twin.drop_index("key_index")


def compactions(twin: Twin) -> None:
    """Compact everything, deletions alone, and nothing."""
    twin.append(6)
    twin.delete(Keys(4, 1))
    twin.compact(target_rows_per_fragment=6)
    twin.update(Keys(5, 0))
    twin.delete_fragment(0)
    twin.compact(materialize_deletions_threshold=0.0)
    twin.compact()
    twin.compact()
    twin.upsert(Keys(3, 2), 4)
    twin.compact()


def restores(twin: Twin) -> None:
    """Restore the current version, over every other operation, back and forward."""
    twin.append(4)
    twin.restore(2)
    twin.update(Keys(3, 1))
    twin.restore(3)
    twin.restore(4)
    twin.delete(Keys(2, 0))
    twin.upsert(Keys(3, 0), 2)
    twin.restore(6)
    twin.compact()
    twin.restore(8)
    twin.overwrite(7)
    twin.append(2)
    twin.restore(2)
    twin.add_column("more")
    twin.restore(twin.version - 1)
    twin.overwrite(0)
    twin.restore(1)
    twin.truncate()
    twin.restore(twin.version - 1)


def settings(twin: Twin) -> None:
    """Change configuration, metadata and bases, to what they were already, too."""
    twin.configure(owner="tests", team="red")
    twin.configure(owner="tests")
    twin.configure(team=None)
    twin.describe("metadata", purpose="to be compared")
    twin.describe("schema_metadata", purpose="to be compared")
    twin.describe("field_metadata", value={"unit": "m"})
    twin.describe("field_metadata", value={"unit": "m"})
    twin.add_base(f"{twin.uri}-more")
    if twin.has_primary_key:
        twin.initialize_mem_wal()
    twin.overwrite(3)
    twin.append(3)


def late_commits(twin: Twin) -> None:
    """Commit to a version that is not the latest any more."""
    twin.append_to_stale(2)
    twin.delete_from_stale(Keys(4, 1))
    twin.append_to_stale(1)


def cleanups(twin: Twin) -> None:
    """Remove versions in the middle, but not a tagged one, then at the front; go on after each."""
    twin.append(4)
    twin.tag("kept", 2)
    twin.delete(Keys(4, 1))
    twin.update(Keys(3, 0))
    twin.upsert(Keys(4, 2), 2)
    twin.compact()
    twin.append(3)
    twin.clean_up(versions=[2, 3, 5, 6])
    twin.update(Keys(3, 2))
    twin.restore(4)
    twin.overwrite(6)
    twin.upsert(Keys(3, 1), 1)
    twin.clean_up(versions=[1, 10])
    twin.tag("late", 12)
    twin.delete(Keys(2, 1))
    twin.add_column("more")
    twin.append(2)
    twin.clean_up(retain_versions=2)
    twin.delete(Keys(2, 0))


def old_names(twin: Twin) -> None:
    """Live on with version files named by the older scheme, then by the newer one."""
    twin.append(4)
    twin.delete(Keys(3, 0))
    twin.compact()
    twin.clean_up(versions=[2])
    twin.migrate_names()
    twin.update(Keys(3, 1))
    twin.clean_up(versions=[3])


LIVES: tuple[Script, ...] = (
    ordinary_days,
    merges,
    merges_on_a_primary_key,
    columns,
    casts_of_everything,
    indices,
    compactions,
    restores,
    settings,
    late_commits,
    cleanups,
    old_names,
)

OPTIONS: dict[Script, dict[str, bool]] = {
    merges_on_a_primary_key: {"has_primary_key": True},
    settings: {"has_primary_key": True},
    old_names: {"v2_names": False},
}
"""How the table of a life is made otherwise than others."""

REFUSED = {(merges_on_a_primary_key, "legacy")}
"""There pylance takes the key of a merge that only deletes by source for a nullable one."""


def live_on_branches(twin: Twin) -> dict[str | None, Twin]:
    """Branch, branch a branch, and go on everywhere; tag and clean up on a branch."""
    twin.append(4)
    twin.delete(Keys(5, 1))
    dev = twin.fork("dev")
    dev.append(3)
    dev.update(Keys(3, 0))
    deep = dev.fork("dev/deep")
    twin.update(Keys(4, 2))
    deep.delete(Keys(4, 3))
    deep.delete_fragment(0)
    deep.compact()
    dev.upsert(Keys(4, 0), 2)
    dev.restore(4)
    dev.append(2)
    early = twin.fork("early")
    early.overwrite(5)
    twin.append(2)
    twin.tag("trunk", 4)
    twin.dataset.tags.create("tip", ("dev", dev.version))
    dev.clean_up(versions=[4, 6])
    early.clean_up(retain_versions=1)
    return {"dev": dev, "dev/deep": deep, "early": early}


@dataclass(frozen=True, slots=True)
class Life:
    """A script and what kind of table it is done to."""

    script: Script
    stable_row_ids: bool
    data_format: str

    def __str__(self) -> str:
        identity = "stable" if self.stable_row_ids else "addresses"
        return f"{self.script.__name__}-{identity}-{self.data_format}"

    def live(self, folder: Path) -> Twin:
        """Make the table."""
        twin = Twin.create(
            str(folder / f"{self}.lance"),
            10,
            stable_row_ids=self.stable_row_ids,
            data_format=self.data_format,
            **OPTIONS.get(self.script, {}),
        )
        self.script(twin)
        return twin


def lives() -> Iterator[Life]:
    """Return every life of every kind of table that pylance can write."""
    for script, stable_row_ids, data_format in product(LIVES, (False, True), DATA_FORMATS):
        if (script, data_format) not in REFUSED:
            yield Life(script, stable_row_ids, data_format)
