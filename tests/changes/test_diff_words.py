"""Other differences, in words, against the frames of a diff."""

from itertools import pairwise
from typing import Any

import lance
import pyarrow as pa

from lance_explorer.changes.diff_words import words_beside_rows
from lance_explorer.table import open_table
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable


def words(path, begin: int, end: int) -> list[str]:
    return words_beside_rows(open_table(path)._view, begin, end)


def commit(path) -> list[str]:
    """Return what the latest commit did beside rows."""
    latest = open_table(path).latest.version
    return words(path, latest - 1, latest)


@stored_check()
def check_there_are_words_where_a_diff_finds_something(asked):
    table = asked.table
    kept = table.versions()["version"].to_list()
    for begin, end in [*pairwise(kept), (kept[0], kept[-1])]:
        said = words_beside_rows(table._view, begin, end)
        diff = table.diff(begin, end)
        rows = [*diff.schema().rows(), *diff.config().rows(), *diff.indices()["name"].unique()]
        assert len(said) == len(rows) or (len(said) == 9 and len(rows) > 8), (begin, end)
        assert all(sentence.endswith(".") for sentence in said)


def test_what_became_of_fields_is_told(tmp_path):
    table: Any = lance.write_dataset(pa.table({"id": [1], "mood": ["x"]}), tmp_path)
    table.alter_columns({"path": "mood", "name": "score"})
    assert commit(tmp_path) == ["Field `mood` renamed to `score`."]
    table.add_columns({"rank": "id"})
    assert commit(tmp_path) == ["Field `rank` (`int64`) added."]
    table.alter_columns({"path": "rank", "data_type": pa.int32()})
    assert commit(tmp_path) == ["Field `rank` cast from `int64` to `int32`."]
    table.drop_columns(["rank"])
    assert commit(tmp_path) == ["Field `rank` dropped."]
    table.alter_columns({"path": "id", "nullable": False})
    assert commit(tmp_path) == ["Field `id` altered: nullable."]
    assert words(tmp_path, 1, table.version) == [
        "Field `id` altered: nullable.",
        "Field `mood` renamed to `score`.",
    ]


def test_what_became_of_indices_is_told(tmp_path):
    table = lance.write_dataset(pa.table({"id": [1, 2]}), tmp_path)
    table.create_scalar_index("id", "BTREE")
    assert commit(tmp_path) == ["Index `id_idx` added, BTREE on `id`."]
    table.create_scalar_index("id", "BTREE", replace=True)
    assert commit(tmp_path) == ["Index `id_idx` rebuilt."]
    lance.write_dataset(pa.table({"id": [3]}), tmp_path, mode="append")
    lance.dataset(tmp_path).optimize.optimize_indices(num_indices_to_merge=0)
    assert commit(tmp_path) == ["Index `id_idx` extended by 1 segment."]
    lance.dataset(tmp_path).drop_index("id_idx")
    assert commit(tmp_path) == ["Index `id_idx` dropped."]


def test_what_became_of_the_configuration_is_told(tmp_path):
    table = SyntheticTable(tmp_path).append().update_config(owner="me")
    assert commit(tmp_path) == ["Config `owner` set to `me`."]
    table.update_config(owner="you")
    assert commit(tmp_path) == ["Config `owner` changed from `me` to `you`."]
    assert words(tmp_path, 1, 1) == []
    assert words(tmp_path, 0, 2) == ["The table was created with 2 columns: `id` and `score`."]


def test_base_paths_are_told(tmp_path):
    table = SyntheticTable(tmp_path).append().update_config(a="b")
    table.amend(lambda manifest: manifest.base_paths.add(id=3, path="/elsewhere"))
    assert commit(tmp_path)[-1] == "Base path `/elsewhere` added."


def test_a_version_that_is_not_kept_is_said(tmp_path):
    SyntheticTable(tmp_path).append().update_config(a="b").append().remove(2)
    [said] = words(tmp_path, 2, 3)
    assert said == "Differences other than rows are unknown: version 2 is not kept."


def test_many_and_long_and_hostile_names_are_cut(tmp_path):
    table = SyntheticTable(tmp_path).append()
    table.update_config(**{f"key {i:02}": "`\u202e" * 900 for i in range(20)})
    said = commit(tmp_path)
    assert len(said) == 9
    assert said[-1] == "And 12 more entries differ."
    assert said[0].count("`") == 4
    assert "\u202e" not in said[0]
    assert len(said[0]) < 300
