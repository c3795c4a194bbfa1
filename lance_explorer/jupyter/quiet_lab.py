"""JupyterLab without the deprecations of its parts, which are meant for those who write them.

Voila lets Python show them when JupyterLab loads it; so it is loaded before they are turned off.
"""

import runpy
import warnings
from contextlib import suppress
from importlib import import_module

if __name__ == "__main__":
    with suppress(ImportError):
        import_module("voila")
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    runpy.run_module("jupyterlab", run_name="__main__", alter_sys=True)
