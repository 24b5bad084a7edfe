"""JavaScript modules alone, with those they import: in node, or in Chromium.

    run_module("(module, number) => module.double(number)", [path], 3)

loads the files and calls the function with what they export and the arguments; these and the answer travel as JSON.
One node serves a whole run of the tests, each call in a thread of its own, which loads the modules anew: a thread
starts in a third of the time that node takes.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.waiting import budget_s

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

# For a test of which each browser's engine has to run the modules: once for each file of tests is enough.
IN_BOTH = pytest.mark.parametrize(
    "run_module", ["node", pytest.param("chromium", marks=pytest.mark.browser)], indirect=True
)

_ORIGIN = "http://modules.test"
_CALL = """async (paths, given) => {
    const modules = await Promise.all(paths.map((path) => import(path)));
    return JSON.stringify(await (%s)(Object.assign({}, ...modules), ...JSON.parse(given)));
}"""
_THREAD = """
import { parentPort, workerData } from "node:worker_threads";
parentPort.postMessage({ answer: await (%s)(...workerData) });
"""
_SERVER = """
import { createInterface } from "node:readline";
import { Worker } from "node:worker_threads";
for await (const line of createInterface({ input: process.stdin })) {
    const { program, given, seconds } = JSON.parse(line);
    const thread = new Worker(program, { eval: true, workerData: given });
    const told = await new Promise((tell) => {
        setTimeout(tell, 1000 * seconds, { error: `no answer in ${seconds} seconds` }).unref();
        thread.once("message", tell);
        thread.once("error", (error) => tell({ error: error?.stack ?? String(error) }));
        thread.once("exit", () => tell({ error: "the thread ended without an answer" }));
    });
    await thread.terminate();
    console.log(JSON.stringify(told));
}
"""


def in_node(function: str, paths: Sequence[Path], *arguments: Any) -> Any:
    """What the function answers in node."""
    given = [[path.as_uri() for path in paths], json.dumps(arguments)]
    asked = {"program": _THREAD % (_CALL % function), "given": given, "seconds": budget_s()}
    node = _node()
    assert node.stdin and node.stdout
    node.stdin.write(json.dumps(asked) + "\n")
    node.stdin.flush()
    told = json.loads(node.stdout.readline() or '{"error": "node has ended"}')
    assert "error" not in told, told["error"]
    return json.loads(told["answer"])


@cache
def _node() -> subprocess.Popen[str]:
    """The node of this run; it ends as soon as nobody can write to it any more."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on PATH")
    environment = {name: value for name, value in os.environ.items() if name != "NODE_OPTIONS"}  # tests/conftest.py
    process = subprocess.Popen(
        [node, "--input-type=module", "--eval", _SERVER],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    atexit.register(process.communicate)
    return process


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
