"""The lattice of a run in words: the number of cuts, the drawn part, the states of snapshots, a predicate."""

from __future__ import annotations

from typing import Any

from diagrams.panels.lattice.panel import Lattice, Mark
from diagrams.scene.composition import Scene
from diagrams.scene.cut_space import in_words
from sim.core.model import COPIED, CRASH, FENCED, JOIN, LEAVE, LOST, RESTART
from sim.core.notation import SIGNS
from sim.explain.actions import fault_in_words
from sim.explain.words import counted
from sim.theory.lattice import Modality
from sim.theory.positions import Cut

FAULT_WORDS = {
    CRASH: "a crash", RESTART: "a restart", JOIN: "a process that joins", LEAVE: "a process that leaves",
    LOST: "a message lost", FENCED: "a message fenced off", COPIED: "a message copied",
}  # fmt: skip
MOST_LISTED = 4  # snapshots
MOST_NAMED = 6  # processes of a cut


def summary(lattice: Lattice) -> list[str]:
    """The number of consistent cuts, the drawn part, and the number of orders, in sentences."""
    return [_cuts(lattice), f"{_part(lattice)} {_orders(lattice)}".strip()]


def _cuts(lattice: Lattice) -> str:
    cuts, consistent, is_all = lattice.counts
    if consistent is None:
        return f"There are {in_words(cuts)} cuts, too many to count the consistent ones."
    told = f"{in_words(consistent)} of {in_words(cuts)} cuts {'is' if consistent == 1 else 'are'} consistent"
    if lattice.is_whole:
        return f"{told}."
    return f"{told}: too many to draw." if is_all else f"More than {told}: too many to count."


def _part(lattice: Lattice) -> str:
    """The part that is drawn, in a sentence; empty if it is the whole lattice."""
    name = lattice.around
    what = {
        "snapshot": f"from the state in which {name} began to the one in which it ended",
        "recorded": f"nearest to the state that {name} recorded",
        "step": f"nearest to the state of the run after step {lattice.step}",
    }.get(lattice.part)
    return f"You see a part of the lattice: the {in_words(len(lattice.cuts))} cuts {what}." if what else ""


def _orders(lattice: Lattice) -> str:
    orders = lattice.orders
    told = "too many to count" if orders is None else in_words(orders)
    own = lattice.order.lines
    kinds = [kind for kind in FAULT_WORDS if any(at.kind == kind for line in own for at in line)]
    *others, last = ["one event more", *(f"{FAULT_WORDS[kind]} ({SIGNS[kind]})" for kind in kinds)]
    more = f"{', '.join(others)} or {last}" if others else last
    return (
        f"Each dot is a consistent cut, and a line up from it is {more}. Every way from the empty cut to the "
        f"full one is a possible order of the events: there {'is' if orders == 1 else 'are'} {told}. "
        "The wide line is the order of this run."
    )


def snapshots(lattice: Lattice) -> list[str]:
    """A sentence on the recorded state of each snapshot; of many snapshots, of the first MOST_LISTED."""
    names = [snapshot.id for snapshot in lattice.scene.snapshots]
    told = [_snapshot(lattice, name) for name in names[:MOST_LISTED]]
    more = len(names) - MOST_LISTED
    return [*told, f"There are {counted(more, 'more snapshot')}."] if more > 0 else told


def _snapshot(lattice: Lattice, name: str) -> str:
    states = {mark.role: mark.cut for mark in lattice.marks if mark.snapshot == name}
    cut = states.get("recorded")
    if cut is None:
        return f"{name} has no state in the lattice: not every process has recorded."
    recorded = f"{name} recorded {lattice.written(cut)}."
    if not lattice.is_consistent(cut):
        return f"{recorded} This cut is not consistent, so the lattice does not hold it."
    if any(own == cut for _, own in lattice.own):
        return f"{recorded} The run went through this state."
    return f"{recorded} The run was never in this state, but it could have been.{_way(lattice, states)}"


def _way(lattice: Lattice, states: dict[str, Cut]) -> str:
    """The distance of a recorded state from the states in which the snapshot began and ended."""
    if "ends" not in states:
        return ""
    inside = {role: sum(lattice.order.inside(cut)) for role, cut in states.items()}
    before, after = (abs(inside["recorded"] - inside[role]) for role in ("begins", "ends"))
    return (
        f" {counted(before, 'event')} lead{'s' * (before == 1)} to it from the state in which the snapshot began. "
        f"{counted(after, 'event').capitalize()} lead{'s' * (after == 1)} from it to the state in which the snapshot "
        "ended: Dijkstra's S0, SSS and S1."
    )


def predicate(lattice: Lattice) -> dict[str, Any] | None:
    """The answers about a predicate for the browser: `possibly` and `definitely`, each with a sentence.

    `cut` is one at which it holds, `avoiding` a way up on which it never does. `problem` is the reason why an answer is
    missing.
    """
    answers = lattice.answers
    if answers is None:
        return None
    return {
        "possibly": answers.possibly and _possibly(lattice, answers.possibly),
        "definitely": answers.definitely and _definitely(lattice, answers.definitely),
        "problem": answers.problem,
    }


def _possibly(lattice: Lattice, found: Modality) -> dict[str, Any]:
    told = _held(lattice) if found.holds else "It holds at no consistent cut."
    return {"holds": found.holds, "told": told, "cut": found.cut and lattice.events.names.name(found.cut)}


def _definitely(lattice: Lattice, found: Modality) -> dict[str, Any]:
    avoided = "The dashed way goes up and meets no cut at which it holds."
    met = "Every way up meets a cut at which it holds."
    avoiding = [lattice.events.names.name(cut) for cut in found.avoiding]
    return {"holds": found.holds, "told": met if found.holds else avoided, "avoiding": avoiding}


def _held(lattice: Lattice) -> str:
    count, drawn = len(lattice.holding), len(lattice.cuts)
    where = "" if lattice.is_whole else " that are drawn"
    return f"It holds at {in_words(count)} of the {in_words(drawn)} consistent cuts{where} (squares)."


def mark_name(lattice: Lattice, mark: Mark) -> str:
    """The name of a snapshot's state in the drawing."""
    if mark.role == "recorded":
        return mark.snapshot
    return mark.role if len(lattice.scene.snapshots) == 1 else f"{mark.snapshot} {mark.role}"


def cut_in_words(lattice: Lattice, cut: Cut) -> str:
    """The last event of each process inside, and the faults that matter: `P1 up to B, P2 nothing, the crash of P2`."""
    of, frontier = lattice.execution.history.of, lattice.order.inside(cut)
    told = [
        f"{name} up to {of[name][inside - 1].label}" if inside else f"{name} nothing"
        for name, inside in zip(lattice.order.processes[:MOST_NAMED], frontier, strict=False)
    ]
    faults = [fault_name(lattice.scene, line, number) for line, number in lattice.events.names.that_matter(cut)]
    more = ["…"] if max(len(frontier), len(faults)) > MOST_NAMED else []
    return ", ".join([*told, *faults[:MOST_NAMED], *more])


def fault_name(scene: Scene, line: int, number: int) -> str:
    """`the crash of P2`."""
    order = scene.whole_run.cut_space.order
    process = (*order.processes[line : line + 1], "")[0]
    return fault_in_words(scene.execution, order.lines[line][number - 1], process).name
