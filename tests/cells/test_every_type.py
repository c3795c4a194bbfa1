"""Of all types that pylance writes: no two values read alike, and JSON is read back."""

import json
from collections import Counter

import pyarrow as pa
import pytest

from lance_explorer.answers.html import frame_html
from lance_explorer.cells.json_rows import json_lines
from lance_explorer.cells.text import briefs_of, cells_of, texts_of
from lance_explorer.values.opening import to_polars
from tests.cells.every_type import VALUES, arrays
from tests.cells.reading import known, read


@pytest.mark.parametrize("name", VALUES)
def test_no_two_values_have_one_text_and_json_is_read_back(name):
    for nesting, array in arrays(VALUES[name]):
        frame = to_polars(pa.table({"value": array}))
        column = frame["value"]
        rows = [json.loads(line)["value"] for line in json_lines(frame)]
        assert [read(row, column.dtype) for row in rows] == known(column), nesting
        if name == "null":
            continue
        texts = [texts_of(column), cells_of(column), briefs_of(column)[0]]
        for told in [*[text.to_list() for text in texts], [*map(repr, rows)]]:
            assert not [text for text, count in Counter(told).items() if count > 1], nesting
        for text in texts:
            assert text.is_null().to_list() == column.is_null().to_list()
        cells = frame_html(frame, are_values=True).split("<td")[1:]
        assert len({*cells}) == len(column), nesting
