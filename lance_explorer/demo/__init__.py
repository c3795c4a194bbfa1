"""Sample tables for the notebooks and the README: the life of a photo collection.

It writes Lance tables with pylance, and does not read them. `STORY` is the recipe, one small
function a step. Samples always have the same versions, operations, rows, row order, row IDs and
values. The photos have the same commit times, too; file names and the trained vector index differ.
"""

import fcntl
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from os import environ
from os.path import realpath
from pathlib import Path
from typing import NamedTuple, TextIO

import lance
import numpy as np
import platformdirs
import pyarrow as pa
from lance.dataset import LANCE_COMMIT_MESSAGE_KEY, MergeInsertBuilder
from tqdm import tqdm

from lance_explorer.arguments import path as path_text
from lance_explorer.demo.archive import FIRST_OF_ARCHIVE, tell_archive
from lance_explorer.demo.documents import FIRST_OF_DOCUMENTS, tell_documents
from lance_explorer.demo.story import Story
from lance_explorer.errors import InvalidArgumentError, StorageError
from lance_explorer.storage import check_not_forked

__all__ = [
    "RECIPE",
    "STORY",
    "make_archive",
    "make_documents",
    "make_photos",
    "make_photos_without_stable_row_ids",
    "make_samples",
]

RECIPE = 2  # is increased by every change of the story, so that older samples are made again

EMBEDDING_SIZE = 16

_FIRST_DAY = date(2025, 4, 7)
"""The Monday of the first week of the photos."""

_FRESH_DAYS = 3
"""The most days since the archive was made: its story ends on the day before."""

_FIRST_MESSAGE = "Week 1: photos of Lisbon"
_FIRST_MESSAGES = (_FIRST_MESSAGE, FIRST_OF_ARCHIVE, FIRST_OF_DOCUMENTS)

FIRST_SCHEMA = pa.schema(
    [
        pa.field("photo_id", pa.int64(), nullable=False),
        pa.field("album", pa.string()),
        pa.field("place", pa.string()),
        pa.field("taken_at", pa.timestamp("us", tz="UTC")),
        pa.field("camera", pa.string()),
        pa.field("width", pa.int32()),
        pa.field("height", pa.int32()),
        pa.field("sharpness", pa.int16()),
        pa.field("rating", pa.float32()),
        pa.field("caption", pa.string()),
        pa.field("embedding", pa.list_(pa.float32(), EMBEDDING_SIZE)),
    ]
)


def __dir__() -> list[str]:
    return list(__all__)


# --- The photos ----------------------------------------------------------------------------------


class Album(NamedTuple):
    """Photos of one occasion: `size` of them, numbered from `first_id`."""

    name: str
    place: str
    subjects: tuple[str, ...]
    camera: str
    begin: str
    first_id: int
    size: int


LISBON = Album(
    "Lisbon", "Lisbon", ("Tramm", "Harbour", "Tiles"), "X-T5", "2025-04-05T08:10", 0, 320
)
SINTRA = Album("Day trip", "Sintra", ("Palace", "Gate"), "X-T5", "2025-04-08T07:30", 320, 180)
GARDEN = Album("Garden", "Home", ("Tulips", "Bees"), "Pixel 8", "2025-04-26T13:00", 500, 260)
ALPS = Album("Hike", "Zermatt", ("Ridge", "Glacier"), "X-T5", "2025-06-19T05:45", 760, 400)
LAKE = Album("Weekend", "Como", ("Boat", "Lunch"), "X-T5", "2025-07-12T09:00", 1160, 240)
WEDDING = Album("Wedding", "Siena", ("Guests", "Cake"), "EOS R6", "2025-08-30T11:00", 1400, 520)
PHONE = Album("Phone", "Home", ("Cat", "Sunset"), "Pixel 8", "2025-09-01T06:00", 1920, 150)
AUTUMN = Album("Forest", "Freiburg", ("Beech", "Fog"), "X-T5", "2025-10-18T08:00", 2070, 300)
WINTER = Album("Christmas", "Home", ("Tree", "Dinner"), "EOS R6", "2025-12-24T15:00", 2370, 200)
PORTRAITS = Album("Portraits", "Home", ("Ana", "Rui"), "EOS R6", "2025-11-29T14:00", 3000, 60)
DECEMBER = Album("Phone", "Home", ("Cat", "Snow"), "Pixel 8", "2026-01-08T07:00", 2600, 30)
TESTS = Album("Test shots", "Home", ("Chart",), "EOS R6", "2025-12-27T10:00", 2570, 24)


def _photos(album: Album, schema: pa.Schema) -> pa.Table:
    """Make the rows of an album with the current columns of the table."""
    # Whole numbers from the legacy generator, whose stream NumPy froze: equal on every machine.
    random = np.random.RandomState(album.first_id)
    n = album.size
    number = np.arange(n)
    minutes = random.randint(1, 9, n, np.int64).cumsum().astype("timedelta64[m]")
    upright = random.randint(0, 4, n, np.int64) == 0
    ratings = random.randint(0, 6, n, np.int64)
    centre = random.randint(-100, 100, EMBEDDING_SIZE, np.int64)
    noise = random.randint(-256, 256, (n, EMBEDDING_SIZE), np.int64)
    caption = [f"{album.subjects[i % len(album.subjects)]} in {album.place}, {i}" for i in number]
    columns = {
        "photo_id": album.first_id + number,
        "album": [album.name] * n,
        "place": [album.place] * n,
        "taken_at": (np.datetime64(album.begin) + minutes).astype("datetime64[us]"),
        "camera": [album.camera] * n,
        "width": np.where(upright, 4000, 6000),
        "height": np.where(upright, 6000, 4000),
        "sharpness": random.randint(0, 100, n, np.int64),
        "rating": pa.array(ratings, mask=ratings == 0),
        "caption": caption,
        "title": caption,
        "embedding": ((centre + noise) / 256).tolist(),
        "megapixels": np.full(n, 24.0),
        "people": pa.nulls(n),
        "faces": number % 4,
    }
    return pa.table({name: columns[name] for name in schema.names}).cast(schema)


# --- Ways to commit ------------------------------------------------------------------------------


def _append(photos: lance.LanceDataset, rows: pa.Table, message: str) -> None:
    photos.insert(rows, commit_message=message)


def _merge(
    photos: lance.LanceDataset, merge: MergeInsertBuilder, rows: pa.Table, message: str
) -> None:
    # A stream of one batch that is looked up in a scan of the table is written in its own order. Of
    # a with a table in memory or an index, Lance may work in parallel, and threads decide on the
    # order
    stream = rows.combine_chunks().to_reader()
    transaction, _ = merge.use_index(False).execute_uncommitted(stream)
    _commit(photos, transaction, message)


def _commit(photos: lance.LanceDataset, transaction: lance.Transaction, message: str) -> None:
    """Commit with a message; pylance accepts one here and in writes, not in delete or update."""
    transaction.transaction_properties = {LANCE_COMMIT_MESSAGE_KEY: message}
    lance.LanceDataset.commit(photos, transaction)


def _compact(photos: lance.LanceDataset) -> None:
    """Compact with one thread, so that new fragment IDs come in order."""
    photos.optimize.compact_files(
        target_rows_per_fragment=1000,
        # Leaves a fragment reuse index behind; Lance refuses it with stable row IDs.
        defer_index_remap=not photos.has_stable_row_ids,
        num_threads=1,
    )


# --- The story: each step is one commit, unless it says otherwise --------------------------------


def import_lisbon(path: Path, stable_row_ids: bool) -> None:
    """Week 1: create the table with the photos of Lisbon, in two fragments."""
    lance.write_dataset(
        _photos(LISBON, FIRST_SCHEMA),
        path,
        max_rows_per_file=200,
        enable_stable_row_ids=stable_row_ids,
        commit_message=_FIRST_MESSAGE,
    )


def import_sintra(photos: lance.LanceDataset) -> None:
    """Week 1: append a day trip."""
    _append(photos, _photos(SINTRA, photos.schema), "Week 1: day trip to Sintra")


def name_owner(photos: lance.LanceDataset) -> None:
    """Week 1: say in the config whose photos they are."""
    photos.update_config({"archive.owner": "Family Silva", "archive.keep_originals": "true"})


def index_photo_id(photos: lance.LanceDataset) -> None:
    """Week 1: make a BTREE index, to find photos by number."""
    photos.create_scalar_index("photo_id", "BTREE")


def import_garden(photos: lance.LanceDataset) -> None:
    """Week 4: append photos of the garden."""
    _append(photos, _photos(GARDEN, photos.schema), "Week 4: garden")


def correct_captions(photos: lance.LanceDataset) -> None:
    """Week 4: correct a spelling in captions."""
    photos.update({"caption": "replace(caption, 'Tramm', 'Tram')"}, where="caption LIKE 'Tramm %'")


def delete_blurred(photos: lance.LanceDataset) -> None:
    """Week 5: delete blurred photos."""
    photos.delete("sharpness < 8")


def add_megapixels(photos: lance.LanceDataset) -> None:
    """Week 5: add a column by an SQL expression; every fragment gets one more data file."""
    photos.add_columns({"megapixels": "width * height / 1e6"})


def import_alps(photos: lance.LanceDataset) -> None:
    """Week 12: append a hike."""
    _append(photos, _photos(ALPS, photos.schema), "Week 12: hike in the Alps")


def index_embedding(photos: lance.LanceDataset) -> None:
    """Week 12: make a vector index, to find similar photos."""
    photos.create_index("embedding", "IVF_FLAT", num_partitions=4)


def rate_on_tablet(photos: lance.LanceDataset) -> None:
    """Week 15: upsert ratings given on the tablet, with ten photos that the table did not know."""
    rated = photos.to_table(filter="photo_id < 420 AND photo_id % 6 = 0")
    stars = pa.array(np.arange(rated.num_rows) % 4 + 1.0, pa.float32())
    rated = rated.drop_columns("rating").append_column("rating", stars).select(rated.column_names)
    new = _photos(LAKE, photos.schema).slice(0, 10)
    upsert = photos.merge_insert("photo_id").when_matched_update_all().when_not_matched_insert_all()
    _merge(photos, upsert, pa.concat_tables([rated, new]), "Week 15: ratings from the tablet")


def import_lake(photos: lance.LanceDataset) -> None:
    """Week 15: merge a weekend, insert only: the ten photos from the tablet are skipped."""
    insert_new = photos.merge_insert("photo_id").when_not_matched_insert_all()
    _merge(photos, insert_new, _photos(LAKE, photos.schema), "Week 15: weekend at the lake")


def compact_spring(photos: lance.LanceDataset) -> None:
    """Week 16: compact small fragments: one commit reserves fragment IDs, one rewrites."""
    _compact(photos)


def optimize_indices(photos: lance.LanceDataset) -> None:
    """Week 16: bring the photos added since into the indices."""
    photos.optimize.optimize_indices()


def import_wedding(photos: lance.LanceDataset) -> None:
    """Week 22: append a wedding."""
    _append(photos, _photos(WEDDING, photos.schema), "Week 22: wedding in Siena")


def index_album(photos: lance.LanceDataset) -> None:
    """Week 22: make a BITMAP index, to find photos by album."""
    photos.create_scalar_index("album", "BITMAP")


def add_people(photos: lance.LanceDataset) -> None:
    """Week 22: add a column that is null everywhere; no data file changes."""
    photos.add_columns(pa.field("people", pa.int16()))


def count_people(photos: lance.LanceDataset) -> None:
    """Week 23: merge that one column for the wedding, in place: new column files, no row moves."""
    guests = photos.to_table(columns=["photo_id"], filter="album = 'Wedding' AND photo_id % 2 = 0")
    people = pa.array(np.arange(guests.num_rows) % 9, pa.int16())
    patch = photos.merge_insert("photo_id").when_matched_update_all().write_mode("rewrite_columns")
    _merge(photos, patch, guests.append_column("people", people), "Week 23: people at the wedding")


def rename_caption(photos: lance.LanceDataset) -> None:
    """Week 23: call captions titles."""
    photos.alter_columns({"path": "caption", "name": "title"})  # type: ignore[dict-item]


def cast_megapixels(photos: lance.LanceDataset) -> None:
    """Week 24: cast a column; every fragment gets another file for it."""
    to_float = {"path": "megapixels", "data_type": pa.float32()}
    photos.alter_columns(to_float)  # type: ignore[arg-type]


def give_half_stars(photos: lance.LanceDataset) -> None:
    """Week 24: raise ratings of Lisbon by half a star."""
    photos.update({"rating": "rating + 0.5"}, where="album = 'Lisbon' AND rating < 5")


def import_phone_september(photos: lance.LanceDataset) -> None:
    """Week 26: append the first photos of the phone."""
    _append(photos, _photos(PHONE, photos.schema).slice(0, 40), "Week 26: phone, September")


def import_phone_october(photos: lance.LanceDataset) -> None:
    """Week 28: merge what the phone sends, old and new, insert only."""
    sent = _photos(PHONE, photos.schema).slice(0, 70)
    insert_new = photos.merge_insert("photo_id").when_not_matched_insert_all()
    _merge(photos, insert_new, sent, "Week 28: phone, October")


def import_phone_november(photos: lance.LanceDataset) -> None:
    """Week 30: append what the phone took in November."""
    _append(photos, _photos(PHONE, photos.schema).slice(70, 25), "Week 30: phone, November")


def tag_backup(photos: lance.LanceDataset) -> None:
    """Week 30: tag this version; a tag is no commit."""
    photos.tags.create("backup", photos.version)


def delete_lisbon(photos: lance.LanceDataset) -> None:
    """Week 31: delete an album, by mistake."""
    photos.delete("album = 'Lisbon'")


def import_autumn(photos: lance.LanceDataset) -> None:
    """Week 31: append autumn; nobody has noticed yet."""
    _append(photos, _photos(AUTUMN, photos.schema), "Week 31: autumn in the forest")


def restore_backup(photos: lance.LanceDataset) -> None:
    """Week 32: restore the backup: Lisbon is back, and autumn is gone."""
    restore = lance.LanceOperation.Restore(photos.tags.get_version("backup"))
    _commit(photos, lance.Transaction(photos.version, restore), "Week 32: bring Lisbon back")


def import_autumn_again(photos: lance.LanceDataset) -> None:
    """Week 32: append autumn again: the same photos, new rows."""
    _append(photos, _photos(AUTUMN, photos.schema), "Week 32: autumn once more")


def mirror_phone(photos: lance.LanceDataset) -> None:
    """Week 33: mirror the phone: insert what is new, delete what the phone has lost."""
    taken = _photos(PHONE, photos.schema)
    on_phone = taken.filter(np.arange(taken.num_rows) % 9 != 4)
    mirror = (
        photos.merge_insert("photo_id")
        .when_not_matched_insert_all()
        .when_not_matched_by_source_delete("album = 'Phone'")
    )
    _merge(photos, mirror, on_phone, "Week 33: phone is the master of its album")


def branch_faces(photos: lance.LanceDataset) -> None:
    """Week 34: branch off, to try face detection; no commit on main."""
    photos.create_branch("faces", photos.version)


def detect_faces(photos: lance.LanceDataset) -> None:
    """Week 34, branch: add a column."""
    _faces(photos).add_columns({"faces": "CAST(photo_id % 4 AS SMALLINT)"})


def rate_couples(photos: lance.LanceDataset) -> None:
    """Week 34, branch: rate photos with two faces; on main they keep their stars."""
    _faces(photos).update({"rating": "5.0"}, where="faces = 2 AND album = 'Lisbon'")


def delete_faceless(photos: lance.LanceDataset) -> None:
    """Week 35, branch: delete photos without a face."""
    _faces(photos).delete("faces = 0 AND album = 'Lisbon'")


def import_portraits(photos: lance.LanceDataset) -> None:
    """Week 35, branch: append portraits; main gives their row IDs to Christmas later."""
    faces = _faces(photos)
    _append(faces, _photos(PORTRAITS, faces.schema), "Week 35: portraits")


def tag_faces(photos: lance.LanceDataset) -> None:
    """Week 35: tag the latest version of the branch."""
    photos.tags.create("faces-tried", ("faces", None))


def describe_table(photos: lance.LanceDataset) -> None:
    """Week 36: write into the table metadata what this is."""
    photos.update_metadata({"title": "Photos of the Silva family", "year": "2025"})


def compact_autumn(photos: lance.LanceDataset) -> None:
    """Week 36: compact again, two commits."""
    _compact(photos)


def index_news(photos: lance.LanceDataset) -> None:
    """Week 36: index what is new as segments of their own, and leave the old segments alone."""
    photos.optimize.optimize_indices(num_indices_to_merge=0)


def import_winter(photos: lance.LanceDataset) -> None:
    """Week 38: append Christmas."""
    _append(photos, _photos(WINTER, photos.schema), "Week 38: Christmas")


def index_taken_at(photos: lance.LanceDataset) -> None:
    """Week 38: make a ZONEMAP index on time."""
    photos.create_scalar_index("taken_at", "ZONEMAP")


def drop_sharpness(photos: lance.LanceDataset) -> None:
    """Week 38: drop a column; its bytes stay in the files until a compaction."""
    photos.drop_columns(["sharpness"])


def import_test_shots(photos: lance.LanceDataset) -> None:
    """Week 39: append test shots of the new camera."""
    _append(photos, _photos(TESTS, photos.schema), "Week 39: test shots")


def delete_test_shots(photos: lance.LanceDataset) -> None:
    """Week 39: delete them all, and with them their whole fragment."""
    photos.delete("album = 'Test shots'")


def drop_index_taken_at(photos: lance.LanceDataset) -> None:
    """Week 40: drop the index that nobody used."""
    photos.drop_index("taken_at_idx")


def import_phone_december(photos: lance.LanceDataset) -> None:
    """Week 40: append the latest photos of the phone."""
    _append(photos, _photos(DECEMBER, photos.schema), "Week 40: phone, December")


def compact_winter(photos: lance.LanceDataset) -> None:
    """Week 40: compact for the last time, two commits."""
    _compact(photos)


def title_favourite(photos: lance.LanceDataset) -> None:
    """Week 41: give photo 42 a title; the family likes it most."""
    photos.update({"title": "'The yellow tram'"}, where="photo_id = 42")


def delete_unloved(photos: lance.LanceDataset) -> None:
    """Week 41: delete what got one star."""
    photos.delete("rating = 1")


def _faces(photos: lance.LanceDataset) -> lance.LanceDataset:
    return photos.checkout_version(("faces", None))


STORY: tuple[Callable[[lance.LanceDataset], None], ...] = (
    import_sintra,
    name_owner,
    index_photo_id,
    import_garden,
    correct_captions,
    delete_blurred,
    add_megapixels,
    import_alps,
    index_embedding,
    rate_on_tablet,
    import_lake,
    compact_spring,
    optimize_indices,
    import_wedding,
    index_album,
    add_people,
    count_people,
    rename_caption,
    cast_megapixels,
    give_half_stars,
    import_phone_september,
    import_phone_october,
    import_phone_november,
    tag_backup,
    delete_lisbon,
    import_autumn,
    restore_backup,
    import_autumn_again,
    mirror_phone,
    branch_faces,
    detect_faces,
    rate_couples,
    delete_faceless,
    import_portraits,
    tag_faces,
    describe_table,
    compact_autumn,
    index_news,
    import_winter,
    index_taken_at,
    drop_sharpness,
    import_test_shots,
    delete_test_shots,
    drop_index_taken_at,
    import_phone_december,
    compact_winter,
    title_favourite,
    delete_unloved,
)
"""What happens to the table after its creation by `import_lisbon`, step by step."""


# --- Making and keeping the samples --------------------------------------------------------------


def make_photos(path: str | Path | None = None) -> Path:
    """Make the sample table with stable row IDs, unless it exists; return its path.

    It has 45 versions, made from April 2025 to January 2026, two tags and a branch. Photo 42, whose
    row ID is 42 too, is worth following: updated in versions 6, 11, 22 and 44, moved by the
    compaction of version 14, deleted in 26, brought back by the restore of 28, and given another
    rating on the branch `faces`.

    Parameters
    ----------
    path : str or Path, optional
        Where to make the table; by default `photos.lance` in the sample folder (see
        `make_samples`).

    Returns
    -------
    Path
        The absolute path of the table.

    Raises
    ------
    InvalidArgumentError
        If there is something at `path` that is not a sample table.

    Notes
    -----
    Takes about a second, and 2 MB. A file beside the table, with the same name and `.recipe` at the
    end, marks it as complete and names its recipe; such a table is kept. A table that is
    incomplete, has another recipe, or was moved (its branch would refer to the old place) is made
    again.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = lx.demo.make_photos(f"{folder}/photos.lance")
    ...     lx.open_table(path).latest.version
    45
    """
    return _make_photos(path, "photos.lance", stable_row_ids=True)


def make_photos_without_stable_row_ids(path: str | Path | None = None) -> Path:
    """Make the sample table without stable row IDs, unless it exists; return its path.

    Versions, operations and values are those of `make_photos`. Row IDs are row addresses, and
    compactions defer remapping the indices, so that there is a fragment reuse index.

    Parameters
    ----------
    path : str or Path, optional
        Where to make the table; by default `photos_without_stable_row_ids.lance` in the sample
        folder.

    Returns
    -------
    Path
        The absolute path of the table.

    Raises
    ------
    InvalidArgumentError
        If there is something at `path` that is not a sample table.

    Notes
    -----
    The table is made and kept as described for `make_photos`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = lx.demo.make_photos_without_stable_row_ids(f"{folder}/photos.lance")
    ...     lx.open_table(path).latest.version
    45
    """
    return _make_photos(path, "photos_without_stable_row_ids.lance", stable_row_ids=False)


def make_archive(path: str | Path | None = None) -> Path:
    """Make the realistic sample table, unless it exists; return its path.

    Half a year of a photo archive, up to yesterday: imports by a job, ratings and deletions by two
    people, whose names the commits have; a job that took originals for copies, and the restore
    after it; a job that made the table big; a branch `faces` that has ratings of its own; and small
    pictures in the column `thumbnail`. Photo 42 was deleted by that job, came back, got a title
    before, and was deleted again later.

    Parameters
    ----------
    path : str or Path, optional
        Where to make the table; by default `archive.lance` in the sample folder (see
        `make_samples`).

    Returns
    -------
    Path
        The absolute path of the table.

    Raises
    ------
    InvalidArgumentError
        If there is something at `path` that is not a sample table.

    Notes
    -----
    Takes a few seconds, and 5 MB. It is kept as described for `make_photos`, but made again when it
    is older than three days, so that "a week ago" stays right. Pylance cannot set the time of a
    commit: times in manifests, tags and branches are set at the end.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = lx.demo.make_archive(f"{folder}/archive.lance")
    ...     lx.open_table(path).log(text="duplicates").select("author", "job", "operation").row(0)
    ('scheduler', 'dedupe', 'Delete')
    """
    return _make_story(path, "archive.lance", tell_archive)


def make_documents(path: str | Path | None = None) -> Path:
    """Make the sample table of a training set, unless it exists; return its path.

    Half a year of documents with scores and embeddings, up to yesterday: a crawler adds some every
    week. Once another model made all embeddings anew, and once a job deleted the documents with low
    scores.

    Parameters
    ----------
    path : str or Path, optional
        Where to make the table; by default `documents.lance` in the sample folder (see
        `make_samples`).

    Returns
    -------
    Path
        The absolute path of the table.

    Raises
    ------
    InvalidArgumentError
        If there is something at `path` that is not a sample table.

    Notes
    -----
    Takes a few seconds, and 3 MB. It is kept as described for `make_archive`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = lx.open_table(lx.demo.make_documents(f"{folder}/documents.lance"))
    ...     table.profile("score").shifts(1).select("job", "operation").row(0)
    ('quality-filter', 'Delete')
    """
    return _make_story(path, "documents.lance", tell_documents)


def make_samples(folder: str | Path | None = None) -> list[Path]:
    """Make all sample tables, unless they exist; return their paths.

    Parameters
    ----------
    folder : str or Path, optional
        Where to make them; by default the folder named by the environment variable
        `LANCE_EXPLORER_SAMPLES`, and without that, `samples` in the user's cache folder.

    Returns
    -------
    list of Path
        The absolute paths of `make_photos`, `make_photos_without_stable_row_ids`,
        `make_archive` and `make_documents`.

    Raises
    ------
    InvalidArgumentError
        If there is something at one of these paths that is not a sample table.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.stem for path in lx.demo.make_samples(folder)]
    ['photos', 'photos_without_stable_row_ids', 'archive', 'documents']
    """
    home = _samples_folder() if folder is None else Path(path_text("folder", folder))
    return [
        make_photos(home / "photos.lance"),
        make_photos_without_stable_row_ids(home / "photos_without_stable_row_ids.lance"),
        make_archive(home / "archive.lance"),
        make_documents(home / "documents.lance"),
    ]


def _samples_folder() -> Path:
    named = environ.get("LANCE_EXPLORER_SAMPLES")
    return Path(named) if named else platformdirs.user_cache_path("lance_explorer") / "samples"


def _make_photos(path: str | Path | None, default_name: str, *, stable_row_ids: bool) -> Path:
    def tell(table: Path) -> None:
        _tell(table, stable_row_ids)

    return _make(path, default_name, tell, [f"stable row IDs {stable_row_ids}"])


def _make_story(
    path: str | Path | None, default_name: str, tell: Callable[[Path, date], None]
) -> Path:
    """Make a sample whose story ends yesterday."""
    today = datetime.now(UTC).date()
    known = [today - timedelta(days=age) for age in range(_FRESH_DAYS)]
    kinds = [f"told on {day}" for day in known]
    return _make(path, default_name, lambda table: tell(table, today), kinds)


def _make(
    path: str | Path | None, default_name: str, tell: Callable[[Path], None], kinds: Sequence[str]
) -> Path:
    """Make a sample, unless one of these kinds exists; a new one is of the first kind."""
    given = _samples_folder() / default_name if path is None else Path(path_text("path", path))
    table = Path(realpath(given))  # a branch names its table; Lance takes a link for another one
    if not table.name:
        raise InvalidArgumentError(f"path is that of a table to make, not {path!r}")
    recipe = table.with_name(table.name + ".recipe")
    complete = [
        "A sample table of lance_explorer, which may make it anew at any time.\n"
        f"recipe {RECIPE}, {kind}, {table}\n"
        for kind in kinds
    ]
    try:
        return _made(table, recipe, complete, tell)
    except OSError as error:
        raise StorageError(f"the sample table {table} cannot be made: {error}") from error


def _made(table: Path, recipe: Path, complete: Sequence[str], tell: Callable[[Path], None]) -> Path:
    if _is_complete(table, recipe, complete):
        return table
    check_not_forked()
    if table.exists() and (not recipe.exists() or _is_foreign(table)):
        raise InvalidArgumentError(
            f"{table} exists and is not a sample table; choose another path, or remove it"
        )
    table.parent.mkdir(parents=True, exist_ok=True)
    with _locked(recipe) as marker:
        if not _is_complete(table, recipe, complete):  # another process may just have made it
            marker.truncate(0)
            if table.exists():
                shutil.rmtree(table)
            # In its final place from the start: a branch refers to main by its absolute path.
            tell(table)
            marker.write(complete[0])
    return table


def _is_foreign(table: Path) -> bool:
    """Tell whether a table in the place of a sample is the user's own: it must not be replaced."""
    if not any(table.glob("_versions/*.manifest")):
        return False  # a sample that broke off before its first commit
    try:
        first = lance.dataset(table, version=1).read_transaction(1)
    except (ValueError, OSError):
        return True
    properties = (first.transaction_properties if first else None) or {}
    return properties.get(LANCE_COMMIT_MESSAGE_KEY) not in _FIRST_MESSAGES


def _is_complete(table: Path, recipe: Path, complete: Sequence[str]) -> bool:
    return table.is_dir() and recipe.is_file() and recipe.read_text("utf-8") in complete


@contextmanager
def _locked(path: Path) -> Iterator[TextIO]:
    """Open a file that only one process at a time can hold; a dead process releases it."""
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _tell(table: Path, stable_row_ids: bool) -> None:
    story = Story(table, _FIRST_DAY, "photo_id")
    import_lisbon(table, stable_row_ids)
    story.wait(0)
    story.passed()
    for step in tqdm(STORY, desc=table.name, unit="step", delay=1, leave=False):
        week = re.match(r"Week (\d+)", step.__doc__ or "")
        story.wait(int(week[1]) - 1 if week else 0)
        step(lance.dataset(table))
        for branch in (None, *lance.dataset(table).branches.list()):
            story.passed(branch)
    story.set_times()
