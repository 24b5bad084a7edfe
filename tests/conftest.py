"""Loaded first: the helpers that assert are rewritten as tests are, so that a failure shows its values."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

pytest.register_assert_rewrite("tests.sim.tools", "tests.sim.bad", "tests.javascript")

from tests.javascript import in_chromium, in_node  # noqa: E402  (after the line that has it rewritten)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--disable-default-apps", "--disable-sync", "--no-first-run",
]  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The machine's own Chromium: nothing is downloaded for the tests."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        pytest.skip(f"no Chromium on PATH (looked for {', '.join(BROWSERS)})")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(params=["node", pytest.param("chromium", marks=pytest.mark.browser)])
def run_module(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs JavaScript modules alone, as tests/javascript.py says."""
    return in_node if request.param == "node" else partial(in_chromium, request.getfixturevalue("browser"))
