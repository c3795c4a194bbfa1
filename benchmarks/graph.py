"""The graph of fragments and its picture: ``python -m benchmarks.graph``.

Beside it what a user of pylance would do: read the transaction of every version, and note which
fragments each compaction rewrote into which.
"""

from pathlib import Path
from typing import Any

from benchmarks.history import write_commits
from benchmarks.measuring import Job, Numbers, Work, main, measure, prepared, print_rows, run, warm

SIZES = {"small": (1000, 3000), "full": (1000, 3000, 10000)}


def our_graph(path: str) -> Work:
    """Build the graph of an opened table."""
    table = opened(path)
    return lambda: counted(table.lineage())


def our_opening_and_graph(path: str) -> Work:
    """Open a table, load its history and build the graph."""
    import lance_explorer.lineage.graph  # noqa: F401
    from lance_explorer import open_table

    return lambda: counted(open_table(path).lineage())


def our_layout(path: str) -> Work:
    """Place the lanes and ribbons of the picture."""
    from lance_explorer.figures.lineage_layout import lay_out

    frames = opened(path).lineage().frames
    return lambda: {"lanes": len(lay_out(*frames).lanes)}


def our_compactions(path: str) -> Work:
    """Tell how many compactions there are."""
    records = opened(path)._view.history.records
    return lambda: {"compactions": sum(record.operation == "Rewrite" for record in records)}


def their_edges(path: str) -> Work:
    """Read every transaction with pylance, and pair the fragments of the rewrite groups."""
    import lance

    def work() -> Numbers:
        table: Any = lance.dataset(path)
        pairs = 0
        for version in range(1, table.version + 1):
            transaction = table.read_transaction(version)
            for group in getattr(transaction.operation, "groups", ()):
                pairs += len(group.old_fragments) * len(group.new_fragments)
        return {"pairs": pairs}

    return work


def opened(path: str) -> Any:
    import lance_explorer.lineage.graph  # noqa: F401
    from lance_explorer import open_table

    table = open_table(path)
    table.versions()
    return table


def counted(story: Any) -> Numbers:
    return {
        "nodes": story.graph.number_of_nodes(),
        "edges": story.graph.number_of_edges(),
        "rewrites": len(story.edges().filter(kind="rewrite")),
    }


def benchmark(folder: Path, sizes: tuple[int, ...]) -> None:
    """Write the tables that are missing in ``folder``, build the graphs, print what that took."""
    lines = [
        [
            *("commits", "compactions", "nodes", "edges", "graph s", "with opening s"),
            *("pylance s", "faster", "layout s", "peak MB"),
        ]
    ]
    lines += [
        line(prepared(folder, f"commits_{count}", write_commits, count), count) for count in sizes
    ]
    print_rows(lines)


def line(path: Path, count: int) -> list[str]:
    for part in ("_versions", "_deletions"):
        warm(path / part)
    jobs: list[Job] = [our_graph, our_opening_and_graph, our_layout, their_edges]
    graph, whole, layout, theirs = (measure(job, str(path)) for job in jobs)
    if theirs.numbers["pairs"] != graph.numbers["rewrites"]:
        raise ValueError(f"{path}: {theirs.numbers} and {graph.numbers} do not agree")
    return [
        f"{count:,}",
        f"{run(our_compactions, str(path)).numbers['compactions']:,}",
        f"{graph.numbers['nodes']:,}",
        f"{graph.numbers['edges']:,}",
        f"{graph.seconds:.3f}",
        f"{whole.seconds:.3f}",
        f"{theirs.seconds:.3f}",
        f"{theirs.seconds / whole.seconds:.1f}x",
        f"{layout.seconds:.3f}",
        f"{whole.peak_bytes / 1e6:.0f}",
    ]


if __name__ == "__main__":
    main(__doc__, benchmark, SIZES)
