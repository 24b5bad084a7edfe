"""The texts of the page Sizing.

The labels of its numbers are in sim/theory/sizing_inputs.py, the rows of its tables in sim/explain/sizing.py.
"""

from __future__ import annotations

TERMS = ("snapshot", "marker", "channel", "initiator", "checkpoint")

TITLE = "Sizing"

# ------------------------------------------------------------------ the form

EXAMPLE = "Reset to the example"
ALGORITHM, TOPOLOGY = "Algorithm", "Topology"
TOPOLOGY_HELP = (
    "The first node (P1) is the initiator. It is the end of a line, the hub of a star, or the source of a dag. In a "
    "dag, each node sends to all later nodes."
)
TOPOLOGIES = {"complete": "each with each", "ring": "a ring", "line": "a line", "star": "a star", "dag": "a dag"}
CHECKPOINTS = "Checkpoints and recovery"

# ------------------------------------------------------------------ the sentence at the top


def estimate(at_each: str) -> str:
    """The usual estimate."""
    return f"The usual estimate gives {at_each} for every node."


def no_model(algorithm: str, why: str) -> str:
    """The end of the sentence for an algorithm without a cost model."""
    return f"There is no cost model for {algorithm}: {why}."


def keeps(at_initiator: str, at_another: str) -> str:
    """The end of the sentence for an algorithm that records messages."""
    return f"The algorithm's rules give {at_initiator} for the initiator and at most {at_another} for any other node."


def blocks(in_one: str) -> str:
    """The end of the sentence for an algorithm that blocks channels."""
    return f"By the algorithm's rules, no message is recorded, but {in_one} wait in one channel."


def stops(seconds: str) -> str:
    """The end of the sentence for an algorithm that stops every process."""
    return f"By the algorithm's rules, no message is recorded, but every process stops for {seconds} s."


# ------------------------------------------------------------------ the views

VIEW = "View"
FIGURES, CHART, CHECK, FORMULAS, CLAIMS = "Figures", "Chart", "Simulated check", "Formulas", "Usual claims"
OF_THE_EXAMPLE = (
    "Nodes, topology, rate, size and marker delay are those of the usual estimate. We chose the other numbers."
)
SYMBOLS = "N is the number of nodes, S the marker delay, d the message delay. Node i records at the time recᵢ."
LINES = "Lines: the usual estimate of what the channels to a node hold"
LINES_KEPT = "and the cost model of the channels to the initiator, and to the fullest other node"
LINES_BLOCKED = "and the cost model of the fullest blocked channel"
LINES_STOPPED = "and the cost model of what is sent to a node later, because all stop"
POINTS = "Each point of a line is a marker delay. The dots are your system."
READ_CHECK = (
    "Each dot is a small system, at the median of ten runs. Its bar holds eight of ten runs. On the line, the cost "
    "model is exact."
)


def accuracy(systems: int, runs: int, worst: float) -> str:
    """The sentence on the error of the cost model in small systems."""
    return (
        f"We ran {systems} small systems, {runs:,} runs in all. The cost model of the recorded messages is at most "
        f"{worst:.1%} off. The systems differ in topology, nodes, rate, both delays and the algorithm."
    )


# ------------------------------------------------------------------ the check of one's own system

RUNNING = "Running …"
FEWER_NODES = "use fewer nodes"
OTHER_RATIO = "We changed the ratio of the two delays. Otherwise the channels would hold no messages."


def run_it(times: int) -> str:
    """The button that runs the system."""
    return f"Run it {times} times"


def scaled(nodes: int, per_marker: str, per_message: str) -> str:
    """The small system that is run for the user's."""
    return (
        f"Your system, scaled down, has {nodes} nodes. A channel carries {per_marker} messages during one marker "
        f"delay, and {per_message} during one message delay."
    )


def means(runs: int) -> str:
    """The caption of the table of a check."""
    return f"Means of {runs} runs. The unit of time is the time between two messages on a channel."


# ------------------------------------------------------------------ tables

COMPUTED, ESTIMATED = "Computed", "Usual estimate"
FORMULA = "Formula and its source"
CLAIM, FROM_ITS_INPUTS = "Usual claim", "Computed from the same inputs"
MODEL, MEASURED, ERROR = "Cost model", "Measured", "Error"
NOT_GIVEN = "not given"
IN_ALL_CHANNELS = "Messages recorded, in all channels"
TO_THE_INITIATOR = "Messages recorded, in the channels to the initiator"
TIME_TAKEN = "Time taken"
LONGEST_BLOCK = "Longest block of a channel"
ALL_STOP = "Every process stops"
