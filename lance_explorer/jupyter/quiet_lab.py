"""JupyterLab without deprecation warnings of its parts, which are meant for their authors.

Voila turns such warnings on when JupyterLab is loaded; so it is loaded before they are turned off.
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
