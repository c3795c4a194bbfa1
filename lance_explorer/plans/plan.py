"""A plan: changes to a table, and a script with which the reader makes them."""

import json
import shlex
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
from propcache.api import cached_property

from lance_explorer.answers import Answer, Answering, Section, lines
from lance_explorer.answers.calls import literal
from lance_explorer.cells.text import briefs_of
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.frames.documented import documented
from lance_explorer.frames.sizes import byte_size, counted
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.plans.added_columns import AddedColumns
from lance_explorer.plans.frames import PLAN_CONFLICTS, PLAN_LOSSES
from lance_explorer.plans.rebuilt_rows import RebuiltRows
from lance_explorer.plans.records import Conflict, Loss, Step, conflict_frame, loss_frame
from lance_explorer.plans.row_work import RowWork
from lance_explorer.plans.table_facts import TableFacts

__all__ = ["Plan", "PlanParts"]

ROWS_FILE = "rows.arrow"
COLUMNS_FILE = "columns.arrow"

_FIRST_ROWS = 5

Batches = Callable[[], Iterator[pa.RecordBatch]]


@dataclass
class PlanParts:
    """The parts of a plan.

    Attributes
    ----------
    place : BranchVersion
        The version that it is for: the latest of a branch.
    title : str
        What it does: "Undo version 3".
    name : str
        The name of its script, without ending.
    call : str
        The call that makes it.
    command : str
        The command that makes it, after ``lance-explorer plan``.
    about : str
        What it is about, in a sentence.
    key : tuple of str
        Columns that must stay unique.
    steps, conflicts, losses : list
        What it does, leaves alone, and does not bring back.
    rows : RowWork or RebuiltRows, optional
        The rows that a step changes one by one.
    promised : callable, optional
        Gives the rows that change where no step names them, as when a version is restored.
    columns : AddedColumns, optional
        The values of the columns that it adds.
    notes : list of str
        What else is to know, in sentences.
    num_rows : int, optional
        How many rows the table has afterwards, which the script checks; None: not known.
    """

    place: BranchVersion
    title: str
    name: str
    call: str
    key: tuple[str, ...] = ()
    command: str = ""
    about: str = ""
    steps: list[Step] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    rows: RowWork | RebuiltRows | None = None
    promised: Callable[[], RowWork] | None = None
    columns: AddedColumns | None = None
    notes: list[str] = field(default_factory=list)
    num_rows: int | None = None

    @property
    def num_conflicts(self) -> int:
        """How many rows, columns and settings it leaves alone."""
        return len(self.conflicts) + (self.rows.num_left_alone if self.rows is not None else 0)

    def add(self, *parts: Step | Conflict | Loss | str) -> None:
        """Add steps, conflicts or losses; a text is a note."""
        for one in parts:
            match one:
                case Step():
                    self.steps.append(one)
                case Conflict():
                    self.conflicts.append(one)
                case Loss():
                    self.losses.append(one)
                case _:
                    self.notes.append(one)


class Plan(Answering):
    """Changes to a table, and the script with which the reader of the plan makes them.

    Made by :meth:`~lance_explorer.table.Table.plan_revert` and its kind. The plan itself writes
    nothing to the table: :meth:`save` writes a script and the rows that it needs into a folder, and
    the script writes when somebody runs it. True if there is anything to do.

    Attributes
    ----------
    id : str
        What commits of the plan are known by: a second run finds them, and does nothing.
    version : int
        The version of the table that it was made for; the script refuses any other.
    author, reason : str or None
        What the commits will say about who made them and why.
    """

    def __init__(self, parts: PlanParts, author: str | None = None, reason: str | None = None):
        self._parts = parts
        self.id = uuid.uuid4().hex
        self.version = parts.place.version
        self.author = author
        self.reason = parts.title if reason is None else reason

    def __bool__(self) -> bool:
        return bool(self._parts.steps)

    @property
    def steps(self) -> list[Step]:
        """The commits of the plan, in order: in words, and as calls of pylance.

        Examples
        --------
        >>> [step.words for step in table.plan_revert(3).steps]
        ['Delete 4 rows.']
        """
        return [*self._parts.steps]

    @property
    def num_conflicts(self) -> int:
        """How many rows, columns and settings it leaves alone; :meth:`conflicts` says why."""
        return self._parts.num_conflicts

    def rows(self) -> pa.Table:
        """Return the rows that it changes: ``_change``, ``_rowid``, ``_rowaddr`` and values.

        ``_change`` is ``update``, ``delete`` or ``insert``. For updated rows, the columns in which
        any row gets another value are filled (all columns where rows are written anew) and the rest
        are null; for deleted rows all are null. A row that comes back has its former row ID here.
        :meth:`batches` gives the same in pieces.

        Examples
        --------
        >>> table.plan_revert(4).rows().select(["_change", "_rowid", "id", "city"]).to_pylist()
        [{'_change': 'insert', '_rowid': 1, 'id': 2, 'city': 'city 2'}]
        """
        schema, make = self._row_source
        return pa.Table.from_batches(list(make()), schema)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield what :meth:`rows` returns, some rows at a time.

        Examples
        --------
        >>> sum(len(batch) for batch in table.plan_revert(3).batches())
        4
        """
        yield from self._row_source[1]()

    @cached_property
    def _row_source(self) -> tuple[pa.Schema, Batches]:
        parts = self._parts
        rows = parts.promised() if parts.promised is not None else parts.rows
        if rows is not None:
            return rows.schema, rows.batches
        own = {"_change": pa.string(), "_rowid": pa.uint64(), "_rowaddr": pa.uint64()}
        return pa.schema(own), lambda: iter(())

    @documented(PLAN_CONFLICTS)
    def conflicts(self) -> pl.DataFrame:
        """Return what others changed since, and what is uncertain: one line for each cell.

        Such rows are left alone, unless the plan was made with ``on_conflict="overwrite"``; rows
        that are uncertain always are.

        Examples
        --------
        >>> table.plan_revert(3).conflicts().is_empty()
        True
        """
        own = conflict_frame(self._parts.conflicts)
        rows = self._parts.rows
        return own if rows is None else pl.concat([own, rows.conflicts])

    @documented(PLAN_LOSSES)
    def losses(self) -> pl.DataFrame:
        """Return what cannot come back unchanged.

        Examples
        --------
        >>> table.plan_revert(4).losses()["kind"].to_list()
        ['row_ids']
        """
        return loss_frame(self._parts.losses)

    @property
    def code(self) -> str:
        """The script: Python that needs pylance and the files that :meth:`save` writes beside it.

        Examples
        --------
        >>> "def write_rows(" in table.plan_revert(3).code
        True
        """
        source = files("lance_explorer.plans").joinpath("carry_out.py").read_text("utf-8")
        _, _, rest = source.partition("PLAN: Any = {}\n")
        imports = source.partition('"""\n\n')[2].partition("PLAN: Any = {}\n")[0]
        title = f"{self._parts.title} of {self._parts.place.view.name}"
        steps = [f"{number}. {step.words}" for number, step in enumerate(self.steps, 1)]
        head = "\n".join(
            [f"{title}.", "", *steps, "", "Run it with the table, or a copy of it:", ""]
        )
        safe = head.replace("\\", "\\\\").replace('"""', r"\"\"\"")
        usage = f"    python {self._parts.name}.py TABLE\n"
        plan = json.dumps(self._script_facts(title), indent=4, ensure_ascii=True)
        quoted = plan.replace("\\", "\\\\").replace("'''", r"\'\'\'")
        return (
            f'"""{safe}{usage}"""\n\nimport json\n{imports}'
            f"PLAN: Any = json.loads('''\n{quoted}\n''')\n{rest}"
        )

    def _script_facts(self, title: str) -> Mapping[str, Any]:
        """Return what the script needs to know."""
        parts = self._parts
        return {
            "id": self.id,
            "title": title,
            "reason": self.reason,
            "author": self.author,
            "branch": parts.place.view.branch,
            "version": self.version,
            "fingerprint": self._facts.fingerprint,
            "num_rows": parts.num_rows,
            "key": parts.key,
            "set_aside": [
                file
                for step in self.steps
                if step.kind == "set_aside"
                for file in step.arguments["files"]
            ],
            "steps": [
                {"kind": step.kind, "words": step.words, **step.arguments}
                for step in self.steps
                if step.kind != "set_aside"
            ],
        }

    @cached_property
    def _facts(self) -> TableFacts:
        return TableFacts(self._parts.place)

    def save(self, folder: str | PathLike[str]) -> Path:
        """Write the script and its rows into a folder; return the path of the script.

        Run it with ``python SCRIPT TABLE``. It checks that the table is at :attr:`version`, makes
        its commits, and compares the result with the promise.

        Parameters
        ----------
        folder : str or os.PathLike
            A folder of your own, not inside a table; it is made if it does not exist.

        Raises
        ------
        InvalidArgumentError
            If the folder is inside a table or holds other files, or the plan is empty.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table.plan_revert(3).save(folder).name
        'undo_version_3.py'
        """
        if not self:
            raise InvalidArgumentError(f"there is nothing to save: {self.sentence}")
        place = Path(folder).expanduser().resolve()
        _check_outside(place)
        name = f"{self._parts.name}.py"
        place.mkdir(parents=True, exist_ok=True)
        others = sorted({one.name for one in place.iterdir()} - {name, ROWS_FILE, COLUMNS_FILE})
        if others:
            raise InvalidArgumentError(
                f"the folder {place} has other files, such as {others[0]}: name an empty one, or a "
                "new one"
            )
        sources = {}
        if self._parts.rows is not None and self._parts.rows.num_rows:
            sources[ROWS_FILE] = self._row_source
        if self._parts.columns is not None:
            sources[COLUMNS_FILE] = self._parts.columns.schema, self._parts.columns.batches
        for file in (name, ROWS_FILE, COLUMNS_FILE):  # those of an older plan
            (place / file).unlink(missing_ok=True)
        for file, (schema, make) in sources.items():
            with pa.OSFile(str(place / file), "wb") as sink, pa.ipc.new_file(sink, schema) as out:
                for batch in make():
                    out.write_batch(batch)
        script = place / name
        script.write_text(self.code, "utf-8")
        return script

    @property
    def sentence(self) -> str:
        """What it does, and what it leaves alone.

        Examples
        --------
        >>> table.plan_revert(4).sentence
        'Undo version 4 with 1 commit: append 1 row.'
        """
        parts, left = self._parts, self.num_conflicts
        verb = "is" if left == 1 else "are"
        alone = f" {counted(left, 'conflict')} {verb} left alone." if left else ""
        if not self:
            why = parts.notes[0] if parts.notes else "There is nothing to do."
            return f"{parts.title}: {_lower_first(why)}{alone}"
        steps = "; ".join([_lower_first(step.words.rstrip(".")) for step in parts.steps])
        written = parts.rows.num_overwritten if parts.rows is not None else 0
        if written:
            verb = "is" if written == 1 else "are"
            alone = f" {counted(written, 'row')} changed since {verb} overwritten.{alone}"
        commits = sum([step.kind != "set_aside" for step in parts.steps])
        number = f" with {counted(commits, 'commit')}" if commits else ""
        return f"{parts.title}{number}: {steps}.{alone}"

    @property
    def answer(self) -> Answer:
        """Its steps, what it leaves alone and loses, and how to carry it out."""
        parts = self._parts
        steps = pl.DataFrame(
            {
                "step": [step.words for step in parts.steps],
                "call": [step.code for step in parts.steps],
            },
            schema={"step": pl.String, "call": pl.String},
        )
        conflicts, losses = self.conflicts(), self.losses()
        num_rows, first = self._first_rows()
        several = "Commits" if len(parts.steps) > 1 else None  # one is in the sentence
        folder = parts.name
        code = [f"plan = {parts.call}"]
        if self:
            code.append(f"plan.save({literal(folder)})")
            code.append(f"# or: lance-explorer plan {parts.command} --save {folder}")
            code.append(f"# then: python {folder}/{folder}.py {shlex.quote(parts.place.view.uri)}")
        return Answer(
            self.sentence,
            (
                Section("notes", "", lines(self._notes)),
                Section(
                    "losses",
                    "What does not come back",
                    lines(losses["statement"].to_list()),
                    is_warning=True,
                ),
                Section("steps", several, steps, words=("step",), uncut=("step", "call")),
                Section(
                    "rows",
                    _title(num_rows),
                    first,
                    shown=self._shown(first),
                    uncut=tuple(first.columns[2:]),
                ),
                Section(
                    "conflicts",
                    "Conflicts",
                    conflicts,
                    shown=_with_nulls(conflicts),
                    uncut=("planned", "now", "key"),
                    schema=PLAN_CONFLICTS,
                ),
                Section("loss_lines", None, losses, schema=PLAN_LOSSES),
            ),
            "\n".join(code),
            is_call=bool(self),
        )

    def _first_rows(self) -> tuple[int, pl.DataFrame]:
        """Return how many rows it writes one by one, and some of them."""
        rows = self._parts.rows
        if rows is None or not rows.num_rows:
            return 0, pl.DataFrame()
        from lance_explorer.values.opening import to_polars

        batch = pa.Table.from_batches([next(iter(rows.batches()))])
        first = pa.array(range(min(len(batch), _FIRST_ROWS)))  # Polars refuses slices of vectors
        return rows.num_rows, to_polars(batch.take(first)).drop("_rowaddr")

    def _shown(self, first: pl.DataFrame) -> pl.DataFrame:
        """Return rows with values as text, and a word for a null that is written."""
        rows, texts = self._parts.rows, list[pl.Series]()
        written = {one.name for one in rows.written} if rows is not None else set[str]()
        for column in first.get_columns()[2:]:
            is_written = first["_change"] == "insert"
            if column.name in written:
                is_written |= first["_change"] == "update"
            text = briefs_of(column)[0].alias(column.name)
            texts.append(text.set(is_written & text.is_null(), "null"))
        return first.with_columns(texts)

    @property
    def _notes(self) -> list[str]:
        """Other facts to know, in sentences."""
        parts = self._parts
        notes = [parts.about] if parts.about else []
        notes += parts.notes[0 if self else 1 :]
        rows = parts.rows
        if isinstance(rows, RowWork) and rows.num_rows:
            notes.append(f"It writes about {byte_size(self._facts.bytes_written(rows))}.")
        return notes

    @property
    def _subject(self) -> str:
        return self._parts.place.view.name


def _title(num_rows: int) -> str:
    return "Rows" if num_rows <= _FIRST_ROWS else f"The first {_FIRST_ROWS} of {num_rows:,} rows"


def _lower_first(words: str) -> str:
    return f"{words[:1].lower()}{words[1:]}"


def _with_nulls(conflicts: pl.DataFrame) -> pl.DataFrame:
    """Return conflicts, with a word for a null that is a value of the table."""
    is_cell = (pl.col("subject") == "row") & pl.col("name").is_not_null()
    are_values = {
        "planned": is_cell & pl.col("note").is_null(),
        "now": is_cell & (pl.col("reason") == "changed_since"),
    }
    return conflicts.with_columns(
        pl.when(is_value & pl.col(name).is_null()).then(pl.lit("null")).otherwise(name).alias(name)
        for name, is_value in are_values.items()
    )


def _check_outside(folder: Path) -> None:
    """Refuse a folder that is inside a table."""
    for one in (folder, *folder.parents):
        if (one / "_versions").is_dir() or (one / "_transactions").is_dir():
            raise InvalidArgumentError(
                f"a plan cannot be saved inside a table, and {one} is one: name another folder"
            )
