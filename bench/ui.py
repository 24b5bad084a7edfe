"""Speed of the page: `python -m pytest bench/ui.py -p tests.e2e.conftest -n 0 -s -q`, in a real browser.

It measures the user's waits. For comparison it measures a step on a plain `st.plotly_chart` page with the same figure
(bench/plain_page.py), in the same browser. It does not assert times, since machines differ and are shared. It asserts
that the awaited change happened.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from bench.page_runs import LONG_RUN, run_with_a_lattice
from bench.pipeline.event_tables import write_log
from bench.waits import CUT_MOVES, HANDLE, KEYS, WATCH, at_rank, median, path
from tests.conftest import browser  # noqa: F401  (a fixture)
from tests.e2e.conftest import ExplorerPage, serving

SCENARIOS = ("lecture", "overlapping", "hundred")
STEPS = 15
EDITS = 15
CUT_DRAGS = 15
CUT_WAY = 160  # pixels of the time axis
UNDER_WAY = 15  # steps until messages are in flight: in long runs, only those have handles
OPENINGS = 5
LOG_WINDOWS = (50, 400)  # rows
LOG_MESSAGES = 500_000  # of the log that they are windows of
DIAGRAM = ".cc[data-ready=true] .cc-diagram .main-svg"
LONG_RUNS = {10_000: 3_000, 100_000: 10_000}  # events -> target in ms
OPENING_LIMIT_MS = 60_000


class Row(NamedTuple):
    """A line of the table: what was measured, on which scenario, the times in ms, and the target in ms."""

    what: str
    where: str
    times: list[float]
    target: float | None = None
    note: str = ""


PLAIN = "plain page: click to step"


@pytest.fixture(scope="module")
def table() -> Iterator[list[Row]]:
    """The rows, to which each test adds; printed at the end."""
    rows: list[Row] = []
    yield rows
    plain = {row.where: median(row.times) for row in rows if row.what == PLAIN}
    print(f"\n\n{'wait in ms':48}{'times':>6}{'median':>8}{'p95':>8}{'target':>8}  of a plain page's step")
    for row in rows:
        print(line(row, plain.get(row.where)))


def line(row: Row, plain: float | None) -> str:
    """A line of the table, with the ratio to the plain page's step of the same scenario."""
    start = f"{row.what:34}{row.where:14}"
    if not row.times:
        return f"{start}{row.note}"
    middle = median(row.times)
    target = f"{row.target:8.0f}" if row.target else " " * 8
    ratio = f"  {middle / plain:5.2f}" if plain else ""
    return f"{start}{len(row.times):6}{middle:8.0f}{at_rank(row.times, 0.95):8.0f}{target}{ratio}  {row.note}"


@pytest.fixture(scope="module")
def plain_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the plain page."""
    with serving("bench/plain_page.py", tmp_path_factory.mktemp("plain") / "server.log") as (url, _):
        yield url


@pytest.fixture
def explorer(fresh_explorer: ExplorerPage) -> ExplorerPage:
    """The Explore page, with a long timeout for long runs."""
    fresh_explorer.page.set_default_timeout(OPENING_LIMIT_MS)
    return fresh_explorer


def wait_ms(explorer: ExplorerPage) -> float:
    """The wait in ms that WATCH measures."""
    found: float = explorer.page.evaluate("window.benchWait")
    return found


@pytest.mark.parametrize("name", SCENARIOS)
def test_plain_page_steps(explorer: ExplorerPage, plain_url: str, table: list[Row], name: str) -> None:
    """From the click on the plain page's button to its repainted chart: through Python and back."""
    page = explorer.page
    page.goto(f"{plain_url}/?scenario={name}")
    page.get_by_text("step 0", exact=True).wait_for()
    times = []
    for step in range(STEPS):
        page.evaluate(WATCH, ["click", "step"])
        page.get_by_role("button", name="Step").click()
        times.append(wait_ms(explorer))
        assert page.locator(".gtitle").text_content() == f"step {step + 1}"
    explorer.trouble.found.clear()  # only the times of the plain page matter here
    table.append(Row(PLAIN, name, times))


@pytest.mark.parametrize("name", SCENARIOS)
def test_key_to_painted_step(explorer: ExplorerPage, table: list[Row], name: str) -> None:
    """From the arrow key to the frame in which the step is painted."""
    explorer.open(f"?scenario={name}")
    table.append(Row("key to painted step", name, keys(explorer), target=60))


def test_four_diagrams_step_together(explorer: ExplorerPage, table: list[Row]) -> None:
    """The same on the page Compare, with the lecture example under four algorithms."""
    explorer.page.goto(f"{explorer.url}/compare?scenario=lecture")
    explorer.page.wait_for_selector(".cc-comparison[data-ready=true] .cc-diagram .main-svg")
    assert explorer.page.locator(".cc-place .cc-diagram .main-svg").count() >= 4
    table.append(Row("key to painted step, four diagrams", "lecture", keys(explorer), target=60))


def keys(explorer: ExplorerPage) -> list[float]:
    """The waits of some steps, after a warm-up."""
    explorer.page.evaluate(KEYS, STEPS)
    explorer.press("Home")
    found: list[float] = explorer.page.evaluate(KEYS, STEPS)
    return found


@pytest.mark.parametrize("name", SCENARIOS)
def test_drag_to_repainted_diagram(explorer: ExplorerPage, table: list[Row], name: str) -> None:
    """A message's arrow head is dragged with the mouse: from the release to the repainted diagram."""
    explorer.open(f"?scenario={name}")
    for _ in range(UNDER_WAY):
        explorer.press("ArrowRight")
    if not explorer.page.locator(".cc-handles .cc-handle[data-message]").count():
        table.append(Row("drag release to repainted", name, [], note="no handles to drag"))
        return
    times = [drag(explorer, back=n % 2 == 1) for n in range(EDITS)]
    assert explorer.page.locator(".cc-notice[data-level=error]:visible").count() == 0
    table.append(Row("drag release to repainted", name, times, target=200))


def drag(explorer: ExplorerPage, back: bool) -> float:
    """Drag the first handle in sight, and wait until Python has answered."""
    mouse = explorer.page.mouse
    handle = explorer.page.evaluate(HANDLE)
    mouse.move(handle["x"], handle["y"])
    mouse.down()
    for x, y in path(handle, back):
        mouse.move(x, y)
    explorer.page.evaluate(WATCH, ["pointerup", "answered"])
    mouse.up()
    return wait_ms(explorer)


@pytest.mark.parametrize("name", SCENARIOS)
def test_edit_to_repainted_diagram(explorer: ExplorerPage, table: list[Row], name: str) -> None:
    """A message's delay is changed in the Change tab: from the click to the repainted diagram."""
    explorer.open(f"?scenario={name}")
    explorer.tab("Change")
    explorer.page.locator(".cc-messages label").first.click()
    delay = explorer.page.get_by_label("Delay")
    before = float(delay.input_value())
    times = []
    for n in range(EDITS):
        delay.fill(str(before if n % 2 else before + 1))
        explorer.page.evaluate(WATCH, ["click", "answered"])
        explorer.page.get_by_role("button", name="Apply", exact=True).click()
        times.append(wait_ms(explorer))
    table.append(Row("Apply to repainted", name, times, target=200))


def test_choosing_a_scenario_to_painted_diagram(explorer: ExplorerPage, table: list[Row]) -> None:
    """From the click on a card of the gallery to its diagram."""
    page = explorer.page
    for name in SCENARIOS:
        times = []
        for other in ("two_banks", "ring", "star", "tutorial", "widgets")[:OPENINGS]:
            explorer.open(f"?scenario={other}")
            page.get_by_role("button", name="Scenarios").click()
            card = page.locator(f".st-key-open-{name} button")
            card.wait_for()
            page.evaluate(WATCH, ["click", name])
            card.click()
            times.append(wait_ms(explorer))
        table.append(Row("choosing to painted diagram", name, times))


@pytest.mark.parametrize(("where", "target"), [("lecture", 60), ("hundred", 200), ("1,000 events", 200)])
def test_move_of_a_cut_to_repainted_cut(
    explorer: ExplorerPage, table: list[Row], tmp_path: Path, where: str, target: float
) -> None:
    """A handle of the cut is dragged to and fro: from the move to the frame in which the cut is painted."""
    if where == "1,000 events":
        file = tmp_path / "run_of_1000.toml"
        file.write_text(LONG_RUN.format(events=1_000, transfers=100))
        explorer.open()
        assert open_file(explorer, file) is not None
        explorer.tab("Cut")
    else:
        explorer.open(f"?scenario={where}&tab=cut")
    table.append(Row("move of a cut to repainted cut", where, moves_of_a_cut(explorer), target=target))


def moves_of_a_cut(explorer: ExplorerPage) -> list[float]:
    """The waits of some moves of the first handle, which is dragged to and fro."""
    handle = explorer.page.locator(".cc-cut-over[data-holds] .cc-cut-handle").first
    box = handle.locator(".cc-knob").bounding_box()
    assert box is not None
    explorer.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    explorer.page.mouse.down()
    before = handle.get_attribute("aria-valuenow")
    times: list[float] = explorer.page.evaluate(CUT_MOVES, [CUT_DRAGS, CUT_WAY])
    assert handle.get_attribute("aria-valuenow") != before
    explorer.page.mouse.up()
    return times


@pytest.mark.parametrize("rows", LOG_WINDOWS)
def test_move_of_a_cut_through_a_log(
    explorer: ExplorerPage, table: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """The same in a window of a big log on the page Traces; and the page with another window, opened by its address."""
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path))
    events = write_log(tmp_path / "log", LOG_MESSAGES)
    with serving("app.py", tmp_path / "server.log") as (url, _):
        opened = []
        for first in range(1, OPENINGS + 1):
            start = time.perf_counter()
            explorer.page.goto(f"{url}/traces?data=log&rows={events // 2 + first}-{events // 2 + first + rows - 1}")
            explorer.page.wait_for_selector(f"{DIAGRAM}, .cut-error")
            opened.append(1000 * (time.perf_counter() - start))
        where = f"{rows} of 1M rows"
        table.append(Row("move of a cut to repainted cut", where, moves_of_a_cut(explorer), target=1000))
        table.append(Row("address to diagram, on Traces", where, opened))
        explorer.page.goto("about:blank")


@pytest.mark.parametrize("events", LONG_RUNS)
def test_long_run(explorer: ExplorerPage, table: list[Row], tmp_path: Path, events: int) -> None:
    """From the choice of a file with a long run to its diagram, and a step there."""
    file = tmp_path / f"run_of_{events}.toml"
    file.write_text(LONG_RUN.format(events=events, transfers=events // 10))
    where = f"{events:,} events"
    times = []
    for _ in range(3):
        explorer.open()
        opened = open_file(explorer, file)
        if opened is None:
            table.append(Row("file to painted diagram", where, [], note=f"refused: {refusal(explorer)}"))
            return
        times.append(opened)
    table.append(Row("file to painted diagram", where, times, target=LONG_RUNS[events]))
    table.append(Row("key to painted step", where, keys(explorer), target=60, note=f"{explorer.last:,} steps"))


def test_the_lattice(explorer: ExplorerPage, table: list[Row], tmp_path: Path) -> None:
    """From the click on the tab to the painted lattice, and from a question to its painted answer."""
    page, file, where = explorer.page, tmp_path / "lattice_of_1960.toml", "1,960 states"
    file.write_text(run_with_a_lattice())
    times = []
    for _ in range(OPENINGS):
        explorer.open()
        assert open_file(explorer, file) is not None
        page.evaluate(WATCH, ["click", "answered"])
        explorer.tab("Lattice")
        times.append(wait_ms(explorer))
        assert page.locator(".cc-lattice-plot .points path").count() >= 1960
    table.append(Row("tab to painted lattice", where, times, target=1_000))
    times = []
    for events in range(1, OPENINGS + 1):
        page.get_by_label("At which cuts does this hold?").fill(f"P2.events == {events}")
        page.evaluate(WATCH, ["click", "answered"])
        page.get_by_role("button", name="Ask", exact=True).click()
        times.append(wait_ms(explorer))
        assert "✓ Definitely" in page.locator(".cc-lattice-answers").inner_text()
    table.append(Row("predicate to painted lattice", where, times, target=1_000))


def open_file(explorer: ExplorerPage, file: Path) -> float | None:
    """Opens a file with the dialog. Returns the wait for its diagram, or None if the file is refused."""
    page = explorer.page
    page.get_by_role("button", name="Open file").click()
    chooser = page.locator("[data-testid=stFileUploader] input[type=file]")
    chooser.wait_for(state="attached")
    page.evaluate(WATCH, ["change", file.stem])
    chooser.set_input_files(file)
    page.locator(f".cc[data-scene={file.stem}], .cut-error").first.wait_for()
    return None if page.locator(".cut-error").count() else wait_ms(explorer)


def refusal(explorer: ExplorerPage) -> str:
    """The error in the dialog."""
    found: str = explorer.page.locator(".cut-error").inner_text()
    return found
