"""What is advised about the indices of a version, in words."""

import polars as pl
import pytest

from lance_explorer.inspect.fragment_reuse import FRAGMENT_REUSE
from lance_explorer.widgets.index_words import index_advice

NO_REUSE = FRAGMENT_REUSE.polars_schema.to_frame()
WELL = {
    "name": "id_idx",
    "index_type": "BTREE",
    "fields": ["id"],
    "num_segments": 1,
    "num_fragments_covered": 4,
    "num_fragments_to_scan": 0,
    "num_rows_answered": 100,
    "num_rows_to_scan": 0,
    "num_stale_entries": 0,
}


def advice(*changes, reuse=NO_REUSE, columns=("id",)):
    return index_advice(pl.DataFrame([{**WELL, **some} for some in changes]), reuse, columns)


def waiting(*behind):
    """Return a reuse history with an entry for each list of indices that wait."""
    return pl.DataFrame(
        {"indices_behind": behind}, schema_overrides={"indices_behind": pl.List(pl.String)}
    )


def test_without_an_index_it_says_how_one_is_made():
    [sentence] = index_advice(pl.DataFrame([WELL]).clear(), NO_REUSE, ["it's"])
    assert "no index" in sentence
    assert '`dataset.create_scalar_index("it\'s", "BTREE")`' in sentence


def test_of_indices_that_answer_for_every_row_there_is_nothing_to_do():
    assert advice({}) == ["`id_idx` answers for every row: there is nothing to do."]
    assert advice({}, {"name": "b"}) == [
        "All 2 indices answer for every row: there is nothing to do."
    ]


def test_rows_to_scan_are_told_with_what_to_do():
    lacking = {"num_fragments_to_scan": 1, "num_rows_to_scan": 25}
    [sentence] = advice(lacking, {"name": "whole"})
    assert sentence == (
        "`id_idx` does not cover 1 of 5 fragments, 20% of the rows (25). A search scans what is "
        "not covered; `dataset.optimize.optimize_indices()` brings it up to date."
    )


def test_rows_that_cannot_be_counted_are_left_out():
    [sentence] = advice({"num_fragments_to_scan": 1, "num_rows_to_scan": None})
    assert sentence.startswith("`id_idx` does not cover 1 of 5 fragments. A search")


def test_many_indices_are_named_in_part():
    lacking = [
        {"name": f"index {i}", "num_fragments_to_scan": 1, "num_rows_to_scan": 1} for i in range(9)
    ]
    [sentence] = advice(*lacking)
    assert "`index 4`" in sentence
    assert "`index 5`" not in sentence
    assert "4 more indices do not cover all fragments" in sentence


@pytest.mark.parametrize(("stale", "is_told"), [(None, False), (11, False), (12, True)])
def test_stale_entries_are_told_from_a_tenth_on(stale, is_told):
    said = advice({"num_stale_entries": stale})
    assert any("lead to rows that are gone" in sentence for sentence in said) is is_told
    if is_told:
        assert (
            '`dataset.create_scalar_index("id", "BTREE", replace=True)` builds it anew' in said[1]
        )


@pytest.mark.parametrize(
    ("index", "call"),
    [
        ({"name": "mine"}, 'create_scalar_index("id", "BTREE", name="mine", replace=True)'),
        ({"index_type": "ZONE_MAP"}, 'create_scalar_index("id", "ZONEMAP", replace=True)'),
        ({"index_type": "VECTOR"}, 'create_index("id", ..., replace=True)'),
    ],
)
def test_each_type_is_built_anew_by_its_own_call(index, call):
    _, sentence = advice({**index, "num_stale_entries": 90})
    assert sentence.startswith(f"`dataset.{call}` builds it anew,")


def test_many_segments_are_to_be_merged():
    [sentence] = advice({"num_segments": 7}, {"name": "b", "num_segments": 3})
    assert sentence.startswith("`id_idx` (7) is in many segments")
    [sentence] = advice({"num_segments": 7}, {"name": "b", "num_segments": 9})
    assert sentence.startswith("`id_idx` (7) and `b` (9) are each in many segments")
    assert "optimize_indices(num_indices_to_merge=9)" in sentence


def test_an_index_of_unknown_coverage_and_one_of_a_dropped_field_are_told():
    said = advice(
        {"num_fragments_covered": None, "num_fragments_to_scan": None},
        {"name": "other", "fields": [None]},
    )
    assert said[0] == "Which fragments `id_idx` covers is not stored, or cannot be read."
    assert '`dataset.drop_index("other")`' in said[1]


@pytest.mark.parametrize(
    ("behind", "words"),
    [
        ([["a"], ["a", "b"]], "keeps 2 compactions, which `a` and `b` have not followed"),
        ([["a"], []], "keeps 2 compactions, which `a` has not followed"),
        ([[]], "keeps 1 compaction that all indices have followed"),
        ([None], "keeps 1 compaction; which indices have still to follow cannot be told"),
    ],
)
def test_what_holds_the_reuse_history_is_told(behind, words):
    first, *rest = advice({"name": "a"}, {"name": "b"}, reuse=waiting(*behind))
    assert words in first
    assert bool(rest) is any(behind[0] or [])
    assert all('create_scalar_index("id", "BTREE", name="a", replace=True)' in one for one in rest)


def test_an_index_that_is_old_in_two_ways_is_built_anew_once():
    said = advice({"num_stale_entries": 90}, reuse=waiting(["id_idx"]))
    assert len(said) == 3
    assert [sentence.count("replace=True") for sentence in said] == [0, 0, 1]


def test_a_name_cannot_leave_its_backticks():
    [sentence] = advice({"name": "a`b" * 100})
    assert sentence.count("`") == 2
    assert len(sentence) < 150
