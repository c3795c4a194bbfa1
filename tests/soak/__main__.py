"""Soak: ``python -m tests.soak --minutes 20``; round after round, until time is up."""

import argparse
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.remote.bucket import Bucket
from tests.remote.faults import faulty_proxy
from tests.soak.rounds import soak_round


def main() -> int:
    """Do rounds and print what was wrong; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long, in whole rounds")
    parser.add_argument("--seed", type=int, default=None, help="of the first round; then one more")
    parser.add_argument("--commits", type=int, default=150, help="of a round")
    parser.add_argument(
        "--bucket", action="store_true", help="in a bucket, one in ten requests fails"
    )
    asked = parser.parse_args()
    seed = time.time_ns() % 1_000_000 if asked.seed is None else asked.seed
    end, num_wrong = time.monotonic() + asked.minutes * 60, 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        bucket = proxy = None
        if asked.bucket:
            bucket = Bucket()
            stack.callback(bucket.stop)
            proxy = stack.enter_context(faulty_proxy(bucket.options["aws_endpoint"], seed))
        while time.monotonic() < end:
            place = folder / str(seed)
            place.mkdir()
            stable = seed % 2 == 0
            found = soak_round(
                place, seed, asked.commits, stable=stable, bucket=bucket, proxy=proxy
            )
            print(f"seed {seed}: {found.facts}", flush=True)
            for problem in found.wrong:
                print(f"  {problem}", flush=True)
            num_wrong += len(found.wrong)
            seed += 1
    print(f"{num_wrong} wrong", flush=True)
    return 1 if num_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
