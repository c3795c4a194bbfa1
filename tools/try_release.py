"""Use the installed package as its user would, from a folder that has nothing of the repository.

``python tools/run_tests.py release`` runs it in an empty environment, by the Python there.
"""

import json
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
from importlib.metadata import metadata, version
from importlib.util import find_spec
from pathlib import Path

BIN = Path(sys.executable).parent


def main() -> None:
    """Make a table, ask it, write its pages, and open its explorer in a browser's place."""
    import lance
    import pyarrow as pa

    import lance_explorer as lx

    where = Path(lx.__file__).resolve()
    assert where.is_relative_to(Path(sys.prefix).resolve()), f"imported from {where}"
    assert not shutil.which("node"), "node is to be seen"
    assert not shutil.which("cc"), "a compiler is to be seen"
    assert metadata("lance-explorer")["License-Expression"] == "Apache-2.0"
    assert (where.parent / "py.typed").exists()
    assert len([*(where.parent / "notebooks").glob("*.ipynb")]) > 8
    assert find_spec("pyspark_lance_explorer"), "Spark would not find its data source"
    for file in ("etc/jupyter/jupyter_server_config.d", "share/jupyter/labextensions"):
        assert [*(Path(sys.prefix) / file).iterdir()], f"nothing in {file}"

    table = lx.open_table(lx.demo.make_photos("photos.lance"))
    assert len(table.versions()) == table.latest.version
    assert table.find("photo_id = 42").to_polars()["_rowid"].to_list()
    assert table.explore() is not None
    lance.write_dataset(pa.table({"id": [1, 2]}), "small.lance")
    for page in (
        table.report("report.html"),
        table.diff(8, 45).report("review.html"),
        lx.open_table("small.lance").report("explorer.html", interactive=True),
    ):
        assert page.stat().st_size > 100_000

    assert version("lance-explorer") in command("--version")
    assert "Did you mean 'diff'?" in command("dif", ends_with=2)
    assert "1 row found" in command("find", "photos.lance", "photo_id = 42")
    numbers = json.loads(command("metrics", "photos.lance", "--format", "json").splitlines()[0])
    assert numbers
    serves("photos.lance")


def command(*arguments: str, ends_with: int = 0) -> str:
    """Return what the installed command prints."""
    asked = [str(BIN / "lance-explorer"), *arguments]
    ran = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert ran.returncode == ends_with, ran.stderr
    return ran.stdout + ran.stderr


def serves(table: str) -> None:
    """Open the explorer for a browser, and fetch its page."""
    asked = [str(BIN / "lance-explorer"), "open", table, "--no-browser"]
    server = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert server.stdout is not None
        for line in server.stdout:
            if found := re.search(r"http://\S+", line):
                page = urllib.request.urlopen(found[0]).read().decode()
                files = re.findall(r'(?:src|href)="(\w+\.(?:js|css)[^"]*)"', page)
                for file in files:
                    assert urllib.request.urlopen(urllib.parse.urljoin(found[0], file)).read()
                assert len(files) > 1
                return
        raise AssertionError("no address was printed")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
