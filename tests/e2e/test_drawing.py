"""What is drawn, where only a browser can tell: dimming, tints, a closer look at many processes."""

from __future__ import annotations

# The opacities of the traces that belong to a snapshot, as Plotly draws them.
OPACITIES = """snapshot => [...new Set(document.querySelector('.cc-diagram')._fullData
    .filter(({ meta, visible }) => visible === true && meta?.snapshots?.length === 1 && meta.snapshots[0] === snapshot)
    .map(({ opacity }) => opacity))]"""
# How many tints of a snapshot's cut are seen.
TINTS = """() => document.querySelector('.cc-diagram')._fullData
    .filter(({ meta, visible, fill }) => visible === true && fill === "toself" && meta?.unless_cut).length"""
NAMES = "[...document.querySelectorAll('.cc-diagram .ytick text')].map(text => text.textContent)"


def opacities(tab, snapshot):
    return tab.page.evaluate(OPACITIES, snapshot)


def test_choosing_a_snapshot_dims_the_others_and_a_new_one_is_shown_alone(fresh_tab):
    fresh_tab.open("/?scenario=overlapping&step=38")
    page = fresh_tab.page
    cards = page.locator(".cc-card:not([hidden])")
    assert (opacities(fresh_tab, "S1"), opacities(fresh_tab, "S2"), cards.count()) == ([1], [1], 2)
    page.get_by_role("button", name="S1 complete").click()
    (dimmed,) = opacities(fresh_tab, "S2")
    assert opacities(fresh_tab, "S1") == [1] and dimmed < 0.3 and cards.count() == 1
    fresh_tab.press("ArrowLeft")
    fresh_tab.turn()
    assert opacities(fresh_tab, "S2") == [dimmed], "steps and a new drawing keep it"
    page.get_by_role("button", name="All", exact=True).click()
    assert opacities(fresh_tab, "S2") == [1]


def test_only_the_chosen_cut_is_tinted_and_the_meter_says_now(fresh_tab):
    fresh_tab.open("/?scenario=lecture&step=18")
    page = fresh_tab.page
    assert page.evaluate(TINTS) == 2
    fresh_tab.tab("Story")
    page.locator(".cc-cuts input").nth(1).check()
    assert page.evaluate(TINTS) == 0
    page.locator(".cc-cuts input").nth(0).check()
    assert page.evaluate(TINTS) == 2
    fresh_tab.open("/?scenario=two_banks&step=7")
    record = page.locator("[data-view=record]")
    record.get_by_text("Now, after step 7").wait_for()
    assert "720 in processes + 80 in channels = 800 money" in record.locator(".cc-card .cc-verdicts").inner_text()


def test_a_closer_look_at_a_hundred_processes_names_every_lane_and_every_neighbour(fresh_tab):
    fresh_tab.open("/?scenario=hundred&step=300")
    page = fresh_tab.page
    assert page.evaluate(NAMES)[:3] == ["P1", "P11", "P21"]
    page.evaluate("Plotly.relayout(document.querySelector('.cc-diagram'), { 'yaxis.range': [17.5, 7.5] })")
    assert page.evaluate(NAMES) == [f"P{number}" for number in range(9, 19)]
    fresh_tab.tab("Network")
    assert not page.locator(".cc-topology").is_visible()
    rows = page.locator(".cc-neighbours li")
    assert "P58: 4 channels out, 4 channels in" in page.locator("[data-view=network]").inner_text()
    assert any("C58,77 to P77" in text and "19" in text for text in rows.all_inner_texts())
    page.get_by_label("Channels of").select_option("P1")
    assert all("P1" in text or "C1," in text or ",1 " in text for text in rows.all_inner_texts())
