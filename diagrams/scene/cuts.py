"""The cuts of a scene: of snapshots, of recoveries, of the story, and the one that the user has chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from diagrams.scene.elements import BackTo, Cut, Recording, ShownCut, StoryCut
from diagrams.scene.timed_run import TimedRun
from sim.core.deadline import in_time
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, RECORD
from sim.core.notation import where_sent
from sim.core.recovery_line import Recovery
from sim.explain.domino import LINE, Stage, stages
from sim.explain.rollbacks import moment_words
from sim.explain.words import capital, counted
from sim.run.execution import Execution
from sim.run.recovery_lines import recoveries_of
from sim.run.rollbacks import rollbacks_of
from sim.run.snapshots import Snapshot
from sim.theory.positions import ACTS
from sim.theory.positions import Cut as Positions
from sim.verify.expectations import frontier_of

BEYOND = 0.045  # of the run: how far a cut lies before the first event of a process, or after its last one


def snapshot_cuts(run: TimedRun, recordings: Mapping[str, Sequence[Recording]]) -> list[Cut]:
    """The cut of each snapshot, or its recovery line."""
    cuts = []
    recoveries = recoveries_of(run.execution)
    for rank, snapshot in enumerate(in_time(run.snapshots, every=1)):
        if snapshot.id in recoveries:
            cuts.append(_line_of_recovery(run, rank, snapshot, recoveries[snapshot.id]))
            continue
        positions: list[float | None] = [None] * len(run.processes)
        own = recordings.get(snapshot.id, ())
        for recording in own:
            positions[recording.lane] = recording.position
        is_cut = len(snapshot.local) == len(positions)
        known = max(local.step for local in snapshot.local.values()) if is_cut else None
        is_told = known is None or snapshot.is_over
        witness = None if is_told else run.execution.history.violation(snapshot.frontier)
        gone = min((recording.gone for recording in own if recording.gone is not None), default=None)
        cuts.append(Cut(snapshot.id, rank, tuple(positions), known, witness is None, snapshot.id, gone))
    return cuts


def _line_of_recovery(run: TimedRun, rank: int, snapshot: Snapshot, recovery: Recovery) -> Cut:
    """The recovery line of uncoordinated checkpoints, from the last of them on.

    It goes through its checkpoints, and through the end of the run for a process that keeps its present state.
    """
    name = f"{LINE.lower()} of {snapshot.id}" if len(run.snapshots) > 1 else LINE.lower()
    line = recovery.line
    positions = {process: between(run, process, count) for process, count in line.items()}
    back = line.keys() - {*recovery.kept}
    for row in reversed(run.execution.events):
        is_of_line = row.process in back and row.index == line[row.process]
        if row.kind == RECORD and row.snapshot_id == snapshot.id and is_of_line:
            positions[row.process] = run.position(row)
    for process in recovery.kept:
        positions[process] = max(positions[process], run.positions[-1])
    return Cut(name, rank, tuple(positions.values()), snapshot.completed, True, snapshot.id)


def lines_back_to(run: TimedRun) -> Iterator[BackTo]:
    """The line of each recovery: through the recordings that it goes back to, or through the beginnings of lanes."""
    for rollback in rollbacks_of(run.execution):
        line: list[float | None] = []
        for process in run.processes:
            recording = rollback.line.get(process)
            if recording is not None:
                line.append(run.position(recording))
            else:
                line.append(_before_all(run, process) if process in rollback.line else None)
        text = capital(moment_words(run.execution, rollback.recovery))
        yield BackTo(rollback.step, rollback.snapshot, tuple(line), text)


def _before_all(run: TimedRun, process: str) -> float:
    """The point of a line before all events of a process, those of earlier epochs too."""
    positions = run.positions[1:]
    low, high = min(positions, default=0.0), max(positions, default=1.0)
    own = (row for row in run.execution.events if row.process == process and row.kind in APPLICATION_KINDS)
    first = next(own, None)
    return low if first is None else run.position(first) - (high - low or 1.0) * BEYOND


def _discussed(execution: Execution) -> Iterator[Stage]:
    """The cuts of the story, without those that lost a last event to an edit; then the stages of a recovery."""
    for named in in_time(execution.scenario.cuts, every=1):
        try:
            yield Stage(named.name, named.text, frontier_of(execution, named))
        except InputError:
            continue
    yield from stages(execution)


def story_cuts(run: TimedRun) -> list[StoryCut]:
    """The cuts that the story discusses, each with its verdict."""
    execution, history = run.execution, run.execution.history
    cuts = []
    for named in _discussed(execution):
        frontier = named.frontier
        witness = history.violation(frontier)
        decides = None if witness is None else run.words.message(execution.flights[witness])
        crossing = tuple(
            f"{counted(len(m), 'message')} in {run.captions[c]}" for c, m in history.in_channels(frontier).items()
        )
        inside = tuple(frontier.get(name, 0) for name in run.processes)
        where = where_sent(is_unsent=witness in history.unsent)
        told = decides and f"the message {decides} is received inside the cut, but {where}"
        cuts.append(StoryCut(named.name, named.text, inside, witness is None, told, crossing))
    return cuts


def shown_cut(run: TimedRun, frontier: Sequence[int]) -> ShownCut:
    """The cut with a name (sim/theory/cut_names.py), as it is drawn."""
    history, events = run.execution.history, run.cut_space
    inside = dict(zip(run.processes, frontier, strict=False))
    cut, chosen = events.cut(frontier), len(frontier) > len(inside)
    faults = [_faults_between(run, cut, line) if cut and chosen else ((), ()) for line in range(len(inside))]
    points = tuple(between(run, name, count, *own) for (name, count), own in zip(inside.items(), faults, strict=True))
    offending = history.violations(inside)
    if cut is None:  # it divides a step
        messages = (message for own in history.in_channels(inside).values() for message in own)
        return ShownCut(points, frozenset(offending), frozenset(messages))
    crossing = (message for channel in events.order.ways for message in events.order.in_channel(channel, cut))
    told = tuple(events.names.that_matter(cut)) if chosen else ()
    return ShownCut(points, frozenset((*offending, *events.order.orphans(cut))), frozenset(crossing), told)


def _faults_between(run: TimedRun, cut: Positions, line: int) -> tuple[list[float], list[float]]:
    """The positions of the faults of a process between its last event inside and its next one: inside, and outside."""
    own, rows = run.cut_space.order.lines[line], run.execution.events
    last = own[cut[line] - 1].inside if cut[line] else 0
    faults = [(number, at) for number, at in enumerate(own, 1) if at.kind != ACTS and at.inside == last]
    places = [(number <= cut[line], run.position(rows[at.row])) for number, at in faults]
    inside, outside = ([place for is_in, place in places if is_in == wanted] for wanted in (True, False))
    return inside, outside


def between(
    run: TimedRun, process: str, inside: int, faults: Sequence[float] = (), others: Sequence[float] = ()
) -> float:
    """The point half way from the last event inside to the first one outside; a little beyond all events at an end.

    `faults` lie inside after that last event, `others` outside. The page puts its handles at the same points
    (assets/explore/run/cut_stops.js).
    """
    events, positions = run.execution.history.of[process], run.positions[1:]
    low, high = min(positions, default=0.0), max(positions, default=1.0)
    before = max([*(run.position(event) for event in events[:inside][-1:]), *faults], default=None)
    after = min([*(run.position(event) for event in events[inside : inside + 1]), *others], default=None)
    if before is not None and after is not None:
        return (before + after) / 2
    room = (high - low or 1.0) * BEYOND
    return before + room if before is not None else after - room if after is not None else low
