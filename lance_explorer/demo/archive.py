"""The realistic sample table: half a year of a photo archive that two people maintain.

People and jobs made its commits, which name them; one job went wrong and was undone.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lance_explorer.demo.story import NUM_WEEKS, Story

__all__ = ["ARCHIVE_SCHEMA", "FIRST_OF_ARCHIVE", "tell_archive"]

FIRST_OF_ARCHIVE = "Begin the archive"
"""The message of the first commit."""

ARCHIVE_SCHEMA = pa.schema(
    [
        pa.field("photo_id", pa.int64(), nullable=False),
        pa.field("album", pa.string()),
        pa.field("photographer", pa.string()),
        pa.field("taken_at", pa.timestamp("us", tz="UTC")),
        pa.field("rating", pa.float32()),
        pa.field("title", pa.string()),
        pa.field("thumbnail", pa.binary()),
    ]
)

_ALBUMS = ("Harbour", "Market", "Old town", "Football", "Elections", "Beach", "Theatre")
_PEOPLE = ("ana", "rui")
_PER_WEEK = 36
_SMALL, _LARGE = (32, 24), (80, 60)

Step = Callable[["_Archive"], None]


class _Archive(Story):
    """The archive while it is being made."""

    next_id = 0

    def photos(self, count: int, album: str, photographer: str) -> pa.Table:
        """Make new photos."""
        first, self.next_id = self.next_id, self.next_id + count
        return pa.table(
            {
                "photo_id": np.arange(first, first + count),
                "album": [album] * count,
                "photographer": [photographer] * count,
                "taken_at": [self.now - timedelta(hours=2 + n % 30) for n in range(count)],
                "rating": pa.nulls(count),
                "title": [f"{album}, {n + 1}" for n in range(count)],
                "thumbnail": [thumbnail(n, _SMALL) for n in range(first, first + count)],
            }
        ).cast(ARCHIVE_SCHEMA)


def thumbnail(number: int, size: tuple[int, int]) -> bytes:
    """Return a small picture as PNG: a sky, a sun, and hills; another one for each number."""
    width, height = size
    random = np.random.RandomState(number)
    sky, ground = random.randint(40, 220, (2, 3), np.int64)
    y, x = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j]
    picture = sky + (255 - sky) * (1 - y[..., None]) * 0.5
    sun = np.hypot(x - random.randint(20, 80, dtype=np.int64) / 100, y - 0.3) < 0.12
    picture[sun] = np.array([255, 220, 120])
    hills = 0.65 + 0.12 * np.sin(x * random.randint(4, 12, dtype=np.int64) + number)
    shade = 0.75 + 0.25 * (1 - y)
    picture = np.where((y > hills)[..., None], ground * shade[..., None], picture)
    picture += random.randint(-1, 2, (height, width, 1), np.int64)
    return _png(np.clip(picture, 0, 255).astype(np.uint8))


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """Return pixels (height, width, red green blue) as a PNG file."""
    height, width, _ = pixels.shape
    lines = np.zeros(
        (height, 1 + 3 * width), dtype=np.uint8
    )  # each line begins with its filter: none
    lines[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(lines.tobytes(), 9))
        + chunk(b"IEND", b"")
    )


# --- The story: what happens in which week, and how many hours after its beginning --------------


def _import(album: str, photographer: str, count: int = _PER_WEEK) -> Step:
    def step(archive: _Archive) -> None:
        archive.insert(
            archive.photos(count, album, photographer),
            message=f"Import {album}, {count} photos",
            author=photographer,
            job="import",
            run_id=f"import-{archive.now:%Y%m%d}",
        )

    return step


def _rate(author: str, where: str, branch: str | None = None) -> Step:
    def step(archive: _Archive) -> None:
        archive.change(
            where,
            "rating",
            lambda row: float((row["photo_id"] * 7 + ord(author[0])) % 5 + 1),
            branch,
            message="Ratings from the picture desk",
            author=author,
        )

    return step


def _title(author: str, photo_id: int, title: str) -> Step:
    return lambda archive: archive.change(
        f"photo_id = {photo_id}", "title", lambda _: title, message="Title", author=author
    )


def _delete(author: str, where: str, message: str) -> Step:
    return lambda archive: archive.delete(where, message=message, author=author)


def _dedupe(archive: _Archive) -> None:
    """Delete what a job mistakes for copies: it compares only sizes of thumbnails."""
    archive.delete(
        "album in ('Harbour', 'Market') AND photo_id % 2 = 0",
        message="Remove duplicates",
        author="scheduler",
        job="dedupe",
        run_id="dedupe-0007",
    )


def _tag(name: str) -> Step:
    return lambda archive: archive.on().tags.create(name, archive.on().version)


def _restore(archive: _Archive) -> None:
    """Go back to before that job."""
    archive.commit(
        lance.LanceOperation.Restore(archive.on().tags.get_version("before-dedupe")),
        {"message": "Restore: dedupe had taken originals for copies", "author": "ana"},
    )


def _enlarge(archive: _Archive) -> None:
    """Rewrite all thumbnails, larger: this makes the table big."""
    archive.change(
        "photo_id >= 0",
        "thumbnail",
        lambda row: thumbnail(row["photo_id"], _LARGE),
        message="Thumbnails of 80 pixels for the new site",
        author="rui",
        job="thumbnails",
        run_id="thumbnails-0001",
    )


def _branch(archive: _Archive) -> None:
    archive.on().create_branch("faces", archive.on().version)
    archive.times["faces"] = {}
    archive.passed("faces")


def _count_faces(archive: _Archive) -> None:
    archive.on("faces").add_columns({"faces": "CAST(photo_id % 4 AS SMALLINT)"})
    archive.passed("faces")


def _compact(archive: _Archive) -> None:
    archive.compact()


def _story() -> Iterator[tuple[int, int, Step]]:
    """Yield the steps of the story: in which week, at which hour, and what is done."""
    for week in range(1, NUM_WEEKS):
        author, album = _PEOPLE[week % 2], _ALBUMS[week % len(_ALBUMS)]
        yield week, 33, _import(album, author)
        if week % 2 == 0:
            newest = f"photo_id >= {(week - 1) * _PER_WEEK} AND photo_id % 3 = 0"
            yield week, 57, _rate(_PEOPLE[week % 4 // 2], newest)
        if week % 5 == 4:
            yield week, 80, _compact
    yield 6, 100, _title("ana", 42, "The ferry at dawn")
    yield 9, 62, _delete("rui", "photo_id in (131, 133, 140)", "Out of focus")
    yield 13, 20, _tag("before-dedupe")
    yield 13, 26, _dedupe
    yield 13, 75, _restore
    yield 13, 79, _import(_ALBUMS[13 % len(_ALBUMS)], "rui")
    yield 17, 90, _enlarge
    yield 19, 44, _branch
    yield 19, 60, _count_faces
    yield 20, 70, _rate("rui", "photo_id < 60 AND photo_id % 4 = 0", "faces")
    yield (
        21,
        70,
        lambda archive: archive.delete(
            "faces = 0 AND album = 'Beach'", "faces", message="Nobody is on these", author="rui"
        ),
    )
    yield 22, 41, _rate("ana", "photo_id < 60 AND photo_id % 6 = 0")
    yield 23, 112, _delete("rui", "photo_id = 42", "Asked for by the family")
    yield 25, 30, _rate("ana", "photo_id >= 700 AND photo_id % 9 = 0")
    yield 25, 118, _rate("rui", "photo_id >= 800 AND photo_id % 11 = 0")
    yield 25, 140, _delete("ana", "photo_id in (811, 812)", "Blurred")


def tell_archive(path: Path, end: date) -> None:
    """Write the table.

    Parameters
    ----------
    path : Path
        Where.
    end : date
        The day on which it is told: its last commit is of the day before.
    """
    archive = _Archive(path, end - timedelta(weeks=NUM_WEEKS), "photo_id")
    archive.start(archive.photos(_PER_WEEK, _ALBUMS[0], _PEOPLE[0]), FIRST_OF_ARCHIVE, "ana")
    archive.tell(_story())
