"""Row versions from before row IDs were turned on, in fragments that store none."""

import lance
import numpy as np
import pyarrow as pa
import pytest
from lance import LanceOperation

import lance_explorer as lx
from lance_explorer.history.identity.state_rows import state_rows
from tests.differential.row_ids_turned_on import turn_on_row_ids


@pytest.fixture
def uri(tmp_path) -> str:
    """Version 3 gives row IDs, without row versions, to the fragments of versions 1 and 2."""
    path = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"key": [0, 1, 2], "value": [0, 1, 2]}), path)
    lance.dataset(path).insert(pa.table({"key": [3, 4], "value": [3, 4]}))
    turn_on_row_ids(path, with_versions=False)
    return path


def last_updates(uri: str) -> dict[int, object]:
    """Return, by fragment, the versions in which rows were updated last, None if unknown."""
    rows = state_rows(lx.open_table(uri)._view)
    found = dict[int, object]()
    for state in rows.history.states_at(len(rows.history.records) - 1):
        updated = rows.origins(state).updated
        fragment_id = rows.history.states[state].id
        found[fragment_id] = updated and updated.at(np.arange(len(updated))).tolist()
    return found


def stores_no_versions(uri: str) -> bool:
    """Whether no fragment of the latest version stores when its rows were updated."""
    fragments = lance.dataset(uri).get_fragments()
    return all(one.metadata.last_updated_at_version_meta is None for one in fragments)


def test_a_deletion_leaves_rows_the_versions_that_they_had(uri):
    lance.dataset(uri).delete("key = 1")
    assert stores_no_versions(uri)
    assert last_updates(uri) == {0: [1, 1, 1], 1: [2, 2]}
    lance.dataset(uri).delete("key = 3")
    lance.dataset(uri).cleanup_old_versions(versions=[4])
    assert last_updates(uri) == {0: [1, 1, 1], 1: [2, 2]}


def test_who_wrote_other_values_in_place_is_not_known_where_that_version_is_lost(uri):
    dataset = lance.dataset(uri)
    values = pa.table({"_rowid": pa.array([0], pa.uint64()), "value": [99]})
    fragment, fields = dataset.get_fragments()[0].update_columns(values)
    update = LanceOperation.Update(
        updated_fragments=[fragment], fields_modified=fields, update_mode="rewrite_columns"
    )
    lance.LanceDataset.commit(uri, update, dataset.version)
    lance.dataset(uri).delete("key = 1")
    lance.dataset(uri).cleanup_old_versions(versions=[4])
    assert stores_no_versions(uri)
    assert last_updates(uri) == {0: None, 1: [2, 2]}
