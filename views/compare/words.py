"""The texts of the page Compare."""

from __future__ import annotations

TERMS = ("snapshot", "marker", "channel", "FIFO", "workload")

TITLE = "Compare"

# ------------------------------------------------------------------ the runs side by side

CHOOSE_IN_EXPLORE = "to choose every delivery, open one of the runs in Explore"
SEARCH_IN_EXPLORE = "to search for a counterexample to a broken rule, open one of the runs in Explore"
NONE_CAN_RUN = "no algorithm on show can run this scenario; choose another algorithm"
THE_PAGE = "the page Compare"  # in errors of other modules: "... are too many for the page Compare"

STATUS = "Status"
REFUSED = "refused"
STATUS_HELP = "This says whether the snapshot is complete at the end of the run."
OF_SEVERAL_SNAPSHOTS = "There are several snapshots. Times are those of the slowest one; all other figures are sums."


def too_many_algorithms(count: int, most: int) -> str:
    """The error for a row of too many algorithms."""
    return f"{count} algorithms are too many for one page; choose at most {most}"


# ------------------------------------------------------------------ the table of trade-offs

HEADING = "What is claimed, and what was measured"
CLAIMS = (
    "The claims come from the table “Technical Trade-offs & Strategic Compromises” in the description of this system."
    " Next to each claim is the median measured on identical systems. A case is one topology, size, workload and "
    "marker delay. Each claim is judged in each case. If cases disagree, the verdict names the inputs on which it "
    "depends."
)
CASES = "The cases:"
YOURS = "You measured this."
COMES_WITH_THE_APP = "This comes with the app."
CLAIM, MEASURED = "Claim:", "Measured:"
HOLDS, DEPENDS, REFUTED = "✓ Holds.", "± Depends on", "≠ Does not hold."
OPEN_TYPICAL = "Open a typical run"
SHOW_ORIGINAL = "Show the table that comes with the app"

CHANGE_CASES = "Change the cases"
LABELS = {
    "topology": "Topologies",
    "processes": "Processes",
    "delay": "Delay of messages",
    "marker_delay": "Delay of markers",
    "pace": "Time between two sends",
    "runs": "Runs of each",
    "seed": "First seed",
}
MEASURE = "Measure"
FAILED = "the measurement failed; press Measure again"

SAVE_TABLE = "Save the table"
FORMAT = "Format"
FOR_MARKDOWN = "For a README or a wiki."
FOR_LATEX = r"For a paper: a longtable (\usepackage{longtable})."
FOR_CSV = "For a spreadsheet or a script."


def all_runs(runs: int) -> str:
    """The number of runs behind the table."""
    return f"{runs:,} runs in all."


def size(runs: int) -> str:
    """The number of runs that the form asks for, and how long such runs take."""
    return (
        f"This makes about {runs:,} runs of each algorithm. With 4 processes, 100 runs take about a second. "
        "With 20 processes, they take about 15 seconds."
    )


def stopped(reason: str) -> str:
    """The error for a measurement that was stopped for `reason`."""
    return f"the measurement was stopped before all runs were done: {reason}; ask for fewer runs"


def save_as(form: str) -> str:
    """The button that saves the table as a file."""
    return f"Save {form}"


def typical_story(title: str, measured: str) -> str:
    """The text of the Story tab of a typical run."""
    return f"This run is typical of {title}.\n\n{measured}"


def no_table(name: str, why: str | None) -> str:
    """The error for the table of the app that cannot be read."""
    return f"examples/{name}: cannot be read ({why}); run make tradeoffs"
