"""Reads a report as a browser does, but for what scripts draw."""

from html.parser import HTMLParser
from typing import Any

__all__ = ["Report", "report_on"]

VOID = {"meta"}
PLAIN = {"html", "head", "title", "body", "header", "nav", "main", "section", "div", "style"}
WORDS = {"h1", "h2", "p", "a", "ol", "ul", "li", "code", "pre", "strong"}
TABLES = {"table", "caption", "thead", "tbody", "tr", "th", "td"}
TAGS = {*VOID, *PLAIN, *WORDS, *TABLES, "script"}
ATTRIBUTES = {"class", "id", "href", "scope", "title", "style", "lang", "type"}
ATTRIBUTES |= {"charset", "name", "content", "http-equiv", "aria-label"}


class Report(HTMLParser):
    """The sections of a report: texts, tables and how many pictures; other tags are an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.anchors: list[str] = []
        self.scripts: list[str] = []
        self.title = ""
        self.sections: dict[str, str] = {"": ""}
        self.tables: dict[str, list[list[list[str]]]] = {}
        self.pictures: dict[str, int] = {}
        self.failures: dict[str, str] = {}
        self._section = ""
        self._is_failure = False
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        given = dict(attrs)
        assert given.keys() <= ATTRIBUTES
        if tag not in VOID:
            self.open.append(tag)
        if tag == "a":
            self.links.append(given["href"] or "")
        elif tag == "h2":
            self.anchors.append(given["id"] or "")
            self._section = ""
        elif tag == "script":
            self.scripts.append("")
        elif tag == "table":
            self.tables.setdefault(self._section, []).append([])
        elif tag == "tr":
            self.tables[self._section][-1].append([])
        elif tag in ("td", "th"):
            self.tables[self._section][-1][-1].append("")
        elif given.get("class") == "plotly-graph-div":
            self.pictures[self._section] = self.pictures.get(self._section, 0) + 1
        self._is_failure = given.get("class") == "failure"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self._is_failure = False

    def handle_data(self, data: str) -> None:
        match self.open:
            case [*_, "script"]:
                self.scripts[-1] += data
            case [*_, "style"]:
                pass
            case [*_, "title"]:
                self.title += data
            case [*_, "h2"]:
                self._section += data
                self.sections[self._section] = ""
            case _:
                self._add_words(data)

    def _add_words(self, data: str) -> None:
        self.sections[self._section] += data
        if self._is_failure:
            self.failures[self._section] = self.failures.get(self._section, "") + data
        if {"td", "th"} & set(self.open):
            self.tables[self._section][-1][-1][-1] += data


def report_on(table: Any, folder: Any) -> Report:
    """Write the report on a table, and read it."""
    return Report(table.report(folder / "report.html").read_text(encoding="utf-8"))
