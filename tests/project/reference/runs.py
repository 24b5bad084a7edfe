"""The pages on what a run consists of: rows, actions and faults; and on the checks of its snapshots."""

from __future__ import annotations

import inspect
import re

from sim.core import model
from sim.core.algorithm import ALGORITHMS
from sim.core.fault_kinds import FAULT_KINDS
from sim.explain.event_kinds import COLUMNS_IN_WORDS, KINDS_IN_WORDS
from sim.verify import checks
from tests.project.reference.markdown import code, first, page, table

_CHECK = re.compile(r'^    "(\w+)"[,:]\s+(?:#\s*|")(.+?)"?,?$', re.MULTILINE)


def events_and_actions() -> str:
    """The page on the event table, the actions and the faults."""
    kinds = ((code(kind), KINDS_IN_WORDS[kind]) for kind in model.KINDS)
    columns = ((code(name), kind, COLUMNS_IN_WORDS[name]) for name, kind in model.EVENT_TYPES.items())
    actions = ((code(own.__name__), first(own.__doc__)) for own in model.Action.__args__)  # type: ignore[attr-defined]
    faults = ((code(name), own.about, own.noun, own.advice or "any time") for name, own in FAULT_KINDS.items())
    return page(
        "Rows, columns, actions and faults",
        "## Kinds of rows", table(("kind", "meaning"), kinds),
        "## Columns of the event table", table(("column", "type", "meaning"), columns),
        "## Actions", table(("action", "meaning"), actions),
        "## Faults of a scenario", table(("kind", "is about", "name", "allowed"), faults),
    )  # fmt: skip


def checks_page() -> str:
    """The page on the checks of a snapshot."""
    meanings = dict(_CHECK.findall(inspect.getsource(checks)))
    rows = ((code(name), meanings[name], _algorithms_with(name)) for name in checks.CHECKS)
    return page(
        "Checks",
        "A verdict holds, does not hold, or is undecided. An algorithm declares the checks that apply to it.",
        table(("check", "it holds if", "algorithms"), rows),
    )


def _algorithms_with(check: str) -> str:
    names = [code(name) for name in ALGORITHMS if check in ALGORITHMS[name].checks]
    return ", ".join(names) or "any algorithm with a coordinator"
