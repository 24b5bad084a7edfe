"""The sliders' modules alone: an answer, and a memory that another program spoilt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from diagrams.browser.scripts import ASSETS
from tests.cases import check_each
from tests.javascript import IN_BOTH

ANSWERS, MEMORY = ASSETS / "sliders" / "answers.js", ASSETS / "sliders" / "memory.js"
ASK = """async ({ answered }, status, type, text) => {
  globalThis.fetch = async () => new Response(text, { status, headers: { "Content-Type": type } });
  return answered("/sliders");
}"""
READ = """({ Memory }, value) => {
  const refuse = () => { throw new Error("refused"); };
  const storage = { getItem: value === "refused" ? refuse : () => value, setItem: refuse };
  Object.defineProperty(globalThis, "sessionStorage", { value: storage, configurable: true });
  const memory = new Memory();
  memory.write({ delay: 5 });
  return memory.read();
}"""
SILENT = {"problem": "The server does not answer. The page tries again.", "isFinal": False}
REFUSED = {"problem": "The server refused these values. Move a slider.", "isFinal": True}
TEXT, PAGE = "text/plain; charset=utf-8", "text/html"


TOLD = [
    (200, "application/json", '{"told": "No check fails."}', {"found": {"told": "No check fails."}}),
    (200, PAGE, "<html>Please sign in</html>", SILENT),
    (502, PAGE, "<html><body>Bad gateway</body></html>", SILENT),
    (500, TEXT, "Internal Server Error", SILENT),
    (503, PAGE, "<html>Maintenance</html>", SILENT),
    (503, TEXT, "Many people drag.", {"problem": "Many people drag.", "isFinal": False}),
    (400, TEXT, "At: expected a whole number.", {"problem": "At: expected a whole number.", "isFinal": True}),
    (400, PAGE, "<html>Bad request</html>", REFUSED),
]
KEPT = [('{"at": "7"}', {"at": "7"}), ("{bad", {}), ("null", {}), (None, {}), ("refused", {})]


@pytest.mark.slow
def test_only_a_sentence_of_the_server_itself_is_told(run_module: Callable[..., Any]) -> None:
    def check(status: int, kind: str, text: str, told: dict[str, Any]) -> None:
        assert run_module(ASK, [ANSWERS], status, kind, text) == told

    check_each(TOLD, check)


@pytest.mark.slow
@IN_BOTH
def test_a_spoilt_or_refused_memory_is_an_empty_one(run_module: Callable[..., Any]) -> None:
    def check(kept: str | None, values: dict[str, str]) -> None:
        assert run_module(READ, [MEMORY], kept) == values

    check_each(KEPT, check)
