"""An action that carries out one of our plans, so that all checks look at the commits it makes."""

import tempfile
from pathlib import Path
from random import Random

from lance_explorer import open_table
from lance_explorer.errors import LanceExplorerError
from tests.differential.random_lives.registry import action
from tests.differential.random_lives.world import Refused, World
from tests.plans.carrying_out import carried_out

__all__ = ["undo_by_plan"]


@action(0)
def undo_by_plan(world: World, rng: Random) -> str:
    """Undo a commit by a plan, but for one that brings rows back: they would be other rows.

    No life does it unless its weights say so: seeds mean what they meant before there were plans.
    """
    table = open_table(world.root, world.head)
    version = rng.choice(world.kept(world.head))
    try:
        plan = table.plan_revert(version)
    except LanceExplorerError as error:
        raise Refused(str(error)) from error
    changes = {*plan.rows()["_change"].to_pylist()}
    if not plan or "insert" in changes or any(one.kind == "restore" for one in plan.steps):
        raise Refused("nothing to do, or rows come back")
    with tempfile.TemporaryDirectory() as folder:
        try:
            carried_out(plan, world.root, Path(folder))
        except SystemExit as error:
            raise Refused(str(error)) from error
    return f"undo {version} by a plan: {plan.sentence}"
