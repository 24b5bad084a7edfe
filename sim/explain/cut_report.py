"""What `python -m sim cuts` tells of a run: its cuts, and whether predicates possibly or definitely hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

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

    Of too many consistent cuts, `consistent_more_than` says how many are known. An answer has `holds`, the `predicate`,
    a `witness` (a cut, by process; None: there is none) and, where a predicate does not definitely hold, the `path` of
    cuts that avoids it. Where there are too many cuts to look at, `holds` is None, and `problem` a sentence that says
    so. Raises InputError for a wrong predicate.
    """
    history = execution.history
    found: dict[str, Any] = {"frontiers": frontiers(history), "consistent": None, "linearizations": None}
    try:
        found["consistent"] = consistent_cuts(history)
    except TooManyCuts as problem:
        found["consistent_more_than"] = problem.known
    with suppress(TooManyCuts):
        found["linearizations"] = linearizations(history)
    for question, text in zip(_QUESTIONS, (possibly_holds, definitely_holds), strict=True):
        if text is not None:
            found[question] = _answer(execution, question, text)
    return found


def _answer(execution: Execution, question: str, text: str) -> dict[str, Any]:
    history = execution.history
    holds = Predicates(execution).read(text)
    try:
        answer = _QUESTIONS[question](history, holds)
    except TooManyCuts as problem:
        said = f"--{question}: {problem}, too many to look at each; ask about a shorter run"
        return {"holds": None, "predicate": text, "witness": None, "problem": execution.scenario.at(said)}

    def by_process(cut: Clock) -> dict[str, int]:
        return dict(zip(history.processes, cut, strict=True))

    told: dict[str, Any] = {"holds": answer.holds, "predicate": text, "witness": answer.cut and by_process(answer.cut)}
    return told | ({"path": [*map(by_process, answer.avoiding)]} if answer.avoiding else {})


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
        return f"{said}, at {_cut(answer['witness'])}"
    if "path" in answer:
        return f"{said}, it never holds along {' '.join(map(_cut, answer['path']))}"
    return said


def _cut(cut: Mapping[str, int]) -> str:
    return f"<{', '.join(f'{process} {inside}' for process, inside in cut.items())}>"
