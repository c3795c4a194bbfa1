"""Run all benchmarks, or those that are named: ``python -m benchmarks rows``."""

import argparse
import shutil
import subprocess
import sys
from importlib.util import find_spec

NAMES = (
    "history",
    "fragments",
    "ledger",
    "rows",
    "graph",
    "lineage",
    "changes",
    "disk",
    "check",
    "profile",
    "report",
)
WITH_SPARK = ("spark",)
WITH_BROWSER = ("widget", "explorer")
BROWSER = "chromium"


def main() -> None:
    """Run the named benchmarks, or all that can run here, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = [*NAMES, *WITH_SPARK, *WITH_BROWSER]
    parser.add_argument("names", nargs="*", choices=[*known, []], metavar="NAME")
    parser.add_argument("--sizes", choices=["small", "full"], default="small")
    parser.add_argument("--folder", help="where tables are kept for the next run")
    options = parser.parse_args()
    for name in options.names or there():
        sizes = [] if name in WITH_BROWSER else ["--sizes", options.sizes]
        folder = ["--folder", options.folder] if options.folder else []
        print(f"# {name}", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *sizes, *folder], check=True)


def there() -> list[str]:
    """Return what can run here."""
    names = [*NAMES]
    for needy, tool, is_there in (
        (WITH_SPARK, "PySpark", find_spec("pyspark")),
        (WITH_BROWSER, "Chromium", shutil.which(BROWSER)),
    ):
        if is_there:
            names += needy
        else:
            print(f"# {', '.join(needy)}: left out, there is no {tool}", flush=True)
    return names


if __name__ == "__main__":
    main()
