"""What a merge of a branch would bring, beside what pylance reads at the fork and on both sides."""

import json
import random
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from click.testing import CliRunner

import lance_explorer as lx
from lance_explorer.cli import main
from lance_explorer.errors import InvalidArgumentError, RefNotFoundError, VersionNotFoundError

SIDES = ("base", "ours", "theirs")
Row = dict[str, Any] | None
Rows = dict[int, dict[str, Any]]


def people(*ids: int, score: float = 0.0, city: str = "Faro") -> pa.Table:
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "city": [city] * len(ids),
            "score": pa.array([score] * len(ids), pa.float64()),
            "tags": pa.array([[f"t{id_}"] for id_ in ids], pa.list_(pa.string())),
        }
    )


class Branches:
    """A table with a branch, written by pylance."""

    def __init__(self, path: Path, stable_row_ids: bool) -> None:
        self.path = path
        self.has_row_ids = stable_row_ids
        table: Any = lance.write_dataset(
            people(*range(20)), path, enable_stable_row_ids=stable_row_ids, max_rows_per_file=8
        )
        table.delete("id = 19")
        table.create_branch("dev", 2)

    def on(self, branch: str | None) -> Any:
        """Return the latest version of a branch, to write to."""
        table: Any = lance.dataset(self.path)
        return table if branch is None else table.checkout_version((branch, None))

    @property
    def table(self) -> lx.Table:
        return lx.open_table(self.path)

    def rows(self, version: Any) -> Rows:
        """Return the rows of a version as pylance reads them, by ID."""
        table: Any = lance.dataset(self.path)
        read = table.checkout_version(version).to_table().to_pylist()
        return {row["id"]: row for row in read}


@pytest.fixture(params=[True, False], ids=["stable row IDs", "addresses"])
def branches(request, tmp_path) -> Branches:
    return Branches(tmp_path / "t.lance", request.param)


def differing(one: Row, other: Row) -> set[str]:
    if one is None or other is None:
        return set()
    return {name for name in one.keys() & other.keys() if one[name] != other[name]}


def expected(base: Row, ours: Row, theirs: Row) -> tuple[str, set[str]] | None:
    """Return what comes of a row, and which of its columns are in conflict; None if nothing."""
    if base == ours == theirs:
        return None
    if ours == theirs:
        return "same", set()
    if theirs == base:
        return "kept", set()
    if ours == base:
        return "incoming", set()
    if base is None or ours is None or theirs is None:
        there = [side for side in (ours, theirs) if side is not None]
        columns = differing(ours, theirs) if base is None else differing(base, there[0])
        return "conflict", columns
    columns = differing(base, ours) & differing(base, theirs) & differing(ours, theirs)
    return ("conflict" if columns else "combined"), columns


def assert_right(branches: Branches, key: str | None) -> None:
    """Compare a preview with full scans; without a key, rows inserted on both sides are two."""
    preview = branches.table.merge_preview("dev", key)
    base, ours = branches.rows(2), branches.rows((None, None))
    theirs = branches.rows(("dev", None))
    wanted: dict[tuple[int, str], tuple[str, set[str]]] = {}
    for id_ in base.keys() | ours.keys() | theirs.keys():
        rows = base.get(id_), ours.get(id_), theirs.get(id_)
        is_two = key is None and id_ not in base
        for which in (["ours"], ["theirs"]) if is_two else (["ours", "theirs"],):
            at = [
                row if name in ("base", *which) else None
                for name, row in zip(SIDES, rows, strict=True)
            ]
            if (found := expected(at[0], at[1], at[2])) is not None:
                wanted[id_, " and ".join(which)] = found
    lines = preview.rows()
    told: dict[tuple[int, str], tuple[str, set[str]]] = {}
    unsure = set[int]()
    for line in lines.iter_rows(named=True):
        images = [line["base"], line["ours"], line["theirs"]]
        id_ = next(image["id"] for image in images if image is not None)
        if line["is_uncertain"]:  # what went and what came may be one row
            unsure.add(id_)
            continue
        assert images[0] == base.get(id_)
        is_one = key is not None or id_ in base
        place = "ours and theirs" if is_one else "ours" if images[1] else "theirs"
        if images[0] == images[1] == images[2]:  # written anew, with the values that it had
            assert "updated" in (line["change_ours"], line["change_theirs"])
            assert line["outcome"] in ("incoming", "kept")
            continue
        assert (id_, place) not in told
        told[id_, place] = line["outcome"], set(line["columns"])
        if is_one:
            assert images[1:] == [ours.get(id_), theirs.get(id_)]
    assert not unsure or (key is None and not branches.has_row_ids)
    assert {row: found for row, found in told.items() if row[0] not in unsure} == {
        row: found for row, found in wanted.items() if row[0] not in unsure
    }
    counts = preview.summary().row(0, named=True)
    brought = counts["inserted"] + counts["updated"] + counts["deleted"] - counts["combined"]
    by_outcome = dict(lines["outcome"].value_counts().iter_rows())
    assert (brought, counts["kept"], counts["conflicts"]) == (
        by_outcome.get("incoming", 0),
        by_outcome.get("kept", 0),
        by_outcome.get("conflict", 0),
    )
    assert counts["uncertain"] == lines["is_uncertain"].sum()
    cells = preview.cells()
    assert len(cells) == lines["columns"].list.len().sum()
    assert preview.is_clean == ("conflict" not in by_outcome)


def commit(branches: Branches, branch: str | None, chance: random.Random) -> None:
    """Make a random commit."""
    table = branches.on(branch)
    ids = [row["id"] for row in table.to_table(columns=["id"]).to_pylist()]
    if not ids:
        return
    some = ", ".join(map(str, chance.sample(ids, min(len(ids), chance.randint(1, 5)))))
    match chance.randint(0, 5):
        case 0:
            table.delete(f"id in ({some})")
        case 1:
            table.update(
                {"city": f"'{chance.choice(['Lagos', 'Olhao'])}'"}, where=f"id in ({some})"
            )
        case 2:
            table.update({"score": str(float(chance.randint(0, 2)))}, where=f"id in ({some})")
        case 3:
            new = [id_ for id_ in chance.sample(range(100, 106), 2) if id_ not in ids]
            if new:
                table.insert(people(*new, score=1.0 * chance.randint(0, 1)))
        case 4:
            table.optimize.compact_files()
        case 5:
            rows = people(*chance.sample(ids, min(3, len(ids))), score=2.0, city="Silves")
            upsert = table.merge_insert("id").when_matched_update_all()
            upsert.when_not_matched_insert_all().execute(rows)


@pytest.mark.slow
@pytest.mark.drawn(4)
def test_random_lives_of_both_sides_come_to_what_full_scans_say(branches, seed):
    chance = random.Random(seed)
    for _ in range(5):
        for branch in (None, "dev"):
            commit(branches, branch, chance)
    for key in (None, "id"):
        assert_right(branches, key)


def test_a_side_that_did_nothing(branches):
    assert branches.table.merge_preview("dev").summary()["kept"].item() == 0
    branches.on("dev").update({"city": "'Lagos'"}, where="id < 3")
    for key in (None, "id"):
        assert_right(branches, key)
    back = lx.open_table(branches.path, branch="dev").merge_preview("main")
    assert back.summary().select("updated", "kept").row(0) == (0, 3)


@pytest.mark.parametrize(("gone", "outcome"), [(None, "kept"), ("dev", "incoming")])
def test_a_row_that_is_gone_stays_gone_where_the_other_side_wrote_equal_values(
    branches, gone, outcome
):
    branches.on(gone).delete("id = 3")
    branches.on("dev" if gone is None else None).update({"city": "'Faro'"}, where="id = 3")
    lines = branches.table.merge_preview("dev", "id").rows()
    assert lines["outcome"].to_list() == [outcome]


def test_columns_that_both_sides_changed(branches):
    ours, theirs = branches.on(None), branches.on("dev")
    ours.alter_columns({"path": "city", "name": "town"})
    ours.add_columns({"size": "id * 2"})
    theirs.add_columns({"size": "id * 3"})
    branches.on("dev").drop_columns(["score"])
    branches.on(None).update({"town": "'Lagos'"}, where="id = 1")
    branches.on("dev").update({"city": "'Silves'"}, where="id = 1")
    preview = branches.table.merge_preview("dev")
    found = preview.schema().select("outcome", "path", "change_ours", "change_theirs").rows()
    assert sorted(found) == [
        ("conflict", "size", "added", "added"),
        ("incoming", "score", None, "dropped"),
        ("kept", "city", "renamed", None),
    ]
    assert preview.cells().select("column", "base", "ours", "theirs").rows() == [
        ("town", "Faro", "Lagos", "Silves")
    ]
    assert not preview.is_clean
    assert "Field `size` is in conflict" in " ".join(preview.words())


def test_values_of_all_types_are_told_as_text(branches):
    for branch, tags in ((None, "['a']"), ("dev", "['b', 'c']")):
        branches.on(branch).update({"tags": tags}, where="id = 3")
    cells = branches.table.merge_preview("dev").cells()
    assert cells.select("base", "ours", "theirs").row(0) == ('["t3"]', '["a"]', '["b","c"]')


def test_a_key_that_is_in_several_rows_is_refused(branches):
    branches.on("dev").insert(people(50, 50))
    with pytest.raises(InvalidArgumentError, match="id = 50 is in several rows on dev@3"):
        branches.table.merge_preview("dev", "id").summary()
    assert branches.table.merge_preview("dev").summary()["inserted"].item() == 2


def test_what_cannot_be_told_is_said(branches):
    table = branches.table
    with pytest.raises(RefNotFoundError, match="no branch 'no'"):
        table.merge_preview(("no", 1))
    with pytest.raises(InvalidArgumentError, match="by key 'nowhere'"):
        table.merge_preview("dev", key="nowhere")
    with pytest.raises(InvalidArgumentError, match="is one of"):
        table.merge_preview("dev").rows("new")


def test_a_fork_that_is_not_kept_is_refused(tmp_path):
    made = Branches(tmp_path / "t.lance", True)
    made.on(None).delete("id = 1")
    preview = made.table.merge_preview("dev")
    for manifest in (made.path / "_versions").iterdir():
        if manifest.name.startswith(str(2**64 - 1 - 2)):
            manifest.unlink()
    with pytest.raises(VersionNotFoundError, match="version 2"):
        preview.summary()


def test_the_command_tells_the_same(branches):
    for branch, city in ((None, "Lagos"), ("dev", "Silves")):
        branches.on(branch).update({"city": f"'{city}'"}, where="id = 3")

    def run(*options: str) -> Any:
        return CliRunner().invoke(main, ["merge-preview", str(branches.path), "dev", *options])

    assert "1 row is in conflict, in `city` (1)." in run().output
    assert "Silves" in run("--key", "id").output
    assert run("--exit-code").exit_code == 1
    told = json.loads(run("--json").output)["sections"]
    assert told["summary"]["rows"][0]["conflicts"] == 1
    assert told["cells"]["rows"][0]["ours"] == "Lagos"
    assert CliRunner().invoke(main, ["merge-preview", str(branches.path), "no"]).exit_code == 2


def test_it_is_shown_as_a_page(branches):
    branches.on("dev").delete("id = 3")
    shown = branches.table.merge_preview("dev")._repr_html_()
    assert "would delete 1 row." in shown
    assert "<code>dev</code>" in shown
