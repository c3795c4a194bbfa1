"""What is shown instead of a view that could not be made."""

from collections.abc import Callable
from typing import Never

from lance_explorer.widgets.state import ExplorerState
from lance_explorer.widgets.view import Request, View, answers

__all__ = ["Unavailable"]


class Unavailable(View):
    """Shows why a view could not be made, and tries again on request.

    Parameters
    ----------
    error : BaseException
        What it failed with.
    again : callable
        Makes the view, and puts it here.
    state : ExplorerState
        What is chosen.
    """

    _module = "unavailable"

    def __init__(
        self, error: BaseException, again: Callable[[], object], *, state: ExplorerState
    ) -> None:
        super().__init__(state=state)
        self._error = error
        self._again = again
        self._is_told = False

    def frame(self) -> Never:
        """Raise the error of the view."""
        raise self._error

    def code(self) -> Never:
        """Raise what the view failed with."""
        raise self._error

    @answers("make")
    def _make(self, _: Request) -> None:
        """Send the error first, and make the view when it is asked for again."""
        if not self._is_told:
            self._is_told = True
            raise self._error
        self._again()
