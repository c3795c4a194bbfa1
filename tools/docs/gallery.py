"""The notebooks as pages: their words, their code, and what it gave, with its pictures.

What a cell showed is HTML that waits outside of the Markdown, under a mark, until the page is made:
nothing in it is read as Markdown. A widget is shown by the picture in ``docs/images/notebooks``,
which ``make screenshots`` took of it; if there is none, as where no kernel runs.
"""

import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import nbformat

from tools.docs.notebooks import NOTEBOOKS, ROOT, kept

__all__ = ["PLOTLY", "gallery_pages", "with_outputs"]

DOCS = ROOT / "docs"
PLOTLY = "assets/plotly.min.js"
WIDGET = "application/vnd.jupyter.widget-view+json"
MARK = "<!-- output {} -->"
OUTPUTS: dict[str, list[str]] = {}
"""What cells showed, as HTML, by the address of the page."""

TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
COLORS = re.compile(r"\x1b\[[0-9;]*m")
INDEX = """# Notebooks

A tour of a table, to read here or to run: `make lab` opens these notebooks in JupyterLab.

<div class="lx-gallery" markdown>
"""


def gallery_pages() -> Iterator[tuple[str, str, str]]:
    """Yield title, address and Markdown of the index of the notebooks and of each notebook."""
    OUTPUTS.clear()
    pages = [_page(path) for path in sorted(NOTEBOOKS.glob("*.ipynb"))]
    cards = [_card(title, address, text) for title, address, text in pages]
    yield "All notebooks", "notebooks/index.md", INDEX + "\n".join(cards) + "\n</div>\n"
    yield from pages


def with_outputs(html: str, address: str) -> str:
    """Put what cells showed into the HTML of a page."""
    for number, shown in enumerate(OUTPUTS.get(address, [])):
        html = html.replace(MARK.format(number), shown)
    return html


def _page(path: Path) -> tuple[str, str, str]:
    """Return the title, the address and the Markdown of a notebook."""
    notebook = kept(path)
    if notebook is None:
        raise RuntimeError(f"{path.name} was not run; tools.docs.notebooks.run_all runs it")
    address = f"notebooks/{path.stem}.md"
    outputs = OUTPUTS.setdefault(address, [])
    parts = []
    widgets = 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        elif cell.cell_type == "code":
            parts.append(f"```python\n{cell.source}\n```")
            for output in cell.outputs:
                parts.append(MARK.format(len(outputs)))
                is_widget = WIDGET in output.get("data", {})
                widgets += is_widget
                picture = f"images/notebooks/{path.stem}-{widgets}.png"
                if is_widget and (DOCS / picture).exists():
                    outputs.append(
                        f'<img class="lx-widget" src="../{picture}" alt="{escape(cell.source)}">'
                    )
                else:
                    outputs.append(_shown(output, f"output-{len(outputs)}"))
    text = "\n\n".join(parts)
    found = TITLE.search(text)
    title = f"{int(path.stem[:2])}. {found[1] if found else path.stem}"
    return title, address, text + "\n"


def _card(title: str, address: str, text: str) -> str:
    """Return a card with the title of a notebook, its first words and its first picture."""
    after = TITLE.split(text, maxsplit=1)[-1]
    words = next(p for p in after.split("\n\n") if p.strip() and not p.startswith(("#", "<", "`")))
    picture = _first_picture(address)
    shown = ""
    if picture:
        on_index = OUTPUTS.setdefault("notebooks/index.md", [])
        shown = MARK.format(len(on_index))
        on_index.append(picture.replace("output-", f"card-{len(on_index)}-"))
    words = words.partition(" This notebook shows how to")[0]
    head = f"**[{title.partition('. ')[2]}]({address.rpartition('/')[2]})**"
    return f'<div class="lx-card" markdown>\n\n{head}\n\n{words}\n\n{shown}\n\n</div>\n'


def _first_picture(address: str) -> str:
    """Return the first figure of a notebook; the first small picture if it has none."""
    shown = OUTPUTS[address]
    figures = [html for html in shown if "data-figure" in html]
    pictures: list[str] = re.findall(r"<svg.*?</svg>", "".join(shown), re.DOTALL)
    return [*figures, *pictures, ""][0]


def _shown(output: Any, name: str) -> str:
    """Return what a cell showed as HTML; the picture of it that says most."""
    if output.output_type == "stream":
        return _text(output.text)
    if output.output_type == "error":
        return _text("\n".join(output.traceback))
    data: nbformat.NotebookNode = output.data
    if "application/vnd.plotly.v1+json" in data:
        return _figure(data["application/vnd.plotly.v1+json"], name)
    if "text/html" in data:
        return f'<div class="lx-output">{data["text/html"]}</div>'
    return _text(data["text/plain"])


def _text(text: str) -> str:
    return f'<pre class="lx-output">{escape(COLORS.sub("", text))}</pre>'


def _figure(figure: Any, name: str) -> str:
    """Return a figure that plotly draws when the page is open; the script of the site finds it."""
    content = {"data": figure["data"], "layout": figure["layout"]}
    text = json.dumps(content, separators=(",", ":")).replace("</", "<\\/")
    return (
        f'<div class="lx-output lx-figure" id="{name}"></div>'
        f'<script type="application/json" data-figure="{name}">{text}</script>'
    )
