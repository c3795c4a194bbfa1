"""``python -m tests.differential.random_lives --lives 300 --steps 40 --seed 1``: look for errors.

Each life is told by its seed, and repeated by ``--seed N --lives 1``; ``--shrink`` leaves out the
steps that do not matter, ``--only 3,5,9`` takes just these. ``--losses`` lives lives that lose most
versions, overwrites among them, ``--beyond`` lives with commits beyond the contract; both ask
whether anything is certain that is false.
"""

import argparse
import sys
import time
from collections import Counter

from tests.differential.random_lives.checks import CHECKS
from tests.differential.random_lives.life import BEYOND, LOSSES, WITH_PLANS, Lived, live, shrink

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Live, and print what is wrong; return how many lives had something wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", type=int, default=20)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="numbers of the steps that are taken")
    parser.add_argument("--check", action="append", choices=[*CHECKS], default=[])
    parser.add_argument("--without", default="", help="actions that are left out")
    parser.add_argument("--turn-on", type=int, help="the step before which row IDs are turned on")
    parser.add_argument("--losses", action="store_true")
    parser.add_argument("--beyond", action="store_true")
    parser.add_argument("--undo", action="store_true", help="undo commits by plans, too")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    told = parser.parse_args(arguments)
    weights = LOSSES if told.losses else BEYOND if told.beyond else None
    checks = told.check or (["certainty"] if weights else [])
    weights = WITH_PLANS if told.undo else weights
    wrong, done, refused = 0, Counter[str](), dict[str, str]()
    kinds: dict[str, list[int]] = {}
    for seed in range(told.seed, told.seed + told.lives):
        start = time.monotonic()
        steps = [*map(int, told.only.split(","))] if told.only else [*range(told.steps)]
        lived = live(seed, steps, checks, told.without.split(","), told.turn_on, weights)
        done.update(lived.done)
        refused |= lived.refused
        found = Counter(one.check for one in lived.differences)
        for kind in {one.kind for one in lived.differences}:
            kinds.setdefault(kind, []).append(seed)
        took = time.monotonic() - start
        print(f"seed {seed} ({lived.kind}), {took:.1f} s: {dict(found) or 'agrees'}", flush=True)
        if lived.differences:
            wrong += 1
            _tell(
                shrink(lived, told.without.split(","), told.turn_on, weights)
                if told.shrink
                else lived,
                whole=told.shrink or told.verbose,
            )
        elif told.verbose:
            _tell(lived, whole=True)
    print(f"{told.lives} lives, {wrong} with differences")
    for kind, seeds in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"  {len(seeds):4} lives, such as {seeds[:5]}: {kind}")
    if told.verbose:
        print("done:", dict(done.most_common()))
        print("refused:", *[f"{name}: {why}" for name, why in refused.items()], sep="\n  ")
    return wrong


def _tell(lived: Lived, *, whole: bool) -> None:
    if whole:
        for number, words in lived.steps:
            print(f"    {number}: {words}")
        print(f"    --only {','.join(str(number) for number, _ in lived.steps)}")
    firsts = {one.kind: one for one in reversed(lived.differences)}
    for one in lived.differences[:6] if whole else [*firsts.values()][::-1]:
        print(f"  ! {one.check} on {one.branch or 'main'}: {one.words}", flush=True)


if __name__ == "__main__":
    sys.exit(main() > 0)
