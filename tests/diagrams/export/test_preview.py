"""What the export dialog's preview asks the server for: never all pages, and what is refused as it is."""

from __future__ import annotations

from diagrams.browser.scripts import EXPLORE
from diagrams.still.slides import MOST_PAGES
from tests.javascript import IN_BOTH

MODULE = [EXPLORE / "share" / "shown_of.js"]
SCENE = {"first": 0, "until": 200}
REFUSED = [
    {"from": "", "to": "3"}, {"from": "3", "to": ""}, {"from": "7", "to": "3"}, {"from": "3", "to": "5.5"},
    {"from": "0", "to": "201"}, {"from": "3", "to": "7", "crop": "5..9"}, {"from": "-1", "to": "2"},
]  # fmt: skip


def shown_of(run_module, asked: list[tuple[str, dict[str, str], dict[str, int]]]) -> list[dict]:
    """What is shown of a format with its options in a scene, for several at once."""
    ask = '({ shownOf }, asked) => asked.map(([name, options, scene]) => shownOf(name, "gif", options, scene))'
    return run_module(ask, MODULE, asked)


OF_PAGES = [
    ({"from": "3", "to": "100"}, 100, (3, 22)),
    ({"from": "3", "to": "3"}, 3, (3, 3)),
    ({"from": "", "to": ""}, 200, (0, 19)),
    ({"from": "", "to": "", "crop": "20..30"}, 30, (20, 30)),
    ({"from": "21", "to": "22", "crop": "20..30"}, 22, (21, 22)),
]


@IN_BOTH
def test_a_preview_has_one_page_of_a_deck_and_the_first_frames_of_an_animation(run_module):
    names = ("deck", "pptx", "gif")
    found = iter(shown_of(run_module, [(name, options, SCENE) for options, _, _ in OF_PAGES for name in names]))
    for options, page, frames in OF_PAGES:
        for shown in (next(found), next(found)):
            assert shown["asked"] == {**options, "from": page, "to": page}
            assert shown["said"] == f"Its page of step {page}, the last one."
        shown = next(found)
        assert shown["asked"] == {**options, "from": frames[0], "to": frames[1]}
        assert bool(shown["said"]) == (frames[1] == frames[0] + 19), options


def test_the_server_gets_what_it_has_to_refuse_as_it_is(run_module):
    names = ("deck", "pptx", "gif")
    asked = [(name, options, SCENE) for name in names for options in REFUSED]
    assert [shown["asked"] for shown in shown_of(run_module, asked)] == [options for _, options, _ in asked]
    everything = {"from": "", "to": ""}
    for until, is_refused in ((MOST_PAGES, True), (MOST_PAGES - 1, False)):
        shown = shown_of(run_module, [(name, everything, {"first": 0, "until": until}) for name in names])
        assert [own["asked"] == everything for own in shown] == [is_refused] * 3
