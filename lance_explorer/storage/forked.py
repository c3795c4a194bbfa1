"""What a forked process must not do: the threads of Polars and pylance do not exist there."""

import os
import re
import sys

from lance_explorer.errors import LanceExplorerError

__all__ = ["check_not_forked"]

_THREADS = "/proc/self/task"
_WAITED_FOR = re.compile("polars-[0-9]|lance")
_WAITED_FOR_BY_OBJECT_STORES = re.compile("tokio")


class _Threads:
    """Whether such threads exist: in this process, and when it was forked."""

    were_there = False
    are_missing = False


def check_not_forked() -> None:
    """Refuse to work in a process that was forked after Polars or pylance had worked.

    Raises
    ------
    LanceExplorerError
        If it was: waiting for their threads would never end.
    """
    if _Threads.are_missing:
        raise LanceExplorerError(
            "this process was forked from one that had used Polars or pylance, and would hang in "
            "both: start processes by spawn or forkserver, for example with "
            'multiprocessing.get_context("spawn"), and open the table in them'
        )


def _before_fork() -> None:
    _Threads.were_there = _is_any_running()


def _after_fork() -> None:
    _Threads.are_missing |= _Threads.were_there


def _is_any_running() -> bool:
    """Tell whether such a thread runs; if the system does not say, assume it does."""
    try:
        names = [_name(thread) for thread in os.listdir(_THREADS)]
    except OSError:
        return True
    of_stores = _WAITED_FOR_BY_OBJECT_STORES if "obstore" in sys.modules else _WAITED_FOR
    return any(_WAITED_FOR.match(name) or of_stores.match(name) for name in names)


def _name(thread: str) -> str:
    try:
        with open(f"{_THREADS}/{thread}/comm") as file:
            return file.read()
    except OSError:  # it has ended
        return ""


os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
