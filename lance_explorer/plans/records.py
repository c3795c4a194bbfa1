"""The records of a plan: steps, what it leaves alone, and losses."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from lance_explorer.plans.frames import PLAN_CONFLICTS, PLAN_LOSSES

__all__ = ["Conflict", "Loss", "OnConflict", "Step", "StepKind", "conflict_frame", "loss_frame"]

OnConflict = Literal["keep", "overwrite"]

StepKind = Literal[
    "restore",
    "rows",
    "leave_out",
    "undelete",
    "set_aside",
    "drop_columns",
    "alter_columns",
    "add_columns",
    "settings",
    "drop_index",
    "create_index",
]


@dataclass(frozen=True, slots=True)
class Step:
    """One commit of a plan.

    Attributes
    ----------
    kind : str
        What it does; the script has a function for each.
    words : str
        It in a sentence.
    code : str
        The call of pylance that does it, where ``dataset`` is the table.
    arguments : mapping
        What the script needs to know, as JSON can have it.
    """

    kind: StepKind
    words: str
    code: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something that a plan leaves alone; the fields are columns of PLAN_CONFLICTS."""

    reason: str
    subject: str
    name: str | None = None
    planned: str | None = None
    now: str | None = None
    note: str | None = None
    row_id: int | None = None
    key: str | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that cannot come back unchanged; the fields are columns of PLAN_LOSSES."""

    kind: str
    statement: str
    num_rows: int | None = None


def conflict_frame(conflicts: Iterable[Conflict]) -> pl.DataFrame:
    """Return conflicts as a frame."""
    every = [*conflicts]
    columns = {"_rowid": "row_id"}
    return PLAN_CONFLICTS.build(
        {
            name: [getattr(one, columns.get(name, name)) for one in every]
            for name in PLAN_CONFLICTS.names
        }
    )


def loss_frame(losses: Iterable[Loss]) -> pl.DataFrame:
    """Return losses as a frame."""
    every = [*losses]
    return PLAN_LOSSES.build(
        {name: [getattr(one, name) for one in every] for name in PLAN_LOSSES.names}
    )
