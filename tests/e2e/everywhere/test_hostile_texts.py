"""Names and texts of users and files, on every page: shown letter by letter, and nothing is loaded from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pyarrow.parquet as parquet
import pytest

from pipeline.store.examples import LOG
from sim.edit.link import Shared, query_of
from tests.e2e.conftest import ExplorerPage, Trouble, patience_ms, serving
from tests.tools import check_none

HOSTILE = (
    "![x](http://evil.example/p.png) <img src=http://evil.example/q.png onerror=alert(1)> :red[a] $x$ **b** :smile: "
    "[l](javascript:alert(1)) <a href=http://evil.example>c</a> www.evil.example https://evil.example me@evil.example "
    "-> # `d` ~~e~~ :material/home: a -- b"
)
WORD = "![x](http://evil.example/p.png)<img/src=http://evil.example/q.png>:red[a]$x$**b**:smile:"  # without blanks
# What would be there if a text had been read as Markdown or HTML, by Streamlit, by Plotly or by our own scripts.
MADE_OF_IT = "img[src*=evil], image, a[href*=evil], [href^=javascript], .main-svg a, .katex, .stMarkdownColoredText"

TEXTS = [HOSTILE, WORD, "1. one", "# two", "* three", "> four", "----", "+"]
# Every element of Streamlit in which a page shows a text of a user.
MARKDOWN = f"""
import streamlit as st
from views.server.plain_words import as_text
for number, text in enumerate({TEXTS!r}):
    st.markdown(f"**{{as_text(text)}}**, told")
    st.caption(as_text(text))
    st.subheader(as_text(text), anchor=False)
    st.warning(as_text(text))
    st.button(as_text(text), key=f"button-{{number}}")
    st.text_input(as_text(text), key=f"field-{{number}}")
    st.progress(0.5, as_text(text))
"""
PLACES = ("stCaptionContainer", "stHeading", "stAlert", "stButton", "stTextInput", "stProgress")

# Every text that a scenario can have.
SCENARIO = f"""
title = {json.dumps(HOSTILE)}
story = {json.dumps(HOSTILE)}
source = {json.dumps(HOSTILE)}
group = {json.dumps(HOSTILE)}
processes = ["P1", {json.dumps(WORD)}]
[topology]
kind = "complete"
[[script]]
process = "P1"
at = 1
label = {json.dumps(HOSTILE)}
[[script]]
process = {json.dumps(WORD)}
to = "P1"
at = 3
label = {json.dumps(WORD)}
body = {json.dumps(HOSTILE)}
[[snapshots]]
id = {json.dumps(WORD)}
process = "P1"
at = 2
[[cuts]]
name = {json.dumps(HOSTILE)}
text = {json.dumps(HOSTILE)}
frontier = {{ P1 = {json.dumps(HOSTILE)}, {json.dumps(WORD)} = {json.dumps(WORD)} }}
"""


@pytest.fixture
def page(contexts) -> Iterator[Any]:
    """A tab; at the end it has asked nothing of anybody else, and shown no error."""
    page = contexts["light"].new_page()
    page.set_default_timeout(patience_ms())
    trouble = Trouble(page)
    page.on("dialog", lambda dialog: trouble.found.append(f"a dialog opened: {dialog.message}"))
    yield page
    page.close()
    check_none(trouble.found)


def shown(page, where: str) -> list[str]:
    """The texts of these elements, without the joiners that nobody sees."""
    return [text.replace("\u2060", "") for text in page.locator(where).all_inner_texts()]


def test_a_text_in_markdown_is_shown_letter_by_letter(page, tmp_path: Path) -> None:
    script = tmp_path / "markdown.py"
    script.write_text(MARKDOWN, "utf-8")
    with serving(str(script), tmp_path / "server.log") as (url, _):
        page.goto(url)
        page.locator("[data-testid=stProgress]").nth(len(TEXTS) - 1).wait_for()
        assert {place: shown(page, f"[data-testid={place}]") for place in PLACES} == dict.fromkeys(PLACES, TEXTS)
        in_bold = shown(page, "[data-testid=stElementContainer] > [data-testid=stMarkdown] strong")
        assert in_bold == TEXTS
        assert page.locator(MADE_OF_IT).count() == 0
        page.goto("about:blank")


# --------------------------------------------------------------------------- the pages


def test_a_scenario_in_explore(page, app_url: str) -> None:
    visit = ExplorerPage(page, app_url)
    visit.open("/?" + urlencode(query_of(Shared(toml=SCENARIO, name=WORD))))
    assert page.locator(".cc-title").inner_text() == HOSTILE
    visit.press("End")
    for tab in ("Record", "Change", "Events", "Story"):
        visit.tab(tab)
        assert page.locator(MADE_OF_IT).count() == 0, tab
    assert shown(page, ".cc-view[data-view=story] > p")[0] == HOSTILE


def folder_of_a_log(path: Path) -> None:
    """The example's log with other names: two executions, of which every text is hostile."""
    about = json.loads((LOG / "manifest.json").read_text("utf-8"))
    about["about"]["files"] = [HOSTILE]
    about["rows"] = {table: 2 * count for table, count in about["rows"].items()}
    path.mkdir(parents=True)
    (path / "manifest.json").write_text(json.dumps(about), "utf-8")
    for table in ("events", "traces"):
        read = parquet.read_table(LOG / table / "all.parquet")
        rows = [{**row, "run_id": run_id} for run_id in (0, 1) for row in read.to_pylist()]
        (path / table).mkdir()
        changed = read.from_pylist([_hostile(row) for row in rows], schema=read.schema)
        parquet.write_table(changed, path / table / "all.parquet")


def _hostile(row: dict[str, Any]) -> dict[str, Any]:
    told = {"name": f"={HOSTILE}", "source": HOSTILE, "label": HOSTILE, "notes": [HOSTILE]}
    row = row | {key: value for key, value in told.items() if row.get(key, "") is not None and key in row}
    for key in ("process", "channel", "processes"):
        if row.get(key):
            row[key] = json.loads(json.dumps(row[key]).replace("bank", WORD))
    return row


@pytest.fixture(scope="module")
def app_with_a_log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an app whose data folder has a hostile log. No Spark: the page does without."""
    data = tmp_path_factory.mktemp("data")
    folder_of_a_log(data / "hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONSISTENT_CUT_DATA", str(data))
        with serving("app.py", tmp_path_factory.mktemp("app") / "server.log") as (url, _):
            yield url


def test_a_log_in_traces(page, app_with_a_log: str) -> None:
    page.goto(f"{app_with_a_log}/traces?data=hostile")
    page.locator(".cc[data-log] .cc-diagram .main-svg").first.wait_for()
    page.get_by_text("What the app understood of this log").click()
    notes = page.locator("[data-testid=stExpander] [data-testid=stCaptionContainer]")
    notes.first.wait_for()
    assert shown(page, "[data-testid=stExpander] [data-testid=stCaptionContainer]")[0] == f"={HOSTILE}: {HOSTILE}"
    assert page.get_by_role("combobox", name="Execution").input_value() == f"={HOSTILE}"
    assert WORD in shown(page, ".cc-view[data-view=cut] dt")
    page.get_by_role("button", name="Shrink to a consistent cut").click()
    page.get_by_role("button", name="Open in Explore").click()
    page.wait_for_selector(".cc[data-ready=true]:not([data-log]) .cc-diagram .main-svg")
    assert page.locator(MADE_OF_IT).count() == 0


def test_a_log_in_history(page, app_with_a_log: str) -> None:
    page.goto(f"{app_with_a_log}/history")
    table = page.locator(".st-key-cut-history")
    table.locator("td", has_text="hostile").first.wait_for(state="attached")  # what the canvas shows is drawn
    box = table.locator("canvas").first.bounding_box()
    page.mouse.click(box["x"] + 15, box["y"] + 55)
    page.locator(".cut-fields").wait_for()
    assert HOSTILE.rpartition("/")[2] in page.locator(".cut-fields").inner_text()
    assert page.locator(MADE_OF_IT).count() == 0
