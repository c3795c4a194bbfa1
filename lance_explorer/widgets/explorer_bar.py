"""The bar on top of the explorer: what is chosen, the search box, and the tabs of its views."""

from collections.abc import Callable, Mapping
from typing import Any

import traitlets

from lance_explorer.errors import LanceExplorerError
from lance_explorer.table import Table
from lance_explorer.widgets.search import UNDERSTOOD, Found, search
from lance_explorer.widgets.state import ExplorerState
from lance_explorer.widgets.view import Request, View, answers

__all__ = ["ExplorerBar"]


class ExplorerBar(View):
    """Shows where one is, and leads elsewhere.

    Parameters
    ----------
    table : Table
        The table.
    state : ExplorerState
        What is chosen.
    labels : mapping of str to str
        The views by name, and what their tabs say.
    place_of : callable
        Returns in which view something that was searched for is shown, and the changes for it.
    go : callable
        Goes some places back (below 0) or forward.
    code : callable
        Returns the code for what is shown.
    """

    _module = "explorer_bar"

    place = traitlets.Dict().tag(sync=True)
    """The view that is shown, and whether one can go back or forward."""

    def __init__(
        self,
        table: Table,
        *,
        state: ExplorerState,
        labels: Mapping[str, str],
        place_of: Callable[[Found], tuple[str, dict[str, int | None]]],
        go: Callable[[int], None],
        code: Callable[[], str],
    ) -> None:
        super().__init__(state=state)
        self._table = table
        self._labels = labels
        self._place_of = place_of
        self._go_by = go
        self._code = code

    def show_place(self, view: str, *, can_go_back: bool, can_go_forward: bool) -> None:
        """Show where one is."""
        self.place = {"view": view, "can_go_back": can_go_back, "can_go_forward": can_go_forward}

    @answers("about")
    def _about(self, _: Request) -> dict[str, Any]:
        return {
            "name": self._table.uri.rstrip("/").rpartition("/")[2],
            "uri": self._table.uri,
            "branch": self._table.branch,
            "tabs": [{"name": name, "label": label} for name, label in self._labels.items()],
            "understood": UNDERSTOOD,
        }

    @answers("step")
    def _step(self, request: Request) -> dict[str, Any]:
        self._go_by(int(request["by"]))
        return {}

    @answers("search", in_background=True)
    def _search(self, request: Request) -> dict[str, Any]:
        """Return where to find what a text means; what is wrong with it is part of the answer."""
        request.progress("searching")
        try:
            view, changes = self._place_of(search(self._table, request["text"]))
        except LanceExplorerError as error:
            return {"problem": str(error)}
        return {
            "view": view,
            "changes": {k: None if v is None else str(v) for k, v in changes.items()},
        }

    @answers("code", in_background=True)
    def _as_code(self, _: Request) -> dict[str, Any]:
        return {"code": self._code()}
