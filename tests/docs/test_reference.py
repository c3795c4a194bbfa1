"""Every public name has its place in the built reference, with its examples and columns."""

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lance_explorer.inspect.catalogue import FRAMES
from tools.docs.docstrings import as_markdown
from tools.docs.public_names import Name, groups
from tools.docs.reference import address_of

PLACES = [(name, address_of(group)) for group in groups() for name in group.names]
SECTION = re.compile(r'<h2 id="([\w.]+)"')


class Words(HTMLParser):
    """The words of a page, without its tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.feed(html)

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def text(self) -> str:
        return " ".join("".join(self.parts).split())


@pytest.fixture(scope="module")
def sections(site: Path) -> dict[str, str]:
    """The HTML of each name in the reference, by where the name is defined."""
    found = {}
    for page in (site / "reference").glob("*.html"):
        html = page.read_text(encoding="utf-8")
        body = html.partition("<article")[2].partition("</article>")[0]
        _, *parts = SECTION.split(body)
        for source, section in zip(parts[::2], parts[1::2], strict=True):
            found[f"{page.stem}#{source}"] = f"<h2{section}"
    return found


@pytest.mark.parametrize(("name", "address"), PLACES, ids=[name.path for name, _ in PLACES])
def test_a_public_name_has_its_docstring_in_the_reference(sections, name: Name, address):
    section = sections[f"{Path(address).stem}#{name.source}"]
    text = Words(section).text()
    assert name.summary.replace("`", "") in text
    assert text.count(">>>") == name.doc.count(">>>")
    assert not re.search(r":(?:meth|func|class|attr|mod|data):", text)
    assert "=====" not in text


TABLES = [(name, address) for name, address in PLACES if "=====" in name.doc]


def test_all_frames_have_tables_of_columns():
    with_tables = {name.path for name, _ in TABLES}
    assert {f"table.inspect.{frame}" for frame in FRAMES} <= with_tables | {
        "table.inspect.versions"
    }
    assert {"table.versions", "table.follow", "snapshot.row_ids"} <= with_tables


@pytest.mark.parametrize(("name", "address"), TABLES, ids=[name.path for name, _ in TABLES])
def test_a_frame_has_its_columns_with_their_units(sections, name: Name, address):
    text = Words(sections[f"{Path(address).stem}#{name.source}"]).text()
    rows = [line for line in as_markdown(name.doc).splitlines() if line.lstrip().startswith("| `")]
    assert rows
    for row in rows:
        cells = [unescape(cell.strip("|` ")) for cell in re.split(r"(?<!\\)\|", row)]
        shown = " ".join(cell.replace("\\|", "|") for cell in cells if cell)
        assert shown.replace("`", "") in text
