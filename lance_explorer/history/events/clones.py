"""The first version of a clone, whose past is in another table."""

from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.identity.state_rows import StateRows

__all__ = ["step_facts"]


def step_facts(rows: StateRows, position: int) -> StepFacts:
    """Return the source of the events of a version.

    The rows of a new clone have a past, which their row versions show, as after lost versions. What
    happened before a branch left its parent is in the versions of that.
    """
    step = StepFacts(rows, position)
    if step.name == OperationName.CLONE and step.after.manifest.branch is None:
        step.name = None
    return step
