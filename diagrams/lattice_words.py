"""The lattice of a run in words: how many cuts there are, what is drawn, where snapshots lie, what a predicate does."""

from __future__ import annotations

from typing import Any

from diagrams.lattice import Asked, Lattice, Mark, written
from sim.explain.words import counted
from sim.theory.causality import Clock

MOST_DIGITS = 15  # of a number that is written out
MOST_TOLD = 4  # snapshots
MOST_NAMED = 6  # processes of a cut


def summary(lattice: Lattice) -> list[str]:
    """How many cuts are consistent; what is drawn; how many orders there are."""
    return [_cuts(lattice), f"{_part(lattice)} {_orders(lattice)}".strip()]


def _cuts(lattice: Lattice) -> str:
    cuts, consistent, is_all, _ = lattice.counts
    told = f"{number(consistent)} of {number(cuts)} cuts {'is' if consistent == 1 else 'are'} consistent"
    if lattice.is_whole:
        return f"{told}."
    return f"{told}: too many to draw." if is_all else f"More than {told}: too many to count."


def _part(lattice: Lattice) -> str:
    """Which part is drawn, where it is not the whole lattice."""
    name = lattice.scene.snapshots[0].id if lattice.scene.snapshots else ""
    what = {
        "snapshot": f"from the state in which {name} began to the one in which it ended",
        "recorded": f"nearest to the state that {name} recorded",
        "step": "nearest to the state of the run at this step",
    }.get(lattice.part)
    return f"You see a part of the lattice: the {number(len(lattice.cuts))} cuts {what}." if what else ""


def _orders(lattice: Lattice) -> str:
    orders = lattice.counts.orders
    told = "too many to count" if orders is None else number(orders)
    return (
        "Each dot is a consistent cut, and a line up from it is one event more. Every way from the empty cut to the full "
        f"one is an order in which the events could have happened: there {'is' if orders == 1 else 'are'} {told}. "
        "The wide line is what did happen."
    )


def snapshots(lattice: Lattice) -> list[str]:
    """Where the state lies that each snapshot recorded; of many snapshots the first MOST_TOLD."""
    names = [snapshot.id for snapshot in lattice.scene.snapshots]
    told = [_snapshot(lattice, name) for name in names[:MOST_TOLD]]
    more = len(names) - MOST_TOLD
    return [*told, f"There are {counted(more, 'more snapshot')}."] if more > 0 else told


def _snapshot(lattice: Lattice, name: str) -> str:
    states = {mark.role: mark.cut for mark in lattice.marks if mark.snapshot == name}
    cut = states.get("recorded")
    if cut is None:
        return f"{name} has no state in the lattice: not every process has recorded."
    if not lattice.is_consistent(cut):
        return f"{name} recorded {written(cut)}. This cut is not consistent, so the lattice does not hold it."
    if any(own == cut for _, own in lattice.own):
        return f"{name} recorded {written(cut)}. The run went through this state."
    return f"{name} recorded {written(cut)}. The run was never in this state, but it could have been.{_way(states)}"


def _way(states: dict[str, Clock]) -> str:
    """How far a recorded state is from where the snapshot began and ended."""
    if "ends" not in states:
        return ""
    before, after = (abs(sum(states["recorded"]) - sum(states[role])) for role in ("begins", "ends"))
    return (
        f" {counted(before, 'event')} lead{'s' * (before == 1)} to it from the state in which the snapshot began, and "
        f"{counted(after, 'event')} from it to the one in which it ended: Dijkstra's S0, SSS and S1."
    )


def predicate(lattice: Lattice) -> dict[str, Any] | None:
    """What a predicate does, for the browser: `possibly` and `definitely`, each with its answer, sentence and cut."""
    asked = lattice.asked
    if asked is None or asked.possibly is None or asked.definitely is None:
        return asked and {"text": asked.text, "problem": asked.problem}
    return {
        "text": asked.text,
        "possibly": {"holds": asked.possibly.holds, "told": _possibly(lattice, asked), "cut": asked.possibly.cut},
        "definitely": {
            "holds": asked.definitely.holds,
            "told": _definitely(asked),
            "avoiding": [list(cut) for cut in asked.definitely.avoiding],
        },
    }


def _possibly(lattice: Lattice, asked: Asked) -> str:
    assert asked.possibly
    if asked.possibly.cut is None:
        return f"It holds at none of the {number(lattice.counts.consistent)} consistent cuts."
    held = sum(map(asked.holds, lattice.cuts))
    where = "" if lattice.is_whole else " that are drawn"
    return f"It holds at {number(held)} of the {number(len(lattice.cuts))} consistent cuts{where} (squares)."


def _definitely(asked: Asked) -> str:
    assert asked.definitely
    if asked.definitely.holds:
        return "Every way up meets a cut at which it holds."
    return "The dashed way goes up and meets no cut at which it holds."


def mark_name(lattice: Lattice, mark: Mark) -> str:
    """The name of a snapshot's state in the drawing."""
    if mark.role == "recorded":
        return mark.snapshot
    return mark.role if len(lattice.scene.snapshots) == 1 else f"{mark.snapshot} {mark.role}"


def cut_in_words(lattice: Lattice, cut: Clock) -> str:
    """The last event of each process inside: `P1 up to B, P2 up to H, P3 nothing`."""
    of = lattice.history.of
    told = [
        f"{name} up to {of[name][inside - 1].label}" if inside else f"{name} nothing"
        for name, inside in zip(lattice.history.processes[:MOST_NAMED], cut, strict=False)
    ]
    return ", ".join([*told, "…"] if len(cut) > MOST_NAMED else told)


def number(value: int) -> str:
    """A whole number as people read it: 31, 2,700, about 1.3 × 10^83."""
    digits = len(str(value))
    if digits <= MOST_DIGITS:
        return f"{value:,}"
    return f"about {value // 10 ** (digits - 2) / 10:.1f} × 10^{digits - 1}"
