"""Change whole tables and ask everything: ``python -m tests.table_fuzzing --tables 5000``.

Each case is a stored table with one changed file, or its ledger with one. The questions go through
what users use: the library, its values, the tools for assistants, the views, the ledger, the
commands. Children ask them, some at a time; a child that dies or hangs is laid to the question that
it was at, and another one goes on behind that.

An answer is well, and so is a documented error. A failure is any other exception, a panic, a death,
ten seconds of work, or a minute, without an answer. So is an all-clear: a deep check that finds
nothing and a verify that says unmoved, of a latest version that pylance refuses to open or to scan
for its metadata.
"""

import argparse
import json
import os
import random
import select
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.format.samples import DATA
from tests.mutations import mutated, table_files

__all__ = ["Outcome", "fuzz_tables", "run"]

TABLES = (
    "0.10.18/life_cycle",
    "1.0.4/stable_row_ids",
    "8.0.1/deferred_remap",
    "14.0.2/bitmap_deletions",
    "14.0.2/branches",
    "14.0.2/data_overlay",
    "14.0.2/format_2_2",
    "14.0.2/index_types",
    "14.0.2/mem_wal",
    "14.0.2/rewritten_indices",
    "14.0.2/schema_changes",
    "14.0.2/spilled",
    "14.0.2/stable_row_ids",
)
ROOT = Path(__file__).parents[1]
MOST_SECONDS = 60
"""CPU time after which a question hangs; on a slow machine an interactive report takes 11 s."""

_MOST_WAITING = 6
CASES_OF_A_CHILD = 100
CHILD = ["-m", "tests.table_fuzzing"]
ALWAYS = ("check_deep", "verify", "pylance")
SOME = 8
"""How many other questions a case is asked."""

Ask = Callable[[Path, Path], object]


@dataclass(slots=True)
class Outcome:
    """What came of some cases."""

    cases: int = 0
    asked: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


# ------------------------------------------------------------------------------------ questions


def questions() -> dict[str, Ask]:
    """Return what is asked, by name; each gets the paths of a table and of its ledger."""
    import lance_explorer as lx
    from lance_explorer.inspect.catalogue import FRAMES, frame
    from lance_explorer.widgets.explorer import TABS

    def on(ask: Callable[[lx.Table], object]) -> Ask:
        return lambda path, _: ask(lx.open_table(path))

    def column(table: lx.Table) -> str:
        return str(table.latest.schema.names[0])

    def some_filter(table: lx.Table) -> str:
        return f"`{column(table)}` is not null"

    def over_versions(table: lx.Table) -> tuple[int, int]:
        kept = table.versions()["version"].to_list()
        return (kept[0], kept[-1]) if kept else (1, 1)

    def snapshots(table: lx.Table) -> None:
        for version in over_versions(table):
            each = table.at(version)
            _ = each.transaction, each.row_ids(), each.row_id_index(), each.fields, each.num_rows

    found: dict[str, Ask] = {
        "versions": on(lambda t: (t.versions(inherited=True), repr(t), t._repr_html_())),
        "log": on(lambda t: t.log()),
        "snapshots": on(snapshots),
        "check": on(lambda t: t.check()),
        "disk": on(lambda t: t.disk_usage()),
        "cleanup": on(lambda t: t.cleanup_preview(retain_versions=1)),
        "compaction": on(lambda t: t.compaction_preview()),
        "lineage": on(lambda t: (t.lineage().edges(), t.compaction_lineage(), t.derivations())),
        "changes": on(lambda t: t.changes(*over_versions(t)).summary()),
        "changed values": on(lambda t: t.changes(*over_versions(t)).to_polars()),
        "feed": on(lambda t: t.changes(*over_versions(t), mode="per_commit").to_polars()),
        "diff": on(lambda t: repr(t.diff(*over_versions(t)))),
        "merge": on(lambda t: [repr(t.merge_preview(branch)) for branch in t.branches]),
        "branches": on(lambda t: [lx.open_table(t.uri, branch).log() for branch in t.branches]),
        "tags": on(lambda t: [t.at(tag).head(2) for tag in t.tags]),
        "schema": on(lambda t: t.latest.schema),
        "read": on(lambda t: t.latest.read()),
        "head": on(lambda t: t.latest.head(3)),
        "scan": on(lambda t: t.latest.scan().head(2).collect()),
        "find": on(lambda t: t.find(some_filter(t)).to_polars()),
        "blame": on(lambda t: t.blame(some_filter(t)).to_polars()),
        "row": on(lambda t: t.row(0).history(values=True)),
        "follow": on(lambda t: t.follow([0, 1, 2])),
        "sql": on(lambda t: t.sql("select count(*) from versions")),
    }
    for name in FRAMES:
        found[f"frame {name}"] = on(lambda t, name=name: frame(t._view, name))  # type: ignore[misc]
    for name in TABS:
        found[f"view {name}"] = on(lambda t, name=name: _view(t, name))  # type: ignore[misc]
    found["report"] = on(_report)
    for name in (
        "tables",
        "versions",
        "changes",
        "row",
        "find",
        "blame",
        "disk",
        "check",
        "lineage",
    ):
        found[f"tool {name}"] = on(lambda t, name=name: _tool(t, name))  # type: ignore[misc]
    for line in (
        "log",
        "du",
        "check",
        "check --depth values",
        "show -1",
        "find WHERE",
        "row 0",
        "list",
    ):
        found[f"command {line}"] = lambda path, _, line=line: _command(path, line)  # type: ignore[misc]
    found["ledger record"] = lambda path, ledger: lx.Ledger(ledger).record(path)
    found["ledger tables"] = lambda _, ledger: lx.Ledger(ledger).tables()
    found["ledger open"] = lambda path, ledger: lx.open_table(path, ledger=lx.Ledger(ledger)).log()
    found["ledger forget"] = lambda path, ledger: lx.Ledger(ledger).forget(path.name, before=3)
    found["check_deep"] = on(lambda t: t.check(depth="deep")["code"].to_list())
    found["verify"] = on(lambda t: lx.verify(lx.lock(t.latest)).status)
    found["pylance"] = _pylance
    return found


def _view(table: Any, name: str) -> None:
    """Ask a view of the explorer what the browser asks without arguments."""
    from lance_explorer.widgets.explorer import TABS
    from lance_explorer.widgets.parts import parts_of
    from lance_explorer.widgets.state import ExplorerState

    state = ExplorerState(version=table._view.latest_version)
    with parts_of(lambda data, buffers: None):
        view = TABS[name].make(table, state=state)
    try:
        for kind in view._methods:
            if kind not in ("state", "go", "look"):
                with suppress(KeyError):  # it needs arguments
                    _without_arguments(view, kind)
        view.rest()
    finally:
        view.close()


def _without_arguments(view: Any, kind: str) -> None:
    try:
        view.ask(kind)
    except KeyError as error:
        frames = traceback.extract_tb(error.__traceback__)
        if frames[-1].name != "__getitem__" or not frames[-1].filename.endswith("widgets/view.py"):
            raise RuntimeError(f"view {kind}: {traceback.format_exc(limit=-3)}") from error
        raise


def _report(table: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table.report(Path(folder, "report.html"), interactive=True)


def _tool(table: Any, name: str) -> None:
    from lance_explorer.answers.assistant import assistant_json
    from lance_explorer.cli.assistant_tools import _Tools

    tools = _Tools([table])
    where = f"`{table.latest.schema.names[0]}` is not null" if name in ("find", "blame") else ""
    given: dict[str, tuple[Any, ...]] = {
        "changes": ("1",),
        "row": (0,),
        "find": (where,),
        "blame": (where,),
        "lineage": (0,),
    }
    assistant_json(getattr(tools, name)(*given.get(name, ())))


def _command(path: Path, line: str) -> None:
    from click.testing import CliRunner

    from lance_explorer.cli import main

    name, *rest = line.split()
    rest = ["true" if word == "WHERE" else word for word in rest]
    if name == "list":
        name, rest = "du", ["--json"]
    result = CliRunner().invoke(main, [name, str(path), *rest])
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        raise error


def _pylance(path: Path, _: Path) -> str:
    import lance

    dataset = lance.dataset(str(path))
    _ = dataset.schema
    dataset.to_table()
    return "read"


# ---------------------------------------------------------------------------------------- child


def _child(seed: int, first: int, stop: int, after: str) -> None:
    """Ask the cases from ``first`` on; in the first of them, only what comes after a question."""
    import lance_explorer as lx

    warnings.simplefilter("ignore")
    asks = questions()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["LANCE_EXPLORER_CACHE"] = "off"
        baselines: dict[str, list[str]] = {}
        for number in range(first, stop):
            chance = random.Random(f"{seed} {number}")
            name = chance.choice(TABLES)
            table = Path(folder, Path(name).name + ".lance")
            ledger = Path(folder, "ledger")
            for path in (table, ledger):
                shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(DATA / f"{name}.lance", table)
            with suppress(lx.LanceExplorerError):
                lx.Ledger(ledger).record(table)
            if name not in baselines:
                baselines[name] = lx.open_table(table).check(depth="deep")["code"].to_list()
            is_ledger = chance.random() < 0.08
            files = table_files(ledger if is_ledger else table)
            by_folder: dict[str, list[Path]] = {}
            for file in files:
                by_folder.setdefault(file.parent.name, []).append(file)
            weights = [8 if folder_ == "_versions" else 1 for folder_ in by_folder]
            file = chance.choice(chance.choices([*by_folder.values()], weights)[0])
            if file.suffix == ".manifest" and chance.random() < 0.6:  # the latest
                named = [each for each in file.parent.glob("*.manifest") if each.stem.isdecimal()]
                named.sort(key=lambda each: int(each.stem))
                file = [file, *named][-1] if len(file.stem) < 20 else [*named, file][0]
            words, data = mutated(chance, file, chance.choice(files).read_bytes())
            file.write_bytes(data)
            told = f"{name} {file.relative_to(folder)}: {words}"
            _say(case=number, what=told, file=file.relative_to(folder).parts[1])
            groups: dict[str, list[str]] = {}
            for ask in asks:
                if ask not in ALWAYS:
                    groups.setdefault(ask.split()[0], []).append(ask)
            some = chance.sample([*groups.values(), groups["view"], groups["frame"]], SOME)
            chosen = [*dict.fromkeys(chance.choice(group) for group in some), *ALWAYS]
            if is_ledger:
                chosen = [ask for ask in asks if ask.startswith("ledger")]
            if number == first and after:
                chosen = chosen[chosen.index(after) + 1 :]
            for ask in chosen:
                _say(ask=ask)
                _say(**_asked(asks[ask], ask, table, ledger, baselines[name]))


def _asked(ask: Ask, name: str, table: Path, ledger: Path, baseline: list[str]) -> dict[str, Any]:
    from lance_explorer.errors import LanceExplorerError

    try:
        answer = ask(table, ledger)
    except LanceExplorerError as error:
        return {"ended": type(error).__name__}
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - a panic is none of Exception
        text = "".join(traceback.format_exception(error, limit=-6))[-3000:]
        return {"ended": f"FAILED {type(error).__name__}", "trace": text}
    if name == "check_deep":
        assert isinstance(answer, list)
        more = Counter(answer) - Counter(baseline)
        return {"ended": "found" if more else "nothing"}
    return {"ended": str(answer) if name in ALWAYS else "answered"}


def _say(**words: Any) -> None:
    print(json.dumps(words), file=sys.__stdout__, flush=True)


# --------------------------------------------------------------------------------------- parent


def fuzz_tables(cases: int, seed: int, first: int = 0, progress: bool = False) -> Outcome:
    """Run some cases in children; the same ones for the same seed."""
    outcome, number, after = Outcome(), first, ""
    stop = first + cases
    shown, ended = 0, dict[str, str]()
    while number < stop:
        until = min(number - number % CASES_OF_A_CHILD + CASES_OF_A_CHILD, stop)
        case: dict[str, Any] = {"case": number}
        asking = ""
        for words in _lines(seed, number, until, after):
            if "case" in words:
                if words["case"] != number or not after:
                    _judge(outcome, case, ended)
                    ended = {}
                case, number, asking = words, words["case"], ""
                after = ""
            elif "ask" in words:
                asking = words["ask"]
            elif "ended" in words:
                _note(outcome, case, asking, words)
                ended[asking] = words["ended"]
                asking = ""
            else:
                how = words["died"]
                if not asking:
                    outcome.failures.append(f"case {number}: a child {how} outside a question")
                    number += 1
                else:
                    _note(outcome, case, asking, {"ended": f"FAILED {how}", "trace": ""})
                    ended[asking], after = f"FAILED {how}", asking
                break
        else:
            number, after = until, ""
        if progress:
            for failure in outcome.failures[shown:]:
                print(f"\n{failure}", flush=True)
            shown = len(outcome.failures)
    _judge(outcome, case, ended)
    return outcome


def _lines(seed: int, first: int, stop: int, after: str) -> Iterator[dict[str, Any]]:
    """Yield what a child says; at last how it died, if it did."""
    command = [sys.executable, *CHILD, "--child"]
    command += [str(seed), str(first), str(stop), after]
    with tempfile.TemporaryDirectory() as cache:
        env = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "XDG_CACHE_HOME": cache,
            "RUST_BACKTRACE": "0",
        }
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env=env,
            text=False,
        ) as child:
            assert child.stdout is not None
            waiting, begun, cpu = b"", time.monotonic(), 0.0
            limit = 12 * MOST_SECONDS  # it begins with imports
            while True:
                ready, _, _ = select.select([child.stdout], [], [], 1)
                if not ready:
                    idle, worked = time.monotonic() - begun, _cpu_seconds(child.pid) - cpu
                    if worked < limit and idle < _MOST_WAITING * limit:  # the machine may be busy
                        continue
                    child.kill()
                    yield {"died": f"hung for {idle:.0f} s, of which it worked {worked:.0f} s"}
                    return
                some = os.read(child.stdout.fileno(), 1 << 16)
                if not some:
                    break
                *lines, waiting = (waiting + some).split(b"\n")
                for line in lines:
                    words = json.loads(line)
                    begun, cpu = time.monotonic(), _cpu_seconds(child.pid)
                    limit = MOST_SECONDS if "ask" in words else 12 * MOST_SECONDS
                    yield words
            code = child.wait()
            if code:
                yield {"died": f"died with {code}"}


def _cpu_seconds(process: int) -> float:
    """Return the time that a process has worked, as far as the system tells."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _note(outcome: Outcome, case: dict[str, Any], ask: str, words: dict[str, Any]) -> None:
    outcome.asked += 1
    ended = words["ended"]
    group = ask.split(maxsplit=1)[0]
    outcome.endings[f"{group}: {ended}"] += 1
    if ended.startswith("FAILED") and ask != "pylance":
        outcome.failures.append(
            f"case {case['case']} ({case.get('what')}), asked {ask}: {ended}\n{words.get('trace')}"
        )


def _judge(outcome: Outcome, case: dict[str, Any], ended: dict[str, str]) -> None:
    """Note a case as done; an all-clear on what pylance refuses is a failure."""
    if not ended:
        return
    outcome.cases += 1
    is_refused = ended.get("pylance", "read") != "read"
    is_clear = ended.get("check_deep") == "nothing" and ended.get("verify") == "unmoved"
    if is_refused and is_clear and case.get("file") != "data":
        outcome.failures.append(
            f"case {case['case']} ({case.get('what')}): all clear, and pylance: {ended['pylance']}"
        )


def main() -> int:
    """Run from the command line; return the exit status."""
    if sys.argv[1:2] == ["--child"]:
        seed, first, stop, after = [*sys.argv[2:], ""][:4]
        _child(int(seed), int(first), int(stop), after)
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    return run(options.tables, options.seed, options.first)


def run(cases: int, seed: int, first: int = 0) -> int:
    """Run some cases and print what came of them; return the exit status."""
    print(f"{cases:,} tables with --seed {seed}", flush=True)
    outcome = fuzz_tables(cases, seed, first, progress=True)
    for ending, count in sorted(outcome.endings.items()):
        print(f"{count:>9,}  {ending}")
    print(
        f"{outcome.cases:,} tables, {outcome.asked:,} questions, {len(outcome.failures)} failures"
    )
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
