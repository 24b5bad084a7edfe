"""The page Live: a real cluster in a real browser; it is watched, acted on, killed in parts, and looked back at.

What it costs is the cluster, so one cluster is taken through a whole lecture; what only shows after seconds is long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.e2e.conftest import ExplorerPage
from tests.e2e.everywhere.test_accessibility import SCHEMES, issues, of_theme
from tests.e2e.layout import RESIZED, SIZES, sized
from tests.tools import check_none

pytestmark = pytest.mark.slow
IS_FRAME = re.compile("/live/frames/")  # the address of what the page asks for twice a second
FORM = ".st-key-live-start button"


class Live:
    """What a person does on the page, in their words."""

    def __init__(self, tab: ExplorerPage) -> None:
        self.tab, self.page = tab, tab.page
        self.root = tab.page.locator(".cc-live")

    def open(self) -> None:
        self.page.goto(f"{self.tab.url}/live")
        self.page.wait_for_selector(f".cc-live[data-ready=true] .main-svg, {FORM}")

    def start(self) -> None:
        """A cluster of four runs, slowly, whatever was there before."""
        self.open()
        if self.page.get_by_role("button", name="Start another").is_visible():
            self.press("Start another")
            self.page.wait_for_selector(FORM)
        if self.page.locator(FORM).is_visible():
            self.page.locator(FORM).click()
        self.until_state("running")
        self.page.wait_for_selector(".cc-live .main-svg")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def until_state(self, state: str) -> None:
        self.page.wait_for_selector(f".cc-live[data-state={state}]")

    def snapshots(self) -> list[str]:
        """What the list says of each, the newest first."""
        return self.page.locator(".cc-live-snapshots li").all_inner_texts()

    def until_snapshot(self, words: str, count: int | None = None) -> str:
        """Wait until the newest snapshot is so; and until there are so many."""
        first = self.page.locator(".cc-live-snapshots li").first
        first.filter(has_text=words).wait_for()
        if count is not None:
            assert len(self.snapshots()) == count
        return str(first.inner_text())

    def until_all_run(self, epoch: int) -> None:
        told = self.page.locator(".cc-live-nodes li").filter(has_text=re.compile(rf"runs\s*epoch {epoch}"))
        told.nth(3).wait_for()

    def until_said(self, words: str) -> None:
        """Wait until the last event is this."""
        self.page.locator(".cc-live-last").filter(has_text=words).wait_for()

    def until_it_is(self, words: str) -> None:
        """Wait until the sentence of now says so."""
        self.page.locator(".cc-live-said").filter(has_text=words).wait_for()

    def sums(self) -> list[str]:
        """What the sums come to that are on show."""
        text = self.page.locator(".cc-live-amounts").inner_text()
        return re.findall(r"= (\d+(?: of \d+)?) money", text)

    def end_shown(self) -> float:
        """The time at the end of the diagram, in seconds."""
        return float(self.page.locator(".cc-live-position").inner_text().split(" s")[0])


@pytest.fixture
def live(fresh_tab: ExplorerPage) -> Iterator[Live]:
    yield from watched(fresh_tab)


def watched(tab: ExplorerPage) -> Iterator[Live]:
    """A cluster that runs, and is stopped afterwards."""
    own = Live(tab)
    own.start()
    yield own
    own.page.set_viewport_size({"width": 1280, "height": 720})
    own.open()
    stop = own.page.get_by_role("button", name="Stop", exact=True)
    if stop.is_visible():
        stop.click()
        own.until_state("ended")


def test_a_node_is_killed_while_a_snapshot_runs_the_next_one_is_complete_and_goes_to_explore(live):
    """No marker comes to P2 through severed channels, so the snapshot asked for first is under way when P2 ends."""
    live.page.get_by_label("Channel", exact=True).select_option("All to P2")
    live.press("Sever")
    live.until_said("P1->P2, P3->P2 and P4->P2 are severed")
    live.press("Take a snapshot")
    live.until_said("for snap-0001")
    live.until_it_is("P2 has not recorded yet. P1->P2, P3->P2 and P4->P2 are severed.")
    live.press("Kill P2")
    assert "P2" in live.until_snapshot("failed", count=1), "the reason names who has failed"
    live.until_all_run(epoch=1)
    live.until_said("P2 has ended, so all processes go back to the beginning")
    assert "ended at" in live.page.locator(".cc-live-nodes li").nth(1).inner_text()
    live.press("Mend")
    live.until_said("P1->P2, P3->P2 and P4->P2 are mended")
    live.press("Take a snapshot")
    live.until_snapshot("complete", count=2)
    live.until_said("snap-0002 is complete.")
    record_is_shown(live)
    live.press("Kill P1")
    live.until_all_run(epoch=2)
    live.until_said("P1 has ended, so all processes go back to snap-0002.")
    live.until_it_is("All 4 processes run.")
    assert set(live.sums()) == {"400"}, "nothing is lost"
    opened_in_explore(live)


def record_is_shown(live: Live) -> None:
    """By a press, a key and a sign on the line of the whole run; the diagram follows below it; Escape closes it."""
    page = live.page
    record = page.locator("dialog[open] .cc-live-record")
    entry = page.locator(".cc-live-snapshots button").first
    for opened in (
        entry.click,
        lambda: entry.press("Enter"),
        page.locator(".cc-live-marks [data-snapshot]").last.click,
    ):
        opened()
        record.get_by_text("Snapshot snap-0002").wait_for()
        assert record.locator(".cc-live-total").inner_text().endswith(" = 400 money.")
        assert record.locator("dt").all_inner_texts() == ["P1", "P2", "P3", "P4"]
        with page.expect_response(IS_FRAME):
            pass
        page.keyboard.press("Escape")
        record.wait_for(state="hidden")
    entry.click()
    page.keyboard.press("Escape")
    page.keyboard.press(" ")
    page.wait_for_selector(".cc-live:not([data-follows])")
    assert not record.is_visible(), "Space is for Pause, not for the button that was pressed last"
    page.keyboard.press(" ")
    page.wait_for_selector(".cc-live[data-follows]")


def opened_in_explore(live: Live) -> None:
    """What is on show goes there with its states and the cut of its snapshot, without what was taken back."""
    page, tab = live.page, live.tab
    live.press("Take a snapshot")  # however long the others took, this one is on show, with the recovery before it
    live.until_said("snap-0003 is complete.")
    with page.expect_response(lambda own: "width=20" in own.url):
        page.get_by_label("Seconds in the diagram").select_option("20")
    live.press("Pause")
    live.press("Open in Explore")
    page.wait_for_selector(".cc[data-scene=live][data-ready=true]")
    page.keyboard.press("End")
    tab.tab("Record")
    page.locator(".cc-card[data-snapshot]:not([hidden])").filter(has_text="snap-0003").filter(
        has_text="complete"
    ).wait_for()
    tab.tab("Cut")
    page.get_by_text("This cut is consistent").wait_for()
    tab.tab("Lattice")
    page.get_by_text("cuts are consistent").wait_for()
    assert page.locator(".cc-lattice-plot .points path").count() > 10
    tab.tab("Proof")
    page.get_by_text("The snapshot state: all white actions are done, and no red one.").wait_for()
    page.keyboard.press("Home")
    tab.tab("Record")
    page.get_by_text(re.compile(r"400\s*in processes")).wait_for()
    tab.tab("Story")
    page.get_by_text(re.compile(r"It begins at \d+\.\d s with the state of each process: P1 ")).first.wait_for()
    page.get_by_text("A recovery has undone some events. They are left out").first.wait_for()


def test_a_lecture_with_a_cluster(live, contexts):
    """It is presented, watched by somebody else, presses and menus act on it, and it is looked back at."""
    page = live.page
    other = Live(ExplorerPage(contexts["dark"].new_page(), live.tab.url))
    other.open()
    other.until_state("running")
    killed_by_the_menu_of_its_line(live)
    presented(live)
    live.page.wait_for_function("""() => document.querySelector(".cc-live .cc-diagram").data.some(
      ({ meta, visible }) => visible !== false && meta?.bends && meta?.snapshots)""")  # its cut
    page.get_by_label("Channel", exact=True).select_option("All to P2")
    live.press("Sever")
    live.until_said("P1->P2, P3->P2 and P4->P2 are severed")
    live.press("Mend")
    live.until_said("P1->P2, P3->P2 and P4->P2 are mended")
    looked_back(live)
    live.press("Take a snapshot")
    for own in (live, other):
        newest = own.page.locator(".cc-live-snapshots li").first
        newest.filter(has_text="snap-0002").filter(has_text="complete").wait_for()
    found = on_every_screen(live, "running", SIZES[::3])
    live.press("Stop")
    other.until_state("ended")
    assert not other.page.get_by_role("button", name="Kill P1").is_visible()
    check_none([*found, *issues(other.tab, "dark, ended", **of_theme("dark")), *other.tab.trouble.found])
    other.page.close()
    live.until_state("ended")
    check_none(issues(live.tab, "light, ended"))


def presented(live: Live) -> None:
    """The presenter view, in which a snapshot is taken by key."""
    page = live.page
    page.keyboard.press("p")
    page.wait_for_selector(".cc-live[data-presented]")
    page.wait_for_function("() => document.querySelector('.cc-live .cc-diagram .main-svg').clientHeight > 350")
    page.wait_for_function(RESIZED)
    assert page.locator(".cc-live-panel").is_hidden()
    page.keyboard.press("s")
    live.until_said("is complete")
    page.keyboard.press("Escape")
    page.wait_for_selector(".cc-live:not([data-presented])")
    assert live.until_snapshot("complete")


def looked_back(live: Live) -> None:
    """The diagram stands still while the cluster runs on, goes back by a key, and follows again."""
    page = live.page
    page.wait_for_function("() => parseFloat(document.querySelector('.cc-live-position').textContent) > 3")
    seconds = page.get_by_label("Seconds in the diagram")
    usual = seconds.input_value()
    seconds.select_option("2 s")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(" ")
    page.wait_for_selector(".cc-live:not([data-follows])")
    paused = live.end_shown()
    with page.expect_response(IS_FRAME):
        pass
    with page.expect_response(IS_FRAME):  # the first one has been shown by then
        pass
    assert live.end_shown() == paused, "it stands still"
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        "(at) => parseFloat(document.querySelector('.cc-live-position').textContent) < at", arg=paused
    )
    page.wait_for_function(
        "(at) => Math.abs(document.querySelector('.cc-live .cc-diagram').layout.xaxis.range[1] - at) < 1",
        arg=live.end_shown(),
    )
    page.get_by_role("slider", name="End of the diagram").fill("2")
    assert live.end_shown() == 2.0
    live.press("Follow")
    page.wait_for_function(
        "(at) => parseFloat(document.querySelector('.cc-live-position').textContent) > at", arg=paused + 1
    )
    seconds.select_option(usual)


ON_LINE = """(part) => {
  const plot = document.querySelector(".cc-live .cc-diagram");
  const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
  return [box.left + xaxis._offset + part * xaxis._length, box.top + yaxis._offset + yaxis.d2p(2)];
}"""


def killed_by_the_menu_of_its_line(live: Live) -> None:
    """A click anywhere on the line opens the menu, whatever events and messages lie there."""
    page = live.page
    page.wait_for_function("() => parseFloat(document.querySelector('.cc-live-position').textContent) > 2")
    entry = page.get_by_role("menuitem", name="Snapshot from P3")
    for part in range(20):
        page.mouse.click(*page.evaluate(ON_LINE, (part + 0.5) / 20))
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert entry.is_visible(), f"a click at {part} of 20 places on the line opens its menu"
        page.keyboard.press("Escape")
    page.mouse.click(*page.evaluate(ON_LINE, 0.5))
    page.get_by_role("menuitem", name="Kill P3").click()
    live.until_all_run(epoch=1)


def on_every_screen(live: Live, state: str, sizes) -> list[str]:
    """The faults of the page at these sizes; it has its usual size again."""
    found = [f"{state} {fault}" for fault in sized(live.page, sizes)]
    live.page.set_viewport_size({"width": 1280, "height": 720})
    live.page.wait_for_function(RESIZED)
    return found


@pytest.mark.long("a snapshot of a live cluster that expires after its five seconds")
def test_a_severed_channel_lets_a_snapshot_expire_until_it_is_mended(live):
    live.page.get_by_label("Channel", exact=True).select_option("All to P2")
    live.press("Sever")
    live.until_said("P1->P2, P3->P2 and P4->P2 are severed")
    live.press("Take a snapshot")
    assert "no word from P1, P2, P3 and P4 within 5 s" in live.until_snapshot("expired")
    live.press("Mend")
    live.until_said("P1->P2, P3->P2 and P4->P2 are mended")
    live.press("Take a snapshot")
    live.until_snapshot("complete")


@pytest.mark.long("the page Live with a recovery at every size, in both themes")
@pytest.mark.parametrize("color_scheme", SCHEMES)
def test_on_every_screen(live, color_scheme):
    """What is there when the cluster is over stays as it is, so it can be looked at closely."""
    live.press("Take a snapshot")
    live.until_snapshot("complete")
    live.press("Kill P2")
    live.until_all_run(epoch=1)
    found = on_every_screen(live, "running", SIZES)
    live.press("Stop")
    live.until_state("ended")
    found += on_every_screen(live, "ended", SIZES)
    check_none(found + issues(live.tab, color_scheme))
