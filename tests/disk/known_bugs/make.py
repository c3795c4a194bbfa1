"""``python make.py``: write the table of each known bug that the installed pylance has.

Each was written by the release in its name, and is kept as that left it. Nothing may write to them.
"""

from pathlib import Path

import lance
import pyarrow as pa

HERE = Path(__file__).parent


def zone_map_left_behind(path: str) -> None:
    """A compaction with stable row IDs leaves a zone map with nothing of what it wrote."""
    days = pa.table({"day": list(range(40))})
    lance.write_dataset(days, path, max_rows_per_file=10, enable_stable_row_ids=True)
    lance.dataset(path).create_scalar_index("day", "ZONEMAP")
    lance.dataset(path).optimize.compact_files()


BUGS = {"10.0.0": [zone_map_left_behind]}

if __name__ == "__main__":
    for bug in BUGS[lance.__version__]:
        bug(str(HERE / f"{bug.__name__}-{lance.__version__}.lance"))
