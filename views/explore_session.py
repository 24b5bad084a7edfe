"""The state of one browser session on the Explore page: a history of scenarios, and the answers to edits.

An edit makes a new scenario; undo is the scenario before. Nothing here imports Streamlit, so tests need no browser.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl, urlencode
from weakref import WeakValueDictionary

from diagrams.elements import Ghost
from diagrams.export import offered
from diagrams.scene import Scene, arrows_as_they_are, compose
from sim.core.delays import MessageReference
from sim.core.errors import InputError
from sim.document.scenario import Scenario
from sim.document.toml_table import as_float
from sim.edit.edit_words import consequence, describe_edit
from sim.edit.edits import ANOTHER, apply_edit
from sim.edit.link import MOST_LINK, Entry, Shared, query_of, read_query
from sim.run.execution import Execution, run
from views.look import Look, draw, read_look
from views.page_words import sentence

MOST_STEPS = 250_000
MOST_CHANNELS = 10_000
MOST_REPLAYED = 50_000_000  # steps of all runs that opening a link may take
MOST_GHOSTS = 20_000  # messages; of a bigger run no arrows from before the edits are kept
BIG = 5_000  # steps; executions of longer runs are kept for the last MOST_BIG sessions only
MOST_BIG = 3

WISHES = ("scenarios", "open")  # dialogs that the browser may ask for


@dataclass(frozen=True)
class Version:
    """A scenario, and the edits that led to it: as data, and in words.

    `original` says where the arrows were before the edits; those before the run was drawn at random do not count.
    """

    scenario: Scenario
    edits: tuple[Entry, ...] = ()
    words: tuple[str, ...] = ()
    original: Mapping[MessageReference, Ghost] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_drawn(self) -> bool:
        """Whether this is another run, drawn at random, and unchanged since."""
        return bool(self.edits) and self.edits[-1][0]["do"] == ANOTHER


@dataclass(eq=False)
class ExploreSession:
    """The state behind the Explore page of one browser session.

    versions, at: the opened scenario and one version per edit, and the index of the one on show. Later ones can be
        redone.
    ack: the number of the last entry taken from the browser, applied or refused.
    revision: grows whenever the browser has to draw something else.
    notice: the notice for the user: {"seq", "level": "error" | "info", "text"}.
    shared: the opened scenario or file, with the step in its link.
    wish: the dialog that the user has asked for and that is not open yet.
    is_chosen: another page has opened this run, so the browser does not restore the run it had before.
    """

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    versions: list[Version] = field(default_factory=list)
    at: int = 0
    ack: int = 0
    revision: int = 0
    notice: dict[str, Any] | None = None
    shared: Shared = field(default_factory=Shared)
    wish: str | None = None
    is_chosen: bool = False
    look: Look = field(default_factory=Look)

    def __post_init__(self) -> None:
        self._scene: Scene | None = None
        self.drawn = b""  # the window of the scene as JSON
        self._renumbered = 0  # the first revision with the present numbers of script lines
        self._shown = self.versions, self.at, self.look, self._renumbered  # what `drawn` shows
        SESSIONS[self.id] = self

    @property
    def version(self) -> Version:
        """The version on show."""
        return self.versions[self.at]

    @property
    def scenario(self) -> Scenario:
        """The scenario on show."""
        return self.version.scenario

    @property
    def scene(self) -> Scene:
        """The scene of the whole run on show; for a big run it may be composed again.

        Changes nothing: an export calls this from a thread of its own.
        """
        scene = self._scene
        return compose(run_of(self.scenario), self.version.original) if scene is None else scene

    def open(self, shared: Shared) -> None:
        """Open the run of a link, a file or a card of the gallery, instead of the one there was.

        Raises InputError, and then nothing has changed.
        """
        execution = run_of(shared.base())
        versions = [Version(execution.scenario)]
        replayed = 0
        for edit, now in shared.edits:
            version, execution = _edited(versions, execution, edit, now)
            replayed += execution.steps
            if replayed > MOST_REPLAYED:
                raise InputError(
                    f"these edits run more than {MOST_REPLAYED} steps again; open the edited run as a file instead"
                )
            versions.append(version)
        scene, look = compose(execution, versions[-1].original), Look(step=shared.step)
        drawn = draw(scene, look)
        self.versions, self.at, self.shared, self.notice = versions, len(versions) - 1, shared, None
        self._renumbered = self.revision + 1
        self._show(scene, look, drawn)

    def absorb(self, outbox: object) -> None:
        """Apply all new entries of the browser's outbox, in their order, and draw once."""
        for entry in outbox if isinstance(outbox, list) else []:
            if _is_entry(entry) and entry["seq"] > self.ack:
                self.ack = entry["seq"]  # first: an edit that fails must not come again at every run
                self._take(entry)
        versions, at, look, renumbered = self._shown
        if self.versions is versions and (self.at, self.look) == (at, look):
            self._renumbered = renumbered
            return
        try:
            scene = self.scene
            self._show(scene, self.look, draw(scene, self.look))
        except InputError as problem:
            (self.versions, self.at, self.look, self._renumbered), self._scene = self._shown, None
            self.tell(str(problem))

    def tell(self, text: str, level: str = "error") -> None:
        """Make the browser show one sentence."""
        self.notice = {"seq": self.ack, "level": level, "text": sentence(text)}

    def data(self) -> dict[str, Any]:
        """The data for the browser at every run of the page, except for `drawn`."""
        return {
            "revision": self.revision,
            "session": self.id,
            "chosen": self.is_chosen,
            "ack": self.ack,
            "notice": self.notice,
            "undo": self.at,
            "redo": len(self.versions) - 1 - self.at,
            "edits": list(self.version.words),
            "link": self.link(),
            "round": self.round(),
            "most_link": MOST_LINK,
            "step": self.shared.step,
            "formats": offered(),
        }

    def link(self) -> str:
        """The query of a link to the run on show, without a step; empty where it is too long for a link."""
        try:
            return urlencode(query_of(replace(self.shared.edited(self.version.edits), step=0)))
        except InputError:
            return ""

    def round(self) -> dict[str, Any] | None:
        """The class's round that the run on show was drawn for, and its number there; None for any other run."""
        edit = self.version.edits[-1][0] if self.version.is_drawn else {}
        return {"name": edit["round"], "number": edit.get("number", 0)} if edit.get("round") else None

    def _take(self, entry: Mapping[str, Any]) -> None:
        """Apply one entry; where that fails, set a notice and change nothing."""
        edit, now = entry["edit"], float(entry["time"])
        try:
            if edit["do"] in WISHES:
                self.wish = edit["do"]
            elif edit["do"] == "restore":
                self.open(read_query(dict(parse_qsl(str(edit.get("link", ""))))))
            elif edit["do"] == "look":
                self.look = read_look(edit)
            else:
                self._change(edit, now, entry.get("revision", self.revision))
        except InputError as problem:
            self.tell(str(problem))

    def _change(self, edit: Mapping[str, Any], now: float, seen: int) -> None:
        """Show another version. A reset is an edit too, so it can be undone."""
        self.notice = None
        if edit["do"] in ("undo", "redo"):
            at = self.at + (1 if edit["do"] == "redo" else -1)
            if not 0 <= at < len(self.versions):
                return
            self.at = at
            self._scenario_changed(None)
        elif edit["do"] == "reset":
            if not self.version.edits:
                return
            self._add(self.versions[0], None)
        elif "item" in edit and seen < self._renumbered:
            raise InputError("the script has changed since this diagram was drawn; make the change again")
        else:
            before = self.scene.execution
            version, after = _edited(self.versions[: self.at + 1], before, edit, now)
            self._add(version, after)
            told = None if version.is_drawn else consequence(before, after, edit)
            if told:
                self.tell(told, "info")
            if edit["do"] not in ("delete", ANOTHER):
                return
        self._renumbered = self.revision + 1

    def _add(self, version: Version, execution: Execution | None) -> None:
        """Add a version after the one on show, instead of those that were undone."""
        self.versions = [*self.versions[: self.at + 1], version]
        self.at += 1
        self._scenario_changed(execution)

    def _scenario_changed(self, execution: Execution | None) -> None:
        self._keep(compose(execution or run_of(self.scenario), self.version.original))

    def _show(self, scene: Scene, look: Look, drawn: bytes) -> None:
        """Set what is on show."""
        self.look, self.drawn = look, drawn
        self._keep(scene)
        self.revision += 1
        self._shown = self.versions, self.at, look, self._renumbered

    def _keep(self, scene: Scene) -> None:
        """Keep the scene for the next edit; scenes of big runs only for the last few sessions."""
        self._scene = scene
        if scene.last <= BIG:
            return
        with _KEEPING:  # sessions run in threads
            if self in _WITH_BIG_RUN:
                _WITH_BIG_RUN.remove(self)
            _WITH_BIG_RUN.append(self)
            while len(_WITH_BIG_RUN) > MOST_BIG:
                _WITH_BIG_RUN.pop(0)._scene = None


SESSIONS: WeakValueDictionary[str, ExploreSession] = WeakValueDictionary()
_WITH_BIG_RUN: list[ExploreSession] = []
_KEEPING = Lock()


def run_of(scenario: Scenario) -> Execution:
    """The run of a scenario. Raises InputError when it cannot run, or is too big for a page."""
    if len(scenario.channels) > MOST_CHANNELS:
        raise InputError(
            f"{len(scenario.channels)} channels are more than a page can show; use at most {MOST_CHANNELS}"
        )
    return run(replace(scenario), most_steps=MOST_STEPS)  # a copy: values cached in a scenario are freed with its run


def _original_arrows(execution: Execution) -> dict[MessageReference, Ghost]:
    """The arrows before any edit; none for a big run."""
    return arrows_as_they_are(execution) if len(execution.flights) <= MOST_GHOSTS else {}


def _edited(
    versions: Sequence[Version], execution: Execution, edit: Mapping[str, Any], now: float
) -> tuple[Version, Execution]:
    """The version after one more edit of the last of `versions`, whose run is `execution`, and the new run.

    Another run is drawn from the last run that was not drawn itself, so that size and delays do not drift.
    """
    last = before = versions[-1]
    if edit["do"] == ANOTHER and last.is_drawn:
        before = next(version for version in reversed(versions) if not version.is_drawn)
        execution = run_of(before.scenario)
    after = apply_edit(execution, edit, now, MOST_STEPS)
    words = describe_edit(execution, edit)
    is_first = not last.edits or last.is_drawn
    original = {} if edit["do"] == ANOTHER else _original_arrows(execution) if is_first else last.original
    scenario = replace(after.scenario)  # a copy without values that a run has cached
    return Version(scenario, (*before.edits, (edit, now)), (*before.words, words), original), after


def _is_entry(entry: object) -> bool:
    """Whether an entry has the right form: the browser's state is untrusted."""
    if not isinstance(entry, dict):
        return False
    edit, time = entry.get("edit"), entry.get("time")
    return (
        isinstance(entry.get("seq"), int)
        and isinstance(entry.get("revision", 0), int)
        and isinstance(time, int | float)
        and math.isfinite(as_float(time))
        and isinstance(edit, dict)
        and isinstance(edit.get("do"), str)
        and isinstance(edit.get("message", {}), dict)
    )
