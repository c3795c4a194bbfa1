"""Loading a history from an object store, beside pylance: ``python -m benchmarks.remote``.

The store is a server on this machine that answers each request after 30 ms. Each job runs once: it
waits more than it works.
"""

from pathlib import Path

from benchmarks.bucket import OPTIONS, served, traffic
from benchmarks.history import write_appends
from benchmarks.measuring import Job, Numbers, Work, main, prepared, print_rows, run

DELAY = 0.03
VERSIONS = 1000


def write_transaction_files(path: str, count: int) -> Work:
    """Make a table as old writers did, with a transaction file for each version."""
    from tests.synthetic import SyntheticTable

    def work() -> Numbers:
        table = SyntheticTable(Path(path)).append(rows=10)
        while table.version < count:
            table.append(rows=1).amend(transaction=None)
        return {"versions": table.version}

    return work


def _options(endpoint: str) -> dict[str, str]:
    return {**OPTIONS, "aws_endpoint": endpoint}


def our_versions(uri: str, endpoint: str) -> Work:
    """Open a table and list its versions."""
    import tqdm.auto  # noqa: F401

    from lance_explorer import open_table

    def work() -> Numbers:
        table = open_table(uri, storage_options=_options(endpoint))
        versions = table.versions()
        return {
            "versions": len(versions),
            "operations": versions["operation"].count(),
            "requests": table.io.requests,
            "bytes": table.io.bytes_read,
        }

    return work


def their_versions(uri: str, endpoint: str) -> Work:
    """Open a table and list its versions with pylance."""
    import lance

    def work() -> Numbers:
        dataset = lance.dataset(uri, storage_options=_options(endpoint))
        return {"versions": len(dataset.versions())}

    return work


HEADINGS = ("", "versions", "seconds", "requests", "MB", "times pylance")


def compare(folder: Path, name: str) -> list[list[str]]:
    """Load a history both ways; return the lines to print."""
    with served(folder, DELAY) as endpoint:
        uri = f"s3://tables/{name}.lance"
        jobs: dict[str, Job] = {"lance_explorer": our_versions, "pylance": their_versions}
        took, asked = {}, {}
        for who, job in jobs.items():
            traffic(endpoint)
            took[who] = run(job, uri, endpoint)
            asked[who] = traffic(endpoint)
    return [
        [
            f"{name}, {who}",
            f"{took[who].numbers['versions']}",
            f"{took[who].seconds:.2f}",
            f"{asked[who]['requests']}",
            f"{asked[who]['bytes'] / 1e6:.2f}",
            f"{took['pylance'].seconds / took[who].seconds:.1f}x",
        ]
        for who in jobs
    ]


def benchmark(folder: Path) -> None:
    """Write the tables that are missing in ``folder``; load their histories; print what it took."""
    tables: dict[str, Job] = {
        f"appends_{VERSIONS}": write_appends,
        f"transaction_files_{VERSIONS}": write_transaction_files,
    }
    for name, writer in tables.items():
        prepared(folder, name, writer, VERSIONS)
    lines = [line for name in tables for line in compare(folder, name)]
    print_rows([list(HEADINGS), *lines])


if __name__ == "__main__":
    main(__doc__, benchmark)
