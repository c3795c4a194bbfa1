"""Damage files at random and see what is made of them: ``python -m tests.fuzzing``, or `make fuzz`.

A case is one damaged piece given to one decoder or, one in a hundred, a stored table with one
damaged file, of which everything is asked. An answer is well, and so is the refusal of a damaged
file that names the file and the place in it, or of what a damaged file leads to and is not there.
Anything else is a failure: another exception, ten seconds of work, or memory without bound.
"""

import argparse
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import lance_explorer as lx
from lance_explorer.errors import FormatError, LanceExplorerError, NotFoundError, StorageError
from lance_explorer.format import DECODERS
from lance_explorer.inspect.catalogue import FRAMES, frame
from tests.format.samples import DATA
from tests.test_decoders import OTHER_ARGUMENTS, PIECES

__all__ = ["Seen", "fuzz"]

TABLES = (
    "0.10.18/life_cycle",
    "1.0.4/stable_row_ids",
    "8.0.1/deferred_remap",
    "14.0.2/bitmap_deletions",
    "14.0.2/branches",
    "14.0.2/rewritten_indices",
    "14.0.2/schema_changes",
    "14.0.2/stable_row_ids",
)
FOLDERS = ("_versions", "_transactions", "_deletions", "_refs", "_indices")
LONGEST_FILE = 64 * 1024

DECODER_CASES_PER_TABLE_CASE = 99
MOST_SECONDS = 10
ROOM_BYTES = 2 << 30

Piece = tuple[Callable[..., object], dict[str, Any], bytes]

LIES = (
    *[number.to_bytes(8, "little") for number in (0, 1 << 31, 1 << 40, (1 << 63) - 1, 1 << 63)],
    *[number.to_bytes(4, "little") for number in (0, 1, (1 << 31) - 1, (1 << 32) - 1)],
    b"\xff" * 9 + b"\x01",  # the largest varint
    b"\xff\xff\xff\xff\x0f",
    b"\x80\x80\x80\x80\x10",
)
"""Lengths, counts and offsets that no file can keep."""


@dataclass(slots=True)
class Seen:
    """What was seen: how many cases ended how, the slowest, and the failures."""

    endings: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)

    def note(self, kind: str, name: str, run: Callable[[], str]) -> None:
        """Run a case, and note how it ended."""
        begin = time.process_time()
        try:
            with _time_limit():
                ending = run()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            ending = f"FAILED with {type(error).__name__}"
            self.failures.append(f"{name}\n{traceback.format_exc()}")
        self.endings[f"{kind}: {ending}"] += 1
        self.slowest = max(self.slowest, time.process_time() - begin)


def fuzz(cases: int, seed: int) -> Seen:
    """Run some cases, the same ones for the same seed."""
    chance, seen = random.Random(seed), Seen()
    pieces = understood_pieces()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables = [_copied(Path(folder), name) for name in TABLES]
        for number in range(cases):
            if number % (DECODER_CASES_PER_TABLE_CASE + 1) == DECODER_CASES_PER_TABLE_CASE:
                table = chance.choice(tables)
                with chdir(table.parent):  # where base paths of some stored tables start
                    _fuzz_table(chance, seen, table)
            else:
                _fuzz_decoder(chance, seen, pieces)
    return seen


def understood_pieces() -> list[list[Piece]]:
    """Return for each decoder the stored pieces that it understands."""
    by_decoder: dict[str, list[Piece]] = defaultdict(list)
    for decode in DECODERS:
        for arguments in OTHER_ARGUMENTS.get(decode.__name__, [{}]):
            for piece in PIECES:
                try:
                    decode(piece, **arguments)
                except FormatError:
                    continue
                by_decoder[decode.__name__].append((decode, arguments, piece))
    return list(by_decoder.values())


def damaged(chance: random.Random, data: bytes, other: bytes) -> bytes:
    """Return a file with bits flipped, parts lost, cut off or taken from another, or with lies."""
    result = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        at = chance.randrange(len(result) + 1)
        match chance.choice(("flip", "flip", "truncate", "lose", "double", "splice", "lie", "lie")):
            case "flip":
                for place in {min(at, len(result) - 1)} if result else ():
                    result[place] ^= 1 << chance.randrange(8)
            case "truncate":
                del result[at:]
            case "lose":
                del result[at : at + chance.choice((1, 2, 4, 8, 100))]
            case "double":
                result[at:at] = result[at : at + chance.choice((1, 4, 50))]
            case "splice":
                begin = chance.randrange(len(other) + 1)
                piece = other[begin : begin + chance.choice((1, 4, 16, 200))]
                result[at : at + len(piece)] = piece
            case "lie":
                lie = chance.choice(LIES)
                result[at : at + len(lie)] = lie
    return bytes(result)


def _fuzz_decoder(chance: random.Random, seen: Seen, pieces: list[list[Piece]]) -> None:
    decode, arguments, piece = chance.choice(chance.choice(pieces))
    data = damaged(chance, piece, chance.choice(chance.choice(pieces))[2])

    def run() -> str:
        try:
            decode(data, **arguments)
        except FormatError as error:
            told = error
        else:
            return "decoded"
        assert str(told).isprintable(), "an unprintable message"
        assert told.offset is not None, "no place"
        assert 0 <= told.offset <= len(data), "a place that is not in the file"
        return type(told).__name__

    seen.note("decoders", f"{decode.__name__}({data!r}, {arguments})", run)


def _fuzz_table(chance: random.Random, seen: Seen, table: Path) -> None:
    files = [path for path in _metadata(table) if path.stat().st_size <= LONGEST_FILE]
    file, other = chance.choice(files), chance.choice(files)
    before = file.read_bytes()
    data = damaged(chance, before, other.read_bytes())
    file.write_bytes(data)
    try:
        name = f"{table.parent.name}/{table.name}: {file.relative_to(table)} is {data!r}"
        seen.note("tables", name, lambda: _ask_everything(table))
    finally:
        file.write_bytes(before)


def _ask_everything(path: Path) -> str:
    """Ask a table, and its branches, everything; return how that went."""
    refused: set[str] = set()
    for branch in (None, *[ref.name for ref in path.glob("tree/*")]):
        try:
            table = lx.open_table(path, branch)
            versions = table.versions()["version"].to_list()
        except LanceExplorerError as error:
            refused.add(_refusal(error, path))
            continue
        for ask in _questions(table, versions):
            try:
                ask()
            except LanceExplorerError as error:
                refused.add(_refusal(error, path))
    return f"some refused: {', '.join(sorted(refused))}" if refused else "all answered"


def _refusal(error: LanceExplorerError, path: Path) -> str:
    """Return the name of the class of an error; one that does not say enough is a failure."""
    assert str(error).isprintable(), "an unprintable message"
    match error:
        case FormatError():
            assert error.path, f"no file: {error}"
            files = [*path.rglob(Path(error.path).name)]
            assert files, f"a file that is not there: {error}"
            assert error.offset is not None, f"no place: {error}"
            assert any(0 <= error.offset <= file.stat().st_size for file in files), f"{error}"
        case StorageError():
            assert "missing" in str(error), f"{error}"
        case NotFoundError():
            pass
        case _:
            raise error
    return type(error).__name__


def _questions(table: lx.Table, versions: list[int]) -> Iterator[Callable[[], object]]:
    for name in FRAMES:
        yield partial(frame, table._view, name)
    for version in versions[:: max(len(versions) // 8, 1)]:
        yield partial(_ask_snapshot, table, version)
    yield table.check_row_ids
    yield table.compaction_lineage
    yield lambda: table.lineage().edges()
    yield lambda: table.versions(inherited=True)
    yield table._repr_html_


def _ask_snapshot(table: lx.Table, version: int) -> None:
    snapshot = table.at(version)
    with suppress(FormatError):
        snapshot.transaction  # noqa: B018
    with suppress(FormatError):
        snapshot.row_id_index()
    snapshot.row_ids()


def _copied(folder: Path, name: str) -> Path:
    return Path(shutil.copytree(DATA / f"{name}.lance", folder / f"{name}.lance"))


def _metadata(table: Path) -> list[Path]:
    folders = [path for name in FOLDERS for path in sorted(table.rglob(name))]
    return [file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()]


@contextmanager
def _time_limit() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {MOST_SECONDS} seconds of work")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _limit_memory() -> None:
    """Let no case take memory without bound: what asks for more gets a MemoryError."""
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + ROOM_BYTES, resource.RLIM_INFINITY))


def main() -> int:
    """Run from the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--tables", type=int, help="change so many whole tables instead")
    options = parser.parse_args()
    if options.tables:
        from tests.table_fuzzing import run

        return run(options.tables, options.seed)
    print(f"{options.cases:,} cases with --seed {options.seed}", flush=True)
    if sys.platform == "linux":
        _limit_memory()
    begin = time.perf_counter()
    seen = fuzz(options.cases, options.seed)
    for ending, count in sorted(seen.endings.items()):
        print(f"{count:>9,}  {ending}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{time.perf_counter() - begin:.0f} s, the slowest case {seen.slowest:.2f} s, peak {peak:,}"
    )
    for failure in seen.failures[:20]:
        print(f"\n{failure}")
    print(f"{len(seen.failures)} failures")
    return 1 if seen.failures else 0


if __name__ == "__main__":
    sys.exit(main())
