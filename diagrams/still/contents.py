"""The processes and channels on show in a picture, and their contents in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from diagrams.scene.composition import Scene
from sim.core.notation import where_sent
from sim.explain.words import counted, listing, sequence
from sim.run.recorded_parts import RecordedMessage
from sim.run.snapshots import Snapshot

MOST_LISTED = 6  # processes with their states, channels with their messages


def on_show(scene: Scene) -> list[str]:
    """The processes on show, in their order in the picture."""
    return [scene.lanes[lane] for lane in scene.layout.shown if lane < len(scene.processes)]


def left_out(scene: Scene) -> Iterator[str]:
    """A sentence with the number of processes that the picture does not show."""
    count, total = len(scene.processes) - len(on_show(scene)), len(scene.processes)
    if count:
        yield f"{count} of {total} processes {'is' if count == 1 else 'are'} left out."


def is_between(scene: Scene, processes: Sequence[str], message: int) -> bool:
    """Whether a message goes from one of these processes to another."""
    channel = scene.execution.flights[message].channel
    return scene.lanes[channel.source] in processes and scene.lanes[channel.target] in processes


def named(names: Sequence[str]) -> str:
    """The processes by their names; of many, their number."""
    return listing(names) if len(names) <= MOST_LISTED else f"{len(names)} processes"


def states_in_words(scene: Scene, snapshot: Snapshot, recorded: Sequence[str]) -> str:
    """The recorded state of each process; of many, the number that have recorded."""
    if len(recorded) > MOST_LISTED:
        return f"{len(recorded)} processes have recorded their states"
    words = scene.whole_run.words
    states = {name: words.state(snapshot.local[name].state, snapshot.events[name]) for name in recorded}
    return each_in_words("recorded", states)


def each_in_words(verb: str, texts: Mapping[str, str]) -> str:
    """Names with their texts, and the verb once: `P1 recorded 550 and P2 170`."""
    verbs = [f" {verb}", *[""] * len(texts)]
    return listing([f"{name}{verb} {what}" for (name, what), verb in zip(texts.items(), verbs, strict=False)])


def channels_in_words(scene: Scene, found: Sequence[RecordedMessage]) -> str:
    """The contents of each channel; of many, the numbers of messages and channels."""
    words = scene.whole_run.words
    held: dict[str, list[str]] = {}
    for message in found:
        held.setdefault(scene.captions[message.channel], []).append(words.label(scene.execution.flights[message.id]))
    return held_in_words(held)


def held_in_words(held: Mapping[str, Sequence[str]]) -> str:
    """The messages in each channel by its caption; of many channels, the numbers of messages and channels."""
    if len(held) > MOST_LISTED:
        return f"{counted(sum(map(len, held.values())), 'message')} are in {len(held)} channels"
    texts = {name: messages[0] if len(messages) == 1 else sequence(messages) for name, messages in held.items()}
    return f"channel {each_in_words('holds', texts)}" if texts else ""


def rest_in_words(found: Sequence[RecordedMessage], has_others: bool) -> str:
    """The channels that hold nothing; `has_others`: processes are left out of the picture."""
    channels = "channels between them" if has_others else "channels"
    return f"all other {channels} are empty" if found else f"all {channels} are empty"


def witness_in_words(scene: Scene, message: int | None) -> str:
    """The message that makes a cut inconsistent, with the reason; "" if there is none."""
    if message is None:
        return ""
    texts = scene.whole_run.words.message(scene.execution.flights[message])
    where = where_sent(is_unsent=message in scene.execution.history.unsent)
    end = "received" if message in scene.execution.history.receives else "lost"
    return f"{texts} is {end} inside the cut, but {where}"


def sentence(what: str, *parts: str) -> str:
    """A statement with its details, if any, as one sentence."""
    return ": ".join(filter(None, [what, "; ".join(filter(None, parts))])) + "."
