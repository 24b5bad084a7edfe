"""One JavaScript module alone, with those it imports: in node, or in Chromium.

    run_module(path, "(module, number) => module.double(number)", 3)

imports the file and calls the function with what it exports and the arguments; these and the answer travel as JSON.
The fixture `run_module` (tests/conftest.py) runs a test once in each of the two.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

_ORIGIN = "http://modules.test"


def in_node(path: Path, function: str, *arguments: Any) -> Any:
    """What the function answers in node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on PATH")
    program = f"""
        import {{ readFileSync }} from "node:fs";
        import * as module from {json.dumps(path.as_uri())};
        console.log(JSON.stringify(await ({function})(module, ...JSON.parse(readFileSync(0)))));
    """
    command = [node, "--input-type=module", "--eval", program]
    done = subprocess.run(command, input=json.dumps(arguments), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def in_chromium(browser: Browser, path: Path, function: str, *arguments: Any) -> Any:
    """What the function answers in a page of its own."""
    page = browser.new_page()
    page.route(f"{_ORIGIN}/**", _answer)
    page.goto(f"{_ORIGIN}/")
    call = f"""async ([path, given]) =>
        JSON.stringify(await ({function})(await import(path), ...JSON.parse(given)))"""
    answer = page.evaluate(call, [path.as_posix(), json.dumps(arguments)])
    page.close()
    return json.loads(answer)


def _answer(route: Route) -> None:
    """A file of this machine as a module; at the root an empty page."""
    path = route.request.url.removeprefix(_ORIGIN)
    if path == "/":
        route.fulfill(content_type="text/html", body="<!doctype html>")
    else:
        route.fulfill(content_type="text/javascript", body=Path(path).read_text("utf-8"))
