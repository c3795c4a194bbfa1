"""Run the Python of a page, block after block, and write below each what it shows.

That is what the block prints, and the value of its last line, as in a notebook. A page is right if
running it changes nothing; ``python -m tools.docs.examples`` writes the pages anew.
"""

import ast
import io
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path

import polars as pl

from tools.docs.notebooks import ROOT, sample_folder

__all__ = ["pages_with_examples", "with_output"]

BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)```\n)?", re.MULTILINE | re.DOTALL
)


def pages_with_examples() -> list[Path]:
    """Return the pages whose Python is run."""
    return [ROOT / "docs" / "index.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]


def with_output(text: str, folder: Path) -> str:
    """Return a page with what its Python shows, run in a folder."""
    names: dict[str, object] = {"__name__": "page"}

    def run(block: re.Match[str]) -> str:
        shown = _run(block["code"], names)
        return f"```python\n{block['code']}```\n" + (f"\n```text\n{shown}```\n" if shown else "")

    with chdir(folder), pl.Config(tbl_width_chars=110, tbl_cols=12, fmt_str_lengths=44):
        return BLOCK.sub(run, text)


def _run(code: str, names: dict[str, object]) -> str:
    """Run code; return what it prints, with the value of its last line."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "page", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "page", "eval"), names)
            if value is not None:
                print(value)
    return "".join([f"{line.rstrip()}\n" for line in printed.getvalue().splitlines()])


def _written() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name, sample_folder(Path(name) / "samples"):
        for page in pages_with_examples():
            page.write_text(with_output(page.read_text("utf-8"), Path(name)), "utf-8")
            yield page


if __name__ == "__main__":
    for written in _written():
        print(written, file=sys.stderr)
