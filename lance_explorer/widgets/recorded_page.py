"""The explorer in one HTML file that needs no Python and no network."""

import base64
import hashlib
import json
import os
import re
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template

from lance_explorer.arguments import file_to_write
from lance_explorer.display import table_name
from lance_explorer.errors import InvalidArgumentError, StorageError
from lance_explorer.table import Table
from lance_explorer.widgets.messages.base import to_json
from lance_explorer.widgets.recording import Recording, record
from lance_explorer.widgets.session import STATIC

__all__ = ["write_recorded_page"]

_AROUND = 20_000
"""Bytes of the page besides its script, its style and the answers."""

_PAGE = Template(
    """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="referrer" content="no-referrer">
<title>$title</title>
<link rel="icon" href="data:,">
<style>$style</style>
</head>
<body class="lx-page">
<p class="lx-page-note">$words <span class="lx-page-made">$made</span></p>
<noscript><p class="lx-page-note">The browser runs no script, which this page needs.</p></noscript>
<script type="application/json" id="lx-recording">$page</script>
$shelves
<script type="module">$script</script>
</body>
</html>
"""
)


def write_recorded_page(table: Table, path: str | os.PathLike[str], most: int) -> Path:
    """Write the explorer of a table into one file; return where it is.

    ``most`` is its ``max_bytes``; all else is as :meth:`~lance_explorer.table.Table.report` says.
    """
    target = file_to_write("path", path)
    script, style = _script(), (STATIC / "explorer.css").read_text(encoding="utf-8")
    room = most - len(script.encode()) - len(style.encode()) - _AROUND
    recording = record(table, room) if room > 0 else None
    page = "" if recording is None else _page(table, recording, script, style)
    if not 0 < len(page.encode()) <= most:
        raise InvalidArgumentError(
            f"max_bytes: the page with the versions alone needs more than {most:,} bytes"
        )
    try:
        target.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StorageError(f"the report cannot be written: {error}") from error
    return target


def _page(table: Table, recording: Recording, script: str, style: str) -> str:
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; media-src data:; base-uri 'none'; form-action 'none'"
    )
    shelves = [
        f'<script type="text/plain" class="lx-shelf">{shelf}</script>'
        for shelf in recording.shelves.shelves
    ]
    made_at = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return _PAGE.substitute(
        policy=policy,
        title=escape(table_name(table._view)),
        style=style,
        words=escape(recording.words),
        made=escape(f"Made by lance_explorer {version('lance-explorer')} on {made_at}."),
        page=json.dumps(to_json(recording.page), separators=(",", ":")).replace("<", "\\u003c"),
        shelves="\n".join(shelves),
        script=script,
    )


def _script() -> str:
    """Return the script of all views, which shows the content of the page."""
    bundle = (STATIC / "explorer.js").read_text(encoding="utf-8")
    exported = re.search(r"([\w$]+) as openRecorded\b", bundle)
    if exported is None or "</script" in bundle.lower() or "<!--" in bundle:
        raise AssertionError("the script of the views cannot be put into a page")
    return f"{bundle}\n{exported[1]}(document.body);\n"


def _digest(text: str) -> str:
    """Return the hash by which a policy names a script or a style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
