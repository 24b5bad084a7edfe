"""What `python -m sim interchange` tells of a run: Dijkstra's argument, carried out on one of its snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sim.core.errors import InputError
from sim.core.notation import message_sent
from sim.explain.words import counted
from sim.run.as_of import as_of
from sim.run.execution import Execution
from sim.run.rearranged import chosen_snapshot, cut_of, recorded_state, state_at
from sim.theory.interchange import TooManySwaps, coloured_actions, forbidden, interchanges, inversions, rearranged


def interchange_report(execution: Execution, snapshot: str | None = None) -> dict[str, Any]:
    """The inversions of a snapshot, the interchanges carried out, and whether the run then meets its state.

    That state is the one at the snapshot's cut, after the white actions. `forbidden_by` is the
    first red message that is accepted in a white action, with the steps in which it was sent and accepted (None: there
    is none). Raises InputError where there is no such snapshot, or it has no cut.
    """
    chosen = chosen_snapshot(execution, snapshot)
    history = execution.history
    row = coloured_actions(history, cut_of(execution, chosen))
    try:
        places = list(interchanges(row))
    except TooManySwaps as problem:
        raise InputError(execution.scenario.at(f"{chosen.id}: {problem}; take a shorter run")) from None
    end = rearranged(row, places)
    against = next(iter(forbidden(row)), None)
    cut = as_of(execution, chosen).cut_in(execution.order)
    is_met = not inversions(end) and execution.order.is_consistent(cut)
    is_met = is_met and state_at(execution, chosen) == recorded_state(execution, chosen)
    return {
        "snapshot": chosen.id,
        "inversions": inversions(row),
        "swaps": len(places),
        "passes_through_snapshot": is_met,
        "forbidden_by": against
        and {
            "message": message_sent(history.sends[against.message]),
            "sent": against.sent,
            "accepted": against.accepted,
        },
    }


def interchange_in_words(report: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a report."""
    done = counted(report["swaps"], "interchange")
    yield f"{report['snapshot']}: {counted(report['inversions'], 'inversion')}, {done} carried out"
    against = report["forbidden_by"]
    if against is not None:
        yield (
            f"{against['message']} forbids the rest: it is sent in a red action (step {against['sent']}), and accepted "
            f"in a white one (step {against['accepted']})"
        )
    elif report["passes_through_snapshot"]:
        yield "between the last white and the first red action the system is in the very state that was recorded"
    else:
        yield (
            "no state of the rearranged run is the recorded one: what was recorded in the channels is wrong, or a "
            "message that was lost on arrival inside was sent outside"
        )
