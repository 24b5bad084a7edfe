"""The caption of a space-time diagram of a run after a step, sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from diagrams.panels.lattice.words import fault_name
from diagrams.scene.composition import Scene
from diagrams.scene.elements import Recording
from diagrams.still.contents import (
    MOST_LISTED,
    channels_in_words,
    held_in_words,
    is_between,
    left_out,
    named,
    on_show,
    rest_in_words,
    sentence,
    states_in_words,
    witness_in_words,
)
from diagrams.still.story import broken_rules, first_sentence
from sim.explain.domino import line_in_words
from sim.explain.properties import said
from sim.explain.rollbacks import moment_words
from sim.explain.words import counted, listing, small
from sim.run.recorded_parts import RecordedMessage
from sim.run.recovery_lines import recoveries_of
from sim.run.rollbacks import rollbacks_of
from sim.run.snapshots import EXPIRED, FAILED, Snapshot
from sim.verify.harm import against
from sim.verify.stable import properties_of

MOST_SNAPSHOTS = 3
BEFORE, AFTER = "before", "after"  # the steps that a picture shows


class RunCaption:
    """The caption of a space-time diagram after a step."""

    def __init__(self, scene: Scene, step: int) -> None:
        self.scene, self.step = scene, step
        self.processes = on_show(scene)
        self.messages = {flight.id for flight in scene.flights}
        self.others = len(scene.processes) - len(self.processes)

    def sentences(self, frontier: Sequence[int] | None) -> Iterator[str]:
        """Yield the caption, sentence by sentence; `frontier` is the drawn cut."""
        scene = self.scene
        yield first_sentence(scene)
        yield from broken_rules(scene)
        yield from self._part()
        if frontier is not None:
            yield self._shown_cut(frontier)
        else:
            yield from self._snapshots()
        yield from self._recoveries()

    def sentences_beside(self) -> Iterator[str]:
        """Yield the sentences on this run alone, beside others of the same scenario."""
        yield from broken_rules(self.scene)
        yield from self._part()
        yield from self._snapshots()
        yield from self._recoveries()

    def _part(self) -> Iterator[str]:
        """The part of the run on show."""
        scene = self.scene
        if not scene.is_whole:
            yield f"The figure shows steps {scene.first} to {scene.until} of {scene.last}."
        yield from left_out(scene)
        if self.step < scene.last:
            yield f"This is the run after step {self.step} of {scene.last}."

    def _recoveries(self) -> Iterator[str]:
        """The recoveries so far that the picture shows, and a note on the abandoned parts."""
        seen = [own for own in rollbacks_of(self.scene.execution) if self.scene.first <= own.step <= self.step]
        for own in seen[:MOST_SNAPSHOTS]:
            yield f"Step {own.step}: {moment_words(self.scene.execution, own.recovery)}."
        if seen:
            yield "Faded parts are abandoned."

    def _snapshots(self) -> Iterator[str]:
        """The snapshots that the picture shows, then those whose cuts lie before or after its steps."""
        begun = [own for own in self.scene.snapshots if own.began is not None and own.began <= self.step]
        beyond = {own.id: self._beyond(own) for own in begun}
        seen = [own for own in begun if not beyond[own.id]]
        for own in seen[:MOST_SNAPSHOTS]:
            yield self._snapshot(own)
            yield from self._properties(own)
            yield from self._recovery_line(own)
        if len(seen) > MOST_SNAPSHOTS:
            yield f"{counted(len(seen) - MOST_SNAPSHOTS, 'more snapshot')} began as well."
        for side in (BEFORE, AFTER):
            names = [name for name, own in beyond.items() if own == side]
            if names:
                verb = "was" if side == BEFORE and len(names) == 1 else "were" if side == BEFORE else "is"
                yield f"{listing(names)} {verb} recorded {side} these steps."

    def _properties(self, snapshot: Snapshot) -> Iterator[str]:
        """The answer of a complete snapshot about each stable property, if the whole run is on show."""
        is_whole = self.scene.is_whole and not self.others
        if not is_whole or snapshot.completed is None or snapshot.completed > self.step:
            return
        for own in properties_of(self.scene.execution):
            answer = next(answer for answer in own.answers if answer.snapshot == snapshot.id)
            yield f"By {snapshot.id}, {small(said(own, answer.finding))}"

    def _recovery_line(self, snapshot: Snapshot) -> Iterator[str]:
        """The recovery line of uncoordinated checkpoints, and the failed processes, if the whole run is on show."""
        recovery = recoveries_of(self.scene.execution).get(snapshot.id)
        is_known = snapshot.completed is not None and snapshot.completed <= self.step and not snapshot.is_over
        if recovery is not None and is_known and self.scene.is_whole and not self.others:
            parts = line_in_words(self.scene.execution, recovery)
            yield f"The bold dashed line is the recovery line. {parts}"

    def _beyond(self, snapshot: Snapshot) -> str:
        """BEFORE or AFTER if all of a snapshot lies there; "" if the picture shows a part of it."""
        sides = {self._side(own.position) for own in self._recordings(snapshot).values()}
        return sides.pop() if len(sides) == 1 and not self._found(snapshot) else ""

    def _recordings(self, snapshot: Snapshot) -> dict[str, Recording]:
        """The recordings that count at the step, by process on show; a process that aborts has none."""
        made = self.scene.recordings.get(snapshot.id, ())
        at = {(self.scene.lanes[own.lane], own.step): own for own in made if own.step <= self.step}
        counting = {name: (name, own.step) for name, own in snapshot.local.items()}
        return {name: at[counting[name]] for name in self.processes if counting.get(name) in at}

    def _found(self, snapshot: Snapshot) -> list[RecordedMessage]:
        """The recorded messages of a snapshot that the picture shows."""
        messages = snapshot.recorded_messages
        return [own for own in messages if own.step <= self.step and self._is_seen(own.id)]

    def _is_seen(self, message: int) -> bool:
        return message in self.messages and is_between(self.scene, self.processes, message)

    def _side(self, position: float) -> str:
        """The side of the picture on which a point of the time axis lies: BEFORE or AFTER it, or "" for inside."""
        low, high = self.scene.extent
        if self.scene.is_whole or low <= position <= high:
            return ""
        return BEFORE if position < low else AFTER

    def _snapshot(self, snapshot: Snapshot) -> str:
        """The cut of a snapshot, and its contents."""
        if snapshot.aborted is not None and snapshot.aborted <= self.step:
            how = {EXPIRED: "has expired", FAILED: "has failed"}.get(snapshot.status, "was aborted")
            return f"Snapshot {snapshot.id} {how}."
        recorded = [name for name, own in snapshot.local.items() if own.step <= self.step]
        sides = {name: self._side(own.position) for name, own in self._recordings(snapshot).items()}
        inside = [name for name, side in sides.items() if not side]
        found = self._found(snapshot)
        is_closed = snapshot.completed is not None and snapshot.completed <= self.step
        parts = [states_in_words(self.scene, snapshot, inside), *self._elsewhere(sides)]
        held = [channels_in_words(self.scene, found)]
        is_coordinated = self.scene.execution.engine.algorithm.coordinated  # else no process records channels
        if is_closed and is_coordinated and len(inside) == len(self.processes) > 1:
            held.append(rest_in_words(found, self.others > 0))
        if len(recorded) < len(self.scene.processes):
            return sentence(f"Snapshot {snapshot.id} is under way", *parts, self._missing(recorded), *held)
        if snapshot.is_over:
            return sentence(f"Snapshot {snapshot.id} belongs to an earlier epoch", *parts, *held)
        what, witness = self._verdict(snapshot.frontier)
        wrong = self._wrong(snapshot) if is_closed else ()
        return sentence(f"Snapshot {snapshot.id} is {what}", *parts, witness, *held, *wrong)

    def _wrong(self, snapshot: Snapshot) -> Iterator[str]:
        """The messages that the snapshot misses, and those that it recorded although they do not cross the cut."""
        found, words = against(self.scene.execution, snapshot), self.scene.whole_run.words
        for messages, what in ((found.lost, "missing"), (found.extra, "recorded, though not in transit at the cut")):
            seen = [words.message(self.scene.execution.flights[own]) for own in sorted(messages) if self._is_seen(own)]
            if seen:
                named = listing(seen) if len(seen) <= MOST_LISTED else counted(len(seen), "message")
                yield f"{named} {'is' if len(seen) == 1 else 'are'} {what}"

    def _elsewhere(self, sides: Mapping[str, str]) -> Iterator[str]:
        """The processes that record outside the steps on show."""
        for side in (BEFORE, AFTER):
            names = [name for name, own in sides.items() if own == side]
            if names:
                verb = "recorded" if side == BEFORE else "records" if len(names) == 1 else "record"
                yield f"{named(names)} {verb} {side} these steps"

    def _missing(self, recorded: Sequence[str]) -> str:
        missing = [name for name in self.processes if name not in recorded]
        if missing:
            makes_more = not self.scene.execution.engine.algorithm.coordinated
            what = f"made {'their' if len(missing) > 1 else 'its'} last checkpoint" if makes_more else "recorded"
            return f"{named(missing)} {'have' if len(missing) > 1 else 'has'} not {what} yet"
        return "some of the processes left out have not recorded yet"

    def _verdict(self, frontier: Mapping[str, int]) -> tuple[str, str]:
        """Whether a cut is consistent, and a message on show that makes it inconsistent."""
        against = self.scene.execution.history.violations(frontier)
        witness = next((message for message in against if self._is_seen(message)), None)
        what = "not a consistent cut" if against else "a consistent cut"
        return what, witness_in_words(self.scene, witness)

    def _shown_cut(self, frontier: Sequence[int]) -> str:
        """The cut that the user has chosen."""
        scene, history = self.scene, self.scene.execution.history
        inside = dict(zip(scene.processes, frontier, strict=False))
        shown = scene.shown_cut
        assert shown is not None  # it is drawn
        positions = dict(zip(scene.processes, shown.positions, strict=True))
        sides = {name: self._side(positions[name]) for name in self.processes}
        (side, *others) = set(sides.values())
        if side and not others:
            return f"The cut lies {side} these steps."
        own = [name for name in self.processes if not sides[name]]
        labels = {name: history.of[name][inside[name] - 1].label for name in own if inside[name]}
        parts = [f"{name} up to {labels[name]}" if name in labels else f"{name} without an event" for name in own]
        cut = listing(parts) if len(parts) <= MOST_LISTED else counted(sum(inside[name] for name in own), "event")
        found: dict[str, list[str]] = {}
        for message in sorted(shown.crossing):
            if self._is_seen(message):
                flight = scene.execution.flights[message]
                found.setdefault(scene.captions[flight.channel.name], []).append(scene.whole_run.words.label(flight))
        witness = next((message for message in sorted(shown.offending) if self._is_seen(message)), None)
        what = "consistent" if shown.consistent else "not consistent"
        partly = "a part of it lies outside these steps" if others else ""
        names = [fault_name(scene, *place) for place in shown.faults]
        faults = f", with {listing(names)}," if names else ""
        about = f" of {cut}{faults}" if cut else ""
        return sentence(f"The cut{about} is {what}", partly, witness_in_words(scene, witness), held_in_words(found))
