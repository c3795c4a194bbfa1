"""Loading whole histories, beside pylance: ``python -m benchmarks.history``."""

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import (
    Job,
    Measurement,
    Numbers,
    Work,
    main,
    measure,
    prepared,
    print_rows,
    run,
    warm,
)

Sizes = dict[str, tuple[int, ...]]

SIZES: dict[str, Sizes] = {
    "small": {"appends": (500, 1500), "edits": (500, 2000), "commits": (1000, 3000)},
    "full": {
        "appends": (500, 1500, 5000),
        "edits": (500, 2000, 5000),
        "commits": (1000, 3000, 10000),
    },
}

EDITED_VERSIONS = 500
SMALL_VERSIONS = 20

# ---------------------------------------------------------------------------------------- tables


def write_appends(path: str, count: int) -> Work:
    """Make, with pylance, a table by appending one row after another."""
    import lance
    import pyarrow as pa

    def work() -> Numbers:
        table = lance.write_dataset(pa.table({"id": [0]}), path, enable_stable_row_ids=True)
        for number in range(1, count):
            table = lance.write_dataset(pa.table({"id": [number]}), table, mode="append")
        return {"versions": table.version}

    return work


def write_edits(path: str, count: int) -> Work:
    """Make a table of many fragments, and delete and update rows all over them."""
    from tests.synthetic import SyntheticTable

    def work() -> Numbers:
        table = SyntheticTable(Path(path)).append(rows=100, fragments=count)
        for number in range(1, EDITED_VERSIONS // 2):
            one, two = number * 389 % count, (number * 389 + count // 2) % count
            table.delete({one: [number % 50]})
            table.update({one: [50 + number % 50], two: [number % 50]})
        return {"versions": table.append().version}

    return work


def write_commits(path: str, count: int) -> Work:
    """Make a table of few fragments at any time: what is appended is soon compacted."""
    from tests.synthetic import SyntheticTable

    def work() -> Numbers:
        table = SyntheticTable(Path(path)).append(rows=100, fragments=10)
        while table.version < count:
            table.append(rows=10).append(rows=10)
            one, two = table.fragment_ids[-2:]
            table.delete({one: [0]}).update({one: [1], two: [0]})
            table.update_config(turn=f"{table.version}").compact(table.fragment_ids[-3:])
            compacted = table.fragment_ids[-1]
            table.delete({compacted: range(18)}).delete({compacted: [18]})
        return {"versions": table.version}

    return work


# ------------------------------------------------------------------------------------------ jobs


def import_package() -> Work:
    """Import lance_explorer."""

    def work() -> Numbers:
        import lance_explorer  # noqa: F401

        return {}

    return work


def import_all() -> Work:
    """Import lance_explorer and what ``open_table`` needs, Polars above all."""

    def work() -> Numbers:
        from lance_explorer import open_table  # noqa: F401

        return {}

    return work


def our_versions(path: str) -> Work:
    """List the versions."""
    import tqdm.auto  # noqa: F401

    from lance_explorer import open_table

    return lambda: {"versions": len(open_table(path).versions())}


def our_first_versions(path: str, cache: str) -> Work:
    """List the versions with an empty cache: what a new user waits for."""
    shutil.rmtree(cache, ignore_errors=True)
    os.environ["LANCE_EXPLORER_CACHE"] = cache
    return our_versions(path)


def fill_cache(path: str, cache: str) -> Work:
    """List the versions, and wait until they are kept."""
    os.environ["LANCE_EXPLORER_CACHE"] = cache

    def work() -> Numbers:
        from lance_explorer.ledger.cache_later import finish_writing

        numbers = our_versions(path)()
        finish_writing()
        return numbers

    return work


def our_versions_again(path: str, cache: str) -> Work:
    """List the versions that the cache has."""
    os.environ["LANCE_EXPLORER_CACHE"] = cache
    return our_versions(path)


def our_fragments(path: str) -> Work:
    """List the versions, and all states of all fragments."""
    import tqdm.auto  # noqa: F401

    from lance_explorer import open_table

    def work() -> Numbers:
        table = open_table(path)
        versions, fragments = table.versions(), table.inspect.all_fragments()
        return {"versions": len(versions), "states": fragments["state_id"].n_unique()}

    return work


def their_versions(path: str) -> Work:
    """List the versions with pylance."""
    import lance

    return lambda: {"versions": len(lance.dataset(path).versions())}


def their_files(path: str) -> Work:
    """List the files of all versions with pylance."""
    import lance

    return lambda: {"files": lance.dataset(path).tracked_files().read_all().num_rows}


# ---------------------------------------------------------------------------------------- output


@dataclass(frozen=True, slots=True)
class Comparison:
    """One table, and what it took to load its history."""

    name: str
    manifest_bytes: int
    our_versions: Measurement
    first: Measurement
    again: Measurement
    our_fragments: Measurement
    their_versions: Measurement
    their_files: Measurement

    def cells(self) -> list[str]:
        ours, theirs = self.our_versions, self.their_versions
        all_ours, all_theirs = self.our_fragments, self.their_files
        return [
            self.name,
            f"{ours.numbers['versions']}",
            f"{all_ours.numbers['states']}",
            f"{self.manifest_bytes / 1e6:.1f}",
            f"{ours.seconds:.3f}",
            f"{self.first.seconds:.3f}",
            f"{self.again.seconds:.3f}",
            f"{all_ours.seconds:.3f}",
            f"{all_ours.peak_bytes / 1e6:.0f}",
            f"{theirs.seconds:.3f}",
            f"{theirs.peak_bytes / 1e6:.0f}",
            f"{all_theirs.seconds:.3f}",
            f"{all_theirs.peak_bytes / 1e6:.0f}",
            f"{theirs.seconds / ours.seconds:.1f}x",
            f"{all_theirs.seconds / all_ours.seconds:.1f}x",
        ]


HEADINGS = (
    ("", "table"),
    ("", "versions"),
    ("", "states"),
    ("manifests", "MB"),
    ("versions()", "no cache s"),
    ("", "empty s"),
    ("", "again s"),
    ("+ fragments", "s"),
    ("peak", "MB"),
    ("pylance", "versions() s"),
    ("peak", "MB"),
    ("pylance", "tracked_files() s"),
    ("peak", "MB"),
    ("faster", "versions"),
    ("faster", "fragments"),
)


def compare(name: str, path: Path) -> Comparison:
    """Load the history of a table in all these ways."""
    manifest_bytes = warm(path / "_versions")
    with tempfile.TemporaryDirectory() as cache:
        first = measure(our_first_versions, str(path), cache)
        run(fill_cache, str(path), cache)
        again = measure(our_versions_again, str(path), cache)
    jobs: list[Job] = [our_versions, our_fragments, their_versions, their_files]
    ours, *others = [measure(job, str(path)) for job in jobs]
    comparison = Comparison(name, manifest_bytes, ours, first, again, *others)
    counted = {
        measured.numbers["versions"]
        for measured in (
            comparison.our_versions,
            comparison.first,
            comparison.again,
            comparison.our_fragments,
            comparison.their_versions,
        )
    }
    if len(counted) != 1:
        raise ValueError(f"{path}: {counted} versions were counted")
    return comparison


def benchmark(folder: Path, sizes: Sizes) -> None:
    """Write the tables that are missing in ``folder``; load them; print what that took."""
    package, everything = measure(import_package), measure(import_all)
    print(f"import lance_explorer                 {1000 * package.seconds:8.1f} ms")
    print(f"import it and what open_table needs   {1000 * everything.seconds:8.1f} ms")
    small = prepared(folder, f"appends_{SMALL_VERSIONS}", write_appends, SMALL_VERSIONS)
    warm(small / "_versions")
    ours, theirs = measure(our_versions, str(small)), measure(their_versions, str(small))
    print(f"versions() of {SMALL_VERSIONS} versions              {1000 * ours.seconds:8.1f} ms")
    print(f"the same with pylance                 {1000 * theirs.seconds:8.1f} ms\n")
    writers: dict[str, Job] = {
        "appends": write_appends,
        "edits": write_edits,
        "commits": write_commits,
    }
    names = [(f"{kind}_{count}", kind, count) for kind in writers for count in sizes[kind]]
    paths = {name: prepared(folder, name, writers[kind], count) for name, kind, count in names}
    headings = [[heading[line] for heading in HEADINGS] for line in (0, 1)]
    print_rows([*headings, *[compare(name, path).cells() for name, path in paths.items()]])


if __name__ == "__main__":
    main(__doc__, benchmark, SIZES)
