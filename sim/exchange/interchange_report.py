"""The report of `python -m sim interchange`: Dijkstra's argument, carried out on one snapshot of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sim.core.errors import InputError
from sim.core.notation import message_sent
from sim.explain.actions import action_in_words, why_first
from sim.explain.words import counted
from sim.run.execution import Execution
from sim.run.rearranged import ColouredRun, coloured_run
from sim.run.snapshots import COMPLETE
from sim.theory.interchange import ColouredAction, TooManySwaps, forbidden, interchanges, inversions, rearranged
from sim.theory.positions import ACTS

MOST_TOLD = 40  # actions of a row in words


def interchange_report(execution: Execution, snapshot: str | None = None) -> dict[str, Any]:
    """The inversions of a snapshot, the interchanges carried out, and whether the run then meets its state.

    That state is the one at the snapshot's cut, after the white actions. `row` has the actions after the interchanges,
    each with its name, its colour, its step and a sentence (`told`). `ends` is the last step of that run, if a later
    recovery undoes events inside the cut (else the key is missing). `forbidden_by` is the first message that keeps a
    red action before a white one, with the steps of the two; `why` says it in words (None: there is none). Raises
    InputError if there is no such snapshot, or it has no cut.
    """
    own = coloured_run(execution, snapshot)
    execution = own.execution
    try:
        places = list(interchanges(own.row))
    except TooManySwaps as problem:
        raise InputError(execution.scenario.at(f"{own.snapshot.id}: {problem}; take a shorter run")) from None
    end = rearranged(own.row, places)
    against = next(iter(forbidden(own.row)), None)
    return {
        "snapshot": own.snapshot.id,
        **({} if own.ends is None else {"ends": own.ends}),
        "inversions": inversions(own.row),
        "swaps": len(places),
        "passes_through_snapshot": not inversions(end) and _is_met(own),
        "forbidden_by": against
        and {
            "message": message_sent(execution.flights[against.message].send),
            "sent": against.red.step,
            "accepted": against.white.step,
        },
        "why": against and why_first(execution, against.red, against.white),
        "row": [_action(execution, action) for action in end],
    }


def _action(execution: Execution, action: ColouredAction) -> dict[str, Any]:
    label, _, sentence = action_in_words(execution, action)
    colour = "red" if action.is_red else "white"
    return {"name": label, "colour": colour, "step": action.step, "told": sentence, "is_fault": action.kind != ACTS}


def _is_met(own: ColouredRun) -> bool:
    """Whether the state is the recorded one; for a snapshot that is not complete, as far as it is recorded."""
    if own.snapshot.status == COMPLETE:
        return own.met == own.recorded
    return all(own.is_equal(name) is not False for name in (*own.recorded.processes, *own.channels))


def interchange_in_words(report: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a report."""
    done = counted(report["swaps"], "interchange")
    yield f"{report['snapshot']}: {counted(report['inversions'], 'inversion')}, {done} carried out"
    if "ends" in report:
        yield f"up to step {report['ends']}, at which it is complete; a later recovery undoes events of its cut"
    if len(report["row"]) <= MOST_TOLD:
        yield f"then (red actions in brackets): {_row_in_words(report['row'])}"
    against = report["forbidden_by"]
    if against is not None:
        yield (
            f"{against['message']} forbids the rest: {report['why']}, but the first action is red (step "
            f"{against['sent']}) and the second one white (step {against['accepted']})"
        )
    elif report["passes_through_snapshot"]:
        yield "between the last white and the first red action the system is in the very state that was recorded"
    else:
        yield "no state of the rearranged run is the recorded one: the recorded channel states are wrong"
    for action in report["row"]:
        if action["is_fault"]:
            yield f"{action['name']}: {action['told']}"


def _row_in_words(row: list[dict[str, Any]]) -> str:
    return " ".join(f"[{own['name']}]" if own["colour"] == "red" else own["name"] for own in row)
