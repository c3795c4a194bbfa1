"""Feature flags: bits of a manifest that a reader must know (docs/FORMAT.md 10)."""

__all__ = ["STABLE_ROW_IDS", "flag_names", "unreadable_flags"]

STABLE_ROW_IDS = 2

_NAMES = {
    1: "deletion_files",
    2: "stable_row_ids",
    4: "v2_format",
    8: "table_config",
    16: "base_paths",
    32: "transaction_files_disabled",
    64: "data_overlays",
    128: "covering_index_columns",
    256: "mixed_data_file_versions",
    512: "fragment_reuse_with_stable_row_ids",
    1024: "tagged_fragment_reuse",
    2048: "spilled_row_lineage",
    4096: "fragment_tree",
    8192: "covering_fields",
    16384: "managed_blobs",
    32768: "non_reusable_field_ids",
    65536: "zone_write_seed",
}

# What these mean for rows is unknown, so no row-level answer may be given if one is set. Covering
# fields are about indices alone.
_ROWS_UNREADABLE = 512 | 4096 | ~0xFFFF


def flag_names(flags: int) -> tuple[str, ...]:
    """Return the names of the set bits, lowest first; ``unknown_N`` for a bit without a name.

    Examples
    --------
    >>> flag_names(3)
    ('deletion_files', 'stable_row_ids')
    >>> flag_names(1 << 20)
    ('unknown_1048576',)
    """
    bits = [1 << shift for shift in range(flags.bit_length()) if flags >> shift & 1]
    return tuple([_NAMES.get(bit, f"unknown_{bit}") for bit in bits])


def unreadable_flags(reader_flags: int) -> tuple[str, ...]:
    """Return the names of the reader flags that forbid row-level answers.

    Examples
    --------
    >>> unreadable_flags(3), unreadable_flags(4096 | 1)
    ((), ('fragment_tree',))
    """
    return flag_names(reader_flags & _ROWS_UNREADABLE)
