"""Pictures and words about row-ID encodings: every number comes from the frames."""

import polars as pl
import pytest

from lance_explorer.figures.encoding_words import encoding_words
from lance_explorer.figures.encodings import encoding_bytes, encoding_growth
from lance_explorer.figures.palette import ENCODING_COLORS
from lance_explorer.inspect.row_id_encodings import ALL_ROW_ID_ENCODINGS, ROW_ID_ENCODINGS
from lance_explorer.inspect.row_id_segments import ENCODING, ROW_ID_SEGMENTS
from lance_explorer.inspect.row_id_totals import ROW_ID_TOTALS
from lance_explorer.table import open_table
from lance_explorer.widgets.segment_picture import segment_picture
from tests.figures.pictures import hovers, named, note, size_of, ticks, titles
from tests.format.samples import DATA
from tests.stored_tables import is_main, stored_check
from tests.synthetic import SyntheticTable

NO_SEGMENTS = ROW_ID_SEGMENTS.polars_schema.to_frame()
NO_ENCODINGS = ROW_ID_ENCODINGS.polars_schema.to_frame()

Frames = tuple[pl.DataFrame, pl.DataFrame]


def frames_of(table) -> Frames:
    return table.inspect.row_id_segments(), table.inspect.row_id_encodings()


@pytest.fixture(scope="module")
def scattered(tmp_path_factory) -> Frames:
    """The frames of a table whose second fragment has 2,000 rows that an update scattered."""
    table = SyntheticTable(tmp_path_factory.mktemp("scattered")).append(rows=10_000)
    return frames_of(open_table(table.update({0: range(0, 10_000, 5)}).path))


def repeated(frames: Frames, count: int) -> Frames:
    """Return the frames of that many fragments, each like the last of the given ones."""
    ids = pl.int_range(count, dtype=pl.UInt64, eager=True).alias("fragment_id")
    last = pl.col("fragment_id") == pl.col("fragment_id").max()
    segments, encodings = [
        ids.to_frame().join(frame.filter(last).drop("fragment_id"), how="cross") for frame in frames
    ]
    return segments, encodings


def spilled(frames: Frames) -> Frames:
    """Return the same frames with the last fragment's row IDs spilled."""
    last = pl.col("fragment_id") == pl.col("fragment_id").max()

    def without(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
        return frame.with_columns([pl.when(~last).then(name).alias(name) for name in names])

    segments, encodings = frames
    return (
        without(segments, "encoding", "encoded_bytes"),
        without(encodings, "encoded_bytes", "as_is_bytes", "saving_bytes", "num_segments"),
    )


# ---------------------------------------------------------------------------------------- bytes


def test_bars_of_a_fragment_add_up_to_what_it_stores(scattered):
    figure = encoding_bytes(*scattered)
    stored: dict[int, int] = {}
    for trace in figure.data:
        if trace.type == "bar":
            for place, size in zip(trace.y, trace.x, strict=True):
                stored[place] = stored.get(place, 0) + size
    assert list(stored.values()) == scattered[1]["encoded_bytes"].to_list()


def test_the_mark_stands_at_the_fewest_bytes(scattered):
    best = named(encoding_bytes(*scattered), "at best")
    assert list(best.x) == scattered[1]["best_bytes"].to_list()


def test_every_encoding_has_a_colour_of_its_own():
    assert set(ENCODING_COLORS) == set(ENCODING.categories.to_list())
    assert len(set(ENCODING_COLORS.values())) == len(ENCODING_COLORS)


def test_the_picture_says_what_all_fragments_take(scattered):
    stored, best = [scattered[1][name].sum() for name in ("encoded_bytes", "best_bytes")]
    assert (stored, best) == (19_953, 1_269)
    assert note(encoding_bytes(*scattered)) == (
        "Version 2: row IDs of 2 fragments take 20.0 kB, at best 1.3 kB"
    )


@pytest.mark.slow
def test_of_many_fragments_those_that_would_save_most_are_shown(scattered):
    segments, encodings = repeated(scattered, 3_000)
    largest = encodings.with_columns(
        saving_bytes=pl.when(pl.col("fragment_id") == 2_999).then(10**6).otherwise("saving_bytes")
    )
    figure = encoding_bytes(segments, largest)
    assert ticks(figure.layout.yaxis)[:3] == ["2,999", "0", "1"]
    assert note(figure).endswith("; shown: the 25 that would save most")
    assert size_of(figure) < 50_000


def test_spilled_row_ids_have_neither_bar_nor_mark(scattered):
    figure = encoding_bytes(*spilled(scattered))
    assert sum(len(trace.y) for trace in figure.data if trace.type == "bar") == 1
    assert [best is None for best in named(figure, "at best").x] == [False, True]
    assert note(figure).endswith("; 1 spilled")
    assert hovers(figure)[-1].endswith("spilled into a column of a data file: 2,000 row IDs")


def test_the_widget_says_what_the_figure_says(scattered):
    segments, encodings = scattered
    picture = segment_picture(segments, encodings, "position")
    said = ["<br>".join(words) for words in picture.row_words]
    assert said == hovers(encoding_bytes(*scattered))[:2]
    assert said[1].split("<br>") == [
        *("Fragment 1: 2,000 segments", "19.9 kB now, 1.3 kB at best"),
        "range: 19.9 kB for 2,000 row IDs",
    ]


def test_a_table_without_row_ids_has_an_empty_picture():
    assert note(encoding_bytes(NO_SEGMENTS, NO_ENCODINGS)) == (
        "row IDs of 0 fragments take 0 bytes, at best 0 bytes"
    )


# --------------------------------------------------------------------------------------- growth


def test_lines_of_growth_go_through_every_version(tmp_path):
    table = SyntheticTable(tmp_path).append(rows=9).append(rows=9).update({0: [1, 3]})
    totals = open_table(table.path).inspect.row_id_totals()
    figure = encoding_growth(totals)
    assert list(named(figure, "row IDs").y) == totals["row_ids_bytes"].to_list()
    assert list(named(figure, "runs").y) == totals["num_runs"].to_list()
    assert titles(figure) == ["row IDs", "row versions", "bytes a row", "count"]


@pytest.mark.parametrize("name", ["14.0.2/stable_row_ids", "1.0.4/cleaned_stable_row_ids"])
def test_the_best_of_a_version_is_that_of_its_fragments(name):
    table = open_table(DATA / f"{name}.lance")
    totals = table.inspect.row_id_totals()
    figure = encoding_growth(totals, table.inspect.all_row_id_encodings())
    expected = [
        table.inspect.row_id_encodings(version)["best_bytes"].sum() for version in totals["version"]
    ]
    assert list(named(figure, "row IDs at best").y) == expected
    assert max(expected) > 0


def test_growth_of_nothing_is_an_empty_picture():
    nothing = [s.polars_schema.to_frame() for s in (ROW_ID_TOTALS, ALL_ROW_ID_ENCODINGS)]
    figure = encoding_growth(*nothing)
    assert len(named(figure, "row IDs").x) == 0


# --------------------------------------------------------------------------------------- advice


def test_advice_names_the_fragment_and_what_it_would_save(scattered):
    assert encoding_words(*scattered) == [
        (
            "12,000 row IDs in 2 fragments take 20.0 kB, 1.7 bytes each; "
            "at best they would take 1.3 kB, 94 % less."
        ),
        (
            "Fragment 1 uses 19.9 kB for 2,000 one-row segments; "
            "encoded as one segment it would be 1.3 kB."
        ),
    ]


def test_advice_does_not_dwell_on_trifles(tmp_path):
    table = SyntheticTable(tmp_path).append(rows=9, fragments=200).update({0: [1], 3: [1]})
    assert encoding_words(*frames_of(open_table(table.path)))[1:] == [
        "No fragment by itself would save much."
    ]


def test_advice_on_many_fragments_is_short(scattered):
    said = encoding_words(*repeated(scattered, 3_000))
    assert len(said) == 1 + 5 + 1
    assert said[-1] == "2,995 more fragments would save 56.0 MB together."


def test_advice_tells_of_spilled_row_ids(scattered):
    said = encoding_words(*spilled(scattered))
    assert said[0].startswith("10,000 row IDs in 1 fragment take 7 bytes, 0.0007 bytes each")
    assert said[-1].startswith("1 fragment spilled the row IDs")


def test_advice_on_a_table_without_row_ids_says_so():
    assert encoding_words(NO_SEGMENTS, NO_ENCODINGS) == [
        "No fragment stores row IDs: the table does not have stable ones."
    ]


@stored_check(is_main)
def check_every_stored_table_is_drawn_and_advised(asked):
    frames = frames_of(asked.table)
    assert len(named(encoding_bytes(*frames), "at best").x) == len(frames[1])
    assert encoding_words(*frames)
