"""The texts of the page Traces."""

from __future__ import annotations

TERMS = ("snapshot", "channel", "FIFO", "cut", "frontier", "lattice", "linearization")

TITLE = "Traces"

# ------------------------------------------------------------------ the form

BRING = "Bring a log"
FORMAT = "Format"
SKIP = "Skip executions that contradict themselves"
READ = "Read it"
EARLIER = "Or open an earlier log"
CHOOSE = "Choose"
SHOW_EXAMPLE = "Show the example"
BRING_YOURS, BRING_ANOTHER = "Bring your own log", "Bring another log"


def bring_help(megabytes: int) -> str:
    """The help of the field for files."""
    return f"Up to {megabytes} MB, such as server.log. For larger logs, run python -m pipeline ingest."


def no_place(folder: str, why: str | None) -> str:
    """The error for files that cannot be saved."""
    return f"{folder}: your files cannot be saved there ({why}); make room on its disk"


# ------------------------------------------------------------------ the line above the diagram

THIS_IS_AN_EXAMPLE = "This is an example:"
EXAMPLE = "the log of an order in a shop. To examine a log of your own program, press <b>Bring your own log</b>."
MATCHED = {
    "given": "by the names of messages in the log",
    "clock": "by vector clocks",
    "fifo": "in FIFO order: the text names the sender and the receiver",
    "unknown": "",
}
OR = " or "
OPEN_IN_EXPLORE = "Open in Explore"
EXECUTION = "Execution"
ROWS_SHOWN, ROWS_BEFORE = "Rows in the diagram", "Rows before them"
LOADING_ROWS = "Loading these rows …"


def summary(events: int, processes: str, executions: int) -> str:
    """The size of a log."""
    text = f"{events:,} events of {processes} processes"
    return f"{text} in {executions:,} executions." if executions > 1 else f"{text}."


def matched(how: str) -> str:
    """The way in which sends were matched with receives ("": in none)."""
    return f"Each send was matched with its receive {how}." if how else "No send could be matched with its receive."


def skipped(executions: int) -> str:
    """The number of executions that could not be read."""
    return f"{executions:,} executions were skipped."


def span(low: int, high: int) -> str:
    """A range of numbers."""
    return f"{low}" if low == high else f"{low} to {high}"


def rows(first: int, last: int, count: int) -> str:
    """The button of the menu of rows."""
    return f"Rows {first:,} to {last:,} of {count:,}"


def title_of_rows(name: str, first: int, last: int) -> str:
    """The title of a window of an execution."""
    return f"{name}, rows {first:,} to {last:,}"


# ------------------------------------------------------------------ a log that grows

FOLLOW = "Follow"
FOLLOW_HELP = "On: the diagram moves with the newest rows. Off: the diagram and the cut stay as they are."
NO_ROWS_YET = "The log is followed. It has no rows yet."
CONSISTENT = "consistent"


def rows_so_far(rows: int, *, is_growing: bool) -> str:
    """The number of rows of a followed log."""
    return f"{rows:,} rows so far." if is_growing else f"{rows:,} rows. The log is not followed any longer."


def inconsistent(witness: object) -> str:
    """A verdict on a cut, with the message that shows it."""
    return f"inconsistent, by message {witness}"


def judged(count: int, last: str) -> str:
    """The number of snapshots judged, and the last verdicts."""
    return f"Snapshots judged: {count:,}. The last ones: {last}."


# ------------------------------------------------------------------ the table of executions

UNDERSTOOD = "What the app understood of this log"
COLUMN_EXECUTION, COLUMN_FROM, COLUMN_PROCESSES, COLUMN_EVENTS = "Execution", "From", "Processes", "Events"
COLUMN_MESSAGES, COLUMN_UNRECEIVED, COLUMN_MATCHED = "Messages", "Never received", "Matched"
COLUMN_GAPS, COLUMN_SKIPPED = "Gaps", "Skipped because"
CLOCKS_MISS = (
    "A vector clock counts the events of each process that an event depends on. It does not show every message: a "
    "message may be lost, or change no clock. So a channel may hold more messages than the page says. Verdicts on "
    "cuts are exact."
)

# ------------------------------------------------------------------ errors

FAILED = "the log could not be read; bring it again"
FORM_IS_KEPT = (
    "Nothing else has changed. Your files are still in the form. Open <b>Bring another log</b> to read them in another "
    "way, or to go back to an earlier log."
)


def stopped(name: str, reason: str | None) -> str:
    """The error for a log whose reading was stopped, for `reason` if no visitor cancelled it."""
    why = f": {reason}" if reason else ""
    return f"the reading of {name} was stopped{why}; nothing of it is kept, so bring the log again"


def not_read(address: str, *, is_running: bool) -> str:
    """The error for a folder whose log is not read yet, or never will be."""
    why = "is being read" if is_running else "was stopped while it was read, and nothing of it is kept"
    return f"{address}: {why}; bring the log again, or open another one"


def nothing_complete(address: str) -> str:
    """The error for a folder without a readable execution."""
    return f"{address}: holds no complete execution; delete it on the page History, then bring the log again"
