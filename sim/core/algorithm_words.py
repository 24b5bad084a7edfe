"""The rule book of an algorithm in words, and the sentences that explain the steps of any algorithm.

A *rule* of the rule book has clauses, in plain words, each with a name. A *caption* is the name of the clause that a
step carries out and a sentence, for one situation: what happened to a process, and whether this made it record. An
entry of CLAUSES is the part of that sentence for one thing that the process does; an empty one is left out. A *reason*
explains why a message, process or channel is recorded as it is. An algorithm brings its rules, and may replace each
sentence.

All are templates with fields in braces. Fields of captions: `process`; `title` (of the algorithm); `snapshot`; `of`
(" of S1" if there are several snapshots, else empty); `per` (" for S1", likewise); `marker` and `control` (the
algorithm's words for them); `source` (the sender); `channel` (its caption); `message` (what it carries); `content`
(a control message in words); `timer`; `stamp` (of the message); `snapshots` (those that record it); `clauses`. Fields
of reasons: see sim/explain/reasons.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class RuleClause(NamedTuple):
    """A part of a rule: its name, which is the badge of the steps that carry it out, and what it says."""

    name: str
    text: str


class Rule(NamedTuple):
    """A rule of an algorithm: its title, its clauses, and the paper and section that it is from."""

    title: str
    clauses: tuple[RuleClause, ...]
    source: str


class Caption(NamedTuple):
    """The name of a clause of a rule, and the sentence of a step that carries it out."""

    rule: str
    sentence: str


class Stamp(NamedTuple):
    """A kind of stamp: its name, a sentence that explains it, and the head of its arrows ("open" or "full")."""

    name: str
    title: str
    head: str


_RULE = "Rule of {title}"

# A key says what happened: the process is asked to start a snapshot, or a marker, message, control message or timer
# comes; with `_records` if this makes the process record. An algorithm may have keys of its own (`situation`).
CAPTIONS: Mapping[str, Caption] = {
    "initiates": Caption(_RULE, "{process} starts snapshot {snapshot}: it {clauses}."),
    "marker_records": Caption(_RULE, "{process} receives its first {marker}{of}, from {source}: it {clauses}."),
    "marker": Caption(_RULE, "{process} receives the {marker}{of} from {source}: it {clauses}."),
    "marker_late": Caption(
        _RULE, "{process} receives a {marker} of {snapshot} from {source}, but that snapshot has ended here: it "
        "changes nothing."
    ),
    "message_records": Caption(_RULE, "{process} {clauses}{per}, before it takes in {message} from {source}."),
    "message": Caption(_RULE, "{process} {clauses}{per}."),
    "control_records": Caption(_RULE, "{source} tells {process} {content}{per}: {process} {clauses}."),
    "control": Caption(_RULE, "{source} tells {process} {content}{per}: {process} {clauses}."),
    "timer_records": Caption(_RULE, "The timer {timer} of {process} goes off: {process} {clauses}{per}."),
    "timer": Caption(_RULE, "The timer {timer} of {process} goes off: {process} {clauses}{per}."),
    "own": Caption(_RULE, "{process} {clauses}{per}."),  # in the same step as an internal event or send
    "carries": Caption("", ""),  # a marker rides on a message that is sent; the stamp says so
    "asked": Caption("", "{process} is asked to start {snapshot}; nothing can be seen of it yet."),
    "starts": Caption(_RULE, "{process} begins its work: it {clauses}."),  # a service
    "kept": Caption(
        "", "{process} is recording {channel} for {snapshots}, so this message is part of the channel's state."
    ),
}  # fmt: skip

CLAUSES: Mapping[str, str] = {
    "record": "records its state {state}",
    "empty": "marks {channel} empty",  # by the message that made the process record
    "close_at_once": "closes {channel}, whose state is {contents}",  # likewise, with messages in the channel
    "close": "stops recording {channel}, whose state is {contents}",
    "changed": "changes what it recorded{per} to {state}, as that is no copy",
    "overtaken": "records what the {marker} has overtaken: {messages}",
    "marker": "sends a {marker} on {channels}",
    "markers": "sends {marker}s on {channels}",
    "marker_ahead": "sends a {marker} on {channels}, ahead of all messages",  # one that may overtake
    "markers_ahead": "sends {marker}s on {channels}, ahead of all messages",
    "tells": "tells {targets} {content}",
    "listens": "starts recording {channels}",
    "block": "takes nothing more from {channels}",
    "unblock": "takes from {channels} again",
    "pause": "pauses",
    "resume": "goes on",
    "done": "has done its part",
    "noted": "{note}",
    "decided": "decides that {decision}",
    "collected": "has every part, and knows that {snapshot} is complete",
    "abort": "throws its recording away",
    "ignore": "takes no notice of {snapshot} from now on",  # it has recorded nothing for it
    "nothing": "changes nothing",
}

# The sign of a message that a snapshot has recorded: its word below the diagram, and its sentence in the legend.
CHANNEL_STATE = ("in channel state", "A broad band: this message belongs to the recorded state of its channel.")

REASONS: Mapping[str, str] = {
    # application messages
    "channel": "{channel} holds {message}: sent {send}, before {source} recorded; received "
    "{receive}, after {target} recorded (step {first}) and before {channel} was closed "
    "(step {second}).",
    "channel_open": "{channel} holds {message}: sent {send}, before {source} recorded; received "
    "{receive}, after {target} recorded (step {first}). {channel} is not closed yet.",
    "channel_waits": "{channel} holds {message}: sent {send}, and {source} has not recorded; "
    "received {receive}, after {target} recorded (step {first}).",
    "passed": "{channel} holds {message}: sent {send}, before {source} recorded, and still on its way "
    "when {channel} was closed (step {first}).",
    "state": "{message} is part of {target}'s state: received {receive}, before {target} recorded (step {second}).",
    "future": "{message} is in no recorded state: {source} sent it {send}, after {source} recorded "
    "(step {first}). It belongs to what comes after the snapshot.",
    "unrecorded": "{message} is in no recorded state: {target} received it {receive} and has not recorded for "
    "{snapshot}.",
    "held": "{message} is on its way in {channel}: sent {send}, before {source} recorded (step {first}). It has not "
    "been received, and only what has been received is recorded.",
    "on_its_way": "{message} is on its way in {channel}: sent {send} and not received. {source} has not recorded for "
    "{snapshot}.",
    "lost_on_its_way": "{message} is lost: sent {send}, it was lost on its way (step {first}). What is lost is in no "
    "recorded state.",
    "dropped": "{message} is lost: sent {send}, it came to {target} while that was down (step {first}). What is lost "
    "is in no recorded state.",
    "fenced_off": "{message} is of an earlier epoch: it came to {target} after a recovery, and was fenced off (step "
    "{first}). What is fenced off changes nothing.",
    "not_put_back": "{message} is lost: sent {send}, before {source} recorded; a recovery (step {first}) took back "
    "that {target} received it, and did not put it back into {channel}.",
    "taken_back": "{message} is in no recorded state: {source} sent it {send}, and a recovery (step {first}) took that "
    "back before {source} recorded for {snapshot}.",
    "overtaken": "{message} is lost: sent {send}, before {source} recorded, but received "
    "{receive}, after {channel} was closed (step {first}).",
    "lost": "{message} is lost: sent {send}, before {source} recorded, and not received, though "
    "{channel} was closed (step {first}).",
    "orphan": "{message} makes the cut inconsistent: sent {send}, after {source} recorded (step "
    "{first}), yet received {receive}, before {target} recorded (step {second}).",
    "early": "{message} is recorded in {channel} although {source} sent it {send}, after {source} "
    "recorded (step {first}); it came {receive}.",
    "recorded_by_rule": "{channel} holds {message}, as the rules of {algorithm} ask: sent {send}.",
    "left_out_by_rule": "{message} is not recorded in {channel}, as the rules of {algorithm} ask: sent {send}.",
    "unfinished": "{snapshot} is still being recorded, so nothing is decided about {message}.",
    "ended": "{message} is in no recorded state of {snapshot}: that snapshot was aborted, and what it had recorded "
    "was thrown away.",
    # markers
    "marker_records": "This {marker} of {snapshot} was {target}'s first: {target} recorded its state (step {second}). "
    "A {marker} is not a message of the program, so it is in no recorded state.",
    "marker_closes": "This {marker} of {snapshot} told {target} that everything sent before it had come. So {target} "
    "closed {channel} (step {second}), which it had recorded since step {first}. A {marker} is in no recorded state.",
    "marker_closes_not_fifo": "This {marker} of {snapshot} closed {channel} (step {second}), which {target} had "
    "recorded since step {first}. But {channel} is not FIFO: what was sent before the {marker} may come after it. A "
    "{marker} is in no recorded state.",
    "marker_held": "This {marker} of {snapshot} is on its way in {channel}: {channel} is not closed.",
    "marker_noted": "{target} received this {marker} of {snapshot} at step {second}. A {marker} is in no recorded "
    "state.",
    "other_marker": "This {marker} belongs to another snapshot than {snapshot}. A {marker} is in no recorded state.",
    # control messages
    "control_records": "This {control} made {target} record for {snapshot} (step {second}). It travels outside all "
    "channels, so it is in no recorded state.",
    "control_closes": "This {control} closed {channel} for {snapshot} (step {second}). It travels outside all "
    "channels, so it is in no recorded state.",
    "control_held": "This {control} has not come to {target}.",
    "control_noted": "{target} received this {control} at step {second}. It travels outside all channels, so no state "
    "holds it.",
    # processes: why each recorded when it did
    "not_recorded": "{process} has not recorded for {snapshot}: nothing has made {process} record.",
    "initiated": "{process} started {snapshot} at step {step}.",
    "by_marker": "{process}'s first {marker} of {snapshot} came from {source} on {channel} at step {step}: it "
    "recorded.",
    "by_message": "{message} came from {source} on {channel} at step {step}: {process} recorded before it took it in.",
    "by_control": "At step {step} {source} told {process} {content}: it recorded.",
    "by_rule": "{process} recorded at step {step}, as the rules of {algorithm} ask.",
    # channels: from which step to which each was recorded
    "never_recorded": "{channel} is not recorded: {target} has not recorded for {snapshot}.",
    "still_recorded": "{target} records {channel} from its own recording (step {first}) on. {channel} is not closed "
    "yet, and {held} has come so far.",
    "empty_at_once": "{channel} is empty: it was closed when {target} recorded (step {second}).",
    "empty_not_fifo": "{channel} is empty: it was closed when {target} recorded (step {second}).",
    "empty_when_recorded": "{channel} is empty: it was closed when {target} recorded (step {second}).",
    "recorded_until": "{target} recorded {channel} from its own recording (step {first}) until it was closed (step "
    "{second}). In between came {held}.",
}

# These replace entries of REASONS if a marker closes a channel.
BY_MARKERS: Mapping[str, str] = {
    "channel_open": "{channel} holds {message}: sent {send}, before {source} recorded; received "
    "{receive}, after {target} recorded (step {first}). No {marker} has closed {channel} yet.",
    "overtaken": "{message} is lost: sent {send}, before {source} recorded, but received "
    "{receive}, after {channel} was closed (step {first}). The {marker} overtook it: {channel} is not FIFO.",
    "lost": "{message} is lost: sent {send}, before {source} recorded, and not received, though "
    "{channel} was closed (step {first}). The {marker} overtook it: {channel} is not FIFO.",
    "early": "{message} is recorded in {channel} although {source} sent it {send}, after {source} "
    "recorded (step {first}): it overtook the {marker} and came {receive}.",
    "not_recorded": "{process} has not recorded for {snapshot}: no {marker} of it has made {process} record.",
    "initiated": "{process} started {snapshot} at step {step}: it recorded before any {marker} came to it.",
    "still_recorded": "{target} records {channel} from its own recording (step {first}) on. No {marker} has closed it, "
    "and {held} has come so far.",
    "empty_at_once": "{channel} is empty: {target}'s first {marker} came on it (step {second}), so all that was sent "
    "before the {marker} had been received before {target} recorded.",
    "empty_not_fifo": "{channel} is empty: {target}'s first {marker} came on it (step {second}). But {channel} is not "
    "FIFO: what was sent before the {marker} may come after it.",
    "recorded_until": "{target} recorded {channel} from its own recording (step {first}) until it was closed by the "
    "{marker} on it (step {second}). In between came {held}.",
}

_CLOSES_BY_OVERTAKING = (
    "This {marker} of {snapshot} closed {channel} (step {second}), which {target} had recorded since step {first}. "
    "What it had overtaken was recorded, too. A {marker} is in no recorded state."
)
_EMPTY_BY_OVERTAKING = (
    "{channel} is empty: {target}'s first {marker} came on it (step {second}) and had overtaken nothing."
)

# These replace entries of BY_MARKERS if markers overtake messages.
BY_OVERTAKING: Mapping[str, str] = {
    "marker_closes": _CLOSES_BY_OVERTAKING,
    "marker_closes_not_fifo": _CLOSES_BY_OVERTAKING,
    "empty_at_once": _EMPTY_BY_OVERTAKING,
    "empty_not_fifo": _EMPTY_BY_OVERTAKING,
    "recorded_until": "{target} recorded {channel} from its own recording (step {first}) until the {marker} on it "
    "closed it (step {second}), with what that had overtaken: {held}.",
}
