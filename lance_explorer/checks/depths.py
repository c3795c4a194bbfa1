"""How deep a check looks, and what each depth leaves out."""

from collections.abc import Iterator
from typing import Literal, get_args

from lance_explorer.findings import Finding, Remedy, Subject

__all__ = ["DEPTHS", "Depth", "left_out"]

Depth = Literal["quick", "deep", "values"]

DEPTHS: tuple[Depth, ...] = get_args(Depth)
"""``quick`` reads metadata; ``deep`` also the ends of data files, and indices; ``values`` all."""

_LEFT_OUT: dict[Depth, tuple[str, str]] = {
    "deep": (
        "No data file and no index was opened: only their sizes were checked.",
        "files",
    ),
    "values": ("The values in data files were not read.", "values"),
}


def left_out(depth: Depth) -> Iterator[Finding]:
    """Yield what a depth does not check, so that it does not look healthy.

    Examples
    --------
    >>> [found.to_do for found in left_out("deep")]
    ['To look at them: `table.check(depth="values")`.']
    """
    for deeper in DEPTHS[DEPTHS.index(depth) + 1 :]:
        statement, topic = _LEFT_OUT[deeper]
        yield Finding(
            "not_checked",
            statement,
            subject=Subject("check", topic),
            remedy=Remedy("To look at them", f'table.check(depth="{deeper}")'),
            is_mild=True,
        )
    if depth == DEPTHS[-1]:
        yield Finding(
            "not_checked",
            "Neither data files nor deletion files have checksums: what was damaged in them and "
            "can still be read is found only where an index, the files before a compaction, or "
            "digests in a ledger repeat it.",
            subject=Subject("check", "values"),
            remedy=Remedy(
                "Compare with a backup, if values are in doubt; later checks see what changes from "
                "now on",
                "ledger.record(table, checksums=True)",
            ),
            is_mild=True,
        )
