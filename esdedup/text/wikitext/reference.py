"""The reference cleaner: mwparserfromhell, in a separate process that can be killed.

Its tokenizer runs for minutes on some inputs and cannot be interrupted. So a page that takes too long costs the
process, not the run. What counts is processor time: how busy a machine is makes no difference to what is read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

import psutil
import pyarrow as pa

from esdedup.errors import EsdedupError, SettingsError, UnparsablePageError
from esdedup.text.wikitext.cleaning import Cleaner
from esdedup.text.wikitext.rules import Names
from esdedup.text.wikitext.worker import OK, read_message, write_message


class ReferenceCleaner(Cleaner):
    """Cleans wikitext with mwparserfromhell, about fifty times slower than the fast cleaner.

    With `corrected`, the parser ignores quote marks, and MediaWiki's own rule is applied to them. By itself, the parser
    lets an unpaired mark run on through all the following text. Use as a context manager, or call `close`.
    """

    def __init__(self, names: Names, corrected: bool = True, time_limit: float = 5.0) -> None:
        if find_spec("mwparserfromhell") is None:
            raise SettingsError(
                "wikitext reference needs mwparserfromhell: pip install mwparserfromhell (without a wheel for this "
                "Python, that needs a C compiler), or use --wikitext fast"
            )
        settings = {"namespaces": names.namespaces, "templates": names.added, "corrected": corrected}
        settings |= {"site": names.site, "language": names.language}
        self._settings = json.dumps(settings).encode("utf-8")
        self._time_limit = time_limit
        self._process: subprocess.Popen[bytes] | None = None

    def clean(self, text: str) -> str:
        """Return the plain text of one page. Raises `UnparsablePageError` if the parser fails or takes too long."""
        process = self._process or self._start()
        done, late = threading.Event(), threading.Event()
        watch = threading.Thread(target=_watch, args=(process, self._time_limit, done, late), daemon=True)
        watch.start()
        answer: bytes | None = None
        try:
            assert process.stdin is not None and process.stdout is not None
            write_message(process.stdin, text.encode("utf-8", "replace"))
            answer = read_message(process.stdout)
        except OSError:
            pass  # the process has ended: the missing answer is handled below
        finally:
            done.set()
            watch.join()
            if answer is None or late.is_set():
                self.close()
        if answer is None:
            if late.is_set():
                raise UnparsablePageError(
                    f"mwparserfromhell took longer than {self._time_limit:g} s on the page; use --wikitext fast"
                )
            raise UnparsablePageError("mwparserfromhell crashed on the page; use --wikitext fast")
        content = answer[1:].decode("utf-8")
        if answer[:1] != OK:
            raise UnparsablePageError(f"mwparserfromhell failed on the page: {content}")
        return content

    def clean_column(self, column: pa.LargeStringArray) -> tuple[list[str | None], list[tuple[int, str]]]:
        """See `Cleaner`."""
        texts: list[str | None] = []
        unparsable = []
        for row, text in enumerate(column.to_pylist()):
            try:
                texts.append(self.clean(text))
            except UnparsablePageError as error:
                texts.append(None)
                unparsable.append((row, str(error)))
        return texts, unparsable

    def _start(self) -> subprocess.Popen[bytes]:
        # The package is found where this one was, whatever the working folder.
        root = str(Path(__file__).resolve().parents[3])
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        process = subprocess.Popen(
            [sys.executable, "-m", "esdedup.text.wikitext.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": path},
        )
        self._process = process
        assert process.stdin is not None and process.stdout is not None
        # Starting takes longer than most pages, and is not the page's fault: wait for it here.
        ready = None
        with suppress(OSError):  # the process has ended, so there is no answer
            write_message(process.stdin, self._settings)
            ready = read_message(process.stdout)
        if ready is None:
            self.close()
            raise EsdedupError(
                "the process of the reference cleaner ended while it was starting (out of memory?); "
                "run the same command again, or use --wikitext fast"
            )
        return process

    def close(self) -> None:
        """End the process. The next page starts another one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):  # unsent data does not matter
                    stream.close()
        process.wait()

    def __enter__(self) -> ReferenceCleaner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _watch(process: subprocess.Popen[bytes], limit: float, done: threading.Event, late: threading.Event) -> None:
    """Kill a process, and set `late`, if it takes `limit` seconds of processor time before `done`."""
    with suppress(psutil.Error):  # it has ended
        watched = psutil.Process(process.pid)
        begun = _processor_time(watched)
        while (left := begun + limit - _processor_time(watched)) > 0:
            if done.wait(max(left, 0.01)):
                return
        late.set()
        process.kill()


def _processor_time(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
