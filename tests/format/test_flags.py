"""Names of feature flags, and which of them make rows unreadable."""

import lance
import pyarrow as pa
import pytest

from lance_explorer.format.flags import STABLE_ROW_IDS, flag_names, unreadable_flags
from lance_explorer.format.manifest import decode_manifest
from tests.format import samples

READABLE = [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 2048, 8192, 16384, 32768]
UNREADABLE = [512, 4096, *[1 << bit for bit in range(16, 64)]]


def test_no_flag_has_no_name():
    assert flag_names(0) == ()


def test_names_stand_in_the_order_of_their_bits():
    assert flag_names(8 | 1 | 2) == ("deletion_files", "stable_row_ids", "table_config")


def test_every_bit_has_a_name_of_its_own():
    assert len(set(flag_names(2**64 - 1))) == 64


def test_a_bit_without_a_name_is_named_by_its_value():
    assert flag_names(1 << 63) == ("unknown_9223372036854775808",)


@pytest.mark.parametrize("flag", READABLE)
def test_flags_that_do_not_touch_rows_leave_them_readable(flag):
    assert unreadable_flags(flag) == ()


@pytest.mark.parametrize("flag", UNREADABLE)
def test_flags_that_may_change_what_rows_are_make_them_unreadable(flag):
    assert unreadable_flags(flag) == flag_names(flag)


def test_only_the_flags_at_fault_are_named():
    assert unreadable_flags(1 | 2 | 4096) == ("fragment_tree",)


def test_a_writer_sets_the_flags_that_their_names_say(tmp_path):
    path = tmp_path / "t.lance"
    table = lance.write_dataset(pa.table({"a": [1, 2, 3]}), path, enable_stable_row_ids=True)
    table.delete("a = 2")
    table.update_config({"key": "value"})
    manifest, _, _ = decode_manifest(samples.manifest_of(path))
    assert manifest.reader_feature_flags & STABLE_ROW_IDS
    assert flag_names(manifest.reader_feature_flags) == ("deletion_files", "stable_row_ids")
    assert flag_names(manifest.writer_feature_flags & 8) == ("table_config",)
