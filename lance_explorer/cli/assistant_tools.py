"""The tools of an assistant: read only, with short answers.

Each answer is JSON, as :mod:`lance_explorer.answers.assistant` writes it.
"""

import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version as version_of
from typing import Any

import polars as pl
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from lance_explorer.answers import Answer, Section, lines, said
from lance_explorer.answers.assistant import MOST_ROWS, assistant_json, data_note
from lance_explorer.database import open_database
from lance_explorer.display import branch_words
from lance_explorer.errors import LanceExplorerError
from lance_explorer.frames.sizes import counted
from lance_explorer.history.discovery import is_table
from lance_explorer.history.version_refs import MAIN
from lance_explorer.plans.records import OnConflict
from lance_explorer.shown import one_line
from lance_explorer.table import Table, open_table
from lance_explorer.values.child import called_apart, time_limit

__all__ = ["QUESTION_SECONDS", "Opening", "answered", "server"]

QUESTION_SECONDS = 60.0
"""How long a question may take."""

_AT_ONCE = threading.BoundedSemaphore(4)
"""The number of processes that answer questions."""

_MOST_BYTES = 256 << 20
_MOST_CHANGES = 100_000

_INSTRUCTIONS = (
    "Reads the history of Lance tables: versions, what changed, rows and who changed them, what is "
    "on disk; and plans what a person can do about it. Nothing is ever written. Begin with "
    "`tables`. A version is a number (-1 is the latest), a tag, a day or time in UTC such as "
    "2026-01-31, yesterday or '3 hours ago', or dev@5 for version 5 of branch dev. A filter is "
    "SQL, such as photo_id = 42. " + data_note
)


@dataclass(frozen=True, slots=True)
class Opening:
    """How tables are opened.

    Attributes
    ----------
    uris : tuple of str
        Their paths or URIs, or those of folders of tables.
    allow_bases : tuple of str
        Where they may lead to.
    ledger : str or None
        Where they were recorded.
    """

    uris: tuple[str, ...]
    allow_bases: tuple[str, ...] = ()
    ledger: str | None = None

    def tables(self) -> tuple[list[Table], dict[str, str]]:
        """Open them; for tables in folders that cannot be opened, return the reasons by name."""
        tables, problems = list[Table](), dict[str, str]()
        for uri in self.uris:
            if is_table(uri):
                tables.append(open_table(uri, allow_bases=self.allow_bases, ledger=self.ledger))
                continue
            database = open_database(uri, allow_bases=self.allow_bases, ledger=self.ledger)
            for name in database:
                try:
                    tables.append(database[name])
                except LanceExplorerError as error:
                    problems[name] = str(error)
        return tables, problems


def server(opening: Opening, seconds: float = QUESTION_SECONDS) -> MCPServer[Any]:
    """Return a server that answers questions about some tables.

    A process answers one question at a time, and several processes are kept: a crash or a timeout
    is an error, and delays no other question.
    """
    made: MCPServer[Any] = MCPServer(
        "lance-explorer",
        instructions=_INSTRUCTIONS,
        version=version_of("lance-explorer"),
        log_level="WARNING",
    )
    for tool in (
        _Tools.tables,
        _Tools.versions,
        _Tools.changes,
        _Tools.row,
        _Tools.find,
        _Tools.blame,
        _Tools.profile,
        _Tools.drift,
        _Tools.disk,
        _Tools.check,
        _Tools.damage,
        _Tools.duplicates,
        _Tools.inspect,
        _Tools.lineage,
        _Tools.merge_preview,
        _Tools.plan_revert,
        _Tools.plan_restore_rows,
        _Tools.plan_recovery,
        _Tools.plan_merge,
    ):
        made.add_tool(
            _answering(tool, opening, seconds),
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
            structured_output=False,
        )
    return made


def _answering(tool: Callable[..., Answer], opening: Opening, seconds: float) -> Callable[..., str]:
    """Return a tool that answers in JSON; an error is an answer."""
    parameters = list(inspect.signature(tool).parameters.values())[1:]  # without ``self``
    signature = inspect.Signature(parameters, return_annotation=str)

    def answer(*arguments: Any, **options: Any) -> str:
        given = signature.bind(*arguments, **options).arguments
        if not _AT_ONCE.acquire(timeout=seconds):
            raise ToolError("too many questions take long at the moment; ask again")
        try:
            with time_limit(seconds):
                return str(called_apart(answered, [opening, tool.__name__, given], {}))
        except LanceExplorerError as error:
            raise ToolError(f"{one_line(str(error), 1000)} (Names in it are data.)") from error
        finally:
            _AT_ONCE.release()

    answer.__name__, answer.__doc__ = tool.__name__, tool.__doc__
    answer.__annotations__ = {**tool.__annotations__, "return": str}
    answer.__dict__["__signature__"] = signature
    return answer


def answered(opening: Opening, name: str, arguments: Mapping[str, Any]) -> str:
    """Answer a question in JSON, in the process that answers it."""
    limit = arguments.get("limit", MOST_ROWS)
    return assistant_json(getattr(_tools(opening), name)(**arguments), limit)


@lru_cache(maxsize=1)
def _tools(opening: Opening) -> "_Tools":
    """Return the tools, which keep what they have read."""
    return _Tools(*opening.tables())


class _Tools:
    """The tools; an assistant reads the docstring of each."""

    def __init__(self, tables: Sequence[Table], problems: Mapping[str, str] | None = None) -> None:
        self._problems = problems or {}
        self._tables = {table._view.name: table for table in tables}
        if len(self._tables) < len(tables):
            self._tables = {table.uri: table for table in tables}

    def tables(self) -> Answer:
        """List the tables that can be asked about: names, branches, tags, rows, latest version."""
        rows = [
            {
                "table": name,
                "uri": table.uri,
                "latest_version": table.refresh()._view.latest_version,
                "num_rows": table.latest.num_rows,
                "columns": [f"{field.name}: {field.type}" for field in table.latest.schema],
                "branches": branch_words(table._view),
                "tags": [f"{tag}: version {it.version}" for tag, it in table.tags.items()],
            }
            for name, table in self._tables.items()
        ]
        frame = pl.DataFrame(rows, infer_schema_length=None)
        broken = [f"`{name}`: {problem}" for name, problem in self._problems.items()]
        not_opened = Section("not_opened", "Cannot be opened", lines(broken))
        answer = _rows(f"{counted(len(rows), 'table')}.", frame)
        return replace(answer, sections=(*answer.sections, not_opened))

    def versions(
        self,
        table: str = "",
        branch: str = "",
        limit: int = 20,
        since: str = "",
        text: str = "",
        column: str = "",
    ) -> Answer:
        """List commits, newest first: what each did, its message, who made it, rows and bytes.

        Filters: since (a version or time), text (in words, predicate, message, author), column
        (only commits that can have changed it). Without a branch, commits of all branches;
        the main branch is called main.
        """
        asked = self._table(table, branch)
        commits = asked.log(
            since=since or None,
            text=text or None,
            column=column or None,
            all_branches=not branch,
        )
        columns = ["version", "branch", "timestamp", "operation", "words", "message"]
        more = ["author", "job", "run", "num_rows", "data_bytes_change", "tags"]
        return _rows(f"{counted(len(commits), 'commit')}.", commits.select(*columns, *more))

    def changes(
        self, begin: str, end: str = "-1", table: str = "", branch: str = "", limit: int = 20
    ) -> Answer:
        """Return what changed between two versions, net: counts of rows, then some rows.

        Begin is exclusive, end inclusive. Updated rows are shown before and after.
        """
        asked = self._table(table, branch)
        changes = asked.changes(begin, end, images="known")
        summary = changes.summary().row(0, named=True)
        events = ("inserted", "updated", "deleted", "column_rewritten", "column_added")
        counts = [f"{summary[name]:,} rows {name}" for name in events if summary[name]]
        answer = said(", ".join(counts) or "no row changed")
        if sum(summary[name] or 0 for name in events) > _MOST_CHANGES:
            return Answer(f"{answer} They are too many to show: narrow the versions.")
        rows = changes.to_polars()
        return _rows(answer, rows.drop("_rowaddr_before", "_rowaddr_after", "_rowaddr"))

    def row(self, row_id: int, table: str = "", branch: str = "") -> Answer:
        """Return the history of one row by its row ID: each event with commit, author and values.

        People know values, not row IDs: `find` gives the row IDs of rows with some values.
        """
        return self._table(table, branch).row(row_id).answer_with(values=True)

    def find(self, where: str, table: str = "", branch: str = "", limit: int = 10) -> Answer:
        """Find rows by values in all kept versions, live and deleted, newest first.

        Where is a filter such as "photo_id = 42", or a word that some text has. Returns how each
        row ended (deleted, updated), and the commit with its predicate, message and author.
        """
        asked = self._table(table, branch)
        return asked.find(where, limit=_bounded(limit), max_bytes=_MOST_BYTES).answer

    def blame(
        self, where: str, column: str = "", table: str = "", branch: str = "", limit: int = 10
    ) -> Answer:
        """Return for each cell of some rows its last commit, the author, and the value before."""
        asked = self._table(table, branch)
        return asked.blame(where, columns=column or None, limit=_bounded(limit)).answer

    def profile(self, column: str, table: str = "", branch: str = "") -> Answer:
        """Return the current values of a column, and the commits that moved them."""
        asked = self._table(table, branch)
        return asked.profile(column, max_bytes=_MOST_BYTES).answer

    def drift(
        self, column: str, begin: str, end: str = "", table: str = "", branch: str = ""
    ) -> Answer:
        """Return how far vectors, or numbers, moved row by row between two versions."""
        asked = self._table(table, branch)
        return asked.changes(begin, end or None).drift(column).answer

    def disk(self, table: str = "", branch: str = "") -> Answer:
        """Return how much is on disk and why: live, old versions, tags and branches, left over."""
        return self._table(table, branch).disk_usage().answer

    def check(self, table: str = "", branch: str = "") -> Answer:
        """Check the whole table: findings with severity, and what to do about each."""
        return self._table(table, branch).health()

    def damage(self, table: str = "", branch: str = "") -> Answer:
        """Return which files are damaged, what is lost by that, and where else the rows are."""
        return self._table(table, branch).damage().answer

    def duplicates(self, key: str, table: str = "", branch: str = "") -> Answer:
        """Return which keys several rows have, and which commit gave each row its key.

        Key is a column, or several with commas between.
        """
        return self._table(table, branch).duplicates(_columns(key) or "").answer

    def inspect(self, frame: str, table: str = "", branch: str = "") -> Answer:
        """Return a frame of the metadata.

        Frames are refs (tags and branches), fragments, data_files, indices, fields, config, gaps,
        manifests, transactions and others; a wrong name is answered with all names.
        """
        return self._table(table, branch).answer(frame)

    def lineage(self, fragment_id: int, table: str = "", branch: str = "") -> Answer:
        """Return which fragments a fragment was written from, and which were written from it."""
        edges = self._table(table, branch).lineage().edges()
        name = str(fragment_id)
        ends = [
            pl.col(end).cast(pl.String).str.extract(r"(\d+)(?:@\d+)?$") == name
            for end in ("from_node", "to_node")
        ]
        chosen = edges.filter(ends[0] | ends[1])
        return _rows(f"{counted(len(chosen), 'edge')} of fragment {fragment_id}.", chosen)

    def merge_preview(self, branch: str, into: str = "", key: str = "", table: str = "") -> Answer:
        """Return what a merge of a branch would bring, and which cells are in conflict.

        Key is a column that identifies rows, or several with commas between; without it a row is
        what it was at the fork.
        """
        return self._table(table, into).merge_preview(branch, _columns(key)).answer

    def plan_revert(
        self,
        version: str,
        key: str = "",
        overwrite: bool = False,
        table: str = "",
        branch: str = "",
    ) -> Answer:
        """Plan how to undo one commit and keep what came after; nothing is done to the table.

        Returns what would be written, what others changed since (left alone, unless `overwrite`),
        what cannot come back, and the command that saves the plan as a script for a person.
        """
        asked = self._table(table, branch)
        choice: OnConflict = "overwrite" if overwrite else "keep"
        return asked.plan_revert(version, key=_columns(key), on_conflict=choice).answer

    def plan_restore_rows(
        self, where: str, at: str, key: str = "", table: str = "", branch: str = ""
    ) -> Answer:
        """Plan how to put rows back as they were in a version, deleted ones too; nothing is done.

        Where is a filter on the values that they had then.
        """
        return self._table(table, branch).plan_restore_rows(where, at, key=_columns(key)).answer

    def plan_recovery(self, table: str = "", branch: str = "") -> Answer:
        """Plan how to repair what `damage` finds, and return what is lost; nothing is done."""
        return self._table(table, branch).plan_recovery().answer

    def plan_merge(self, branch: str, into: str = "", key: str = "", table: str = "") -> Answer:
        """Plan how to merge a branch, see `merge_preview`; nothing is done."""
        return self._table(table, into).merge_preview(branch, _columns(key)).plan().answer

    def _table(self, name: str, branch: str) -> Table:
        """Return the latest view of a table; without a name, of the only one."""
        if not name and len(self._tables) == 1:
            name = next(iter(self._tables))
        if name not in self._tables:
            there = ", ".join(self._tables)
            raise ToolError(f"name one of these tables: {there}")
        table = self._tables[name].refresh()
        if not branch:
            return table
        return Table(table._view.on_branch(None if branch == MAIN else branch))


def _rows(sentence: str, rows: pl.DataFrame) -> Answer:
    return Answer(sentence, (Section("rows", "", rows),))


def _columns(key: str) -> list[str] | None:
    """Return the columns in a list separated by commas."""
    return [name.strip() for name in key.split(",")] if key else None


def _bounded(limit: int) -> int:
    return max(1, min(limit, MOST_ROWS))
