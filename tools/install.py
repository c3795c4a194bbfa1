"""Install the package into this environment, with fixed versions.

``python tools/install.py dev`` installs the extra ``dev``, with versions from constraints.txt: by
uv, in a third of the time; by pip, where uv finds no registry (it reads no configuration of pip).
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIP = "-m pip install --disable-pip-version-check -c constraints.txt".split()
UV = "pip install --system-certs --compile-bytecode -c constraints.txt".split()


def main() -> int:
    """Install; return the exit status."""
    package, begin = ["-e", f".[{sys.argv[1]}]"], time.monotonic()
    python, uv = sys.executable, str(Path(sys.executable).parent / "uv")
    quiet = [] if sys.stderr.isatty() else ["--quiet"]  # it lists each package where none looks
    status = run([python, *PIP, "--quiet", "uv"])
    status = status or run([uv, *UV, *quiet, "--python", python, *package])
    if status:
        print("  uv could not install it: now by pip, which takes some minutes", flush=True)
        status = run([python, *PIP, "--progress-bar", "off", *package])
    if not status:
        print(f"  installed in {time.monotonic() - begin:.0f} s", flush=True)
    return status


def run(command: list[str]) -> int:
    """Run a command in the folder of the project; return its exit status."""
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
