"""The Explore page as a lecturer uses it."""

from __future__ import annotations

import pytest

LECTURE_STATES = {"P1": "{A, B}", "P2": "{F, G, H}", "P3": "{I}"}
LECTURE_CHANNELS = {"C21": "<H->D>"} | dict.fromkeys(["C12", "C13", "C23", "C31", "C32"], "<empty>")

OWN = 'title = "Two of us"\nprocesses = ["P1", "P2"]\n[[script]]\nprocess = "P1"\nat = 1\nto = "P2"\n'
MARK_DIAGRAM = "document.querySelector('.cc-diagram').markedByTest = true"
IS_MARKED = "document.querySelector('.cc-diagram').markedByTest === true"


def test_last_step_shows_the_lectures_record(explorer):
    page = explorer.page
    assert explorer.step == 0
    hint = page.locator(".cc-hint")
    assert "next step" in hint.inner_text(), "newcomers are told what to do until they have begun"
    explorer.press("ArrowRight")
    assert not hint.is_visible()
    states, channels = explorer.record()
    assert explorer.step == explorer.last
    assert states == LECTURE_STATES
    assert channels == LECTURE_CHANNELS
    names = page.locator(".cc-card[data-snapshot]:not([hidden]) .cc-unbroken")
    assert "<H->D>" in names.all_inner_texts()
    broken = names.first.evaluate("(name) => getComputedStyle(name).whiteSpace")
    assert broken == "nowrap", "no line ends within the name of a message"
    explorer.tab("Story")
    assert page.locator(".cc-signs-in-full li").count() == page.locator(".cc-signs li").count()
    drawn = page.locator(".cc-cut-past")
    assert not drawn.is_visible()
    page.get_by_role("radio", name="inconsistent").click()
    assert drawn.is_visible()
    page.get_by_role("radio", name="none").click()
    assert not drawn.is_visible()
    assert page.evaluate("document.querySelector('.stMain').scrollHeight <= innerHeight"), "it fits a projector"


def test_a_marker_that_is_delayed_or_brought_forward_changes_the_record(explorer):
    explorer.delay("C13", "marker", 300)
    states, channels = explorer.record()
    assert states == LECTURE_STATES | {"P3": "{I, J}"}, "delayed beyond J it lets J in"
    assert channels == LECTURE_CHANNELS
    explorer.tab("Change")
    explorer.edit("Undo")
    explorer.delay("C12", "marker", 200)
    states, channels = explorer.record()
    assert states == LECTURE_STATES | {"P2": "{F, G}"}, "brought forward before H it keeps H out"
    assert channels["C21"] == "<empty>"
    explorer.tab("Change")
    explorer.edit("Undo")
    explorer.choose("C32", "marker")
    for delay, arrival in (("10", 602), ("200", 729)):  # it waits behind the message before it
        explorer.page.get_by_label("Delay").fill(delay)
        explorer.page.get_by_text(f"would arrive at {arrival}", exact=True).wait_for()


def test_sending_a_message_adds_its_send_and_its_receipt(explorer):
    steps = explorer.last
    explorer.tab("Change")
    explorer.page.get_by_label("From", exact=True).select_option("P2")
    explorer.page.get_by_label("to", exact=True).select_option("P3")
    explorer.page.get_by_label("Body").fill("hello")
    explorer.edit("Send")
    assert explorer.last == steps + 2
    assert "hello" in explorer.edits()[0]


def test_second_snapshot_is_shown_beside_the_first(explorer):
    explorer.tab("Change")
    explorer.page.get_by_label("Snapshot at").select_option("P2")
    explorer.edit("Start")
    explorer.tab("Record")
    explorer.press("End")
    chosen = explorer.page.get_by_role("button", name="S2", pressed=True)
    assert "complete" in chosen.inner_text()
    explorer.page.get_by_role("button", name="S1").click()
    assert explorer.record() == (LECTURE_STATES, LECTURE_CHANNELS)


def test_hold_release_undo_and_reset(explorer):
    explorer.choose("C21", "app")
    explorer.edit("Hold")
    assert "<empty>" not in explorer.record()[1]["C21"]
    explorer.choose("C21", "app")
    explorer.edit("Release")
    assert explorer.record() == (LECTURE_STATES, LECTURE_CHANNELS)
    explorer.tab("Change")
    explorer.edit("Undo")
    assert len(explorer.edits()) == 1
    explorer.edit("Reset")
    assert explorer.edits() == []
    assert explorer.record() == (LECTURE_STATES, LECTURE_CHANNELS)
    explorer.tab("Change")
    explorer.edit("Undo")
    assert len(explorer.edits()) == 1, "a reset can be undone, so that nothing is lost by it"


def test_hundred_fast_edits_all_arrive(explorer):
    explorer.tab("Change")
    explorer.page.evaluate(
        "for (let n = 0; n < 100; n++) document.querySelectorAll('.cc-additions form button')[1].click()"
    )
    explorer.page.wait_for_selector(".cc:not([data-pending])")
    assert len(explorer.edits()) == 100


def test_a_refused_edit_and_a_bad_file_say_why_and_change_nothing(explorer):
    explorer.tab("Change")
    process = explorer.page.get_by_label("Internal event at")
    process.evaluate("(select) => select.add(new Option('Nobody'))")
    process.select_option("Nobody")
    explorer.edit("Add")
    process.evaluate("(select) => select.lastChild.remove()")  # other tests use this tab
    assert "Nobody" in explorer.page.get_by_role("alert").inner_text()
    assert explorer.edits() == []
    explorer.page.get_by_role("button", name="Open file").click()
    bad = {"name": "bad.toml", "mimeType": "text/plain", "buffer": b"processes = [\n"}
    explorer.page.locator("input[type=file]").set_input_files(bad)
    answer = explorer.page.get_by_role("dialog").get_by_role("alert")
    assert answer.inner_text().startswith("bad.toml: ")
    explorer.page.get_by_test_id("stFileChipDeleteBtn").locator("button").click()  # else it stays
    answer.wait_for(state="detached")
    explorer.page.keyboard.press("Escape")
    explorer.until_closed(explorer.page.get_by_role("dialog"))
    assert explorer.record() == (LECTURE_STATES, LECTURE_CHANNELS)


def opened(explorer, name, text, title):
    """Open a file of one's own, and wait until the dialog is gone."""
    page = explorer.page
    page.get_by_role("button", name="Open file").click()
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "text/plain", "buffer": text.encode()})
    page.get_by_role("heading", name=title).wait_for()
    explorer.until_closed(page.get_by_role("dialog"))


def test_own_file_is_opened_and_the_gallery_opens_a_scenario(explorer):
    """A long title and long names do not widen the page."""
    page = explorer.page
    opened(explorer, "own.toml", OWN, "Two of us")
    page.locator(".cc-slider[max='2']").wait_for()
    names = [f"a-process-with-a-really-long-name-{n}" for n in (1, 2, 3)]
    text = f'title = "{"A long title. " * 12}"\nprocesses = {names}\nworkload = {{ kind = "bank" }}\n'
    opened(explorer, "long.toml", text, "A long title")
    explorer.press("End")
    box = page.locator(".cc-panel").bounding_box()
    assert box["x"] + box["width"] <= 1280

    page.get_by_role("button", name="Scenarios").click()
    dialog = page.get_by_role("dialog")
    first = dialog.get_by_role("button", name="Open").first
    first.wait_for()
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    first.click()  # now all cards are there, and none moves away from under the mouse
    explorer.until_closed(dialog)
    page.wait_for_selector(".cc[data-scene=lecture]:not([data-pending])")
    page.wait_for_url("**scenario=lecture**")
    assert explorer.record() == (LECTURE_STATES, LECTURE_CHANNELS)


def test_keys_step_and_space_plays_but_in_a_field_they_are_its_own(explorer):
    for key, step in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", explorer.last), ("Home", 0)]:
        explorer.press(key)
        assert explorer.step == step
    explorer.press(" ")
    explorer.page.wait_for_selector(".cc[data-step='1']")
    explorer.press(" ")
    assert explorer.page.get_by_role("button", name="Play").is_visible()
    explorer.press("Home")
    explorer.tab("Change")  # the keys belong to the field that has the focus
    explorer.page.get_by_label("Body").press_sequentially("a b")
    explorer.page.get_by_label("Body").press("Home")
    explorer.page.get_by_label("Body").press("ArrowRight")
    assert explorer.step == 0


def test_diagram_is_one_node_through_steps_and_edits(explorer):
    explorer.page.evaluate(MARK_DIAGRAM)
    explorer.press("End")
    explorer.delay("C13", "marker", 300)
    explorer.press("End")
    explorer.turn()
    assert explorer.page.evaluate(IS_MARKED)
    explorer.turn()  # other tests use this tab


def test_diagram_and_button_agree_when_time_is_turned_twice_at_once(explorer):
    explorer.page.locator(".cc-orientation").evaluate("(button) => { button.click(); button.click(); }")
    explorer.page.wait_for_selector(".cc:not([data-pending])")
    assert explorer.page.locator(".cc-orientation").get_attribute("data-orientation") == "down"
    assert explorer.page.evaluate("'ticktext' in document.querySelector('.cc-diagram').layout.xaxis")


@pytest.mark.long("more of each page in a real browser")
def test_edits_after_a_reload_count_from_the_new_session(fresh_explorer):
    fresh_explorer.tab("Change")
    fresh_explorer.edit("Add")
    fresh_explorer.load()
    fresh_explorer.tab("Change")
    fresh_explorer.edit("Add")
    assert len(fresh_explorer.edits()) == 1


def test_zoom_survives_steps_and_edits(explorer):
    explorer.turn()
    shown = "JSON.stringify(document.querySelector('.cc-diagram').layout.yaxis.range)"
    whole = explorer.page.evaluate(shown)
    explorer.page.locator(".cc-diagram .nsewdrag").hover()
    explorer.page.mouse.wheel(0, -300)
    explorer.page.wait_for_function(f"{shown} !== {whole!r}")
    zoomed = explorer.page.evaluate(shown)
    explorer.press("ArrowRight")
    explorer.tab("Change")
    explorer.edit("Add")
    assert explorer.page.evaluate(shown) == zoomed
    explorer.page.locator(".cc-diagram .nsewdrag").dblclick()
    explorer.page.wait_for_function(f"{shown} === {whole!r}")
    explorer.turn()


def test_click_on_an_arrow_chooses_its_message(explorer):
    explorer.press("End")
    middle = explorer.page.evaluate(
        """() => {
          const plot = document.querySelector(".cc-diagram");
          const trace = plot.data.find((t) => t.meta?.messages && t.x.some((x) => x != null));
          const { xaxis, yaxis } = plot._fullLayout;
          const box = plot.getBoundingClientRect();
          const at = (axis, values) => axis._offset + (axis.d2p(values[0]) + axis.d2p(values[1])) / 2;
          return [box.left + at(xaxis, trace.x), box.top + at(yaxis, trace.y)];
        }"""
    )
    explorer.page.mouse.click(*middle)
    explorer.tab("Change")
    assert explorer.page.locator(".cc-messages input:checked").count() == 1
    assert explorer.page.get_by_label("Delay").is_visible()


@pytest.mark.parametrize("color_scheme", ["dark"])
def test_dark_theme_draws_light_on_dark_and_the_menu_switches(fresh_explorer, color_scheme):
    page = fresh_explorer.page
    assert fresh_explorer.root.get_attribute("data-scheme") == "dark"
    assert fresh_explorer.record() == (LECTURE_STATES, LECTURE_CHANNELS)
    page.get_by_test_id("stMainMenu").get_by_role("button").click()
    for name, scheme in (("Light", "light"), ("Dark", "dark")):
        page.get_by_role("menuitemradio", name=name).click()
        page.wait_for_selector(f".cc[data-scheme={scheme}]")


def test_a_diagram_that_is_resized_while_its_page_is_left_stays_quiet(fresh_explorer):
    """Plotly resizes a tenth of a second late; `fresh_explorer` fails if the page then throws an error."""
    page = fresh_explorer.page
    page.evaluate("window.resized = Plotly.Plots.resize(document.querySelector('.cc-diagram')); 0")
    page.set_viewport_size({"width": 1100, "height": 700})
    page.get_by_role("link", name="History").click()
    page.get_by_text("All ensembles and logs").wait_for()
    page.evaluate("resized")


def test_an_unknown_scenario_is_named_and_a_request_that_the_network_loses_is_made_again(fresh_tab):
    lost: list[str] = []

    def lose_one(route):
        if lost:
            route.continue_()
        else:
            lost.append(route.request.url)
            route.abort()

    fresh_tab.page.route("**/plotly-*.js", lose_one)
    fresh_tab.open("/?scenario=lectrue")
    assert lost
    assert "lectrue" in fresh_tab.page.get_by_role("alert").inner_text()
    assert fresh_tab.record() == (LECTURE_STATES, LECTURE_CHANNELS)
    told = fresh_tab.trouble.found
    told[:] = [text for text in told if "ERR_FAILED" not in text]  # what the browser says of the lost one
