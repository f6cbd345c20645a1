"""The Spark session in which an engine runs: one that the caller has, or one that is started here."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

import psutil

from esdedup.errors import EngineError, UsageError
from esdedup.matching.engine import Progress, no_progress

ANYWHERE = "spark"
"""The session that is running, or the master of Spark's own configuration, or else all cores of this machine."""

_INSTALL = "pip install 'esdedup[spark]'"
_PATIENCE = 10.0  # seconds
_JAVA = 17
_LAST_PORT = 65535
_NO_REASONS = ("Error: A fatal exception has occurred", "Error: Could not create the Java Virtual Machine")
"""What Java says last, after the reason."""
_PACKAGE = "esdedup-package"
"""The folder beside a worker's tasks where the package is unpacked."""


_given: list[Any] = []
"""The session that the caller has passed last."""


def use(session: Any) -> str:
    """Use a session that the caller has. Return the place that stands for it.

    Raise `UsageError` for one that was stopped, and for one of Spark Connect, which runs no functions beside its own.
    """
    if ".connect." in type(session).__module__:
        raise UsageError("engine is a session of Spark Connect; pass one that runs in this process")
    if session.sparkContext._jsc is None:
        raise UsageError("engine is a session that was stopped; pass one that runs")
    _given[:] = [session]
    return ANYWHERE


def session_at(master: str, progress: Progress = no_progress) -> Any:
    """Return the running session with this master, or start one, which ends with this process.

    Raise `EngineError` as `check_session`, or if it does not start.
    """
    running = check_session(master)
    if running is None:
        progress(0, 0, "starting Spark")
        running = _started(master)
    return running


def check_session(master: str) -> Any:
    """Return the running session with this master; None if one is to be started, which is not known to fail.

    Raise `EngineError` if PySpark or a Java that fits it is missing, nobody answers at the master's address, or another
    session is running.
    """
    # of the pandas that is installed, which is not used
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise EngineError(f"the engine {master} needs PySpark: {_INSTALL}") from error
    running = _given[0] if _given and master == ANYWHERE else SparkSession.getActiveSession()
    if running is None:
        _check_java(master)
        _check_answers(master)
    elif master not in (ANYWHERE, running.sparkContext.master):
        _check_answers(master)
        raise EngineError(
            f"a Spark session runs in this process already, at {running.sparkContext.master}; use engine="
            f"{ANYWHERE!r} for it, or stop it before"
        )
    return running


def tasks_together(session: Any) -> int:
    """Return how many tasks share the memory of a process: the cores of an executor, which are all those of a machine
    without a cluster.
    """
    context = session.sparkContext
    if context.master.startswith("local"):
        return int(context.defaultParallelism)
    return int(context.getConf().get("spark.executor.cores", "1"))


def _started(place: str) -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with tempfile.TemporaryFile() as said, _ended_unless_started():  # Java goes on writing to it
        try:
            gateway = _gateway(place, said)
        except Exception as error:
            raise EngineError(f"the engine {place} does not start: {_last_line(said) or error}") from error
        conf = _conf(place)
        _check_answers(str(conf.get("spark.master")))  # which Spark's own configuration may name
        try:
            context = _context(conf, gateway)
        except Exception as error:
            master = conf.get("spark.master")
            raise EngineError(f"Spark at {master} does not start: {_last_line(said) or error}") from error
    atexit.register(context.stop)
    return SparkSession(context)


@contextmanager
def _ended_unless_started() -> Iterator[None]:
    """If Spark does not start, or is interrupted, end the Java that was started for it, with its temporary files.

    PySpark does not: an early Java would wait for ever for a Python that has gone.
    """
    from pyspark import SparkContext

    before = set(psutil.Process().children(recursive=True))
    try:
        yield
    except BaseException:
        started = [each for each in psutil.Process().children(recursive=True) if each not in before]
        for process in started:
            with suppress(psutil.Error):
                process.terminate()
        for process in psutil.wait_procs(started, timeout=_PATIENCE)[1]:
            with suppress(psutil.Error):
                process.kill()
        if started:
            SparkContext._gateway = SparkContext._jvm = None  # the next session needs another Java
        raise


def _gateway(place: str, said: IO[bytes]) -> Any:
    """Start Java, which writes what it says to a file. It checks what the place needs, such as the configuration of
    Hadoop for YARN.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:  # of a session that was stopped
        return SparkContext._gateway
    start: Any = launch_gateway
    conf = None if place == ANYWHERE else SparkConf(loadDefaults=False).setMaster(place)
    gateway = start(conf, popen_kwargs={"stderr": said, "stdout": said, "stdin": subprocess.PIPE})
    SparkContext._ensure_initialized(gateway=gateway)
    return gateway


def _is_local(conf: Any) -> bool:
    return str(conf.get("spark.master")).startswith("local")


def _conf(place: str) -> Any:
    """Return Spark's own configuration with this master, and with what is usual here where it says nothing."""
    from pyspark import SparkConf

    conf = SparkConf()  # which reads spark-defaults.conf only with Java
    master = str(conf.get("spark.master", "local[*]") if place == ANYWHERE else place)
    conf.setMaster(master).setIfMissing("spark.app.name", "esdedup")
    local = _is_local(conf)
    usual = {
        "spark.ui.enabled": "false" if local else "true",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        # a worker whose disk is full fails quickly, and would get every task again
        "spark.excludeOnFailure.enabled": "true",
        "spark.excludeOnFailure.task.maxTaskAttemptsPerNode": "3",
        "spark.excludeOnFailure.stage.maxFailedExecutorsPerNode": "100",  # the others of a node may be well
        **({"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"} if local else {}),
    }
    for name, value in usual.items():
        conf.setIfMissing(name, value)
    if not local:
        found = filter(None, [_PACKAGE, conf.get("spark.executorEnv.PYTHONPATH", "")])
        conf.set("spark.executorEnv.PYTHONPATH", os.pathsep.join(found))
    return conf


def _context(conf: Any, gateway: Any) -> Any:
    from pyspark import SparkContext

    interrupts = signal.getsignal(signal.SIGINT)
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # of a context that is broken off
        context = SparkContext(conf=conf, gateway=gateway)
    if interrupts is not None and threading.current_thread() is threading.main_thread():
        # that of Spark asks Java to cancel its jobs, which fails while another question to Java is under way
        signal.signal(signal.SIGINT, interrupts)
    if not _is_local(conf):
        context.addArchive(f"{_packed(context)}#{_PACKAGE}")
    return context


def _packed(context: Any) -> Path:
    """Return an archive of this version of the package, which travels to the workers whatever they have installed.

    It lies in a folder that Java removes when it ends, however this process ends.
    """
    package, archive = Path(__file__).parents[2], Path(context._temp_dir) / f"{_PACKAGE}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for root in (package, package.parent / "mappings"):  # which lie beside it in a checkout
            for path in sorted(root.rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    packed.write(path, path.relative_to(package.parent))
    return archive


def _check_answers(place: str) -> None:
    """Raise `EngineError` if none of the masters of a standalone cluster listens. Spark would wait for a minute."""
    masters = re.findall(r"([^,/]+):([0-9]+)", place) if place.startswith("spark://") else []
    reasons = []
    for host, port in masters:
        try:
            if int(port) > _LAST_PORT:
                raise OverflowError(f"{port} is no port")
            with socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE):
                return
        except (OSError, OverflowError) as error:
            reasons.append(getattr(error, "strerror", None) or str(error))
    if reasons:
        raise EngineError(
            f"the engine {place} does not answer: {reasons[0]}; start the cluster, or correct its address"
        )


@cache
def _check_java(master: str) -> None:
    """Raise `EngineError` unless there is a Java that fits."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java") if home is None else shutil.which(str(Path(home) / "bin" / "java"))
    version = 0
    if java is not None:
        with suppress(OSError, subprocess.SubprocessError):
            said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30).stderr
            if (match := re.search(r'version "(?:1\.)?([0-9]+)', said)) is not None:
                version = int(match[1])
    if version < _JAVA:
        none = "there is none" if home is None else f"JAVA_HOME is {home}, where there is none"
        found = f"{java} is {version}" if version else none
        raise EngineError(
            f"the engine {master} needs Java {_JAVA} or newer, and {found}; install one (on Debian: apt install "
            "openjdk-17-jre-headless), and set JAVA_HOME to it if it is not the first"
        )


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = [line.strip() for line in said.read().decode("utf-8", "replace").splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if not line.startswith(("at ", *_NO_REASONS))), "")
    last = re.sub(r"^[0-9/]+ [0-9:]+ [A-Z]+ [A-Za-z]+: ", "", last)  # of a line of a log
    last = re.sub(r'^(Exception in thread "[^"]*" )?(Caused by: )?([a-z0-9]+\.)+(?=[A-Z])', "", last)
    return last.removeprefix("SparkException: ")
