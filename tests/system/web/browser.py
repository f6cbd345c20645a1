"""Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.system.web.served import Site

if TYPE_CHECKING:  # only the tests that open a browser load what drives it
    from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = shutil.which("chromium")
_QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
)  # fmt: skip

Visit = Callable[..., "Page"]


def expect(found: Any) -> Any:
    """What Playwright waits for."""
    from playwright.sync_api import expect as expected

    return expected(found)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser without a screen; without one the test skips, except under CI, where it fails.

    As long as it is open this thread has a running event loop, which other tests would stumble over.
    """
    if CHROMIUM is None:
        message = "no chromium; apt-get install --no-install-recommends chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_QUIET))
        yield opened
        opened.close()


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Visit]:
    """Opens pages of the server; afterwards nothing may stand in the console, and nobody else have been asked.

    What is `expected` in the console may stand there.
    """
    wrong: list[str] = []
    contexts: list[BrowserContext] = []

    def opened(*, expected: str | None = None, **how: Any) -> Page:
        how.setdefault("viewport", {"width": 1200, "height": 800})
        context = browser.new_context(base_url=site.url, **how)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)

        def said(kind: str, text: str) -> None:
            if kind in ("error", "warning") and (expected is None or expected not in text):
                wrong.append(text)

        page.on("console", lambda message: said(message.type, message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith(site.url) else wrong.append(asked.url))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not wrong


@pytest.fixture
def page(visit: Visit) -> Page:
    """A page of usual size, light."""
    return visit()
