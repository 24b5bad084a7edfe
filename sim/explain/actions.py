"""The actions of Dijkstra's argument in words, faults among them, and the reason why one must stay before another."""

from __future__ import annotations

from typing import NamedTuple

from sim.core.model import COPIED, CRASH, FENCED, JOIN, LEAVE, LOST, RESTART
from sim.core.notation import SIGNS
from sim.explain.faults import sentences_of_faults
from sim.explain.narration import narrator_of
from sim.explain.rollbacks import sentences_of_recovery
from sim.explain.words import Words, words_of
from sim.run.execution import Execution
from sim.theory.interchange import ColouredAction, Forbidden
from sim.theory.positions import ACTS, Position

_NAMES = {
    CRASH: "the crash of {process}", RESTART: "the restart of {process}", JOIN: "the joining of {process}",
    LEAVE: "the leaving of {process}", COPIED: "the copying of {message}", LOST: "the loss of {message}",
    FENCED: "the fencing off of {message}",
}  # fmt: skip


class ActionWords(NamedTuple):
    """An action in words: its `label` in the row, with a sign if it is a fault; its name; and its sentence.

    The name stands in sentences: `H`, `the loss of 20`.
    """

    label: str
    name: str
    sentence: str


def action_in_words(execution: Execution, action: ColouredAction) -> ActionWords:
    """An action in words."""
    if action.kind == ACTS:
        events = execution.history.of[action.process][action.first - 1 : action.last]
        sentences = map(narrator_of(execution).application_event, events)
        return ActionWords(events[0].label or "", events[0].label or "", " ".join(sentences))
    line, number = action.place
    return fault_in_words(execution, execution.order.lines[line][number - 1], action.process)


def fault_in_words(execution: Execution, fault: Position, process: str) -> ActionWords:
    """A fault in words, on the line of a process ("": a message is on its way)."""
    row, words = execution.events[fault.row], words_of(execution)
    sentences_of = sentences_of_recovery if fault.kind == FENCED else sentences_of_faults
    sentence = " ".join(sentences_of(execution, [row]))
    if fault.message is None:
        return ActionWords(f"{process}{SIGNS[fault.kind]}", _NAMES[fault.kind].format(process=process), sentence)
    what = _message(execution, words, fault.message, is_copied=fault.kind == COPIED)
    at = f" at {process}" if process else ""
    return ActionWords(_label(execution, words, fault), f"{_NAMES[fault.kind].format(message=what)}{at}", sentence)


def _label(execution: Execution, words: Words, fault: Position) -> str:
    """`×20`, `+20`; `×+20` where the copy is lost."""
    flight = execution.flights[fault.message or 0]
    copy = SIGNS[COPIED] if flight.copied is not None else ""
    return (SIGNS[fault.kind] if fault.kind != COPIED else "") + copy + words.label(flight._replace(copied=None))


def _message(execution: Execution, words: Words, message: int, *, is_copied: bool = False) -> str:
    """A message; if it `is_copied`, that of which it is the copy."""
    flight = execution.flights[message]
    return words.message(flight._replace(copied=None) if is_copied else flight)


def why_first(execution: Execution, one: ColouredAction, other: ColouredAction) -> str:
    """The reason why an action comes before another one in every order, as a clause: `H sends 20, and D accepts it`."""
    words, message = words_of(execution), other.causes[one.place]
    first, second = action_in_words(execution, one).name, action_in_words(execution, other).name
    name = _message(execution, words, message)
    what = name if name not in (first, second) else "its message"
    if one.kind == JOIN:
        return f"{one.process} joins before {second} sends {what}"
    if one.kind == COPIED:
        original = _message(execution, words, one.message or 0, is_copied=True)
        does = "accepts" if other.kind == ACTS else "can lose" if other.kind == LOST else "can fence off"
        who = second if other.kind == ACTS else "it" if not other.process else other.process
        return f"the network copies {original} before {who} {does} {what}"
    before = {COPIED: "it can be copied", LOST: "it can be lost", FENCED: "it can be fenced off"}
    if other.kind == LEAVE:
        return f"{first} sends {what} before {other.process} leaves"
    if other.kind != ACTS:
        return f"{first} sends {what} before {before[other.kind]}"
    return f"{first} sends {what}, and {second} accepts it"


def why_sharp(execution: Execution, found: Forbidden) -> str:
    """The reason why no order of the actions leads through the recorded state."""
    first, second = (action_in_words(execution, own).name for own in (found.red, found.white))
    if found.red.kind == found.white.kind == ACTS:
        sender, acceptor = found.red.process, found.white.process
        return (
            f"The message {_message(execution, words_of(execution), found.message)} is red: {sender} had turned red "
            f"when it sent it ({first}). {acceptor} was still white when it accepted it ({second}). So in every order "
            f"{sender} turns red before {acceptor} does, and {first} comes before {second}."
        )
    return (
        f"{first} is red, and {second} is white. But {why_first(execution, found.red, found.white)}. So in every order "
        f"{first} comes before {second}."
    )
