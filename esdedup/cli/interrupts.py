"""Ctrl-C, wherever it comes: in the middle of compiled code that calls Python, or as threads still compile."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

INTERRUPTED = 130
"""The exit code."""

_A_MOMENT = 0.05  # seconds, after which C has its own again


def interruptible(run: Callable[[], object]) -> NoReturn:
    """Call `run`, which ends by `SystemExit`, so that Ctrl-C is neither lost nor makes the interpreter's end crash.

    What is raised while C calls Python is lost, as where the compiler asks for its cache: then it is raised again a
    moment later. And where it comes as a thread compiles, the interpreter cannot be taken apart: the process just ends,
    once everything has been put in order on the way out.
    """
    came = threading.Event()

    def interrupt(*_: object) -> NoReturn:
        came.set()
        raise KeyboardInterrupt

    def lost(what: Any) -> None:
        if isinstance(what.exc_value, KeyboardInterrupt):
            again = threading.Timer(_A_MOMENT, os.kill, (os.getpid(), signal.SIGINT))
            again.daemon = True
            again.start()
        elif not came.is_set():  # what is half made complains
            sys.__unraisablehook__(what)

    sys.unraisablehook = lost
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    try:
        run()
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it any more
            stream.flush()
    os._exit(INTERRUPTED)
