"""A real standalone cluster of Spark, from the packages of this environment: a master and two workers."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from esdedup.node.jars import free_ports
from tests.support.elastic import SHORT_LIVED

HOST = "127.0.0.1"


@dataclass
class Cluster:
    """The processes of a cluster, which are on this machine."""

    folder: Path
    port: int
    address: str
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self, cores: int = 2, limit: int | None = None) -> None:
        """Start a worker. Of two cores, a session gets one. With `limit`, it cannot write files of more bytes: its disk
        is full.
        """
        number = len(self.workers)
        work = self.folder / f"worker-{number}"
        environment = {"SPARK_LOCAL_DIRS": str(work / "local"), "SPARK_WORKER_DIR": str(work)}
        given = ["--host", HOST, "--cores", str(cores), "--memory", "2g", "--webui-port", "0", self.address]
        self.workers.append(self._start("worker.Worker", given, environment, limit))

    def wait_for_workers(self) -> None:
        """Wait until all workers that run are known to the master."""
        for number, worker in enumerate(self.workers):
            if worker.poll() is None:
                self.wait_for(f"worker-{number}", "Successfully registered with master")

    def start_master(self) -> None:
        """Start the master."""
        self._start(
            "master.Master", ["--host", HOST, "--port", str(self.port), "--webui-port", "0"], {}, None, "master"
        )
        self.wait_for("master", "I have been elected leader")

    def _start(
        self, name: str, given: list[str], environment: dict[str, str], limit: int | None, log: str | None = None
    ) -> subprocess.Popen[bytes]:
        import resource

        import pyspark

        command = [Path(pyspark.__file__).parent / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *given]
        where = {"SPARK_LOCAL_IP": HOST, "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED, "SPARK_DAEMON_MEMORY": "256m"}
        with (self.folder / f"{log or f'worker-{len(self.workers)}'}.log").open("wb") as said:
            process = subprocess.Popen(
                command, stdout=said, stderr=said, env={**os.environ, **where, **environment},
                preexec_fn=limit and (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))),
            )  # fmt: skip
        self.started.append(process)
        return process

    def stop(self) -> None:
        """End all processes."""
        for process in self.started:
            process.kill()
        for process in self.started:
            process.wait()

    def wait_for(self, log: str, words: str) -> None:
        """Wait until a process has said something."""
        for _ in range(600):
            if words in (self.folder / f"{log}.log").read_text("utf-8", "replace"):
                return
            time.sleep(0.1)
        raise AssertionError(f"{log} does not say {words!r}: {(self.folder / f'{log}.log').read_text()[-2000:]}")

    def wait_for_executor(self) -> None:
        """Wait until the last worker runs tasks of the session."""
        folder, words = self.folder / f"worker-{len(self.workers) - 1}", "Successfully registered with driver"
        for _ in range(600):
            if any(words in path.read_text("utf-8", "replace") for path in folder.glob("app-*/*/stderr")):
                return
            time.sleep(0.1)
        raise AssertionError("no executor on the last worker")

    def executors(self) -> list[psutil.Process]:
        """Return the processes in which tasks run, of all workers."""
        found = []
        for worker in self.workers:
            for child in _children(worker.pid):
                with suppress(psutil.Error):  # it has just ended
                    if "CoarseGrainedExecutorBackend" in " ".join(child.cmdline()):
                        found.append(child)
        return found

    def replace_worker(self) -> None:
        """End a worker and its executor as if its machine had lost power, and start another one."""
        self.kill_worker(next(worker for worker in self.workers if worker.poll() is None))
        self.add_worker()

    def kill_worker(self, worker: subprocess.Popen[bytes]) -> None:
        """End a worker and its executor at once."""
        for process in [*_children(worker.pid), psutil.Process(worker.pid)]:
            kill(process)
        worker.wait()


def _children(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return psutil.Process(pid).children(recursive=True)
    return []


def kill(process: psutil.Process) -> None:
    """End a process at once."""
    with suppress(psutil.Error):
        process.send_signal(signal.SIGKILL)


@pytest.fixture(scope="session")
def has_spark() -> None:
    """Skip where there is no Java, but not in CI."""
    if shutil.which("java") is None and os.environ.get("CI") != "true":
        pytest.skip("no Java; see scripts/java")


@pytest.fixture(scope="session")
def spark_cluster(has_spark: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One cluster for all tests of a process. The driver's session in this process uses it."""
    [port] = free_ports(1)
    folder = tmp_path_factory.mktemp("spark")
    cluster = Cluster(folder, port, f"spark://{HOST}:{port}")
    conf = folder / "conf"
    conf.mkdir()
    options = {
        "spark.driver.host": HOST, "spark.driver.bindAddress": HOST, "spark.executor.memory": "512m",
        "spark.driver.memory": "512m", "spark.cores.max": "2",
        "spark.ui.enabled": "false", "spark.local.dir": str(folder / "driver"),
        "spark.executor.extraJavaOptions": SHORT_LIVED, "spark.driver.extraJavaOptions": SHORT_LIVED,
    }  # fmt: skip
    (conf / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in options.items()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", str(conf))
        cluster.start_master()
        for _ in range(2):
            cluster.add_worker()
        cluster.wait_for_workers()
        yield cluster
        from pyspark.sql import SparkSession

        running = SparkSession.getActiveSession()
        if running is not None:
            running.stop()
        cluster.stop()
