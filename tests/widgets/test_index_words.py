"""What is said of the indices of a version about which nothing has to be done."""

import polars as pl

from lance_explorer.widgets.index_words import no_advice_words

WELL = {"name": "id_idx", "num_fragments_to_scan": 0, "num_rows_to_scan": 0}


def words(*changes, columns=("id",)):
    return no_advice_words(pl.DataFrame([{**WELL, **some} for some in changes]), columns)


def test_without_an_index_it_says_how_one_is_made():
    said = no_advice_words(pl.DataFrame([WELL]).clear(), ["it's"])
    assert said.startswith("This version has no index")
    assert 'dataset.create_scalar_index("it\'s", "BTREE")' in said


def test_of_indices_that_answer_for_every_row_that_is_said():
    assert words({}) == "Nothing needs to be done: id_idx covers every row."
    assert words({}, {"name": "b"}) == ("Nothing needs to be done: all 2 indices cover every row.")


def test_a_few_rows_to_scan_are_said_to_be_few():
    assert words({}, {"num_fragments_to_scan": 1, "num_rows_to_scan": 25}) == (
        "Nothing needs to be done: beside an index a search scans 25 rows at most, which takes "
        "little time. If there should be none: dataset.optimize.optimize_indices()"
    )


def test_what_is_unknown_is_not_said_to_be_well():
    for name in ("num_rows_to_scan", "num_fragments_to_scan"):
        assert words({}, {name: None}) == "Nothing needs to be done, as far as is known."


def test_long_names_are_cut():
    assert len(words({"name": "x" * 5000})) < 150
