"""What the export dialog's preview asks the server for: never all pages, and what is refused as it is."""

from __future__ import annotations

import pytest

from diagrams.browser import EXPLORE
from diagrams.slides import MOST_PAGES

MODULE = [EXPLORE / "share" / "shown_of.js"]
SCENE = {"first": 0, "until": 200}
REFUSED = [
    {"from": "", "to": "3"}, {"from": "3", "to": ""}, {"from": "7", "to": "3"}, {"from": "3", "to": "5.5"},
    {"from": "0", "to": "201"}, {"from": "3", "to": "7", "crop": "5..9"}, {"from": "-1", "to": "2"},
]  # fmt: skip


def shown_of(run_module, name: str, options: dict[str, str], scene: dict[str, int]) -> dict:
    return run_module("({ shownOf }, ...given) => shownOf(...given)", MODULE, name, "gif", options, scene)


@pytest.mark.parametrize(
    ("options", "page", "frames"),
    [
        ({"from": "3", "to": "100"}, 100, (3, 22)),
        ({"from": "3", "to": "3"}, 3, (3, 3)),
        ({"from": "", "to": ""}, 200, (0, 19)),
        ({"from": "", "to": "", "crop": "20..30"}, 30, (20, 30)),
        ({"from": "21", "to": "22", "crop": "20..30"}, 22, (21, 22)),
    ],
)
def test_a_preview_has_one_page_of_a_deck_and_the_first_frames_of_an_animation(run_module, options, page, frames):
    for name in ("deck", "pptx"):
        shown = shown_of(run_module, name, options, SCENE)
        assert shown["asked"] == {**options, "from": page, "to": page}
        assert shown["said"] == f"Its page of step {page}, the last one."
    shown = shown_of(run_module, "gif", options, SCENE)
    assert shown["asked"] == {**options, "from": frames[0], "to": frames[1]}
    assert bool(shown["said"]) == (frames[1] == frames[0] + 19)


@pytest.mark.parametrize("name", ["deck", "pptx", "gif"])
def test_the_server_gets_what_it_has_to_refuse_as_it_is(run_module, name):
    for options in REFUSED:
        assert shown_of(run_module, name, options, SCENE)["asked"] == options
    everything = {"from": "", "to": ""}
    assert shown_of(run_module, name, everything, {"first": 0, "until": MOST_PAGES})["asked"] == everything
    assert shown_of(run_module, name, everything, {"first": 0, "until": MOST_PAGES - 1})["asked"] != everything
