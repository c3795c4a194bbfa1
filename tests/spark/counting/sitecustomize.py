"""Write down which files of tables a process opens: every Python finds this on its path."""

import os
import sys
from pathlib import Path

if _LOG := os.environ.get("LANCE_EXPLORER_OPENED"):
    _FILE = Path(_LOG).open("a", buffering=1, encoding="utf-8")  # noqa: SIM115

    def _note(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str) and ".lance/" in arguments[0]:
            _FILE.write(f"{os.getpid()} {arguments[0]}\n")

    sys.addaudithook(_note)
