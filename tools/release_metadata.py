"""The part of the package's metadata that depends on where the repository is.

A build reads `GITHUB_REPOSITORY` (`owner/name`), which a workflow of GitHub sets. With it the
metadata have links to the repository, and the README, which is the package page, has absolute
links and pictures, those of the tag. Without it there are no links, and the README stays as it is.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parent.parent

_LINK = re.compile(r"(!?)\[([^]]*)\]\((?!https?://|#)([^)]+)\)")


class RepositoryMetadata(MetadataHookInterface):
    """Sets `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add them to the metadata of the project."""
        text = (ROOT / "README.md").read_text("utf-8")
        if repository := os.environ.get("GITHUB_REPOSITORY"):
            server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
            address = f"{server}/{repository}"
            text = with_absolute_links(text, address, f"v{metadata['version']}")
            metadata["urls"] = {
                "Homepage": address,
                "Documentation": f"{address}/tree/main/docs",
                "Changelog": f"{address}/blob/main/CHANGELOG.md",
                "Issues": f"{address}/issues",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def with_absolute_links(text: str, address: str, tag: str) -> str:
    """Return Markdown whose links and pictures lead into a repository at a tag.

    Examples
    --------
    >>> with_absolute_links("![a](b.png) [c](d.md#e)", "https://x/y", "v1")
    '![a](https://x/y/raw/v1/b.png) [c](https://x/y/blob/v1/d.md#e)'
    """

    def absolute(link: re.Match[str]) -> str:
        is_picture, words, path = link.groups()
        kind = "raw" if is_picture else "blob"
        return f"{is_picture}[{words}]({address}/{kind}/{tag}/{path})"

    return _LINK.sub(absolute, text)
