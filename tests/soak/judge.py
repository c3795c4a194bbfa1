"""Compares what readers were told with what the writer logged."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tests.soak.log import LoggedVersion, WriterLog
from tests.soak.reader import Told

__all__ = ["wrong"]

_WORDS_OF_DAMAGE = ("missing", "not found", "removed", "cleaned up", "no such")


def wrong(log: WriterLog, every: Iterable[Told]) -> list[str]:
    """Return what somebody was told that was not so, and what nobody should be told."""
    return [
        f"{told.question} (looked at {told.looked}, asked {told.begin} to {told.end}): {problem}"
        for told in every
        for problem in _Judge(log, told).problems()
    ]


class _Judge:
    def __init__(self, log: WriterLog, told: Told) -> None:
        self._log = log
        self._told = told

    def problems(self) -> Iterator[str]:
        told = self._told
        if told.error is not None:
            if not self._is_allowed(told.error, told.message):
                yield f"{told.error}: {told.message}"
        elif told.answer is not None and told.question in _CHECKS:
            yield from _CHECKS[told.question](self, told.answer)

    # -------------------------------------------------------------------------------- what may be

    def _is_allowed(self, error: str, message: str) -> bool:
        """Whether the writer did what an error tells of."""
        spans, told = self._log.spans, self._told
        match error:
            case "TableNotFoundError":
                return any(s.kind == "drop" and s.overlaps(told.looked, told.end) for s in spans)
            case "NotFoundError":
                return any(span.begin < told.end for span in spans)
            case "StorageError":
                return self._may_be_missing(message)
        return False

    def _may_be_missing(self, message: str) -> bool:
        """Whether files may have been removed just then, before the manifests that name them."""
        is_about_it = any(word in message.lower() for word in _WORDS_OF_DAMAGE)
        told = self._told
        return is_about_it and any(s.overlaps(told.begin, told.end) for s in self._log.spans)

    def _version(self, version: int, time: int) -> LoggedVersion | None:
        return self._log.versions.get((version, time))

    def _may_be_lost(self, generation: int) -> set[int]:
        """Return the versions that may have been removed by then."""
        spans = [s for s in self._log.spans if s.generation == generation]
        return {version for s in spans if s.begin < self._told.end for version in s.removed}

    def _both(self, *keys: tuple[int, int]) -> list[LoggedVersion]:
        found = [self._log.versions[key] for key in keys if key in self._log.versions]
        generations = {version.generation for version in found}
        return found if len(found) == len(keys) and len(generations) == 1 else []

    def _steps(self, one: LoggedVersion, other: LoggedVersion) -> dict[int, tuple[Any, Any]]:
        """Return the versions from one on to another, each with the one before."""
        of = self._log.of_generation[one.generation]
        return {v: (of[v - 1], of[v]) for v in range(one.version + 1, other.version + 1)}

    # ------------------------------------------------------------------------------------- checks

    def versions(self, facts: list[tuple[int, int, int]]) -> Iterator[str]:
        if not facts:
            yield "no versions"
            return
        numbers = [number for number, _, _ in facts]
        if numbers != sorted(set(numbers)):
            yield f"versions out of order: {numbers}"
        known = [self._version(number, time) for number, time, _ in facts]
        if None in known:
            yield f"a version that never was: {facts[known.index(None)]}"
            return
        versions = [version for version in known if version is not None]
        counts = [len(version.rows) for version in versions]
        if counts != [count for _, _, count in facts]:
            yield f"rows: {facts} instead of {counts}"
        if len({version.generation for version in versions}) != 1:
            yield f"two tables in one: {facts}"
            return
        yield from self._complete(versions[0].generation, set(numbers))

    def _complete(self, generation: int, numbers: set[int]) -> Iterator[str]:
        """Check that only versions are not there that were removed, and no old ones are."""
        told, spans = self._told, self._log.spans
        if any(span.kind == "drop" and span.overlaps(told.looked, told.end) for span in spans):
            return
        of = self._log.of_generation[generation]
        over = [s for s in spans if s.generation == generation and s.end <= told.looked]
        must_be_gone = {version for span in over for version in span.removed}
        latest = max(numbers)
        if lost := {v for v in of if v <= latest} - numbers - self._may_be_lost(generation):
            yield f"versions {sorted(lost)} are there, and were not told"
        if stale := numbers & must_be_gone:
            yield f"versions {sorted(stale)} were gone before"
        newest = max([v for v, logged in of.items() if logged.logged_at <= told.looked], default=0)
        if latest < newest:
            yield f"the latest is {latest}, but {newest} was there before"

    def rows(self, answer: Any) -> Iterator[str]:
        number, time, rows, values = answer
        version = self._version(number, time)
        if version is None:
            yield f"a version that never was: {number}"
        elif values != sorted(version.rows):
            yield f"version {number} has other values"
        elif rows != sorted(row[:2] for row in version.rows):
            yield f"version {number} has other rows"

    def index(self, is_right: bool) -> Iterator[str]:
        if not is_right:
            yield "the index of row IDs is not that of the rows"

    def net(self, answer: Any) -> Iterator[str]:
        first, second, lines, summary = answer
        both = self._both(first, second)
        if not both:
            yield f"versions that never were in one table: {first}, {second}"
            return
        old, new = (version.stamps for version in both)
        counts = [summary[name] for name in ("inserted", "deleted")]
        if None not in counts and counts[0] - counts[1] != len(new) - len(old):
            yield f"{counts} from {len(old)} rows to {len(new)}"
        if self._is_stable(both):
            is_open = any(change is None for change, _, _ in lines)  # the first version was lost
            for problem in _compare(lines, old, new, may_be_less=is_open):
                yield f"{problem}, of {first} to {second}: {summary}"

    def commits(self, answer: Any) -> Iterator[str]:
        first, second, lines = answer
        both = self._both(first, second)
        if not both:
            yield f"versions that never were in one table: {first}, {second}"
            return
        steps = self._steps(*both)
        if not self._is_stable(both):
            for version, change, address, is_uncertain in lines:
                is_told = version in steps and not is_uncertain and change == "insert"
                if is_told and address not in steps[version][1].stamps:
                    yield f"{address} was not inserted in {version}"
            return
        known = {version for version, *_ in lines if version in steps}
        for version in known:
            of_version = [line[1:] for line in lines if line[0] == version]
            old, new = (step.stamps for step in steps[version])
            yield from _compare(of_version, old, new, may_be_less=True)

    def images(self, answer: Any) -> Iterator[str]:
        first, second, lines = answer
        both = self._both(first, second)
        if not both:
            yield f"versions that never were in one table: {first}, {second}"
            return
        steps, lost = self._steps(*both), self._may_be_lost(both[0].generation)
        for version, change, row_id, stamp in lines:
            if version not in steps or stamp is None or not lost.isdisjoint({version - 1, version}):
                continue  # over lost versions values are those of the kept ones around
            is_old = change in ("delete", "update_preimage")
            there = steps[version][0 if is_old else 1].stamps
            if self._is_stable(both) and there.get(row_id) != stamp:
                yield f"{change} of {row_id} in {version}: {stamp} instead of {there.get(row_id)}"

    def diff(self, answer: Any) -> Iterator[str]:
        first, second, is_same, lines = answer
        both = self._both(first, second)
        if not both:
            yield f"versions that never were in one table: {first}, {second}"
            return
        contents = [sorted(row[2:] for row in version.rows) for version in both]
        if is_same and contents[0] != contents[1]:
            yield f"{first} and {second} are said to be the same"
        if self._is_stable(both):
            old, new = (version.stamps for version in both)
            if is_same != (old == new) and contents[0] != contents[1]:
                yield f"{first} and {second}: same is {is_same}"
            yield from _compare([(*line, False) for line in lines], old, new)

    def follow(self, answer: Any) -> Iterator[str]:
        first, second, ids, events = answer
        both = self._both(first, second)
        if not both:
            yield f"versions that never were in one table: {first}, {second}"
            return
        if not self._is_stable(both):
            return
        old, new = (version.stamps for version in both)
        if not set(ids) <= old.keys():
            yield "IDs that never were there"
        last = {row_id: event for row_id, _, event, _, evidence in events if evidence != "lost"}
        for row_id in ids:
            has_ended = last.get(row_id) in _ENDS
            if (
                has_ended
                and row_id in new
                and not any(e[0] == row_id and e[4] == "lost" for e in events)
            ):
                yield f"{row_id} is {last[row_id]}, and there in {second}"
            if row_id not in new and not has_ended and not any(e[0] == row_id for e in events):
                yield f"{row_id} is not there in {second}, and nothing is told of it"

    def follow_addresses(self, answer: Any) -> Iterator[str]:
        first, second, lines = answer
        both = self._both(first, second)
        if not both:
            yield f"versions that never were in one table: {first}, {second}"
            return
        old, new = ({row[1]: row for row in version.rows} for version in both)
        for address, end, outcome, evidence in lines:
            if address not in old:
                yield f"{address} never was in {first}"
            elif outcome == "live" and (end not in new or new[end][2] != old[address][2]):
                yield f"{address} became {end}, where another row is ({evidence})"
            elif (
                outcome == "deleted"
                and self._is_stable(both)
                and old[address][0] in {row[0] for row in new.values()}
            ):
                yield f"{address} is deleted, and live in {second}"

    def history(self, answer: tuple[int, list[tuple[int, int | None, str]]]) -> Iterator[str]:
        row_id, events = answer
        for number, time, event in events if self._log.is_stable else []:
            version = None if time is None else self._version(number, time)
            if time is not None and version is None:
                yield f"a version that never was: {number}"
            elif version is not None and (row_id in version.stamps) == (event in _ENDS):
                yield f"{row_id} was {event} in {number}"

    def nothing(self, found: list[tuple[Any, Any, str]]) -> Iterator[str]:
        for code, version, message in found:
            if not self._may_be_missing(message):
                yield f"false finding {code} of {version}: {message}"

    def gaps(self, answer: Any) -> Iterator[str]:
        latest, gaps = answer
        version = self._version(*latest)
        if version is None:
            yield f"a version that never was: {latest}"
            return
        generation = version.generation
        spans = [span for span in self._log.spans if span.generation == generation]
        gone = self._may_be_lost(generation)
        lost = {v for first, last in gaps for v in range(first, last + 1)}
        is_dropped = any(s.kind == "drop" and s.overlaps(0, self._told.end) for s in spans)
        if not lost <= gone and not is_dropped and latest[0] > max(lost - gone):
            yield f"gaps {sorted(lost - gone)} were not removed"

    def sql(self, answer: tuple[int, int, int]) -> Iterator[str]:
        number, time, rows = answer
        version = self._version(number, time)
        if version is None:
            yield f"a version that never was: {number}"
        elif rows != len(version.rows):
            yield f"version {number} has {len(version.rows)} rows, told were {rows}"

    def _is_stable(self, versions: list[LoggedVersion]) -> bool:
        return all(self._log.is_stable for _ in versions)


def _compare(
    lines: list[tuple[str, int, bool]],
    old: dict[int, int],
    new: dict[int, int],
    *,
    may_be_less: bool = False,
) -> Iterator[str]:
    """Compare changed rows with the rows and stamps of two versions."""
    told = {change: {row for c, row, _ in lines if c == change} for change in _CHANGES}
    uncertain = {row for _, row, is_uncertain in lines if is_uncertain}
    expected = {
        "insert": new.keys() - old.keys(),
        "delete": old.keys() - new.keys(),
        "update_postimage": {row for row in old.keys() & new.keys() if old[row] != new[row]},
    }
    for change, rows in expected.items():
        if more := told[change] - rows - uncertain:
            yield f"{change} of {sorted(more)[:5]} was not"
        if (less := rows - told[change] - uncertain) and not may_be_less:
            yield f"{change} of {sorted(less)[:5]} was not told"


_ENDS = ("deleted", "overwritten")
_CHANGES = ("insert", "delete", "update_postimage")

_CHECKS: dict[str, Callable[[_Judge, Any], Iterator[str]]] = {
    "versions": _Judge.versions,
    "rows": _Judge.rows,
    "index": _Judge.index,
    "net": _Judge.net,
    "commits": _Judge.commits,
    "images": _Judge.images,
    "diff": _Judge.diff,
    "follow": _Judge.follow,
    "follow_addresses": _Judge.follow_addresses,
    "history": _Judge.history,
    "check": _Judge.nothing,
    "findings": _Judge.nothing,
    "frame": _Judge.nothing,
    "health": _Judge.nothing,
    "gaps": _Judge.gaps,
    "sql": _Judge.sql,
}
