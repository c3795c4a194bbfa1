"""The rows and the conflicting cells of a preview of a merge, as frames."""

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.cells.text import cells_of, quoted
from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.merge_frames import CHANGE, MERGE_CELLS, MERGE_ROWS, OUTCOME
from lance_explorer.changes.merge_rows import Compared, Images, MatchedRows, Values
from lance_explorer.frames.columns import EVIDENCE, ID
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["cell_lines", "change_numbers", "row_lines"]

_IMAGES = ("base", "ours", "theirs")
_KINDS = {RowEvent.INSERTED: 0, RowEvent.DELETED: 2}
_UPDATED = 1


def change_numbers(runs: ChangeRuns) -> NDArray[np.uint8]:
    """Return the changes of rows as numbers of CHANGE."""
    numbers = np.full(len(runs), _UPDATED, dtype=np.uint8)
    for event, number in _KINDS.items():
        numbers[runs.change == event] = number
    return numbers


def row_lines(
    values: Values,
    rows: MatchedRows,
    compared: Compared,
    chosen: Collection[str],
    *,
    has_row_ids: bool,
) -> pl.DataFrame:
    """Return the rows with some outcomes, in their order at the fork.

    Parameters
    ----------
    values : Values
        What reads values.
    rows : MatchedRows
        The rows that changed.
    compared : Compared
        Those that both sides changed.
    chosen : collection of str
        The outcomes.
    has_row_ids : bool
        Whether identities are row IDs.
    """
    parts = [_beside(_head(None, None, np.zeros(0, np.uint8), has_row_ids), values.none())]
    if "incoming" in chosen:
        runs = rows.only_theirs.rows()
        head = _head(None, runs, _all("incoming", len(runs)), has_row_ids)
        parts.append(_beside(head, values.only(runs, is_ours=False)))
    if "kept" in chosen:
        runs = rows.only_ours.rows()
        head = _head(runs, None, _all("kept", len(runs)), has_row_ids)
        parts.append(_beside(head, values.only(runs, is_ours=True)))
    wanted = compared.has_outcome(*chosen)
    if wanted.any():
        ours, theirs = compared.ours.where(wanted), compared.theirs.where(wanted)
        head = _head(ours, theirs, compared.outcome[wanted], has_row_ids)
        head = head.with_columns(
            compared.conflicting_columns(wanted).alias("columns"),
            pl.Series("is_uncertain", compared.is_uncertain[wanted]),
        )
        parts.append(_beside(head, compared.images.where(wanted).select([*values.schema])))
    return pl.concat(parts).sort("_rowaddr_base", nulls_last=True, maintain_order=True)


def cell_lines(compared: Compared, key: Sequence[str], *, has_row_ids: bool) -> pl.DataFrame:
    """Return the cells in conflict, row by row."""
    rows, column = np.nonzero(compared.cells)
    if not len(rows):
        return MERGE_CELLS.build({name: [] for name in MERGE_CELLS.names})
    ours, theirs = compared.ours, compared.theirs
    ids = _row_ids(ours, has_row_ids)
    known = [_first_not_null(compared.images, name) for name in key]
    parts = []
    for number in np.unique(column):
        some = rows[column == number]
        name = compared.columns[number]
        parts.append(
            pl.DataFrame(
                {
                    "__place": some,
                    "_rowid": ids[some],
                    "key": _key_texts(dict(zip(key, known, strict=True)), some),
                    "column": [name] * len(some),
                    **{
                        image: _no_texts(len(some))
                        if place is None
                        else cells_of(frame[place][some])
                        for image, frame, place in zip(
                            _IMAGES, compared.images[:3], compared.places(name), strict=True
                        )
                    },
                    "change_ours": _changes(ours)[some],
                    "change_theirs": _changes(theirs)[some],
                }
            )
        )
    lines = pl.concat(parts).sort("__place", maintain_order=True)
    return MERGE_CELLS.build({name: lines[name] for name in MERGE_CELLS.names})


def _all(outcome: str, count: int) -> NDArray[np.uint8]:
    return np.full(count, OUTCOME.categories.to_list().index(outcome), dtype=np.uint8)


def _head(
    ours: ChangeRuns | None,
    theirs: ChangeRuns | None,
    outcome: NDArray[np.uint8],
    has_row_ids: bool,
) -> pl.DataFrame:
    one = ours if ours is not None else theirs
    if one is None:
        return MERGE_ROWS.build({name: [] for name in MERGE_ROWS.names})
    sides = [side for side in (ours, theirs) if side is not None]
    base = np.minimum.reduce([side.before for side in sides])  # NO_ADDRESS is the largest number
    nulls = pl.repeat(None, len(one), eager=True)
    evidence = np.maximum.reduce([side.evidence for side in sides])
    return MERGE_ROWS.build(
        {
            "outcome": _categories(outcome, OUTCOME),
            "change_ours": nulls.cast(CHANGE) if ours is None else _changes(ours),
            "change_theirs": nulls.cast(CHANGE) if theirs is None else _changes(theirs),
            "_rowid": pl.Series(_row_ids(one, has_row_ids), dtype=ID),
            "_rowaddr_base": _addresses(base),
            "_rowaddr_ours": nulls.cast(ID) if ours is None else _addresses(ours.after),
            "_rowaddr_theirs": nulls.cast(ID) if theirs is None else _addresses(theirs.after),
            "columns": pl.repeat([], len(one), dtype=pl.List(pl.String()), eager=True),
            "evidence": _categories(evidence, EVIDENCE),
            "is_uncertain": one.is_uncertain,
        }
    )


def _beside(head: pl.DataFrame, images: Images) -> pl.DataFrame:
    """Return lines with the values of their rows, as three structs; null for missing rows."""
    return head.hstack(
        [
            image.select(
                pl.when(pl.Series(there)).then(pl.struct(pl.all())).alias(name)
            ).to_series()
            for name, image, there in zip(_IMAGES, images[:3], images.are_there, strict=True)
        ]
    )


def _row_ids(runs: ChangeRuns, has_row_ids: bool) -> Uint64Array:
    live = runs.is_live
    if has_row_ids:
        return np.where(live, runs.identity, runs.old_identity)
    return np.where(live, runs.after, runs.before)


def _addresses(addresses: Uint64Array) -> pl.Series:
    column = pl.Series(addresses, dtype=ID)
    return column.set(pl.Series(addresses == NO_ADDRESS), None)


def _changes(runs: ChangeRuns) -> pl.Series:
    return _categories(change_numbers(runs), CHANGE)


def _categories(numbers: NDArray[np.uint8], dtype: pl.Enum) -> pl.Series:
    return pl.Series(dtype.categories, dtype=dtype)[pl.Series(numbers)]


def _first_not_null(images: Images, name: str) -> pl.Series:
    base, ours, theirs = [image[name] for image in images[:3]]
    return ours.fill_null(theirs).fill_null(base) if not ours.dtype.is_nested() else ours


def _key_texts(keys: dict[str, pl.Series], some: NDArray[np.intp]) -> pl.Series:
    if not keys:
        return _no_texts(len(some))
    named = {name: _clear(cells_of(values[some])) for name, values in keys.items()}
    parts = [pl.concat_str(pl.lit(f"{name} = "), pl.col(name)) for name in named]
    return pl.DataFrame(named).select(pl.concat_str(parts, separator=", ")).to_series()


def _no_texts(count: int) -> pl.Series:
    return pl.repeat(None, count, dtype=pl.String(), eager=True)


def _clear(texts: pl.Series) -> pl.Series:
    """Return texts that stay distinct when several are joined in one line."""
    words = ["null" if text is None else quoted(text, within=", ") for text in texts]
    return pl.Series(words, dtype=pl.String)
