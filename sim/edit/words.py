"""Edits in words, and the effect of FIFO on them."""

from __future__ import annotations

import math

from sim.core.algorithm import ALGORITHMS
from sim.core.broken_rule import BROKEN_RULES
from sim.core.detector import DETECTORS
from sim.core.errors import brief
from sim.core.fault_kinds import FAULT_KINDS, MESSAGE, PROCESS
from sim.core.model import SEND, MessageReference
from sim.core.network import RAW
from sim.core.notation import caption, has_label
from sim.core.recovery import RecoveryPlan
from sim.core.topology import EVERY_CHANNEL
from sim.document.files import read_reference
from sim.document.scenario import FaultLine, Initiation, Scenario, ScriptLine
from sim.document.toml_table import Table
from sim.edit.another_algorithm import with_algorithm
from sim.edit.edits import ANOTHER, Edit, is_plan, planned, read_message
from sim.edit.items import Item, changes_of, name_of, read_item
from sim.explain import words
from sim.explain.choices import all_choices
from sim.explain.properties import watched_in_words
from sim.explain.words import listing, words_of
from sim.run.execution import Execution
from sim.run.fifo import due, waits_behind
from sim.run.flights import Flight
from sim.run.references import find, references
from sim.services.settings import PARAMETERS, STORAGE, WHEN_HELD
from sim.verify.stable import properties_of


def describe_edit(before: Execution, edit: Edit) -> str:
    """An edit that was applied to `before`, in words, for the list of changes."""
    if is_plan(edit):
        return describe_plan(before.scenario, edit)
    do, table = edit["do"], Table(edit, "")
    if do in ("delay", "hold", "release"):
        what = _message_in_words(before, read_message(table))
        return f"delay {what}: {edit['delay']:g} time units" if do == "delay" else f"{do} {what}"
    if do == "delete":
        return f"delete {name_of(read_item(before.scenario, table).of(before.scenario))}"
    if do == ANOTHER:
        of_round = f" of round {edit['round']}" if edit.get("round") else ""
        return f"another run, number {edit.get('number', 0)}{of_round}"
    if do == "break":
        switch = BROKEN_RULES[edit["rule"]].switch
        return f"broken: {words.small(switch)}" if edit.get("on", True) else f"no longer broken: {words.small(switch)}"
    if do == "roll_back":
        has_time = before.scenario.scheduler.has_time and isinstance(edit.get("at"), int | float)
        at = f" at {edit['at']:g}" if has_time else ""
        return f"roll back to {edit['to']}{at}"
    if do == "watch":
        return f"{edit['process']} starts snapshots until one shows: {words.small(DETECTORS[edit['property']].holds)}"
    return _by_hand_in_words(before, edit)


def describe_plan(before: Scenario, edit: Edit) -> str:
    """An edit of what is planned (`is_plan`) that was applied to `before`, in words."""
    do, table = edit["do"], Table(edit, "")
    if do == "change":
        return _change_in_words(read_item(before, table).of(before), table)
    if do == "algorithm":
        return _algorithm_in_words(before, edit)
    if do == "parameter":
        own = before.rules.parameters[edit["name"]]
        value = edit.get("value", own.default)
        if own.kind == "texts":
            return f"{own.help}: {words.listing(value) or 'the default'}"
        return f"{own.help}: {'yes' if value is True else 'no' if value is False else brief(value)}"
    if do == "coordinator":
        return _coordinator_in_words(edit)
    if do == "storage":
        return _storage_in_words(edit)
    if do == "recovery":
        return _recovery_in_words(edit)
    if do == "fifo":
        if edit["channel"] == EVERY_CHANNEL:
            return "every channel is FIFO" if edit.get("fifo") else "messages may overtake each other on every channel"
        channel = caption(before.processes, edit["channel"])
        return f"{channel} is FIFO again" if edit.get("fifo") else f"messages on {channel} may overtake each other"
    if do == "fault":
        return _fault_in_words(before, edit)
    if do == "no_faults":
        return "nothing fails"
    if do == "network":
        if edit.get("layer", before.network.layer) == RAW:
            return "a raw network: lost messages stay lost, copies arrive, no channel is FIFO"
        return f"a FIFO layer resends lost messages after {edit.get('resend', before.network.resend):g}"
    if do == "capacity":
        every = edit["channel"] == EVERY_CHANNEL
        channel = "every channel" if every else caption(before.processes, edit["channel"])
        most = edit.get("capacity")
        return f"{channel} holds {'any number of messages' if most is None else words.counted(most, 'message')}"
    timed = before.scheduler.kind != "manual" and isinstance(edit.get("at"), int | float)
    at = f" at {edit['at']:g}" if timed else ""
    if do == "send":
        return f"{edit['process']} sends {edit.get('body') or 'a message'} to {edit['to']}{at}"
    if do == "internal":
        return f"an internal event of {edit['process']}{at}"
    return f"{edit['process']} starts a snapshot{at}"


def _coordinator_in_words(edit: Edit) -> str:
    if "name" not in edit:
        return "with a coordinator" if edit.get("on", True) else "without a coordinator"
    own = PARAMETERS[edit["name"]]
    value = edit.get("value", own.default)
    if own.kind == "text":
        return f"if a process would hold too many messages: {WHEN_HELD.get(value, value)}"
    return f"{own.help}: {'any number' if value == math.inf else brief(value)}"


def _storage_in_words(edit: Edit) -> str:
    if "name" not in edit:
        return "snapshots are stored" if edit.get("on", True) else "snapshots are not stored, so there is no recovery"
    own = STORAGE[edit["name"]]
    value = edit.get("value", own.default)
    if own.kind == "flag":
        return f"the storage: {own.help}: {'yes' if value else 'no'}"
    return f"the storage: {own.help}: {'any number' if value == math.inf else brief(value)}"


def _recovery_in_words(edit: Edit) -> str:
    name, value = edit.get("name", "on"), edit.get("value")
    if name == "on":
        is_on = edit.get("on", True) if "name" not in edit else bool(value)
        never = "no recovery" if "name" not in edit else "no recovery after a crash"
        return "a recovery after each crash" if is_on else never
    if name == "at":
        times = value if isinstance(value, list) else [] if value is None else [value]
        return f"a recovery at {listing([f'{time:g}' for time in times])}" if times else "no recovery at a given time"
    if name == "detect":
        return f"a recovery begins {RecoveryPlan.detect if value is None else value:g} after a crash"
    if name == "processes":
        who = value if isinstance(value, list) else []
        return f"a recovery restores {f'{listing(who)} only' if who else 'every process'}"
    is_on = value is None or value
    if name == "channels":
        return "a recovery puts the channels' contents back" if is_on else "a recovery drops the channels' contents"
    return "a recovery fences off the old epoch" if is_on else "a recovery lets messages of the old epoch in"


def _fault_in_words(before: Scenario, edit: Edit) -> str:
    at = f" at {edit['at']:g}" if before.scheduler.kind != "manual" and "at" in edit else ""
    kind = FAULT_KINDS[edit["kind"]]
    if kind.about == MESSAGE:
        message = read_reference(Table(edit["message"], "")).in_words(before.rules.marker)
        return f"{message} is {kind.does}{at}"
    if edit["kind"] == "slow":
        factor = edit["factor"]
        pace = "goes at its usual pace" if factor == 1 else f"takes {factor:g} times as long"
        return f"{edit['process']} {pace} from {edit['at']:g} on" if at else f"{edit['process']} {pace}"
    if kind.about == PROCESS:
        return f"{edit['process']} {kind.does}{at}{_instead(before, edit)}"
    if "groups" in edit:
        sides = " | ".join(words.listing(group) for group in edit["groups"])
        is_split = edit["kind"] == "sever"
        return f"the network is {'split' if is_split else 'healed'}{at}{_instead(before, edit)}: {sides}"
    names = [caption(before.processes, name) for name in edit["channels"]]
    are = "is" if len(names) == 1 else "are"
    return f"{words.listing(names)} {are} {kind.does}{at}{_instead(before, edit)}"


def _instead(before: Scenario, edit: Edit) -> str:
    """The time of the later fault whose place the new one takes: `, not at 9`; empty if there is none."""
    if "at" not in edit:
        return ""
    after = planned(before, edit, 0.0).faults
    gone = [own for own, now in zip(before.faults, after, strict=False) if own != now]
    return f", not at {gone[0].at:g}" if gone else ""


def _algorithm_in_words(before: Scenario, edit: Edit) -> str:
    """The new algorithm, the FIFO channels that it lacks, and the new starters of its snapshots."""
    algorithm, after = ALGORITHMS[edit["kind"]], with_algorithm(before, edit["kind"], edit.get("source"))
    is_broken = algorithm.needs_fifo and not all(channel.fifo for channel in after.channels)
    found = f"snapshots by {algorithm.title}{', though it needs FIFO channels' if is_broken else ''}"
    starters = list(dict.fromkeys(start.process for start in after.snapshots))
    if set(starters) - {start.process for start in before.snapshots}:
        found += f", started by {listing(starters) if len(starters) < 4 else f'{len(starters)} processes'}"
    if before.recovery is not None and after.recovery is None:
        found += "; the recovery is removed, because the rules of this algorithm do not support one"
    return found if edit.get("source") is None else f"{found}; {edit['source']} loses its incoming channels"


def _message_in_words(before: Execution, reference: MessageReference) -> str:
    """A message by the label of its send, or by its channel; by the step of its send where that has no label."""
    flight, algorithm = find(before, reference), before.engine.algorithm
    if reference.label is not None and flight is not None and not has_label(flight.send):
        return f"the message that {flight.send.process} sent at step {flight.send.step}"
    channel = reference.channel and words_of(before).channel(reference.channel)
    return reference._replace(channel=channel).in_words(algorithm.marker, algorithm.control_message)


def _change_in_words(planned: ScriptLine | Initiation | FaultLine, table: Table) -> str:
    name = name_of(planned)
    of = f" of {planned.process}" if isinstance(planned, ScriptLine) and planned.label else ""
    after = f" after {planned.after}" if planned.after else ""
    given = {key: table.values[key] for key in changes_of(table)}
    targets = [f"{given['at']:g}{after}"] if "at" in given else []
    targets += [f"process {given['process']}"] if "process" in given else []
    parts = [f"move {name}{of} to {' on '.join(targets)}"] if targets else []
    parts += [f"{planned.process} takes {given['factor']:g} times as long"] if "factor" in given else []
    parts += [f"send {name}{of} to {given['to']}"] if "to" in given else []
    parts += [f"body of {name}: {'none' if given['body'] == '' else given['body']}"] if "body" in given else []
    return ", ".join(parts)


def _by_hand_in_words(before: Execution, edit: Edit) -> str:
    after = edit.get("after", before.steps)
    if edit["do"] == "manual":
        return f"choose every step from step {after + 1} on"
    (enabled,) = all_choices(before, after, after)
    chosen = next((choice.words for choice in enabled if choice.choice == edit["choice"]), edit["choice"])
    return f"choose: {chosen}"


def consequence(before: Execution, after: Execution, edit: Edit) -> str | None:
    """The consequence of an edit in words (None: there is none). `before` and `after` are the runs without and with it.

    For repeated snapshots: when they found the property. For any other edit: the effect of FIFO, when the edited
    message waits behind another, or others now wait behind it.
    """
    if edit["do"] == "watch":
        (own,) = (own for own in properties_of(after) if own.detector.name == edit["property"])
        taken = [start.snapshot for start in after.scenario.snapshots[len(before.scenario.snapshots) :]]
        return watched_in_words(after, own, taken)
    moved = _moved(after, edit)
    waits = waits_behind(after)
    sentences = [] if moved is None or moved.id not in waits else [_waiting(after, moved)]
    newly = _newly_waiting(before, after)
    behind = [message for message in newly if message != getattr(moved, "id", None)]
    root = moved.id if moved is not None else next((waits[message] for message in behind), None)
    pushed = [after.flights[message] for message in behind if waits[message] == root]
    if root is not None and pushed:
        sentences.append(_pushed(after, after.flights[root], pushed))
    return " ".join(sentences) or None


def _moved(after: Execution, edit: Edit) -> Flight | None:
    """The message that an edit changed, in the run after it (None: the edit is not about a message)."""
    table = Table(edit, "")
    if edit["do"] in ("delay", "hold", "release"):
        return find(after, read_message(table))
    if edit["do"] == "send":
        return _sent_by(after, Item("script", len(after.scenario.script) - 1))
    if edit["do"] == "change":
        return _sent_by(after, read_item(after.scenario, table))
    return None


def _sent_by(execution: Execution, item: Item) -> Flight | None:
    """The message that a script line sends (None: it sends none)."""
    step = execution.step_of_item.get(item.number) if item.key == "script" else None
    return next((f for f in execution.flights if f.send.step == step and f.send.kind == SEND), None)


def _newly_waiting(before: Execution, after: Execution) -> list[int]:
    """The ids of the messages of `after` that wait behind a message behind which they did not wait in `before`."""
    known = {reference: message for message, reference in enumerate(references(before))}
    reasons = {references(before)[m]: references(before)[front] for m, front in waits_behind(before).items()}
    own = references(after)
    return [
        message
        for message, front in waits_behind(after).items()
        if own[message] in known and reasons.get(own[message]) != own[front]
    ]


def _waiting(execution: Execution, flight: Flight) -> str:
    front = execution.flights[waits_behind(execution)[flight.id]]
    in_words = words_of(execution).message
    name, caption = _capital(in_words(flight)), _caption(execution, flight)
    if flight.receive is None:
        return f"{name} never arrives: {caption} is FIFO, and it waits behind {in_words(front)}, which is held."
    instead = f"arrives at {flight.receive.time:g}, not at {due(execution, flight):g}"
    return f"{name} {instead}: {caption} is FIFO, and it waits behind {in_words(front)}."


def _pushed(execution: Execution, front: Flight, pushed: list[Flight]) -> str:
    in_words = words_of(execution).message
    names = _capital(words.listing([in_words(flight) for flight in pushed]))
    one = len(pushed) == 1
    arrive = "arrives" if one else "arrive"
    behind = f"behind {in_words(front)}"
    how = f"now {arrive} {behind}" if front.receive else f"never {arrive}: {'it is' if one else 'they are'} {behind}"
    return f"{names} on {_caption(execution, front)}, which is FIFO, {how}."


def _caption(execution: Execution, flight: Flight) -> str:
    return words_of(execution).channel(flight.channel.name)


def _capital(name: str) -> str:
    return f"The{name[3:]}" if name.startswith("the ") else name
