"""The package page: the README, whose links lead into the repository at the tag of the release."""

import re

import pytest

from tools.release_metadata import ROOT, RepositoryMetadata

ADDRESS = "https://github.com/owner/name"
LINK = re.compile(r"\]\(([^)#]*)[^)]*\)")


def metadata_of() -> dict[str, object]:
    found: dict[str, object] = {"version": "1.2.3"}
    RepositoryMetadata(str(ROOT), {}).update(found)
    return found


@pytest.mark.parametrize("repository", ["owner/name", None])
def test_all_links_are_absolute_where_the_repository_is_known(repository, monkeypatch):
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    monkeypatch.delenv("GITHUB_SERVER_URL", raising=False)
    if repository:
        monkeypatch.setenv("GITHUB_REPOSITORY", repository)
    found = metadata_of()
    text = found["readme"]["text"]  # type: ignore[index]
    if repository is None:
        assert text == (ROOT / "README.md").read_text()
        assert "urls" not in found
        return
    assert all(address.startswith(ADDRESS) for address in found["urls"].values())  # type: ignore[attr-defined]
    ours = (ROOT / "README.md").read_text()
    for before, after in zip(LINK.findall(ours), LINK.findall(text), strict=True):
        if before.startswith("https:"):
            assert after == before
        else:
            assert (ROOT / before).exists()
            kind = "raw" if before.endswith((".png", ".gif", ".webp")) else "blob"
            assert after == f"{ADDRESS}/{kind}/v1.2.3/{before}"
