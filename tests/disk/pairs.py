"""Two commits that were begun on the same version: what Lance makes of the second one.

    python -m tests.disk.pairs

prints the text that ``lance_explorer/disk/conflicts.py`` keeps.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa

import lance_explorer as lx
from lance_explorer.disk.conflicts import OPERATIONS, OVERLAPS

__all__ = ["LOOKS_AGAIN", "outcome", "outcomes", "table_with_indices"]

_DECOY = 77777.0
LOOKS_AGAIN = ("Delete", "Update")
"""Operations that Lance may run again by itself; their read version does not tell."""

_ROWS = {"same_rows": 3, "same_fragment": 4, "other_fragments": 34}


def _data(count: int, first: int = 0) -> pa.Table:
    ids = np.arange(first, first + count)
    return pa.table({"id": ids, "u": ids / 2, "v": ids / 4, "w": ids / 8})


def table_with_indices(path: Path) -> str:
    """Write a table of four fragments with an index, and return its path."""
    shutil.rmtree(path, ignore_errors=True)
    lance.write_dataset(_data(40), str(path), max_rows_per_file=10)
    lance.dataset(str(path)).create_scalar_index("w", "BTREE")
    return str(path)


def _where(overlap: str) -> str:
    return f"id = {_ROWS[overlap]} or u = {_DECOY}"


def _append_decoy(uri: str) -> None:
    """Add a row that whoever looks again deletes or updates, too."""
    dataset = lance.dataset(uri)
    decoy = pa.table({"id": [999], "u": [_DECOY], "v": [0.0], "w": [0.0]})
    names = [name for name in dataset.schema.names if name in decoy.column_names]
    lance.write_dataset(decoy.select(names), uri, mode="append")


def _is_other(overlap: str) -> bool:
    return overlap == "other_fragments"


def _rewrite(dataset: lance.LanceDataset, overlap: str) -> None:
    excluded = [0, 1] if _is_other(overlap) else [2, 3]
    dataset.optimize.compact_files(target_rows_per_fragment=20, excluded_fragment_ids=excluded)


def _restore(dataset: lance.LanceDataset, _: str) -> None:
    lance.dataset(dataset.uri, version=1).restore()


_DO: dict[str, Callable[[lance.LanceDataset, str], object]] = {
    "Append": lambda ds, _: lance.write_dataset(_data(5, 100), ds, mode="append"),
    "Delete": lambda ds, overlap: ds.delete(_where(overlap)),
    "Update": lambda ds, overlap: ds.update({"u": "u + 1"}, where=_where(overlap)),
    "Merge": lambda ds, overlap: ds.add_columns({f"new{_is_other(overlap)}": "id * 2"}),
    "Project": lambda ds, overlap: ds.drop_columns(["u" if _is_other(overlap) else "v"]),
    "Overwrite": lambda ds, _: lance.write_dataset(_data(5, 200), ds, mode="overwrite"),
    "Rewrite": _rewrite,
    "CreateIndex": lambda ds, overlap: ds.create_scalar_index(
        "u" if _is_other(overlap) else "id", "BTREE"
    ),
    "UpdateConfig": lambda ds, overlap: ds.update_config({f"key{_is_other(overlap)}": "value"}),
    "Restore": _restore,
}


def outcome(path: Path, committed: str, attempted: str, overlap: str) -> str:
    """Return what becomes of a commit that another one came before."""
    uri = table_with_indices(path)
    stale = lance.dataset(uri)
    _DO[committed](lance.dataset(uri), "same_rows")
    if attempted in LOOKS_AGAIN and committed not in ("Overwrite", "Restore"):
        _append_decoy(uri)
    between = lance.dataset(uri).version
    try:
        _DO[attempted](stale, overlap)
    except (OSError, lance.commit.CommitConflictError) as error:
        said = str(error)
        if "Retryable commit conflict" in said:
            return "refused_try_again"
        assert "Incompatible transaction" in said
        return "refused"
    if attempted in LOOKS_AGAIN:
        found = lance.dataset(uri).count_rows(f"u = {_DECOY}")
        return "rebased" if found else "redone"
    source = lx.open_table(uri)._view
    transaction = source.transaction(source.history.records[-1])
    assert transaction is not None
    return "rebased" if transaction.read_version < between else "redone"


def outcomes(path: Path, committed: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield all pairs with a first commit."""
    for attempted in OPERATIONS:
        for overlap in OVERLAPS:
            yield committed, attempted, overlap, outcome(path, committed, attempted, overlap)


def main() -> None:
    letters = {"rebased": "b", "redone": "d", "refused_try_again": "a", "refused": "r"}
    with tempfile.TemporaryDirectory() as folder:
        for committed in OPERATIONS:
            found = [letters[o] for *_, o in outcomes(Path(folder, "t.lance"), committed)]
            print(committed, " ".join("".join(found[i : i + 3]) for i in range(0, len(found), 3)))


if __name__ == "__main__":
    main()
