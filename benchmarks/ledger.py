"""What is recorded once and read again, beside pylance: ``python -m benchmarks.ledger``."""

import shutil
from pathlib import Path

from benchmarks.fragments import write_fragments
from benchmarks.history import (
    fill_cache,
    our_first_versions,
    our_versions,
    our_versions_again,
    their_versions,
    write_appends,
)
from benchmarks.measuring import (
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

SIZES = {
    "small": {"versions": 1_000, "fragments": 20_000, "recordings": 300},
    "full": {"versions": 5_000, "fragments": 1_000_000, "recordings": 8_760},
}

_NEW_VERSIONS = 10

# ------------------------------------------------------------------------------------------ jobs


def recording(path: str, ledger: str) -> Work:
    """Record all versions in a ledger that has none."""
    import tqdm.auto  # noqa: F401

    from lance_explorer import Ledger

    shutil.rmtree(ledger, ignore_errors=True)
    return lambda: {"versions": int(Ledger(ledger).record(path)["new_versions"].sum())}


def reading_again(path: str, ledger: str) -> Work:
    """List the versions from the table and the ledger."""
    import tqdm.auto  # noqa: F401

    from lance_explorer import open_table

    return lambda: {"versions": len(open_table(path, ledger=ledger).versions())}


def recording_more(path: str, ledger: str) -> Work:
    """Record versions that are new since the last recording."""
    import tqdm.auto  # noqa: F401

    from lance_explorer import Ledger

    opened = Ledger(ledger)
    opened.forget(path)
    opened.record(path)
    _append(path, _NEW_VERSIONS)
    return lambda: {"versions": int(opened.record(path)["new_versions"].sum())}


def recording_hourly(path: str, ledger: str, count: int) -> Work:
    """Record a table after each few commits, very often."""
    from lance_explorer import Ledger
    from tests.synthetic import SyntheticTable

    def work() -> Numbers:
        shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(ledger, ignore_errors=True)
        table = SyntheticTable(Path(path)).append(rows=100, fragments=100)
        opened = Ledger(ledger)
        changed = 100
        for number in range(count):
            table.append(rows=10).delete({number % 100: [number // 100]})
            changed += 2
            opened.record(path)
        facts = opened.tables().row(0, named=True)
        return {"changed": changed, "segments": facts["segments"], "bytes": facts["bytes"]}

    return work


def _append(path: str, count: int) -> None:
    import lance
    import pyarrow as pa

    table = lance.dataset(path)
    schema = table.schema
    rows = pa.table({name: pa.nulls(1, schema.field(name).type) for name in schema.names})
    for _ in range(count):
        table = lance.write_dataset(rows, table, mode="append")


# ---------------------------------------------------------------------------------------- output


def _cells(name: str, took: Measurement) -> list[str]:
    return [
        name,
        f"{took.numbers.get('versions', 0):,}",
        f"{took.seconds:.2f}",
        f"{took.cpu_seconds:.2f}",
        f"{took.peak_bytes / 1e6:.0f}",
    ]


def _compare(path: Path, ledger: Path, what: str) -> None:
    megabytes = warm(path / "_versions") / 1e6
    rows = [[f"{what}, {megabytes:,.0f} MB of manifests", "versions", "s", "CPU s", "peak MB"]]
    rows.append(_cells("versions()", measure(our_versions, str(path))))
    rows.append(_cells("pylance: versions()", measure(their_versions, str(path))))
    rows.append(_cells("record", measure(recording, str(path), str(ledger))))
    size = sum(file.stat().st_size for file in ledger.rglob("*.parquet")) / 1e6
    rows.append(_cells("versions() with ledger", measure(reading_again, str(path), str(ledger))))
    cache = f"{ledger}.cache"
    rows.append(_cells("versions(), cache empty", run(our_first_versions, str(path), cache)))
    rows.append(_cells("and written into it", run(fill_cache, str(path), cache)))
    rows.append(_cells("versions(), cached", measure(our_versions_again, str(path), cache)))
    more = run(recording_more, str(path), str(ledger))
    rows.append(_cells(f"record {_NEW_VERSIONS} new versions", more))
    rows.append(_cells("versions(), cached before them", run(our_versions_again, str(path), cache)))
    print_rows(rows)
    print(f"size of the ledger: {size:.2f} MB\n")


def benchmark(folder: Path, sizes: dict[str, int]) -> None:
    """Record and read again: many versions, many fragments, many recordings."""
    ledger = folder / "ledger"
    for what, write in (("versions", write_appends), ("fragments", write_fragments)):
        count = sizes[what]
        kept = prepared(folder, f"{what}_{count}", write, count)
        path = folder / f"{what}_{count}_copy.lance"  # it is written to
        shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(f"{ledger}.cache", ignore_errors=True)
        shutil.copytree(kept, path)
        _compare(path, ledger, f"{count:,} {what}")
        shutil.rmtree(path)
    count = sizes["recordings"]
    took = run(recording_hourly, str(folder / "hourly.lance"), str(folder / "hourly"), count)
    changed, size = took.numbers["changed"], took.numbers["bytes"]
    print(
        f"{count:,} recordings of two commits each: {took.seconds / count * 1000:.0f} ms each, "
        f"{took.numbers['segments']} segments, {size / changed:.0f} bytes a changed fragment"
    )


if __name__ == "__main__":
    main(__doc__, benchmark, SIZES)
