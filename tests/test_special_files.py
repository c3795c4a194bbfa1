"""Pipes, sockets, devices and absurd sizes in place of any file: told by name, never waited for."""

import itertools
import os
import shutil
import socket
import sys
from collections.abc import Callable
from contextlib import chdir, suppress
from pathlib import Path

import pytest

import lance_explorer as lx
from lance_explorer.errors import (
    CorruptFileError,
    LanceExplorerError,
    StorageError,
    UnsupportedFeatureError,
)
from tests.format.samples import DATA
from tests.fuzzing import _metadata, _questions

TABLES = ["14.0.2/stable_row_ids", "14.0.2/bitmap_deletions", "8.0.1/life_cycle", "14.0.2/branches"]


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")  # a link that leads out of the table, which is refused as such


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server, chdir(path.parent):
        server.bind("s")
        Path("s").rename(path.name)


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


MAKERS: list[Callable[[Path], None]] = [pipe, device, unix_socket, huge]


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_what_is_no_file_is_told_by_name(tmp_path, name):
    path = Path(shutil.copytree(DATA / f"{name}.lance", tmp_path / "t.lance"))
    files = files_read(path)
    some = files[:: max(len(files) // 4, 1)]
    untold = []
    for file, make in zip(some, itertools.cycle(MAKERS), strict=False):
        file.rename(tmp_path / "away")
        make(file)
        said = everything_said(path)
        if file.name not in said:
            untold.append(str(file.relative_to(path)))
        file.unlink()
        (tmp_path / "away").rename(file)
    assert untold == []


def files_read(path: Path) -> list[Path]:
    """Return the files of metadata that are read when everything is asked."""
    opened = set[str]()

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            opened.add(str(arguments[0]))

    sys.addaudithook(note)
    everything_said(path)
    return [file for file in _metadata(path) if str(file) in opened]


def everything_said(path: Path) -> str:
    """Ask a table everything; return its findings and what it refused with."""
    said = []
    for branch in (None, *[ref.name for ref in path.glob("tree/*")]):
        try:
            table = lx.open_table(path, branch)
            versions = table.versions()["version"].to_list()
        except LanceExplorerError as error:
            said.append(str(error))
            continue
        for ask in _questions(table, versions):
            with suppress(lx.errors.NotFoundError):
                try:
                    ask()
                except LanceExplorerError as error:
                    said.append(str(error))
        said += table.inspect.findings()["statement"].to_list()
        said += [str(p) for p in table.inspect.all_deletions()["problem"]]
        said += table.inspect.storage()["reason"].unique().to_list()  # of other branches, too
    return "\n".join(said)


@pytest.mark.parametrize("make", MAKERS)
def test_a_manifest_that_is_no_file_is_a_finding_and_the_others_show(tmp_path, make):
    path = Path(shutil.copytree(DATA / "14.0.2/stable_row_ids.lance", tmp_path / "t.lance"))
    versions = lx.open_table(path).versions()["version"].to_list()
    second = sorted((path / "_versions").glob("*.manifest"))[-2]
    second.unlink()
    make(second)
    table = lx.open_table(path)
    assert table.versions()["version"].to_list() == [v for v in versions if v != 2]
    assert table.inspect.findings().select("code", "first_version").rows() == [
        ("unreadable_manifest", 2)
    ]
    assert second.name in table.inspect.findings()["statement"].item()
    refused = UnsupportedFeatureError if make is device else CorruptFileError
    with pytest.raises(refused, match=second.name):
        table.at(2)


@pytest.mark.parametrize("make", MAKERS[:3])
@pytest.mark.parametrize("kind", ["data", "deletion", "manifest"])
def test_values_in_what_is_no_file_are_refused_by_name(tmp_path, kind, make):
    path = Path(shutil.copytree(DATA / "14.0.2/stable_row_ids.lance", tmp_path / "t.lance"))
    table = lx.open_table(path)
    places = {
        "data": f"data/{table.inspect.data_files()['path'][0].removeprefix('data/')}",
        "deletion": table.inspect.deletions()["path"][0],
        "manifest": table._view.listing.versions[-1].path,
    }
    place = path / places[kind]
    latest = table.latest
    place.unlink()
    make(place)
    if make is device and kind != "manifest":
        with pytest.raises(
            UnsupportedFeatureError, match=f"{place.name}.* a link to a place outside"
        ):
            latest.read()
    else:
        with pytest.raises(StorageError, match=f"{place.name} is not a file"):
            latest.read()


def test_what_is_no_file_and_not_used_is_in_nobodys_way(tmp_path):
    path = Path(shutil.copytree(DATA / "14.0.2/stable_row_ids.lance", tmp_path / "t.lance"))
    pipe(path / "data" / "other.lance")
    assert lx.open_table(path).latest.read().height == lx.open_table(path).latest.num_rows
