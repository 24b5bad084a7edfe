"""The stand-alone page, from a file, with the network off; and the dialog that exports."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from diagrams.export import exporter, formats, svg
from diagrams.export.html import export
from diagrams.scene.composition import compose
from diagrams.scene.view import View
from sim.__main__ import main as sim_main
from sim.document import library
from sim.explain.words import words_of
from sim.run.execution import run
from tests.e2e.conftest import patience_ms
from tests.e2e.layout import SIZES, faults, resize
from tests.tools import check_none, thinned


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
        page.set_default_timeout(patience_ms())
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


@pytest.mark.parametrize("name", thinned(["lecture", "gupta", "token_lost", "two_initiators"], 1, "pages as files"))
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


def test_it_starts_where_it_was_exported_steps_plays_and_turns_in_both_themes_and_cannot_be_edited(still):
    page = still("lecture", step=5, scheme="dark")
    assert page.locator(".cc").get_attribute("data-scheme") == "dark", "as the reader has it"
    page.get_by_role("button", name="Light", exact=True).click()
    page.wait_for_selector(".cc[data-scheme=light]")
    for tool in ("Scenarios", "Open file", "Undo", "Redo", "Share", "Export"):
        assert not page.get_by_role("button", name=tool, exact=True).is_visible()
    assert not page.get_by_role("tab", name="Change").is_visible()
    assert not page.locator(".cc-overlay").is_visible()
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


@pytest.mark.long("more of each page in a real browser")
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


@pytest.mark.long("more of each page in a real browser")
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


# --------------------------------------------------------------------------- the dialog

MM = 96 / 25.4  # pixels of a page
LONG = pytest.mark.long("the preview of more formats of a picture")


def exported(explorer, name, fill=()):
    """The dialog with the preview of a format."""
    explorer.page.get_by_role("button", name="Export", exact=True).click()
    dialog = explorer.page.get_by_role("dialog", name="Export this run")
    dialog.get_by_label("Format").select_option(name)
    for label, value in fill:
        dialog.get_by_label(label, exact=True).fill(value)
    return dialog


def downloaded(dialog):
    with dialog.page.expect_download() as download:
        dialog.get_by_role("button", name="Download").click()
    return download.value


def previewed(dialog):
    """Wait until the file of what is chosen now is on show."""
    dialog.locator(".cc-export-preview[aria-busy=false]").wait_for()
    return dialog.locator(".cc-export-preview-shown > *").last


@pytest.fixture
def exporting(explorer):
    """The explorer, in a browser that remembers nothing of the dialog; a refused file is no trouble."""
    forget = "localStorage.removeItem('consistent-cut-export')"
    explorer.page.evaluate(forget)
    yield explorer
    explorer.page.keyboard.press("Escape")
    explorer.page.evaluate(forget)
    explorer.trouble.found = [text for text in explorer.trouble.found if "status of 400" not in text]


@pytest.mark.parametrize("name", ["svg", pytest.param("png", marks=LONG), pytest.param("gif", marks=LONG)])
def test_the_preview_is_the_very_file_that_is_saved(exporting, name):
    page, made = exporting.page, {}

    def note(route):
        answer = route.fetch()
        made[route.request.url] = answer.body()
        route.fulfill(response=answer)

    page.route("**/export/**", note)
    fields = [("From step", "2"), ("to step", "3")] if name == "gif" else [("Step", "7")]
    last = "to=3&" if name == "gif" else "step=7&"
    with page.expect_response(lambda answer: f"/{name}?" in answer.url and last in answer.url) as shown:
        dialog = exported(exporting, name, fields)
    picture = previewed(dialog)
    assert picture.evaluate("picture => picture.complete && picture.naturalWidth > 0")
    page.unroute("**/export/**")
    assert downloaded(dialog).path().read_bytes() == made[shown.value.url]


@pytest.mark.parametrize("name", [pytest.param("svg", marks=LONG), "png", pytest.param("pdf", marks=LONG)])
def test_on_paper_the_preview_has_its_true_size_and_says_so(exporting, name):
    dialog = exported(exporting, name)
    letters = dialog.get_by_label("Letters", exact=True)
    assert not letters.is_visible()  # they are those of the screen
    dialog.get_by_label("Width", exact=True).select_option("84mm")
    assert letters.input_value() == "8pt"
    assert abs(previewed(dialog).bounding_box()["width"] - 84 * MM) < 1
    dialog.get_by_text("84 mm wide on paper, shown at its true size.").wait_for()
    dialog.get_by_label("Width", exact=True).select_option("own")
    dialog.get_by_label("Width: another", exact=True).fill("12 in")
    dialog.get_by_text("12 in wide on paper, shown smaller here.").wait_for()
    assert dialog.get_by_text("the same picture as SVG").is_visible() == (name == "pdf")


@pytest.mark.long("more of each page in a real browser")
def test_a_text_shows_its_first_lines_what_no_page_shows_says_so_and_each_format_what_it_is_for(exporting):
    dialog = exported(exporting, "tikz")
    dialog.get_by_text("This is the same picture as SVG. Its first 40 lines.").wait_for()
    shown = previewed(dialog).inner_text().split("\n")
    saved = downloaded(dialog).path().read_text("utf-8").split("\n")
    assert shown == saved[:40] and len(saved) > 41
    dialog.get_by_label("Format").select_option("mermaid")  # at step 0
    dialog.get_by_text("The whole file.").wait_for()
    for name in ("html", "parquet"):
        dialog.get_by_label("Format").select_option(name)
        dialog.get_by_text("This file cannot be shown here.").wait_for()
    for name in formats():
        dialog.get_by_label("Format").select_option(name)
        assert dialog.locator(".cc-export-for").inner_text() == exporter(name).FOR


@pytest.mark.long("more of each page in a real browser")
def test_a_deck_takes_a_range_of_steps_and_shows_its_last_page(exporting):
    dialog = exported(exporting, "deck", [("From step", "2"), ("to step", "3")])
    assert not dialog.get_by_label("Step", exact=True).is_visible()
    dialog.get_by_text("Its page of step 3, the last one.").wait_for()
    assert downloaded(dialog).suggested_filename == "lecture-steps-2-3.pdf"


def test_a_picture_of_this_step_takes_the_same_as_the_command_line(exporting):
    for _ in range(4):
        exporting.press("ArrowRight")
    dialog = exported(exporting, "svg", [("Diagram from step", "9")])
    dialog.get_by_label("Width", exact=True).select_option("84mm")
    dialog.get_by_label("Letters", exact=True).select_option("9pt")
    dialog.get_by_label("Without times").check()
    file = downloaded(dialog)
    assert file.suggested_filename == "lecture-step-4-crop-9-18.svg"
    lecture = compose(run(library.load("lecture")))
    options = {"width": "84mm", "font-size": "9pt", "no-axis": True, "crop": (9, 18)}
    assert file.path().read_bytes() == svg.export(lecture, View.of(lecture, step=4, **options))
    dialog.get_by_text("Saved as lecture-step-4-crop-9-18.svg").wait_for()
    exporting.page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert exporting.step == 4


def test_the_caption_stands_beside_the_picture_and_can_be_copied(exporting):
    dialog = exported(exporting, "svg", [("Step", "18")])
    caption = dialog.get_by_role("textbox", name="Caption")
    previewed(dialog)
    assert "C21 holds" in caption.input_value()
    exporting.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    dialog.get_by_role("button", name="Copy caption").click()
    dialog.get_by_text("Copied ✓").wait_for()
    assert exporting.page.evaluate("navigator.clipboard.readText()") == caption.input_value()
    dialog.get_by_label("Caption written as").select_option("latex")
    expect(caption).to_have_value(re.compile(r"^\\caption\{.*C21 holds.*\}$"))
    dialog.get_by_label("Format").select_option("csv")
    previewed(dialog)
    assert not caption.is_visible()


def test_what_is_wrong_is_said_in_the_place_of_the_preview_and_nothing_is_lost(exporting):
    dialog = exported(exporting, "svg", [("Step", "999")])
    dialog.get_by_label("Width", exact=True).select_option("84mm")
    problem = dialog.locator(".cc-export-preview-problem")
    problem.get_by_text("Step 999: this run has steps 0 to 18.").wait_for()
    dialog.get_by_role("button", name="Download").click()
    dialog.locator(".cc-export-said[data-state=error]").get_by_text("this run has steps 0 to 18").wait_for()
    dialog.get_by_label("Step", exact=True).fill("9")
    problem.wait_for(state="detached")
    assert previewed(dialog).get_attribute("src").startswith("blob:")
    assert dialog.get_by_label("Width", exact=True).input_value() == "84mm"
    dialog.get_by_label("Format").select_option("deck")  # a range that the download refuses has no preview
    dialog.get_by_label("From step", exact=True).fill("7")
    dialog.get_by_label("to step", exact=True).fill("")
    problem.get_by_text("Give both ends of the range of steps, or neither.").wait_for()
    dialog.get_by_label("to step", exact=True).fill("3")
    problem.get_by_text("Steps 7-3: lecture has steps 0 to 18").wait_for()
    dialog.get_by_label("From step", exact=True).fill("")
    dialog.get_by_label("to step", exact=True).fill("")
    dialog.get_by_text("Its page of step 18, the last one.").wait_for()


def test_one_preview_is_asked_for_at_a_time(exporting):
    page = exporting.page
    page.route("**/export/**/svg?*step=5&*", lambda route: None)  # this answer never comes
    dialog = exported(exporting, "svg")
    with page.expect_request(lambda asked: "step=5&" in asked.url):
        dialog.get_by_label("Step", exact=True).fill("5")
    with page.expect_event("requestfailed", lambda asked: "step=5&" in asked.url):
        dialog.get_by_label("Step", exact=True).fill("6")
    assert previewed(dialog).evaluate("picture => picture.naturalWidth > 0")
    assert not dialog.locator(".cc-export-preview-problem").is_visible()
    page.unroute("**/export/**/svg?*step=5&*")


@pytest.mark.long("more of each page in a real browser")
def test_how_a_file_is_set_is_remembered_in_this_browser_until_it_is_reset(fresh_explorer):
    page = fresh_explorer.page
    page.evaluate("localStorage.removeItem('consistent-cut-export')")
    dialog = exported(fresh_explorer, "pdf", [("Step", "7")])
    dialog.get_by_label("Width", exact=True).select_option("own")
    dialog.get_by_label("Width: another", exact=True).fill("3.3in")
    dialog.get_by_label("Legend").check()
    page.reload()
    page.wait_for_selector(".cc[data-ready=true] .cc-diagram .main-svg")
    page.get_by_role("button", name="Export", exact=True).click()
    assert dialog.get_by_label("Format").input_value() == "pdf"
    assert dialog.get_by_label("Width: another", exact=True).input_value() == "3.3in"
    assert dialog.get_by_label("Legend").is_checked()
    assert dialog.get_by_label("Step", exact=True).input_value() == "0"  # what is on show, as ever
    dialog.get_by_label("Format").select_option("svg")  # has the same option
    assert dialog.get_by_label("Width", exact=True).input_value() == "own"
    dialog.get_by_role("button", name="Reset").click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Export", exact=True).click()
    assert dialog.get_by_label("Width", exact=True).input_value() == ""
    assert not dialog.get_by_label("Legend").is_checked()
    page.evaluate("localStorage.setItem('consistent-cut-export', '[{]')")  # of somebody else
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Export", exact=True).click()
    assert previewed(dialog).get_attribute("src").startswith("blob:")
    page.evaluate("localStorage.removeItem('consistent-cut-export')")


def test_it_can_be_used_without_a_mouse(exporting):
    previewed(exported(exporting, "svg"))
    name = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
    reached = []
    while len(reached) < 20 and (not reached or reached[-1] != "Reset"):
        exporting.page.keyboard.press("Tab")
        reached.append(exporting.page.evaluate(name))
    assert reached[:5] == ["Drawing", "Step", "Diagram from step", "diagram to step", "Cut"]
    assert {"Width", "The file", "Copy caption"} <= set(reached) and reached[-2:] == ["Download", "Reset"]


@pytest.mark.long("more of each page in a real browser")
def test_it_is_laid_out_well(exporting):
    page, found = exporting.page, []
    for size in SIZES:
        resize(page, size)
        if page.locator(".cc-unfold").is_visible():
            page.locator(".cc-unfold").click()
        dialog = exported(exporting, "pdf")
        dialog.get_by_label("Width", exact=True).select_option("170mm")
        dialog.get_by_text("170 mm wide on paper").wait_for()
        found += [f"{size}: {fault}" for fault in faults(page, ".cc-export-dialog")]
        page.keyboard.press("Escape")
        exporting.until_closed(dialog)
    check_none(found)
