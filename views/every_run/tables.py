"""The tables of the page Every run, as HTML: the different snapshots, the checks, and wrong runs in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from sim.explore.report import Snapshot
from views.every_run.exploration import Result, key_of
from views.every_run.findings import (
    CHECKS,
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
    """The different snapshots: how many runs lead to each, what it recorded, and whether that adds up."""
    listed, workload = found.recorded[:MOST_LISTED], found.scenario.engine().workload
    processes = found.scenario.processes if any(any(states_in_words(own, workload).values()) for own in listed) else ()
    first = workload.total()
    heads = ["Ways", "Snapshot", *processes, "Channels", *(["Sum"] if first else ())]
    totals = _totals(found)
    rows = []
    for own in listed:
        is_taken = is_of_this_run(found, own)
        cells = [escape(ways(own, totals[own.id])), f"{escape(own.id)}{' <b>(of this run)</b>' if is_taken else ''}"]
        cells += [escape(told) for name, told in states_in_words(own, workload).items() if name in processes]
        cells.append(escape(channels_in_words(own, workload)))
        if first:
            told, is_right = total_of(own, workload, first)
            wrong = escape(told) if takes_away(found) else _bad(f"✗ {escape(told)}")
            cells.append(_good(f"✓ {escape(told)}") if is_right else wrong)
        rows.append(f"<tr{' class=cut-taken' if is_taken else ''}>{_cells(cells)}</tr>")
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    return f'<table class="cut-fields"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def about_snapshots(found: Result) -> str:
    """What the table of snapshots lists."""
    so_far = " so far" if found.problem else ""
    told = [f"The different snapshots{so_far}, the most frequent first. Ways: how many runs lead to each of them."]
    if all(own.ways is None for own in found.recorded):
        told = [f"The different snapshots{so_far}. Ways to them are not counted: they differ in length."]
    if any(is_of_this_run(found, own) for own in found.recorded):
        told.append("“Of this run”: the one that the run takes when time decides.")
    if takes_away(found) and found.scenario.engine().workload.total():
        twice = ", or there twice" if found.has_crashes else ""
        told.append(f"What {takes_away(found)} has taken is missing in a sum{twice}.")
    if len(found.recorded) > MOST_LISTED:
        told.append(f"{len(found.recorded) - MOST_LISTED:,} more are not listed.")
    return " ".join(told)


def is_of_this_run(found: Result, own: Snapshot) -> bool:
    """Whether the run itself, as time has it, takes this snapshot."""
    return key_of(own.id, own.processes, own.channels) in found.taken


def _totals(found: Result) -> dict[str, int | None]:
    """How many ways there are to all snapshots of an id; None where that is not known."""
    totals: dict[str, int | None] = {}
    for own in found.recorded:
        before = totals.setdefault(own.id, 0)
        totals[own.id] = None if own.ways is None or before is None else before + own.ways
    return totals


def checks_table(found: Result) -> str:
    """The checks that were made, and which of them hold."""
    holds = "✓ holds in every run" if not found.problem else "✓ holds so far"
    without = f" without {takes_away(found)}" if takes_away(found) and not found.problem else ""
    rows = []
    for check in checks_of(found.scenario):
        title, says = CHECKS[check]
        wrong = found.runs.get(check)
        steps = len(wrong.scheduler.order) if wrong else 0
        held = f"{holds}{without}" if check in WITHOUT_A_FAULT else holds
        verdict = _bad(f"✗ fails: the shortest such run has {steps} steps") if wrong else _good(held)
        rows.append(f'<tr><th scope="row">{title}</th>{_cells([says, f"<b>{verdict}</b>"])}</tr>')
    return f'<table class="cut-fields"><tbody>{"".join(rows)}</tbody></table>'


def wrong_runs(found: Result) -> Iterator[str]:
    """Each shortest wrong run: its steps in sentences, numbered, and what shows that the checks fail."""
    for checks in together(found):
        steps = "".join(f"<li>{escape(sentence(own))}</li>" for own in found.told[checks[0]][:-1])
        why = "".join(f"<p>{_bad(escape(sentence(found.told[check][-1])))}</p>" for check in checks)
        yield f'<h3 class="cut-told">The shortest run: {titles(checks)}</h3><ol class="cut-steps">{steps}</ol>{why}'


def _cells(told: Iterable[str]) -> str:
    return "".join(f"<td>{own}</td>" for own in told)


def _good(told: str) -> str:
    return f'<span class="cut-good">{told}</span>'


def _bad(told: str) -> str:
    return f'<span class="cut-bad">{told}</span>'
