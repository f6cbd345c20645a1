"""Handle Ctrl-C at any time, also in compiled code that calls Python or while threads compile."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

INTERRUPTED = 130
"""The exit code."""

INTERRUPTED_WORDS = "interrupted; run the same command again to finish"

_A_MOMENT = 0.05  # seconds, so that C code can finish its call
_LONGEST = 15.0  # seconds that a person waits for what is being cleaned up


def interruptible(run: Callable[[], object]) -> NoReturn:
    """Call `run`, which ends with `SystemExit`, so that Ctrl-C is neither lost nor crashes the interpreter's exit.

    An exception raised while C calls Python is lost, for example when the compiler reads its cache. Therefore it is
    raised again a moment later. If a thread is compiling, the interpreter cannot shut down cleanly: the process then
    exits at once, after all cleanup is done. If that takes long, because a server does not answer, it is left undone,
    as if the process had been killed.
    """
    came = threading.Event()

    def leave() -> None:
        with suppress(OSError, ValueError):
            sys.stderr.write(f"esdedup: {INTERRUPTED_WORDS}\n")
            sys.stderr.flush()
        os._exit(INTERRUPTED)

    def interrupt(*_: object) -> NoReturn:
        if not came.is_set():
            late = threading.Timer(_LONGEST, leave)
            late.daemon = True
            late.start()
        came.set()
        # libraries log there what an interrupt has broken off in them, and elsewhere what nobody handles
        logging.root.disabled, logging.lastResort = True, logging.NullHandler()
        raise KeyboardInterrupt

    def lost(what: Any) -> None:
        if isinstance(what.exc_value, KeyboardInterrupt):
            again = threading.Timer(_A_MOMENT, os.kill, (os.getpid(), signal.SIGINT))
            again.daemon = True
            again.start()
        elif not came.is_set():  # half-finished objects report errors
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
        with suppress(OSError, ValueError):  # the reader has gone
            stream.flush()
    os._exit(INTERRUPTED)
