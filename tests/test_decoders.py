"""What holds for every decoder: it is listed for fuzzing, and bytes can only be refused."""

import inspect
import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lance.file import LanceFileReader

from lance_explorer import format as format_room
from lance_explorer.errors import FormatError
from lance_explorer.format import DECODERS
from lance_explorer.format._pb import table_pb2
from lance_explorer.format.fragments import DeletionFileType
from lance_explorer.format.manifest import read_layout
from tests.format import samples

OTHER_ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "decode_branch": [{"name": "dev"}],
    "decode_tag": [{"name": "gold"}],
    "decode_deletion_file": [
        {"file_type": file_type, "physical_rows": rows}
        for file_type in (*DeletionFileType, 7)
        for rows in (None, 0, 6)
    ],
}
"""What a decoder needs to know beside the bytes; nothing if it is not here."""

LONGEST_SAMPLE = 4096


def stored_pieces() -> list[bytes]:
    """Return pieces of the stored tables of every kind that some decoder takes."""
    pieces = [path.read_bytes() for path in samples.DATA.glob("*/*.lance/_refs/*/*.json")]
    pieces += [path.read_bytes() for path in samples.DATA.glob("*/*.lance/_deletions/*")]
    pieces += [
        path.read_bytes() for path in samples.DATA.glob("*/*.lance/_mem_wal/*/manifest/*.binpb")
    ]
    pieces += [path.read_bytes() for path in samples.DATA.glob("*/*.lance/_mem_wal/*/wal/*.arrow")]
    for path in samples.DATA.glob("14.0.2/*.lance/_indices/*/bitmap_page_lookup.lance"):
        pieces += LanceFileReader(str(path)).read_all().to_table()["bitmaps"].to_pylist()
    for table in samples.stored_tables():
        pieces += samples.transaction_files(table)
        for file in samples.manifest_files(table):
            message = read_layout(file).message
            fragments = samples.read_manifest(file).fragments
            index_section = samples.index_section(file)
            pieces += [file, file[message.offset : message.end], *fragments]
            pieces += [index_section] if index_section else []
            pieces += [sequence for fragment in fragments for sequence in sequences(fragment)]
    return sorted({piece for piece in pieces if len(piece) <= LONGEST_SAMPLE})


def sequences(fragment: bytes) -> list[bytes]:
    """Return the row-ID and row-version sequences inside a fragment."""
    message = table_pb2.DataFragment.FromString(fragment)
    return [message.inline_row_ids, message.inline_created_at, message.inline_last_updated_at]


PIECES = stored_pieces()


def every_decoder(test: Callable[..., None]) -> Any:
    return pytest.mark.parametrize("decode", DECODERS, ids=lambda d: d.__name__)(test)


def refusals(decode: Callable[..., object], data: bytes) -> list[FormatError]:
    """Return the refusals of a decoder; any other error is none of its business."""
    refused = []
    for arguments in OTHER_ARGUMENTS.get(decode.__name__, [{}]):
        try:
            decode(data, **arguments)
        except FormatError as error:
            refused.append(error)
    return refused


def test_every_decoder_is_listed():
    modules = pkgutil.iter_modules(format_room.__path__, f"{format_room.__name__}.")
    found = {
        function
        for module in modules
        for name, function in inspect.getmembers(import_module(module.name), inspect.isfunction)
        if name.startswith("decode_")
    }
    assert {function.__name__ for function in found - set(DECODERS)} == set()


@every_decoder
def test_the_first_argument_is_the_bytes(decode):
    assert next(iter(inspect.signature(decode).parameters)) == "data"


@every_decoder
def test_some_stored_piece_is_understood(decode):
    arguments = OTHER_ARGUMENTS.get(decode.__name__, [{}])
    assert any(len(refusals(decode, piece)) < len(arguments) for piece in PIECES)


@every_decoder
@given(data=st.binary(max_size=200))
def test_random_bytes_are_decoded_or_refused(decode, data):
    expect_places(refusals(decode, data), data)


@every_decoder
@given(data=samples.damaged(PIECES))
def test_damaged_pieces_are_decoded_or_refused(decode, data):
    expect_places(refusals(decode, data), data)


def expect_places(refused: list[FormatError], data: bytes) -> None:
    """Check that refusals can be shown, and tell a place in the data."""
    for error in refused:
        assert str(error).isprintable()
        assert error.offset is not None
        assert 0 <= error.offset <= len(data)
