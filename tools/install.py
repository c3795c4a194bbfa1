"""Install the package into this environment, with fixed versions.

``python tools/install.py dev`` installs the extra ``dev``, with versions from constraints.txt: by
uv, in a third of the time; by pip, where uv finds no registry (it reads no configuration of pip).
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIP = [
    sys.executable,
    "-m",
    "pip",
    "install",
    "--disable-pip-version-check",
    "-c",
    "constraints.txt",
]


def main() -> int:
    """Install; return the exit status."""
    package, begin = ["-e", f".[{sys.argv[1]}]"], time.monotonic()
    uv = [str(Path(sys.executable).parent / "uv"), "pip", "install", "--python", sys.executable]
    quiet = [] if sys.stderr.isatty() else ["--quiet"]  # it lists each package where none looks
    status = run([*PIP, "--quiet", "uv"]) or run(
        [*uv, *quiet, "--compile-bytecode", "-c", "constraints.txt", *package]
    )
    if status:
        print("  uv could not install it: now by pip, which takes some minutes", flush=True)
        status = run([*PIP, "--progress-bar", "off", *package])
    if not status:
        print(f"  installed in {time.monotonic() - begin:.0f} s", flush=True)
    return status


def run(command: list[str]) -> int:
    """Run a command in the folder of the project; return its exit status."""
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
