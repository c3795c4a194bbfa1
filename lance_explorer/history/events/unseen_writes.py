"""What lost versions may have written in place in fragments that they also created.

Row versions need not show it, and there is no earlier state of the fragment to compare its files
with. Two signs remain: later files of the fragment, and a kept compaction, which names the
fragments that it read with their files.
"""

from dataclasses import dataclass

from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.file_changes import WrittenFields, written_fields, written_since_birth
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.rewrites.all_groups import rewrites

__all__ = ["UnseenWrites", "unseen_writes"]


@dataclass(frozen=True, slots=True)
class UnseenWrites:
    """Fragments in which lost versions may have written rows that moved since.

    Attributes
    ----------
    written : list of (int, WrittenFields)
        States of the later version that were written in place, and what of them.
    written_before : list of (int, WrittenFields)
        States of the earlier one that were; lost versions may have brought deleted rows back there.
    doubtful : list of int
        States of which nothing tells whether their rows were written before they were added there.
    """

    written: list[tuple[int, WrittenFields]]
    written_before: list[tuple[int, WrittenFields]]
    doubtful: list[int]


def unseen_writes(rows: StateRows, step: StepFacts) -> UnseenWrites:
    """Tell what may have happened in a gap to rows that moved in it."""
    writes = UnseenWrites([], [], [])
    if step.follows or step.before is None:
        return writes
    states, schemas = rows.history.states, step.schemas
    groups = {
        new: group.recorded
        for group in rewrites(rows.view).between(step.begin_version, step.version)
        for new in group.new_ids
    }
    for fragment_id, state in step.added.items():
        if fragment_id in step.removed:
            continue  # both states of it can be compared
        recorded = groups.get(fragment_id, ())
        was_there = [fragment.id in step.removed for fragment in recorded]
        if written := written_since_birth(states[state], schemas):
            writes.written.append((state, written))
        elif not all(was_there) or (not recorded and _takes_more_than_one(step)):
            writes.doubtful.append(state)
        for fragment in recorded:
            before = step.removed.get(fragment.id)
            if before is not None and (
                written := written_fields(states[before], fragment, schemas)
            ):
                writes.written_before.append((before, written))
    return writes


def _takes_more_than_one(step: StepFacts) -> bool:
    """Whether there are enough commits for one that wrote rows and one that moved them."""
    if step.history.is_uncertain[step.position]:
        return True
    return step.num_lost + (step.name in (OperationName.REWRITE, OperationName.RESTORE, None)) > 1
