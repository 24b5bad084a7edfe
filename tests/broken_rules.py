"""The table of broken rules in docs/broken-rules.md, made of what the checks, Dijkstra's page and the explorer find.

python -m tests.broken_rules            print the page
python -m tests.broken_rules --write    write it (`make broken`)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

from sim.core.broken_rule import BROKEN_RULES, BrokenRule
from sim.core.topology import Topology
from sim.document import library
from sim.document.scenario import Initiation, Scenario
from sim.edit.counterexample import harm, smallest_counterexample
from sim.edit.edits import apply_edit
from sim.edit.words import describe_edit
from sim.explain.words import words_of
from sim.explore.report import changed, complete_graph, exploration
from sim.run.execution import Execution, run
from sim.verify.checks import CHECKS
from sim.verify.harm import harms
from tests.tools import ROOT

PAGE = ROOT / "docs" / "broken-rules.md"
INTRODUCTION = """# Which broken rule is caught by which check

Each rule of a snapshot algorithm can be broken on purpose: in the tab *Break it* of the Explore page, or with `breaks`
in a scenario. This table says which check notices. `make broken` makes it, and a test compares it with the code.

- **Shown by** is a bundled scenario, with the smallest edit that shows the effect of the broken rule. Without an edit
  the effect shows at once.
- **Fail** lists the checks of `sim/verify/checks.py` that do not hold then.
- **Dijkstra's page** is the tab *Proof*: the message that forbids the swaps. If it says "no", the cut is consistent, or
  there is no cut: then only the channels are wrong.
- **Explorer** is `python -m sim explore`. Of a few systems it names the smallest one in which some run fails a
  check. It names the check, and the fewest actions after which it fails. It checks what snapshots record, not the
  number of markers.

"""
HEAD = ("Broken rule", "`breaks`", "Shown by", "Fail", "Dijkstra's page", "Explorer")
NOT_FOUND = "no"
MOST_STATES = 50_000


def _system(count: int, sends: int, snapshots: int = 1) -> Scenario:
    """The complete graph of the explorer; P1 starts so many snapshots."""
    starts = tuple(Initiation(f"S{number + 1}", "P1") for number in range(snapshots))
    return replace(complete_graph(count, sends), snapshots=starts)


SYSTEMS = {  # smallest first
    "2 processes, no message": _system(2, 0),
    "2 processes, a message each": _system(2, 1),
    "2 processes, no message, 2 snapshots": _system(2, 0, 2),
    "ring of 3 processes, no message": replace(_system(3, 0), topology=Topology("ring")),
    "2 processes, a message each, 2 snapshots": _system(2, 1, 2),
    "two_banks, in any order": library.load("two_banks"),
}


def shown(rule: type[BrokenRule]) -> tuple[str, Execution]:
    """The scenario and the edit that show the effect of a broken rule, in words, and the run."""
    opened = apply_edit(run(library.load(rule.shown_by)), {"do": "break", "rule": rule.name}, 0.0)
    if harm(opened):
        return f"`{rule.shown_by}`", opened
    found = smallest_counterexample(opened)
    assert found is not None, rule.name
    return f"`{rule.shown_by}`: {describe_edit(opened, found.edit)}", found.execution


def failing(execution: Execution) -> list[str]:
    """The checks that do not hold in a run."""
    found = {own.verdict.check for own in harms(execution)}
    return [check for check in CHECKS if check in found]


def forbidden(execution: Execution) -> str:
    """The message that forbids the swaps of Dijkstra's argument, in words; "no": none does."""
    message = next((own.message for own in harms(execution) if own.verdict.check == "consistency"), None)
    if message is None:
        return NOT_FOUND
    flight = execution.flights[message]
    return f"{words_of(execution).message(flight)} on {words_of(execution).channel(flight.channel.name)}"


def explored(rule: type[BrokenRule]) -> str:
    """The explorer's result in words ("no": it finds nothing in any of SYSTEMS)."""
    for name, scenario in SYSTEMS.items():
        done = exploration(changed(scenario, rule.name, not_fifo=False), own_order=True, most_states=MOST_STATES)
        if done.runs:
            check, steps = done.shortest()[0]
            return f"{name}: {check} after {steps} action{'' if steps == 1 else 's'}"
    return NOT_FOUND


def row(rule: type[BrokenRule]) -> tuple[str, ...]:
    """The cells of a broken rule, in the order of HEAD."""
    told, execution = shown(rule)
    return (
        rule.switch, f"`{rule.name}`", told, ", ".join(failing(execution)) or NOT_FOUND, forbidden(execution),
        explored(rule),
    )  # fmt: skip


def page() -> str:
    """The complete page."""
    return INTRODUCTION + "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield line(HEAD)
    yield "|---" * len(HEAD) + "|"
    for rule in sorted((BROKEN_RULES[name] for name in BROKEN_RULES), key=lambda rule: rule.order):
        yield line(row(rule))


def line(cells: tuple[str, ...]) -> str:
    """A row of the table."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells) + " |"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")
