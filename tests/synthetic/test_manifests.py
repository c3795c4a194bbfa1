"""Files that are taken apart and put together again are the same."""

from dataclasses import replace
from pathlib import Path

import pytest

from lance_explorer.errors import CorruptFileError
from lance_explorer.format.manifest import decode_manifest
from tests.synthetic import ManifestFile, SyntheticTable, record

DATA = Path(__file__).parent.parent / "data"
STORED = [
    path
    for path in sorted(DATA.glob("14.0.2/*.lance/**/_versions/*.manifest"))
    if "format_legacy.lance" not in path.parts  # its files begin with the values of dictionaries
]


def has_one_order(file: ManifestFile) -> bool:
    """Tell whether no map has two entries: those stand in any order."""
    message = file.message
    sizes = [len(message.config), len(message.table_metadata), len(message.schema_metadata)]
    return max([*sizes, *[len(field.metadata) for field in message.fields]]) < 2


def test_manifest_files_of_pylance_are_written_again_to_the_byte():
    files = [path.read_bytes() for path in STORED]
    parts = [ManifestFile.from_bytes(file) for file in files]
    different = [
        path.name
        for path, file, part in zip(STORED, files, parts, strict=True)
        if has_one_order(part) and part.to_bytes() != file
    ]
    assert len(files) > 50
    assert different == []


def test_shuffled_records_say_the_same(tmp_path):
    table = SyntheticTable(tmp_path).append(rows=3).append(rows=2)
    file = table.folder.read(2)
    shuffled = replace(file, shuffled=True)
    assert shuffled.to_bytes() != file.to_bytes()
    assert decode_manifest(shuffled.to_bytes()) == decode_manifest(file.to_bytes())


def test_the_offset_of_the_transaction_stands_in_the_field_of_choice(tmp_path):
    file = SyntheticTable(tmp_path).append().folder.read(1)
    old = replace(file, transaction_field="transaction_section_until_13")
    assert ManifestFile.from_bytes(old.to_bytes()) == old
    assert old.to_bytes() != file.to_bytes()


@pytest.mark.parametrize(
    "wrong", [{"magic": b"LANX"}, {"start": 1}, {"start": 1 << 40}, {"length": 7}], ids=repr
)
def test_wrong_footers_are_refused(tmp_path, wrong):
    file = SyntheticTable(tmp_path).append().folder.read(1)
    with pytest.raises(CorruptFileError):
        decode_manifest(replace(file, **wrong).to_bytes())


def test_more_records_are_read_like_any_other(tmp_path):
    file = SyntheticTable(tmp_path).append().folder.read(1)
    manifest, _, _ = decode_manifest(replace(file, more=record(22, b"")).to_bytes())
    assert manifest.has_fragment_tree
