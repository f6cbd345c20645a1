"""Writes locks/node.txt: every jar that `esdedup node` needs, with its SHA-256. Usage: python scripts/node_jars.py

Run it when VERSION of esdedup/node/jars.py changes. It downloads 40 MB from Maven Central, and trusts what it gets.
Look at the difference before you commit it.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from jgo.maven import Dependency, MavenContext, PythonResolver

from esdedup.node.jars import VERSION

LOCK = Path(__file__).parents[1] / "locks" / "node.txt"
ROOTS = (("org.elasticsearch", "elasticsearch"), ("org.elasticsearch.plugin", "transport-netty4"))


def main() -> None:
    with tempfile.TemporaryDirectory() as repository:
        context = MavenContext(resolver=PythonResolver(), repo_cache=Path(repository))
        roots = [Dependency(context.project(*root).at_version(VERSION).artifact()) for root in ROOTS]
        given, others = context.resolver.resolve(roots)
        needed = [*given, *(other for other in others if other.scope in ("compile", "runtime"))]
        lines = set()
        for one in needed:
            sha256 = hashlib.sha256(Path(one.artifact.resolve()).read_bytes()).hexdigest()
            lines.add(f"{sha256}  {one.groupId}:{one.artifactId}:{one.version}")
    made = f"# Elasticsearch {VERSION}, made by scripts/node_jars.py"
    LOCK.write_text("\n".join([made, *sorted(lines, key=lambda line: line.split()[1])]) + "\n", "ascii")


if __name__ == "__main__":
    main()
