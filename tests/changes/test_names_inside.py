"""Fields inside of columns that were renamed: values are those of one field for life."""

from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx


def people() -> pa.Table:
    """Return rows with a struct, a struct in a struct, and a list of structs; some are null."""
    place = [{"x": 1, "at": {"lat": 0.5}}, None, {"x": None, "at": None}]
    stops: list[Any] = [[{"u": 1}, None], [], None]
    return pa.table(
        {
            "id": [1, 2, 3],
            "label": ["a", "b", "c"],
            "place": pa.array(
                place, pa.struct({"x": pa.int64(), "at": pa.struct({"lat": pa.float64()})})
            ),
            "stops": pa.array(stops, pa.list_(pa.struct({"u": pa.int64()}))),
        }
    )


@pytest.fixture(params=[True, False], ids=["stable", "addresses"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A table of which all rows were written anew, before and after fields were renamed."""
    uri = str(tmp_path / "t.lance")
    dataset: Any = lance.write_dataset(people(), uri, enable_stable_row_ids=request.param)
    dataset.update({"label": "'before'"})
    for old, new in (("place.x", "c1"), ("place.at.lat", "north"), ("stops.item.u", "w")):
        dataset.alter_columns({"path": old, "name": new})
    dataset.update({"label": "'after'"})
    return uri


PLACES = [{"c1": 1, "at": {"north": 0.5}}, None, {"c1": None, "at": None}]
STOPS = [[{"w": 1}, None], [], None]


def test_only_what_was_written_differs(path):
    table = lx.open_table(path)
    for found in (
        table.changes(1, images="both").to_polars(),
        table.diff(1, table.latest.version).rows(images="both"),
    ):
        assert found["changed_columns"].to_list() == [["label"]] * 6
    for found in (
        table.changes(1, images="both", mode="per_commit").to_polars(),
        table.changes(1, images="both").to_polars(),
    ):
        for image in ("update_preimage", "update_postimage"):
            some = found.filter(_change_type=image)
            some = some.filter(_commit_version=some["_commit_version"].min()).sort("id")
            assert some["place"].to_list() == PLACES
            assert some["stops"].to_list() == STOPS


def test_a_cell_is_not_blamed_on_a_name(path):
    cells = lx.open_table(path).blame(columns=["place", "stops", "label"]).to_polars()
    blamed = {name: cells.filter(column=name)["version"].unique().to_list() for name in PARTS}
    assert blamed == {"place": [1], "stops": [1], "label": [6]}


PARTS = ("place", "stops", "label")


def test_a_name_that_another_field_had_before_tells_them_apart(tmp_path):
    uri = str(tmp_path / "t.lance")
    place = pa.array([{"x": 1, "y": 2}], pa.struct({"x": pa.int64(), "y": pa.int64()}))
    dataset: Any = lance.write_dataset(pa.table({"id": [1], "place": place}), uri)
    dataset.drop_columns(["place.x"])
    dataset.alter_columns({"path": "place.y", "name": "x"})
    dataset.update({"id": "7"})
    [before, after] = (
        lx.open_table(uri).changes(1, images="both").to_polars()["place"].struct.unnest().to_dicts()
    )
    assert before == {"x": 2, "x_": 1}
    assert after == {"x": 2, "x_": None}


def test_what_lost_versions_renamed_may_be_the_same(tmp_path):
    uri = str(tmp_path / "t.lance")
    place = pa.array([{"x": 1}, {"x": 2}], pa.struct({"x": pa.int64()}))
    rows = pa.table({"id": [1, 2], "value": [7, 8], "place": place})
    dataset: Any = lance.write_dataset(rows, uri, enable_stable_row_ids=True)
    dataset.alter_columns({"path": "value", "name": "number"})
    dataset.alter_columns({"path": "place.x", "name": "c1"})
    dataset.update({"id": "id"})
    dataset.delete("id = 2")
    lost = {2, 3, 4}
    for file in lx.open_table(uri)._view.listing.versions:
        if file.version in lost:
            (Path(uri) / file.path).unlink()
    for version in (1, 5):  # what is known for certain is that rows became what they were
        lance.dataset(uri, version=version).restore()
    cells = lx.open_table(uri).blame().to_polars()
    told = cells.select("column", "version", "event", "is_uncertain").sort("column").rows()
    assert told == [
        ("id", 1, "created", False),
        ("number", 7, "restored", True),
        ("place", 7, "restored", True),
    ]


def test_a_field_that_was_dropped_later_is_not_blamed(path):
    dataset: Any = lance.dataset(path)
    dataset.drop_columns(["place.c1"])
    cells = lx.open_table(path).blame(columns=["place"]).to_polars()
    assert cells["version"].unique().to_list() == [1]
