"""Predicting what a snapshot records: nothing tells, the answer is judged, and the rule is given."""

from __future__ import annotations

import re

import pytest

from tests.e2e.hand import STILL

LECTURE = {"P1": 2, "P2": 3, "P3": 1}  # how many keys take each handle to the lecture's cut
OUTCOMES = """() => {
  const plot = document.querySelector(".cc-diagram");
  const isSeen = (trace) => trace.visible !== false && trace.x.some((x) => x != null);
  const seen = plot._fullData.filter(isSeen);
  return {
    diamonds: seen.filter((trace) => trace.marker?.symbol === "diamond").length,
    texts: seen.flatMap((trace) => trace.text ?? []).filter(Boolean),
  };
}"""


@pytest.fixture
def predict(tab):
    """The lecture; what was right at the first try is counted from when the page was loaded on."""
    tab.open("/?scenario=lecture")
    tab.press("ArrowRight")
    return Predicting(tab)


class Predicting:
    """What somebody who predicts does."""

    def __init__(self, explorer):
        self.explorer, self.page = explorer, explorer.page
        self.panel = self.page.locator(".cc-predict")

    def begin(self):
        self.page.get_by_role("button", name="Predict", exact=True).click()
        self.panel.wait_for()

    def handle(self, process):
        return self.page.get_by_role("slider", name=process, exact=True)

    def place(self, places):
        for process, count in places.items():
            self.handle(process).press("Home")
            for _ in range(count):
                self.handle(process).press("ArrowDown")

    def tick(self, channel, message):
        self.panel.get_by_role("group", name=channel).get_by_role("checkbox", name=message).check()

    def press(self, button):
        self.panel.get_by_role("button", name=button).click()

    @property
    def verdict(self):
        return self.panel.locator(".cc-judged").inner_text()

    @property
    def diamonds(self):
        """How many kinds of recordings the diagram shows."""
        return self.page.evaluate(OUTCOMES)["diamonds"]

    def why(self, name):
        """The rule that decides the row of a process or channel; None where the row does not open it."""
        row = self.panel.locator("li[data-right]").filter(has=self.page.locator(f"strong:text-is('{name}')"))
        texts = row.locator("details[open] p")
        return " ".join(texts.all_inner_texts()) or None

    def marks(self):
        rows = self.panel.locator("li[data-right]")
        names = rows.locator("strong").all_inner_texts()
        return dict(zip(names, rows.evaluate_all("(all) => all.map((row) => row.dataset.right)"), strict=True))


def test_nothing_on_the_page_tells_the_outcome(predict):
    predict.explorer.press("End")
    assert predict.diamonds
    predict.begin()
    assert not predict.diamonds
    hovered = predict.page.evaluate(OUTCOMES)["texts"]
    assert "marker of S1 on C32: received at step 12" in hovered, "and not where it was sent"
    assert not [said for said in hovered if "records" in said]
    text = predict.explorer.root.inner_text()
    assert "{F, G, H}" not in text
    assert "consistent" not in text.lower().replace("consistent cut", "")
    read = predict.page.locator(".cc").aria_snapshot()
    assert "slider" in read and "{F, G, H}" not in read and "H->D" in read
    assert not [word for word in ("records its state", "Export", "Find", "in channel state") if word in read]
    assert not predict.page.locator(".cc-tabs").is_visible()
    assert not predict.page.locator(".cc-sentence:not(.cc-question)").is_visible()
    assert "P1 starts S1" in predict.page.locator(".cc-question").inner_text()
    assert "starts S1" in (predict.page.locator(".cc-predicted-cut").text_content() or "")
    predict.page.locator(".cc-orientation").click()
    assert not predict.diamonds


def test_the_right_cut_and_channels_are_right_at_the_first_try(predict):
    predict.explorer.load("/?scenario=lecture")
    predict.begin()
    predict.panel.get_by_text("Where each marker comes").click()
    told = predict.panel.locator(".cc-arrivals li").all_inner_texts()
    assert told == [
        "P1 C31 after C, then C21 after D",
        "P2 C32 after H, then C12 after H",
        "P3 C13 after I, then C23 after J",
    ]
    predict.place(LECTURE)
    assert predict.handle("P2").get_attribute("aria-valuetext") == "P2 records 3 events, up to H"
    predict.tick("C21", "H->D")
    predict.press("Check")
    assert set(predict.marks().values()) == {"true"}
    assert "All 7 are right" in predict.verdict
    assert "Right at the first try: 1 of 1" in predict.panel.inner_text()
    predict.press("Show the answer")
    assert predict.diamonds


@pytest.mark.long("more of each page in a real browser")
def test_each_wrong_part_says_which_rule_decides_and_where_to_look(predict):
    predict.explorer.load("/?scenario=lecture")
    predict.begin()
    predict.place(LECTURE | {"P2": 2})
    predict.press("Check")
    assert predict.marks()["P2"] == "false"
    assert predict.marks()["P1"] == "true"
    assert predict.marks()["C21"] == "false"
    assert not predict.diamonds, "checked is not shown"
    assert "P2's first marker of S1 came from P3 on C32 at step 12: it recorded" in predict.why("P2")
    assert predict.why("P1") is None, "right: the reader may open it"
    predict.press("Look at step 12")
    assert predict.explorer.step == 12
    assert predict.diamonds
    predict.press("Try again")
    assert not predict.diamonds
    assert predict.explorer.step == predict.explorer.last
    predict.handle("P2").press("ArrowDown")
    predict.tick("C12", "B->F")
    predict.press("Check")
    assert "C21 holds H->D: sent at H (step 9), before P2 recorded" in predict.why("C21")
    assert "Look at step" in predict.panel.inner_text()
    why = predict.why("C12")
    assert "C12 is recorded" in why or "P2 recorded C12" in why
    assert "B->F is part of P2's state" in why
    predict.press("Try again")
    predict.panel.get_by_role("group", name="C12").get_by_role("checkbox", name="B->F").uncheck()
    predict.tick("C21", "H->D")
    predict.press("Check")
    assert "All 7 are right" in predict.verdict
    assert "Right at the first try: 0 of 1" in predict.panel.inner_text()


def test_another_run_asks_anew_and_undo_brings_the_first_one_back(predict):
    predict.begin()
    predict.press("Check")
    predict.press("Another run")
    predict.page.locator(".cc-title", has_text="another run").wait_for()
    assert predict.panel.get_by_role("button", name="Check").is_visible()
    assert not predict.diamonds
    assert len(predict.panel.locator("[data-lane]").all()) == 3
    predict.page.get_by_role("button", name="Undo").click()
    predict.page.locator(".cc-title", has_text="another run").wait_for(state="detached")
    assert "H->D" in predict.panel.inner_text()


def test_a_class_round_from_the_link_to_the_count(predict):
    """The lecturer gives out a link; a student predicts another run, and reads out the code."""
    predict.begin()
    predict.press("Class round")
    dialog = predict.page.get_by_role("dialog", name="Class round")
    link = dialog.get_by_label("Link for the class").input_value()
    student = predict.page.context.browser.new_context()
    try:
        page = student.new_page()
        page.goto(link)
        page.locator(".cc-predict").wait_for()
        assert "another run" in page.locator(".cc-title").inner_text()
        page.get_by_role("button", name="Check", exact=True).click()
        code = page.locator(".cc-code").inner_text()
        page.get_by_role("button", name="Try again").click()
        page.get_by_role("button", name="Check", exact=True).click()
        assert page.locator(".cc-code").inner_text() == code
        kept = page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])")
        assert code not in kept and code.replace("-", "") not in kept
    finally:
        student.close()
    predict.page.keyboard.type(code.lower())
    predict.page.keyboard.press("Enter")
    counted = dialog.locator("tr").filter(has_text="Everything")
    assert "0 of 1" in counted.inner_text()
    assert "1 counted" in dialog.inner_text()
    codes = f"{code}\n{code[:-1]}{'2' if code[-1] != '2' else '3'}".encode()
    with predict.page.expect_file_chooser() as chosen:
        dialog.get_by_role("button", name="Open a file of codes").click()
    chosen.value.set_files({"name": "codes.txt", "mimeType": "text/plain", "buffer": codes})
    dialog.get_by_text("one letter is wrong").wait_for()
    assert f"{code}: this code is counted already." in dialog.inner_text()
    assert "0 of 1" in counted.inner_text()


def test_handles_are_dragged_and_the_line_is_clicked(predict):
    predict.begin()
    where = """([lane, label]) => {
      const plot = document.querySelector(".cc-diagram");
      const { xaxis, yaxis } = plot._fullLayout;
      const named = (trace) => trace.text?.findIndex?.((text) => text?.startsWith(label + ":")) ?? -1;
      const at = plot.data.find((trace) => named(trace) >= 0 && trace.y[named(trace)] != null);
      const place = at.y[named(at)];
      const box = plot.getBoundingClientRect();
      return [box.left + xaxis._offset + xaxis.d2p(lane), box.top + yaxis._offset + yaxis.d2p(place)];
    }"""
    predict.page.evaluate(STILL)
    x, y = predict.page.evaluate(where, [1, "G"])
    box = predict.handle("P2").locator(".cc-knob").bounding_box()
    predict.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    predict.page.mouse.down()
    predict.page.mouse.move(x, y + 14, steps=6)
    predict.page.mouse.up()
    assert predict.handle("P2").get_attribute("aria-valuetext") == "P2 records 2 events, up to G"
    x, y = predict.page.evaluate(where, [2, "J"])
    predict.page.mouse.click(x, y - 25)
    assert predict.handle("P3").get_attribute("aria-valuetext") == "P3 records 1 event, up to I"
    assert not predict.page.locator(".cc-popup").first.is_visible(), "the menu of the line stays away"


def test_keys_that_step_rest_while_predicting_and_escape_leaves(predict):
    predict.begin()
    predict.page.locator(".cc-predict h3").click()
    for key in ("ArrowLeft", "Home", " ", "Control+z"):
        predict.explorer.press(key)
    assert predict.explorer.step == predict.explorer.last
    predict.explorer.press("Escape")
    assert not predict.panel.is_visible()
    assert predict.explorer.step == 1
    predict.explorer.press("End")
    assert predict.diamonds
    button = predict.page.get_by_role("button", name="Predict", exact=True)
    button.focus()
    predict.page.keyboard.press("Enter")
    assert predict.handle("P1").evaluate("(node) => node === document.activeElement")
    predict.page.keyboard.press("Escape")
    assert button.evaluate("(node) => node === document.activeElement")


@pytest.mark.long("more of each page in a real browser")
def test_several_snapshots_are_chosen_one_after_the_other_but_none_that_is_given_up(predict):
    """S1 of expired_and_retried expires, and S2 is complete; in held_too_many the only one fails."""
    predict.explorer.open("/?scenario=expired_and_retried")
    predict.begin()
    assert "S2" in predict.page.locator(".cc-question").inner_text()
    assert predict.panel.locator(".cc-selector").count() == 0
    predict.explorer.open("/?scenario=held_too_many")
    predict.begin()
    assert "Every snapshot of this run is given up" in predict.panel.inner_text()
    predict.explorer.load("/?scenario=overlapping")
    predict.begin()
    predict.press("Check")
    predict.press("Next snapshot")
    assert "S2" in predict.page.locator(".cc-question").inner_text()
    predict.press("Check")
    assert re.search(r"Right at the first try: \d of 2", predict.panel.inner_text())


@pytest.mark.long("more of each page in a real browser")
def test_who_never_records_is_predicted_too(predict):
    predict.explorer.choose("C13", "marker")
    predict.explorer.edit("Hold")
    predict.explorer.choose("C12", "marker")
    predict.explorer.edit("Hold")
    predict.begin()
    assert "not complete" in predict.panel.inner_text()
    predict.place({"P1": 2})
    for process in ("P2", "P3"):
        predict.panel.get_by_label(f"{process} never records").check()
    assert predict.handle("P2").get_attribute("aria-valuetext") == "P2 never records"
    predict.press("Check")
    assert {predict.marks()[name] for name in ("P1", "P2", "P3")} == {"true"}


@pytest.mark.long("more of each page in a real browser")
def test_a_run_without_a_snapshot_and_a_run_that_is_too_long_say_so(predict):
    none = 'title = "None"\nprocesses = ["P1", "P2"]\n'
    many = 'title = "Long"\nprocesses = ["P1", "P2"]\n' + '[[script]]\nprocess = "P1"\nat = 1\n' * 2100
    for text, title, told in (
        (none, "None", ("No snapshot in this run", "Change tab")),
        (many, "Long", ("This run has 2100 events, which is too many for Predict",)),
    ):
        predict.page.get_by_role("button", name="Open file").click()
        own = {"name": "own.toml", "mimeType": "text/plain", "buffer": text.encode()}
        predict.page.locator("input[type=file]").set_input_files(own)
        predict.page.get_by_role("heading", name=title).wait_for()
        predict.page.locator("[data-testid=stDialog]").wait_for(state="detached")
        predict.begin()
        assert all(words in predict.panel.inner_text() for words in told), title
        predict.explorer.press("Escape")


@pytest.mark.long("more of each page in a real browser")
def test_even_a_hundred_processes_can_be_predicted(predict):
    predict.explorer.open("?scenario=hundred")
    predict.begin()
    says = [f".cc [role=slider][{name}*='records']" for name in ("aria-label", "aria-valuetext")]
    assert predict.page.locator(", ".join(says)).count() == 100
