"""Resource requests: processes ask the managers of objects for them, hold them for a while, and release them.

Who asks waits until the object is granted, and does nothing else meanwhile. Processes that each hold what another one
waits for are in a deadlock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar

from sim.core import randomness
from sim.core.effects import Out
from sim.core.model import Action, Message, Process, Send
from sim.core.parameters import Parameter
from sim.core.workload import Refused, Workload

ASK, GRANT, RELEASE = "ask", "grant", "release"
WORDS = (ASK, GRANT, RELEASE)
State = Mapping[str, Any]  # "holds": objects; "waits": the object asked for, or ""; "objects": those it manages


class Requests(Workload):
    """A process holds objects, waits for one, and manages some: of each it knows the holder, and then who waits."""

    name = "requests"
    title = "Resource requests"
    source = "G. Coulouris et al., Distributed Systems, chapter 17: distributed deadlocks"
    body_hint = '"ask a" or "release a"'
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "objects": Parameter(
            "table", {}, "per process, the objects it manages (default: one, named like it)", item="texts"
        ),
        "holds": Parameter("table", {}, "per process, the objects it holds at first", item="texts"),
        "requests": Parameter("whole", 0, "random requests that each process makes"),
        "greed": Parameter("whole", 50, "in how many of a hundred cases a process asks for a second object"),
        "pace": Parameter("number", 10.0, "mean time between two acts of a process", least=0.001),
    }
    busy_at_first: ClassVar[Mapping[str, str]] = {"requests": "5"}
    objects: Mapping[str, Sequence[str]]
    holds: Mapping[str, Sequence[str]]
    requests: int
    greed: int
    pace: float

    def __init__(self, processes: Any, seed: int, **parameters: Any) -> None:
        super().__init__(processes, seed, **parameters)
        self.takes_turns = self.requests > 0
        self.objects = self.objects or {process: [process.lower()] for process in self.processes}
        self._site_of = {thing: site for site, things in self.objects.items() for thing in things}
        self._holder_of = {thing: process for process, things in self.holds.items() for thing in things}
        self._keys = [randomness.key(seed, "requests", process) for process in self.processes]

    @classmethod
    def busy(cls, processes: int, events: int) -> dict[str, Any]:
        """Each request is three messages: ask, grant and release. No process asks for a second object: no deadlock."""
        return {"requests": max(1, round(events / (6 * processes))), "greed": 0}

    def events(self) -> int:
        """Six for each request, while there is no deadlock."""
        return 6 * len(self.processes) * self.requests

    def problems(self, channels: Set[str]) -> Iterator[tuple[str, str]]:
        """Every object has one manager, who has channels to answer on, and one holder at most."""
        managers = Counter(thing for things in self.objects.values() for thing in things)
        for site, things in self.objects.items():
            for thing in things:
                if managers[thing] > 1:
                    yield f"objects.{site}", f"{thing!r} has two managers; every object has one"
                if not thing or " " in thing:
                    yield f"objects.{site}", f"{thing!r} is no name of an object; a name has no blanks"
        for channel in sorted(channels):
            source, _, site = channel.partition("->")
            if self.objects.get(site) and f"{site}->{source}" not in channels:
                yield f"objects.{site}", f"a request on {channel} needs a channel {site}->{source} for its answer"
        holders = Counter(thing for things in self.holds.values() for thing in things)
        for process, things in self.holds.items():
            for thing in things:
                if thing not in self._site_of:
                    yield f"holds.{process}", f"no process manages {thing!r}; objects are {', '.join(self._site_of)}"
                elif holders[thing] > 1:
                    yield f"holds.{process}", f"{thing!r} is held twice; every object has one holder at most"
                elif self._site_of[thing] != process and f"{process}->{self._site_of[thing]}" not in channels:
                    yield (
                        f"holds.{process}",
                        f"to release {thing!r} it needs a channel {process}->{self._site_of[thing]}",
                    )
        if self.greed > 100:
            yield "greed", f"{self.greed} of a hundred cases are too many; give at most 100"

    def initial(self, process: str) -> State:
        """The objects that a process holds, and those it manages with their holders."""
        managed = {
            thing: [self._holder_of[thing]] if thing in self._holder_of else []
            for thing in self.objects.get(process, ())
        }
        return {"holds": list(self.holds.get(process, ())), "waits": "", "objects": managed}

    def check_body(self, body: Any) -> None:
        """A body is a verb and an object."""
        word, _, thing = body.partition(" ") if isinstance(body, str) else ("", "", "")
        if word not in (ASK, RELEASE) or thing not in self._site_of:
            known = ", ".join(self._site_of)
            raise Refused(f'a message of this workload is "{ASK} X" or "{RELEASE} X", X one of {known}; not {body!r}')

    def check_send(self, source: str, target: str, body: str) -> None:
        """Requests and releases go to the manager of the object."""
        thing = body.partition(" ")[2]
        if self._site_of[thing] != target:
            raise Refused(f"{target} does not manage {thing!r}; send {body!r} to {self._site_of[thing]}")

    def after_send(self, process: Process, body: str) -> State:
        """A process that waits neither asks nor releases; a process that asks waits from now on."""
        state: State = process.state
        word, _, thing = body.partition(" ")
        if word == GRANT:
            return state
        if state["waits"]:
            raise Refused(f"{process.name} waits for {state['waits']} and does nothing else until it has it")
        if word == ASK:
            if thing in state["holds"]:
                raise Refused(f"{process.name} holds {thing} already")
            return {**state, "waits": thing}
        if thing not in state["holds"]:
            raise Refused(f"{process.name} does not hold {thing} and cannot release it")
        return {**state, "holds": [own for own in state["holds"] if own != thing]}

    def before_send(self, state: State, body: str) -> State:
        """A process that asks did not wait before; one that releases an object held it."""
        word, _, thing = body.partition(" ")
        if word == RELEASE:
            return {**state, "holds": [*state["holds"], thing]}
        return {**state, "waits": ""} if word == ASK else state

    def after_receive(self, process: Process, message: Message, out: Out) -> State:
        """A manager grants an object to the first process in its queue, which then holds it."""
        state: State = process.state
        word, _, thing = message.body.partition(" ")
        source = message.channel.source_name
        if word == GRANT:
            return {**state, "holds": [*state["holds"], thing], "waits": ""}
        if thing not in state["objects"]:
            return state
        before = state["objects"][thing]
        queue = [*before, source] if word == ASK else [name for name in before if name != source]
        if queue and queue[:1] != before[:1]:
            out.send(queue[0], f"{GRANT} {thing}")
        return {**state, "objects": {**state["objects"], thing: queue}}

    def turn_gap(self, process: Process) -> float | None:
        """Uniform between a half and one and a half of `pace`; who waits has no turn."""
        if self._next(process) is None:
            return None
        return self.pace * (0.5 + randomness.unit(self._keys[process.number], 2 * process.turn))

    def turn(self, process: Process) -> Action | None:
        """Asks for an object; who holds one asks for a second one or releases what it holds."""
        return self._next(process)

    def _next(self, process: Process) -> Action | None:
        """An object in hand is released, or another one asked for; the draw of this turn decides."""
        state = process.state
        if not self.takes_turns or state["waits"]:
            return None
        draw = randomness.bits(self._keys[process.number], 2 * process.turn + 1)
        wanted = self._wanted(process) if process.turn < 2 * self.requests else []
        held = self._granted(process)
        if held and (len(held) > 1 or not wanted or (draw >> 32) % 100 >= self.greed):
            return self._to_site(process, f"{RELEASE} {held[0]}")
        return self._to_site(process, f"{ASK} {wanted[(draw & 0xFFFFFFFF) % len(wanted)]}") if wanted else None

    def _granted(self, process: Process) -> list[str]:
        """The objects it holds that others manage. Those it manages itself it keeps."""
        return [thing for thing in process.state["holds"] if self._site_of[thing] != process.name]

    def _wanted(self, process: Process) -> list[str]:
        """The objects of neighbours that it does not hold."""
        neighbours = {channel.target_name for channel in process.outgoing}
        return [
            thing for thing, site in self._site_of.items() if site in neighbours and thing not in process.state["holds"]
        ]

    def _to_site(self, process: Process, body: str) -> Action:
        site = self._site_of[body.partition(" ")[2]]
        return Send(next(channel for channel in process.outgoing if channel.target_name == site), body)

    def options(self, process: Process) -> Sequence[Action]:
        """Without time it may ask for any object, or release any that it holds."""
        state = process.state
        if not self.takes_turns or state["waits"]:
            return ()
        asks = [f"{ASK} {thing}" for thing in self._wanted(process)] if process.turn < 2 * self.requests else []
        return [
            self._to_site(process, body) for body in (*asks, *(f"{RELEASE} {own}" for own in self._granted(process)))
        ]

    # ------------------------------------------------------------------ words

    def state_words(self, state: State) -> str:
        """The objects held and waited for, then those managed: `holds b, waits for a`, `a: U, then T`."""
        told = [f"holds {' and '.join(state['holds'])}"] if state["holds"] else []
        told += [f"waits for {state['waits']}"] if state["waits"] else []
        parts = [", ".join(told)] if told else []
        parts += [f"{thing}: {', then '.join(queue) or 'free'}" for thing, queue in state["objects"].items()]
        return "; ".join(parts) or "idle"
