"""The app in Firefox: it draws, steps, and lets a marker be dragged."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.e2e.firefox import Firefox, firefox
from tests.tools import free_port

BROWSERS = ("firefox-esr", "firefox")
END = "\ue010"
C13 = "document.querySelector('.cc-handle[aria-label=\"Arrival of marker S1 on C13\"]')"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("Firefox is not installed")
    with firefox(program, free_port(), tmp_path_factory.mktemp("firefox")) as opened:
        yield opened


def test_the_lecture_steps_and_a_dragged_marker_lets_j_into_the_record(tab, app_url):
    tab.resize(1280, 720)
    tab.open(app_url)
    tab.wait_for("document.querySelector('.cc[data-ready=true] .cc-diagram .main-svg')")
    tab.press(END)
    tab.wait_for("document.querySelector('.cc').dataset.step === '18'")
    states = "[...document.querySelectorAll('.cc-states dd')].map((state) => state.innerText).join(' ')"
    tab.wait_for(f"{states} === '{{A, B}} {{F, G, H}} {{I}}'")
    place = f"(({{x, y, width, height}}) => `${{x + width / 2}} ${{y + height / 2}}`)({C13}.getBoundingClientRect())"
    x, y = map(float, tab.evaluate(place).split())
    tab.drag((x, y), (x, y + 250))
    tab.wait_for(f"{states} === '{{A, B}} {{F, G, H}} {{I, J}}'")
    assert tab.errors == []


def test_it_fits_the_screen(tab, app_url):
    tab.open(app_url)
    tab.wait_for("document.querySelector('.cc[data-ready=true] .cc-diagram .main-svg')")
    edges = "[...document.querySelectorAll('.cc :is(button, p, h3)')].map((node) => node.getBoundingClientRect().right)"
    for width, height in ((390, 844), (640, 360), (1024, 768)):
        tab.resize(width, height)
        tab.wait_for(f"innerWidth === {width} && Math.max(...{edges}) <= {width}")
    assert tab.errors == []
