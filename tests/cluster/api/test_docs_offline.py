"""The page of the API works without a network: the app itself serves every file that it loads."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from tests.cluster.serving import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser


class Loads(HTMLParser):
    """The addresses that a page names, and the scripts that stand in it."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = [value for name, value in attrs if name in ("src", "href") and value]
        self.addresses += named
        self.inline += tag in ("script", "style") and not named


def test_all_that_the_page_loads_is_served_by_the_app(server: Server) -> None:
    page = server.ask("GET", "/docs")
    assert page.headers["Content-Type"].startswith("text/html")
    loads = Loads()
    loads.feed(page.text)
    assert len(loads.addresses) == 5 and loads.inline == 0
    start = server.ask("GET", "/docs/start-page.js").text
    loads.addresses += re.findall(r'url: "([^"]+)"', start)
    kinds = {".css": "text/css", ".js": "text/javascript", ".png": "image/png", "json": "application/json"}
    for address in loads.addresses:
        path = urljoin("/docs", address)
        assert path.startswith("/") and not path.startswith("//")
        status, headers, text = server.ask("GET", path)
        kind = next(kind for ending, kind in kinds.items() if address.endswith(ending))
        assert (status, headers["Content-Type"].partition(";")[0]) == (200, kind), address
        assert text
    style = server.ask("GET", "/docs/swagger-ui.css").text
    assert all(url.startswith("data:") for url in re.findall(r"url\([\"']?([^)]{1,20})", style))


def test_the_page_may_load_from_nowhere_else(server: Server) -> None:
    policy = server.ask("GET", "/docs").headers["Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert (rules["default-src"], rules["script-src"], rules["connect-src"]) == ("'none'", "'self'", "'self'")
    assert "http" not in policy and "*" not in policy


def test_nothing_else_of_the_bundle_is_served(server: Server) -> None:
    for path in ("/docs/index.html", "/docs/..%2f..%2f__init__.py", "/docs/swagger-ui-bundle.js.map", "/docs/"):
        assert server.ask("GET", path).status == 404


def test_a_browser_shows_the_operations(server: Server, browser: Browser) -> None:
    page = browser.new_page()
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"{server.url}/docs")
    page.locator("#operations-snapshots-trigger").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    page.locator(".live-responses-table td.response-col_status", has_text="202").wait_for()
    assert page.get_by_text("/v1/faults").count() == 1
    page.close()
    assert wrong == []
    assert [url for url in asked if not url.startswith((server.url, "data:"))] == []
