"""The stand-alone page, from a file, with the network off; and the dialog that exports."""

from __future__ import annotations

import json

import pytest

from diagrams.export.html import export
from diagrams.scene import compose
from diagrams.view import View
from sim.__main__ import main as sim_main
from sim.document import library
from sim.explain.words import words_of
from sim.run.execution import run
from tests.e2e.conftest import PATIENCE_MS
from tests.tools import check_none


@pytest.fixture
def still(browser, tmp_path):
    """Opens the page of a scenario in a browser that has no network; no error and no request may come of it."""
    contexts, troubles = [], []

    def opened(name, step=0, scheme="light", shown=None, **options):
        scene = compose(run(library.load(name)))
        file = tmp_path / f"{name}.html"
        file.write_bytes(export(scene, View.of(scene, step=step, **(shown or {}))))
        context = browser.new_context(
            viewport={"width": 1280, "height": 720}, color_scheme=scheme, offline=True, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: message.type == "error" and troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        own = ("file:", "data:", "blob:")
        page.on("request", lambda request: request.url.startswith(own) or troubles.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector(".cc[data-ready=true] .cc-diagram .main-svg")
        return page

    yield opened
    for context in contexts:
        context.close()
    check_none(troubles)


def press(page, key):
    page.keyboard.press(key)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def step_of(page):
    return int(page.locator(".cc").get_attribute("data-step"))


@pytest.mark.parametrize("name", ["lecture", "gupta", "token_lost", "two_initiators"])
def test_it_shows_the_record_that_the_command_prints(still, name, capsys):
    sim_main(["run", name, "--json"])
    told = json.loads(capsys.readouterr().out)
    page = still(name)
    press(page, "End")
    assert step_of(page) == told["steps"]
    snapshot = told["snapshots"][0]
    card = page.locator(f'.cc-card[data-snapshot="{snapshot["id"]}"]')
    rows = dict(zip(card.locator("dt").all_inner_texts(), card.locator("dd").all_inner_texts(), strict=True))
    assert list(rows) == list(snapshot["processes"])
    for process, recorded in snapshot["processes"].items():
        state, events = recorded["state"], recorded["events"]
        assert rows[process] == words_of(run(library.load(name))).state(state, events)
    holding = [row.get_attribute("data-channel") for row in card.locator('li[data-state="messages"]').all()]
    assert sorted(holding) == sorted(channel for channel, bodies in snapshot["channels"].items() if bodies)


def test_it_steps_plays_turns_and_starts_where_it_was_exported(still):
    page = still("lecture", step=5)
    assert step_of(page) == 5
    press(page, "ArrowRight")
    assert step_of(page) == 6
    press(page, " ")
    page.wait_for_selector(".cc[data-step='7']")
    press(page, " ")
    turn = page.locator(".cc-orientation")
    turn.click()
    assert turn.get_attribute("data-orientation") == "right"
    press(page, "Control+z")
    for name in ("Ask", "Network", "Story"):
        page.get_by_role("tab", name=name).click()
        assert page.locator(f'[data-view="{name.lower()}"]').is_visible()


def test_it_opens_with_the_cut_that_was_on_show_which_can_be_moved(still):
    page = still("lecture", shown={"cut": "P1=4,P2=2,P3=2"})
    verdict = page.locator(".cc-cut-verdict")
    assert verdict.inner_text() == "✗ This cut is not consistent"
    page.get_by_role("slider", name="P2", exact=True).press("ArrowDown")
    assert verdict.inner_text() == "✓ This cut is consistent"
    last = page.get_by_role("slider", name="P3", exact=True)
    box = last.locator(".cc-knob").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] - 150)  # on its line, before J
    assert last.get_attribute("aria-valuenow") == "1"


def test_nothing_in_it_can_be_edited(still):
    page = still("lecture")
    for tool in ("Scenarios", "Open file", "Undo", "Redo", "Share", "Export"):
        assert not page.get_by_role("button", name=tool, exact=True).is_visible()
    assert not page.get_by_role("tab", name="Change").is_visible()
    assert not page.locator(".cc-overlay").is_visible()


def test_predicting_and_presenting_work_in_it(still):
    page = still("lecture")
    page.get_by_role("button", name="Predict", exact=True).click()
    page.get_by_role("slider", name="P2", exact=True).press("ArrowDown")
    page.get_by_role("button", name="Check").click()
    assert "not right" in page.locator(".cc-judged").inner_text()
    press(page, "Escape")
    press(page, "p")
    page.wait_for_selector(".cc[data-presenting]")
    with page.expect_popup() as popup:
        press(page, "s")
    popup.value.get_by_role("button", name="Next").click()
    assert popup.value.locator(".cc-notes-place").inner_text() == "Step 1 of 18"
    assert step_of(page) == 1
    popup.value.close()
    press(page, "Escape")
    page.wait_for_selector(".cc:not([data-presenting])")


def test_it_is_light_or_dark_as_the_reader_has_it_and_can_be_switched(still):
    page = still("lecture", scheme="dark")
    assert page.locator(".cc").get_attribute("data-scheme") == "dark"
    page.get_by_role("button", name="Light", exact=True).click()
    page.wait_for_selector(".cc[data-scheme=light]")


# --------------------------------------------------------------------------- the dialog


def exported(explorer, name, fill=()):
    explorer.page.get_by_role("button", name="Export", exact=True).click()
    dialog = explorer.page.get_by_role("dialog", name="Export this run")
    dialog.get_by_label("Format").select_option(name)
    for label, value in fill:
        dialog.get_by_label(label, exact=True).fill(value)
    return dialog


def test_a_picture_of_this_step_is_downloaded(explorer):
    for _ in range(4):
        explorer.press("ArrowRight")
    dialog = exported(explorer, "svg")
    with explorer.page.expect_download() as download:
        dialog.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "lecture-step-4.svg"
    dialog.get_by_text("Saved as lecture-step-4.svg").wait_for()
    explorer.page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert explorer.step == 4


def test_a_deck_takes_a_range_of_steps(explorer):
    dialog = exported(explorer, "deck", [("From step", "2"), ("to step", "3")])
    assert not dialog.get_by_label("Step", exact=True).is_visible()
    with explorer.page.expect_download() as download:
        dialog.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "lecture-steps-2-3.pdf"
    explorer.page.keyboard.press("Escape")


def test_what_is_wrong_is_said_in_the_dialog(explorer):
    dialog = exported(explorer, "svg", [("Step", "999")])
    dialog.get_by_role("button", name="Download").click()
    dialog.get_by_text("this run has steps 0 to").wait_for()
    explorer.page.keyboard.press("Escape")
    explorer.trouble.found = [text for text in explorer.trouble.found if "400" not in text]
