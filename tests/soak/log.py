"""What the writer did, one line each: what is told in it is true whenever it is read."""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["LoggedVersion", "Span", "WriterLog", "append_line", "is_over", "log_size"]


@dataclass(frozen=True, slots=True)
class LoggedVersion:
    """A version as pylance reads it: of each row its ID, address, key and stamp.

    A stamp is a number that no two commits write, so that a row with the same stamp is unchanged.
    """

    generation: int
    version: int
    timestamp_us: int
    logged_at: int
    rows: tuple[tuple[int, int, int, int], ...]

    @property
    def stamps(self) -> dict[int, int]:
        """The stamp of each row, by its row ID."""
        return {row_id: stamp for row_id, _, _, stamp in self.rows}


@dataclass(slots=True)
class Span:
    """Something that takes a while: a cleanup, or a drop up to where the table is made again.

    It began after ``begin`` bytes of the log were written, and before ``end`` bytes were.
    """

    kind: str
    generation: int
    begin: int
    end: int = 1 << 62
    removed: set[int] = field(default_factory=set)

    def overlaps(self, begin: int, end: int) -> bool:
        """Whether it may have gone on while the log grew from ``begin`` to ``end``."""
        return self.begin < end and begin < self.end


class WriterLog:
    """All that was logged, when the writer has ended."""

    def __init__(self, path: Path, *, is_stable: bool) -> None:
        self.is_stable = is_stable
        self.versions: dict[tuple[int, int], LoggedVersion] = {}
        self.of_generation: dict[int, dict[int, LoggedVersion]] = defaultdict(dict)
        self.spans: list[Span] = []
        self.operations: list[str] = []
        offset = 0
        for line in path.read_bytes().splitlines(keepends=True):
            begin, offset = offset, offset + len(line)
            self._add(json.loads(line), begin, offset)

    def _add(self, entry: dict[str, Any], begin: int, end: int) -> None:
        match entry["kind"]:
            case "version":
                rows = tuple([tuple(row) for row in entry["rows"]])
                number, generation = entry["version"], entry["generation"]
                version = LoggedVersion(generation, number, entry["timestamp_us"], end, rows)
                self.versions[number, version.timestamp_us] = version
                self.of_generation[generation][number] = version
                self.operations.append(entry["operation"])
            case "begin":
                self.spans.append(Span(entry["what"], entry["generation"], begin))
            case "end":
                self.spans[-1].end = end
                self.spans[-1].removed = set(entry["removed"])


def append_line(path: Path, **entry: Any) -> None:
    """Write a line at once."""
    with path.open("ab", buffering=0) as file:
        file.write(json.dumps(entry).encode() + b"\n")


def log_size(path: Path) -> int:
    """Return how much has been logged: the clock of a round."""
    return path.stat().st_size


def is_over(path: Path) -> bool:
    """Whether the writer has written its last line."""
    with path.open("rb") as file:
        file.seek(max(file.seek(0, 2) - 40, 0))
        return b'"over"' in file.read()
