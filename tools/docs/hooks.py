"""What MkDocs calls while it makes the documentation: pages that are generated, and links.

Links in the pages lead where they do in the repository, so that both work. To what the
documentation has, they are turned there; to other files of the repository, they become plain text.
"""

import posixpath
import re
from pathlib import Path

import plotly
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools.docs.gallery import PLOTLY, gallery_pages, with_outputs
from tools.docs.notebooks import run_all
from tools.docs.reference import reference_pages

ROOT = Path(__file__).resolve().parents[2]
FROM_ROOT = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md")
"""Pages that are not in the folder docs."""

LINK = re.compile(r"(?<!!)\[(?P<text>[^\[\]]+)\]\((?P<target>[^()\s#]+)(?P<anchor>#[^()\s]*)?\)")
CODE = re.compile(r"(```.*?```|`[^`]*`)", re.DOTALL)

_PAGES: dict[str, list[tuple[str, str, str]]] = {}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Make the pages that are generated, and list them in the navigation."""
    run_all()
    _PAGES.update(notebooks=list(gallery_pages()), reference=list(reference_pages()))
    for entry in config.nav or []:
        [(title, target)] = entry.items()
        if isinstance(target, str) and target in _PAGES:
            entry[title] = [{name: address} for name, address, _ in _PAGES[target]]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is not in the folder docs."""
    for pages in _PAGES.values():
        for _, address, text in pages:
            files.append(File.generated(config, address, content=text))
    for name in FROM_ROOT:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    script = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    files.append(File.generated(config, PLOTLY, abs_src_path=str(script)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Turn links to files of the repository."""
    address = page.file.src_uri
    if address.startswith("reference/"):
        return markdown
    base = _folder_in_repository(address)
    parts = CODE.split(markdown)
    parts[::2] = [LINK.sub(lambda link: _turned(link, address, base, files), p) for p in parts[::2]]
    return "".join(parts)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Put what the cells of a notebook showed, and the scripts that draw it."""
    address = page.file.src_uri
    html = with_outputs(html, address)
    if "data-figure=" in html:
        for script in (PLOTLY, "assets/figures.js"):
            source = posixpath.relpath(script, posixpath.dirname(address) or ".")
            html += f'\n<script src="{source}"></script>'
    return html


def _folder_in_repository(address: str) -> str:
    """Return the folder from which links in a page lead."""
    if address in FROM_ROOT:
        return ""
    if address.startswith("notebooks/"):
        return "notebooks"
    return posixpath.dirname(f"docs/{address}")


def _turned(link: re.Match[str], address: str, base: str, files: Files) -> str:
    """Return a link as it is in the documentation."""
    target = link["target"]
    if re.match(r"\w+:", target):
        return link[0]
    place = posixpath.normpath(posixpath.join(base, target))
    place = re.sub(r"^notebooks/(.*)\.ipynb$", r"notebooks/\1.md", place.removeprefix("docs/"))
    if files.get_file_from_path(place) is None:
        if (ROOT / posixpath.join(base, target)).exists():
            return link["text"]
        return link[0]  # which the strict build complains of
    leads = posixpath.relpath(place, posixpath.dirname(address) or ".")
    return f"[{link['text']}]({leads}{link['anchor'] or ''})"
