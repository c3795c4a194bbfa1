"""A damaged ledger: what is wrong is a finding, the rest is read, and nothing wrong is answered."""

import json
import random
import shutil
from collections import Counter
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

import lance_explorer as lx
from lance_explorer.errors import LanceExplorerError
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.catalogue import frame
from lance_explorer.ledger.kinds import FORMAT, KINDS
from lance_explorer.ledger.ledger import recorded_table
from tests.fuzzing import damaged
from tests.synthetic import SyntheticTable

CASES = 60
FRAMES = ("versions", "all_fragments", "transactions", "all_row_id_segments", "refs")


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    """A table of nine versions, recorded in two segments, of which the first six were removed."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4, fragments=2).append(rows=2)
    table.delete({0: [1]}).update({1: [0]}).create_index("one").tag("early", 2)
    shutil.copytree(table.path, tmp_path / "whole.lance")
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(table.path)
    table.append()
    ledger.record(table.path)
    table.append().append()
    shutil.copytree(table.path, tmp_path / "whole.lance", dirs_exist_ok=True)
    table.remove(*range(1, table.version - 1))
    return table


@pytest.fixture
def folder(table: SyntheticTable, tmp_path) -> Path:
    """Where the files of the ledger are."""
    found: list[Path] = [*(tmp_path / "ledger").iterdir()]
    return found[0]


def findings(table: SyntheticTable) -> list[str]:
    ledger = lx.Ledger(table.path.parent / "ledger")
    recorded = recorded_table(ledger, str(table.path))
    view = HistoryView.open(str(table.path), recorded=recorded)
    assert view.history
    return [finding.code for finding in recorded.findings(None)]


def versions(table: SyntheticTable) -> list[int]:
    opened = lx.open_table(table.path, ledger=table.path.parent / "ledger")
    found: list[int] = opened.versions()["version"].to_list()
    return found


def files(folder: Path, kind: str) -> list[Path]:
    """Return the files of a kind, smaller ones first: those of the second recording."""
    return sorted(folder.glob(f"{kind}-*"), key=lambda path: (path.stat().st_size, path.name))


def first_version(path: Path) -> int:
    return min(pl.read_parquet(path)["version"].to_list(), default=0)


def test_all_is_well_before(table: SyntheticTable, folder: Path):
    assert versions(table) == [*range(1, table.version + 1)]
    assert findings(table) == []
    assert len(files(folder, "versions")) == 2


@pytest.mark.parametrize("how", ["cut short", "empty", "another byte"])
def test_a_damaged_file_of_versions_is_left_out(table: SyntheticTable, folder: Path, how: str):
    [file] = [one for one in files(folder, "versions") if first_version(one) == 1]
    data = file.read_bytes()
    changed = {"cut short": data[:-9], "empty": b"", "another byte": b"Q" + data[1:]}
    file.write_bytes(changed[how])
    # What the second segment has is told from the first one.
    assert versions(table) == [table.version - 1, table.version]
    assert "damaged_ledger" in findings(table)


@pytest.mark.parametrize("how", ["cut short", "missing", "of another table"])
@pytest.mark.parametrize("kind", ["fragments", "sections"])
def test_without_its_fragments_or_sections_a_segment_tells_nothing_wrong(
    table: SyntheticTable, folder: Path, kind: str, how: str, tmp_path
):
    whole = lx.open_table(tmp_path / "whole.lance").versions()
    for file in files(folder, kind):
        if how == "missing":
            file.unlink()
        elif how == "cut short":
            file.write_bytes(file.read_bytes()[:-5])
        else:
            other = SyntheticTable(tmp_path / "other.lance").append(rows=9)
            lx.Ledger(tmp_path / "ledger of another").record(other.path)
            [theirs] = (tmp_path / "ledger of another").rglob(f"{kind}-*")
            file.write_bytes(theirs.read_bytes())
            shutil.rmtree(tmp_path / "ledger of another")
            shutil.rmtree(other.path)
    found = lx.open_table(table.path, ledger=tmp_path / "ledger").versions()
    expected = whole.filter(pl.col("version").is_in(found["version"].implode()))
    names = ["version", "timestamp", "operation", "num_fragments", "num_rows", "num_deleted_rows"]
    assert found.select(names).rows() == expected.select(names).rows()
    assert {table.version - 1, table.version} <= {*found["version"].to_list()}
    assert "damaged_ledger" in findings(table)


def test_a_file_of_a_newer_format_is_refused_by_name(table: SyntheticTable, folder: Path):
    for file in files(folder, "versions"):
        about = json.loads(pl.read_parquet_metadata(file)["lance_explorer.ledger"])
        about |= {"format": FORMAT + 1, "release": "99.0", "unheard": {"of": 1}}
        buffer = BytesIO()
        metadata = {"lance_explorer.ledger": json.dumps(about)}
        pl.read_parquet(file).write_parquet(buffer, metadata=metadata)
        file.unlink()
        name = f"versions-{sha256(buffer.getvalue()).hexdigest()[:32]}.parquet"
        (folder / name).write_bytes(buffer.getvalue())
    recorded = recorded_table(lx.Ledger(folder.parent), str(table.path))
    assert HistoryView.open(str(table.path), recorded=recorded).listing.versions[0].version > 1
    assert "lance_explorer 99.0" in recorded.findings(None)[0].statement


def test_columns_of_a_later_release_are_passed_over(table: SyntheticTable, folder: Path):
    for file in files(folder, "versions"):
        metadata = pl.read_parquet_metadata(file)
        buffer = BytesIO()
        more = pl.read_parquet(file).with_columns(later=pl.lit(1))
        about = {"lance_explorer.ledger": metadata["lance_explorer.ledger"]}
        more.write_parquet(buffer, metadata=about)
        file.unlink()
        name = f"versions-{sha256(buffer.getvalue()).hexdigest()[:32]}.parquet"
        (folder / name).write_bytes(buffer.getvalue())
    assert versions(table) == [*range(1, table.version + 1)]
    assert findings(table) == []


def test_files_of_others_in_the_folder_are_passed_over(table: SyntheticTable, folder: Path):
    (folder / "notes.txt").write_text("hello")
    (folder / "versions-0.parquet").write_text("hello")
    (folder.parent / "README.md").write_text("hello")
    (folder.parent / "another folder").mkdir()
    assert versions(table) == [*range(1, table.version + 1)]
    assert findings(table) == []
    assert lx.Ledger(folder.parent).tables()["versions"].to_list() == [table.version - 2]


def test_every_kind_of_file_is_checked(folder: Path):
    kinds = {path.name.partition("-")[0] for path in folder.iterdir()}
    assert {"versions", "fragments", "sections", "refs"} <= kinds <= {*KINDS}


def fuzz(path: Path, ledger: Path, folder: Path, cases: int, seed: int) -> Counter[str]:
    """Damage a file, now and then under the name that its content then has; count the endings.

    Whatever is damaged: an answer about versions that are kept is right, and what fails is told.
    """
    chance, endings = random.Random(seed), Counter[str]()
    whole = {file.name: file.read_bytes() for file in sorted(folder.iterdir())}
    kept = frame(HistoryView.open(str(path)), "versions")["version"].to_list()
    for _ in range(cases):
        name = chance.choice([*whole])
        data = damaged(chance, whole[name], whole[chance.choice([*whole])])
        is_named = chance.random() < 0.7
        kind = name.partition("-")[0]
        new = f"{kind}-{sha256(data).hexdigest()[:32]}.parquet" if is_named else name
        (folder / name).unlink()
        (folder / new).write_bytes(data)
        if is_named and kind != "versions":
            _point_to(folder, kind, new)
        try:
            endings[_ask(path, ledger, kept)] += 1
        finally:
            for file in folder.iterdir():
                file.unlink()
            for one, content in whole.items():
                (folder / one).write_bytes(content)
    return endings


def _point_to(folder: Path, kind: str, new: str) -> None:
    """Let a file of versions name another file of a kind, so that it counts."""
    for file in sorted(folder.glob("versions-*")):
        about = json.loads(pl.read_parquet_metadata(file)["lance_explorer.ledger"])
        if kind in about["files"] and not (folder / about["files"][kind]).exists():
            about["files"][kind] = new
            buffer = BytesIO()
            metadata = {"lance_explorer.ledger": json.dumps(about)}
            pl.read_parquet(file).write_parquet(buffer, metadata=metadata)
            file.unlink()
            name = f"versions-{sha256(buffer.getvalue()).hexdigest()[:32]}.parquet"
            (folder / name).write_bytes(buffer.getvalue())


def _ask(path: Path, ledger: Path, kept: list[int]) -> str:
    recorded = recorded_table(lx.Ledger(ledger), str(path))
    view = HistoryView.open(str(path), recorded=recorded)
    refused = set[str]()
    for name in FRAMES:
        try:
            found = frame(view, name)
        except LanceExplorerError as error:
            refused.add(type(error).__name__)
            continue
        if name == "versions":
            assert {*kept} <= {*found["version"].to_list()}
    lx.Ledger(ledger).tables()
    if refused:
        return f"refused: {', '.join(sorted(refused))}"
    return "findings" if recorded.findings(None) else "all well"


@pytest.mark.slow
@pytest.mark.drawn(1)
def test_a_ledger_damaged_at_random_is_read_or_refused(
    table: SyntheticTable, folder: Path, seed: int
):
    endings = fuzz(table.path, folder.parent, folder, CASES, seed)
    assert sum(endings.values()) == CASES
    assert not [ending for ending in endings if "refused" in ending], endings
