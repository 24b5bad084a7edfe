"""What is drawn, where only a browser can tell: dimming, tints, a closer look at many processes."""

from __future__ import annotations

import random

import pytest

from tests.waiting import until

# The opacities of the traces that belong to a snapshot, as Plotly draws them.
OPACITIES = """snapshot => [...new Set(document.querySelector('.cc-diagram')._fullData
    .filter(({ meta, visible }) => visible === true && meta?.snapshots?.length === 1 && meta.snapshots[0] === snapshot)
    .map(({ opacity }) => opacity))]"""
# How many tints of a snapshot's cut are seen.
TINTS = """() => document.querySelector('.cc-diagram')._fullData
    .filter(({ meta, visible, fill }) => visible === true && fill === "toself" && meta?.unless_cut).length"""
# All that is drawn, in its order: the shapes and texts of each trace, where they lie and how they look.
PICTURE = """() => {
  const line = ({ stroke, strokeOpacity, strokeWidth, strokeDasharray }) =>
    stroke === "none" || strokeWidth === "0px" ? [] : [stroke, strokeOpacity, strokeWidth, strokeDasharray];
  const fill = ({ fill, fillOpacity }) => fill === "none" ? [] : [fill, fillOpacity];
  const shape = (node) => {
    const style = getComputedStyle(node);
    const places = ["d", "transform", "x", "y"].map((name) => node.getAttribute(name));
    const { opacity, visibility, translate } = style;
    return [...places, node.textContent, ...line(style), ...fill(style), opacity, visibility, translate];
  };
  const isThere = (node) => node.getAttribute("d") !== "M0,0Z";
  const traces = [...document.querySelectorAll(".cc-diagram .scatterlayer > .trace")].map((group) =>
    [getComputedStyle(group).opacity, ...[...group.querySelectorAll("path, text")].filter(isThere).map(shape)]);
  return JSON.stringify(traces.filter(({ length }) => length > 1));
}"""
# Marks every node that is drawn, and notes from now on in which traces something changes.
WATCH_NODES = """() => {
  const layer = document.querySelector(".cc-diagram .scatterlayer");
  layer.querySelectorAll("*").forEach((node) => (node.isOld = true));
  window.touched = new Set();
  new MutationObserver((changes) => changes.forEach(({ target }) => touched.add(target.closest(".trace"))))
    .observe(layer, { subtree: true, childList: true, attributes: true });
}"""
# How many traces are drawn, how many of them have changed, how many nodes are drawn, how many of them are new.
NODES = """() => {
  const all = (what) => [...document.querySelectorAll(`.cc-diagram .scatterlayer ${what}`)];
  const [traces, nodes] = [all(".trace"), all("*")];
  const [changed, fresh] = [traces.filter((one) => touched.has(one)), nodes.filter((one) => !one.isOld)];
  return [traces, changed, nodes, fresh].map(({ length }) => length);
}"""
# What the tip of every point says that is seen, trace by trace.
TIPS = """() => {
  const told = ({ x, y, tx }) => Number.isFinite(x) && Number.isFinite(y) ? tx : null;
  const hovered = ([{ trace }]) => trace.visible === true && trace.hoverinfo !== "skip";
  const tips = (document.querySelector(".cc-diagram").calcdata ?? []).filter(hovered)
    .map((points) => points.map(told).filter(Boolean));
  return JSON.stringify(tips.filter(({ length }) => length));
}"""
# Where the first event that is seen lies on the page.
EVENT = """() => {
  const node = document.querySelector(".cc-diagram");
  const { xaxis, yaxis } = node._fullLayout;
  const { left, top } = node.getBoundingClientRect();
  const [{ x, y }] = node.data.flatMap(({ text, x, y, visible }) => visible === false ? [] : (text ?? [])
    .map((words, at) => ({ words, x: x[at], y: y[at] })).filter(({ words, x }) => /, step /.test(words) && x !== null));
  return [left + xaxis._offset + xaxis.l2p(x), top + yaxis._offset + yaxis.l2p(y)];
}"""
# Whether it is drawn for its place, in whole pixels.
FITTED = """() => {
  const node = document.querySelector(".cc-diagram");
  const drawn = [node.layout.height, node.querySelector(".main-svg").clientHeight];
  return drawn.every((height) => height === node.clientHeight);
}"""
HANDLES = ".cc-handles .cc-handle[data-message]"
NAMES = "[...document.querySelectorAll('.cc-diagram .ytick text')].map(text => text.textContent)"


def opacities(tab, snapshot):
    return tab.page.evaluate(OPACITIES, snapshot)


def test_choosing_a_snapshot_dims_the_others_and_a_new_one_is_shown_alone(tab):
    tab.open("/?scenario=overlapping&step=38")
    page = tab.page
    cards = page.locator(".cc-card[data-snapshot]:not([hidden])")
    assert (opacities(tab, "S1"), opacities(tab, "S2"), cards.count()) == ([1], [1], 2)
    page.get_by_role("button", name="S1 complete").click()
    (dimmed,) = opacities(tab, "S2")
    assert opacities(tab, "S1") == [1] and dimmed < 0.3 and cards.count() == 1
    tab.press("ArrowLeft")
    tab.turn()
    assert opacities(tab, "S2") == [dimmed], "steps and a new drawing keep it"
    page.get_by_role("button", name="All", exact=True).click()
    assert opacities(tab, "S2") == [1]


def test_only_the_chosen_cut_is_tinted_and_the_meter_says_now(tab):
    tab.open("/?scenario=lecture&step=18")
    page = tab.page
    assert page.evaluate(TINTS) == 2
    tab.tab("Story")
    page.locator(".cc-cuts input").nth(1).check()
    assert page.evaluate(TINTS) == 0
    page.locator(".cc-cuts input").nth(0).check()
    assert page.evaluate(TINTS) == 2
    tab.open("/?scenario=two_banks&step=7")
    record = page.locator("[data-view=record]")
    record.get_by_text("Now, after step 7").wait_for()
    assert "720 in processes + 80 in channels = 800 money" in record.locator(".cc-card .cc-verdicts").inner_text()


@pytest.mark.long("more of each page in a real browser")
def test_a_closer_look_at_a_hundred_processes_names_every_lane_and_every_neighbour(tab):
    tab.open("/?scenario=hundred&step=300")
    page = tab.page
    assert page.evaluate(NAMES)[:3] == ["P1", "P11", "P21"]
    page.evaluate("Plotly.relayout(document.querySelector('.cc-diagram'), { 'yaxis.range': [17.5, 7.5] })")
    assert page.evaluate(NAMES) == [f"P{number}" for number in range(9, 19)]
    tab.tab("Network")
    assert not page.locator(".cc-topology").is_visible()
    rows = page.locator(".cc-neighbours li")
    assert "P58: 4 channels out, 4 channels in" in page.locator("[data-view=network]").inner_text()
    assert any("C58,77 to P77" in text and "19" in text for text in rows.all_inner_texts())
    page.get_by_label("Channels of").select_option("P1")
    assert all("P1" in text or "C1," in text or ",1 " in text for text in rows.all_inner_texts())


def edited(tab, edit):
    """Edit the run and wait until the address names the run that came of it: a step changes the address too."""
    edits = "new URLSearchParams(location.search).get('edits')"
    before = tab.page.evaluate(edits)
    edit()
    tab.page.wait_for_function(f"before => {edits} !== before", arg=before)
    tab.page.wait_for_selector(".cc:not([data-pending])")


def nudge(tab, handle, key="ArrowRight"):
    """Move a handle by its key; the focus goes back to the page."""
    handle.focus()
    edited(tab, lambda: tab.page.keyboard.press(key))
    tab.page.evaluate("document.activeElement.blur()")


@pytest.fixture
def fresh_page(tab):
    page = tab.page.context.new_page()
    yield page
    page.close()


def check_as_opened_anew(tab, page):
    """The picture and its tips become those of the same run, opened in a page of its own of the same size."""
    page.set_viewport_size(tab.page.viewport_size)
    page.goto(tab.page.url)
    page.wait_for_selector(".cc[data-ready=true] .cc-diagram .main-svg")
    for what in (PICTURE, TIPS):  # Plotly draws for another size late, on either of them
        until(lambda what=what: tab.page.evaluate(what) == page.evaluate(what), f"the same at {tab.page.url}")
    assert len(tab.page.evaluate(TIPS)) > 2


def test_an_edit_draws_anew_only_what_it_changed(tab):
    tab.open("/?scenario=hundred&step=300")
    handle = tab.page.locator(HANDLES).first
    for _ in range(2):  # the first edit has more to draw: where the arrow was before
        tab.page.evaluate(WATCH_NODES)
        nudge(tab, handle)
    traces, touched, nodes, new = tab.page.evaluate(NODES)
    assert traces > 80 and touched < traces / 2
    assert nodes > 2000 and new < nodes / 10


EDITED = [("overlapping", 900, 650), ("lecture", 1280, 720), ("overlapping", 1280, 720)]


@pytest.mark.long("pictures of edited runs")
@pytest.mark.parametrize(("scenario", "width", "height"), EDITED)
def test_after_any_edits_the_picture_is_that_of_the_run_opened_anew(tab, fresh_page, scenario, width, height):
    tab.page.set_viewport_size({"width": width, "height": height})
    tab.open(f"/?scenario={scenario}&step=14")
    draw = random.Random(scenario)
    for _ in range(2):
        handles = tab.page.locator(HANDLES)
        nudge(tab, handles.nth(draw.randrange(handles.count())), draw.choice(["ArrowRight", "PageDown"]))
        tab.press("ArrowRight")
    tab.press("End")
    edited(tab, lambda: tab.page.keyboard.press("Control+z"))
    check_as_opened_anew(tab, fresh_page)


def test_an_event_has_a_tip_in_a_small_window_that_was_just_opened(tab):
    page = tab.page
    page.set_viewport_size({"width": 900, "height": 650})
    tab.open("/?scenario=overlapping&step=14")
    page.wait_for_function("document.querySelector('.cc-diagram').calcdata")  # Plotly takes a size 0.1 s late
    x, y = page.evaluate(EVENT)
    page.mouse.move(x - 1, y)
    page.mouse.move(x, y)
    page.wait_for_function("document.querySelector('.cc-diagram .hoverlayer')?.textContent.includes('step ')")


def test_a_place_that_grows_by_less_than_a_pixel_leaves_a_diagram_that_can_be_dimmed(own_tab):
    own_tab.open("/?scenario=overlapping")
    page = own_tab.page
    for part in (0.3, 0.6, 0.9):  # the browser's whole pixels and Plotly's parts of one disagree at some of them
        page.evaluate(
            """(part) => {
              const place = document.querySelector(".cc-diagram");
              place.style.flex = "none";
              place.style.height = `${Math.floor(place.getBoundingClientRect().height) + part}px`;
            }""",
            part,
        )
        page.wait_for_function(FITTED)
        page.get_by_role("button", name="S2").first.click()
        page.get_by_role("button", name="All", exact=True).click()


# The texts that lie over an event; the name of one begins and ends with spaces, and lies beside it.
COVERED = """() => {
  const node = document.querySelector(".cc-diagram");
  const events = node.data.filter(({ meta }) => meta?.sign?.startsWith("event"));
  const dots = events.flatMap(({ uid }) => [...node.querySelectorAll(`.trace${uid} .point`)]);
  const boxes = dots.map((dot) => dot.getBoundingClientRect());
  const isOver = (text, dot) => {
    const box = text.getBoundingClientRect();
    const across = Math.min(box.right, dot.right) - Math.max(box.left, dot.left);
    const down = Math.min(box.bottom, dot.bottom) - Math.max(box.top, dot.top);
    const isName = text.textContent !== text.textContent.trim();
    return !isName && Math.min(across, down) > 0 && across * down > 0.3 * dot.width * dot.height;
  };
  const texts = [...node.querySelectorAll(".textpoint text")].filter(({ style }) => style.visibility !== "hidden");
  return texts.filter((text) => boxes.some((box) => isOver(text, box))).map(({ textContent }) => textContent);
}"""


@pytest.mark.long("more of each page in a real browser")
def test_no_text_lies_over_an_event_where_there_is_little_room(tab):
    """At 640x360 the word "future" would lie over an event."""
    tab.open("/?scenario=barriers")
    for width, height, step in ((390, 844, 24), (640, 360, 30)):
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.press("Home")
        for _ in range(step):
            tab.press("ArrowRight")
        tab.page.wait_for_function(f"({COVERED})().length === 0")  # Plotly draws for a size a little later
