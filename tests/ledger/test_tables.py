"""Whatever is committed and removed: with its ledger a table says what it said before."""

import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

import lance_explorer as lx
from lance_explorer.errors import FormatError
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.catalogue import FRAMES, frame
from tests.history.test_loading import HistoryMachine
from tests.ledger.asking import everything
from tests.ledger.lives import live_and_clean_up

STEPS = range(16)


@pytest.mark.slow
@pytest.mark.drawn(4)
def test_a_cleaned_table_is_told_as_if_it_were_whole(seed):
    cleaned = live_and_clean_up(seed, STEPS)
    assert cleaned.lost > 0
    assert cleaned.wrong == []


class LedgerMachine(HistoryMachine):
    """Commits anything, removes and damages versions; all files that ever were are elsewhere."""

    known: frozenset[int] = frozenset()

    @property
    def elsewhere(self) -> Path:
        return self.path.with_name(f"{self.path.name}-all")

    @property
    def place(self) -> Path:
        return self.path.with_name(f"{self.path.name}-ledger")

    def teardown(self):
        """Compare all frames once, at the end of each life: that takes long."""
        try:
            self.look()
            self.compare_frames()
        finally:
            super().teardown()
            shutil.rmtree(self.elsewhere, ignore_errors=True)
            shutil.rmtree(self.place, ignore_errors=True)

    @rule()
    def record(self):
        lx.Ledger(self.place).record(self.path)
        shutil.copytree(self.path, self.elsewhere, dirs_exist_ok=True)
        self.known = frozenset(self.built)

    @rule(data=st.data())
    def remove(self, data):
        self.record()
        old = self.kept[:-1]
        for version in data.draw(st.sets(st.sampled_from(old))) if old else ():
            self.table.folder.manifest_path(version).unlink()
            del self.built[version]

    @rule(data=st.data(), how=st.sampled_from(["truncated", "empty"]))
    def damage(self, data, how):
        """Damage a version before it is recorded: later that makes another table of it."""
        if self.table.version not in self.known | self.unreadable:
            path = self.table.folder.manifest_path(self.table.version)
            size = path.stat().st_size if how == "truncated" else 1
            path.write_bytes(path.read_bytes()[: data.draw(st.integers(0, size - 1))])
            self.unreadable.add(self.table.version)

    @rule(data=st.data())
    def restore(self, data):
        kept = sorted({*self.built} - self.unreadable)
        if kept:
            self.table.restore(data.draw(st.sampled_from(kept)))
            self.note()

    @rule()
    def merge(self):
        lx.Ledger(self.place).compact()

    @rule()
    def look(self):
        self.record()
        view = lx.open_table(self.path, ledger=self.place)._view
        expected = HistoryView.open(str(self.elsewhere))
        assert live(everything(view.history)) == everything(expected.history)

    def compare_frames(self):
        view = lx.open_table(self.path, ledger=self.place)._view
        expected = HistoryView.open(str(self.elsewhere))
        for name in FRAMES.keys() - {"storage"}:  # which is about what is there
            assert shown(view, name) == shown(expected, name), name


def live(history):
    """Return what a history says, whether a version is kept or recorded."""
    records = [
        {**one, "file": one["file"]._replace(is_recorded=False)} for one in history["records"]
    ]
    unreadable = [
        (file._replace(is_recorded=False), *rest) for file, *rest in history["unreadable"]
    ]
    detached = tuple([file._replace(is_recorded=False) for file in history["detached"]])
    return {**history, "records": records, "unreadable": unreadable, "detached": detached}


def shown(view: HistoryView, name: str) -> list[Any]:
    """Return a frame as rows, or why there is none."""
    text = pl.selectors.string().str.replace_all(view.uri, "TABLE", literal=True)
    try:
        found = frame(view, name).with_columns(text)
    except FormatError as error:
        return [type(error), str(error)]
    if name == "health":  # which tells of all manifests that a listing finds
        found = found.filter(pl.col("code") != "v1_manifest_names")
    return found.drop("known_from", strict=False).rows()


TestTables = LedgerMachine.TestCase
TestTables.settings = settings(max_examples=6, stateful_step_count=10)
