"""Spellings of places outside of a table, for every scheme, as whoever means harm would choose."""

import os
import random
from pathlib import Path

__all__ = ["far_places"]

_LONG = "x" * 5_000


def far_places(chance: random.Random, outside: Path, near: Path, port: int) -> list[str]:
    """Return some of them; ``near`` is the folder of the table, and ``port`` one that is watched.

    ``outside`` lies beside ``near``, which has a link to it of the name ``link``.
    """
    encoded = "".join(f"%{ord(letter):02x}" if letter != "/" else "/" for letter in str(outside))
    local = [
        str(outside),
        f"{outside}/",
        f"{outside}/.",
        f"{near}/../{outside.name}",
        f"{near}/link",
        f"{near}/link/../{outside.name}",
        os.path.relpath(outside),
        f"~/{outside.name}",
        f"file://{outside}",
        f"FILE://{outside}",
        f"file:{outside}",
        f" file://{outside}",
        f"fi\tle://{outside}",
        f"file://localhost{outside}",
        f"file://{encoded}",
        f"file://{near}/%2e%2e/{outside.name}",
        f"file://elsewhere{outside}",
        f"file-object-store://{outside}",
        f"{outside}\0",
        f"{outside}/{_LONG}",
        f"C:{outside}",
        "/etc",
        "file:///etc",
        "../../../../../../etc",
    ]
    remote = [
        "s3://evil/x",
        "S3://evil/x",
        "s3a://evil/x",
        " s3://evil/x",
        "s3\t://evil/x",
        "s3://key:hush@evil/x",
        "s3+ddb://evil/x?ddbTableName=t",
        "gs://evil/x",
        "az://evil/x",
        "abfs://c@evil.dfs.core.windows.net/x",
        "abfss://c@evil.dfs.core.windows.net/x",
        "abfss://c@evil.blob.core.windows.net/x?sig=1",
        "abfss://c@mine.dfs.core.windows.net:1/x",
        "wasb://c@evil.blob.core.windows.net/x",
        "https://evil.blob.core.windows.net/c/x",
        f"http://127.0.0.1:{port}/x",
        f"http://127.0.0.1:{port}@evil/x",
        "hf://datasets/evil/x",
        "oss://evil/x",
        "memory://x",
        "\\\\evil\\share",
        "gopher://evil/x",
    ]
    return [chance.choice(local), chance.choice(remote), chance.choice([*local, *remote])]
