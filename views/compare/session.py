"""The state of one browser session on the Compare page: one scenario, its runs under several algorithms, and the edits.

An edit is made in the run of one algorithm and goes to the scenario, and so to all runs. Undo is the scenario before.
Nothing here imports Streamlit, so tests need no browser.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from diagrams.export import offered
from diagrams.scene.composition import Scene
from sim.core.algorithm import ALGORITHMS
from sim.core.deadline import OutOfTime
from sim.core.errors import InputError
from sim.document.scenario import Scenario
from sim.edit.compared import MOST_AT_ONCE, check_names, checked
from sim.edit.link import MOST_LINK, Shared
from views.compare import words
from views.compare.columns import Column, figures, for_browser
from views.compare.versions import WITH, Version, run_compared
from views.server.budget import answering
from views.server.plain_words import sentence
from views.widgets.links import link_to
from views.widgets.look import Look, draw, read_look
from views.widgets.outbox import SESSIONS, new_entries

FIRST_ALGORITHMS = ("chandy_lamport", "lai_yang", "mattern", "stop_the_world")
ALGORITHMS_KEY = "algorithms"  # the key of a link
WISHES = ("scenarios", "open", "explore")


class CompareSession:
    """The state behind the Compare page of one browser session.

    versions, at: the opened scenario and one version for each edit, and the index of the one on show.
    shared: the opened scenario or file. algorithms: those on show, in their order.
    wish: the dialog, or the page, that the user has asked for and that is not open yet.
    opened: how many runs have been opened, so that the browser begins anew with each.
    problem: why a run could not be opened, in a sentence ("": it could).
    """

    def __init__(self) -> None:
        self.id = uuid.uuid4().hex
        self.look = Look()
        self.shared = Shared()
        self.algorithms: tuple[str, ...] = ()
        self.versions: list[Version] = []
        self.at = 0
        self.columns: dict[str, Column] = {}
        self.wish: tuple[str, str] | None = None
        self.problem = ""
        self.opened = 0
        self._before: dict[str, tuple[int, int]] = {}  # by algorithm that was on show: its last ack and revision
        SESSIONS[self.id] = self

    # ------------------------------------------------------------------ what is on show

    @property
    def version(self) -> Version:
        """The version on show."""
        return self.versions[self.at]

    @property
    def shown(self) -> list[Column]:
        """The columns, in their order."""
        return [self.columns[name] for name in self.algorithms]

    @property
    def row(self) -> tuple[tuple[str, Scene | str], ...]:
        """For exports: the title of each algorithm, and its scene, or the sentence that refuses it."""
        return tuple((own.compared.title, own.scene or own.compared.refused or "") for own in self.shown)

    @property
    def scene(self) -> Scene:
        """The first scene of the row. Raises InputError if every algorithm is refused."""
        for own in self.shown:
            if own.scene is not None:
                return own.scene
        raise InputError(words.NONE_CAN_RUN)

    # ------------------------------------------------------------------ what the user does

    def open(
        self, shared: Shared, algorithms: Sequence[str] = (), is_wanted: Callable[[], bool] = lambda: True
    ) -> None:
        """Open the run of a link, a file or a card, under these algorithms (none: the scenario's own, and others).

        Raises InputError, and OutOfTime if it `is_wanted` no more; then nothing has changed.
        """
        with answering(is_wanted):
            version = Version(shared.base())
            versions = [version]
            for edit, now in shared.edits:
                version = version.edited(edit, now)
                versions.append(version)
            names = tuple(algorithms or self.algorithms or first_algorithms(version.scenario))
            _check(names)
            columns = self._columns(names, versions, {})
        self.shared, self.versions, self.at, self.problem = shared, versions, len(versions) - 1, ""
        self.opened += 1
        self._show(names, columns)

    def choose(self, algorithms: Sequence[str], is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Show these algorithms. Raises InputError and OutOfTime as `open`."""
        names = tuple(algorithms)
        _check(names)
        with answering(is_wanted):
            columns = self._columns(names, self.versions[: self.at + 1], self.columns, keep=True)
        self._show(names, columns)

    def absorb(self, outboxes: object, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Apply the new entries of each column's outbox, given by algorithm, in their order, and draw once.

        Raises OutOfTime if all this `is_wanted` no more; then no entry is acknowledged.
        """
        begun = {own.id: own.ack for own in self.columns.values()}
        before = self.versions, self.at
        try:
            with answering(is_wanted):
                for own in self.shown:
                    entries = outboxes.get(own.compared.algorithm) if isinstance(outboxes, dict) else None
                    for entry in new_entries(entries, own.ack):
                        own.ack = entry["seq"]
                        self._take(own, entry)
                if before != (self.versions, self.at):
                    columns = self._columns(self.algorithms, self.versions[: self.at + 1], self.columns)
                    self._show(self.algorithms, columns)
        except OutOfTime:
            self.versions, self.at = before
            for own in self.columns.values():
                own.ack = begun.get(own.id, own.ack)
            raise
        except InputError as problem:  # it takes too long
            self.versions, self.at = before
            for own in self.shown:
                if own.ack != begun.get(own.id):
                    own.tell("error", str(problem))

    def _take(self, column: Column, entry: Mapping[str, Any]) -> None:
        """Apply one entry of a column; a refusal becomes the notice of that column."""
        edit = entry["edit"]
        column.notice = None
        try:
            if edit["do"] in WISHES:
                self.wish = edit["do"], column.compared.algorithm
            elif edit["do"] == "look":
                look = read_look(edit)
                if column.scene is not None and not column.look.has(look):
                    column.look, column.drawn = look, draw(column.scene, look)
                    column.revision += 1
            elif edit["do"] in ("undo", "redo"):
                self.at = min(max(0, self.at + (1 if edit["do"] == "redo" else -1)), len(self.versions) - 1)
            elif edit["do"] == "reset":
                self.versions, self.at = [*self.versions[: self.at + 1], self.versions[0]], self.at + 1
            elif edit["do"] == "algorithm" and "source" not in edit:
                self.choose(_exchanged(self.algorithms, column.compared.algorithm, str(edit.get("kind"))))
            elif edit["do"] == "add":
                self.choose([*self.algorithms, str(edit.get("kind"))])
            elif edit["do"] == "remove":
                self.choose([name for name in self.algorithms if name != column.compared.algorithm])
            else:
                own = {**edit, WITH: column.compared.algorithm}
                version = self.version.edited(own, float(entry["time"]))
                self.versions, self.at = [*self.versions[: self.at + 1], version], self.at + 1
        except InputError as problem:
            column.tell("error", str(problem))

    def _columns(
        self, names: Sequence[str], versions: Sequence[Version], before: Mapping[str, Column], *, keep: bool = False
    ) -> dict[str, Column]:
        """The columns of the last of `versions`; with `keep`, columns that exist already stay as they are."""
        found: dict[str, Column] = {}
        for name in names:
            old = before.get(name)
            if keep and old is not None:
                old.revision += 1  # its time axis goes with those beside it
                found[name] = old
                continue
            own = checked(versions[-1].scenario, name, partial(versions[-1].run_under, name), run_compared)
            column = Column(f"{self.id}-{name}", own)
            column.ack, column.revision = self._numbers(name)
            if old is not None:
                column.look, column.original, column.notice = old.look, old.original, old.notice
            if own.execution is not None:
                column.show(own.execution, versions)
            found[name] = column
        return found

    def _numbers(self, name: str) -> tuple[int, int]:
        """The last entry taken from the column of an algorithm, also before it went, and its next revision."""
        own = self.columns.get(name)
        ack, revision = (own.ack, own.revision) if own else self._before.get(name, (0, 0))
        return ack, revision + 1

    def _show(self, names: Sequence[str], columns: dict[str, Column]) -> None:
        """Set what is on show."""
        self._before |= {name: (own.ack, own.revision) for name, own in self.columns.items()}
        self.algorithms, self.columns = tuple(names), columns

    # ------------------------------------------------------------------ what the browser gets

    def document(self) -> bytes:
        """Everything for the browser, as JSON; the scene of each column is sent as it was drawn."""
        head = json.dumps(self._head(), ensure_ascii=False).encode()
        columns = []
        for own in self.shown:
            text = json.dumps(for_browser(own, self.shown, self._history()), ensure_ascii=False).encode()
            columns.append(text[:-1] + b', "scene": ' + (own.drawn if own.scene else b"null") + b"}")
        return head[:-1] + b', "columns": [' + b", ".join(columns) + b"]}"

    def _head(self) -> dict[str, Any]:
        scenario = self.version.scenario
        has_several = len({start.snapshot for start in scenario.snapshots}) > 1
        return {
            "session": self.id,
            "title": scenario.headline or scenario.name,
            **self._history(),
            "link": self.link(),
            "most_link": MOST_LINK,
            "algorithms": list(self.algorithms),
            "known": [[name, ALGORITHMS[name].title] for name in ALGORITHMS],
            "most": MOST_AT_ONCE,
            "problem": self.problem and sentence(self.problem),
            "step": self.shared.step,
            "opened": self.opened,
            "formats": offered(of_row=True),
            "figures": figures(self.shown, has_several_snapshots=has_several),
        }

    def _history(self) -> dict[str, Any]:
        """The numbers of versions before and after this one, and the edits in words."""
        return {"undo": self.at, "redo": len(self.versions) - 1 - self.at, "edits": self.version.sentences}

    def link(self) -> str:
        """The query of a link to the scenario on show, without algorithms; empty if it is too long for a link."""
        return link_to(self.shared.edited(self.version.edits))


def first_algorithms(scenario: Scenario) -> Iterable[str]:
    """The scenario's own algorithm, and others beside it."""
    names = (scenario.algorithm, *FIRST_ALGORITHMS)
    return list(dict.fromkeys(names))[:MOST_AT_ONCE]


def _exchanged(names: Sequence[str], before: str, after: str) -> list[str]:
    """`names` with `after` in the place of `before`; if both are there, the two change places."""
    return [after if name == before else before if name == after else name for name in names]


def _check(names: Sequence[str]) -> None:
    check_names(names)
    if len(names) > MOST_AT_ONCE:
        raise InputError(words.too_many_algorithms(len(names), MOST_AT_ONCE))
