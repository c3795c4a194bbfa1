"""What happens once in every Python worker of Spark."""

import gc
import os

__all__ = ["keep_imports"]


def keep_imports() -> None:
    """Exclude imported modules from the garbage collection of a worker.

    A worker collects garbage after each task and each plan. Over all modules that takes 50 ms,
    which is longer than many tasks.
    """
    if "SPARK_REUSE_WORKER" in os.environ:
        gc.freeze()
        os.environ.setdefault("TQDM_DISABLE", "1")  # nobody sees a bar, and logs are filled
