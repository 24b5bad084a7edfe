"""Scene -> one web page that steps, plays and asks without any network: the explorer itself, with its run inside.

Plotly.js, the explorer's script, style sheet and markup, and the run are all in the file; a policy in its head
forbids every request. The run and Plotly.js are compressed, so they hold no letter with a meaning in HTML.
A reader can change the view, not the run.
"""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from html import escape
from typing import Any

from plotly.offline import get_plotlyjs

from diagrams.browser import scripts as browser
from diagrams.browser.payload import payload
from diagrams.panels.lattice.document import whole_lattice
from diagrams.scene.composition import Scene
from diagrams.scene.export_options import CUT, OPENED, ORIENTATION, PREDICATE, PROOF_SNAPSHOT, SWAPS, TAB, shown
from diagrams.scene.frontiers import frontier_in
from diagrams.scene.view import View
from diagrams.shapes import theme
from diagrams.shapes.ownership import MADE_WITH, OWNERSHIP
from sim.core.errors import InputError
from sim.theory.cut_names import FAULTS

TITLE = "Stand-alone web page"
FOR = "For students without a network: a page that steps through the run, and that they can ask."
SUFFIX = ".html"
MEDIA_TYPE = "text/html"
ORDER = 60
OPTIONS = (OPENED, ORIENTATION, CUT, TAB, shown(PREDICATE), shown(PROOF_SNAPSHOT), shown(SWAPS))
IN_LINKS = {"cut": CUT, "tab": TAB, "predicate": PREDICATE, "proof": PROOF_SNAPSHOT, "swaps": SWAPS}

MOST_STEPS = 5_000  # beyond these a page is slow to open and to step

_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:"
_FONT = '"Source Sans 3", "Source Sans Pro", "Segoe UI", system-ui, "Liberation Sans", Arial, sans-serif'


def export(scene: Scene, view: View) -> bytes:
    """The page, at the view's step. Raises InputError beyond MOST_STEPS steps, and for an unknown cut."""
    steps = scene.until - scene.first
    if steps > MOST_STEPS:
        raise InputError(
            f"a stand-alone page holds runs of at most {MOST_STEPS} steps, and this one has {steps}; "
            "choose the scenario file (toml), which opens the whole run in the app, or a deck of some of its steps"
        )
    run = payload(scene, proofs=[snapshot.id for snapshot in scene.snapshots])
    run["orientation"] = view.orientation
    run["lattice"] = whole_lattice(scene, view.step, PREDICATE.of(view) or "")
    data: dict[str, Any] = {
        "revision": 1, "session": "still", "ack": 0, "notice": None, "undo": 0, "redo": 0, "edits": [], "link": "",
        "step": view.step, "shown": _shown(scene, view), "formats": [], "scene": run,
    }  # fmt: skip
    title = escape(f"{scene.execution.scenario.headline or scene.execution.scenario.name} · Consistent Cut")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="generator" content="{MADE_WITH}">
<meta name="rights" content="{OWNERSHIP}">
<title>{title}</title>
<style>
{_themes()}
{browser.page_styles()}
{browser.styles()}
{_PAGE}
</style>
</head>
<body>
{browser.markup().replace('<section class="cc"', '<section class="cc" data-still', 1)}
<noscript>This page draws with JavaScript. Please allow it; the page makes no requests.</noscript>
<script type="application/gzip" id="run">{packed(json.dumps(data, ensure_ascii=False, allow_nan=False))}</script>
<script type="application/gzip" id="plotly">{_plotly()}</script>
<script type="module">
{browser.still()}
</script>
</body>
</html>
""".encode()


def _shown(scene: Scene, view: View) -> dict[str, str]:
    """The view of the page besides the step, as a link has it (sim/edit/link.py). A cut opens its tab."""
    told = {key: view.options[option.name] for key, option in IN_LINKS.items() if view.options.get(option.name)}
    if "cut" not in told:
        return {key: str(value) for key, value in told.items()}
    events, log = frontier_in(scene.execution, str(told["cut"]))[: len(scene.processes)], scene.whole_run.log
    _, mark, faults = str(told["cut"]).partition(FAULTS)
    cut = ".".join(map(str, log.in_numbers(events) if log else events)) + mark + faults
    return {"tab": "cut", **{key: str(value) for key, value in told.items()}, "cut": cut}


def packed(text: str) -> str:
    """`text` as gzip in base64, which a script element may hold; the same text gives the same letters."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


@cache
def _plotly() -> str:
    return packed(get_plotlyjs())


def _themes() -> str:
    """The custom properties that Streamlit gives its components, for the light and the dark theme."""
    looks = {":root": ("light", theme.LIGHT), ":root[data-theme=dark]": ("dark", theme.DARK)}
    rules = []
    for selector, (name, palette) in looks.items():
        colours = theme.properties("st", {setting: palette[token] for setting, token in theme.STREAMLIT.items()})
        rules.append(f"{selector} {{ color-scheme: {name}; {colours}; --st-font: {_FONT}; --st-code-font: monospace }}")
    return "\n".join(rules)


_PAGE = """body { margin: 0; padding: 0.5rem 1.5rem 0; background: var(--st-background-color); overflow-x: hidden }
html { font-size: 16px }
.cc-head { padding-right: 0 }"""
