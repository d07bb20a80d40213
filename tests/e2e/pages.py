"""Pages in a real browser that stay silent and load nothing from elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from playwright.sync_api import Browser, Page


@contextlib.contextmanager
def silent_page(browser: Browser, allowed: tuple[str, ...], height: int) -> Iterator[Page]:
    """A new page; a fault in it fails the test, and a request to what is not ``allowed``."""
    size = {"width": 1280, "height": height}
    context = browser.new_context(viewport=size, color_scheme="light")
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda reply: faults.append(reply.text) if reply.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "request", lambda sent: None if sent.url.startswith(allowed) else faults.append(sent.url)
    )
    yield page
    context.close()
    assert faults == []
