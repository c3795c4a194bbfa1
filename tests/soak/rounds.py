"""One round: a writer, readers beside it, and what they were told that was not so."""

import json
import pickle
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.remote.bucket import Bucket
from tests.soak.judge import wrong
from tests.soak.log import WriterLog
from tests.soak.reader import Told

__all__ = ["Found", "soak_round"]

_READ = "from tests.soak.reader import main; main()"
"""Unlike with ``-m``, what it pickles is of a module that others can import."""


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a round; ``facts`` are for people."""

    wrong: list[str]
    told: list[Told]
    log: WriterLog
    facts: str


def soak_round(
    folder: Path,
    seed: int,
    commits: int,
    *,
    stable: bool,
    bucket: Bucket | None = None,
    proxy: str | None = None,
) -> Found:
    """Write a table and read it meanwhile; return what was wrong.

    Parameters
    ----------
    folder : Path
        For logs, and for the table if it is in no bucket.
    seed : int
        Of what the writer does, and of what is asked.
    commits : int
        How many versions are written, or a few more.
    stable : bool
        Whether with stable row IDs.
    bucket : Bucket, optional
        Where the table is.
    proxy : str, optional
        Through which endpoint the bucket is read.
    """
    log, turns, out = folder / "log", folder / "turns", folder / "told"
    turns.touch()
    options = bucket.options if bucket else {}
    through = {**options, "aws_endpoint": proxy} if proxy else options
    uri = bucket.uri(f"soak-{seed}.lance") if bucket else str(folder / "soak.lance")
    name = "stable" if stable else "addresses"
    run = [sys.executable, "-m"]
    written = [uri, str(log), str(turns), str(seed), str(commits), name, json.dumps(options)]
    read = [uri, str(log), str(turns), str(seed), json.dumps(through), str(out)]
    with (
        subprocess.Popen([*run, "tests.soak.writer", *written]) as writer,
        subprocess.Popen([sys.executable, "-c", _READ, *read]) as reader,
    ):
        if writer.wait():
            reader.kill()
    if writer.returncode or reader.returncode:
        raise RuntimeError(f"seed {seed}: writer {writer.returncode}, reader {reader.returncode}")
    told, crashes = pickle.loads(out.read_bytes())  # what this very process asked for
    known = WriterLog(log, is_stable=stable)
    errors = Counter(one.error for one in told if one.error)
    spans = Counter(span.kind for span in known.spans)
    facts = f"{len(known.versions)} versions, {dict(spans)}, {len(told)} answers, {dict(errors)}"
    return Found([*crashes, *wrong(known, told)], told, known, facts)
