"""The report of `python -m sim cuts`: the cuts of a run, and whether predicates possibly or definitely hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from sim.core.notation import message_sent
from sim.run.cut_states import states_at_cuts
from sim.run.execution import Execution
from sim.run.predicates import Predicates
from sim.theory.lattice import (
    Modality,
    Predicate,
    TooManyCuts,
    consistent_cuts,
    definitely,
    frontiers,
    linearizations,
    possibly,
)
from sim.theory.positions import Cut, Order

MOST_LISTED = 100  # cuts of a barrier

_QUESTIONS: Mapping[str, Callable[[Order, Predicate], Modality]] = {"possibly": possibly, "definitely": definitely}


def cuts_report(
    execution: Execution, possibly_holds: str | None = None, definitely_holds: str | None = None
) -> dict[str, Any]:
    """The numbers of cuts, of consistent ones and of linearizations (None: too many), and answers about predicates.

    If there are too many consistent cuts, `consistent_more_than` is the number of known ones. An answer has `holds`,
    the `predicate`, and its reason. A predicate that possibly holds has a `witness`: a cut, as the number of
    application events inside by process. The `environment` of the witness holds the losses and copies on their way
    inside it. One that definitely holds has a `barrier`, the cuts that no order avoids, if they are at most
    MOST_LISTED. One that
    does not has the `path` of cuts that avoids it. If there are too many cuts to look at, `holds` is None, and
    `problem` says so. Raises InputError for a wrong predicate.
    """
    order = execution.order
    found: dict[str, Any] = {"frontiers": frontiers(order), "consistent": None, "linearizations": None}
    try:
        found["consistent"] = consistent_cuts(order)
    except TooManyCuts as problem:
        found["consistent_more_than"] = problem.known
    with suppress(TooManyCuts):
        found["linearizations"] = linearizations(order)
    for question, text in zip(_QUESTIONS, (possibly_holds, definitely_holds), strict=True):
        if text is not None:
            found[question] = _answer(execution, question, text)
    return found


def _answer(execution: Execution, question: str, text: str) -> dict[str, Any]:
    order = execution.order
    holds = Predicates(states_at_cuts(execution)).read(text)
    try:
        answer = _QUESTIONS[question](order, holds)
    except TooManyCuts as problem:
        said = f"--{question}: {problem}, too many to look at each; ask about a shorter run"
        return {"holds": None, "predicate": text, "witness": None, "problem": execution.scenario.at(said)}

    def by_process(cut: Cut) -> dict[str, int]:
        return dict(zip(order.processes, order.inside(cut), strict=True))

    found: dict[str, Any] = {"holds": answer.holds, "predicate": text, "witness": answer.cut and by_process(answer.cut)}
    if answer.cut and len(order.lines) > len(order.processes):
        found["environment"] = _environment(execution, answer.cut)
    if 0 < len(answer.barrier) <= MOST_LISTED:
        found["barrier"] = [*map(by_process, answer.barrier)]
    if answer.avoiding:
        found["path"] = [*map(by_process, answer.avoiding)]
    return found


def _environment(execution: Execution, cut: Cut) -> list[dict[str, Any]]:
    """The losses and copies on their way that are inside a cut."""
    return [
        {
            "kind": own.kind,
            "message": own.message,
            "name": message_sent(execution.flights[own.message or 0].send),
        }
        for own in execution.order.environment(cut)
    ]


def cuts_in_words(report: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a report."""
    cuts, consistent, orders = (report[key] for key in ("frontiers", "consistent", "linearizations"))
    known = f"more than {report['consistent_more_than']:,}" if consistent is None else f"{consistent:,}"
    yield f"{cuts:,} cuts, {known} of them consistent"
    yield "too many linearizations to count" if orders is None else f"{orders:,} linearizations"
    for question in _QUESTIONS:
        if question in report:
            yield _in_words(question, report[question])


def _in_words(question: str, answer: Mapping[str, Any]) -> str:
    if "problem" in answer:
        return f"{question} {answer['predicate']}: not known"
    said = f"{question} {answer['predicate']}: {'yes' if answer['holds'] else 'no'}"
    if answer["witness"]:
        happened = [f"{own['name']} is {own['kind']}" for own in answer.get("environment", ())]
        where = f", where {' and '.join(happened)}" if happened else ""
        return f"{said}, at {_cut(answer['witness'])}{where}"
    if answer.get("barrier"):
        return f"{said}, no order avoids {' '.join(map(_cut, answer['barrier']))}"
    if "path" in answer:
        return f"{said}, it never holds along {' '.join(map(_cut, answer['path']))}"
    return said


def _cut(cut: Mapping[str, int]) -> str:
    return f"<{', '.join(f'{process} {inside}' for process, inside in cut.items())}>"
