"""A sample table whose commits were made over months, by people and by jobs.

Pylance stamps a commit with the time at which it is made. So that months pass in such a table, the
times in its manifests, tags and branches are changed at the end: nothing else that pylance wrote is
changed.
"""

import json
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Self

import lance
import pyarrow as pa
from lance.dataset import LANCE_COMMIT_MESSAGE_KEY

from lance_explorer.format.manifest import read_layout

__all__ = ["NUM_WEEKS", "Story"]

NUM_WEEKS = 26
"""The number of weeks of a story that ends on the day before it is made."""


class Story:
    """A sample table that is made week by week.

    Parameters
    ----------
    path : Path
        Where it is written.
    begin : date
        The day on which the story begins.
    key : str
        The column that tells rows apart.
    """

    def __init__(self, path: Path, begin: date, key: str) -> None:
        self.path = path
        self.key = key
        self.begin = datetime.combine(begin, time(), UTC)
        self.now = self.begin
        self.times: dict[str | None, dict[int, datetime]] = {None: {}}

    def start(self, rows: pa.Table, message: str, author: str) -> None:
        """Create the table."""
        self.now = self.begin + timedelta(hours=10)
        lance.write_dataset(
            rows,
            self.path,
            enable_stable_row_ids=True,
            commit_message=message,
            transaction_properties={"author": author},
        )
        self.passed()

    def tell(self, steps: Iterable[tuple[int, int, Callable[[Self], None]]]) -> None:
        """Run the steps, each in a week and at an hour of it; then set the times of all commits."""
        for week, hour, step in sorted(steps, key=lambda event: event[:2]):
            self.now = self.begin + timedelta(weeks=week, hours=hour, minutes=hour * 7 % 60)
            step(self)
        self.set_times()

    def wait(self, week: int) -> None:
        """Wait until a week, counted from 0; at least for an hour."""
        self.now = max(self.now, self.begin + timedelta(weeks=week, hours=9)) + timedelta(hours=1)

    def set_times(self) -> None:
        """Set the times of all commits, tags and branches to those that were recorded."""
        for branch, times in self.times.items():
            _set_times(self.path if branch is None else self.path / "tree" / branch, times)
        _set_ref_times(self.path, self.times)

    def on(self, branch: str | None = None) -> Any:
        """Return the latest version of a branch."""
        table: Any = lance.dataset(self.path)
        return table if branch is None else table.checkout_version((branch, None))

    def commit(self, operation: Any, who: dict[str, str], branch: str | None = None) -> None:
        """Commit an operation, or a prepared transaction, with its author."""
        table = self.on(branch)
        transaction = operation
        if not isinstance(operation, lance.Transaction):
            transaction = lance.Transaction(table.version, operation)
        message = who.pop("message")
        transaction.transaction_properties = {LANCE_COMMIT_MESSAGE_KEY: message, **who}
        lance.LanceDataset.commit(table, transaction)
        self.passed(branch)

    def passed(self, branch: str | None = None) -> None:
        """Record the current time for the latest versions."""
        known = self.times.setdefault(branch, {})
        new = [it["version"] for it in self.on(branch).versions() if it["version"] not in known]
        for seconds, version in enumerate(new):  # a compaction is two commits
            known[version] = self.now + timedelta(seconds=seconds)

    def insert(self, rows: pa.Table, **who: str) -> None:
        """Append rows."""
        message = who.pop("message")
        self.on().insert(rows, commit_message=message, transaction_properties=who)
        self.passed()

    def change(
        self, where: str, column: str, value: Any, branch: str | None = None, **who: str
    ) -> None:
        """Give some rows another value in one column."""
        table = self.on(branch)
        rows = table.to_table(filter=where)
        values = [value(row) for row in rows.to_pylist()]
        at = rows.schema.get_field_index(column)
        rows = rows.set_column(
            at, rows.schema.field(at), pa.array(values, rows.schema.field(at).type)
        )
        merge = table.merge_insert(self.key).when_matched_update_all().use_index(False)
        transaction, _ = merge.execute_uncommitted(rows.combine_chunks().to_reader())
        self.commit(transaction, who, branch)

    def delete(self, where: str, branch: str | None = None, **who: str) -> None:
        """Delete rows."""
        table = self.on(branch)
        updated, removed = [], []
        for fragment in table.get_fragments():
            left = fragment.delete(where)
            if left is None:
                removed.append(fragment.fragment_id)
            elif left != fragment.metadata:
                updated.append(left)
        self.commit(lance.LanceOperation.Delete(updated, removed, where), who, branch)

    def compact(self, **who: str) -> None:
        """Write small fragments together."""
        self.on().optimize.compact_files(target_rows_per_fragment=400, num_threads=1)
        self.passed()


# --- Times -------------------------------------------------------------------------------------


def _set_times(root: Path, times: dict[int, datetime]) -> None:
    """Set the commit times of versions; the new seconds take as many bytes as the old ones."""
    for version, when in times.items():
        file = root / "_versions" / f"{2**64 - 1 - version:020}.manifest"
        data = bytearray(file.read_bytes())
        begin, end = _seconds_in(data)
        seconds = _varint(int(when.timestamp()))
        if len(seconds) != end - begin:
            raise ValueError(
                f"{file}: the time of version {version} has another length than {when}"
            )
        data[begin:end] = seconds
        file.write_bytes(data)


def _seconds_in(data: bytearray) -> tuple[int, int]:
    """Return where a manifest stores the seconds of its timestamp: field 7, and in it field 1."""
    message = read_layout(bytes(data)).message
    begin, end = _field(data, message.offset, message.end, 7)
    return _field(data, begin, end, 1)


def _field(data: bytearray, at: int, end: int, wanted: int) -> tuple[int, int]:
    """Return where the value of a field of a protobuf message begins and ends."""
    while at < end:
        key, at = _read_varint(data, at)
        begin = at
        match key & 7:
            case 0:
                _, at = _read_varint(data, at)
            case 2:
                length, begin = _read_varint(data, at)
                at = begin + length
            case wire_type:
                at += 8 if wire_type == 1 else 4
        if key >> 3 == wanted:
            return begin, at
    raise ValueError(f"no field {wanted}")


def _read_varint(data: bytearray, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def _set_ref_times(path: Path, times: dict[str | None, dict[int, datetime]]) -> None:
    """Set the times of tags and branches to those of their versions."""
    for file in path.glob("_refs/*/*.json"):
        content = json.loads(file.read_text("utf-8"))
        if "parentVersion" in content:
            when = times[file.stem][content["parentVersion"]]  # its first commit
        else:
            when = times[content.get("branch")][content["version"]]
        if "createAt" in content:
            content["createAt"] = int(when.timestamp())
        for name in ("createdAt", "updatedAt"):
            if content.get(name) is not None:
                content[name] = when.isoformat().replace("+00:00", "Z")
        file.write_text(json.dumps(content), "utf-8")
