"""The state of one browser session on the Explore page: a history of scenarios, and the answers to edits.

An edit makes a new scenario; undo is the scenario before. Nothing here imports Streamlit, so tests need no browser.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from urllib.parse import parse_qsl

from diagrams.export import offered
from diagrams.scene.composition import Scene, compose
from sim.core.deadline import Deadline, OutOfTime, within
from sim.core.errors import InputError
from sim.document.scenario import Scenario
from sim.edit.another_algorithm import Remedy, remedy_of_order, remedy_of_refused
from sim.edit.edits import ANOTHER
from sim.edit.link import MOST_LINK, Entry, Shared, read_query
from sim.edit.words import consequence
from sim.explain.words import capital
from sim.run.references import notes
from views.explore import words
from views.explore.counterexample import SEARCH, counterexample
from views.explore.kept_run import KeptRun
from views.explore.versions import Version, edited
from views.server import words as limits
from views.server.budget import ANSWER_S, Busy, allow, answering, run_of
from views.server.plain_words import sentence
from views.widgets.links import link_to
from views.widgets.look import Look, draw, read_look
from views.widgets.outbox import SESSIONS, batches, new_entries, notice

TAKING_S = 0.7 * ANSWER_S  # for the edits of an answer: the rest is for drawing
STARTING_S = 0.2 * ANSWER_S  # no edit is begun later in an answer, so that one that takes long comes first in the next
WISHES = ("scenarios", "open")  # dialogs that the browser may ask for


@dataclass(eq=False)
class ExploreSession:
    """The state behind the Explore page of one browser session.

    versions, at: the opened scenario and one version per edit, and the index of the one on show.
    ack: the number of the last entry taken from the browser, applied or refused.
    revision: grows whenever the browser has to draw something else.
    notice: the notice for the user: {"seq", "level": "error" | "info", "text", "remedy": {"words", "edit"} or None}.
    shared: the opened scenario or file, with the step in its link.
    wish: the dialog that the user has asked for and that is not open yet.
    pointer: where the browser shall look, once: {"seq", "step", "message": its id or None}.
    is_chosen: another page has opened this run, so the browser does not restore the run it had before.
    """

    row: ClassVar[tuple[tuple[str, Scene | str], ...]] = ()  # one run
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    versions: list[Version] = field(default_factory=list)
    at: int = 0
    ack: int = 0
    revision: int = 0
    notice: dict[str, Any] | None = None
    shared: Shared = field(default_factory=Shared)
    wish: str | None = None
    pointer: dict[str, Any] | None = None
    is_chosen: bool = False
    look: Look = field(default_factory=Look)

    def __post_init__(self) -> None:
        self.kept = KeptRun()
        self._refused: list[tuple[int, str, Remedy | None]] = []  # in this answer: numbers, reasons, remedies
        self._answers = 0
        self.unfinished = 0  # the number of the answer, if the browser has to send entries again; else 0
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
        scene, version = self.kept.scene, self.version
        return scene or compose(self.kept.execution or run_of(version.scenario), version.original)

    def open(self, shared: Shared, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Open the run of a link, a file or a card of the gallery, instead of the one there was.

        Raises InputError, and OutOfTime if it `is_wanted` no more; then nothing has changed.
        """
        with answering(is_wanted) as deadline, within(deadline):
            execution = run_of(shared.base())
            remarks = notes(execution, most=1)
            versions, execution = edited([Version(replace(execution.scenario))], execution, shared.edits)
            is_asked = self.look.question or versions[-1].round is not None  # a round opens with the question
            scene, look = compose(execution, versions[-1].original), Look(step=shared.step, question=is_asked)
            drawn = draw(scene, look)
        self.versions, self.at, self.shared, self.notice = versions, len(versions) - 1, shared, None
        self._renumbered = self.revision + 1
        self._show(scene, look, drawn)
        if remarks:
            self.tell(". ".join(map(capital, remarks)), "info")

    def absorb(self, outbox: object, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Apply the new entries of the browser's outbox, in their order, and draw once.

        An entry without time in this answer is not acknowledged, so the browser sends it again (`unfinished`). An entry
        is refused only if it takes too long by itself. Raises OutOfTime if all this `is_wanted` no more; then nothing
        else has changed.
        """
        begun, shown, self._refused = self.ack, self._shown, []
        try:
            with answering(is_wanted) as deadline:
                self._take_all(new_entries(outbox, self.ack), deadline)
                self._draw(deadline)
        except OutOfTime:
            self.ack, self.unfinished = begun, self._answers
            self._go_back(shown)
            raise
        if self._refused:
            (seq, text, remedy), others = self._refused[0], len(self._refused) - 1
            more = f" {words.more_refused(others)}" if others else ""
            self.notice = notice(seq, "error", sentence(text) + more, remedy)

    def tell(self, text: str, level: str = "error", remedy: Remedy | None = None) -> None:
        """Make the browser show one sentence, with a button for the remedy if there is one."""
        self.notice = notice(self.ack, level, sentence(text), remedy)

    def data(self) -> dict[str, Any]:
        """The data for the browser at every run of the page, except for `drawn`."""
        return {
            "revision": self.revision,
            "session": self.id,
            "chosen": self.is_chosen,
            "ack": self.ack,
            "unfinished": self.unfinished,
            "notice": self.notice,
            "pointer": self.pointer,
            "undo": self.at,
            "redo": len(self.versions) - 1 - self.at,
            "edits": list(self.version.sentences),
            "link": self.link(),
            "round": self.version.round,
            "most_link": MOST_LINK,
            "step": self.shared.step,
            "shown": dict(self.shared.shown),
            "formats": offered(),
        }

    def link(self) -> str:
        """The query of a link to the run on show, without a step; empty if it is too long for a link."""
        return link_to(self.shared.edited(self.version.edits))

    def _take_all(self, entries: Sequence[Mapping[str, Any]], deadline: Deadline) -> None:
        """Apply entries, edits of the plan together, as long as there is time to begin more."""
        begun = self.ack
        self._answers += 1
        self.unfinished = 0
        batch: Sequence[Mapping[str, Any]] = ()
        try:
            with within(Deadline(TAKING_S, deadline.is_wanted)):
                for batch in batches(entries):
                    if self.ack > begun and deadline.spent > STARTING_S:
                        break
                    self._take(batch)
        except Busy:
            self.tell(limits.YOURS_FOLLOWS, "info")
        except OutOfTime:
            if not deadline.is_wanted():
                raise
            if self.ack == begun:
                self.ack = batch[-1]["seq"]
                self._refused.append((batch[0]["seq"], limits.too_long(TAKING_S, limits.SMALLER), None))
        if entries and self.ack < entries[-1]["seq"]:
            self.unfinished = self._answers

    def _take(self, batch: Sequence[Mapping[str, Any]]) -> None:
        """Apply entries; if that fails, one half after the other, so that only wrong entries are refused."""
        before = self.ack
        self.ack = batch[-1]["seq"]  # first: an edit that fails must not come again at every run
        try:
            self._apply(batch)
        except (Busy, OutOfTime):
            self.ack = before
            raise
        except InputError as problem:
            if len(batch) == 1:
                remedy = remedy_of_refused(self.scenario, batch[0]["edit"])
                self._refused.append((self.ack, remedy.why if remedy else str(problem), remedy))
                return
            self.ack = before
            self._take(batch[: len(batch) // 2])
            self._take(batch[len(batch) // 2 :])

    def _apply(self, batch: Sequence[Mapping[str, Any]]) -> None:
        """Apply one entry, or several edits of the plan. Raises InputError, and then nothing has changed."""
        edit = batch[0]["edit"]
        if edit["do"] in WISHES:
            self.wish = edit["do"]
        elif edit["do"] == "restore":
            self.open(read_query(dict(parse_qsl(str(edit.get("link", ""))))))
            self.notice = None  # the user has read it when this run was opened first
        elif edit["do"] == "look":
            self.look = read_look(edit)
        elif edit["do"] in ("undo", "redo"):
            self._show_version(self.at + (1 if edit["do"] == "redo" else -1))
        elif edit["do"] == "reset":
            self._reset()
        elif edit["do"] == SEARCH:
            self._show_counterexample(batch[0])
        else:
            self._change(batch)

    def _show_version(self, at: int) -> None:
        """Undo or redo, if there is such a version."""
        if 0 <= at < len(self.versions):
            execution = run_of(self.versions[at].scenario)
            self.at = at
            self.kept.keep(execution)
            self._renumbered = self.revision + 1
        self.notice = None

    def _reset(self) -> None:
        """Show the opened scenario. This is an edit too, so it can be undone."""
        self.notice = None
        if self.version.entry is not None:
            execution = run_of(self.versions[0].scenario)
            self.versions, self.at = [*self.versions[: self.at + 1], self.versions[0]], self.at + 1
            self.kept.keep(execution)
            self._renumbered = self.revision + 1

    def _change(self, batch: Sequence[Mapping[str, Any]]) -> None:
        """Show the version after one edit, or after several edits of the plan."""
        if any("item" in own["edit"] and own.get("revision", self.revision) < self._renumbered for own in batch):
            raise InputError(words.SCRIPT_HAS_CHANGED)
        entries: list[Entry] = [(own["edit"], float(own["time"])) for own in batch]
        before = self.kept.execution or run_of(self.scenario)
        versions, after = edited(self.versions[: self.at + 1], before, entries)
        edit = entries[-1][0]
        effect = None if versions[-1].is_drawn else consequence(before, after, edit)
        self.versions, self.at, self.notice = versions, len(versions) - 1, None
        self.kept.keep(after)
        if effect:
            self.tell(effect, "info")
        elif edit["do"] == "algorithm" and (remedy := remedy_of_order(versions[-1].scenario)):
            self.tell(remedy.why, "info", remedy)
        if edit["do"] in ("delete", ANOTHER):
            self._renumbered = self.revision + 1

    def _show_counterexample(self, asked: Mapping[str, Any]) -> None:
        """Make the smallest edit that makes a check fail, say what it changed, and point at the harm."""
        allow(self.scenario)
        found = counterexample(self.kept.execution or run_of(self.scenario))
        if isinstance(found, str):
            self.tell(found, "info")
        else:
            self._change([{**asked, "edit": found.edit, "time": 0.0, "revision": self.revision}])
            self.tell(words.changed(self.version.sentence), "info")
            self.pointer = {"seq": asked["seq"], "step": found.step, "message": found.message}

    def _draw(self, deadline: Deadline) -> None:
        """Draw the changes of the entries; if they cannot be drawn, go back to what is on show."""
        versions, at, look, renumbered = self._shown
        if self.versions is versions and self.at == at and look.has(self.look):
            self._renumbered = renumbered
            return
        try:
            scene = self.scene
            self._show(scene, self.look, draw(scene, self.look))
        except InputError as problem:
            self._go_back(self._shown)
            self.tell(str(problem))
        except OutOfTime:
            self._go_back(self._shown)
            if not deadline.is_wanted():
                raise
            self.tell(limits.too_long(ANSWER_S, limits.SMALLER))

    def _go_back(self, shown: tuple[list[Version], int, Look, int]) -> None:
        """Go back to what was on show."""
        self.versions, self.at, self.look, self._renumbered = shown
        self.kept.forget()

    def _show(self, scene: Scene, look: Look, drawn: bytes) -> None:
        """Set what is on show."""
        self.look, self.drawn = look, drawn
        self.kept.keep(scene.execution, scene)
        self.revision += 1
        self._shown = self.versions, self.at, look, self._renumbered
