"""What a picture shows, as text: its caption in a paper, and what it says to those who cannot see it.

The first sentence of the story; then each cut with what its processes and channels hold, as far as the step has come.
It tells of the steps, the processes and the channels that the picture shows, and of no others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from diagrams.panels.lattice.panel import Lattice
from diagrams.panels.lattice.words import fault_name, predicate, snapshots, summary
from diagrams.panels.proof.panel import Proof
from diagrams.panels.proof.picture import told as row_told
from diagrams.scene.composition import Scene
from diagrams.scene.elements import Recording
from sim.core.notation import where_sent
from sim.core.slip import SLIPS
from sim.explain.domino import line_in_words
from sim.explain.properties import said
from sim.explain.rollbacks import moment_words
from sim.explain.words import capital, counted, listing, sequence, small
from sim.run.recorded_parts import RecordedMessage
from sim.run.recovery_lines import recoveries_of
from sim.run.rollbacks import rollbacks_of
from sim.run.snapshots import EXPIRED, FAILED, Snapshot
from sim.theory.interchange import ColouredAction
from sim.theory.positions import ACTS
from sim.verify.harm import against
from sim.verify.stable import properties_of

MOST_TOLD = 6  # processes whose states are told, channels whose messages are
MOST_SNAPSHOTS = 3
MOST_FAULTS = 6  # of Dijkstra's page, in words
BEFORE, AFTER = "before", "after"  # the steps that a picture shows
ABBREVIATIONS = "al|approx|cf|dr|eqs?|figs?|mrs?|ms|nos?|pp?|prof|refs?|resp|sects?|secs?|vs"


def of_run(scene: Scene, step: int, frontier: Sequence[int] | None = None) -> str:
    """A space-time diagram of a scene after a step; with the cut that is drawn there, as events inside by process."""
    return " ".join(_Run(scene, step).told(frontier))


def of_row(runs: Sequence[tuple[str, Scene | str]], steps: Sequence[int], below: str) -> str:
    """One scenario under several algorithms, each by its title, at these `steps`, or the sentence that refuses it.

    `below` says what is below the diagrams.
    """
    own = iter(steps)
    first = next(scene for _, scene in runs if isinstance(scene, Scene))
    told = [first_sentence(first), f"The same scenario under {listing([title for title, _ in runs])}."]
    for title, scene in runs:
        what = scene if isinstance(scene, str) else " ".join(_Run(scene, next(own)).told_beside())
        told.append(f"{title}: {what or 'no snapshot has begun.'}")
    return " ".join(filter(None, [*told, below]))


def of_lattice(lattice: Lattice, has_cut: bool) -> str:
    """A lattice, and whether a cut is ringed there."""
    return " ".join(_lattice(lattice, has_cut))


def of_proof(scene: Scene, proof: Proof, row: Sequence[ColouredAction]) -> str:
    """Dijkstra's page with the actions in this order."""
    return " ".join(_proof(scene, proof, row))


def at_step(scene: Scene, step: int) -> str:
    """What happens at a step before the end of the run; "" where the picture does not show it."""
    rows, processes = scene.whole_run.rows(step, step), _on_show(scene)
    is_seen = scene.first <= step <= scene.until and (not rows or any(row.process in processes for row in rows))
    if step == scene.last or not is_seen:
        return ""
    return f"Step {step} of {scene.last}. {scene.window(step, step).steps[step].sentence}"


def first_sentence(scene: Scene) -> str:
    """What the story says first; without a story the title. The dot of an abbreviation ends no sentence."""
    scenario = scene.execution.scenario
    begins = "|".join(["[A-Z\"'(]", *(re.escape(name) + r"\b" for name in scenario.processes)])
    story = " ".join(scenario.story.split())
    for end in re.finditer(rf"(?<=[.!?])\s+(?={begins})", story):
        if not _is_abbreviation(story[: end.start()].split(" ")[-1].lstrip("(\"'"), scenario.processes):
            return story[: end.start()]
    return story or f"{scenario.title.rstrip('.')}."


def broken_rules(scene: Scene) -> Iterator[str]:
    """What the run breaks on purpose, so that nobody takes it for the right algorithm."""
    for name in scene.execution.scenario.breaks:
        yield f"A rule is broken on purpose: {small(SLIPS[name].switch)}."


def _is_abbreviation(word: str, names: Sequence[str]) -> bool:
    """Whether a word with a dot is one: e.g., U.S., Fig., or an initial that is no process."""
    if re.fullmatch(r"[A-Z]\.", word):
        return word[0] not in names
    return re.fullmatch(rf"([a-z]\.){{2,}}|({ABBREVIATIONS})\.", word, re.IGNORECASE) is not None


class _Run:
    """What a space-time diagram shows after a step."""

    def __init__(self, scene: Scene, step: int) -> None:
        self.scene, self.step = scene, step
        self.processes = _on_show(scene)
        self.messages = {flight.id for flight in scene.flights}
        self.others = len(scene.processes) - len(self.processes)

    def told(self, frontier: Sequence[int] | None) -> Iterator[str]:
        """Sentence by sentence."""
        scene = self.scene
        yield first_sentence(scene)
        yield from broken_rules(scene)
        yield from self._told_of_part()
        if frontier is not None:
            yield self._shown_cut(frontier)
        else:
            yield from self._snapshots()
        yield from self._recoveries()

    def told_beside(self) -> Iterator[str]:
        """What this run has for itself, beside others of the same scenario."""
        yield from broken_rules(self.scene)
        yield from self._told_of_part()
        yield from self._snapshots()
        yield from self._recoveries()

    def _told_of_part(self) -> Iterator[str]:
        """How much of the run is on show."""
        scene = self.scene
        if not scene.is_whole:
            yield f"The figure shows steps {scene.first} to {scene.until} of {scene.last}."
        yield from _left_out(scene)
        if self.step < scene.last:
            yield f"This is the run after step {self.step} of {scene.last}."

    def _recoveries(self) -> Iterator[str]:
        """The recoveries so far that the picture shows, and what is seen of each."""
        seen = [own for own in rollbacks_of(self.scene.execution) if self.scene.first <= own.step <= self.step]
        for own in seen[:MOST_SNAPSHOTS]:
            yield f"Step {own.step}: {moment_words(self.scene.execution, own.recovery)}."
        if seen:
            yield "What is faded is abandoned."

    def _snapshots(self) -> Iterator[str]:
        """Those that the picture shows, then those whose cuts lie before or after its steps."""
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
        """What a snapshot that is complete says of each stable property; where the whole run is on show."""
        is_whole = self.scene.is_whole and not self.others
        if not is_whole or snapshot.completed is None or snapshot.completed > self.step:
            return
        for own in properties_of(self.scene.execution):
            answer = next(answer for answer in own.answers if answer.snapshot == snapshot.id)
            yield f"By {snapshot.id}, {small(said(own, answer.finding))}"

    def _recovery_line(self, snapshot: Snapshot) -> Iterator[str]:
        """The recovery line of copies that nobody coordinated, and who fails; where the whole run is on show."""
        recovery = recoveries_of(self.scene.execution).get(snapshot.id)
        is_known = snapshot.completed is not None and snapshot.completed <= self.step and not snapshot.is_over
        if recovery is not None and is_known and self.scene.is_whole and not self.others:
            told = line_in_words(self.scene.execution, recovery)
            yield f"The bold dashed line is the recovery line. {told}"

    def _beyond(self, snapshot: Snapshot) -> str:
        """BEFORE or AFTER where everything of a snapshot lies there; "" where the picture shows something of it."""
        sides = {self._side(own.position) for own in self._recordings(snapshot).values()}
        return sides.pop() if len(sides) == 1 and not self._found(snapshot) else ""

    def _recordings(self, snapshot: Snapshot) -> dict[str, Recording]:
        """Those up to the step that count, by the process on show: of several the last; who aborts has none."""
        made = self.scene.recordings.get(snapshot.id, ())
        at = {(self.scene.lanes[own.lane], own.step): own for own in made if own.step <= self.step}
        counting = {name: (name, own.step) for name, own in snapshot.local.items()}
        return {name: at[counting[name]] for name in self.processes if counting.get(name) in at}

    def _found(self, snapshot: Snapshot) -> list[RecordedMessage]:
        """What the picture shows of the messages that a snapshot has recorded."""
        messages = snapshot.recorded_messages
        return [own for own in messages if own.step <= self.step and self._is_seen(own.id)]

    def _is_seen(self, message: int) -> bool:
        return message in self.messages and _is_between(self.scene, self.processes, message)

    def _side(self, position: float) -> str:
        """Where a point of the time axis lies: BEFORE or AFTER what the picture shows, or "" in it."""
        low, high = self.scene.extent
        if self.scene.is_whole or low <= position <= high:
            return ""
        return BEFORE if position < low else AFTER

    def _snapshot(self, snapshot: Snapshot) -> str:
        """The cut of a snapshot, and what it holds."""
        if snapshot.aborted is not None and snapshot.aborted <= self.step:
            how = {EXPIRED: "has expired", FAILED: "has failed"}.get(snapshot.status, "was aborted")
            return f"Snapshot {snapshot.id} {how}."
        recorded = [name for name, own in snapshot.local.items() if own.step <= self.step]
        sides = {name: self._side(own.position) for name, own in self._recordings(snapshot).items()}
        inside = [name for name, side in sides.items() if not side]
        found = self._found(snapshot)
        is_closed = snapshot.completed is not None and snapshot.completed <= self.step
        told = [_states(self.scene, snapshot, inside), *self._elsewhere(sides)]
        held = [_channels(self.scene, found)]
        is_coordinated = self.scene.execution.engine.algorithm.coordinated  # else nobody records channels
        if is_closed and is_coordinated and len(inside) == len(self.processes) > 1:
            held.append(_rest(found, self.others > 0))
        if len(recorded) < len(self.scene.processes):
            return _sentence(f"Snapshot {snapshot.id} is under way", *told, self._missing(recorded), *held)
        if snapshot.is_over:
            return _sentence(f"Snapshot {snapshot.id} is of a life that is over", *told, *held)
        what, witness = self._verdict(snapshot.frontier)
        wrong = self._wrong(snapshot) if is_closed else ()
        return _sentence(f"Snapshot {snapshot.id} is {what}", *told, witness, *held, *wrong)

    def _wrong(self, snapshot: Snapshot) -> Iterator[str]:
        """What is lost, and what is recorded although it does not cross the cut."""
        found, words = against(self.scene.execution, snapshot), self.scene.whole_run.words
        for messages, what in ((found.lost, "lost"), (found.extra, "recorded, though not on the way at the cut")):
            seen = [words.message(self.scene.execution.flights[own]) for own in sorted(messages) if self._is_seen(own)]
            if seen:
                named = listing(seen) if len(seen) <= MOST_TOLD else counted(len(seen), "message")
                yield f"{named} {'is' if len(seen) == 1 else 'are'} {what}"

    def _elsewhere(self, sides: Mapping[str, str]) -> Iterator[str]:
        """The processes that record outside the steps on show."""
        for side in (BEFORE, AFTER):
            names = [name for name, own in sides.items() if own == side]
            if names:
                verb = "recorded" if side == BEFORE else "records" if len(names) == 1 else "record"
                yield f"{_named(names)} {verb} {side} these steps"

    def _missing(self, recorded: Sequence[str]) -> str:
        missing = [name for name in self.processes if name not in recorded]
        if missing:
            makes_more = not self.scene.execution.engine.algorithm.coordinated
            what = f"made {'their' if len(missing) > 1 else 'its'} last copy" if makes_more else "recorded"
            return f"{_named(missing)} {'have' if len(missing) > 1 else 'has'} not {what} yet"
        return "not all that are left out have recorded yet"

    def _verdict(self, frontier: Mapping[str, int]) -> tuple[str, str]:
        """What a cut is, and what speaks against it in the picture."""
        against = self.scene.execution.history.violations(frontier)
        witness = next((message for message in against if self._is_seen(message)), None)
        what = "not a consistent cut" if against else "a consistent cut"
        return what, _witness(self.scene, witness)

    def _shown_cut(self, frontier: Sequence[int]) -> str:
        """The cut that somebody has put there."""
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
        told = [f"{name} up to {labels[name]}" if name in labels else f"{name} without an event" for name in own]
        cut = listing(told) if len(told) <= MOST_TOLD else counted(sum(inside[name] for name in own), "event")
        named: dict[str, list[str]] = {}
        for message in sorted(shown.crossing):
            if self._is_seen(message):
                flight = scene.execution.flights[message]
                named.setdefault(scene.captions[flight.channel.name], []).append(scene.whole_run.words.label(flight))
        witness = next((message for message in sorted(shown.offending) if self._is_seen(message)), None)
        what = "consistent" if shown.consistent else "not consistent"
        partly = "a part of it lies outside these steps" if others else ""
        names = [fault_name(scene, *place) for place in shown.faults]
        faults = f", with {listing(names)}," if names else ""
        about = f" of {cut}{faults}" if cut else ""
        return _sentence(f"The cut{about} is {what}", partly, _witness(scene, witness), _held(named))


def _on_show(scene: Scene) -> list[str]:
    """The processes on show, in their order in the picture."""
    return [scene.lanes[lane] for lane in scene.layout.shown if lane < len(scene.processes)]


def _left_out(scene: Scene) -> Iterator[str]:
    """How many processes the picture does not show."""
    count, total = len(scene.processes) - len(_on_show(scene)), len(scene.processes)
    if count:
        yield f"{count} of {total} processes {'is' if count == 1 else 'are'} left out."


def _is_between(scene: Scene, processes: Sequence[str], message: int) -> bool:
    """Whether a message goes from one of these processes to another."""
    channel = scene.execution.flights[message].channel
    return scene.lanes[channel.source] in processes and scene.lanes[channel.target] in processes


def _sentence(what: str, *parts: str) -> str:
    """What there is to say, and its details, if any."""
    return ": ".join(filter(None, [what, "; ".join(filter(None, parts))])) + "."


def _named(names: Sequence[str]) -> str:
    return listing(names) if len(names) <= MOST_TOLD else f"{len(names)} processes"


def _states(scene: Scene, snapshot: Snapshot, recorded: Sequence[str]) -> str:
    """What each process recorded; of many, how many have."""
    if len(recorded) > MOST_TOLD:
        return f"{len(recorded)} processes have recorded their states"
    words = scene.whole_run.words
    states = {name: words.state(snapshot.local[name].state, snapshot.events[name]) for name in recorded}
    return _each("recorded", states)


def _each(verb: str, told: Mapping[str, str]) -> str:
    """What each of some does, the verb said once: `P1 recorded 550 and P2 170`."""
    verbs = [f" {verb}", *[""] * len(told)]
    return listing([f"{name}{verb} {what}" for (name, what), verb in zip(told.items(), verbs, strict=False)])


def _channels(scene: Scene, found: Sequence[RecordedMessage]) -> str:
    """What each channel holds; of many, how many messages there are in how many."""
    words = scene.whole_run.words
    held: dict[str, list[str]] = {}
    for message in found:
        held.setdefault(scene.captions[message.channel], []).append(words.label(scene.execution.flights[message.id]))
    return _held(held)


def _held(held: Mapping[str, Sequence[str]]) -> str:
    if len(held) > MOST_TOLD:
        return f"{counted(sum(map(len, held.values())), 'message')} are in {len(held)} channels"
    told = {name: messages[0] if len(messages) == 1 else sequence(messages) for name, messages in held.items()}
    return f"channel {_each('holds', told)}" if told else ""


def _rest(found: Sequence[RecordedMessage], has_others: bool) -> str:
    channels = "channels between them" if has_others else "channels"
    return f"all other {channels} are empty" if found else f"all {channels} are empty"


def _witness(scene: Scene, message: int | None) -> str:
    """What speaks against a cut."""
    if message is None:
        return ""
    told = scene.whole_run.words.message(scene.execution.flights[message])
    where = where_sent(is_unsent=message in scene.execution.history.unsent)
    end = "received" if message in scene.execution.history.receives else "lost"
    return f"{told} is {end} inside the cut, but {where}"


def _lattice(lattice: Lattice, has_cut: bool) -> Iterator[str]:
    yield from (*summary(lattice), *snapshots(lattice))
    answers = predicate(lattice) or {}
    for how in ("possibly", "definitely"):
        if lattice.asked and answers.get(how):
            holds = "holds" if answers[how]["holds"] else "does not hold"
            yield f"{how.capitalize()} {lattice.asked.text.strip()} {holds}. {answers[how]['told']}"
    if has_cut:
        yield "Two rings are round the cut that is asked about."


def _proof(scene: Scene, proof: Proof, row: Sequence[ColouredAction]) -> Iterator[str]:
    yield row_told(row, proof)
    yield from broken_rules(scene)
    yield "A ring is a white action, before its process recorded; a square is a red one, after it."
    faults = [proof.told(action) for action in row if action.kind != ACTS]
    if 0 < len(faults) <= MOST_FAULTS:
        yield " ".join(f"{own.label}: {own.sentence}" for own in faults)
    yield from _left_out(scene)
    processes = _on_show(scene)
    found = [own for own in proof.snapshot.recorded_messages if _is_between(scene, processes, own.id)]
    if found:
        yield f"{capital(_channels(scene, found))}."
