"""Writers of Lance metadata: whole tables without data, and files that no writer would make.

They are for tests that need a shape of history exactly, or one that no release of pylance writes,
and for benchmarks that need more versions than can be committed in a minute.
"""

from tests.synthetic.folders import DETACHED, MetadataFolder
from tests.synthetic.manifests import ManifestFile
from tests.synthetic.states import column
from tests.synthetic.tables import SyntheticTable
from tests.synthetic.transactions import encode_transaction
from tests.synthetic.wire import record, varint

__all__ = [
    "DETACHED",
    "ManifestFile",
    "MetadataFolder",
    "SyntheticTable",
    "column",
    "encode_transaction",
    "record",
    "varint",
]
