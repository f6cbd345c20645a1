"""Writes locks/node.txt, every jar that `esdedup node` needs, and locks/opensearch.txt, those of the node that tests
start besides, with their SHA-256. Usage: python scripts/node_jars.py

Run it when VERSION of esdedup/node/jars.py or OPENSEARCH changes. It downloads 100 MB from Maven Central, and trusts
what it gets. Look at the difference before you commit it.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from jgo.maven import Dependency, MavenContext, PythonResolver

from esdedup.node.jars import VERSION

LOCKS = Path(__file__).parents[1] / "locks"
OPENSEARCH = "3.6.0"
ROOTS = {
    f"node.txt: Elasticsearch {VERSION}": (
        f"org.elasticsearch:elasticsearch:{VERSION}",
        f"org.elasticsearch.plugin:transport-netty4:{VERSION}",
    ),
    f"opensearch.txt: OpenSearch {OPENSEARCH}": (
        f"org.opensearch:opensearch:{OPENSEARCH}",
        f"org.opensearch.plugin:transport-netty4-client:{OPENSEARCH}",
        "org.apache.logging.log4j:log4j-core:2.25.3",  # optional for OpenSearch, but it does not start without
    ),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as repository:
        context = MavenContext(resolver=PythonResolver(), repo_cache=Path(repository))
        for lock, roots in ROOTS.items():
            file, _, what = lock.partition(": ")
            asked = []
            for root in roots:
                group, name, version = root.split(":")
                asked.append(Dependency(context.project(group, name).at_version(version).artifact(), raw=True))
            given, others = context.resolver.resolve(asked)
            needed = [*given, *(other for other in others if other.scope in ("compile", "runtime"))]
            lines = set()
            for one in needed:
                if not one.classifier:  # native code for one system, which a node does without
                    sha256 = hashlib.sha256(Path(one.artifact.resolve()).read_bytes()).hexdigest()
                    lines.add(f"{sha256}  {one.groupId}:{one.artifactId}:{one.version}")
            made = f"# {what}, made by scripts/node_jars.py"
            text = "\n".join([made, *sorted(lines, key=lambda line: line.split()[1])]) + "\n"
            (LOCKS / file).write_text(text, "ascii")


if __name__ == "__main__":
    main()
