"""What the planner of some release of pylance would compact: ``plans_of_release.py FOLDER OUT``.

Run it in an environment that has the release, and nothing else is needed there:

    python3 -m venv /tmp/pylance-1.0.4 && /tmp/pylance-1.0.4/bin/pip install pylance==1.0.4
    cd tests && /tmp/pylance-1.0.4/bin/python disk/plans_of_release.py data disk/plans/1.0.4.json

OUT gets the answers for all tables below FOLDER that the release can read, with options that differ
from table to table. ``test_plans_of_releases.py`` compares what is in ``plans/`` with ours. With
more tables, by hand: ``python -m tests.disk.test_plans_of_releases FOLDER`` makes random ones, and
``python -m tests.disk.test_plans_of_releases FOLDER OUT`` compares.
"""

import json
import os
import random
import sys
from pathlib import Path

TARGETS = [2, 5, 8, 12, 30, 1000]
THRESHOLDS = [0.0, 0.1, 0.2, 0.5, 1.0]
TRIES = 2


def random_options(chosen):
    """Return options that every release has, each of which may be left out."""
    options = {
        "target_rows_per_fragment": chosen.choice(TARGETS),
        "materialize_deletions": chosen.random() < 0.8,
        "materialize_deletions_threshold": chosen.choice(THRESHOLDS),
    }
    return {name: value for name, value in options.items() if chosen.random() < 0.7}


def planned(path, options):
    """Return the fragments of each task."""
    import lance
    from lance.optimize import Compaction

    plan = Compaction.plan(lance.dataset(path), options)
    return [[fragment.id for fragment in task.fragments] for task in plan.tasks]


def main():
    """Write the answers."""
    import lance

    folder, out = [Path(name).resolve() for name in sys.argv[1:]]
    answers = []
    for path in sorted(folder.rglob("*.lance")):
        if not (path / "_versions").is_dir():
            continue
        table = path.relative_to(folder).as_posix()
        chosen = random.Random(table)
        os.chdir(path.parent)  # where clones look for the table that they are of
        for _ in range(TRIES):
            options = random_options(chosen)
            try:
                tasks = planned(str(path), options)
            except BaseException as error:  # noqa: BLE001 (also a panic)
                print(f"{table}: {str(error)[:100]}")
                break
            answers.append([table, options, tasks])
    lines = ",\n".join(json.dumps(answer) for answer in answers)
    out.write_text(f"[\n{lines}\n]\n")
    print(f"pylance {lance.__version__}: {len(answers)} answers")


if __name__ == "__main__":
    main()
