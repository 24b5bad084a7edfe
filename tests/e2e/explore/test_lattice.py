"""The Lattice tab: dots that set the cut, a cut that moves its ring, predicates with their witnesses."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import ExplorerPage

LATTICE = "?scenario=lecture&step=9&tab=lattice"
DRAWN = "[data-view=lattice][data-drawn=true] .cc-lattice-plot .main-svg"


@pytest.fixture
def lattice(tab: ExplorerPage) -> ExplorerPage:
    """The lattice of the lecture at step 9."""
    tab.open(LATTICE)
    tab.page.wait_for_selector(DRAWN)
    return tab


def said(page: Any, what: str = "cut in the diagram") -> Any:
    """The line that says where a ring is."""
    return page.locator(".cc-lattice-here > span").filter(has_text=what)


def middle(node: Any) -> tuple[float, float]:
    box = node.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def dot(page: Any, cut: list[int | str]) -> tuple[float, float]:
    """Where the dot of a cut lies on the screen."""
    place: list[float] = page.evaluate(
        """cut => {
            const plot = document.querySelector(".cc-lattice-plot"), { left, top } = plot.getBoundingClientRect();
            const { xaxis, yaxis } = plot._fullLayout;
            for (const { x, y, hovertext = [] } of plot.data) {
                const at = hovertext.findIndex((text) => text.startsWith(`${cut.join(".")}:`));
                if (at >= 0) return [left + xaxis._offset + xaxis.d2p(x[at]), top + yaxis._offset + yaxis.d2p(y[at])];
            }
        }""",
        cut,
    )
    return place[0], place[1]


def test_a_dot_sets_the_cut_and_the_cut_moves_the_ring(lattice: ExplorerPage) -> None:
    page = lattice.page
    expect(page.locator(".cc-lattice-lead")).to_have_text("31 of 96 cuts are consistent.")
    expect(said(page, "run at this step")).to_have_text("the run at this step: 3.3.1")
    expect(said(page)).to_have_text("the cut in the diagram: 2.3.1")
    page.mouse.click(*dot(page, [3, 1, 0]))
    expect(said(page)).to_have_text("the cut in the diagram: 3.1.0")
    expect(page).to_have_url(re.compile(r"cut=3\.1\.0"))
    assert middle(page.locator(".cc-lattice > .cc-lattice-held")) == pytest.approx(dot(page, [3, 1, 0]), abs=1.5)
    handle = page.get_by_role("slider", name="P3", exact=True)
    handle.press("ArrowRight")
    expect(said(page)).to_have_text("the cut in the diagram: 3.1.1")
    assert middle(page.locator(".cc-lattice > .cc-lattice-held")) == pytest.approx(dot(page, [3, 1, 1]), abs=1.5)
    page.get_by_role("slider", name="P2", exact=True).press("Home")
    page.get_by_role("slider", name="P1", exact=True).press("End")
    expect(said(page)).to_have_text("the cut in the diagram: 5.0.1 (not consistent: no dot)")
    expect(page.locator(".cc-lattice > .cc-lattice-held")).to_be_hidden()


def test_the_ring_of_the_run_follows_the_step_and_the_lattice_follows_edits(lattice: ExplorerPage) -> None:
    page = lattice.page
    lattice.press("ArrowLeft")
    expect(said(page, "run at this step")).to_have_text("the run at this step: 3.2.1")
    assert middle(page.locator(".cc-lattice > .cc-lattice-now")) == pytest.approx(dot(page, [3, 2, 1]), abs=1.5)
    lattice.tab("Change")
    page.locator(".cc-messages label").filter(has_text="H").first.click()
    lattice.edit("Hold")
    lattice.tab("Lattice")
    expect(page.locator(".cc-lattice-lead")).not_to_have_text("31 of 96 cuts are consistent.")
    expect(page.locator(".cc-lattice-lead")).to_have_text(re.compile("cuts are consistent"))


def test_a_predicate_possibly_and_definitely_with_witnesses_and_in_the_link(lattice: ExplorerPage) -> None:
    page = lattice.page
    asked = page.get_by_label("At which cuts does this hold?")
    asked.fill("P1.events == 3 and P2.events == 1")
    asked.press("Enter")
    answers = page.locator(".cc-lattice-answers")
    expect(answers).to_contain_text("✓ Possibly. It holds at 3 of the 31 consistent cuts (squares).")
    expect(answers).to_contain_text("✗ Not definitely. The dashed way goes up")
    page.get_by_role("button", name="Show one").click()
    expect(said(page)).to_have_text("the cut in the diagram: 3.1.0")
    for cut in ("0.0.0", "1.0.0"):
        page.get_by_role("button", name="Walk it").click()
        expect(said(page)).to_have_text(f"the cut in the diagram: {cut}")
    expect(page).to_have_url(re.compile("predicate=P1.events"))
    page.reload()
    expect(answers).to_contain_text("✗ Not definitely.")
    asked.fill("P9.events > 1")
    asked.press("Enter")
    expect(answers).to_contain_text("'P9' is no process and no channel of this run")
    expect(page.locator(DRAWN).first).to_be_visible()


@pytest.mark.long("more of each page in a real browser")
def test_export_begins_with_the_lattice(lattice: ExplorerPage) -> None:
    page = lattice.page
    page.locator("[data-tool=export]").click()
    page.get_by_label("Format").select_option("svg")
    expect(page.get_by_label("Drawing")).to_have_value("lattice")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "lecture-drawing-lattice-step-9.svg"
    assert "31 of 96 cuts" in download.value.path().read_text()
    page.get_by_label("Drawing").select_option("space-time")
    expect(page.get_by_label("Predicate to ask of the lattice")).to_be_hidden()


def test_dots_that_differ_in_a_loss_or_a_copy_alone_are_held_as_themselves(tab: ExplorerPage) -> None:
    """A click, the link that it makes, and the meter of that cut; a link of events alone opens as it always did."""
    tab.open("?scenario=lost_and_copied&tab=lattice&cut=1.2")
    page = tab.page
    page.wait_for_selector(DRAWN)
    held = page.locator(".cc-lattice > .cc-lattice-held")
    expect(said(page)).to_have_text("the cut in the diagram: 1.2+")  # P2 has received the copied message
    for sign, name in (("×", r"cut=1\.2(~|%7E)1\.2"), ("", r"cut=1\.2(&|$)")):
        page.mouse.click(*dot(page, [1, f"2+{sign}"]))
        expect(said(page)).to_have_text(f"the cut in the diagram: 1.2+{sign}")
        expect(page).to_have_url(re.compile(name))
        assert middle(held) == pytest.approx(dot(page, [1, f"2+{sign}"]), abs=1.5)
    page.mouse.click(*dot(page, [1, "2+×"]))
    page.wait_for_function("() => decodeURIComponent(location.search).includes('cut=1.2~1.2')")
    page.reload()
    tab.tab("Cut")
    meter = page.locator("[data-view=cut] .cc-meter")
    expect(meter).to_contain_text("conserved ✓")
    expect(meter).to_contain_text("980 in processes + 30 in channels + 20 lost − 30 copied = 1000")
    expect(page.locator(".cc-cut-faults")).to_have_text("+ the copying of 30× the loss of 20")
