"""A Spark cluster on loopback: a master and workers, each a process of its own, that can be killed.

``python -m tests.spark.cluster URI FOLDER`` asks it questions about a table, and kills a worker in
the middle of a job and of a stream; it prints the answers as JSON (tests/spark/test_cluster.py).
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pyspark

import lance_explorer as lx
from lance_explorer.spark.java import java_home
from lance_explorer.spark.read_limits import HAS_READ_LIMITS
from tests.spark.streams import run_to_end

__all__ = ["Cluster", "cluster"]

_ADDRESS = re.compile(r"Starting Spark master at (spark://[0-9.:]+)")
_REGISTERED = "Successfully registered with master"
_LONGEST_WAIT = 300.0  # seconds


class Cluster:
    """The processes of a cluster.

    Parameters
    ----------
    folder : Path
        Where they write to.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._home = Path(pyspark.__file__).parent
        self._processes: list[subprocess.Popen[str]] = []
        found = self._start("org.apache.spark.deploy.master.Master", [], _ADDRESS)
        self.master = found[1]

    def start_worker(self) -> int:
        """Start a worker; return the number of its process group, when the master knows it."""
        where = str(self._folder / f"work-{len(self._processes)}")
        given = ["-c", "1", "-m", "1g", "-d", where, self.master]
        self._start("org.apache.spark.deploy.worker.Worker", given, re.compile(_REGISTERED))
        return self._processes[-1].pid

    def kill(self, group: int) -> None:
        """Kill a worker, and all that it runs, at once."""
        os.killpg(group, signal.SIGKILL)

    def stop(self) -> None:
        """End all processes."""
        for process in reversed(self._processes):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, name: str, given: list[str], ready: re.Pattern[str]) -> re.Match[str]:
        settings = {
            "SPARK_HOME": str(self._home),
            "JAVA_HOME": java_home(),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOG_DIR": str(self._folder),
        }
        command = [str(self._home / "bin" / "spark-class"), name]
        command += ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0", *given]
        process = subprocess.Popen(
            command,
            env={**os.environ, **settings},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._processes.append(process)
        assert process.stderr is not None
        said = list[str]()
        for line in process.stderr:
            said.append(line)
            found = ready.search(line)
            if found:
                Thread(target=process.stderr.read, daemon=True).start()  # so that it never waits
                return found
        raise RuntimeError("".join(said))


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Return a context in which there is a cluster, without workers."""
    started = Cluster(folder)
    try:
        yield started
    finally:
        started.stop()


def _count_in_the_middle(spark: Any, uri: str, kill: Any) -> int:
    """Return how many rows tasks saw, of which one worker was killed in the middle of its task.

    Each of the first two tasks calls, and holds the line; when both do, a worker is killed. Later
    ones find nobody there, and go on.
    """
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(_LONGEST_WAIT)
    address = server.getsockname()

    def wait(batches: Iterator[Any]) -> Iterator[Any]:
        import contextlib
        import socket

        with contextlib.suppress(OSError), socket.create_connection(address) as line:
            line.recv(1)
        yield from batches

    rows = spark.read.format("lance_explorer.rows").option("rows_per_partition", 20)
    frame = rows.load(uri).mapInArrow(wait, rows.load(uri).schema)
    found = list[int]()
    job = Thread(target=lambda: found.append(frame.toArrow().num_rows), daemon=True)
    job.start()
    with server:
        lines = [server.accept()[0] for _ in range(2)]
        kill()
    for line in lines:
        line.close()
    job.join()
    return found[0]


def _stream(spark: Any, uri: str, folder: Path, kill: Any) -> list[list[Any]]:
    """Return what a stream wrote, of which a worker was killed in the middle."""
    options = {"rows_per_partition": "5"}
    if HAS_READ_LIMITS:
        options["max_versions_per_batch"] = "2"
    feed = spark.readStream.format("lance_explorer.changes").options(**options).load(uri)

    def write(batch: Any, number: int) -> None:
        if number == HAS_READ_LIMITS:
            kill()
        batch.write.mode("overwrite").parquet(str(folder / "stream" / f"batch={number}"))

    writer = feed.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    run_to_end(writer.foreachBatch(write).trigger(availableNow=True))
    names = ["_commit_version", "_change_type", "_rowid"]
    found = spark.read.parquet(str(folder / "stream")).select(*names).collect()
    return sorted([list(row) for row in found])


def main() -> None:
    """Answer, as JSON."""
    uri, folder = sys.argv[1], Path(sys.argv[2])
    with cluster(folder) as started:
        first, second = started.start_worker(), started.start_worker()
        config = {
            "spark.executor.memory": "512m",
            "spark.driver.memory": "512m",
            "spark.executor.extraJavaOptions": os.environ.get("SPARK_DAEMON_JAVA_OPTS", ""),
        }
        spark = lx.spark.session(started.master, config=config)
        told: dict[str, Any] = {}
        changes = spark.read.format("lance_explorer.changes")
        options = {"begin_version": "0", "mode": "per_commit", "rows_per_partition": "5"}
        told["changes"] = changes.options(**options).load(uri).toArrow().num_rows
        told["recorded"] = lx.spark.record(
            spark, uri, folder / "ledger", bytes_per_task=5_000
        ).to_dicts()
        told["rows"] = _count_in_the_middle(spark, uri, lambda: started.kill(first))
        started.start_worker()
        told["stream"] = _stream(spark, uri, folder, lambda: started.kill(second))
        print(json.dumps(told))
        spark.stop()


if __name__ == "__main__":
    main()
