"""`make dev`: what is edited, in a copy of the project, is there when the page is loaded again."""

from __future__ import annotations

import shutil

import pytest

import dev
from sim.explain.narration import NO_VIEW
from tests.e2e.conftest import ExplorerPage, running
from tests.tools import free_port
from tests.waiting import until

# A file, what stands there, what is written instead, and the expression in the page that tells the difference.
EDITS = [
    ("views/pages.py", 'title="History"', 'title="Chronicle"', "document.body.innerText.includes('Chronicle')"),
    (
        "sim/explain/narration.py", NO_VIEW, "All quiet.",
        "document.querySelector('.cc').innerText.includes('All quiet.')",
    ),
    ("scenarios/lecture.toml", "title = ", "# ", "document.querySelector('.cc-title').innerText === 'lecture'"),
    ("assets/explore/explore.js", "", "globalThis.isEdited = true;\n", "Boolean(globalThis.isEdited)"),
    ("assets/explore/explore.css", "", ".cc { word-spacing: 7px }\n",
     "getComputedStyle(document.querySelector('.cc')).wordSpacing === '7px'"),
    ("assets/explore/explore.html", "</h1>", '</h1><i id="mine"></i>', "document.querySelector('#mine') !== null"),
]  # fmt: skip
SEEN = f"[{', '.join(seen for *_, seen in EDITS)}]"


@pytest.mark.long("`make dev`, an edit of each kind of file")
def test_an_edit_shows_on_reload(contexts, tmp_path):
    copy = tmp_path / "project"
    for source in dev.sources():
        target = copy / source.relative_to(dev.ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    shutil.copy(dev.ROOT / "dev.py", copy)
    port = free_port()
    arguments = ["-c", f"import dev; dev.main({port})"]
    with running(arguments, port, tmp_path / "dev.log", copy) as (url, _):
        explorer = ExplorerPage(contexts["light"].new_page(), url)
        explorer.open()
        assert explorer.page.evaluate(SEEN) == [False] * len(EDITS)
        for name, before, after, _ in EDITS:
            text = (copy / name).read_text("utf-8")
            assert before in text, name
            (copy / name).write_text(text.replace(before, after, 1), "utf-8")
        until(lambda: _seen_on_reload(explorer) == [True] * len(EDITS), "every edit is seen")
        explorer.page.close()


def _seen_on_reload(explorer: ExplorerPage) -> list[bool]:
    """Which edits are seen when the page is loaded again."""
    explorer.open()
    seen: list[bool] = explorer.page.evaluate(SEEN)
    return seen
