import msgspec
import pytest
import traitlets
from msgspec.structs import asdict

from lance_explorer.widgets.messages.shared import Changes
from lance_explorer.widgets.state import ExplorerState, change, read_choices, to_browser


def test_numbers_go_to_the_browser_as_decimal_strings_and_come_back_exact():
    state = ExplorerState(version=2**53 + 1, row_id=2**64 - 1)
    told = to_browser(state)
    assert told.version == "9007199254740993"
    assert told.row_id == "18446744073709551615"
    assert told.fragment_id is None
    other = ExplorerState()
    sent = {name: value for name, value in asdict(told).items() if name != "revision"}
    change(other, read_choices(msgspec.convert(sent, Changes, strict=False)))
    assert (other.version, other.row_id, other.fragment_id) == (2**53 + 1, 2**64 - 1, None)


def test_a_number_that_is_no_uint64_is_refused():
    with pytest.raises(traitlets.TraitError):
        ExplorerState(row_id=2**64)
    with pytest.raises(traitlets.TraitError):
        ExplorerState(version=-1)


def test_the_browser_cannot_set_what_is_not_part_of_the_state():
    with pytest.raises(msgspec.ValidationError, match="unknown field `notify_change`"):
        msgspec.convert({"notify_change": "1"}, Changes)
