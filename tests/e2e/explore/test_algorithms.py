"""An algorithm on the page: its legend, its words, its counts and stamps; and the choice among those there are."""

from __future__ import annotations

import pytest

RULES = "Snapshots follow the rules of"


@pytest.fixture
def lai_yang(tab):
    tab.open("/?scenario=lai_yang&step=13")
    return tab


def test_lai_yang_has_its_own_legend_record_reasons_and_counts(lai_yang):
    page = lai_yang.page
    labels = page.locator(".cc-signs li:visible").all_inner_texts()
    assert [label.strip() for label in labels][:4] == ["event", "white message", "red message", "count"]
    assert lai_yang.record() == ({"P1": "750", "P2": "190"}, {"C12": "<30>", "C21": "<30>"})
    card = page.locator(".cc-card[data-snapshot]:not([hidden])").inner_text()
    assert "all 4 checks hold" in card and "2 counts, 2 recorded messages" in card
    assert "it is white" in card and "arker" not in page.locator(".cc").inner_text()
    lai_yang.tab("Proof")
    told = lai_yang.page.locator('[data-view="proof"]')
    told.get_by_text("What each process sees").wait_for()
    assert "FIFO" not in told.inner_text()
    lai_yang.tab("Ask")
    menu = page.get_by_label("Message", exact=True)
    assert menu.locator("optgroup").evaluate_all("groups => groups.map(group => group.label)") == ["Messages", "Counts"]
    menu.select_option(label="count S1 (1) from P2 to P1 · step 7")
    asked = page.locator("[data-view=ask]").inner_text()
    assert "This count told P1 how many white messages there are on C21" in asked
    menu.select_option(label="10 on C12 · step 5")
    assert "red for S1" in page.locator("[data-view=ask]").inner_text()


def test_another_algorithm_takes_the_lecture_s_snapshot(explorer):
    """The counts take one time unit, so P1 tells P2 and P3 at once: another cut of the same run, and a right one."""
    page = explorer.page
    explorer.tab("Change")
    page.get_by_label(RULES).select_option("Lai-Yang")
    page.wait_for_selector(".cc:not([data-pending])")
    assert explorer.edits() == ["snapshots by Lai-Yang"]
    states, channels = explorer.record()
    assert states == {"P1": "{A, B}", "P2": "{F}", "P3": "{I}"} and channels["C32"] == "<I->G>"
    assert "all 3 checks hold" in page.locator(".cc-card[data-snapshot]:not([hidden])").inner_text()
    explorer.edit("Undo")
    explorer.tab("Change")
    assert page.get_by_label(RULES).input_value() == "chandy_lamport"


def test_an_algorithm_without_the_channels_that_it_needs_runs_and_they_are_offered_as_a_button(lai_yang):
    page = lai_yang.page
    lai_yang.tab("Change")
    page.get_by_label(RULES).select_option(label="Chandy-Lamport")
    page.locator(".cc-notice-text", has_text="needs FIFO channels").wait_for()
    assert page.get_by_label(RULES).input_value() == "chandy_lamport"
    assert lai_yang.edits() == ["snapshots by Chandy-Lamport, though it needs FIFO channels"]
    page.get_by_role("button", name="Make every channel FIFO").click()
    page.locator(".cc-edits li", has_text="every channel is FIFO").wait_for()
    page.get_by_label(RULES).select_option(label="Aligned barriers")
    page.get_by_role("button", name="Remove the channels to P1, which makes it a source").click()
    page.locator(".cc-edits li", has_text="P1 loses its incoming channels").wait_for()
    assert page.locator(".cc-signs li:visible", has_text="barrier").count() == 1


def test_the_settings_of_an_algorithm_are_in_the_change_tab(tab):
    page = tab.page
    tab.open("/?scenario=two_banks&step=5")
    tab.tab("Change")
    page.get_by_label("Every process reports its part").check()
    page.locator(".cc-edits li", has_text="started the snapshot: yes").wait_for()
    wait = page.get_by_label("Time units that a marker waits")
    wait.fill("5")
    wait.press("Tab")
    page.locator(".cc-edits li", has_text="to ride on (0: not at all): 5").wait_for()
    assert page.get_by_label("Every process reports its part").is_checked()
    page.get_by_label(RULES).select_option(label="Stop-the-world")
    page.locator(".cc-edits li", has_text="snapshots by Stop-the-world, started by coordinator").wait_for()
    assert not page.get_by_role("group", name="Settings of these rules").is_visible()


def test_a_channel_gets_a_capacity_and_its_full_sender_is_seen_to_stand_still(tab):
    page = tab.page
    tab.open("/?scenario=back_pressure&step=7")
    tab.tab("Network")
    told = page.locator(".cc-stop").all_inner_texts()
    assert told == [
        "mapper->sink is full: mapper has stood still since 2.5, for 2.5 time units",
        "source->mapper is full: source has stood still since 4, for 1 time unit",
    ]
    tab.tab("Change")
    page.get_by_label("Messages on").select_option(label="mapper->sink")
    holds = page.get_by_label("At most")
    assert holds.input_value() == "2"
    holds.fill("")
    holds.press("Tab")
    page.locator(".cc-edits li", has_text="mapper->sink holds any number of messages").wait_for()
    tab.tab("Network")
    assert page.locator(".cc-stop").count() == 0
    tab.tab("Change")
    holds.fill("0")
    holds.press("Tab")
    assert not holds.evaluate("field => field.checkValidity()") and len(tab.edits()) == 1


@pytest.mark.long("more of each page in a real browser")
def test_the_words_of_a_start_lie_clear_of_names_and_inside_the_plot(tab):
    for name, places in (("back_pressure", 1), ("piggybacked", 1), ("unaligned", 2), ("domino", 2)):
        tab.open(f"/?scenario={name}&step=3")
        tab.page.get_by_role("button", name="Predict", exact=True).click()
        tab.page.locator(".cc-start text", has_text="starts S1").first.wait_for()
        found = tab.page.evaluate(
            """() => {
              const box = (node) => node.getBoundingClientRect();
              const plot = box(document.querySelector(".cc-diagram .nsewdrag"));
              const names = [...document.querySelectorAll(".cc-diagram .textpoint text")]
                .filter((node) => node.style.visibility !== "hidden").map(box);
              return [...document.querySelectorAll(".cc-start text")].map(box).map((own) => ({
                inside: own.left >= plot.left && own.right <= plot.right
                  && own.top >= plot.top && own.bottom <= plot.bottom,
                over: names.filter((other) => own.left < other.right && other.left < own.right
                  && own.top < other.bottom && other.top < own.bottom).length,
              }));
            }"""
        )
        assert found == [{"inside": True, "over": 0}] * places, name


def test_the_domino_effect_asks_where_copies_begin_and_speaks_of_no_markers(tab):
    tab.open("/?scenario=domino&step=5")
    page = tab.page
    record = page.locator("[data-view=record]")
    assert "recording: 3 checkpoints so far" in record.inner_text() and "has not begun" not in record.inner_text()
    page.get_by_role("button", name="Predict", exact=True).click()
    panel = page.locator(".cc-predict")
    panel.wait_for()
    assert "arrow shows" not in panel.inner_text() and "marker" not in panel.inner_text()
    starts = page.locator(".cc-start")
    assert starts.count() == 2
    plot = page.locator(".cc-diagram .nsewdrag").bounding_box()
    for place in range(2):
        box = starts.nth(place).locator("path").bounding_box()
        assert box["x"] < plot["x"] + plot["width"] / 4, "both begin before anything happens"


def test_a_user_chooses_which_processes_fail(tab):
    """By the keys: the focus stays. Who names all processes means a total failure, and undo goes back."""
    tab.open("/?scenario=domino&step=11")
    record = tab.page.locator("[data-view=record]")
    assert "If all processes fail (a total failure), 4 rollbacks lead to it" in record.inner_text()
    choices = record.get_by_role("group", name="Which processes fail?")
    choices.get_by_role("button", name="P1").press("Enter")
    record.get_by_text("If only P1 fails, its last checkpoint is consistent with the present state of P2").wait_for()
    pressed = choices.locator("[aria-pressed=true]")
    assert pressed.all_inner_texts() == choices.locator(":focus").all_inner_texts() == ["P1"]
    choices.get_by_role("button", name="P2").press("Enter")
    record.get_by_text("If all processes fail (a total failure)").wait_for()
    assert pressed.all_inner_texts() == ["All (total failure)"]
    tab.page.get_by_role("button", name="Undo").click()
    record.get_by_text("If only P1 fails").wait_for()


def test_what_stop_the_world_costs_is_told_when_the_world_goes_on_again(tab):
    tab.open("/?scenario=stop_the_world&step=6")
    record = tab.page.locator("[data-view=record]")
    assert "under way: no process has recorded yet" in record.inner_text()
    for _ in range(7):
        tab.press("ArrowRight")
    assert record.inner_text().strip().endswith("Began at step 3, first recording at step 12, complete at step 13.")
    for _ in range(4):
        tab.press("ArrowRight")
    assert record.inner_text().strip().endswith("P1 and P2 stood still for 6 time units.")
