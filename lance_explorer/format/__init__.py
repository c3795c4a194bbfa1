"""Bytes to frozen records. This room opens no file; generated protobuf code stays inside it.

Facts and their sources are in docs/FORMAT.md, whose sections the modules cite.
"""

from collections.abc import Callable

from lance_explorer.format.data_columns import decode_column_pages
from lance_explorer.format.data_footer import (
    decode_buffer_place,
    decode_data_footer,
    decode_file_schema,
    decode_legacy_rows,
    decode_num_rows,
)
from lance_explorer.format.deletions import decode_deletion_file
from lance_explorer.format.fragment_reuse import (
    decode_fragment_reuse,
    decode_fragment_reuse_details,
)
from lance_explorer.format.fragment_walk import decode_fragment_columns
from lance_explorer.format.fragments import (
    decode_fragment,
    decode_fragment_id,
    decode_inline_sequences,
)
from lance_explorer.format.indices import decode_index_section
from lance_explorer.format.manifest import decode_manifest, decode_manifest_message, decode_schema
from lance_explorer.format.mem_wal import decode_log_entry, decode_shard_state
from lance_explorer.format.refs import decode_branch, decode_tag
from lance_explorer.format.row_sets import decode_row_set
from lance_explorer.format.sequences import (
    decode_row_id_sequence,
    decode_row_version_sequence,
    decode_row_version_spans,
)
from lance_explorer.format.transactions import decode_transaction, decode_transaction_header

__all__ = ["DECODERS"]

DECODERS: tuple[Callable[..., object], ...] = (
    decode_branch,
    decode_buffer_place,
    decode_column_pages,
    decode_data_footer,
    decode_deletion_file,
    decode_fragment,
    decode_fragment_columns,
    decode_fragment_id,
    decode_fragment_reuse,
    decode_fragment_reuse_details,
    decode_index_section,
    decode_inline_sequences,
    decode_legacy_rows,
    decode_log_entry,
    decode_manifest,
    decode_manifest_message,
    decode_file_schema,
    decode_num_rows,
    decode_row_id_sequence,
    decode_row_set,
    decode_row_version_sequence,
    decode_row_version_spans,
    decode_schema,
    decode_shard_state,
    decode_tag,
    decode_transaction,
    decode_transaction_header,
)
"""Every function that first takes the bytes of a file, and makes records of them."""
