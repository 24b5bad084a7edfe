"""The files of Princeton COS 418's snapshot assignment: reads .top and .events files, writes .snap files and traces.

A case becomes a scenario with the bank workload and the tick scheduler. The events between two ticks happen at
fractions of a tick, in the order of the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sim.core.delays import DelayRule
from sim.core.errors import InputError
from sim.core.model import MARKER_RECEIVE, MARKER_SEND, RECEIVE, RECORD, SEND, SNAPSHOT_COMPLETE, Event
from sim.core.topology import Topology
from sim.document.scenario import MOST_PROCESSES, Initiation, Scenario, SchedulerChoice, ScriptLine
from sim.document.toml_table import MOST_NUMBER
from sim.document.validate import name_problem, validate
from sim.run.execution import Execution
from sim.run.snapshots import snapshots_of

MOST_TICKS = 1_000_000
EXTRA_TICKS = 6


@dataclass
class _Script:
    """The sends and initiations of an .events file, with their times, and its number of ticks."""

    sends: list[ScriptLine] = field(default_factory=list)
    starts: list[Initiation] = field(default_factory=list)
    ticks: int = 0


def read_case(
    top: str,
    events: str,
    delays: Sequence[float] | None = None,
    seed: int = 0,
    name: str = "case",
    files: tuple[str, str, str] | None = None,
) -> Scenario:
    """The scenario of a .top and an .events text.

    `delays` holds one delay per message, in ticks, in the order of sending; None: whole delays from 0 to 4 are drawn
    from `seed`. Errors name the three `files` (default: `name`.top, `name`.events, `name`.json). Raises InputError.
    """
    top_file, events_file, delays_file = files or (f"{name}.top", f"{name}.events", f"{name}.json")
    tokens, links = _read_top(top, top_file)
    script = _read_events(events, events_file, tokens, set(links))
    rule = DelayRule("whole", 0, 4)
    if delays is not None:
        rule = DelayRule("listed", values=tuple(delays), where=delays_file)
    scenario = Scenario(
        name=name,
        title=f"COS 418: {name}",
        group="COS 418",
        source="a case in the format of Princeton's COS 418 snapshot assignment",
        processes=tuple(tokens),
        topology=Topology("listed", channels=tuple(sorted(links))),  # string order: N1, N10, N2
        workload="bank",
        parameters={"balance": tokens},
        scheduler=SchedulerChoice("tick", until=script.ticks, extra=EXTRA_TICKS),
        seed=seed,
        delay=rule,
        script=tuple(script.sends),
        snapshots=tuple(script.starts),
        origin=events_file,
    )
    validate(scenario)
    return scenario


def read_delays(text: str, origin: str) -> list[float]:
    """The delays in a .json file, which is a list with one number per message. Raises InputError."""
    try:
        delays = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{origin}: not valid JSON: {problem}; give a list such as [3, 2, 3]") from None
    if not isinstance(delays, list):
        raise InputError(f"{origin}: expected a list with one delay per message, such as [3, 2, 3]")
    for number, delay in enumerate(delays, start=1):
        if not isinstance(delay, int | float) or isinstance(delay, bool) or not 0 <= delay < MOST_NUMBER:
            advice = f"expected a number of at least 0, below {MOST_NUMBER:g}"
            raise InputError(f"{origin}: delay {number} is {str(delay)[:40]}, {advice}")
    return delays


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            yield number, words


def _whole(word: str, where: str, what: str, least: int = 0) -> int:
    if not word.isascii() or not word.isdigit() or len(word) > 12 or int(word) < least:
        raise InputError(f"{where}: {what} is a whole number of at least {least}, not {word[:40]!r}")
    return int(word)


def _read_top(text: str, origin: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
    lines = list(_lines(text))
    if not lines or len(lines[0][1]) != 1:
        raise InputError(f"{origin}: the first line must be the number of processes, such as 3")
    count = _whole(lines[0][1][0], f"{origin} line {lines[0][0]}", "the number of processes", 1)
    if count > MOST_PROCESSES:
        raise InputError(f"{origin} line {lines[0][0]}: {count} processes; use at most {MOST_PROCESSES}")
    tokens: dict[str, int] = {}
    for number, words in lines[1 : count + 1]:
        where = f"{origin} line {number}"
        if len(words) != 2:
            raise InputError(f'{where}: expected a process and its tokens, such as "N1 10"')
        if words[0] in tokens:
            above = f"line {lines[0][0]} announces {count} processes, of which {len(tokens)} stand above"
            raise InputError(f"{where}: the name {words[0]!r} is given twice; each needs its own, and {above}")
        if name_problem(words[0]):
            raise InputError(f"{where}: {name_problem(words[0])}")
        tokens[words[0]] = _whole(words[1], where, "a number of tokens")
    if len(tokens) < count:
        raise InputError(f"{origin} line {lines[0][0]}: announces {count} processes, but only {len(tokens)} follow")
    links: dict[tuple[str, str], int] = {}
    for number, words in lines[count + 1 :]:
        where = f"{origin} line {number}"
        if len(words) != 2:
            raise InputError(f'{where}: expected a link, such as "N1 N2"')
        for word in words:
            _known(word, where, tokens)
        if words[0] == words[1]:
            raise InputError(f"{where}: a link from {words[0]} to itself; a link joins two processes")
        if (words[0], words[1]) in links:
            raise InputError(f"{where}: the link {words[0]} {words[1]} is given twice; once is enough")
        links[words[0], words[1]] = number
    return tokens, list(links)


def _read_events(text: str, origin: str, tokens: dict[str, int], links: set[tuple[str, str]]) -> _Script:
    script = _Script()
    between: list[tuple[str, list[str]]] = []
    for number, words in _lines(text):
        where = f"{origin} line {number}"
        match words:
            case ["tick"] | ["tick", _]:
                _place(script, between)
                between = []
                script.ticks += _whole(words[1], where, "a number of ticks", 1) if len(words) == 2 else 1
                if script.ticks > MOST_TICKS:
                    raise InputError(f"{where}: more than {MOST_TICKS} ticks; use fewer")
            case ["send", a, b, amount]:
                for word in (a, b):
                    _known(word, where, tokens)
                if a == b:
                    raise InputError(f"{where}: {a} sends to itself; a link joins two processes")
                if (a, b) not in links:
                    raise InputError(f"{where}: there is no link {a} {b}; add it to the .top file")
                _whole(amount, where, "a number of tokens", 1)
                between.append((where, words))
            case ["snapshot", a]:
                _known(a, where, tokens)
                between.append((where, words))
            case _:
                raise InputError(
                    f'{where}: {" ".join(words)[:40]!r} is not understood; use "send A B n", "snapshot A" or "tick [n]"'
                )
    _place(script, between)
    return script


def _known(word: str, where: str, tokens: dict[str, int]) -> None:
    if word not in tokens:
        raise InputError(f"{where}: {word!r} is no process; there are {', '.join(tokens)}")


def _place(script: _Script, between: list[tuple[str, list[str]]]) -> None:
    """Add the lines between two ticks to `script`, at equal distances strictly between these ticks."""
    for position, (where, words) in enumerate(between, start=1):
        at = script.ticks + position / (len(between) + 1)
        if words[0] == "send":
            script.sends.append(ScriptLine(words[1], at, to=words[2], body=int(words[3]), where=where))
        else:
            script.starts.append(Initiation(str(len(script.starts)), words[1], at, where=where))


def snap_texts(execution: Execution) -> list[str]:
    """The texts of the .snap files, in the order of initiation. Messages are sorted by target, then by receipt."""
    received = {event.message_id: event.row for event in execution.events if event.kind == RECEIVE}
    order = {start.snapshot: number for number, start in enumerate(execution.scenario.snapshots)}
    texts = []
    for snapshot in sorted(snapshots_of(execution), key=lambda s: order[s.id]):
        lines = [snapshot.id]
        lines += [f"{name} {snapshot.local[name].state}" for name in sorted(snapshot.local)]
        in_order = sorted(snapshot.recorded_messages, key=lambda m: (m.channel.partition("->")[2], received[m.id]))
        for message in in_order:
            source, _, target = message.channel.partition("->")
            lines.append(f"{source} {target} token({message.body})")
        texts.append("\n".join(lines) + "\n")
    return texts


def trace(execution: Execution) -> list[str]:
    """The event log as the assignment prints it: time, tokens of the process before the event, event."""
    balance = dict(execution.scenario.parameters["balance"])
    lines = []
    step = 0
    for event in execution.events:
        begins = event.kind == RECORD and event.step != step  # not caused by a marker
        text = f"startSnapshot({event.snapshot_id})" if begins else _event_text(event)
        if text is not None:
            lines.append(f"{int(event.time)}\t{balance[event.process]}\t{event.process} {text}")
        if event.kind == SEND:
            balance[event.process] -= int(event.body or 0)
        elif event.kind == RECEIVE:
            balance[event.process] += int(event.body or 0)
        step = event.step
    return lines


def _event_text(event: Event) -> str | None:
    source, _, target = (event.channel or "").partition("->")
    texts = {
        SEND: f"sent {event.body} tokens to {target}",
        RECEIVE: f"received {event.body} tokens from {source}",
        MARKER_SEND: f"sent marker({event.snapshot_id}) to {target}",
        MARKER_RECEIVE: f"received marker({event.snapshot_id}) from {source}",
        SNAPSHOT_COMPLETE: f"endSnapshot({event.snapshot_id})",
    }
    return texts.get(event.kind)
