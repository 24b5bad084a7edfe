"""The columns of the page Compare: an algorithm each, with its run, its drawing and its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diagrams.scene.composition import Scene, compose
from diagrams.scene.elements import Ghost
from diagrams.scene.messages import arrows_as_they_are
from sim.core.errors import InputError
from sim.core.model import MessageReference
from sim.edit.another_algorithm import Remedy
from sim.edit.compared import Compared
from sim.edit.link import MOST_LINK
from sim.explain.costs import FIGURES, Measured, measured, read
from sim.explain.differences import differences
from sim.explain.words import capital
from sim.run.costs import without_snapshots
from sim.run.execution import Execution
from views.compare import words
from views.compare.versions import Version, run_compared
from views.server.plain_words import sentence
from views.widgets.look import Look, draw
from views.widgets.outbox import notice


@dataclass(eq=False)
class Column:
    """One algorithm on show: its run, and what the browser has of it.

    `ack` is the number of the last entry taken from its part of the browser, `notice` the notice for the user there.
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

    def show(self, execution: Execution, versions: Sequence[Version]) -> None:
        """Draw and measure a run. Raises InputError if it cannot be drawn."""
        if len(versions) == 1:
            self.original = {}
        elif not self.original:
            self.original = _first_arrows(versions[0], self.compared.algorithm)
        self.scene = compose(execution, self.original)
        self.drawn = draw(self.scene, self.look)
        self.costs = measured(execution, _without_snapshots(execution))
        remedy = self.compared.remedy
        if remedy is not None and self.notice is None:
            self.tell("info", remedy.why, remedy)

    def tell(self, level: str, text: str, remedy: Remedy | None = None) -> None:
        """Set the notice: "error" or "info", a text, and what helps, if anything does."""
        self.notice = notice(self.ack, level, sentence(text), remedy)


def for_browser(own: Column, shown: Sequence[Column], history: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a column's explorer (as ExploreSession.data), and the texts above and below it.

    `shown`: all columns, in their order. `history`: the edits that all columns share.
    """
    return {
        "algorithm": own.compared.algorithm,
        "name": own.compared.title,
        "refused": own.compared.refused and sentence(own.compared.refused),
        "remedy": own.compared.remedy and own.compared.remedy._asdict(),
        **_differences(own, shown),
        "times": own.compared.execution.times if own.compared.execution else [],
        "revision": own.revision,
        "session": own.id,
        "chosen": True,
        "ack": own.ack,
        "unfinished": 0,
        "notice": own.notice,
        "pointer": None,
        **history,
        "link": "",
        "round": None,
        "most_link": MOST_LINK,
        "step": 0,
        "shown": {},
        "formats": [],
    }


def _differences(own: Column, shown: Sequence[Column]) -> dict[str, Any]:
    """The differences of a column from the first one that runs: the messages by their ids, and sentences."""
    first = next((column for column in shown if column.scene is not None), own)
    execution, other = own.compared.execution, first.compared.execution
    if own is first or execution is None or other is None:
        return {"marked": [], "differs": [], "is_first": own is first}
    found = differences(execution, other, first.compared.title)
    sentences = [sentence(capital(text)) for text in found.sentences]
    return {"marked": found.messages, "differs": sentences, "is_first": False}


def figures(shown: Sequence[Column], *, has_several_snapshots: bool) -> list[dict[str, Any]]:
    """The rows of the table of figures: a title and a help each, and by column a value and whether it differs."""
    first = next((own.costs for own in shown if own.costs is not None), None)
    found = [_statuses(shown, has_several_snapshots)]
    for figure in FIGURES:
        cells = []
        for own in shown:
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


def _statuses(shown: Sequence[Column], has_several_snapshots: bool) -> dict[str, Any]:
    """The first row of the table: whether the snapshots are complete."""
    found = [own.costs.costs.status if own.costs else words.REFUSED for own in shown]
    first = next((status for status in found if status != words.REFUSED), "")
    cells = [{"text": status, "more": "", "differs": status not in (first, words.REFUSED)} for status in found]
    help = f"{words.STATUS_HELP} {words.OF_SEVERAL_SNAPSHOTS}" if has_several_snapshots else words.STATUS_HELP
    return {"title": words.STATUS, "sentence": help, "unit": "", "is_flinks": False, "cells": cells}


def _without_snapshots(execution: Execution) -> Execution | None:
    """The same run without snapshots, if there is one."""
    without = without_snapshots(execution.scenario)
    try:
        return None if without is None else run_compared(without)
    except InputError:
        return None


def _first_arrows(version: Version, algorithm: str) -> Mapping[MessageReference, Ghost]:
    """The arrows of an algorithm before any edit; none if it was refused."""
    try:
        return arrows_as_they_are(version.run_under(algorithm))
    except InputError:
        return {}
