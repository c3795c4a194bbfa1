"""The files below the root of a table that are not data (docs/FORMAT.md 1 and 9)."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from tests.synthetic.manifests import ManifestFile

__all__ = ["DETACHED", "MetadataFolder", "Naming"]

DETACHED = 1 << 63
"""The bit that tells the number of a detached version."""

Naming = Literal["V1", "V2"]

_LARGEST = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class MetadataFolder:
    """Writes files of a table. ``naming`` says how manifest files are named."""

    root: Path
    naming: Naming = "V2"

    def manifest_path(self, version: int) -> Path:
        """Return where the manifest of a version is."""
        if version & DETACHED:
            name = f"d{version}"
        else:
            name = f"{_LARGEST - version:020d}" if self.naming == "V2" else f"{version}"
        return self.root / "_versions" / f"{name}.manifest"

    def transaction_path(self, version: int) -> Path:
        """Return where the transaction of a version is, or would be."""
        return self.root / "_transactions" / self.read(version).message.transaction_file

    def read(self, version: int) -> ManifestFile:
        """Return the parts of a manifest file."""
        return ManifestFile.from_bytes(self.manifest_path(version).read_bytes())

    def write(self, version: int, file: ManifestFile) -> None:
        """Write a manifest file."""
        self.write_bytes(self.manifest_path(version), file.to_bytes())

    def write_hint(self, version: int) -> None:
        """Write the file that saves others a listing."""
        path = self.root / "_versions" / "latest_version_hint.json"
        path.write_bytes(b'{"version":%d}' % version)

    def write_ref(
        self, kind: Literal["tags", "branches"], name: str, facts: dict[str, Any]
    ) -> None:
        """Write a tag or a branch."""
        path = self.root / "_refs" / kind / f"{quote(name, safe='')}.json"
        self.write_bytes(path, json.dumps(facts, indent=2).encode())

    def write_bytes(self, path: Path, data: bytes) -> None:
        """Write a file; its folder is made if it is missing."""
        try:
            path.write_bytes(data)
        except FileNotFoundError:
            path.parent.mkdir(parents=True)
            path.write_bytes(data)
