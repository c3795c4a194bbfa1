"""One row for each index, beside what pylance says of it."""

import shutil
from typing import Any

import lance

from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.index_summary import index_summary
from tests.format.samples import DATA
from tests.stored_tables import stored_check

PYLANCE = {
    "num_segments": "num_indices",
    "num_rows_answered": "num_indexed_rows",
    "num_rows_to_scan": "num_unindexed_rows",
    "num_fragments_covered": "num_indexed_fragments",
    "num_fragments_to_scan": "num_unindexed_fragments",
}


def assert_is_that_of_pylance(view: HistoryView, dataset: Any) -> int:
    rows = index_summary(view, dataset.version).rows(named=True)
    own = {index.name for index in dataset.describe_indices() if not index.name.startswith("__")}
    assert {row["name"] for row in rows} == own
    for row in rows:
        told = dataset.stats.index_stats(row["name"])
        assert {name: row[name] for name in PYLANCE} == {
            name: told[theirs] for name, theirs in PYLANCE.items()
        }
    return len(rows)


@stored_check()
def check_stored_tables(asked):
    assert_is_that_of_pylance(asked.view, asked.dataset())


def test_every_type_of_index_after_appends_deletions_updates_and_new_segments(tmp_path):
    uri = str(tmp_path / "t.lance")
    shutil.copytree(DATA / "14.0.2/index_types.lance", uri)
    dataset: Any = lance.dataset(uri)
    rows = dataset.to_table()
    dataset.insert(rows.slice(0, 5))
    assert assert_is_that_of_pylance(HistoryView.open(uri), dataset) == 15
    dataset.delete("id % 7 = 0")
    dataset.update({"kind": "kind"}, where="id % 5 = 0")
    assert_is_that_of_pylance(HistoryView.open(uri), dataset)
    dataset.optimize.optimize_indices(
        num_indices_to_merge=0, index_names=["id_btree", "ivf_flat", "words_inverted"]
    )
    dataset = lance.dataset(uri)
    assert_is_that_of_pylance(HistoryView.open(uri), dataset)
    summary = index_summary(HistoryView.open(uri), dataset.version)
    assert summary.filter(name="id_btree")["num_segments"].to_list() == [3]
