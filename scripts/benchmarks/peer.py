"""Other libraries, each in a process of its own, in an environment made from locks/peers.txt."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from scripts.benchmarks.bench import ROOT

_ENVIRONMENT = ROOT / ".bench-venv"
_LOCK = ROOT / "locks" / "peers.txt"
_SCRIPTS = Path(__file__).parent / "peers"


class PeerError(RuntimeError):
    """A peer that cannot be installed, or that failed; the message says why."""


def peers_python() -> Path:
    """The interpreter of the peers' environment, which is made anew when the lock has changed."""
    python = _ENVIRONMENT / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    mark = _ENVIRONMENT / "installed"
    state = f"{sys.version_info[:2]} {zlib.crc32(_LOCK.read_bytes())}"
    if mark.is_file() and mark.read_text() == state:
        return python
    print(f"making {_ENVIRONMENT.name} from {_LOCK.relative_to(ROOT)}", file=sys.stderr)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", _LOCK]
    for command in ([sys.executable, "-m", "venv", "--clear", _ENVIRONMENT], pip):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise PeerError(f"cannot be installed: {' '.join(done.stderr.strip().splitlines()[-1:])}")
    mark.write_text(state)
    return python


class Peer:
    """A script of peers/ that holds `texts` and runs its jobs when told."""

    def __init__(self, name: str, texts: list[str], *, cores: int = 0) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="esdedup-peer-")
        folder = Path(self._folder.name)
        (folder / "texts.json").write_text(json.dumps(texts), "utf-8")
        self._result = folder / "result.npz"
        self._errors = folder / "errors"
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [peers_python(), _SCRIPTS / f"{name}.py", folder / "texts.json"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=folder,
                env={**os.environ, "ESDEDUP_BENCH_CORES": str(cores)},
                text=True,
            )

    def run(self, job: str, **arguments: Any) -> float:
        """Run a job; the seconds that it says it took."""
        return self._ask({"job": job, "arguments": arguments, "result": None})

    def result(self, job: str, **arguments: Any) -> dict[str, Any]:
        """Run a job; the arrays that it found."""
        self._ask({"job": job, "arguments": arguments, "result": str(self._result)})
        with np.load(self._result) as arrays:
            return dict(arrays)

    def strings(self, job: str, **arguments: Any) -> Any:
        """Run a job; what it says in JSON, in the array `texts`."""
        return json.loads(self.result(job, **arguments)["texts"].tobytes())

    def _ask(self, request: dict[str, Any]) -> float:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            words = self._errors.read_text("utf-8", errors="replace").strip().splitlines()[-1:]
            raise PeerError(f"failed: {' '.join(words)}")
        return float(json.loads(answer)["seconds"])

    def __enter__(self) -> Peer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()
