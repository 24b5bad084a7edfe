"""What one browser session explores: a history of scenarios, and the answers to its edits.

Everything a user does is an edit, an edit makes a new scenario, and undo is the scenario before. Nothing
here knows of Streamlit, so it is tested without a browser.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from diagrams.payload import payload
from diagrams.scene import compose
from sim.edits import apply_edit, describe_edit
from sim.execution import run
from sim.scenario import Scenario, ScenarioError
from sim.tables import as_float

Scene = dict[str, Any]
MOST_STEPS = 20_000
MOST_CHANNELS = 10_000


@dataclass(frozen=True)
class Version:
    """A scenario and, in words, the edits that led to it from the one that was opened."""

    scenario: Scenario
    edits: tuple[str, ...] = ()


@dataclass
class ExploreSession:
    """The state behind the Explore page of one browser session.

    history: the scenario as it was opened, and one version per edit since.
    ack: the number of the last edit taken from the browser, whether it was applied or refused.
    revision: grows whenever another scenario is shown; only then the browser draws anew.
    notice: what the browser is to tell the user: {"seq", "level": "error" | "info", "text"}.
    link: the scenario that the page's address last asked for.
    """

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    history: list[Version] = field(default_factory=list)
    ack: int = 0
    revision: int = 0
    notice: dict[str, Any] | None = None
    link: str | None = None
    drawn: Scene | None = None

    @property
    def scenario(self) -> Scenario:
        """The scenario on show."""
        return self.history[-1].scenario

    def open(self, scenario: Scenario) -> None:
        """Show `scenario` and forget what was there. Raises ScenarioError, and then nothing has changed."""
        drawn = draw(scenario)
        self.history = [Version(scenario)]
        self.notice = None
        self._show_another(drawn)

    def absorb(self, outbox: object) -> None:
        """Take from the browser's outbox every edit that was not taken before, in its order, and draw once."""
        before = list(self.history)
        for entry in outbox if isinstance(outbox, list) else []:
            if _is_entry(entry) and entry["seq"] > self.ack:
                self.ack = entry["seq"]  # first of all: an edit that fails must not come again with every run
                self._take(entry["edit"], float(entry["time"]))
        if self.history[-1:] != before[-1:]:
            try:
                self._show_another(draw(self.scenario))
            except ScenarioError as problem:
                self.history = before
                self.tell(str(problem))

    def tell(self, text: str, level: str = "error") -> None:
        """Have the browser show one sentence."""
        self.notice = {"seq": self.ack, "level": level, "text": sentence(text)}

    def data(self) -> dict[str, Any]:
        """What the component is given, except for where Plotly is found."""
        return {
            "revision": self.revision,
            "session": self.id,
            "ack": self.ack,
            "notice": self.notice,
            "undo": len(self.history) - 1,
            "edits": list(self.history[-1].edits),
            "scene": self.drawn,
        }

    def _take(self, edit: Mapping[str, Any], now: float) -> None:
        """Apply one edit, or say why not and leave everything as it is."""
        try:
            self._apply(edit, now)
        except ScenarioError as problem:
            self.tell(str(problem))
        else:
            self.notice = None

    def _apply(self, edit: Mapping[str, Any], now: float) -> None:
        """Put another version on top, or take one off. A reset is an edit too, so it can be undone."""
        version = self.history[-1]
        if edit["do"] == "undo":
            self.history = self.history[:-1] or self.history
        elif edit["do"] == "reset":
            if version.edits:
                self.history.append(self.history[0])
        else:
            edited = apply_edit(version.scenario, edit, now)
            self.history.append(Version(edited, (*version.edits, describe_edit(version.scenario, edit))))

    def _show_another(self, drawn: Scene) -> None:
        """Note that another scenario is on show, and its scene."""
        self.drawn = drawn
        self.revision += 1


def draw(scenario: Scenario) -> Scene:
    """The scene of a scenario's run, as plain JSON. Raises ScenarioError when it cannot run, or is too big."""
    if len(scenario.channels) > MOST_CHANNELS:
        raise ScenarioError(
            f"{len(scenario.channels)} channels are more than a page can show; use at most {MOST_CHANNELS}"
        )
    return payload(compose(run(scenario, most_steps=MOST_STEPS)))


def sentence(text: str) -> str:
    """`text` with a stop at its end and a capital at its front, unless a file or a key stands there."""
    text = text.strip()
    opens_with_name = text.partition(" ")[0].endswith(":")
    front = text[:1] if opens_with_name else text[:1].upper()
    return front + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def _is_entry(entry: object) -> bool:
    """Whether the browser sent what it should: state can come from anywhere."""
    if not isinstance(entry, dict):
        return False
    edit, time = entry.get("edit"), entry.get("time")
    return (
        isinstance(entry.get("seq"), int)
        and isinstance(time, int | float)
        and math.isfinite(as_float(time))
        and isinstance(edit, dict)
        and isinstance(edit.get("do"), str)
        and isinstance(edit.get("message", {}), dict)
    )
