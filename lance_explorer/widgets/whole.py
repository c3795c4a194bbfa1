"""A view that contains views: they share its connection, each under a number of its own.

A part may have parts itself: a message contains the numbers on the path to its view.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import structs

from lance_explorer.widgets.messages.base import Json, Question
from lance_explorer.widgets.messages.parts import Address, Part
from lance_explorer.widgets.parts import parts_of
from lance_explorer.widgets.state import ExplorerState
from lance_explorer.widgets.view import Request, View, answers, sent

__all__ = ["Whole", "traits_for_browser"]


class Whole(View):
    """The base of views that contain others."""

    parts = sent(dict[str, Part], {})
    """The views that were made, by name: the number of each, and its traits."""

    address = sent(Address, Address("", 0))
    """The current place, and the number of places visited before."""

    def __init__(self, *, state: ExplorerState | None = None) -> None:
        self._numbered: dict[int, View] = {}
        self._num_parts = 0
        super().__init__(state=state)

    @abstractmethod
    def visit(self, address: str) -> None:
        """Show what an address names: the part of a link after ``#``."""

    @abstractmethod
    def link(self) -> str:
        """Return the address of what is shown, with the columns that were chosen."""

    @answers("visit")
    def _visit(self, _: Request, *, address: str) -> None:
        self.visit(address)

    @answers("link")
    def _link(self, _: Request) -> Address:
        return Address(self.link(), self.address.step)

    def answer_question(self, question: Question) -> None:
        """Answer a question of the browser, or pass it on to its view."""
        if not question.part:
            super().answer_question(question)
        elif view := self._numbered.get(question.part[0]):
            view.answer_question(_within(question))

    def answer_late(self, question: Question) -> None:
        """Answer a question that takes longer than the time limit of the state."""
        if not question.part:
            super().answer_late(question)
        elif view := self._numbered.get(question.part[0]):
            view.answer_late(_within(question))

    def _make_part(self, make: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Make a view that shares the connection of this one."""
        self._num_parts += 1
        with parts_of(self._send_of(self._num_parts)):
            view = make(*arguments, **options)
        still_open = {n: one for n, one in self._numbered.items() if one.comm is not None}
        self._numbered = {**still_open, self._num_parts: view}
        return view

    def _show_part(self, name: str, view: View) -> None:
        """Announce a part to the browser under a name, instead of any other of that name."""
        [number] = [number for number, one in self._numbered.items() if one is view]
        with self._sharing:
            state = traits_for_browser(view.traits_to_share(), is_linked=view.state is self.state)
            self.parts = {**self.parts, name: Part(number=number, **state)}

    def _send_of(self, number: int) -> Callable[[Mapping[str, Json], list[bytes]], None]:
        """Return what sends the messages of the view with a number."""

        def send(data: Mapping[str, Json], buffers: list[bytes]) -> None:
            if data["method"] == "custom":
                content = data["content"]
                self.send({**content, "part": [number, *content.get("part", ())]}, buffers)
            elif data["method"] == "update" and (view := self._numbered.get(number)):
                state = traits_for_browser(data["state"], is_linked=view.state is self.state)
                self._tell_traits(number, state)

        return send

    def _tell_traits(self, number: int, changed: Mapping[str, Json]) -> None:
        with self._sharing:
            for name, part in self.parts.items():
                if changed and part.number == number:
                    self.parts = {**self.parts, name: structs.replace(part, **changed)}


def traits_for_browser(traits: Mapping[str, Json], *, is_linked: bool) -> dict[str, Json]:
    """Return the traits of a part for the browser: the whole sends the choices of all views."""
    return {name: value for name, value in traits.items() if not (is_linked and name == "shared")}


def _within(question: Question) -> Question:
    """Return a question in the form in which its part gets it."""
    return structs.replace(question, part=question.part[1:])
