"""Random lives with one random damage each: what ``check`` says, beside what pylance reads.

``python -m tests.disk.seeded_damage --lives 100 --seed 1``; with ``--recover`` the plan of recovery
is carried out, and pylance reads what it promised; with ``--whole`` nothing is damaged, and nothing
may be found. A damage after which pylance reads
another table than before has to be a finding that names the file; one after which it reads the same
may be one. Values that were changed and can still be read are found where something repeats them.
"""

import argparse
import hashlib
import json
import multiprocessing
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import lance
import polars as pl
import pyarrow as pa
from lance.query import MatchQuery

import lance_explorer as lx
from lance_explorer.plans.plan import Plan

__all__ = [
    "DAMAGES",
    "Damaged",
    "damaged",
    "main",
    "wrong_about",
    "wrong_about_recovery",
    "wrong_about_whole",
]

_PATIENCE = 60
"""Seconds that pylance has to read a table."""


class Damaged(NamedTuple):
    """A table and the file of it that was damaged."""

    path: Path
    file: str
    how: str
    before: dict[str, Any]


def _gone(file: Path, _: random.Random) -> None:
    file.unlink()


def _empty(file: Path, _: random.Random) -> None:
    file.write_bytes(b"")


def _cut(file: Path, chance: random.Random) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: chance.randrange(len(data))])


def _zeros_at_end(file: Path, chance: random.Random) -> None:
    data = file.read_bytes()
    count = chance.randint(1, len(data))
    file.write_bytes(data[:-count] + bytes(count))


def _flipped(file: Path, chance: random.Random) -> None:
    data = bytearray(file.read_bytes())
    begin = chance.randrange(len(data))
    for place in range(begin, min(begin + chance.choice([1, 8, 200]), len(data))):
        data[place] ^= chance.randint(1, 255)
    file.write_bytes(data)


def _of_another(file: Path, chance: random.Random) -> None:
    others = [one for one in file.parent.iterdir() if one != file and one.suffix == file.suffix]
    file.write_bytes(chance.choice(others).read_bytes() if others else b"another file")


DAMAGES: tuple[Callable[[Path, random.Random], None], ...] = (
    *(_gone, _empty, _cut, _zeros_at_end, _flipped, _of_another),
)


def _half_copied(path: Path, chance: random.Random) -> str:
    """Remove the last files, as a copy does that stops."""
    files = sorted([one for one in path.rglob("*") if one.is_file()])
    begin = chance.randrange(len(files))
    for file in files[begin:]:
        file.unlink()
    return str(files[begin].relative_to(path))


def _newest_zeroed(path: Path, _: random.Random) -> str:
    """Fill the files of the latest commit with zeros, as a power loss may."""
    manifests = sorted(path.glob("_versions/*.manifest"))
    newest = [manifests[0]] + [
        max(path.glob(folder), key=lambda file: file.stat().st_mtime_ns)
        for folder in ("data/*.lance", "_transactions/*.txn")
    ]
    for file in newest:
        file.write_bytes(bytes(file.stat().st_size))
    return str(manifests[0].relative_to(path))


def _index_of_before(path: Path, _: random.Random) -> str | None:
    """Give the newest index the files of one that was built before."""
    folders = sorted(path.glob("_indices/*"), key=lambda folder: folder.stat().st_mtime_ns)
    for new in reversed(folders):
        names = {file.name for file in new.iterdir()}
        for old in folders[: folders.index(new)]:
            if names and {file.name for file in old.iterdir()} == names:
                for name in sorted(names):
                    (new / name).write_bytes((old / name).read_bytes())
                return str((new / min(names)).relative_to(path))
    return None


DAMAGES_OF_MANY: tuple[Callable[[Path, random.Random], str | None], ...] = (
    *(_half_copied, _newest_zeroed, _index_of_before),
)


def damaged(folder: Path, seed: int) -> Damaged:
    """Let a table live, and damage one of its files, or several."""
    chance = random.Random(seed)
    path = folder / "t.lance"
    live(path, chance)
    before = read_apart(path)
    if chance.random() < 0.25:
        several = chance.choice(DAMAGES_OF_MANY)
        first = several(path, chance)
        if first is not None:
            return Damaged(path, first, several.__name__.strip("_"), before)
    kinds = {
        "data": [*path.glob("data/*.lance")],
        "_deletions": [*path.glob("_deletions/*")],
        "_versions": [*path.glob("_versions/*.manifest")],
        "_indices": [*path.glob("_indices/*/*")],
        "blob": [*path.glob("data/*/*.blob")],
        "_transactions": [*path.glob("_transactions/*")],
    }
    kind = chance.choice([name for name, files in kinds.items() if files for _ in range(3)])
    file = chance.choice(sorted(kinds[kind]))
    how = chance.choice(DAMAGES)
    how(file, chance)
    return Damaged(path, str(file.relative_to(path)), how.__name__.strip("_"), before)


def live(path: Path, chance: random.Random) -> None:
    """Let a table live: commits of several kinds, with indices of several."""
    number, width = 0, 4
    file_format: Any = chance.choice(["2.0", "2.1", "2.2"])
    has_blobs = file_format == "2.2" and chance.random() < 0.5
    has_vectors, has_words = chance.random() < 0.4, chance.random() < 0.4

    def rows(count: int) -> pa.Table:
        nonlocal number
        ids = [*range(number, number + count)]
        number += count
        table = pa.table({"id": ids, "text": [f"text {one} word{one} " * 9 for one in ids]})
        if has_vectors:
            parts = [float((7 * one + place) % 13 + 1) for one in ids for place in range(width)]
            vectors = pa.FixedSizeListArray.from_arrays(pa.array(parts, pa.float32()), width)
            table = table.append_column("vector", vectors)
        if has_blobs:
            payloads = lance.blob_array([bytes([one % 250]) * (90_000 * (one % 3)) for one in ids])
            table = table.append_column(lance.blob_field("image"), payloads)
        return table

    lance.write_dataset(
        rows(40),
        str(path),
        max_rows_per_file=20,
        data_storage_version=file_format,
        enable_stable_row_ids=chance.random() < 0.5,
    )
    if chance.random() < 0.7:
        kind: Any = chance.choice(["BTREE", "BITMAP", "ZONEMAP"])
        lance.dataset(str(path)).create_scalar_index("id", kind)
    if has_words:
        lance.dataset(str(path)).create_scalar_index("text", "INVERTED")
    if has_vectors:
        lance.dataset(str(path)).create_index("vector", "IVF_FLAT", num_partitions=1)
    for _ in range(chance.randint(2, 6)):
        dataset = lance.dataset(str(path))
        match chance.choice(["append", "delete", "update", "compact", "index"]):
            case "append":
                lance.write_dataset(rows(15), str(path), mode="append")
            case "delete":
                dataset.delete(f"id % 7 = {chance.randrange(7)}")
            case "update" if not has_blobs:  # pylance writes none anew
                dataset.update({"text": f"'new {number}'"}, where=f"id % 5 = {chance.randrange(5)}")
            case "compact":
                dataset.optimize.compact_files()
            case "index":
                dataset.optimize.optimize_indices()


def read_apart(path: Path) -> dict[str, Any]:
    """Return what pylance reads of the latest version, by a scan and by filters; or how it fails.

    It reads in another process, which damage may end.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_read, args=(str(path), theirs))
    process.start()
    theirs.close()
    try:
        told: dict[str, Any] = json.loads(ours.recv()) if ours.poll(_PATIENCE) else {"hangs": True}
    except EOFError:
        told = {"ended": True}
    process.kill()
    process.join()
    return told


def _read(path: str, line: Any) -> None:
    told: dict[str, Any] = {}
    try:
        dataset = lance.dataset(path)
        rows = dataset.to_table(with_row_id=True, blob_handling="all_binary").sort_by("id")
        ids = rows["_rowid"].to_pylist() if dataset.has_stable_row_ids else []
        plain = [
            {
                name: hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value
                for name, value in row.items()
            }
            for row in rows.drop_columns("_rowid").to_pylist()
        ]
        told = {"rows": plain, "version": dataset.version}
        told["row_ids"] = dict(zip(map(str, rows["id"].to_pylist()), ids, strict=False))
        found = [
            dataset.scanner(filter=f"id = {one}", columns=["id"]).to_table()["id"].to_pylist()
            for one in (0, 7, 21, 39, 45)
        ]
        told["found"] = found
        names = {one["name"] for one in dataset.list_indices()}
        if "text_idx" in names:
            told["words"] = [
                sorted(
                    dataset.scanner(
                        columns=["id", "_score"], full_text_query=MatchQuery(word, "text")
                    )
                    .to_table()["id"]
                    .to_pylist()
                )
                for word in ("word7", "word41", "new")
            ]
        if "vector_idx" in names:
            nearest = {"column": "vector", "q": [3.0, 4.0, 5.0, 6.0], "k": 5}
            near = dataset.scanner(columns=["id", "_distance"], nearest=nearest).to_table()
            told["near"] = sorted(near["_distance"].to_pylist())
    except BaseException as error:  # noqa: BLE001 - a panic is none of Exception
        told["error"] = str(error)[:200]
    line.send(json.dumps(told))


def wrong_about(case: Damaged) -> str | None:
    """Return what is wrong about what is said of a damaged table; None if nothing is."""
    after = read_apart(case.path)
    name = case.file.rpartition("/")[2]
    try:
        table = lx.open_table(case.path)
        found = table.check(depth="values")
    except lx.LanceExplorerError as error:
        return None if name in str(error) else _wrong_refusal(case, error)
    seen = found.filter(~found["code"].is_in(["not_checked"]))
    texts = [
        " ".join([str(line[key]) for key in ("statement", "subject_path", "consequence", "remedy")])
        for line in seen.iter_rows(named=True)
    ]
    folder = case.file.split("/")[-2]
    is_named = any(name in text or folder in text for text in texts)
    if after == case.before or is_named or len(seen.filter(seen["severity"] == "error")):
        return _false_loss(case, after, table)
    still_decodes = case.how in ("flipped", "zeros_at_end", "of_another") and "error" not in after
    is_alone = case.file.startswith(("data/", "_deletions/"))
    if still_decodes and is_alone and set(after) == set(case.before):
        return None  # nothing that would tell stands beside them
    said = "; ".join(texts) or "nothing"
    return f"pylance reads {_short(after)}, not {_short(case.before)}; check says: {said[:500]}"


def _wrong_refusal(case: Damaged, error: lx.LanceExplorerError) -> str | None:
    """Return what is wrong about how a table is refused; None if nothing is."""
    is_said = "no kept version" in str(error)
    if "lx.salvage(" in str(error):  # no manifest is left
        left = {one.path for one in lx.salvage(case.path).files}
        is_said = left == {
            str(file.relative_to(case.path)) for file in case.path.glob("data/*.lance")
        }
    return None if is_said else f"refused: {error}"


def wrong_about_whole(path: Path) -> str | None:
    """Return what is found of a table that nothing damaged, above what is worth knowing."""
    found = lx.open_table(path).check(depth="values", severity="warning")
    found = found.filter(found["code"] != "index_covers_nothing")  # zone maps after compactions
    lost = lx.open_table(path).damage("values")
    return f"{found['statement'].to_list()} {lost.sentence}" if len(found) or lost else None


def wrong_about_recovery(case: Damaged) -> str | None:
    """Carry out the plan that repairs a table; return what is wrong with what came of it."""
    try:
        plan = lx.open_table(case.path).plan_recovery("values")
    except lx.LanceExplorerError as error:
        return _wrong_refusal(case, error)
    broken = read_apart(case.path)
    if not plan:
        is_whole = broken == case.before or "error" not in broken
        is_told = is_whole or bool(plan.num_conflicts) or "backup" in plan.answer.text(200)
        return None if is_told else f"pylance reads {_short(broken)}, and no step is planned"
    shutil.copytree(case.path, case.path.parent / "broken.lance")
    script = plan.save(case.path.parent / "plan")
    run = subprocess.run(
        [sys.executable, str(script), str(case.path)], capture_output=True, text=True, check=False
    )
    if run.returncode:
        return f"{plan.sentence}: {run.stdout} {run.stderr[-500:]}"
    after = read_apart(case.path)
    if "error" in after or "rows" not in after:
        return f"{plan.sentence}: afterwards pylance reads {_short(after)}"
    left = lx.open_table(case.path)
    if left.damage("values").now:
        return f"{plan.sentence}: afterwards {left.damage('values').sentence}"
    known = {"missing_files", *_errors(case.path.parent / "broken.lance")}
    if new := _errors(case.path) - known:
        return f"{plan.sentence}: afterwards check finds {sorted(new)}"
    return _wrong_rows(case, plan, after, is_old="set_aside" in [one.kind for one in plan.steps])


def _errors(path: Path) -> set[str]:
    return {*lx.open_table(str(path)).check(depth="deep", severity="error")["code"]}


def _wrong_rows(case: Damaged, plan: Plan, after: dict[str, Any], *, is_old: bool) -> str | None:
    """Return which rows are neither as before nor said to be lost."""
    if is_old:
        return None  # the table is what it was a version before
    old = {row["id"]: row for row in case.before["rows"]}
    new = {row["id"]: row for row in after["rows"]}
    losses = plan.losses()
    said = dict(losses.group_by("kind").agg(pl.col("num_rows").sum()).iter_rows())
    gone, come = old.keys() - new.keys(), new.keys() - old.keys()
    other = [one for one in new.keys() & old.keys() if new[one] != old[one]]
    twice = len(after["rows"]) - len(new)
    was, is_now = case.before["row_ids"], after["row_ids"]
    moved = [one for one in was.keys() & is_now.keys() if was[one] != is_now[one]]
    if moved and not twice and "rows" not in said:
        return f"{plan.sentence}: {moved} have other row IDs"
    if len(gone) + len(come) + twice > said.get("rows", 0) or (
        not twice and len(other) > said.get("values", 0)
    ):
        return (
            f"{plan.sentence}: {sorted(gone)} are gone, {sorted(come)} are new, {other} are not as "
            f"before, {twice} stand twice; losses say {losses['statement'].to_list()}"
        )
    return None


def _false_loss(case: Damaged, after: dict[str, Any], table: lx.Table) -> str | None:
    """Tell of rows that are said to be lost, and that pylance still reads."""
    if after == case.before:
        lost = table.damage().num_lost
        return f"{lost} rows are said to be lost, and all can be read" if lost else None
    return None


def _short(told: dict[str, Any]) -> str:
    rows = {"rows": len(told["rows"])} if "rows" in told else {}
    return str({**told, **rows})[:300]


def main(arguments: list[str] | None = None) -> int:
    """Damage tables, and print what is wrong; return how often something was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--recover", action="store_true", help="carry out the plan of recovery")
    parser.add_argument("--whole", action="store_true", help="damage nothing")
    told = parser.parse_args(arguments)
    wrong = 0
    for seed in range(told.seed, told.seed + told.lives):
        folder = Path(tempfile.mkdtemp())
        if told.whole:
            live(folder / "t.lance", random.Random(seed))
            if (found := wrong_about_whole(folder / "t.lance")) is not None:
                wrong += 1
                print(f"seed {seed}: {found}", flush=True)
            shutil.rmtree(folder)
            continue
        case = damaged(folder, seed)
        found = (wrong_about_recovery if told.recover else wrong_about)(case)
        if found is not None:
            wrong += 1
            print(f"seed {seed}: {case.how} {case.file}: {found}", flush=True)
        shutil.rmtree(folder)
    print(f"{told.lives} lives, {wrong} wrong", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
