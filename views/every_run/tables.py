"""The tables of the page Every run, as HTML: the different snapshots, the checks, and wrong runs in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from sim.explore.report import Snapshot
from views.every_run import words
from views.every_run.exploration import Result, key_of
from views.every_run.findings import (
    channels_in_words,
    checks_of,
    states_in_words,
    takes_away,
    titles,
    together,
    total_of,
    ways,
)
from views.server.plain_words import sentence

MOST_LISTED = 100  # snapshots
WITHOUT_A_FAULT = ("completion", "conservation")  # checks that are not made where a state or a message is lost


def snapshots_table(found: Result) -> str:
    """The different snapshots: the runs that lead to each, its recording, and its sum."""
    listed, workload = found.recorded[:MOST_LISTED], found.scenario.engine().workload
    processes = found.scenario.processes if any(any(states_in_words(own, workload).values()) for own in listed) else ()
    first = workload.total()
    heads = [words.WAYS, words.SNAPSHOT, *processes, words.CHANNELS, *([words.SUM] if first else ())]
    totals = _totals(found)
    rows = []
    for own in listed:
        is_taken = is_of_this_run(found, own)
        cells = [
            escape(ways(own, totals[own.id])),
            f"{escape(own.id)}{f' <b>{words.OF_THIS_RUN}</b>' if is_taken else ''}",
        ]
        cells += [escape(state) for name, state in states_in_words(own, workload).items() if name in processes]
        cells.append(escape(channels_in_words(own, workload)))
        if first:
            total, is_right = total_of(own, workload, first)
            wrong = escape(total) if takes_away(found) else _bad(f"✗ {escape(total)}")
            cells.append(_good(f"✓ {escape(total)}") if is_right else wrong)
        rows.append(f"<tr{' class=cut-taken' if is_taken else ''}>{_cells(cells)}</tr>")
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    return f'<table class="cut-fields"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def about_snapshots(found: Result) -> str:
    """The caption of the table of snapshots."""
    is_counted = any(own.ways is not None for own in found.recorded)
    sentences = [words.different_snapshots(bool(found.problem), by_frequency=is_counted)]
    sentences.append(words.WAYS_COUNTED if is_counted else words.WAYS_NOT_COUNTED)
    if any(is_of_this_run(found, own) for own in found.recorded):
        sentences.append(words.OF_THIS_RUN_MEANS)
    if takes_away(found) and found.scenario.engine().workload.total():
        sentences.append(words.missing_in_sum(takes_away(found), is_twice=found.has_crashes))
    if len(found.recorded) > MOST_LISTED:
        sentences.append(words.more_not_listed(len(found.recorded) - MOST_LISTED))
    return " ".join(sentences)


def is_of_this_run(found: Result, own: Snapshot) -> bool:
    """Whether the run itself, as time has it, takes this snapshot."""
    return key_of(own.id, own.processes, own.channels) in found.taken


def _totals(found: Result) -> dict[str, int | None]:
    """The number of runs to all snapshots of an id; None if it is not known."""
    totals: dict[str, int | None] = {}
    for own in found.recorded:
        before = totals.setdefault(own.id, 0)
        totals[own.id] = None if own.ways is None or before is None else before + own.ways
    return totals


def checks_table(found: Result) -> str:
    """The checks that were made, and which of them hold."""
    holds = words.HOLDS_SO_FAR if found.problem else words.HOLDS_EVERYWHERE
    is_without = takes_away(found) and not found.problem
    rows = []
    for check in checks_of(found.scenario):
        title, says = words.CHECKS[check]
        wrong = found.runs.get(check)
        steps = len(wrong.scheduler.order) if wrong else 0
        held = words.holds_without(takes_away(found)) if is_without and check in WITHOUT_A_FAULT else holds
        verdict = _bad(words.fails(steps)) if wrong else _good(held)
        rows.append(f'<tr><th scope="row">{title}</th>{_cells([says, f"<b>{verdict}</b>"])}</tr>')
    return f'<table class="cut-fields"><tbody>{"".join(rows)}</tbody></table>'


def wrong_runs(found: Result) -> Iterator[str]:
    """Each shortest wrong run: its steps in sentences, numbered, and what shows that the checks fail."""
    for checks in together(found):
        steps = "".join(f"<li>{escape(sentence(own))}</li>" for own in found.sentences[checks[0]][:-1])
        why = "".join(f"<p>{_bad(escape(sentence(found.sentences[check][-1])))}</p>" for check in checks)
        yield f'<h3 class="cut-told">{words.shortest_run(titles(checks))}</h3><ol class="cut-steps">{steps}</ol>{why}'


def _cells(cells: Iterable[str]) -> str:
    return "".join(f"<td>{own}</td>" for own in cells)


def _good(text: str) -> str:
    return f'<span class="cut-good">{text}</span>'


def _bad(text: str) -> str:
    return f'<span class="cut-bad">{text}</span>'
