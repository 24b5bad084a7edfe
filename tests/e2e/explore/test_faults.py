"""Faults by click and by key: channels severed and mended in the network and from line to line, the network split."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import ExplorerPage
from tests.e2e.layout import SIZES, faults, resize

C12 = '.cc-network-channels line[data-channel="P1->P2"]'


def menu_of(hand):
    """The entries of the open menu of channels."""
    hand.page.locator(".cc-channel-menu").wait_for()
    return hand.page.locator(".cc-channel-menu [role=menuitem]").all_inner_texts()


def go(hand, step):
    hand.explorer.press("Home")
    for _ in range(step):
        hand.explorer.press("ArrowRight")


def open_network(hand, step):
    """The Network tab at a step, once its channels can be clicked."""
    go(hand, step)
    hand.explorer.tab("Network")
    hand.page.wait_for_function(f"document.querySelector({C12!r}).getBoundingClientRect().width > 0")


def third_of(page, selector):
    """A point of a channel, a third of its way on, where none of its messages is in these tests."""
    return page.locator(selector).evaluate(
        """(line) => {
          const { left, top } = line.ownerSVGElement.getBoundingClientRect();
          const [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map((name) => Number(line.getAttribute(name)));
          return [left + x1 + (x2 - x1) / 3, top + y1 + (y2 - y1) / 3];
        }"""
    )


def click_channel(hand, selector):
    hand.mouse.click(*third_of(hand.page, selector))


def test_a_click_on_a_channel_severs_it_and_what_is_offered_changes_something(hand):
    """Step 3 is at 426, where I is sent; H->D of C21 is on its way from 736 to 873."""
    open_network(hand, 3)
    click_channel(hand, C12)
    assert menu_of(hand) == ["Sever P1->P2 at 426", "Sever P2->P1 at 426", "Sever both ways at 426"]
    hand.press(hand.page.get_by_role("menuitem", name="Sever P1->P2"))
    click_channel(hand, C12)
    assert menu_of(hand) == ["Mend P1->P2 at 426", "Sever P2->P1 at 426"]
    hand.press(hand.page.get_by_role("menuitem", name="Sever P2->P1"))
    click_channel(hand, C12)
    assert menu_of(hand) == ["Mend P1->P2 at 426", "Mend P2->P1 at 426", "Mend both ways at 426"]
    hand.page.keyboard.press("Escape")
    assert hand.edits() == ["C12 is severed at 426", "C21 is severed at 426"]
    hand.page.keyboard.press("Control+z")
    hand.settle()
    assert hand.edits() == ["C12 is severed at 426"]


def test_channels_are_reached_by_tab_and_arrow_keys(hand):
    open_network(hand, 3)
    hand.page.locator(C12).focus()
    hand.page.keyboard.press("ArrowRight")
    assert hand.page.evaluate("document.activeElement.dataset.channel") == "P1->P3"
    assert hand.explorer.step == 3
    assert hand.page.locator(".cc-network-channels line[tabindex='0']").count() == 1
    hand.page.keyboard.press("Enter")
    hand.page.keyboard.press("ArrowDown")
    assert hand.page.evaluate("document.activeElement.textContent") == "Sever P3->P1 at 426"
    hand.page.keyboard.press("Escape")
    assert hand.page.evaluate("document.activeElement.dataset.channel") == "P1->P3"
    assert not hand.page.locator(".cc-channel-menu").is_visible()


def test_sever_from_here_to_another_line_by_mouse(hand):
    page = hand.page
    page.mouse.click(*hand.at(0, 560))
    page.get_by_role("menuitem", name="Sever from here to …").click()
    asked = page.get_by_role("group", name="Sever a channel")
    assert "from P1 at 560" in asked.inner_text()
    page.mouse.click(*hand.at(0, 800))
    assert "P1 is where the channel begins" in asked.inner_text()
    page.mouse.click(*hand.at(2, 700))
    assert menu_of(hand) == ["Sever P1->P3 at 560", "Sever P3->P1 at 560", "Sever both ways at 560"]
    assert not asked.is_visible()
    hand.press(page.get_by_role("menuitem", name="Sever both ways"))
    assert hand.edits() == ["C13 and C31 are severed at 560"]


def test_sever_from_here_by_keyboard_and_escape_gives_the_focus_back(hand):
    page = hand.page
    name = page.get_by_role("button", name="P2: at the time of this step")
    name.focus()
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="Sever from here to …").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.ariaLabel") == "P1: sever channels between P2 and P1"
    page.keyboard.press("Escape")
    assert not page.get_by_role("group", name="Sever a channel").is_visible()
    assert name.evaluate("(button) => button === document.activeElement")
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="Sever from here to …").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "Sever P2->P3 at 1075"


def test_where_no_channel_joins_two_processes_one_sentence_says_so(tab):
    """In a star only the hub has channels."""
    tab.open("?scenario=star")
    page = tab.page
    page.get_by_role("button", name="A: at the time of this step").click()
    page.get_by_role("menuitem", name="Sever from here to …").click()
    page.get_by_role("button", name="B: at the time of this step").click()
    asked = page.get_by_role("group", name="Sever a channel")
    assert "No channel joins A and B; choose another process." in asked.inner_text()
    asked.get_by_role("button", name="Cancel").click()
    assert not asked.is_visible()


def test_the_network_is_split_by_click_and_healed_by_one_line_each(hand):
    page = hand.page
    hand.explorer.tab("Change")
    go(hand, 3)
    page.get_by_role("button", name="Split the network …").last.click()
    open_boxes = page.get_by_role("group", name="The processes of one side")
    assert open_boxes.get_by_role("checkbox").count() == 3
    assert page.get_by_role("button", name="Split at 426").is_disabled()
    page.locator('.cc-network-channels circle[data-process="P2"]').click()
    assert page.locator(".cc-network-channels circle[data-chosen]").count() == 1
    assert "Severs all 4 channels" in page.locator(".cc-split").inner_text()
    hand.press(page.get_by_role("button", name="Split at 426"))
    assert not open_boxes.is_visible()
    hand.explorer.press("ArrowRight")
    assert "The network has been split into P1 and P3 | P2 since 426" in page.locator(".cc-flights").inner_text()
    hand.press(page.get_by_role("button", name="Heal it at 426"))
    assert hand.edits() == [
        "the network is split at 426: P2 | P1 and P3",
        "the network is healed at 426: P1 and P3 | P2",
    ]
    assert hand.page.get_by_role("slider", name="are severed").count() == 1


def test_escape_ends_the_choice_of_a_side(hand):
    open_network(hand, 3)
    hand.page.get_by_role("button", name="Split the network …").first.press("Enter")  # after a click focus goes back
    hand.page.keyboard.press("Space")
    assert "Severs all 4 channels" in hand.page.locator(".cc-split").inner_text()
    hand.page.keyboard.press("Escape")
    assert not hand.page.locator(".cc-split").is_visible()
    assert hand.page.evaluate("document.activeElement.textContent") == "Split the network …"
    assert hand.edits() == []


CUT_OFF = """(window) => [window, ...window.querySelectorAll("button, span, strong, label")]
  .filter((part) => part.getClientRects().length)
  .filter((part) => {
    const [own, room] = [part, window].map((one) => one.getBoundingClientRect());
    const [left, right] = [Math.max(0, room.left - 1), Math.min(innerWidth, room.right + 1)];
    const isInside = own.left >= left && own.right <= right;
    return !isInside || part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).display !== "inline";
  })
  .map((part) => part.textContent)"""  # a window that is lower than what is in it scrolls


NETWORK_RESIZED = """() => {
  const [plot, room] = [".cc-topology .main-svg", ".cc-topology"].map((name) => document.querySelector(name));
  const page = document.scrollingElement;
  return Math.abs(plot.clientWidth - room.clientWidth) <= 1 && page.scrollWidth <= page.clientWidth;
}"""  # the picture that was drawn for a wide page does not keep a narrow one wide


@pytest.mark.long("more of each page in a real browser")
def test_nothing_is_cut_off_on_any_screen(fresh_explorer):
    page, found = fresh_explorer.page, []

    def look(what, selector):
        parts = page.locator(selector).evaluate(CUT_OFF)
        found.extend(f"{width}x{height}, {what}: {part}" for part in parts)
        page.keyboard.press("Escape")

    fresh_explorer.tab("Network")
    for width, height in SIZES:
        resize(page, (width, height))
        page.wait_for_function(NETWORK_RESIZED)
        page.locator(C12).focus()
        page.keyboard.press("Enter")
        look("menu of a channel", ".cc-channel-menu")
        page.get_by_role("button", name="Split the network …").first.click()
        found += [f"{width}x{height}, one side: {fault}" for fault in faults(page, ".cc-panel")]
        look("one side", ".cc-split")
        page.get_by_role("button", name="P1: at the time").click()
        page.get_by_role("menuitem", name="Sever from here to …").click()
        look("from here", ".cc-severing")
    assert not found


def test_a_channel_of_a_network_too_large_to_draw_is_severed_in_the_list(tab):
    tab.open("?scenario=hundred")
    page = tab.page
    tab.tab("Network")
    channel = page.get_by_role("button", name="sever or mend it").first
    channel.click()
    entries = page.locator(".cc-channel-menu [role=menuitem]")
    entries.first.click()
    page.wait_for_selector(".cc:not([data-pending])")
    assert "severed" in page.locator(".cc-neighbours li").first.inner_text()
    tab.tab("Change")
    assert "is severed at 0" in tab.edits()[0]


@pytest.mark.long("more of each page in a real browser")
def test_fingers_sever_a_channel_and_split_the_network(browser, app_url):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    explorer = ExplorerPage(context.new_page(), app_url)
    explorer.open()
    page = explorer.page
    explorer.tab("Network")
    page.locator(".cc-topology .main-svg").first.wait_for()
    page.locator(C12).scroll_into_view_if_needed()
    page.touchscreen.tap(*third_of(page, C12))
    page.locator(".cc-channel-menu").get_by_role("menuitem", name="Sever P1->P2").tap()
    page.wait_for_selector(".cc:not([data-pending])")
    page.get_by_role("button", name="Split the network …").first.tap()
    page.locator('.cc-network-channels circle[data-process="P3"]').tap()
    page.get_by_role("button", name="Split at 0").tap()
    page.wait_for_selector(".cc:not([data-pending])")
    explorer.tab("Change")
    assert explorer.edits() == ["C12 is severed at 0", "the network is split at 0: P3 | P1 and P2"]
    context.close()
    assert not explorer.trouble.found


@pytest.mark.long("more of each page in a real browser")
def test_a_process_leaves_and_joins_by_the_menu_of_its_line(hand):
    page = hand.page

    def entries():
        page.get_by_role("button", name="P3: at the time of this step").click()
        return [text for text in page.get_by_role("menuitem").all_inner_texts() if " at " in text][4:]

    go(hand, 3)
    assert entries() == ["Crash at 426", "Freeze at 426", "Slow down, 3 times at 426", "Leave at 426"]
    hand.press(page.get_by_role("menuitem", name="Leave at 426"))
    assert entries() == ["Join at 426"]
    hand.press(page.get_by_role("menuitem", name="Join at 426"))
    assert hand.edits() == ["P3 leaves at 426", "P3 joins at 426"]
    assert hand.handle("P3 leaves").count() == hand.handle("P3 joins").count() == 1


def test_a_message_is_lost_and_copied_from_its_toolbar_and_not_any_more(hand):
    """H->D is on its way from 736 to 873; at step 0 it is not sent yet, so it is lost as soon as it is."""
    page = hand.page
    go(hand, 0)
    toolbar = hand.toolbar("Arrival of H->D on C21")
    hand.press(toolbar.get_by_role("button", name="Lose it"))
    hand.press(toolbar.get_by_role("button", name="Copy it"))
    assert toolbar.get_by_role("button", name="Do not copy it").is_visible()
    assert "resent message" in page.locator(".cc-signs").inner_text()
    hand.press(toolbar.get_by_role("button", name="Do not lose it"))
    page.keyboard.press("Escape")
    assert hand.edits() == [
        "the message sent at H is lost", "the message sent at H is copied", "delete the loss of the message sent at H"
    ]  # fmt: skip


def test_a_message_on_its_way_is_lost_now_and_for_good_on_a_raw_network(hand):
    page = hand.page
    hand.explorer.tab("Change")
    page.get_by_label("The network").select_option("raw")
    hand.settle()
    go(hand, 10)  # after H is sent, in step 9
    toolbar = hand.toolbar("Arrival of H->D on C21")
    hand.press(toolbar.get_by_role("button", name="Lose it"))
    assert hand.edits()[-1].startswith("the message sent at H is lost at ")
    assert "lost message" in page.locator(".cc-signs").inner_text()
    page.keyboard.press("Escape")
    told = [hand.told("Loss of H->D on C21")]
    assert "lost at" in hand.drag("Loss of H->D on C21", 1, 850)
    told.append(hand.told("Loss of H->D on C21"))
    hand.handle("Loss of H->D on C21").press("ArrowLeft")
    hand.settle()
    told.append(hand.told("Loss of H->D on C21"))
    assert len({*told}) == 3 and all(own.startswith("lost at ") and own.endswith("sent at 736") for own in told)
    hand.handle("Loss of H->D on C21").click()
    hand.press(page.get_by_role("button", name="Do not lose it"))
    assert "arrives at 873" in hand.told("Arrival of H->D on C21")


def test_a_process_is_frozen_and_thawed_from_the_menu_of_its_line(hand):
    page = hand.page
    page.mouse.click(*hand.at(1, 560))
    hand.press(page.get_by_role("menuitem", name="Freeze at 560"))
    assert "frozen" in page.locator(".cc-signs").inner_text()
    page.mouse.click(*hand.at(1, 800))
    hand.press(page.get_by_role("menuitem", name="Thaw at 800"))
    assert hand.edits() == ["P2 is frozen at 560", "P2 is thawed at 800"]
    assert hand.handle("P2 is frozen").count() == hand.handle("P2 is thawed").count() == 1


@pytest.mark.long("more of each page in a real browser")
def test_a_process_slows_down_from_the_menu_of_its_line_and_its_pace_is_edited(hand):
    page = hand.page
    page.mouse.click(*hand.at(1, 560))
    hand.press(page.get_by_role("menuitem", name="Slow down, 3 times at 560"))
    assert hand.edits() == ["P2 takes 3 times as long from 560 on"]
    hand.toolbar("P2 takes 3 times as long from now on").get_by_role("button", name="Edit").click()
    page.get_by_label("slower by").fill("1.5")
    hand.press(page.get_by_role("button", name="Save"))
    assert hand.edits()[-1] == "P2 takes 1.5 times as long"
    page.mouse.click(*hand.at(1, 900))
    assert page.get_by_role("menuitem", name="Usual pace again at 900").is_visible()
    page.keyboard.press("Escape")
