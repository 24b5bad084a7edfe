"""What `python -m sim cuts` tells of a run: its cuts, and whether predicates possibly or definitely hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sim.core.errors import InputError
from sim.run.execution import Execution
from sim.run.predicates import Predicates
from sim.theory.causality import Clock, History
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

_QUESTIONS: Mapping[str, Callable[[History, Predicate], Modality]] = {"possibly": possibly, "definitely": definitely}


def cuts_report(
    execution: Execution, possibly_holds: str | None = None, definitely_holds: str | None = None
) -> dict[str, Any]:
    """The numbers of cuts, of consistent ones and of linearizations (None: too many), and answers about predicates.

    An answer has `holds`, the `predicate`, a `witness` (a cut, by process; None: there is none) and, where a predicate
    does not definitely hold, the `path` of cuts that avoids it. Raises InputError.
    """
    history = execution.history
    found: dict[str, Any] = {
        "frontiers": frontiers(history),
        "consistent": _or_none(consistent_cuts, history),
        "linearizations": _or_none(linearizations, history),
    }
    for question, text in zip(_QUESTIONS, (possibly_holds, definitely_holds), strict=True):
        if text is not None:
            found[question] = _answer(execution, question, text)
    return found


def _or_none(count: Callable[[History], int], history: History) -> int | None:
    try:
        return count(history)
    except TooManyCuts:
        return None


def _answer(execution: Execution, question: str, text: str) -> dict[str, Any]:
    history = execution.history
    try:
        answer = _QUESTIONS[question](history, Predicates(execution).read(text))
    except TooManyCuts as problem:
        raise InputError(
            execution.scenario.at(f"--{question}: {problem}, too many to look at each; ask about a shorter run")
        ) from None

    def by_process(cut: Clock) -> dict[str, int]:
        return dict(zip(history.processes, cut, strict=True))

    told: dict[str, Any] = {"holds": answer.holds, "predicate": text, "witness": answer.cut and by_process(answer.cut)}
    return told | ({"path": [*map(by_process, answer.avoiding)]} if answer.avoiding else {})


def cuts_in_words(report: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a report."""
    cuts, consistent, orders = (report[key] for key in ("frontiers", "consistent", "linearizations"))
    yield f"{cuts:,} cuts, {'too many to count' if consistent is None else f'{consistent:,}'} of them consistent"
    yield "too many linearizations to count" if orders is None else f"{orders:,} linearizations"
    for question in _QUESTIONS:
        if question in report:
            yield _in_words(question, report[question])


def _in_words(question: str, answer: Mapping[str, Any]) -> str:
    said = f"{question} {answer['predicate']}: {'yes' if answer['holds'] else 'no'}"
    if answer["witness"]:
        return f"{said}, at {_cut(answer['witness'])}"
    if "path" in answer:
        return f"{said}, it never holds along {' '.join(map(_cut, answer['path']))}"
    return said


def _cut(cut: Mapping[str, int]) -> str:
    return f"<{', '.join(f'{process} {inside}' for process, inside in cut.items())}>"
