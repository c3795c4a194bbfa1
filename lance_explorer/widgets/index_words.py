"""Words on the indices of a version for which nothing has to be done."""

from collections.abc import Sequence

import polars as pl

from lance_explorer.answers.calls import literal
from lance_explorer.checks.advice import NOTHING_TO_DO
from lance_explorer.frames.sizes import counted

__all__ = ["no_advice_words"]

_LONGEST_NAME = 60


def no_advice_words(summary: pl.DataFrame, columns: Sequence[str]) -> str:
    """Return the words on indices for which there is no advice.

    Parameters
    ----------
    summary : polars.DataFrame
        What :func:`~lance_explorer.inspect.index_summary.index_summary` gives.
    columns : sequence of str
        The columns of the version.

    Examples
    --------
    >>> from lance_explorer.inspect.index_summary import index_summary
    >>> no_advice_words(index_summary(table._view, 7), ["id"])
    'Nothing needs to be done: id_idx covers every row.'
    """
    if summary.is_empty():
        example = literal(_cut(columns[0]) if columns else "column")
        return (
            "This version has no index, so a search reads all rows. With pylance, "
            f'dataset.create_scalar_index({example}, "BTREE") makes one on a column, and '
            'dataset.create_index("vector", "IVF_PQ") one on a column of vectors.'
        )
    to_scan = summary["num_rows_to_scan"]
    if to_scan.null_count() or summary["num_fragments_to_scan"].null_count():
        return f"{NOTHING_TO_DO}, as far as is known."
    if most := to_scan.max():
        rows = counted(most, "row")  # type: ignore[arg-type]
        return (
            f"{NOTHING_TO_DO}: beside an index a search scans {rows} at most, which takes little "
            "time. If there should be none: dataset.optimize.optimize_indices()"
        )
    if len(summary) == 1:
        return f"{NOTHING_TO_DO}: {_cut(summary['name'][0])} covers every row."
    return f"{NOTHING_TO_DO}: all {len(summary):,} indices cover every row."


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"
