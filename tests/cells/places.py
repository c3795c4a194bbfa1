"""Write a row that changes in columns of many types, and ask each place that prints values.

By hand, of every type in every file format: ``python -m tests.cells.places``.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
from click.testing import CliRunner

import lance_explorer as lx
from lance_explorer.answers.assistant import assistant_json
from lance_explorer.cli.assistant_tools import _Tools
from lance_explorer.cli.group import main
from lance_explorer.widgets.questions import answer_to
from tests.cells.every_type import FORMATS, columns_of

__all__ = ["commands", "other_places", "pairs", "writable", "write"]

_COMMANDS = (
    ("find", "uid = 1"),
    ("find", "word"),
    ("find", "7"),
    ("blame", "uid = 1"),
    ("row", "0", "--values"),
    ("merge-preview", "other"),
    ("sql", "SELECT * FROM dataset"),
    ("sql", "SELECT * FROM changes"),
    ("diff", "1", "2"),
)


def write(path: Path, columns: Mapping[str, pa.Array], file_format: Any) -> lx.Table:
    """Write a table whose first row had the first values, and has the second.

    On the branch ``other`` it has the third.
    """

    def rows(number: int) -> pa.Table:
        both = {
            name: pa.concat_arrays([some.slice(number % len(some), 1), some.slice(0, 1)])
            for name, some in columns.items()
        }
        return pa.table({"uid": [1, 2], **both})

    def update(dataset: Any, number: int) -> None:
        changed = rows(number).slice(0, 1)
        dataset.merge_insert("uid").when_matched_update_all().execute(changed)

    written: Any = lance.write_dataset(
        rows(0), path, data_storage_version=file_format, enable_stable_row_ids=True
    )
    written.create_branch("other", 1)
    update(written, 1)
    update(lance.dataset(path).checkout_version(("other", None)), 2)
    return lx.open_table(path)


def pairs(table: lx.Table) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield place, column and both texts of values that differ, wherever two stand side by side."""
    changed = table.changes(1, 2, images="both").to_polars()
    [names] = changed.filter(_change_type="update_postimage")["changed_columns"].to_list()
    blamed = table.blame("uid = 1").to_polars().filter(pl.col("column").is_in(names))
    for name, now, before in blamed.select("column", "value", "before").rows():
        yield "blame", name, before, now
    for name, *texts in table.merge_preview("other").cells()[["column", "base", "ours"]].rows():
        yield "merge", name, *texts
    [told] = map(json.loads, commands(table, ("find", "uid = 1")))
    new, old = told["sections"]["rows"]["rows"]
    for name in names:
        yield "json", name, old[name], new[name]


def commands(table: lx.Table, *asked: tuple[str, ...]) -> list[str]:
    """Run commands as text and as JSON, the given ones or all; return the lines of JSON."""
    lines = []
    for command, *arguments in asked or _COMMANDS:
        for form in ((), ("--json",)):
            found = CliRunner().invoke(main, [command, table.uri, *arguments, *form])
            assert found.exit_code == 0, (command, arguments, form, found.output, found.exception)
            lines += found.output.splitlines() if form else []
    return lines


def other_places(table: lx.Table, folder: Path) -> None:
    """Ask the places that show many values at once; none may raise."""
    for shown in (table.find("uid = 1"), table.blame("uid = 1"), table.merge_preview("other")):
        assert shown._repr_html_()
    table.diff(1, 2).report(folder / "diff.html")
    tools = _Tools([table])
    for told in (
        tools.find("uid = 1"),
        tools.blame("uid = 1"),
        tools.row(0),
        tools.changes("1"),
        tools.merge_preview("other"),
    ):
        json.loads(assistant_json(told), parse_constant=_not_json)
    for question in ("what would a merge of other bring", "who changed uid of uid = 1"):
        assert answer_to(table, question)


def _not_json(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def writable(columns: Mapping[str, pa.Array], file_format: Any) -> dict[str, pa.Array]:
    """Return the columns that pylance writes in a file format, and reads again."""
    return {
        name: some
        for name, some in columns.items()
        if _can_be_written(some.slice(0, 3), file_format)
    }


def _can_be_written(values: pa.Array, file_format: Any) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            lance.write_dataset(pa.table({"c": values}), folder, data_storage_version=file_format)
            lance.dataset(folder).to_table()
        except BaseException:  # noqa: BLE001 - panics of Rust are no Exceptions
            return False
    return True


def _by_hand() -> None:
    for file_format in FORMATS:
        columns = writable(columns_of(), file_format)
        folder = Path(tempfile.mkdtemp())
        table = write(folder / "t.lance", columns, file_format)
        alike = [(place, name, one) for place, name, one, other in pairs(table) if one == other]
        commands(table)
        other_places(table, folder)
        print(file_format, len(columns), "columns; alike:", alike)
        shutil.rmtree(folder)


if __name__ == "__main__":
    _by_hand()
