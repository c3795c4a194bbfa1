"""A damaged file is a finding or a plausible other one; whatever it is, the others still show."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lance_explorer.format.manifest import decode_manifest
from lance_explorer.history.history import EMPTY_HISTORY, History
from lance_explorer.history.listing import DirectoryLister, VersionFile
from lance_explorer.history.loading import extend
from lance_explorer.storage import LocalStorage
from tests.format import samples
from tests.synthetic import SyntheticTable

TABLES = [
    "0.10.18/life_cycle",
    "1.0.4/branches",
    "14.0.2/data_overlay",
    "14.0.2/deferred_remap",
    "14.0.2/format_legacy",
    "14.0.2/stable_row_ids",
]


@dataclass
class Copy:
    """A copy of a table that may be damaged, and what was known of it before."""

    root: Path
    history: History

    @property
    def files(self) -> list[VersionFile]:
        return [record.file for record in self.history.records]


def load(root: Path) -> History:
    storage = LocalStorage(root)
    return extend(EMPTY_HISTORY, storage, DirectoryLister(storage).list_versions())


@pytest.fixture(scope="module")
def copies(tmp_path_factory) -> dict[str, Copy]:
    """The metadata of some stored tables."""
    copies = {}
    for name in TABLES:
        root = tmp_path_factory.mktemp("damage") / "t.lance"
        shutil.copytree(samples.DATA / f"{name}.lance", root)
        copies[name] = Copy(root, load(root))
    return copies


def without(history: History, version: int) -> dict[int, Any]:
    """Return what a history says of each version but one."""
    return {
        record.version: (
            record.manifest,
            record.schema,
            record.indices,
            record.transaction,
            [history.states[state] for state in history.states_at(position)],
        )
        for position, record in enumerate(history.records)
        if record.version != version
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_versions_beside_a_damaged_one_show_as_before(copies, data):
    copy = copies[data.draw(st.sampled_from(TABLES))]
    file = data.draw(st.sampled_from(copy.files))
    path = copy.root / file.path
    before = path.read_bytes()
    try:
        path.write_bytes(data.draw(samples.damaged([before])))
        after = load(copy.root)
        damaged = path.read_bytes()
    finally:
        path.write_bytes(before)
    assert without(after, file.version) == without(copy.history, file.version)
    expect_same_as_in_full(after, file, damaged)


def expect_same_as_in_full(history: History, file: VersionFile, data: bytes) -> None:
    """Check that one version is what its bytes alone say, or else a finding."""
    unreadable = {version.file.version for version in history.unreadable}
    if file.version not in unreadable:
        manifest, schema, fragments = decode_manifest(data)
        position = history.position(file.version)
        record = history.records[position]
        states = [history.states[state] for state in history.states_at(position)]
        assert (record.manifest, record.schema) == (manifest, schema)
        assert set(states) == set(fragments)
        return
    assert unreadable == {file.version}
    findings = [f for f in history.findings if f.code == "unreadable_manifest"]
    assert [(f.first_version, file.path in f.statement) for f in findings] == [(file.version, True)]


@pytest.mark.parametrize(
    "name",
    ["nul\0.txn", "x" * 5000, ".", "../_versions", "missing/x.txn", "missing.txn"],
    ids=lambda name: name[:12],
)
def test_a_transaction_file_that_cannot_be_is_missing(tmp_path, name):
    table = SyntheticTable(tmp_path).append(rows=3).append(rows=4)
    table.amend(lambda manifest: setattr(manifest, "transaction_file", name), transaction=None)
    history = load(tmp_path)
    assert [record.operation for record in history.records] == ["Overwrite", None]
    assert history.findings == ()
