"""The command: what it prints, how it fails, and how it opens JupyterLab."""

import json
import os
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest
from click import Context
from click.testing import CliRunner, Result
from polars.testing import assert_frame_equal

import lance_explorer
import lance_explorer as lx
from lance_explorer.cli import main
from lance_explorer.table import open_table
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable

LIFE_CYCLE = str(DATA / "14.0.2" / "life_cycle.lance")
BRANCHES = str(DATA / "14.0.2" / "branches.lance")
PACKAGE = Path(lance_explorer.__file__).parent
ROOT = PACKAGE.parent


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


# ---------------------------------------------------------------------------------------- versions


def test_each_version_is_a_line_whatever_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    told, head, *lines = run("versions", LIFE_CYCLE).output.splitlines()
    assert told == f"{len(lines)} versions."
    operations = open_table(LIFE_CYCLE).versions()["operation"]
    assert head.split()[:3] == ["version", "timestamp", "operation"]
    assert [(line.split()[0], line.split()[3]) for line in lines] == [
        (str(version), operation) for version, operation in enumerate(operations, 1)
    ]


def test_every_version_is_printed_however_many(tmp_path):
    table = SyntheticTable(tmp_path)
    for _ in range(120):
        table.append()
    _, _, *lines = run("versions", str(tmp_path)).output.splitlines()
    assert [line.split()[0] for line in lines] == [str(version) for version in range(1, 121)]


def test_tags_and_messages_end_the_line(tmp_path):
    table = SyntheticTable(tmp_path).append().commit("append", note="the last rows")
    table.tag("gold").tag("best")
    output = run("versions", str(tmp_path)).output
    assert output.rstrip().endswith("  best, gold  the last rows")


def test_a_long_message_is_cut(tmp_path):
    SyntheticTable(tmp_path).append().commit("append", note="x" * 1_000_000)
    output = run("versions", str(tmp_path)).output
    assert output.rstrip().endswith("x...")
    assert len(output) < 10_000


def test_versions_of_a_branch_are_printed():
    assert "Clone" in run("versions", BRANCHES, "--branch", "dev/deep").output


@pytest.mark.parametrize(("uri", "branch"), [(LIFE_CYCLE, None), (BRANCHES, "dev/deep")])
def test_json_is_the_whole_frame(uri, branch):
    options = ["--branch", branch] if branch else []
    told = json.loads(run("versions", uri, "--json", *options).output)["sections"]["versions"]
    frame = pl.DataFrame(told["rows"], schema_overrides={"timestamp": pl.String})
    frame = frame.with_columns(pl.col("timestamp").str.to_datetime("%+", time_zone="UTC"))
    expected = open_table(uri, branch=branch).versions()
    assert_frame_equal(frame.cast(expected.schema), expected)


def test_json_of_a_table_that_cannot_be_read_has_no_rows(tmp_path):
    SyntheticTable(tmp_path).append().amend(magic=b"LANX")
    result = run("versions", str(tmp_path), "--json")
    assert result.exit_code == 0
    assert json.loads(result.output)["sections"]["versions"]["rows"] == []


def test_json_has_numbers_of_64_bits_to_the_last_digit(tmp_path):
    large = 2**63 + 7
    table = SyntheticTable(tmp_path).append().commit("append", read_version=large)
    told = json.loads(run("versions", str(tmp_path), "--json").output)["sections"]
    assert told["versions"]["rows"][-1]["read_version"] == large
    table.create_index("id_idx").state.indices[-1].dataset_version = large
    table.append()
    told = json.loads(run("diff", "--exit-code", str(tmp_path), "2", "4", "--json").output)
    [index] = told["sections"]["indices"]["rows"]
    assert index["dataset_version_after"] == large


def test_terminals_get_no_commands_from_files(tmp_path):
    table = SyntheticTable(tmp_path).append()
    table.commit("append", note="\x1b[31mred\n\u202eevil\x07").tag("\x1b]0;title\x07")
    output = run("versions", str(tmp_path)).output
    assert "".join(output.splitlines()).isprintable()
    assert r"\x1b" in output


def test_json_keeps_what_terminals_do_not_get(tmp_path):
    note = "\x1b[31mred\n\u202eevil\x07"
    SyntheticTable(tmp_path).append().commit("append", note=note)
    told = json.loads(run("versions", str(tmp_path), "--json").output)["sections"]
    assert told["versions"]["rows"][1]["message"] == note


# -------------------------------------------------------------------------------------------- diff


def test_a_diff_with_itself_ends_with_0():
    result = run("diff", "--exit-code", LIFE_CYCLE, "3", "3")
    assert result.exit_code == 0
    assert result.output.splitlines()[0] == "3 to 3: identical; rows: 15 unchanged."


def test_a_diff_that_finds_something_ends_with_1():
    result = run("diff", "--exit-code", LIFE_CYCLE, "1", "3")
    assert result.exit_code == 1
    assert result.output.splitlines()[0] == (
        "1 to 3: different fragments; rows: 6 inserted, 3 deleted, 9 unchanged."
    )


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("99", "version 99 never existed"),
        ("0", "version 0 never existed"),
        ("no such tag", "no version or tag is called 'no such tag'"),
        ("", "no version or tag is called ''"),
        ("nosuch@1", "no branch 'nosuch'"),
        ("main@99", "version 99 never existed"),
        ("-99", "there is no version -99"),
        ("1999-12-31T23:59", "no kept version is as old as 1999-12-31T23:59:00"),
        ("2026-02-30", "no version or tag is called '2026-02-30'"),
    ],
)
def test_a_version_that_is_not_there_ends_a_diff_with_2(version, message):
    result = run("diff", "--exit-code", LIFE_CYCLE, "1", version)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert result.stderr.startswith(f"Error: {message}")


@pytest.mark.parametrize("arguments", [["1"], ["1", "2", "3"]], ids=" ".join)
def test_arguments_that_are_no_two_versions_end_a_diff_with_2(arguments):
    result = run("diff", "--exit-code", LIFE_CYCLE, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: " in result.stderr


def test_a_diff_of_no_table_ends_with_2(tmp_path):
    (tmp_path / "file").touch()
    for uri in (tmp_path / "nowhere", tmp_path / "file", tmp_path):
        result = run("diff", "--exit-code", str(uri), "1", "2")
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert result.stderr.startswith(f"Error: no Lance table at {uri}")


def test_the_json_of_a_diff_has_all_its_parts():
    result = run("diff", "--exit-code", LIFE_CYCLE, "1", "3", "--json")
    told = json.loads(result.output)
    assert result.exit_code == 1
    sections = told["sections"]
    assert sections["identical"]["facts"] == {"is_identical": False}
    [rows] = sections["rows"]["rows"]
    assert (rows["inserted"], rows["deleted"]) == (6, 3)
    changes = [part["change"] for part in sections["fragments"]["rows"]]
    assert changes == ["changed", "changed", "added"]
    assert [sections[name]["rows"] for name in ("schema", "indices", "config")] == [[], [], []]


def test_versions_of_a_diff_may_be_tags_times_and_versions_of_branches(tmp_path):
    table = SyntheticTable(tmp_path).append().append()
    table.tag("gold")
    table.append()
    table.branch("dev")
    time = str(open_table(tmp_path).at(2).timestamp)
    for name in ("2", "gold", time, "main@2", "-2", "tag:gold"):
        assert run("diff", "--exit-code", str(tmp_path), name, "2").exit_code == 0, name
    assert run("diff", "--exit-code", str(tmp_path), "dev@3", "3").exit_code == 0


@pytest.mark.slow
def test_a_diff_of_content_is_about_values_alone(tmp_path):
    table = lance.write_dataset(pa.table({"id": [1, 2]}), tmp_path, max_rows_per_file=1)
    table.optimize.compact_files()
    latest = str(open_table(tmp_path).latest.version)
    assert run("diff", "--exit-code", str(tmp_path), "1", latest).exit_code == 1
    result = run("diff", "--exit-code", str(tmp_path), "1", latest, "--content", "--json")
    assert result.exit_code == 0
    told = json.loads(result.output)["sections"]["content"]["facts"]
    assert told["method"] == "multiset hash"
    assert run("diff", "--exit-code", str(tmp_path), "1", latest, "--content").output == (
        "Yes: both have the same rows, in any order and with any row IDs. Compared: "
        "all 2 rows of the first version with all 2 rows of the second.\n"
    )
    assert run("diff", "--exit-code", LIFE_CYCLE, "1", "3", "--content").exit_code == 1


def test_a_diff_of_rows_that_cannot_be_told_shows_the_rest(tmp_path):
    table = SyntheticTable(tmp_path).append()
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20)).append()
    result = run("diff", "--exit-code", str(tmp_path), "1", "2")
    assert result.exit_code == 1
    assert "which rows differ: rows of version 1 cannot be read: unknown" in result.output
    assert "added" in result.output
    told = json.loads(run("diff", "--exit-code", str(tmp_path), "1", "2", "--json").output)
    assert told["sections"]["rows"]["text"].startswith("rows of version 1 cannot be read")
    assert run("diff", "--exit-code", str(tmp_path), "1", "2", "--content").exit_code == 2


# -------------------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/nowhere"], "no Lance table at /nowhere: it has no _versions folder"),
        (["http://host/t"], "URIs that start with http:// are not supported"),
        ([BRANCHES, "--branch", "prod"], "no branch 'prod'"),
        (["/two\nlines"], r"no Lance table at /two\nlines"),
    ],
    ids=["no table", "no storage", "no branch", "two lines"],
)
def test_what_goes_wrong_is_one_line(arguments, message):
    result = run("versions", *arguments)
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: {message}")
    assert result.output.count("\n") == 1


def test_a_failure_of_storage_is_one_line(tmp_path):
    versions = tmp_path / "_versions"
    versions.symlink_to(versions)
    result = run("versions", str(tmp_path))
    assert (result.exit_code, result.output.count("\n")) == (1, 1)
    assert "Error: cannot list '_versions'" in result.output


def test_a_missing_argument_is_told_with_the_usage():
    result = run("versions")
    assert result.exit_code == 2
    assert "Usage: " in result.output


def test_the_version_is_that_of_the_package():
    assert lance_explorer.__version__ in run("--version").output


@pytest.mark.slow
def test_the_command_runs_in_a_process_of_its_own():
    program = "from lance_explorer.cli import main; main()"
    command = [sys.executable, "-c", program, "versions", "/nowhere"]
    process = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr == "Error: no Lance table at /nowhere: it has no _versions folder\n"


# ------------------------------------------------------------------------------------------ report


@pytest.mark.slow
@pytest.mark.parametrize(("uri", "branch"), [(LIFE_CYCLE, None), (BRANCHES, "dev/deep")])
def test_a_report_is_written_where_it_is_asked_for(tmp_path, uri, branch):
    target = tmp_path / "told.html"
    options = ["--branch", branch] if branch else []
    result = run("report", uri, "-o", str(target), *options)
    assert (result.exit_code, result.stdout) == (0, f"{target}\n")
    name = f"{Path(uri).name} (branch {branch})" if branch else Path(uri).name
    assert f"<title>{name}</title>" in target.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_report_is_written_into_the_folder_where_one_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("report", LIFE_CYCLE).stdout == "report.html\n"
    assert (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_an_interactive_report_is_the_explorer_up_to_a_size(tmp_path):
    target = tmp_path / "page.html"
    asked = ("report", LIFE_CYCLE, "--interactive", "-o", str(target))
    assert run(*asked).stdout == f"{target}\n"
    assert 'id="lx-recording"' in target.read_text()
    assert "needs more than 1,000 bytes" in run(*asked, "--max-bytes", "1000").stderr


def test_a_report_without_a_folder_to_be_in_is_one_line(tmp_path):
    result = run("report", LIFE_CYCLE, "-o", str(tmp_path / "nowhere" / "report.html"))
    assert result.exit_code == 1
    assert result.output.startswith("Error: there is no folder ")


# --------------------------------------------------------------------------------- lock, verify


@pytest.fixture
def locked(tmp_path) -> tuple[Path, Path]:
    """Return a table of three versions, and the lock of the second."""
    table: Any = lance.write_dataset(pa.table({"id": [1]}), tmp_path / "t.lance")
    table.insert(pa.table({"id": [2]}))
    table.insert(pa.table({"id": [3]}))
    table.tags.create("gold", 2)
    lock = tmp_path / "t.lock"
    assert run("lock", str(tmp_path / "t.lance"), "gold", "-o", str(lock)).output == f"{lock}\n"
    return tmp_path / "t.lance", lock


def test_a_lock_is_printed_or_written(locked):
    path, lock = locked
    text = lx.lock(open_table(path).at(2))
    assert lock.read_text(encoding="utf-8") == run("lock", str(path), "2").output == text
    assert run("lock", str(path), "-2").output == text
    assert run("lock", str(path)).output == lx.lock(open_table(path).latest)


def test_a_lock_of_no_version_is_one_line(locked, tmp_path):
    path, _ = locked
    result = run("lock", str(path), "9", "-o", str(tmp_path / "none.lock"))
    assert (result.exit_code, result.output.count("\n")) == (1, 1)
    assert not (tmp_path / "none.lock").exists()
    result = run("lock", str(path), "-o", str(tmp_path / "nowhere" / "t.lock"))
    assert result.output.startswith("Error: there is no folder ")


def test_versions_that_are_still_there_end_with_0(locked):
    path, lock = locked
    result = run("verify", str(lock), str(lock))
    assert result.exit_code == 0
    line = (
        f"{lock}: unmoved. Version 2 is still there, with its 2 data files; 1 version was "
        "committed since.\n"
    )
    assert result.output == 2 * line
    moved = path.rename(path.with_name("moved.lance"))
    assert run("verify", str(lock), "--table", str(moved)).exit_code == 0


def test_a_version_that_is_not_there_ends_with_1(locked, tmp_path):
    path, lock = locked
    latest = tmp_path / "latest.lock"
    run("lock", str(path), "-o", str(latest))
    lance.dataset(path).tags.delete("gold")
    assert run("verify", str(lock)).exit_code == 0
    lance.dataset(path).cleanup_old_versions(timedelta(0), delete_unverified=True)
    result = run("verify", str(lock), str(latest))
    assert result.exit_code == 1
    assert [line.split()[1] for line in result.output.splitlines()] == ["cleaned_up.", "unmoved."]


def test_what_cannot_be_verified_ends_with_2_and_the_others_are_told(locked, tmp_path):
    _, lock = locked
    (tmp_path / "no.lock").write_text("{")
    result = run("verify", str(tmp_path / "no.lock"), str(tmp_path / "none"), str(lock))
    assert result.exit_code == 2
    assert result.stdout.startswith(f"{lock}: unmoved.")
    first, second = result.stderr.splitlines()
    assert "no.lock is not a lock: it is not JSON" in first
    assert "there is no file" in second
    assert run("verify").exit_code == 2
    assert run("verify", str(lock), "--table", "http://host/t").exit_code == 2


def test_what_was_verified_is_a_line_of_json_for_each_file(locked):
    _, lock = locked
    lines = run("verify", str(lock), str(lock), "--json").output.splitlines()
    told = json.loads(lines[0])
    verified = lx.verify(lock)
    assert lines == [lines[0]] * 2
    assert told["answer"] == f"{lock}: unmoved. {verified.sentence}"
    assert told["sections"]["facts"]["facts"] == {
        "status": "unmoved",
        "ok": True,
        "uri": verified.uri,
    }
    rows = told["sections"]["checks"]["rows"]
    assert [row["check"] for row in rows] == verified.to_frame()["check"].to_list()


# ------------------------------------------------------------------------------------------ record


def test_what_was_recorded_is_a_line_for_each_table(tmp_path):
    SyntheticTable(tmp_path / "one.lance").append().append()
    SyntheticTable(tmp_path / "two.lance").append()
    uris = [str(tmp_path / "one.lance"), str(tmp_path / "two.lance")]
    arguments = ["record", *uris, "--ledger", str(tmp_path / "ledger")]
    first, second = run(*arguments), run(*arguments)
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert first.output.splitlines() == [
        f"{uris[0]}: 2 new versions, 1 to 2",
        f"{uris[1]}: 1 new version, 1",
    ]
    assert second.output.splitlines() == [f"{uri}: nothing new" for uri in uris]


def test_branches_are_recorded_on_the_line_of_their_table(tmp_path):
    output = run("record", BRANCHES, "--ledger", str(tmp_path / "ledger")).output
    assert len(output.splitlines()) == 1
    assert "; branch " in output


def test_all_tables_in_a_folder_are_recorded(tmp_path):
    for name in ("one", "two"):
        SyntheticTable(tmp_path / f"{name}.lance").append()
    result = run("record", str(tmp_path), "--ledger", str(tmp_path / "ledger"), "--json")
    told = [json.loads(line) for line in result.output.splitlines()]
    found = [(one["answer"], one["sections"]["branches"]["rows"]) for one in told]
    assert [(words.rpartition("/")[2], rows[0]["new_versions"]) for words, rows in found] == [
        ("one.lance: 1 new version, 1", 1),
        ("two.lance: 1 new version, 1", 1),
    ]


def test_a_table_that_cannot_be_recorded_ends_with_1_and_the_others_are(tmp_path):
    SyntheticTable(tmp_path / "one.lance").append()
    gone, one = str(tmp_path / "gone.lance"), str(tmp_path / "one.lance")
    ledger = str(tmp_path / "ledger")
    result = run("record", gone, one, "--ledger", ledger)
    assert result.exit_code == 1
    assert f"Error: {gone}: no Lance table at {gone}" in result.output
    assert f"{one}: 1 new version, 1" in result.output
    assert run("record", str(tmp_path / "ledger"), "--ledger", ledger).exit_code == 1


def test_a_command_to_record_that_is_not_understood_ends_with_2(tmp_path):
    assert run("record", LIFE_CYCLE).exit_code == 2
    assert run("record", "--ledger", str(tmp_path)).exit_code == 2
    assert run("record", LIFE_CYCLE, "--ledger", "ftp://somewhere").exit_code == 2


def test_recorded_versions_are_printed_with_the_others(tmp_path):
    SyntheticTable(tmp_path / "one.lance").append().append()
    uri, ledger = str(tmp_path / "one.lance"), str(tmp_path / "ledger")
    run("record", uri, "--ledger", ledger)
    max((tmp_path / "one.lance" / "_versions").glob("*.manifest")).unlink()
    _, _, first, second = run("versions", uri, "--ledger", ledger).output.splitlines()
    assert {first.split()[-1], second.split()[-1]} == {"ledger", "live"}
    assert run("diff", "--exit-code", uri, "1", "2", "--ledger", ledger).exit_code == 1


# --------------------------------------------------------------------------------------- lab


def test_without_jupyterlab_the_command_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("LANCE_EXPLORER_SAMPLES", str(tmp_path / "samples"))
    monkeypatch.setitem(sys.modules, "jupyterlab", None)  # what is None cannot be imported
    result = run("lab")
    message = "Error: JupyterLab is missing: pip install 'lance-explorer[lab]'\n"
    assert (result.exit_code, result.output) == (1, message)
    assert not (tmp_path / "samples").exists()


@pytest.fixture(scope="module")
def samples(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("samples")
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The package as it is installed, with its notebooks inside, and a JupyterLab that only tells.

    The real one would go on until somebody ends it.
    """
    site: Path = tmp_path_factory.mktemp("site")
    package = site / "lance_explorer"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    copy_notebooks(package)
    tell_arguments(site)
    return site


def copy_notebooks(folder: Path) -> None:
    (folder / "notebooks").mkdir(parents=True)
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        shutil.copy(notebook, folder / "notebooks")


def tell_arguments(site: Path) -> None:
    """Make a ``jupyterlab`` that prints what it is started with, and warns of itself."""
    (site / "jupyterlab").mkdir()
    (site / "jupyterlab" / "__init__.py").touch()
    (site / "jupyterlab" / "__main__.py").write_text(
        "import os, sys, warnings\n"
        "print(*sys.argv[1:], os.environ['LANCE_EXPLORER_SAMPLES'], sep='\\n')\n"
        "warnings.warn('old, says its author', DeprecationWarning)\n"
    )


def lab(
    folder: Path, samples: Path | None, *site: Path, options: tuple[str, ...] = ()
) -> list[str]:
    """Run ``lance-explorer lab`` in a folder; return the lines that it and JupyterLab print."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, site))}
    environment["LANCE_EXPLORER_SAMPLES"] = "" if samples is None else str(samples)
    command = [sys.executable, "-c", "from lance_explorer.cli import main; main()", "lab", *options]
    process = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=True
    )
    assert "old, says its author" not in process.stderr
    return process.stdout.splitlines()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.ipynb")}


@pytest.mark.slow
def test_lab_makes_the_sample_tables(tmp_path, site, samples):
    lines = lab(tmp_path, samples, site)
    assert lines[:4] == [
        f"sample table: {samples}/photos.lance",
        f"sample table: {samples}/photos_without_stable_row_ids.lance",
        f"sample table: {samples}/archive.lance",
        f"sample table: {samples}/documents.lance",
    ]
    assert all(len(open_table(path).versions()) > 36 for path in samples.glob("*.lance"))


@pytest.mark.slow
def test_lab_copies_the_notebooks_and_opens_the_first(tmp_path, site, samples):
    lines = lab(tmp_path, samples, site)
    copies = tmp_path / "lance_explorer_notebooks"
    assert lines[4] == "lance_explorer_notebooks/01_explore_a_table.ipynb"
    assert contents(copies) == contents(ROOT / "notebooks")


@pytest.mark.slow
def test_lab_makes_the_sample_tables_beside_the_notebooks_and_no_link(tmp_path, site):
    folder = tmp_path / "lance_explorer_notebooks" / "samples"
    (tmp_path / "earlier" / "photos.lance").mkdir(parents=True)
    folder.parent.mkdir()
    folder.symlink_to(tmp_path / "earlier")  # as earlier releases made it
    lines = lab(tmp_path, None, site)
    assert lines[0] == f"sample table: {folder}/photos.lance"
    assert Path(tmp_path, lines[-1]).resolve() == folder.resolve()
    assert not folder.is_symlink()
    assert [path.name for path in (tmp_path / "earlier").iterdir()] == ["photos.lance"]
    found = open_table(folder / "archive.lance").check()["code"].to_list()
    assert not {"opened_through_link", "branch_under_another_name"} & {*found}


@pytest.mark.slow
def test_lab_leaves_copies_alone(tmp_path, site, samples):
    copy = tmp_path / "lance_explorer_notebooks" / "01_explore_a_table.ipynb"
    copy.parent.mkdir()
    copy.write_text("mine")
    (copy.parent / "samples").mkdir()
    (copy.parent / "samples" / "mine.lance").touch()
    lab(tmp_path, samples, site)
    assert copy.read_text() == "mine"
    assert [path.name for path in (copy.parent / "samples").iterdir()] == ["mine.lance"]


@pytest.mark.slow
def test_lab_copies_into_the_folder_of_choice(tmp_path, site, samples):
    options = ("--folder", "some/where", "--no-browser")
    lines = lab(tmp_path, samples, site, options=options)
    assert lines[4:6] == ["some/where/01_explore_a_table.ipynb", "--no-browser"]
    assert (tmp_path / "some" / "where" / "01_explore_a_table.ipynb").exists()


def test_lab_without_a_folder_to_be_in_is_one_line(tmp_path, monkeypatch):
    tell_arguments(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "file").touch()
    monkeypatch.setenv("LANCE_EXPLORER_SAMPLES", str(tmp_path / "file" / "samples"))
    result = run("lab")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "Not a directory" in result.stderr


@pytest.mark.slow
def test_lab_of_a_checkout_opens_its_own_notebooks(tmp_path, samples):
    tell_arguments(tmp_path)
    checkout = tmp_path / "checkout"
    copy_notebooks(checkout)
    (checkout / "lance_explorer").symlink_to(PACKAGE)
    lines = lab(tmp_path, samples, tmp_path, checkout)
    assert lines[4] == str(checkout / "notebooks" / "01_explore_a_table.ipynb")
    assert not (tmp_path / "lance_explorer_notebooks").exists()


@pytest.mark.slow
def test_bases_elsewhere_are_read_where_it_is_allowed(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "files").mkdir()
    table = lance.write_dataset(
        pa.table({"id": [1, 2, 3]}),
        tmp_path / "tables" / "t.lance",
        initial_bases=[lance.DatasetBasePath(str(tmp_path / "files"), name="files")],
        target_bases=["files"],
    )
    table.delete("id = 2")
    uri, allow = str(tmp_path / "tables" / "t.lance"), f"--allow-base={tmp_path}/files"
    refused = run("diff", "--exit-code", uri, "1", "2", "--content")
    assert (refused.exit_code, "is not opened" in refused.output) == (2, True)
    assert run("diff", "--exit-code", uri, "1", "2", "--content", allow).exit_code == 1
    assert run("versions", uri, allow).exit_code == 0
    report = ("report", uri, "-o", str(tmp_path / "report.html"))
    assert [run(*report, *more).exit_code for more in ([], [allow])] == [0, 0]
    assert "allow_bases" in run("versions", uri, "--allow-base=file:/etc").output


def test_every_listed_command_is_in_the_module_that_is_named():
    context = Context(main)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        assert command.name == name


def test_the_help_lists_every_command_whole_at_80_columns():
    lines = CliRunner().invoke(main, ["--help"], terminal_width=80).output.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith("...") for line in lines[1:])
    listed = {line.split()[0] for line in lines if line.startswith("  ")}
    assert {*main.list_commands(Context(main))} <= listed


def test_a_command_that_is_almost_one_is_asked_back():
    told = CliRunner().invoke(main, ["cleanp"])
    assert told.exit_code == 2
    assert "No such command 'cleanp'. Did you mean 'cleanup'?" in told.output
    assert "Did you mean" not in CliRunner().invoke(main, ["xxyyzz"]).output
