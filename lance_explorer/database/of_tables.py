"""The answers of each table of a database."""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from lance_explorer.answers import Answering
from lance_explorer.arguments import shown
from lance_explorer.errors import LanceExplorerError, TableNotFoundError

__all__ = ["OfTables"]

_T = TypeVar("_T")


class OfTables(Answering, Generic[_T]):
    """The answer of each table of a database, by its name; reading another one raises its error.

    Iterating gives the names of the tables with an answer.
    """

    def __init__(self, name: str, found: Mapping[str, _T | LanceExplorerError]) -> None:
        self._name, self._found = name, found

    def __getitem__(self, name: str) -> _T:
        answer = self._found.get(name)
        if answer is None:
            raise TableNotFoundError(f"{self._name} has no table {shown(name)}")
        if isinstance(answer, LanceExplorerError):
            raise answer
        return answer

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def _subject(self) -> str:
        return self._name

    @property
    def _answers(self) -> dict[str, _T]:
        return {
            name: one
            for name, one in self._found.items()
            if not isinstance(one, LanceExplorerError)
        }
