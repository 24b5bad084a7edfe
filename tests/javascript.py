"""JavaScript modules alone, with those they import: in node, or in Chromium.

    run_module("(module, number) => module.double(number)", [path], 3)

loads the files and calls the function with what they export and the arguments; these and the answer travel as JSON.
The fixture `run_module` (tests/conftest.py) runs a test once in each of the two.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

_ORIGIN = "http://modules.test"
_CALL = """async (paths, given) => {
    const modules = await Promise.all(paths.map((path) => import(path)));
    return JSON.stringify(await (%s)(Object.assign({}, ...modules), ...JSON.parse(given)));
}"""


def in_node(function: str, paths: Sequence[Path], *arguments: Any) -> Any:
    """What the function answers in node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on PATH")
    urls = json.dumps([path.as_uri() for path in paths])
    program = f"""import {{ readFileSync }} from "node:fs";
        console.log(await ({_CALL % function})({urls}, readFileSync(0)));"""
    command = [node, "--input-type=module", "--eval", program]
    environment = {name: value for name, value in os.environ.items() if name != "NODE_OPTIONS"}  # tests/conftest.py
    done = subprocess.run(
        command, input=json.dumps(arguments), capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def in_chromium(browser: Browser, function: str, paths: Sequence[Path], *arguments: Any) -> Any:
    """What the function answers in a page of its own."""
    page = browser.new_page()
    page.route(f"{_ORIGIN}/**", _serve)
    page.goto(f"{_ORIGIN}/")
    call = f"([paths, given]) => ({_CALL % function})(paths, given)"
    answer = page.evaluate(call, [[path.as_posix() for path in paths], json.dumps(arguments)])
    page.close()
    return json.loads(answer)


def _serve(route: Route) -> None:
    """A file of this machine as a module; at the root an empty page."""
    path = route.request.url.removeprefix(_ORIGIN)
    if path == "/":
        route.fulfill(content_type="text/html", body="<!doctype html>")
    else:
        route.fulfill(content_type="text/javascript", body=Path(path).read_text("utf-8"))
