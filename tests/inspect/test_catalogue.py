"""What all frames have in common: schemas, docstrings, and that each ``all_`` form is the sum of
its versions. Checked on every stored table, whatever writer it is from, so that nothing raises.
"""

import re
import shutil
from functools import lru_cache
from inspect import signature

import polars as pl
import pytest

import lance_explorer as lx
from lance_explorer.errors import FormatError, InvalidArgumentError, VersionNotFoundError
from lance_explorer.frames.columns import BRANCH, INTERVAL
from lance_explorer.history.live import LiveTable
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.catalogue import FRAMES, Inspect, frame
from tests.format.samples import DATA
from tests.inspect.frame_schemas import STORED_SCHEMAS, schemas_text
from tests.inspect.tables import manifest_paths, stored, strip, write
from tests.stored_tables import Asked, stored_check

METHODS = sorted(name for name in vars(Inspect) if not name.startswith("_"))
OF_ONE_VERSION = sorted(
    name for name in METHODS if "version" in signature(getattr(Inspect, name)).parameters
)
OF_ANY_FOLDER = {"findings", "gaps", "refs", "storage", "mem_wal"}
OF_WHOLE_INDICES = "index_coverage"  # its ``all_`` form has no fragments: test_all_index_coverage
WITH_ALL_FORM = sorted(
    name for name in OF_ONE_VERSION if f"all_{name}" in METHODS and name != OF_WHOLE_INDICES
)

# What an ``all_`` form gives as of the first version of an interval, or leaves out.
DIFFERENT = {
    "fragments": (),
    "data_files": ("fields", "root"),
    "fields": (),
    "indices": ("fields",),
    "config": (),
    "base_paths": ("num_data_files", "num_deletion_files"),
    "row_id_segments": (),
    "row_id_encodings": (),
    "version_runs": (),
    "deletions": ("root",),
    "fragment_reuse": (
        *("entry", "storage", "history_bytes"),
        *("indices_behind", "indices_caught_up"),
    ),
}


@lru_cache(maxsize=1)
def frames_of(asked: Asked) -> dict[str, pl.DataFrame]:
    """Return all frames of a stored table."""
    return {name: frame(asked.view, name) for name in FRAMES}


@stored_check()
def check_every_frame_of_every_table_has_its_schema(asked):
    found = frames_of(asked)
    assert [n for n, s in FRAMES.items() if found[n].schema != s.polars_schema] == []


@stored_check()
def check_columns_that_are_not_nullable_hold_no_null(asked):
    for name, schema in FRAMES.items():
        nulls = frames_of(asked)[name].null_count().row(0, named=True)
        assert [c.name for c in schema.columns if nulls[c.name] and not c.nullable] == []


@stored_check()
def check_every_versioned_frame_names_the_branch(asked):
    for name, schema in FRAMES.items():
        if BRANCH in schema.columns and name != "findings":
            assert set(frames_of(asked)[name]["branch"]) <= {asked.view.branch}


@stored_check()
def check_each_all_form_is_the_sum_of_the_versions(asked):
    inspect = Inspect(LiveTable(asked.view))
    for name in WITH_ALL_FORM:
        everything = frames_of(asked)[f"all_{name}"]
        for version in asked.versions:
            then = everything.filter(pl.lit(version).is_between("first_version", "last_version"))
            then = then.drop("state_id", *[column.name for column in INTERVAL], strict=False)
            then = then.drop("began_as", "ended_as", "created_in", strict=False)
            now = getattr(inspect, name)(version)
            assert strip(now, "version", *DIFFERENT[name]) == strip(
                then, *[column for column in DIFFERENT[name] if column in then.columns]
            )


def test_an_empty_frame_has_the_same_schema(tmp_path):
    write(tmp_path / "t", n=[1])
    view = lx.open_table(tmp_path / "t")._view
    empty = {name: frame(view, name) for name in FRAMES}
    names = sorted(name for name, rows in empty.items() if rows.is_empty())
    assert {"all_config", "detached", "findings", "gaps", "indices", "refs"} <= set(names)
    assert all(empty[name].schema == FRAMES[name].polars_schema for name in names)


def test_a_history_that_cannot_be_read_makes_empty_frames(tmp_path):
    shutil.copytree(DATA / "14.0.2/branches.lance", tmp_path / "t")
    for manifest in manifest_paths(tmp_path / "t").values():
        manifest.write_bytes(b"nothing of use here")
    view = HistoryView.open(str(tmp_path / "t"))
    for name in set(FRAMES) - set(OF_ONE_VERSION) - OF_ANY_FOLDER:
        assert frame(view, name).is_empty()
        assert frame(view, name).schema == FRAMES[name].polars_schema
    assert len(frame(view, "findings")) == len(manifest_paths(tmp_path / "t"))
    for name in [*OF_ONE_VERSION, "mem_wal"]:
        with pytest.raises(FormatError):
            frame(view, name)


def test_schemas_are_those_on_record():
    assert schemas_text() == STORED_SCHEMAS.read_text()


@pytest.mark.parametrize("name", METHODS)
def test_docstrings_list_every_column(name):
    text = getattr(Inspect, name).__doc__
    _, *parts = re.split(r"^(\w+)\n-+\n", text, flags=re.MULTILINE)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    returns = sections["Returns"]
    listed = [line.split()[0] for line in returns.splitlines() if line.startswith("    ")]
    assert [word for word in listed if not word.startswith("=")][1:] == FRAMES[name].names
    order = ["Parameters", "Returns", "Raises", "Examples"]
    assert list(sections) == [name for name in order if name in sections]


@pytest.mark.parametrize("schema", FRAMES.values(), ids=lambda schema: schema.name)
def test_every_column_is_declared_with_care(schema):
    assert len(set(schema.names)) == len(schema.names)
    for column in schema.columns:
        assert column.meaning
        assert (column.unit == "bytes") == column.name.endswith("bytes")
        if column.name.endswith("bytes"):
            assert column.dtype == pl.Int64()
        if column.name.endswith("version") and column.name not in (
            *("format_version", "index_version", "writer_version"),
        ):
            assert column.dtype == pl.UInt64()


def test_every_method_is_a_frame():
    assert set(METHODS) <= set(FRAMES)
    assert set(FRAMES) - set(METHODS) == {"versions"}


def test_a_snapshot_has_every_frame_of_one_version():
    snapshot = lx.open_table(DATA / "14.0.2/schema_changes.lance").at(9)
    inspect = Inspect(LiveTable(stored("14.0.2/schema_changes.lance")))
    own = sorted(name for name in vars(type(snapshot.inspect)) if not name.startswith("_"))
    assert own == OF_ONE_VERSION
    for name in own:
        method = getattr(snapshot.inspect, name)
        assert not signature(method).parameters
        assert "Parameters" not in method.__doc__
        assert method().equals(getattr(inspect, name)(9))


def test_frames_are_of_the_latest_version_by_default():
    inspect = Inspect(LiveTable(stored("14.0.2/schema_changes.lance")))
    for name in OF_ONE_VERSION:
        assert getattr(inspect, name)().equals(getattr(inspect, name)(14))


def test_the_representation_names_the_frames():
    assert "all_fragments" in repr(Inspect(LiveTable(stored("14.0.2/one_version.lance"))))


def test_a_version_that_is_gone_is_an_error():
    inspect = Inspect(LiveTable(stored("14.0.2/cleaned.lance")))
    for name in OF_ONE_VERSION:
        with pytest.raises(VersionNotFoundError, match="version 1 was cleaned up"):
            getattr(inspect, name)(1)


def test_an_unknown_frame_is_an_error():
    with pytest.raises(InvalidArgumentError, match="no frame 'rows'; there are: versions, "):
        frame(stored("14.0.2/one_version.lance"), "rows")
