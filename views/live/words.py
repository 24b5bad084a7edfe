"""The texts of the page Live. The texts of its buttons and panels are in assets/live."""

from __future__ import annotations

TERMS = ("snapshot", "marker", "channel", "cut", "lattice", "workload")

TITLE = "Live"

# ------------------------------------------------------------------ the form

START_A_CLUSTER = "Start a cluster"
ABOUT = (
    "Each process is a program of its own on this server's computer. The processes send each other messages by the "
    "same rules as in Explore. All visitors of this page watch the same cluster."
)
STEPS = {
    "Watch": "Each line is a process, each arrow a message. The diagram grows as things happen. Pause it, or go back.",
    "Take a snapshot": "Markers go out, and each process records its state. A dashed line shows the cut, with all "
    "messages in transit across it.",
    "Kill a process": "It ends at once. A new process takes its place, and all go back to the last complete snapshot.",
    "Freeze a process": "It stops and loses nothing, and messages to it wait. Press Thaw within 4 s. Later a new "
    "process takes its place, and all go back to the last complete snapshot.",
    "Sever a channel": "Messages on it wait. A snapshot cannot end until you mend the channel.",
    "See that nothing is lost": "Below the diagram is the sum of what the processes hold and what is in transit. Click "
    "a snapshot to see what it recorded.",
    "Take it with you": "Choose some seconds of the run. Open them in Explore, with states, cuts and lattice. Or open "
    "them in Traces, as a log.",
}
PROCESSES = "Processes"
SPEED = "Speed"
SPEED_HELP = "The number of messages and their delays. For example, “Slow” has delays of 250 to 900 ms."
SLOW, LIVELY, FAST = "Slow: you see every message", "Lively", "Fast: hundreds of messages a second"
WORKLOAD = "What they do"
WORKLOAD_HELP = "The meaning of the messages. For example, the processes of a bank send each other money."
ALGORITHM = "Snapshots follow the rules of"
ALGORITHM_HELP = (
    "Under Chandy-Lamport’s rules, all processes go back when you kill one. Under some other rules, a killed process "
    "stays away."
)
TRANSPORT = "They talk over"
TRANSPORT_HELP = "The connection between two processes. TCP and gRPC carry the same messages."
OVER_TCP, OVER_GRPC = "TCP", "gRPC: a stream for each channel"
START = "Start the cluster"
OWNER_CONTROLS = "Only the person who started the cluster can control it. All others watch."


def ends(minutes: float, unwatched: float, gigabytes: float) -> str:
    """The ways in which a cluster ends."""
    return (
        "It stops when you press Stop or the app exits. It also stops after "
        f"{minutes:.0f} minutes, after {unwatched:.0f} minutes unwatched, or at {gigabytes:.0f} GB of logs."
    )


def title(processes: int, workload: str, algorithm: str) -> str:
    """A cluster in a few words."""
    return f"{processes} processes: {workload}, {algorithm}"


# ------------------------------------------------------------------ errors

NOT_YOURS = "another visitor started this cluster; you may watch it"
RUNS_ALREADY = "a cluster runs on this server already; watch it, or stop it first"
NOT_BEGUN = "the cluster has not begun; wait until its processes have sent messages"
GONE = "This cluster no longer exists. Reload the page."
MANY_WATCH = "Many visitors watch this cluster. Your turn comes in a few seconds."
PRINTED_NOTHING = "it printed nothing"
NOTHING_HAPPENS = "nothing happens in these seconds"
TAKEN_BACK = "a recovery has undone all events in these seconds"


def not_there(*, is_starting: bool) -> str:
    """The error for a cluster that cannot be controlled."""
    return f"the cluster is {'starting; wait for it' if is_starting else 'over; start another one'}"


def did_not_start(printed: str) -> str:
    """The problem of a cluster that did not start."""
    return f"the cluster did not start: {printed}"


def unwatched(minutes: float) -> str:
    """The problem of a cluster without visitors."""
    return f"the cluster was stopped, because it was unwatched for {minutes:.0f} minutes"


def ran_too_long(minutes: float) -> str:
    """The problem of a cluster that ran too long."""
    return f"the cluster was stopped, because it ran for {minutes:.0f} minutes, the limit"


def too_many_logs(gigabytes: float) -> str:
    """The problem of a cluster with too many logs."""
    return f"the cluster was stopped, because its event logs reached {gigabytes:.0f} GB, the limit"


def number_of_processes(least: int, most: int, given: int) -> str:
    """The error for a wrong number of processes."""
    return f"processes: expected {least} to {most}, not {given}"


def none_of(name: str, given: str, known: str) -> str:
    """The error for an unknown choice."""
    return f"{name}: expected one of {known}, not {given!r}"


def does_not_run(workload: str, algorithm: str) -> str:
    """The error for a workload and an algorithm that do not run live."""
    return f"{workload} under {algorithm}: no cluster runs that; choose from the menus"


def no_snapshot(name: str) -> str:
    """The error for a snapshot that is not in the list."""
    return f"there is no snapshot {name!r} in the list; choose another one"


def show_others(why: str) -> str:
    """The error for seconds that cannot be opened."""
    return f"{why}; show other seconds"


def too_many_events(count: int) -> str:
    """The error for seconds with too many events for Explore."""
    return f"{count:,} events are more than Explore shows of a cluster; show fewer seconds"


def too_many_actions(most: int) -> str:
    """The error for seconds with too many actions."""
    return f"these seconds have more than {most:,} actions; show fewer seconds"


# ------------------------------------------------------------------ the state at a moment

BEGINNING = "the beginning"
EVERY_PART_THERE = "every part is there, and it is being stored"


def is_down(names: str, *, is_one: bool, goal: str) -> str:
    """The processes that are down; `goal` is the snapshot of the recovery under way, if any."""
    back = f": all go back to {goal}" if goal else ""
    return f"{names} {'is' if is_one else 'are'} down{back}."


def going_back(goal: str, names: str, *, is_one: bool) -> str:
    """A recovery under way, and the processes that are missing."""
    return f"All go back to {goal}; {names} {'is' if is_one else 'are'} not there yet."


def stands_still(name: str, seconds: float) -> str:
    """A frozen process."""
    return f"{name} has stood still for {seconds:.0f} s."


def under_way(snapshot: str, state: str) -> str:
    """A snapshot that is under way."""
    return f"{snapshot} is under way: {state}."


def not_recorded(names: str, *, is_one: bool) -> str:
    """The processes that a snapshot still needs."""
    return f"{names} {'has' if is_one else 'have'} not recorded yet"


def still_wait(names: str, *, is_one: bool) -> str:
    """The processes that still wait for the end of their channels."""
    return f"all have recorded, and {names} still {'waits' if is_one else 'wait'} for messages"


def severed(names: str, *, is_one: bool) -> str:
    """The severed channels."""
    return f"{names} {'is' if is_one else 'are'} severed."


def all_run(count: int) -> str:
    """A cluster without problems."""
    return f"All {count} processes run."


def channels(count: int) -> str:
    """Many channels."""
    return f"{count} channels"


# ------------------------------------------------------------------ the last event

ITS_CUT = "The dashed line is its cut."
JOINS, LEAVES, STANDS_STILL, GOES_ON, COMPLETE = (
    "{process} joins",
    "{process} leaves",
    "{process} stands still",
    "{process} goes on",
    "{snapshot} is complete",
)


def at(seconds: float, words: str) -> str:
    """An event with its time."""
    return f"At {seconds:.1f} s: {words}."


def ended(names: str, *, is_one: bool) -> str:
    """The processes that have ended."""
    return f"{names} {'has' if is_one else 'have'} ended"


def all_go_back(goal: str, why: str) -> str:
    """A recovery, and the ends of processes that caused it ("": unknown)."""
    return f"{why}, so all processes go back to {goal}" if why else f"All processes go back to {goal}"


def so_failed(snapshot: str) -> str:
    """A snapshot that a recovery has ended."""
    return f"So {snapshot} has failed"


def recorded(names: str, snapshot: str, *, is_one: bool) -> str:
    """The processes that have recorded."""
    return f"{names} {'has recorded its state' if is_one else 'have recorded their states'} for {snapshot}"


def channels_severed(names: str, *, is_one: bool) -> str:
    """Channels that were just severed."""
    return f"{names} {'is' if is_one else 'are'} severed: messages on {'it' if is_one else 'them'} wait"


def channels_mended(names: str, *, is_one: bool) -> str:
    """Channels that were just mended."""
    return f"{names} {'is' if is_one else 'are'} mended: messages on {'it' if is_one else 'them'} go on"


# ------------------------------------------------------------------ sums, and the record of a snapshot

CONSISTENT = "consistent"
IT_IS_UNDER_WAY = "It is under way."
NOT_STORED = "It is no longer stored, so no recovery goes back to it. The event logs say this about it."
GIVEN_UP = "It is not complete, and nothing of it is stored. The event logs say this about it."
NOT_RECORDED_YET = "not recorded yet"


def inconsistent(witness: object) -> str:
    """The verdict on a cut that is not consistent."""
    return f"inconsistent: message {witness} was received before the cut, and sent after it"


def sum_of(in_processes: int, in_transit: int) -> str:
    """A sum over processes and channels."""
    return f"{in_processes} at the processes + {in_transit} in transit = {in_processes + in_transit}"


def sum_during_recovery(total: int, unit: str) -> str:
    """The sum while processes go back."""
    return f"All processes go back. The sum of {total} {unit} is complete again when they are there"


def lost_with(sum_there: str, total: int, unit: str, names: str) -> str:
    """A sum that a crash has made smaller."""
    return f"{sum_there} of {total} {unit}; the rest is lost with {names}"


def with_unit(sum_there: str, unit: str, expected: int | None) -> str:
    """A sum with its unit; `expected` is the right one (None: it is right)."""
    return f"{sum_there} {unit}" if expected is None else f"{sum_there} {unit}, not {expected}"


def recorded_sum(snapshot: str, words: str) -> str:
    """The sum that a snapshot recorded."""
    return f"{snapshot} recorded {words}."


def not_expected(words: str, expected: str) -> str:
    """A recorded sum that differs from the one at the beginning."""
    return f"{words}, not {expected}"


# ------------------------------------------------------------------ seconds that are opened on another page


def title_of_seconds(begin: float, end: float) -> str:
    """The title of a segment of the run."""
    return f"Live, {begin:.1f} to {end:.1f} s"


def origin(title: str, cluster: str) -> str:
    """The beginning of the story of a segment."""
    return f"{title}, of a cluster of {cluster}. Change what you like: the cluster does not notice."


def undone_from(begin: float) -> str:
    """The note on a recovery that undid the first events."""
    return f"A recovery has undone all events from {begin:.1f} s on. They are left out."


def unsent(receipts: str) -> str:
    """The note on receipts without a send."""
    return f"Left out: {receipts} of messages that were sent before the logs begin."


SOME_UNDONE = "A recovery has undone some events. They are left out, and the remaining events are here."


def left_out(snapshots: str) -> str:
    """The note on snapshots that cannot be taken again."""
    return (
        f"Left out: {snapshots}. Explore shows the Chandy-Lamport snapshots that lie within these seconds, but "
        "none that a recovery has undone."
    )


def part(begin: float, end: float) -> str:
    """The note on a log of a segment."""
    return (
        f"This is the part from {begin:.1f} to {end:.1f} s. Messages sent earlier are shown as sent at its beginning."
    )


IN_RECOVERY = "a recovery is under way at its end"


def cannot_begin(workload: str) -> str:
    """The reason for a segment without states."""
    return f"the workload {workload} cannot start from these states"


def without_states(begin: float, why: str) -> str:
    """The note on a segment without states."""
    return (
        f"It begins at {begin:.1f} s, without the states of the processes at that time: {why}. It has their events and "
        "their messages."
    )


def state_of(name: str, state: str | None) -> str:
    """The state of a process (None: it is down)."""
    return f"{name} is down" if state is None else f"{name} {state}"


def with_states(begin: float, states: str) -> str:
    """The note on a segment with states ("": too long to list)."""
    each = f": {states}." if states else "."
    return f"It begins at {begin:.1f} s with the state of each process{each}"


NONE_IN_TRANSIT = "No message was in transit."


def in_transit(count: int) -> str:
    """The note on messages in transit at the beginning of a segment."""
    was, are = ("message was", "It is") if count == 1 else ("messages were", "They are")
    return (
        f"{count} {was} in transit. {are} sent in the first steps, and after step {count} the run is at its beginning."
    )
