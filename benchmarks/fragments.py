"""Tables of very many fragments, beside pylance: ``python -m benchmarks.fragments``."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.measuring import Job, Numbers, Work, main, measure, prepared, print_rows, warm

SIZES = {"small": (20_000,), "full": (100_000, 1_000_000)}

VERSIONS = 20
UPDATED = 100

# ---------------------------------------------------------------------------------------- tables


def write_fragments(path: str, count: int) -> Work:
    """Make a table of so many fragments with pylance, in one commit; there are no data files."""
    import uuid

    import lance
    import pyarrow as pa
    from lance.fragment import DataFile, FragmentMetadata

    def work() -> Numbers:
        rows = pa.table({"id": [1], "value": [2.0], "name": ["x"]})
        table = lance.write_dataset(rows, path, enable_stable_row_ids=True)
        [model] = table.get_fragments()[0].metadata.files
        fragments = [
            FragmentMetadata(
                id=0,
                files=[
                    DataFile(
                        path=f"{uuid.UUID(int=number * 0x9E3779B97F4A7C15 + 1).hex}.lance",
                        fields=model.fields,
                        column_indices=model.column_indices,
                        file_major_version=model.file_major_version,
                        file_minor_version=model.file_minor_version,
                        file_size_bytes=100_000 + number * 7919 % 50_000,
                    )
                ],
                physical_rows=1000 + number % 97,
            )
            for number in range(count)
        ]
        operation = lance.LanceOperation.Append(fragments)
        lance.LanceDataset.commit(path, operation, read_version=1)
        return {"fragments": count}

    return work


def write_updates(path: str, count: int) -> Work:
    """Make such a table, and update all rows of 100 fragments in each of 18 commits."""
    import lance

    def work() -> Numbers:
        write_fragments(path, count)()
        for turn in range(VERSIONS - 2):
            table = lance.dataset(path)
            first = turn * count // VERSIONS
            found = [table.get_fragment(first + number) for number in range(UPDATED)]
            old = [fragment.metadata for fragment in found if fragment is not None]
            new = [replace(fragment, id=0) for fragment in old]  # they keep their row IDs
            operation = lance.LanceOperation.Update(
                removed_fragment_ids=[fragment.id for fragment in old], new_fragments=new
            )
            lance.LanceDataset.commit(path, operation, read_version=table.version)
        return {"versions": VERSIONS}

    return work


# ------------------------------------------------------------------------------------------ jobs


def _asked(path: str, ask: Callable[[Any], object]) -> Work:
    import tqdm.auto  # noqa: F401

    from lance_explorer import open_table

    def work() -> Numbers:
        ask(open_table(path))
        return {}

    return work


def our_latest(path: str) -> Work:
    """Open the latest version, count its rows, and list its fragments."""
    return _asked(path, lambda table: (table.latest.num_rows, table.latest.inspect.fragments()))


def our_versions(path: str) -> Work:
    """List the versions."""
    return _asked(path, lambda table: table.versions())


def our_index(path: str) -> Work:
    """Build the row-ID index of the latest version."""
    return _asked(path, lambda table: table.latest.row_id_index())


def our_row(path: str) -> Work:
    """Tell the history of one row, without its values."""
    return _asked(path, lambda table: table.row(5).history())


def our_lineage(path: str) -> Work:
    """Build the graph of fragments."""
    return _asked(path, lambda table: table.lineage())


def our_health(path: str) -> Work:
    """Look for what should be done about the table."""
    return _asked(path, lambda table: table.inspect.health())


def our_repr(path: str) -> Work:
    """Show the table in a notebook."""
    return _asked(path, lambda table: table._repr_html_())


def their_fragments(path: str) -> Work:
    """Open the latest version with pylance, and list its fragments."""
    import lance

    return lambda: {"fragments": len(lance.dataset(path).get_fragments())}


def their_versions(path: str) -> Work:
    """List the versions with pylance."""
    import lance

    return lambda: {"versions": len(lance.dataset(path).versions())}


# ---------------------------------------------------------------------------------------- output

OURS: dict[str, Job] = {
    "latest facts, fragments()": our_latest,
    "versions()": our_versions,
    "row_id_index()": our_index,
    "row().history()": our_row,
    "lineage()": our_lineage,
    "health()": our_health,
    "repr": our_repr,
}
THEIRS: dict[str, Job] = {
    "pylance: open, get_fragments()": their_fragments,
    "pylance: versions()": their_versions,
}


def benchmark(folder: Path, counts: tuple[int, ...]) -> None:
    """Write the tables that are missing in ``folder``; ask each question in a new process."""
    writers: dict[str, Job] = {"fragments": write_fragments, "updates": write_updates}
    for (name, writer), count in product(writers.items(), counts):
        path = prepared(folder, f"{name}_{count}", writer, count)
        megabytes = warm(path / "_versions") / 1e6
        versions = 2 if writer is write_fragments else VERSIONS
        title = f"{count:,} fragments, {versions} versions, {megabytes:.0f} MB"
        rows = [[title, "s", "CPU s", "peak MB"]]
        for question, job in {**OURS, **THEIRS}.items():
            took = measure(job, str(path))
            cells = [
                f"{took.seconds:.2f}",
                f"{took.cpu_seconds:.2f}",
                f"{took.peak_bytes / 1e6:.0f}",
            ]
            rows.append([question, *cells])
        print_rows(rows)
        print()


if __name__ == "__main__":
    main(__doc__, benchmark, SIZES)
