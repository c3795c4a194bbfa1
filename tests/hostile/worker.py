"""Make many tables that lead outside, ask them everything, and print what got out, as JSON.

Run with a folder, the number of the first table, and how many. In a process of its own, since it
watches the whole process and its environment leads all requests to a server that is watched.
"""

import json
import os
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

import lance_explorer as lx
from lance_explorer.errors import LanceExplorerError
from tests.hostile.places import far_places
from tests.hostile.shadow import SECRET, SECRET_NUMBER, Shadow, templates, write_shadow
from tests.hostile.watching import Connections, Openings

_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "AKSENTINEL",
    "AWS_SECRET_ACCESS_KEY": "SKSENTINEL",
    "AWS_REGION": "us-east-1",
    "AWS_ALLOW_HTTP": "true",
    "AZURE_STORAGE_ACCOUNT_NAME": "mine",
    "AZURE_STORAGE_SAS_TOKEN": "sv=1&sig=SASSENTINEL",
    "GOOGLE_SKIP_SIGNATURE": "true",
}

_ALWAYS: dict[str, Callable[[lx.Table], Any]] = {
    "read": lambda table: table.latest.read(),
    "rows": lambda table: table.latest.row_ids(),
    "findings": lambda table: table.inspect.findings(),
}

_SOMETIMES: dict[str, Callable[[lx.Table], Any]] = {
    "filter": lambda table: table.latest.read(filter="id >= 0"),
    "scan": lambda table: table.latest.scan().collect(),
    "sql": lambda table: table.sql("SELECT * FROM dataset"),
    "values": lambda table: table.latest.row_ids(columns=["id"]),
    "index": lambda table: table.latest.row_id_index().locate(2),
    "changes": lambda table: table.changes(1, images="both").to_polars(),
    "feed": lambda table: table.changes(0, mode="per_commit", images="both").to_polars(),
    "content": lambda table: table.diff(1, table.latest.version).same_content(),
    "diff": lambda table: table.diff(1, table.latest.version).fragments(),
    "check": lambda table: table.check_row_ids(),
    "row": lambda table: table.row(2).history(values=True),
    "lineage": lambda table: table.lineage().fragments(),
    "compactions": lambda table: table.compaction_lineage(),
    "deletions": lambda table: table.inspect.all_deletions(),
    "health": lambda table: table.inspect.health(),
    "html": lambda table: table._repr_html_(),
    "tags": lambda table: table.tags,
    "bases": lambda table: table.inspect.base_paths(),
    "reuse": lambda table: table.inspect.fragment_reuse(),
}


def text_of(answer: Any) -> str:
    return f"{answer.to_dicts() if isinstance(answer, pl.DataFrame) else answer}"


def ask(table: Callable[[], lx.Table], questions: list[str]) -> dict[str, str]:
    """Return the answers as text; expected errors are answers."""
    answers = {}
    for name in questions:
        try:
            answers[name] = text_of((_ALWAYS | _SOMETIMES)[name](table()))
        except LanceExplorerError as error:
            answers[name] = f"{type(error).__name__}: {error}"
    return answers


def is_told(text: str) -> bool:
    return SECRET in text or str(SECRET_NUMBER) in text


def main(folder: Path, first: int, count: int) -> None:
    near, outside, made = folder / "near", folder / "outside", folder / "templates"
    for each in (near, outside, made):
        each.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    (near / "link").symlink_to(outside)
    connections = Connections()
    server = f"http://127.0.0.1:{connections.port}"
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), server)
    os.environ.update(_ENVIRONMENT, HOME=str(folder), AWS_ENDPOINT_URL=server, **proxies)
    os.chdir(near)
    tables = templates(made, outside / "secret.txt")
    for table in tables:
        write_shadow(table, outside)
    openings = Openings([outside])
    openings.take()
    options = {"client_max_retries": "0", "proxy_url": server, "allow_http": "true"}
    leaks, refused = list[str](), 0
    for number in range(first, first + count):
        chance = random.Random(number)
        shadow = Shadow(chance.choice(tables), outside, near)
        places = far_places(chance, outside, near, connections.port)
        path = shadow.make(f"{number}.lance", chance, places)
        openings.take()
        questions = [*_ALWAYS, *chance.sample([*_SOMETIMES], 3)]
        given = options if chance.random() < 0.5 else None
        answers = ask(partial(lx.open_table, path, None, given), questions)
        refused += any("is not opened" in answer for answer in answers.values())
        leaks += [f"{number}: {name} told" for name, text in answers.items() if is_told(text)]
        leaks += [f"{number}: {what} {places}" for what in openings.take()]
        leaks += [f"{number}: {what!r} {places}" for what in connections.requests]
        connections.requests.clear()
    print(json.dumps({"leaks": leaks, "refused": refused}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
