"""Stable row IDs turned on for a table that pylance wrote without, as Lance describes it.

No call in Python does that. The manifest of a merge that changes nothing else is written by hand:
each physical row of each fragment gets a row ID, deleted ones too. Indices are dropped, since they
hold addresses. pylance reads it, and writes on.
"""

import uuid
from pathlib import Path

import lance
import numpy as np

from lance_explorer.format._pb import table_pb2
from lance_explorer.format._pb import transaction_pb2 as pb
from lance_explorer.format.flags import STABLE_ROW_IDS
from tests.synthetic.fragments import RowSequences
from tests.synthetic.manifests import ManifestFile
from tests.synthetic.sequences import row_id_sequence
from tests.synthetic.transactions import encode_transaction
from tests.synthetic.wire import record

__all__ = ["turn_on_row_ids"]

_FRAGMENTS = 2
_V2_DIGITS = 20


def turn_on_row_ids(uri: str, *, with_versions: bool = True) -> int:
    """Commit a merge that gives all rows of the latest version row IDs; return its number.

    Parameters
    ----------
    uri : str
        The table, or a branch of it.
    with_versions : bool
        Whether fragments say, too, that the rows were created and updated by this commit.
    """
    read_version = lance.dataset(uri).version
    version = read_version + 1
    before = _manifest_path(uri, read_version)
    file = ManifestFile.from_bytes(before.read_bytes())
    manifest = file.message
    fragments = [
        table_pb2.DataFragment.FromString(data)
        for data in table_pb2.ManifestEnvelope.FromString(file.fragments).fragments
    ]
    first = 0
    for fragment in fragments:
        count = fragment.physical_rows
        ids = np.arange(first, first + count, dtype=np.uint64)
        first += count
        if with_versions:
            versions = np.full(count, version, dtype=np.uint64)
            RowSequences([ids], versions, versions).write_to(fragment)
        else:
            fragment.inline_row_ids = row_id_sequence([ids])
    name = str(uuid.uuid4())
    manifest.version = version
    manifest.next_row_id = first
    manifest.reader_feature_flags |= STABLE_ROW_IDS
    manifest.writer_feature_flags |= STABLE_ROW_IDS
    manifest.transaction_file = f"{read_version}-{name}.txn"
    manifest.timestamp.nanos += 1
    operation = pb.Merge(fragments=fragments, schema=manifest.fields)
    transaction = encode_transaction("merge", operation, read_version, name)
    written = ManifestFile(
        message=manifest,
        fragments=b"".join([record(_FRAGMENTS, one.SerializeToString()) for one in fragments]),
        transaction=transaction,
        transaction_field=file.transaction_field,
        major_version=file.major_version,
        minor_version=file.minor_version,
    )
    Path(uri, "_transactions", manifest.transaction_file).write_bytes(transaction)
    _manifest_path(uri, version, like=before).write_bytes(written.to_bytes())
    Path(uri, "_versions", "latest_version_hint.json").write_text(f'{{"version":{version}}}')
    return version


def _manifest_path(uri: str, version: int, like: Path | None = None) -> Path:
    """Return where a version is, named as another one is."""
    versions = Path(uri, "_versions")
    names = [f"{2**64 - 1 - version:020d}.manifest", f"{version}.manifest"]
    if like is not None:
        return versions / names[len(like.stem) != _V2_DIGITS]
    [found] = [versions / name for name in names if (versions / name).exists()]
    return found
