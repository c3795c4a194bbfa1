"""The sample tables tell the same story wherever they are made, and no folder of others is harmed.

Not checked: commit times, file names and what the vector index learnt, which differ each time.
"""

import re
import shutil
import struct
import subprocess
import sys
import zlib
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer import demo
from lance_explorer.errors import InvalidArgumentError

# pylance answers BaseOperation where it has no class of its own: for ReserveFragments.
OPERATIONS = """
    Overwrite Append UpdateConfig CreateIndex Append Update Delete Merge Append CreateIndex
    Update Update BaseOperation Rewrite CreateIndex Append CreateIndex Merge Update Project
    Merge Update Append Update Append Delete Append Restore Append Update
    UpdateConfig BaseOperation Rewrite CreateIndex Append CreateIndex Project Append Delete
    CreateIndex Append BaseOperation Rewrite Update Delete
"""

ROOT = Path(demo.__file__).parents[2]


@pytest.fixture(scope="module")
def samples(tmp_path_factory) -> list[Path]:
    return demo.make_samples(tmp_path_factory.mktemp("samples"))


@pytest.fixture
def short_story(monkeypatch) -> None:
    """Let samples that a test makes have the first versions, and a branch."""
    steps = (*demo.STORY[:4], demo.branch_faces, demo.detect_faces)
    monkeypatch.setattr(demo, "STORY", steps)


@pytest.fixture(params=["with stable row IDs", "without"])
def photos(request, samples) -> lance.LanceDataset:
    with_stable_row_ids, without, *_ = samples
    return lance.dataset(without if request.param == "without" else with_stable_row_ids)


@pytest.fixture
def stable(samples) -> lance.LanceDataset:
    return lance.dataset(samples[0])


@pytest.fixture
def twin(samples) -> lance.LanceDataset:
    return lance.dataset(samples[1])


def versions(photos: lance.LanceDataset) -> list[int]:
    return [version["version"] for version in photos.versions()]


def operation(photos: lance.LanceDataset, version: int) -> str:
    try:
        transaction = photos.read_transaction(version)
    except TypeError as error:  # pylance 14.0.2 cannot show a Rewrite that rewrote indices
        if "RewrittenIndex" not in str(error):
            raise
        return "Rewrite"
    assert transaction
    return type(transaction.operation).__name__


def message(photos: lance.LanceDataset, version: int) -> str | None:
    transaction = photos.read_transaction(version)
    assert transaction
    return (transaction.transaction_properties or {}).get("__lance_commit_message")


def photo_42(photos: lance.LanceDataset, reference: Any, *columns: str) -> tuple[Any, ...] | None:
    at = photos.checkout_version(reference)
    found = at.to_table(columns=list(columns), filter="photo_id = 42").to_pylist()
    return tuple(found[0].values()) if found else None


def everything(photos: lance.LanceDataset, version: int) -> tuple[Any, ...]:
    """Return all of a version that must not depend on where and when it was made."""
    columns = [*photos.schema.names, "_rowid", "_rowaddr"]
    if photos.has_stable_row_ids:
        columns += ["_row_created_at_version", "_row_last_updated_at_version"]
    return (
        operation(photos, version),
        photos.schema,
        [
            (
                f.fragment_id,
                f.physical_rows,
                f.num_deletions,
                [file.fields for file in f.data_files()],
            )
            for f in photos.get_fragments()
        ],
        [
            (index.name, [sorted(segment.fragment_ids) for segment in index.segments])
            for index in photos.describe_indices()
        ],
        photos.to_table(columns=columns).combine_chunks(),
    )


def run(code: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)


def test_the_operations_are_those_of_the_story(photos):
    assert versions(photos) == list(range(1, 46))
    assert [operation(photos, version) for version in versions(photos)] == OPERATIONS.split()


def test_each_step_says_when_it_happens(photos):
    told = " ".join(step.__doc__ or "" for step in demo.STORY)
    weeks = [int(week) for week in re.findall(r"Week (\d+)", told)]
    assert len(weeks) == len(demo.STORY)
    assert weeks == sorted(weeks)


def test_commits_carry_messages_where_pylance_takes_them(photos):
    assert message(photos, 1) == "Week 1: photos of Lisbon"
    assert message(photos, 11) == "Week 15: ratings from the tablet"
    assert message(photos, 28) == "Week 32: bring Lisbon back"
    assert message(photos, 26) is None


def test_tags_point_to_main_and_to_the_branch(photos):
    tags = {name: (tag["branch"], tag["version"]) for name, tag in photos.tags.list().items()}
    assert tags == {"backup": (None, 25), "faces-tried": ("faces", 34)}


def test_the_branch_goes_its_own_way(photos):
    assert photos.branches.list()["faces"]["parent_version"] == 30
    faces = photos.checkout_version(("faces", None))
    operations = [operation(faces, version) for version in versions(faces)]
    assert operations == ["Clone", "Merge", "Update", "Delete", "Append"]
    assert "faces" in faces.schema.names
    assert "faces" not in photos.schema.names
    assert photo_42(photos, ("faces", None), "rating") == (5.0,)
    assert photo_42(photos, ("main", None), "rating") == (4.5,)
    assert faces.count_rows("album = 'Portraits'") == 60
    assert photos.count_rows("album = 'Portraits'") == 0


def test_main_and_branch_give_the_same_row_ids_to_different_photos(stable):
    faces = stable.checkout_version(("faces", None))
    portraits, winter = (
        set(table.to_table([], f"album = '{album}'", with_row_id=True)["_rowid"].to_pylist())
        for table, album in [(faces, "Portraits"), (stable.checkout_version(35), "Christmas")]
    )
    assert len(portraits) == 60
    assert portraits < winter


def test_the_restore_brings_the_backup_back(photos):
    backup, restored = (photos.checkout_version(version) for version in ("backup", 28))
    assert restored.to_table(with_row_address=True) == backup.to_table(with_row_address=True)
    assert photos.checkout_version(27).count_rows("album = 'Lisbon'") == 0
    assert photos.checkout_version(27).count_rows("album = 'Forest'") == 300
    assert restored.count_rows("album = 'Forest'") == 0


def test_photo_42_has_an_eventful_life(stable):
    seen = [
        photo_42(stable, version, "_rowid", "_rowaddr", "rating", title_column(stable, version))
        for version in versions(stable)
    ]
    changes = [version for version in range(2, 46) if seen[version - 1] != seen[version - 2]]
    assert changes == [6, 11, 14, 22, 26, 28, 44]
    assert {life[0] for life in seen if life} == {42}
    assert [life and life[2:] for life, _ in groupby(seen, key=lambda life: life)] == [
        (3.0, "Tramm in Lisbon, 42"),
        (3.0, "Tram in Lisbon, 42"),
        (4.0, "Tram in Lisbon, 42"),
        (4.0, "Tram in Lisbon, 42"),
        (4.5, "Tram in Lisbon, 42"),
        None,
        (4.5, "Tram in Lisbon, 42"),
        (4.5, "The yellow tram"),
    ]


def title_column(photos: lance.LanceDataset, version: int) -> str:
    names = photos.checkout_version(version).schema.names
    return "title" if "title" in names else "caption"


def test_columns_come_change_and_go(photos):
    first = demo.FIRST_SCHEMA.names
    assert photos.checkout_version(1).schema == demo.FIRST_SCHEMA
    assert set(photos.schema.names) - set(first) == {"title", "megapixels", "people"}
    assert set(first) - set(photos.schema.names) == {"caption", "sharpness"}
    assert str(photos.checkout_version(20).schema.field("megapixels").type) == "double"
    assert str(photos.schema.field("megapixels").type) == "float"


def test_upserts_update_insert_and_delete(photos):
    counts = [photos.checkout_version(version).count_rows() for version in (10, 11, 12, 24, 30)]
    assert counts == [1098, 1108, 1338, 1928, 2291]
    assert photos.checkout_version(30).count_rows("album = 'Phone'") == 133
    before, after = (photos.checkout_version(version) for version in (18, 19))
    assert before.count_rows("people IS NOT NULL") == 0
    assert after.count_rows("people IS NOT NULL") == 260
    assert [f.physical_rows for f in after.get_fragments()] == [
        f.physical_rows for f in before.get_fragments()
    ]


def test_indices_are_scalar_and_vector_and_lag_behind(photos):
    indices = {index.name: index for index in photos.describe_indices()}
    assert {"photo_id_idx", "album_idx", "embedding_idx"} <= indices.keys()
    assert len(indices["photo_id_idx"].segments) == 2
    covered = {f for segment in indices["photo_id_idx"].segments for f in segment.fragment_ids}
    assert not {fragment.fragment_id for fragment in photos.get_fragments()} <= covered
    at_38 = photos.checkout_version(38).describe_indices()
    assert "taken_at_idx" in {index.name for index in at_38}
    assert "taken_at_idx" not in indices


def test_the_twin_has_no_stable_row_ids_but_a_fragment_reuse_index(stable, twin):
    assert stable.has_stable_row_ids
    assert not twin.has_stable_row_ids
    assert "__lance_frag_reuse" not in {index.name for index in stable.describe_indices()}
    assert "__lance_frag_reuse" in {index.name for index in twin.describe_indices()}


def test_the_twin_holds_the_same_photos(stable, twin):
    for version in versions(stable):
        one, other = (
            table.checkout_version(version).to_table().sort_by([("photo_id", "ascending")])
            for table in (stable, twin)
        )
        assert one == other, version


def test_samples_are_small(samples):
    for path in samples:
        assert sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) < 5e6


@pytest.mark.slow
@pytest.mark.parametrize("function", ["make_photos", "make_photos_without_stable_row_ids"])
def test_another_process_makes_the_same_table(samples, tmp_path, function):
    made = samples[function != "make_photos"]
    done = run(f"from lance_explorer.demo import *; {function}({str(tmp_path / 't.lance')!r})")
    assert (done.returncode, done.stdout) == (0, b"")
    for reference in [(None, None), ("faces", None)]:
        one, other = (
            lance.dataset(path).checkout_version(reference) for path in (made, tmp_path / "t.lance")
        )
        assert versions(one) == versions(other)
        for version in versions(one):
            here, there = (
                everything(table.checkout_version((reference[0], version)), version)
                for table in (one, other)
            )
            assert here == there, (reference, version)


def test_a_complete_sample_is_reused(samples):
    before = [path.stat().st_mtime_ns for path in samples]
    assert demo.make_samples(samples[0].parent) == samples
    assert [path.stat().st_mtime_ns for path in samples] == before


def test_samples_go_where_the_environment_says(samples, monkeypatch):
    monkeypatch.setenv("LANCE_EXPLORER_SAMPLES", str(samples[0].parent))
    assert demo.make_samples() == samples
    both = [demo.make_photos(), demo.make_photos_without_stable_row_ids()]
    assert [*both, demo.make_archive(), demo.make_documents()] == samples


def test_samples_go_to_the_cache_folder_otherwise(short_story, monkeypatch, tmp_path):
    if sys.platform != "linux":
        pytest.skip("XDG_CACHE_HOME is of Linux")
    monkeypatch.delenv("LANCE_EXPLORER_SAMPLES", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert demo.make_photos() == tmp_path / "lance_explorer" / "samples" / "photos.lance"


def test_a_relative_path_survives_a_change_of_folder(tmp_path, monkeypatch, short_story):
    monkeypatch.chdir(tmp_path)
    path = demo.make_photos("photos.lance")
    monkeypatch.chdir("/")
    assert path == tmp_path / "photos.lance"
    assert lance.dataset(path).checkout_version(("faces", None)).count_rows() > 0


def test_a_folder_of_others_is_refused(tmp_path):
    mine = tmp_path / "photos.lance"
    mine.mkdir()
    (mine / "holiday.jpg").write_text("mine")
    with pytest.raises(InvalidArgumentError, match="is not a sample table"):
        demo.make_photos(mine)
    assert [file.name for file in tmp_path.rglob("*")] == ["photos.lance", "holiday.jpg"]


def test_a_build_that_broke_off_is_made_anew(tmp_path, short_story):
    path = tmp_path / "photos.lance"
    done = run(
        "import os; from lance_explorer import demo\n"
        "demo.STORY = (*demo.STORY[:2], lambda photos: os._exit(7))\n"
        f"demo.make_photos({str(path)!r})"
    )
    assert done.returncode == 7
    assert len(versions(lance.dataset(path))) == 3
    demo.make_photos(path)
    assert len(versions(lance.dataset(path))) == 5


def test_a_sample_of_another_recipe_is_made_anew(tmp_path, monkeypatch, short_story):
    path = demo.make_photos(tmp_path / "photos.lance")
    lance.dataset(path).delete("true")
    monkeypatch.setattr(demo, "RECIPE", demo.RECIPE + 1)
    demo.make_photos(path)
    assert len(versions(lance.dataset(path))) == 5


def test_a_sample_that_was_moved_is_made_anew(tmp_path, short_story):
    demo.make_photos(tmp_path / "here" / "photos.lance")
    (tmp_path / "here").rename(tmp_path / "there")
    path = demo.make_photos(tmp_path / "there" / "photos.lance")
    assert lance.dataset(path).checkout_version(("faces", None)).to_table().num_rows > 0


@pytest.mark.slow
def test_two_processes_at_once_make_one_sample(tmp_path):
    path = tmp_path / "photos.lance"
    code = f"from lance_explorer.demo import *; make_photos({str(path)!r})"
    both = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) for _ in range(2)]
    assert [process.wait(600) for process in both] == [0, 0]
    assert len(versions(lance.dataset(path))) == 45


def test_a_table_that_took_the_place_of_a_sample_is_kept(tmp_path):
    path = tmp_path / "photos.lance"
    path.with_name("photos.lance.recipe").write_text("an older recipe")
    lance.write_dataset(pa.table({"mine": [1]}), path)
    with pytest.raises(InvalidArgumentError, match="not a sample table"):
        demo.make_photos(path)
    assert lance.dataset(path).to_table().to_pydict() == {"mine": [1]}


# ------------------------------------------------------------------------------- the archive


@pytest.fixture(scope="module")
def archive(samples) -> lx.Table:
    return lx.open_table(samples[2])


def test_months_pass_in_the_archive_and_end_before_the_day_it_was_made(archive):
    times = archive.versions()["timestamp"]
    assert times.is_sorted()
    told = [version["timestamp"] for version in lance.dataset(archive.uri).versions()]
    for one, other in zip(told, times, strict=True):
        assert abs(one - other.replace(tzinfo=None)) < timedelta(milliseconds=1)
    assert timedelta(days=170) < times[-1] - times[0] < timedelta(days=183)
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    assert today - timedelta(days=4) < times[-1] < today
    of_branch = lx.open_table(archive.uri, branch="faces").versions()["timestamp"]
    assert of_branch.is_sorted()
    assert of_branch[0] > archive.at(archive.branches["faces"].parent_version).timestamp


def test_the_archive_is_as_pylance_wrote_it_but_for_the_times(archive):
    found = archive.check()
    assert found.filter(found["severity"] == "error").is_empty()
    dataset = lance.dataset(archive.uri)
    for version in range(1, archive.latest.version + 1):
        at = dataset.checkout_version(version)
        assert at.count_rows() == archive.at(version).num_rows
    assert dataset.tags.list()["before-dedupe"]["version"] == 25


def test_what_people_ask_of_the_archive_has_an_answer(archive):
    gone = archive.find("photo_id = 42").to_polars().filter(ended_as="deleted")
    assert gone["author"].to_list() == ["rui", "scheduler"]
    log = archive.log(text="dedupe", operation=["restore", "delete"])
    assert log["operation"].to_list() == ["Restore", "Delete"]
    rated = archive.changes("1 week ago", columns=["rating"], images="both").to_polars()
    assert rated.filter(rated["_change_type"] == "update_postimage").height == 38
    big = archive.log().sort("data_bytes_change", nulls_last=True, descending=True).head(1)
    assert big["job"].to_list() == ["thumbnails"]
    preview = archive.merge_preview("faces")
    assert preview.summary().select("conflicts", "deleted").row(0) == (6, 24)


def test_thumbnails_are_images_of_one_size_and_later_of_a_larger_one(archive):
    for version, size in ((25, (32, 24)), (-1, (80, 60))):
        image = archive.at(version).read(columns=["photo_id", "thumbnail"])["thumbnail"][0]
        assert image[:8] == b"\x89PNG\r\n\x1a\n"
        chunks, at = {}, 8
        while at < len(image):
            length, kind = struct.unpack(">I4s", image[at : at + 8])
            body = image[at + 4 : at + 8 + length]
            assert zlib.crc32(body) == struct.unpack(">I", image[at + 8 + length :][:4])[0]
            chunks[kind] = body[4:]
            at += 12 + length
        width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
        assert (width, height) == size
        assert len(zlib.decompress(chunks[b"IDAT"])) == height * (1 + 3 * width)
        assert [*chunks] == [b"IHDR", b"IDAT", b"IEND"]


def test_an_archive_of_last_week_is_made_again(tmp_path, samples):
    path = tmp_path / "archive.lance"
    recipe = path.with_name("archive.lance.recipe")
    shutil.copytree(samples[2], path)
    first = samples[2].with_name(recipe.name).read_text().replace(str(samples[2]), str(path))
    recipe.write_text(first)
    assert demo.make_archive(path) == path
    assert recipe.read_text() == first
    recipe.write_text(first.replace("told on 2", "told on 1"))
    demo.make_archive(path)
    assert recipe.read_text() == first


def test_what_people_ask_of_the_documents_has_an_answer(samples):
    documents = lx.open_table(samples[3])
    shifts = documents.profile(["score", "embedding", "source"]).shifts()
    found = shifts.group_by("column", maintain_order=True).first().select("column", "author", "job")
    assert found.rows()[:2] == [
        ("embedding", "mina", "embed"),
        ("score", "scheduler", "quality-filter"),
    ]
    [embedded] = documents.log(text="encoder-2")["version"]
    drift = documents.changes(embedded - 1, embedded).drift("embedding")
    assert drift.summary().select("num_unchanged", "num_moved").row(0) == (0, 1200)
    least = documents.profile("score", versions=["1 week ago"]).to_polars()["quantiles"].item()[0]
    assert least >= 0.35
