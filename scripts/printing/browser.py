"""Chromium prints HTML: one browser for all papers."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["printer"]


@contextmanager
def printer() -> Iterator[Any]:
    """Give a function that takes HTML and returns a PDF file; the page's size is the style sheet's."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        sys.exit("needs chromium (on the path, or named by $CHROMIUM)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        page = browser.new_page()

        def print_page(html: str) -> bytes:
            page.set_content(html)
            return bytes(page.pdf(prefer_css_page_size=True))

        yield print_page
        browser.close()
