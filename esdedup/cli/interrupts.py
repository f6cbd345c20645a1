"""Handle Ctrl-C at any time, also in compiled code that calls Python or while threads compile."""

from __future__ import annotations

import _thread
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

INTERRUPTED = 130
"""The exit code."""

INTERRUPTED_WORDS = "interrupted; run the same command again to finish"

_A_MOMENT = 0.1  # seconds, so that C code can finish its call
_LONGEST = 15.0  # seconds that a person waits for what is being cleaned up


def interruptible(run: Callable[[], object]) -> NoReturn:
    """Call `run`, which ends with `SystemExit`, so that Ctrl-C is neither lost nor crashes the interpreter's exit.

    An exception raised in `__del__`, or while C calls Python, is lost, for example when the compiler reads its cache.
    Therefore it is sent again every tenth of a second, until the main thread handles it. If a thread is compiling, the
    interpreter cannot shut down cleanly: the process then exits at once, after all cleanup is done. If that takes long,
    because a server does not answer, it is left undone, as if the process had been killed.
    """
    came, again = threading.Event(), threading.Event()

    def watch() -> None:
        for _ in range(round(_LONGEST / _A_MOMENT)):
            time.sleep(_A_MOMENT)
            handled = sys._current_exceptions().get(threading.main_thread().ident or 0)
            if handled is None or handled == (None, None, None):  # Python 3.11 has three; else it is cleaning up
                again.set()
                if sys.platform == "win32":
                    _thread.interrupt_main()
                else:
                    os.kill(os.getpid(), signal.SIGINT)  # which also ends a wait
        with suppress(OSError, ValueError):
            sys.stderr.write(f"esdedup: {INTERRUPTED_WORDS}\n")
            sys.stderr.flush()
        os._exit(INTERRUPTED)

    def interrupt(*_: object) -> None:
        if again.is_set():
            again.clear()
            if sys.exc_info()[1] is not None:  # compiled code has given it back meanwhile
                return
        if not came.is_set():
            threading.Thread(target=watch, daemon=True).start()
        came.set()
        # libraries log there what an interrupt has broken off in them, and elsewhere what nobody handles
        logging.root.disabled, logging.lastResort = True, logging.NullHandler()
        raise KeyboardInterrupt

    def unraisable(what: Any) -> None:
        if not came.is_set():  # half-finished objects report errors
            sys.__unraisablehook__(what)

    sys.unraisablehook = unraisable
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
        os._exit(INTERRUPTED)  # here, where the traceback keeps alive what threads still use
    raise AssertionError("the program ends with SystemExit")
