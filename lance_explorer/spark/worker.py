"""What is done once in every Python worker of Spark."""

import gc
import os

__all__ = ["keep_imports"]


def keep_imports() -> None:
    """Keep what was imported out of a worker's search for garbage.

    A worker searches after each task and each plan. Through all modules that takes 50 ms, which is
    more than many a task.
    """
    if "SPARK_REUSE_WORKER" in os.environ:
        gc.freeze()
        os.environ.setdefault("TQDM_DISABLE", "1")  # nobody sees a bar, and logs are filled
