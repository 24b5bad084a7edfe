"""The state of the form of the page Every run, also as an address and as a command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from sim.core.algorithm import ALGORITHMS
from sim.core.broken_rule import BROKEN_RULES
from sim.core.errors import InputError
from sim.document.scenario import Scenario
from sim.edit.link import MOST_LINK, Shared, query_of, read_query
from sim.explore.report import FEWEST, changed, complete_graph
from sim.explore.world import MayHappen
from views.every_run import words
from views.explore.versions import Version, edited
from views.server.budget import allow, answering, run_of

SMALL = 25_000  # states that are explored at once when a user follows a link
BOUNDS = (SMALL, 250_000, 2_500_000)  # states that the page offers to explore
MOST_PROCESSES, MOST_SENDS = 4, 3  # of a complete graph
MOST_CRASHES = MOST_LOSSES = MOST_FREEZES = 2  # in a run
LARGEST = 12  # processes of a scenario
RUN = frozenset(("scenario", "run"))
KEYS = RUN | {
    "edits", "complete", "sends", "rule", "fifo", "order", "crashes", "restarts", "losses", "freezes", "states",
}  # fmt: skip


@dataclass(frozen=True)
class FormState:
    """The system to explore, its rule, and its faults.

    shared: a run, as a link carries it; None: a complete graph of `processes`, each of which may send `sends` messages.
    rule: an algorithm or a broken rule (empty: the scenario's own). fifo: False makes no channel FIFO. own_order: only
    each process's own lines of the script keep their order. crashes: the most in a run, of any process at any moment.
    restarts: a crashed process may start again. losses: the most messages and markers that are lost in transit in a
    run. freezes: the most times that a process is frozen in a run, and thawed later. most_states: the bound on states.
    """

    shared: Shared | None = None
    processes: int = 2
    sends: int = 1
    rule: str = ""
    fifo: bool = True
    own_order: bool = False
    crashes: int = 0
    restarts: bool = False
    losses: int = 0
    freezes: int = 0
    most_states: int = SMALL

    @classmethod
    def read(cls, params: Mapping[str, str]) -> FormState:
        """The state in an address. Raises InputError."""
        if ("complete" in params) == bool(RUN & set(params)):
            raise InputError(words.EITHER_OR)
        state = cls(
            rule=_rule(params), fifo=not _says(params, "fifo", "no"), own_order=_says(params, "order", "own"),
            crashes=_number(params, "crashes", 0, MOST_CRASHES, 0), restarts=_says(params, "restarts", "yes"),
            losses=_number(params, "losses", 0, MOST_LOSSES, 0),
            freezes=_number(params, "freezes", 0, MOST_FREEZES, 0),
            most_states=_number(params, "states", 1, BOUNDS[-1], SMALL),
        )  # fmt: skip
        if "complete" not in params:
            return replace(state, shared=replace(read_query(params), step=0, shown={}))
        processes = _number(params, "complete", FEWEST, MOST_PROCESSES)
        sends = _number(params, "sends", 0, MOST_SENDS, 1)
        return replace(state, processes=processes, sends=sends)

    def query(self) -> dict[str, str]:
        """The query of an address that asks for this; empty if it is longer than MOST_LINK."""
        graph = {"complete": str(self.processes), "sends": str(self.sends)}
        try:
            query = graph if self.shared is None else query_of(self.shared)
        except InputError:  # too big for any link
            return {}
        said = {
            "rule": self.rule, "fifo": "" if self.fifo else "no", "order": "own" if self.own_order else "",
            "crashes": str(self.crashes or ""), "restarts": "yes" if self.restarts else "",
            "losses": str(self.losses or ""), "freezes": str(self.freezes or ""),
            "states": "" if self.most_states == SMALL else str(self.most_states),
        }  # fmt: skip
        query |= {key: value for key, value in said.items() if value}
        return query if len(urlencode(query)) <= MOST_LINK else {}

    def base(self) -> Scenario:
        """The scenario before the rule and the channels are replaced. Raises InputError."""
        if self.shared is None:
            return complete_graph(self.processes, self.sends)
        scenario = self.shared.base()
        if self.shared.edits:
            versions, _ = edited([Version(scenario)], run_of(scenario), self.shared.edits)
            scenario = versions[-1].scenario
        return scenario

    def scenario(self, is_wanted: Callable[[], bool] = lambda: True) -> Scenario:
        """The scenario to explore. Raises InputError, and OutOfTime once it is no longer wanted."""
        with answering(is_wanted):
            base = self.base()
            if len(base.processes) > LARGEST:
                raise InputError(words.too_many_processes(len(base.processes), LARGEST))
            allow(base)
            return changed(base, self.rule or None, not_fifo=not self.fifo)

    def command(self, scenario: Scenario) -> str:
        """The command line that explores the same, as far as memory goes."""
        what = [f"{scenario.name}.toml"]
        if self.shared is None:
            what = ["--complete", str(self.processes), "--sends", str(self.sends)]
        elif self.is_bundled:
            what = [str(self.shared.scenario)]
        rule = ["--algorithm", self.rule] if self.rule else []
        flags = [*([] if self.fifo else ["--not-fifo"]), *(["--own-order"] if self.own_order else [])]
        crashes = ["--crashes", str(self.crashes)] if self.crashes else []
        again = ["--restarts"] if self.restarts else []
        losses = ["--losses", str(self.losses)] if self.losses else []
        freezes = ["--freezes", str(self.freezes)] if self.freezes else []
        faults = [*crashes, *again, *losses, *freezes]
        return shlex.join(["python", "-m", "sim", "explore", *what, *rule, *flags, *faults])

    @property
    def may(self) -> MayHappen:
        """The faults that may happen at any moment."""
        return MayHappen(self.crashes, self.restarts, self.losses, self.freezes)

    @property
    def is_bundled(self) -> bool:
        """Whether it is a bundled scenario as it is."""
        return self.shared is not None and self.shared.toml is None and not self.shared.edits


def _number(params: Mapping[str, str], key: str, least: int, most: int, first: int | None = None) -> int:
    """A number in an address; `first` if there is none. Raises InputError."""
    text = params.get(key, str(first))
    if not text.isascii() or not text.isdecimal() or len(text) > len(str(most)) or not least <= int(text) <= most:
        raise InputError(words.whole_number(key, least, most, text[:20]))
    return int(text)


def _says(params: Mapping[str, str], key: str, word: str) -> bool:
    """Whether an address says this word for a key that means nothing else. Raises InputError."""
    text = params.get(key, "")
    if text not in ("", word):
        raise InputError(words.expected(key, word, text[:20]))
    return text == word


def _rule(params: Mapping[str, str]) -> str:
    """The rule in an address. Raises InputError."""
    rule = params.get("rule", "")
    if rule and rule not in ALGORITHMS and rule not in BROKEN_RULES:
        raise InputError(words.no_rule(rule[:20]))
    return rule
