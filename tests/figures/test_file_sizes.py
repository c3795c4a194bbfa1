"""File sizes: every file is counted once, between the right edges."""

import polars as pl
import pytest

from lance_explorer.figures.file_sizes import file_sizes
from lance_explorer.inspect.data_files import DATA_FILES
from lance_explorer.inspect.fragments import FRAGMENTS
from lance_explorer.table import open_table
from tests.figures.pictures import hovers, note, size_of, ticks, traces
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable


def files_of(*sizes: int | None, rows: int | None = 10) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the frames of fragments with one file of each size."""
    ids = range(len(sizes))
    files = pl.DataFrame({"fragment_id": ids, "size_bytes": pl.Series(sizes, dtype=pl.Int64)})
    fragments = pl.DataFrame(
        {"fragment_id": ids, "physical_rows": pl.Series([rows] * len(sizes), dtype=pl.Int64)}
    )
    return files, fragments


@pytest.mark.parametrize(
    ("size", "span"),
    [
        (0, "0 bytes to 1 byte"),
        (1, "1 byte to 2 bytes"),
        (2, "2 bytes to 5 bytes"),
        (999, "500 bytes to 1 kB"),
        (1000, "1 kB to 2 kB"),
        (60_000_000, "50 MB to 100 MB"),
    ],
)
def test_a_file_is_counted_between_its_edges(size, span):
    assert hovers(file_sizes(*files_of(size)))[0] == f"1 file of {span}, 1 small"


def test_bars_add_up_to_the_files():
    figure = file_sizes(*files_of(*range(1, 5_000)))
    assert [sum(bar.y) for bar in traces(figure, "bar")] == [4_999, 4_999]
    assert size_of(figure) < 20_000


def test_files_of_few_rows_are_marked():
    files, fragments = files_of(10**9, 10**9, 10**3)
    fragments = fragments.with_columns(physical_rows=pl.Series([2_000_000, 1_048_576, 1_048_575]))
    figure = file_sizes(files, fragments)
    counts = {bar.name: sum(bar.y) for bar in traces(figure, "bar")}
    assert counts == {"others": 2, "small: fewer than 1,048,576 rows": 1}
    assert note(figure) == "3 files, 1 of them small"


def test_what_is_small_can_be_chosen():
    assert note(file_sizes(*files_of(5, 6), small_rows=10)) == "2 files, 0 of them small"


def test_unknown_sizes_are_left_out_and_told():
    figure = file_sizes(*files_of(5, None))
    assert [sum(bar.y) for bar in traces(figure, "bar")] == [1, 2]
    assert note(figure) == "2 files, 2 of them small; 1 file of unknown size"


def test_files_of_unknown_rows_are_not_small():
    figure = file_sizes(*files_of(5, 6, rows=None))
    assert note(figure) == "2 files, 0 of them small; 2 fragments of unknown size"


def test_edges_are_few_and_round():
    figure = file_sizes(*files_of(1, 10**12))
    assert ticks(figure.layout.xaxis)[:4] == ["0 bytes", "10 bytes", "200 bytes", "5 kB"]
    assert len(ticks(figure.layout.xaxis)) <= 12


def test_the_size_to_aim_at_is_marked():
    [line] = file_sizes(*files_of(5, rows=10), small_rows=12).layout.shapes
    # The bins begin at 5, 10, 20 and 50 rows.
    assert line.x0 == pytest.approx(1.2)
    [words] = file_sizes(*files_of(5, rows=10)).layout.annotations
    assert words.text == "the aim is 1.05 M →"


def test_no_files_are_an_empty_picture():
    files, fragments = [schema.polars_schema.to_frame() for schema in (DATA_FILES, FRAGMENTS)]
    assert note(file_sizes(files, fragments)) == "0 files, 0 of them small"


def test_files_of_a_table_are_all_there(tmp_path):
    table = open_table(SyntheticTable(tmp_path).append(rows=4, fragments=30).append(rows=3).path)
    figure = file_sizes(table.inspect.data_files(), table.inspect.fragments())
    assert [sum(bar.y) for bar in traces(figure, "bar")] == [31, 31]


def test_old_tables_say_what_they_do_not_tell():
    table = open_table(DATA / "0.10.18" / "life_cycle.lance")
    figure = file_sizes(table.inspect.data_files(), table.inspect.fragments())
    assert "of unknown size" in note(figure)
