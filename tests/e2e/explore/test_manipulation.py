"""Changing a run where it is drawn: dragging, nudging, menus on the lines, and choosing every delivery by hand."""

from __future__ import annotations

import re

import pytest

from tests.e2e.hand import STILL, ZOOM

LECTURE_STATES = {"P1": "{A, B}", "P2": "{F, G, H}", "P3": "{I}"}
LECTURE_CHANNELS = {"C21": "<H->D>"} | dict.fromkeys(["C12", "C13", "C23", "C31", "C32"], "<empty>")
LECTURE = (LECTURE_STATES, LECTURE_CHANNELS)

MARKER_13 = "Arrival of marker S1 on C13"
MARKER_21 = "Arrival of marker S1 on C21"
H_TO_D = "Arrival of H->D on C21"


def test_marker_dragged_beyond_j_lets_j_into_the_record(hand):
    assert hand.drag(MARKER_13, 2, 800).startswith("arrives at 80")
    assert hand.explorer.record() == (LECTURE_STATES | {"P3": "{I, J}"}, LECTURE_CHANNELS)
    assert len(hand.edits()) == 1


@pytest.mark.long("more of each page in a real browser")
def test_a_dragged_message_meets_a_barrier_or_pushes_those_behind_it(hand):
    assert hand.drag(MARKER_21, 0, 850, drop=False) == "waits behind H->D until 873"
    assert hand.page.locator(".cc-preview .cc-wall").count() == 1
    hand.drop()
    assert hand.told(MARKER_21).startswith("arrives at 873")
    assert "waits behind H->D" in hand.page.get_by_role("alert").inner_text()
    assert hand.explorer.record() == LECTURE
    hand.page.keyboard.press("Control+z")
    hand.settle()
    assert "marker S1 must wait behind it" in hand.drag(H_TO_D, 0, 1020, drop=False)
    assert hand.page.locator(".cc-preview line.cc-pushed").count() == 1
    hand.drop()
    assert hand.told(MARKER_21).split(",")[0] == hand.told(H_TO_D).split(",")[0]


def test_no_message_arrives_before_it_is_sent_and_events_and_starts_are_dragged_along_their_lines(hand):
    assert hand.drag(MARKER_13, 2, 340) == "arrives at 492"
    assert hand.told(MARKER_13) == "arrives at 492, sent at 492"
    assert hand.drag("Time of event C at P1", 0, 600).startswith("at 60")
    assert hand.told("Time of event C at P1").startswith("at 60")
    assert len(hand.edits()) == 2
    hand.drag("Start of snapshot S1 at P1", 0, 370)
    assert hand.explorer.record()[0]["P1"] == "{A}"


def test_dropping_where_it_began_is_no_edit_nor_is_a_drag_that_escape_cancels(hand):
    hand.drag(MARKER_13, 2, 800, drop=False)
    hand.mouse.move(*hand.at(2, 529))
    hand.drop()
    assert hand.edits() == []
    hand.drag(MARKER_13, 2, 800, drop=False)
    hand.page.keyboard.press("Escape")
    assert not hand.page.locator(".cc-preview").is_visible()
    hand.drop()
    assert hand.told(MARKER_13).startswith("arrives at 529")
    assert hand.edits() == []


def test_a_scene_that_arrives_during_a_drag_does_not_end_it(hand):
    hand.drag(MARKER_13, 2, 700, drop=False)
    hand.page.evaluate("[...document.querySelectorAll('.cc-additions form button')][1].click()")
    hand.settle()
    hand.mouse.move(*hand.at(2, 800))
    hand.drop()
    assert hand.explorer.record()[0]["P3"] == "{I, J}"
    assert len(hand.edits()) == 2


@pytest.mark.long("more of each page in a real browser")
def test_drag_when_time_runs_to_the_right(hand):
    hand.explorer.turn()
    assert hand.handle(MARKER_13).get_attribute("aria-orientation") == "horizontal"
    hand.drag(MARKER_13, 2, 800)
    states, _ = hand.explorer.record()
    hand.explorer.turn()
    assert states["P3"] == "{I, J}"


def test_zoom_and_the_diagrams_node_survive_a_drag_and_the_wheel_zooms_over_a_handle_too(hand):
    whole = hand.zoom()
    hand.page.evaluate("document.querySelector('.cc-diagram').markedByTest = true")
    hand.mouse.move(*hand.at(1.5, 800))
    hand.mouse.wheel(0, -100)
    hand.page.wait_for_function(f"{ZOOM} !== {whole!r}")
    zoomed = hand.zoom()
    hand.drag(MARKER_21, 0, 1000)
    assert hand.zoom() == zoomed
    assert not hand.told(MARKER_21).startswith("arrives at 972")
    assert hand.page.evaluate("document.querySelector('.cc-diagram').markedByTest === true")
    hand.page.locator(".cc-diagram .nsewdrag").dblclick(position={"x": 690, "y": 300})
    hand.page.wait_for_function(f"{ZOOM} !== {zoomed!r}")
    hand.page.evaluate(STILL)
    whole = hand.zoom()
    hand.handle(H_TO_D).hover()
    hand.mouse.wheel(0, -100)
    hand.page.wait_for_function(f"{ZOOM} !== {whole!r}")
    hand.page.locator(".cc-diagram .nsewdrag").dblclick(position={"x": 690, "y": 300})


def test_keys_nudge_the_handle_that_has_the_focus_and_step_nothing(hand):
    hand.handle(H_TO_D).focus()
    step = hand.explorer.step
    for key in ["ArrowDown", "ArrowDown", "ArrowUp", "Shift+ArrowDown"]:
        hand.page.keyboard.press(key)
    hand.settle()
    assert hand.told(H_TO_D) == "arrives at 933, sent at 736"
    assert hand.handle(H_TO_D).evaluate("(handle) => handle === document.activeElement")
    assert hand.explorer.step == step
    hand.page.keyboard.press("Home")
    hand.settle()
    assert hand.told(H_TO_D) == "arrives at 736, sent at 736"


def test_undo_and_redo_by_keys(hand):
    hand.drag(MARKER_13, 2, 800)
    moved = hand.told(MARKER_13)
    hand.page.keyboard.press("Control+z")
    hand.settle()
    assert hand.told(MARKER_13).startswith("arrives at 529")
    hand.page.keyboard.press("Control+Shift+z")
    hand.settle()
    assert hand.told(MARKER_13) == moved


@pytest.mark.long("more of each page in a real browser")
def test_of_quick_nudges_and_drags_none_is_lost(hand):
    label = "Arrival of E->K on C13"
    hand.handle(label).evaluate(
        """(handle) => {
          const press = () => handle.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
          for (let n = 0; n < 100; n++) press();
        }"""
    )
    hand.settle()
    assert hand.told(label) == "arrives at 2075, sent at 1003"
    assert len(hand.edits()) == 100
    hand.explorer.edit("Reset")
    hand.settle()
    hand.handle(MARKER_13).evaluate(
        """(handle) => {
          const point = (type, target, clientX, clientY) => target.dispatchEvent(
            new PointerEvent(type, { clientX, clientY, bubbles: true, isPrimary: true, button: 0 }));
          for (let n = 0; n < 20; n++) {
            const { left, right, top, bottom } = handle.getBoundingClientRect();
            const [x, y] = [(left + right) / 2, (top + bottom) / 2];
            const to = y + (n % 2 ? -30 : 40);
            point("pointerdown", handle, x, y);
            point("pointermove", window, x, to);
            point("pointerup", window, x, to);
          }
        }"""
    )
    hand.settle()
    assert len(hand.edits()) == 20
    assert float(hand.told(MARKER_13).split()[2].rstrip(",")) > 630, "each drag began where the one before had ended"


def test_hold_and_release_from_the_toolbar_which_lies_within_the_diagram_and_off_the_head(hand):
    toolbar = hand.toolbar(H_TO_D)
    hand.press(toolbar.get_by_role("button", name="Hold"))
    assert hand.told(H_TO_D) == "held, never arrives, sent at 736"
    hand.press(toolbar.get_by_role("button", name="Release"))
    assert hand.told(H_TO_D) == "arrives at 1075, sent at 736", "let go at the time of the step, it arrives then"
    hand.page.keyboard.press("Escape")
    toolbar = hand.toolbar("Arrival of E->K on C13")
    box, stage = toolbar.bounding_box(), hand.page.locator(".cc-diagram").bounding_box()
    head = hand.at(2, 1075)
    assert box["x"] >= stage["x"] and box["x"] + box["width"] <= stage["x"] + stage["width"]
    assert box["y"] >= stage["y"] and box["y"] + box["height"] <= stage["y"] + stage["height"]
    inside = box["x"] < head[0] < box["x"] + box["width"] and box["y"] < head[1] < box["y"] + box["height"]
    assert not inside


@pytest.mark.long("more of each page in a real browser")
def test_toolbar_and_delete_by_keyboard_and_the_focus_comes_back(hand):
    hand.handle(H_TO_D).focus()
    hand.page.keyboard.press("Enter")
    toolbar = hand.page.locator(".cc-toolbar")
    assert toolbar.get_by_role("button", name="Earlier").evaluate("(button) => button === document.activeElement")
    hand.page.keyboard.press("ArrowRight")
    hand.page.keyboard.press("Enter")
    hand.settle()
    assert hand.told(H_TO_D) == "arrives at 923, sent at 736"
    hand.page.keyboard.press("Escape")
    assert not toolbar.is_visible()
    assert hand.handle(H_TO_D).evaluate("(handle) => handle === document.activeElement")
    hand.handle("Time of event C at P1").focus()
    hand.page.keyboard.press("Delete")
    hand.settle()
    assert hand.handle("Time of event C at P1").count() == 0


@pytest.mark.long("more of each page in a real browser")
def test_script_line_is_edited_and_deleted(hand):
    toolbar = hand.toolbar("Time of send H at P2")
    toolbar.get_by_role("button", name="Edit").click()
    form = hand.page.get_by_role("dialog", name="Edit send H at P2")
    form.get_by_label("Body").fill("hello")
    form.get_by_label("to", exact=True).select_option("P3")
    form.get_by_label("Time").fill("720")
    hand.press(form.get_by_role("button", name="Save"))
    assert hand.told("Time of send H at P2") == "at 720"
    assert hand.page.get_by_role("slider", name=re.compile("Arrival of .*hello.* on C23")).count() == 1
    toolbar = hand.toolbar("Time of send H at P2")
    hand.press(toolbar.get_by_role("button", name="Delete"))
    assert hand.handle("Time of send H at P2").count() == 0
    assert len(hand.edits()) == 2


def test_menu_of_a_line_adds_to_it_and_starts_a_snapshot(hand):
    for entry, steps in (("Send to P2", 2), ("Internal event", 1)):
        before = hand.explorer.last
        hand.mouse.click(*hand.at(0, 560))
        menu = hand.page.get_by_role("menu", name=re.compile("Add to P1 at 56"))
        assert menu.get_by_role("menuitem").count() == 9
        hand.press(menu.get_by_role("menuitem", name=entry))
        assert hand.explorer.last == before + steps
        assert len(hand.edits()) == 1
        hand.explorer.edit("Undo")
        hand.settle()
    hand.mouse.click(*hand.at(2, 640))
    hand.press(hand.page.get_by_role("menuitem", name="Start a snapshot at 64"))
    hand.explorer.tab("Record")
    assert hand.page.get_by_role("button", name="S2").is_visible()


def test_name_of_a_process_opens_the_same_menu_at_the_time_of_the_step(hand):
    button = hand.page.get_by_role("button", name="P2: at the time of this step")
    button.focus()
    hand.page.keyboard.press("Enter")
    hand.page.keyboard.press("ArrowDown")
    focused = hand.page.evaluate("document.activeElement.textContent")
    assert focused == "Send to P3 at 1075"
    hand.page.keyboard.press("Escape")
    assert button.evaluate("(button) => button === document.activeElement")
    assert hand.edits() == []


def test_every_delivery_is_chosen_by_bar_by_diagram_and_by_network(hand):
    hand.explorer.press("Home")
    for _ in range(9):
        hand.explorer.press("ArrowRight")
    hand.explorer.tab("Change")
    hand.press(hand.page.get_by_role("button", name="I choose every delivery"))
    assert hand.explorer.last == hand.explorer.step == 9
    assert hand.page.get_by_role("slider", name="Arrival").count() == 0
    bar = hand.page.get_by_role("group", name="What happens next")
    hand.press(bar.get_by_role("button", name="Deliver H->D on C21"))
    assert hand.explorer.last == hand.explorer.step == 10
    hand.press(hand.page.locator(".cc-handles").get_by_role("button", name="Deliver the marker of S1 on C12"))
    assert hand.explorer.step == 11
    hand.explorer.tab("Network")
    hand.press(hand.page.locator(".cc-network-choices").get_by_role("button", name="P3 has its event J"))
    assert hand.explorer.step == 12
    hand.explorer.press("ArrowLeft")
    hand.explorer.press("ArrowLeft")
    assert "drops the 2 later steps" in bar.inner_text()
    hand.press(bar.get_by_role("button", name="P3 has its event J"))
    assert hand.explorer.last == hand.explorer.step == 11
    hand.page.keyboard.press("Control+z")
    hand.settle()
    assert hand.explorer.last == 12


def test_a_run_that_waits_for_a_choice_asks_for_it_and_the_digits_choose(hand):
    page = hand.page
    hand.explorer.press("Home")
    hand.explorer.tab("Change")
    hand.press(page.get_by_role("button", name="I choose every delivery"))
    said = page.locator(".cc-sentence:not(.cc-question)")
    assert "Choose what happens next:" in said.inner_text() and "send each other messages" in said.inner_text()
    assert page.locator(".cc-position").inner_text().strip() == "step 0 of 0"
    wanted = page.locator(".cc-choices > button").nth(1).get_attribute("aria-label")
    page.keyboard.press("2")
    hand.settle()
    assert hand.explorer.last == hand.explorer.step == 1 and wanted in hand.edits()[-1]
    for _ in range(2):
        page.keyboard.press("1")
        hand.settle()
    ticks = page.locator(".cc-diagram .ytick text").all_text_contents()
    assert sorted(ticks) == ["2", "3", "step 1"]


@pytest.mark.long("more of each page in a real browser")
def test_where_times_mean_nothing_no_handle_can_be_dragged(explorer):
    text = (
        b'title = "By chance"\nprocesses = ["P1", "P2"]\n[scheduler]\nkind = "random"\n'
        b'[[script]]\nprocess = "P1"\nat = 1\nto = "P2"\nlabel = "m"\n'
    )
    page = explorer.page
    page.get_by_role("button", name="Open file").click()
    page.locator("input[type=file]").set_input_files({"name": "own.toml", "mimeType": "text/plain", "buffer": text})
    page.get_by_role("heading", name="By chance").wait_for()
    explorer.until_closed(page.get_by_role("dialog"))
    explorer.press("End")
    assert page.locator(".cc-handle[role=slider]").count() == 0
    page.locator(".cc-handle[data-message]").focus()
    page.keyboard.press("h")
    page.wait_for_selector(".cc:not([data-pending])")
    assert explorer.last == 1


def test_a_process_crashes_by_its_line_menu_is_dragged_and_starts_again(hand):
    """P3 records at 531 in the lecture example, and has done its part before 965."""
    page = hand.page
    page.mouse.click(*hand.at(2, 900))
    hand.press(page.get_by_role("menuitem", name=re.compile(r"^Crash at 9")))
    hand.explorer.tab("Record")
    assert page.locator(".cc-card[data-snapshot]:not([hidden]) dd").all_inner_texts()[2] == "lost in a crash"
    assert hand.drag("P3 crashes", 2, 850).startswith("at 8")
    page.mouse.click(*hand.at(2, 1000))
    hand.press(page.get_by_role("menuitem", name=re.compile(r"^Start again at ")))
    edits = hand.edits()
    assert [edit.split(" ")[0] for edit in edits] == ["P3", "move", "P3"] and "crashes at 9" in edits[0]
    assert page.locator(".cc-signs li:visible", has_text="down").count() == 1
    handle = hand.handle("P3 starts again")
    handle.focus()
    page.keyboard.press("Delete")
    hand.settle()
    assert "delete the restart of P3" in hand.edits()[-1]


@pytest.mark.long("more of each page in a real browser")
def test_a_channel_is_severed_and_mended_in_the_change_tab(hand):
    page = hand.page
    hand.explorer.press("Home")
    for _ in range(3):
        hand.explorer.press("ArrowRight")
    hand.explorer.tab("Change")
    page.get_by_label("Messages on").select_option(label="C12")
    hand.press(page.get_by_role("button", name="Sever it now"))
    hand.explorer.press("ArrowRight")
    assert page.get_by_role("button", name="Mend it now").is_visible()
    assert hand.edits()[-1].startswith("C12 is severed at ")
    hand.explorer.press("End")
    hand.press(page.get_by_role("button", name="Mend it now"))
    assert hand.edits()[-1].startswith("C12 is mended at ")
