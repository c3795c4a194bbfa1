"""Write lance_explorer/format/_pb from protos/, or check that it is up to date.

Sources are mapped to the folder of the generated code, so that protoc itself writes the right
imports: ``import "lance_explorer/format/_pb/table.proto";`` becomes
``from lance_explorer.format._pb import table_pb2``.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "protos"
PACKAGE = "lance_explorer/format/_pb"
GENERATED = ROOT / PACKAGE


def main() -> int:
    """Generate, or compare with --check; return the exit status."""
    parser = argparse.ArgumentParser(description="Generate lance_explorer/format/_pb from protos/.")
    parser.add_argument("--check", action="store_true", help="only tell whether it is up to date")
    arguments = parser.parse_args()
    wanted = compile_protos()
    present = read_modules(GENERATED)
    differing = sorted(
        name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name)
    )
    if arguments.check:
        if differing:
            print(f"Not as protos/ would have it: {', '.join(differing)}. Run `make protos`.")
        return 1 if differing else 0
    for name in differing:
        if name in wanted:
            (GENERATED / name).write_bytes(wanted[name])
        else:
            (GENERATED / name).unlink()
        print(f"{PACKAGE}/{name} {'written' if name in wanted else 'removed'}")
    return 0


def compile_protos() -> dict[str, bytes]:
    """Return the modules that protoc makes of the sources, by file name."""
    names = sorted(f"{PACKAGE}/{path.name}" for path in SOURCES.glob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                *(sys.executable, "-m", "grpc_tools.protoc"),
                *(f"-I{PACKAGE}={SOURCES}", f"--python_out={folder}", f"--pyi_out={folder}"),
                *names,
            ],
            check=True,
        )
        return read_modules(Path(folder) / PACKAGE)


def read_modules(folder: Path) -> dict[str, bytes]:
    """Return the generated modules in a folder, by file name."""
    return {path.name: path.read_bytes() for path in folder.glob("*_pb2.py*")}


if __name__ == "__main__":
    sys.exit(main())
