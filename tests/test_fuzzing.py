"""Damaged files are answered or refused; `make fuzz` tries many more, each time others."""

import random

import pytest

from lance_explorer.errors import CorruptFileError, InvalidArgumentError, StorageError
from lance_explorer.format import DECODERS
from tests import fuzzing


@pytest.mark.slow
@pytest.mark.drawn(1)
def test_damaged_files_are_answered_or_refused(seed):
    seen = fuzzing.fuzz(cases=3_000, seed=seed)
    assert seen.failures == []
    assert seen.endings["decoders: decoded"] > 500
    assert seen.endings["decoders: CorruptFileError"] > 500
    assert seen.endings["tables: all answered"] > 5
    assert sum(seen.endings.values()) == 3_000


@pytest.mark.slow
def test_every_decoder_gets_something_that_it_understands():
    assert {pieces[0][0] for pieces in fuzzing.understood_pieces()} == {*DECODERS}


@pytest.mark.parametrize("error", [KeyError("x"), MemoryError(), RecursionError(), SystemExit()])
def test_any_other_exception_is_a_failure(error):
    def run() -> str:
        raise error

    seen = fuzzing.Seen()
    seen.note("tables", "a case", run)
    assert len(seen.failures) == 1
    assert seen.endings == {f"tables: FAILED with {type(error).__name__}": 1}


@pytest.mark.parametrize(
    "error",
    [
        CorruptFileError("lies"),
        CorruptFileError("lies", "_versions/1.manifest"),
        CorruptFileError("lies", "_versions/1.manifest", 11),
        CorruptFileError("lies", "_versions/2.manifest", 0),
        CorruptFileError("a\nb", "_versions/1.manifest", 0),
        StorageError("broken"),
        InvalidArgumentError("not this"),
    ],
    ids=str,
)
def test_a_refusal_that_does_not_name_what_is_damaged_is_a_failure(tmp_path, error):
    (tmp_path / "_versions").mkdir()
    (tmp_path / "_versions" / "1.manifest").write_bytes(b"0123456789")
    with pytest.raises((AssertionError, InvalidArgumentError)):
        fuzzing._refusal(error, tmp_path)
    told = CorruptFileError("lies", "_versions/1.manifest", 10)
    assert fuzzing._refusal(told, tmp_path) == "CorruptFileError"


def test_a_decoder_that_tells_no_place_is_a_failure():
    def decode(data: bytes) -> None:
        raise CorruptFileError("lies")

    seen = fuzzing.Seen()
    fuzzing._fuzz_decoder(random.Random(1), seen, [[(decode, {}, b"abc")]])
    assert seen.endings == {"decoders: FAILED with AssertionError": 1}


def test_a_hang_is_a_failure(monkeypatch):
    monkeypatch.setattr(fuzzing, "MOST_SECONDS", 0.01)

    def run() -> str:
        while True:
            pass

    seen = fuzzing.Seen()
    seen.note("decoders", "a case", run)
    assert seen.endings == {"decoders: FAILED with TimeoutError": 1}


def test_a_case_is_the_same_for_the_same_seed():
    data = bytes(range(200))
    drawn = [
        [fuzzing.damaged(chance, data, data[::-1]) for _ in range(100)]
        for chance in (random.Random(1), random.Random(1))
    ]
    assert drawn[0] == drawn[1]
    assert len({*drawn[0]}) > 90
