"""SQL over the frames of a table, and nothing else."""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import polars as pl

from lance_explorer.arguments import text
from lance_explorer.errors import FormatError, InvalidArgumentError

__all__ = ["is_by_row", "read_expression", "run_query"]

_TOKEN = re.compile(
    r"""(?P<space>(?:\s|--[^\n]*)+)
      | (?P<comment>/\*)
      | (?P<literal>[xb]'[^'\\]*'(?!')|'(?:[^'\\]|''|\\(?!'))*')
      | (?P<quoted>"(?:[^"\\]|""|\\(?!"))*"|`[^`"\\]*`)
      | (?P<number>(?:0x[0-9a-f]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)(?!\w))
      | (?P<word>[^\W\d]\w*+(?!['"`]))
      | (?P<sign>(?:(?!--|/\*)[-+*/%<>=!~|&^:])+|[.,()\[\]])
      | (?P<end>;\s*\Z)""",
    re.VERBOSE | re.IGNORECASE,
)
_LONGEST = 8_192
"""Characters: Polars takes quadratic time for a chain, and a longer one ends the process."""

_BY_ROW = frozenset(
    "and or not in between like ilike when then else cast try_cast coalesce nullif ifnull "
    "abs ceil floor round sqrt pow power mod sign ln log log2 log10 exp greatest least "
    "lower upper length char_length octet_length trim ltrim rtrim left right replace reverse "
    "starts_with ends_with strpos substr substring concat initcap "
    "date timestamp strftime date_part extract".split()
)
"""Functions that look at no other row; others may be aggregates."""

_COMMENT_EDGE = re.compile(r"/\*|\*/")
_SELECTS = {"select", "with", "values", "from"}
_REFUSED = {"into", "insert", "update", "delete", "merge", "lateral", "table"}


class _Token(NamedTuple):
    kind: str
    text: str

    @property
    def name(self) -> str:
        """The name in a word or a quoted word, ignoring case."""
        if self.kind == "quoted":
            return self.text[1:-1].replace('""', '"').lower()
        return self.text.lower() if self.kind == "word" else ""

    @property
    def keyword(self) -> str:
        """The word, if it may be one of SQL's own."""
        return self.text.lower() if self.kind == "word" else ""


_OPEN, _CLOSE = _Token("sign", "("), _Token("sign", ")")


def run_query(
    query: str, names: Iterable[str], build: Callable[[str], pl.DataFrame | pl.LazyFrame]
) -> pl.DataFrame:
    """Run one SELECT over frames; only the frames that it reads are built.

    It reads nothing else: no file, no URL, no frame of the caller. The query that Polars gets is
    rebuilt from its tokens, without comments, so that both parse it alike.

    Parameters
    ----------
    query : str
        One SELECT; WITH, UNION and VALUES are part of that.
    names : iterable of str
        The frames that there are, in lower case.
    build : callable
        Gives a frame by its name.

    Raises
    ------
    InvalidArgumentError
        If the query is not a SELECT, or reads anything but the frames, which the message lists.

    Examples
    --------
    >>> run_query("SELECT count(*) AS n FROM tags", ["tags"], lambda name: pl.DataFrame({"a": [1]}))
    shape: (1, 1)
    ┌─────┐
    │ n   │
    │ --- │
    │ i64 │
    ╞═════╡
    │ 1   │
    └─────┘
    """
    names = sorted(names)
    query = text("query", query)
    _check_length(query)
    try:
        tokens = list(_tokens(query))
        _check_is_select(tokens)
        query = _written(tokens)
        read = _check_relations(tokens, _relations(query), names)
        frames = {name: build(name) for name in names if name in read}
        return pl.SQLContext(frames, eager=False).execute(query).collect()
    except FormatError:  # of the files from which a frame is made
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError) as error:
        raise InvalidArgumentError(f"{error}; the frames are {', '.join(names)}") from error


def read_expression(text: str) -> pl.Expr:
    """Return an SQL expression over the columns of a row, which reads nothing else.

    Raises
    ------
    InvalidArgumentError
        If there is a query in it.
    polars.exceptions.PolarsError
        If it is wrong.

    Examples
    --------
    >>> pl.DataFrame({"a": [1, 2]}).filter(read_expression("a > 1")).item()
    2
    """
    _check_length(text)
    if names := _relations(f"SELECT {text}"):
        raise InvalidArgumentError(
            "an expression can use only the columns of a row, but this reads "
            f"{', '.join(sorted(names))}"
        )
    return pl.sql_expr(text)


def is_by_row(text: str) -> bool:
    """Tell whether an expression is known to depend on one row at a time.

    Examples
    --------
    >>> is_by_row("lower(a) = 'x' AND b IN (1, 2)"), is_by_row("b > avg(b)")
    (True, False)
    """
    try:
        tokens = [*_tokens(text)]
    except InvalidArgumentError:
        return False
    called = {word.name for word, after in itertools.pairwise(tokens) if after == _OPEN}
    return called - {""} <= _BY_ROW


def _check_length(text: str) -> None:
    if len(text) > _LONGEST:
        raise InvalidArgumentError(
            f"SQL can have {_LONGEST:,} characters, this has {len(text):,}: filter the frame "
            "with Polars instead"
        )


def _relations(query: str) -> set[str]:
    """Return what a query reads, as Polars parses it: frames, functions for tables, files."""
    names = pl.SQLContext()._ctxt.table_identifiers(query, include_schema=True, unique=True)
    return {name.lower() for name in names}


def _tokens(query: str) -> Iterator[_Token]:
    position = 0
    while position < len(query):
        match = _TOKEN.match(query, position)
        if match is None or match.lastgroup is None:
            raise InvalidArgumentError(
                f"{query[position : position + 20]!r} at character {position} is not understood: "
                "text goes in '...' with a space before it (quotes in it are doubled, and have no "
                'backslash before them), names that are no plain words go in "...", and there is '
                "one statement"
            )
        position = match.end()
        if match.lastgroup == "comment":
            position = _end_of_comment(query, position)
        elif match.lastgroup not in {"space", "end"}:
            yield _Token(match.lastgroup, match.group())


def _end_of_comment(query: str, position: int) -> int:
    depth = 1
    while depth:
        edge = _COMMENT_EDGE.search(query, position)
        if edge is None:
            raise InvalidArgumentError("a comment /* has no end */")
        depth += 1 if edge.group() == "/*" else -1
        position = edge.end()
    return position


def _check_is_select(tokens: list[_Token]) -> None:
    first = next((token for token in tokens if token.text != "("), None)
    if first is None or first.keyword not in _SELECTS:
        said = "nothing" if first is None else first.text
        raise InvalidArgumentError(
            "a query is one SELECT (WITH, UNION and VALUES can be part of it), but this begins "
            f"with {said}: frames can only be read, not listed, changed or stored"
        )
    for token in tokens:
        if token.keyword in _REFUSED:
            raise InvalidArgumentError(
                f"{token.text} is not allowed in a query over frames, which cannot write or call "
                f'table functions; put a column of that name in quotes: "{token.text}"'
            )


def _check_relations(tokens: list[_Token], read: set[str], names: list[str]) -> set[str]:
    """Return the frames that are read, if nothing else is."""
    defined = {i: tokens[i].name for i in range(len(tokens)) if _is_defined(tokens, i)}
    for name in sorted(read):
        if name not in names and name not in defined.values():
            raise InvalidArgumentError(
                f"{name} is not a frame, and a query reads only frames: no files, no URLs, and no "
                "functions that return a table"
            )
    for i, (token, after) in enumerate(itertools.pairwise(tokens)):
        if token.name in read and after.text == "(" and i not in defined:
            raise InvalidArgumentError(
                f"{token.text} ( calls a function that returns a table, but a query reads only "
                "frames"
            )
    return read


def _is_defined(tokens: list[_Token], i: int) -> bool:
    """Tell whether a table of a WITH is defined here: name AS (..., or name (columns) AS (..."""
    if not tokens[i].name.isidentifier():
        return False
    i += 1
    if tokens[i : i + 1] == [_OPEN]:
        while i + 1 < len(tokens) and (tokens[i + 1].name or tokens[i + 1].text == ","):
            i += 1
        i += 2 if tokens[i + 1 : i + 2] == [_CLOSE] else 0
    return tokens[i + 1 : i + 2] == [_OPEN] and tokens[i].keyword == "as"


def _written(tokens: list[_Token]) -> str:
    """Return a query with these tokens, which cannot be read in another way."""
    return " ".join(f'"{t.text[1:-1]}"' if t.text[0] == "`" else t.text for t in tokens)
