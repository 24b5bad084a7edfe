"""The texts of the page History."""

from __future__ import annotations

TERMS = ("snapshot", "marker", "channel", "FIFO", "initiator", "workload")

TITLE = "History"
HEADING = "All ensembles and logs"
NOTHING_YET = "There is nothing here yet. Run an ensemble on the page Ensembles, or bring a log on the page Traces."
TICK = "Tick one row to open or delete it. Tick two rows to compare them."
SAME = "Both have the same settings."


def open_in(page: str) -> str:
    """The button that opens a row on its page."""
    return f"Open in {page}"


def both(first: str, second: str) -> str:
    """The heading of a comparison; the names are Markdown."""
    return f"{first} and {second}"


def tick_unreadable(count: int) -> str:
    """The hint under a table with folders that cannot be read."""
    folders = "1 folder" if count == 1 else f"{count} folders"
    return f"{folders} cannot be read. Tick one to see why, or to delete it."


# ------------------------------------------------------------------ the table

NAME, KIND, WHEN, STATUS, SETTINGS, SIZE = "Name", "Kind", "When", "Status", "Settings", "Size"
ENSEMBLE, LOG = "ensemble", "log"
RUNNING, STOPPED, COMPLETE, UNREADABLE = "running", "stopped early", "complete", "cannot be read"

# ------------------------------------------------------------------ one row

BEGUN, FINISHED, VERSION, ROWS = "Begun", "Finished", "Version", "Rows"
NONE_YET = "none yet"
WHAT_RUNS, FORMAT, FILES, READ, CONTRADICTIONS = (
    "What runs",
    "Format",
    "Files",
    "Read",
    "Executions that contradict themselves",
)
SCENARIO, WORKLOAD = "scenario", "workload"
EVENTS_OF_SAMPLE = "of the first run of each combination, and of runs that fail"
EVENTS_OF_ALL, EVENTS_OF_NONE = "of all runs", "of no run"
WHILE_IT_GREW, SKIPPED = "while it grew", "skipped"
YES, NO = "yes", "no"
OUTCOMES = {
    "runs": "Runs carried out",
    "snapshots": "Snapshots",
    "failed": "Snapshots that fail a check",
    "median latency": "Time taken, the median",
    "longest latency": "Time taken, the longest",
    "median of messages recorded": "Messages recorded, the median",
    "most messages recorded": "Messages recorded, the most",
    "markers": "Markers sent",
    "events": "Events",
    "traces": "Executions",
}


def clock_set_back(date: str) -> str:
    """The time of the end of a folder that ended before it began."""
    return f"{date} (the computer's clock was set back meanwhile)"


def at_time(time: float) -> str:
    """The time at which snapshots start."""
    return f"time {time:g}"


# ------------------------------------------------------------------ deleting

DELETE, DELETE_NOW, DELETE_QUESTION = "Delete …", "Delete", "Delete for good?"
NOT_YOURS = "Only its owner and the lecturer can delete this."


def deletes(names: str) -> str:
    """The text above the button that deletes; the names are Markdown."""
    return f"This deletes all data of: {names}"


def owned_by_other(name: str) -> str:
    """The error for a folder that another visitor has made under the same name."""
    return f"{name}: another visitor has made a folder of this name meanwhile; only they and the lecturer can delete it"
