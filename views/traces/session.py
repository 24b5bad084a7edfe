"""The state of one browser session on the Traces page: a window of a log on show, in which nothing is edited.

The browser moves the cut without Python. It asks Python for another look, such as time running down, or the lattice.
Nothing here imports Streamlit, so tests need no browser.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from diagrams.export import offered
from diagrams.scene.composition import Scene
from sim.core.errors import InputError
from views.server.budget import answering
from views.server.plain_words import sentence
from views.widgets.look import Look, draw, read_look
from views.widgets.outbox import SESSIONS, new_entries


class TraceSession:
    """A window of a log as the explorer shows it.

    scene, at: the window, and its place in the log, to compare with the place that the menus choose.
    address: the fields of the page's address, without the cut.
    shown: the cut, the panel and the predicate that are on show at first, as in a link.
    """

    row: ClassVar[tuple[tuple[str, Scene | str], ...]] = ()  # one run

    def __init__(self, scene: Scene, at: object, address: Mapping[str, str], shown: Mapping[str, str]) -> None:
        self.id = uuid.uuid4().hex
        self.scene, self.at = scene, at
        self.address, self.shown = dict(address), dict(shown)
        self.look = Look()
        self.drawn = draw(scene, self.look)
        self.revision, self.ack = 1, 0
        self.notice: dict[str, Any] | None = None
        SESSIONS[self.id] = self

    def absorb(self, outbox: object, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Draw the last look that the browser asks for. Raises OutOfTime if it `is_wanted` no more."""
        entries = new_entries(outbox, self.ack)
        looks = [entry["edit"] for entry in entries if entry["edit"]["do"] == "look"]
        self.ack, self.notice = (entries[-1]["seq"] if entries else self.ack), None
        if not looks:
            return
        try:
            with answering(is_wanted):
                look = read_look(looks[-1])
                if self.look.has(look):
                    return
                self.drawn = draw(self.scene, look)
        except InputError as problem:
            self.notice = {"seq": self.ack, "level": "error", "text": sentence(str(problem))}
        else:
            self.look = look
            self.revision += 1

    def data(self) -> dict[str, Any]:
        """The data for the browser at every run of the page, except for `drawn`."""
        return {
            "revision": self.revision,
            "session": self.id,
            "ack": self.ack,
            "notice": self.notice,
            "undo": 0,
            "redo": 0,
            "edits": [],
            "link": "",
            "address": self.address,
            "step": self.scene.last,
            "shown": self.shown,
            "formats": offered(of_log=True),
        }
