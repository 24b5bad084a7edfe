"""The state of one browser session on the Compare page: one scenario, its runs under several algorithms, and the edits.

An edit is made in the run of one algorithm and goes to the scenario, and so to all runs. Undo is the scenario before.
Nothing here imports Streamlit, so tests need no browser.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode

from diagrams.export import offered
from diagrams.scene.composition import Scene, compose
from diagrams.scene.elements import Ghost
from diagrams.scene.messages import arrows_as_they_are
from sim.core.algorithm import ALGORITHMS
from sim.core.deadline import OutOfTime
from sim.core.errors import InputError
from sim.core.model import CONTROL, MessageReference
from sim.core.slip import FIFO
from sim.document.scenario import Scenario
from sim.edit.another_algorithm import Remedy
from sim.edit.compared import MOST_AT_ONCE, Compared, carried_over, check_names, checked, under
from sim.edit.edits import Edit, apply_edit, checked_run, is_plan, planned
from sim.edit.link import MOST_LINK, Entry, Shared, query_of
from sim.edit.words import describe_edit, describe_plan
from sim.explain.costs import FIGURES, Measured, measured, read
from sim.explain.differences import differences
from sim.explain.words import capital
from sim.run.costs import without_snapshots
from sim.run.execution import Execution
from sim.run.price import price_of
from views.server.budget import answering, run_of
from views.server.plain_words import sentence
from views.widgets.look import Look, draw, read_look
from views.widgets.outbox import SESSIONS, new_entries

MOST_COMPARED = 5_000  # steps of a run
FIRST_ALGORITHMS = ("chandy_lamport", "lai_yang", "mattern", "stop_the_world")
WITH = "with"  # the key of an edit's entry that names the algorithm in whose run it was made
ALGORITHMS_KEY = "algorithms"  # the key of a link
WISHES = ("scenarios", "open", "explore")
IN_EXPLORE = {  # edits of one run alone
    "manual": "to choose every delivery, open one of the runs in Explore",
    "choose": "to choose every delivery, open one of the runs in Explore",
    "lay_bare": "to look for what lays a broken rule bare, open one of the runs in Explore",
}


class Own(NamedTuple):
    """What belongs to one algorithm alone: its parameters, its slips, and the delays of its control messages."""

    parameters: Mapping[str, Any]
    slips: tuple[str, ...]
    delays: Mapping[MessageReference, float]

    @classmethod
    def of(cls, scenario: Scenario) -> Own:
        """That of a scenario's algorithm. Where channels are not FIFO, that is the scenario's."""
        slips = tuple(name for name in scenario.breaks if name != FIFO)
        delays = {reference: delay for reference, delay in scenario.delays.items() if reference.kind == CONTROL}
        return cls(scenario.algorithm_parameters, slips, delays)


@dataclass(frozen=True, eq=False)
class Version:
    """The scenario that all runs share, and what an edit has said of one algorithm alone.

    `own`: by algorithm that is not the scenario's, what edits in its run have said of it alone. `entry` is the edit
    that led here, with the algorithm in whose run it was made, and `told` says it in words.
    """

    scenario: Scenario
    own: Mapping[str, Own] = field(default_factory=dict)
    entry: Entry | None = None
    told: str = ""
    before: Version | None = field(default=None, repr=False)

    def under(self, algorithm: str) -> Scenario:
        """The scenario under an algorithm."""
        found = under(self.scenario, algorithm)
        if algorithm not in self.own:
            return found
        own = self.own[algorithm]
        slips, delays = (*found.breaks, *own.slips), {**found.delays, **own.delays}
        return replace(found, algorithm_parameters=own.parameters, breaks=slips, delays=delays)

    def edited(self, edit: Edit, now: float) -> Version:
        """The version after an edit. Raises InputError if it is refused."""
        algorithm = edit.get(WITH, self.scenario.algorithm)
        check_names([algorithm])
        plain = {key: value for key, value in edit.items() if key != WITH}
        if plain["do"] in IN_EXPLORE:
            raise InputError(IN_EXPLORE[plain["do"]])
        before = self.under(algorithm)
        try:
            execution = checked_run(before, _run)
        except InputError:  # the algorithm is refused: the edit may be what helps
            after, told = planned(before, plain, now), describe_plan(before, plain) if is_plan(plain) else ""
        else:
            after, told = apply_edit(execution, plain, now, _run).scenario, describe_edit(execution, plain)
        own = dict(self.own)
        if algorithm != self.scenario.algorithm:
            own[algorithm] = Own.of(after)
        return Version(carried_over(self.scenario, before, after), own, (edit, now), told, self)

    @property
    def line(self) -> list[Version]:
        """The versions that were edited one after the other, up to this one."""
        line, version = [self], self.before
        while version is not None:
            line.append(version)
            version = version.before
        return line[::-1]


@dataclass(eq=False)
class Column:
    """One algorithm on show: its run, and what the browser has of it.

    `ack` is the number of the last entry taken from its part of the browser, `notice` what the user is told there.
    """

    id: str
    compared: Compared
    look: Look = field(default_factory=Look)
    original: Mapping[MessageReference, Ghost] = field(default_factory=dict)
    scene: Scene | None = None
    drawn: bytes = b"null"
    revision: int = 1
    ack: int = 0
    notice: dict[str, Any] | None = None
    costs: Measured | None = None


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
        """The first scene of the row. Raises InputError where every algorithm is refused."""
        for own in self.shown:
            if own.scene is not None:
                return own.scene
        raise InputError("no algorithm on show can run this scenario; choose another one")

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
                    own.notice = _notice(own.ack, "error", str(problem))

    def _take(self, column: Column, entry: Mapping[str, Any]) -> None:
        """Apply one entry of a column; what is refused is told there."""
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
            column.notice = _notice(column.ack, "error", str(problem))

    def _columns(
        self, names: Sequence[str], versions: Sequence[Version], before: Mapping[str, Column], *, keep: bool = False
    ) -> dict[str, Column]:
        """The columns of the last of `versions`; `keep`: those there are already are as they were."""
        found: dict[str, Column] = {}
        for name in names:
            old = before.get(name)
            if keep and old is not None:
                old.revision += 1  # its time axis goes with those beside it
                found[name] = old
                continue
            own = checked(versions[-1].scenario, name, partial(_run_under, versions[-1], name), _run)
            column = Column(f"{self.id}-{name}", own)
            column.ack, column.revision = self._numbers(name)
            if old is not None:
                column.look, column.original, column.notice = old.look, old.original, old.notice
            if own.execution is not None:
                self._draw(column, own.execution, versions)
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

    def _draw(self, column: Column, execution: Execution, versions: Sequence[Version]) -> None:
        if len(versions) == 1:
            column.original = {}
        elif not column.original:
            column.original = _first_arrows(versions[0], column.compared.algorithm)
        column.scene = compose(execution, column.original)
        column.drawn = draw(column.scene, column.look)
        column.costs = measured(execution, _without_snapshots(execution))
        remedy = column.compared.remedy
        if remedy is not None and column.notice is None:
            column.notice = _notice(column.ack, "info", remedy.why, remedy)

    # ------------------------------------------------------------------ what the browser gets

    def document(self) -> bytes:
        """Everything for the browser, as JSON; the scene of each column is sent as it was drawn."""
        head = json.dumps(self._told(), ensure_ascii=False).encode()
        columns = []
        for own in self.shown:
            told = json.dumps(self._column(own), ensure_ascii=False).encode()
            columns.append(told[:-1] + b', "scene": ' + (own.drawn if own.scene else b"null") + b"}")
        return head[:-1] + b', "columns": [' + b", ".join(columns) + b"]}"

    def _told(self) -> dict[str, Any]:
        scenario = self.version.scenario
        return {
            "session": self.id,
            "title": scenario.headline or scenario.name,
            "undo": self.at,
            "redo": len(self.versions) - 1 - self.at,
            "edits": [version.told for version in self.version.line if version.entry is not None],
            "link": self.link(),
            "most_link": MOST_LINK,
            "algorithms": list(self.algorithms),
            "known": [[name, ALGORITHMS[name].title] for name in ALGORITHMS],
            "most": MOST_AT_ONCE,
            "problem": self.problem and sentence(self.problem),
            "step": self.shared.step,
            "opened": self.opened,
            "formats": offered(of_row=True),
            "figures": self._figures(),
        }

    def _column(self, own: Column) -> dict[str, Any]:
        """What a column's explorer gets (as ExploreSession.data), and what stands above and below it."""
        return {
            "algorithm": own.compared.algorithm,
            "name": own.compared.title,
            "refused": own.compared.refused and sentence(own.compared.refused),
            "remedy": own.compared.remedy and own.compared.remedy._asdict(),
            **self._differences(own),
            "times": own.compared.execution.times if own.compared.execution else [],
            "revision": own.revision,
            "session": own.id,
            "chosen": True,
            "ack": own.ack,
            "unfinished": 0,
            "notice": own.notice,
            "pointer": None,
            "undo": self.at,
            "redo": len(self.versions) - 1 - self.at,
            "edits": [version.told for version in self.version.line if version.entry is not None],
            "link": "",
            "round": None,
            "most_link": MOST_LINK,
            "step": 0,
            "shown": {},
            "formats": [],
        }

    def _differences(self, own: Column) -> dict[str, Any]:
        """How a column differs from the first one that runs: the messages by their ids, and sentences."""
        first = next((column for column in self.shown if column.scene is not None), own)
        execution, other = own.compared.execution, first.compared.execution
        if own is first or execution is None or other is None:
            return {"marked": [], "differs": [], "is_first": own is first}
        found = differences(execution, other, first.compared.title)
        return {"marked": found.messages, "differs": [sentence(capital(text)) for text in found.sentences]} | {
            "is_first": False
        }

    def _figures(self) -> list[dict[str, Any]]:
        """The rows of the table of figures: what each is, and by column its value, read, and whether it differs."""
        first = next((own.costs for own in self.shown if own.costs is not None), None)
        found = [self._statuses()]
        for figure in FIGURES:
            cells = []
            for own in self.shown:
                if own.costs is None or first is None:
                    cells.append({"text": "", "more": "", "differs": False})
                else:
                    differs = figure.of(own.costs) != figure.of(first)
                    cells.append({"text": read(figure, own.costs), "more": figure.more(own.costs), "differs": differs})
            found.append({
                "title": figure.title, "sentence": figure.sentence, "unit": figure.unit, "is_flinks": figure.is_flinks,
                "cells": cells,
            })  # fmt: skip
        return found

    def _statuses(self) -> dict[str, Any]:
        """The first row of the table: whether the snapshots are complete."""
        found = [own.costs.costs.status if own.costs else "refused" for own in self.shown]
        first = next((status for status in found if status != "refused"), "")
        cells = [{"text": status, "more": "", "differs": status not in (first, "refused")} for status in found]
        several = len({start.snapshot for start in self.version.scenario.snapshots}) > 1
        said = "Of several snapshots the times are the longest, and all else is added up." if several else ""
        told = f"Whether the snapshot is complete at the end of the run. {said}".strip()
        return {"title": "Status", "sentence": told, "unit": "", "is_flinks": False, "cells": cells}

    def link(self) -> str:
        """The query of a link to what is on show, without step and algorithms; empty where it is too long for one."""
        entries = [version.entry for version in self.version.line if version.entry is not None]
        try:
            return urlencode(query_of(replace(self.shared.edited(entries), step=0, shown={})))
        except InputError:
            return ""


def first_algorithms(scenario: Scenario) -> Iterable[str]:
    """The scenario's own algorithm, and others beside it."""
    names = (scenario.algorithm, *FIRST_ALGORITHMS)
    return list(dict.fromkeys(names))[:MOST_AT_ONCE]


def _exchanged(names: Sequence[str], before: str, after: str) -> list[str]:
    """`names` with another one in the place of one; if that is there as well, the two change places."""
    return [after if name == before else before if name == after else name for name in names]


def _check(names: Sequence[str]) -> None:
    check_names(names)
    if len(names) > MOST_AT_ONCE:
        raise InputError(f"{len(names)} algorithms are too many for one page; it shows up to {MOST_AT_ONCE} at once")


def _run(scenario: Scenario) -> Execution:
    """The run of a valid scenario. Raises InputError where it is too big for several of its kind."""
    price_of(scenario).refuse_beyond(MOST_COMPARED, "the page Compare")
    return run_of(scenario)


def _run_under(version: Version, algorithm: str) -> Execution:
    return checked_run(version.under(algorithm), _run)


def _without_snapshots(execution: Execution) -> Execution | None:
    """The same run without snapshots, if there is one."""
    without = without_snapshots(execution.scenario)
    try:
        return None if without is None else _run(without)
    except InputError:
        return None


def _first_arrows(version: Version, algorithm: str) -> Mapping[MessageReference, Ghost]:
    """Where the arrows of an algorithm were before any edit; none where it was refused."""
    try:
        return arrows_as_they_are(_run_under(version, algorithm))
    except InputError:
        return {}


def _notice(seq: int, level: str, text: str, remedy: Remedy | None = None) -> dict[str, Any]:
    return {"seq": seq, "level": level, "text": sentence(text), "remedy": remedy and remedy._asdict()}
