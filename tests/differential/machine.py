"""Whatever can be done to a table, in whatever order hypothesis comes up with, done by pylance."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import Phase
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from lance_explorer import open_table
from lance_explorer.table import Table
from tests.differential.lives import DATA_FORMATS
from tests.differential.twin import OTHER_TYPE, Keys, Twin

__all__ = ["PHASES", "TwinMachine"]

PHASES = (Phase.reuse, Phase.generate)
"""A failure is shown as it was found. With Phase.shrink it gets short, which takes minutes."""

KEYS = st.builds(Keys, st.integers(1, 4), st.integers(0, 4))
SMALL = st.integers(0, 5)
ANY = st.integers(0, 1000)


class TwinMachine(RuleBasedStateMachine):
    """A table that pylance writes, the dict that tells what must be in it, and two tables of ours.

    A subclass refreshes ``table`` after each step and ``late_table`` now and then. It says what
    must hold: in an invariant after each step, and in ``check`` at the end.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.names = 0

    def teardown(self) -> None:
        try:
            if hasattr(self, "twin"):
                self.check(self.open())
        finally:
            self.folder.cleanup()

    def check(self, table: Table) -> None:
        """Check the table as it is opened anew after the last step."""

    @initialize(
        stable_row_ids=st.booleans(),
        spills=st.booleans(),
        data_format=st.sampled_from(DATA_FORMATS),
        v2_names=st.booleans(),
        on_a_branch=st.booleans(),
        num_rows=st.integers(0, 10),
    )
    def create(self, stable_row_ids, spills, data_format, v2_names, on_a_branch, num_rows):
        self.root = str(Path(self.folder.name, "table.lance"))
        self.twin = Twin.create(
            self.root,
            num_rows,
            v2_names=v2_names,
            stable_row_ids=stable_row_ids,
            data_format=data_format,
        )
        if spills:
            self.twin.spill()
        if on_a_branch:
            self.twin.append(3)
            self.twin = self.twin.fork("work")
        self.table = self.open()
        self.late_table = self.open()

    def open(self) -> Table:
        return open_table(self.root, self.twin.branch)

    def new_name(self) -> str:
        self.names += 1
        return f"name_{self.names}"

    # ------------------------------------------------------------------------------- rules

    @rule(num_rows=st.integers(1, 9))
    def append(self, num_rows):
        self.twin.append(num_rows)

    @rule(num_rows=st.integers(1, 3))
    def append_to_stale(self, num_rows):
        self.twin.append_to_stale(num_rows)

    @rule(num_rows=SMALL)
    def overwrite(self, num_rows):
        self.twin.overwrite(num_rows)

    @rule(keys=KEYS)
    def delete(self, keys):
        self.twin.delete(keys)

    @rule(position=ANY)
    def delete_fragment(self, position):
        self.twin.delete_fragment(position)

    @rule()
    def truncate(self):
        self.twin.truncate()

    @rule(keys=KEYS)
    def update(self, keys):
        self.twin.update(keys)

    @rule(keys=KEYS)
    def update_all_columns(self, keys):
        self.twin.update_all_columns(keys)

    @rule(keys=KEYS, num_new=SMALL)
    def upsert(self, keys, num_new):
        self.twin.upsert(keys, num_new)

    @rule(keys=KEYS, condition=KEYS)
    def upsert_where(self, keys, condition):
        self.twin.upsert_where(keys, condition)

    @rule(keys=KEYS, num_new=SMALL)
    def insert(self, keys, num_new):
        self.twin.insert(keys, num_new)

    @rule(keys=KEYS, num_new=SMALL, absent=KEYS)
    def mirror(self, keys, num_new, absent):
        self.twin.mirror(keys, num_new, absent)

    @rule(keys=KEYS)
    def delete_matched(self, keys):
        self.twin.delete_matched(keys)

    @rule(keys=KEYS)
    def upsert_value(self, keys):
        self.twin.upsert_value(keys)

    @precondition(lambda self: self.twin.data_format != "legacy")
    @rule(keys=KEYS)
    def rewrite_value(self, keys):
        self.twin.rewrite_value(keys)

    @precondition(lambda self: self.twin.data_format != "legacy" and self.twin.rows)
    @rule(position=ANY)
    def replace_value(self, position):
        self.twin.replace_value(position)

    @precondition(lambda self: self.twin.data_format != "legacy")
    @rule(keys=KEYS)
    def lay_over_value(self, keys):
        self.twin.lay_over_value(keys)

    @rule()
    def add_column(self):
        self.twin.add_column(self.new_name())

    @precondition(lambda self: self.twin.data_format != "legacy")
    @rule()
    def add_null_column(self):
        self.twin.add_null_column(self.new_name())

    @precondition(lambda self: self.twin.extra_columns)
    @rule(position=ANY)
    def cast_column(self, position):
        columns = self.twin.extra_columns
        name = columns[position % len(columns)]
        self.twin.cast_column(name, OTHER_TYPE[self.twin.dataset.schema.field(name).type])

    @precondition(lambda self: self.twin.extra_columns)
    @rule(position=ANY)
    def rename_column(self, position):
        columns = self.twin.extra_columns
        self.twin.rename_column(columns[position % len(columns)], self.new_name())

    @precondition(lambda self: self.twin.extra_columns)
    @rule(position=ANY)
    def drop_column(self, position):
        columns = self.twin.extra_columns
        self.twin.drop_column(columns[position % len(columns)])

    @rule(kind=st.sampled_from([("key", "BTREE"), ("value", "BITMAP")]))
    def create_index(self, kind):
        self.twin.create_index(*kind)

    @rule()
    def optimize_indices(self):
        self.twin.optimize_indices()

    @precondition(lambda self: self.twin.index_names)
    @rule(position=ANY)
    def drop_index(self, position):
        names = self.twin.index_names
        self.twin.drop_index(names[position % len(names)])

    @rule(num_rows=st.sampled_from([4, 1000]))
    def compact(self, num_rows):
        self.twin.compact(target_rows_per_fragment=num_rows)

    @precondition(lambda self: not self.twin.stable_row_ids)
    @rule()
    def compact_without_indices(self):
        self.twin.compact(defer_index_remap=True)

    @rule(position=ANY)
    def restore(self, position):
        kept = self.twin.kept
        self.twin.restore(kept[position % len(kept)])

    @rule(setting=st.booleans())
    def configure(self, setting):
        self.twin.configure(setting="yes" if setting else "no")

    @rule(position=ANY)
    def tag(self, position):
        kept = self.twin.kept
        self.twin.tag(self.new_name(), kept[position % len(kept)])

    @rule(chosen=st.sets(ANY, min_size=1, max_size=3))
    def clean_up(self, chosen):
        kept = self.twin.kept
        self.twin.clean_up(versions=[kept[position % len(kept)] for position in chosen])

    @rule(retained=st.integers(1, 5))
    def clean_up_front(self, retained):
        self.twin.clean_up(retain_versions=retained)

    @precondition(lambda self: not self.twin.index_names)  # pylance loses them on the next branch
    @rule()
    def fork(self):
        self.twin = self.twin.fork(self.new_name())
        self.table = self.open()
        self.late_table = self.open()

    @rule()
    def migrate_names(self):
        self.twin.migrate_names()
