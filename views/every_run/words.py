"""The texts of the page Every run."""

from __future__ import annotations

TERMS = ("snapshot", "marker", "channel", "FIFO", "cut")

TITLE = "Every run"

# ------------------------------------------------------------------ the form

SUBJECT = "What is explored"
SUBJECT_HELP = (
    "Choose a run to try its steps in every possible order. Or choose a complete graph, in which each process may "
    "send to any other at any time. There, P1 may start a snapshot at any time."
)
COMPLETE_GRAPH = "A complete graph"
PROCESSES, SENDS = "Processes", "Messages each"
RULE = "Rule"
RULE_HELP = "The snapshot algorithm, such as Chandy-Lamport, or one of its rules broken on purpose."
AS_IN_RUN = "as in the run"
OVERTAKE = "Messages may overtake each other"
OVERTAKE_HELP = "On: no channel is FIFO. Off: channels are as in the run; those of a complete graph are FIFO."
OWN_ORDER = "Processes do not wait for each other"
OWN_ORDER_HELP = (
    "Off: the lines of the script happen in their written order. On: only lines of the same process keep their order."
)
CRASHES = "Crashes"
CRASHES_HELP = (
    "At most this many processes crash in a run. Each may crash at any moment. A crash loses the state of a process "
    "and the messages to it. It also loses a recording that is not complete."
)
RESTARTS = "A crashed process may restart"
RESTARTS_HELP = "On: it may restart at any moment, in its initial state. Off: it stays down."
LOSSES = "Losses"
LOSSES_HELP = (
    "At most this many messages or markers are lost in transit. They are not resent. The other messages of a channel "
    "keep their order. Control messages are never lost."
)
FREEZES = "Freezes"
FREEZES_HELP = (
    "A run has at most this many freezes. A frozen process does nothing, receives nothing and loses nothing. It may "
    "thaw at any later moment."
)
MOST = "At most"
TRY = "Try every run"
NO_TIME = "Every order of the steps is tried. Delays do not matter."


def as_opened(title: str) -> str:
    """The run of a link, in the menu."""
    return f"{title} (as opened)"


def in_explore(title: str) -> str:
    """The run of the page Explore, in the menu."""
    return f"{title} (now in Explore)"


def broken(switch: str) -> str:
    """A broken rule, in the menu."""
    return f"Broken: {switch}"


def states(count: int) -> str:
    """A number of states, in the menu."""
    return f"{count:,} states"


# ------------------------------------------------------------------ errors

ADDRESS_TOO_LONG = "This run is too long for a link, so this page's address does not show your choices."
EITHER_OR = "a link has either `scenario` or `run`, or else `complete`: the number of processes of a complete graph"


def too_many_processes(count: int, most: int) -> str:
    """The error for a run with too many processes."""
    return f"{count} processes are more than this page explores; choose a run of at most {most}"


def whole_number(key: str, least: int, most: int, given: str) -> str:
    """The error for a number in an address."""
    return f"{key}: expected a whole number from {least:,} to {most:,}, not {given!r}"


def expected(key: str, word: str, given: str) -> str:
    """The error for a word in an address."""
    return f"{key}: expected {word!r} or nothing, not {given!r}"


def no_rule(name: str) -> str:
    """The error for an unknown rule in an address."""
    return f"rule: there is none with the name {name!r}; choose one in the menu “Rule”"


def unexpected(kind: str, problem: object) -> str:
    """The error for an exploration that failed by a mistake of the app."""
    return f"this failed unexpectedly ({kind}: {problem})"


# ------------------------------------------------------------------ while it explores

EXPLORING, STOP = "Exploring", "Stop"
YOURS_FOLLOWS = "The server works for other visitors now. Your exploration starts after theirs."
GETTING_READY = "getting ready …"
READ_DEPTHS = (
    "Each bar counts the states after that many steps. For example, the bar at 3 counts the states after three steps. "
    "A diamond marks steps that complete a snapshot."
)
YOU_STOPPED = "you stopped it"
CONNECTION_LOST = "the connection was lost"


def after_work(seconds: float) -> str:
    """The reason for an end by its time of work."""
    return f"after {seconds:.0f} seconds of work"


def after_waiting(seconds: float) -> str:
    """The reason for an end by the clock."""
    return f"after {seconds:.0f} seconds: the machine is busy"


def how_far(depth: int, states: str, ahead: int, steps: str, rate: float) -> str:
    """The progress of an exploration."""
    deeper = f", up to {ahead:,} more states at the next depth" if ahead else ""
    return f"depth {depth}, {states}{deeper}, {steps}, {rate:,.0f} states per second"


# ------------------------------------------------------------------ the results

EVERY_ORDER = "Every order was tried"
ALL_RIGHT = "The snapshot is right in all of them."


def checks_fail(count: int) -> str:
    """The beginning of the sentence on failed checks."""
    return f"{'1 check fails' if count == 1 else f'{count} checks fail'} in some runs"


def not_all(problem: str) -> str:
    """The sentence for an exploration that was ended; `problem` is HTML."""
    return f"Not every order was tried ({problem})."


def no_violation(depth: int, states: str) -> str:
    """The sentence for an exploration that was ended without a failed check."""
    return f"No check fails up to depth {depth}, in {states}."


def no_snapshot(states: str, steps: str) -> str:
    """The sentence for a system without complete snapshots."""
    return f"No run completes a snapshot: {states}, {steps}."


def at_most(counts: str) -> str:
    """The faults of a run, such as `at most 1 crash`."""
    return f"at most {counts}"


FAULTS = (("crash", "crashes"), ("loss", "losses"), ("freeze", "freezes"))
A_CRASH, A_LOSS = "a crash", "a loss"
NOT_FIFO = "channels not FIFO"
MAY_RESTART, STAYS_DOWN = "a crashed process may restart", "a crashed process stays down"
NOT_RESENT, MAY_THAW = "lost messages are not resent", "a frozen process may thaw"


def with_broken(switches: str) -> str:
    """The broken rules of the system."""
    return f"broken: {switches}"


def in_a_run(faults: str) -> str:
    """The faults of the system."""
    return f"In a run: {faults}"


def command_line(is_file: bool) -> str:
    """The words before the command that explores further."""
    return f"The command line goes further{' (export the run as a file, toml)' if is_file else ''}:"


def explore_more(count: int) -> str:
    """The button that explores further."""
    return f"Explore up to {count:,} states"


OPEN_SHORTEST = "Open the shortest run that fails this check:"
TRIED = "This run was found by trying every run. Each step is chosen by hand, so delays do not matter."


def wrong_run(titles: str, steps: int) -> str:
    """The button that opens a wrong run."""
    return f"{titles} ({steps} steps)"


def story(broken: str, steps: int) -> str:
    """The text of the Story tab of a wrong run."""
    return f"{TRIED}\n\nIt breaks this check: {broken} No run with fewer than {steps} steps does."


def way_to(title: str, number: int) -> str:
    """The title of the run that leads to a state."""
    return f"{title}: the way to state {number}"


# ------------------------------------------------------------------ the states

VIEW, VIEW_STATES, VIEW_CHECKS = "View", "States", "Checks"
STATE = "State"
OPEN_IN_EXPLORE = "Open in Explore"
A_SHORTEST_WAY, ALL_BEGIN_HERE = "A shortest way to it:", "All runs begin here."
HOLDS, IS_COMPLETE = "holds", "is complete."
SEEM_ALIKE = (
    "Some states read alike but differ. They differ in the faults that may still happen, in the messages lost, or in "
    "who recorded before a send."
)


def view_snapshots(count: int) -> str:
    """The name of the view of snapshots."""
    return f"Snapshots ({count})"


def drawn_up_to(count: int) -> str:
    """The end of the caption of the chart of depths."""
    return f"Up to {count} states are drawn one by one."


# ------------------------------------------------------------------ the snapshots

NO_SNAPSHOTS = "No run that was explored completes a snapshot."
WAYS, SNAPSHOT, CHANNELS, SUM = "Ways", "Snapshot", "Channels", "Sum"
OF_THIS_RUN = "(of this run)"
A_MESSAGE, ALL_EMPTY = "a message", "all empty"
WAYS_NOT_COUNTED = "Runs to each snapshot are not counted, because they differ in length."
OF_THIS_RUN_MEANS = "“Of this run” marks the snapshot that this run takes with its own delays."


def different_snapshots(is_incomplete: bool, *, by_frequency: bool) -> str:
    """The first sentence about the table of snapshots."""
    so_far = " so far" if is_incomplete else ""
    return f"These are the different snapshots{so_far}{', the most frequent first' if by_frequency else ''}."


WAYS_COUNTED = "“Ways” counts the runs that lead to each: 3 of 16 means three of all sixteen."


def missing_in_sum(what: str, *, is_twice: bool) -> str:
    """The sentence on sums that are not complete; `what` takes a state or a message away."""
    return f"After {what}, a sum may be too small{', or count a message twice' if is_twice else ''}."


def more_not_listed(count: int) -> str:
    """The end of the caption of a long table."""
    return f"{count:,} more are not listed."


def of_all(ways: str, total: int) -> str:
    """A number of runs among all, such as `11 of 16`."""
    return f"{ways} of {total:,}"


def not_all_there(amounts: str, first: str) -> str:
    """A sum that is not what there was at first."""
    return f"{amounts}, not {first}"


# ------------------------------------------------------------------ the checks

CHECKS = {  # the title of each check, and what it requires of every run
    "completion": ("Completion", "Every snapshot that is started is completed."),
    "consistency": ("Consistent cut", "Every message that is received inside the cut is also sent inside it."),
    "channel_states": ("Channel states", "Each channel state holds the messages that cross the cut, in order."),
    "conservation": ("Conservation", "Nothing is lost or counted twice."),
}
HOLDS_EVERYWHERE, HOLDS_SO_FAR = "✓ holds in every run", "✓ holds so far"


def holds_without(what: str) -> str:
    """The verdict for a check that is made only without a fault."""
    return f"{HOLDS_EVERYWHERE} without {what}"


def fails(steps: int) -> str:
    """The verdict for a check that fails."""
    return f"✗ fails: the shortest such run has {steps} steps"


def shortest_run(titles: str) -> str:
    """The heading above the steps of a wrong run."""
    return f"The shortest run: {titles}"


def what_is_checked(what: str, *, has_losses: bool) -> str:
    """The note on runs in which `what` takes a state or a message away."""
    text = f"After {what}, only complete snapshots are checked. The check Conservation is left out."
    return f"{text} A snapshot whose marker is lost is never complete." if has_losses else text
