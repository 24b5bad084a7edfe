"""The texts of the page Ensembles."""

from __future__ import annotations

TERMS = ("snapshot", "marker", "channel", "FIFO", "initiator", "checkpoint", "workload")

TITLE = "Ensembles"

# ------------------------------------------------------------------ the form

WHAT_RUNS = "What runs"
WHAT_RUNS_HELP = (
    "A workload, such as the transfers of a bank, makes any number of different runs. A scenario is one run of the "
    "page Explore, here with random delays of markers."
)
LABELS = {
    "processes": "Processes",
    "topology": "Topology",
    "delay": "Delay of messages",
    "marker_delay": "Delay of markers",
    "runs": "Runs of each",
    "seed": "First seed",
    "algorithm": "Algorithm",
    "fifo": "Channels",
    "initiators": "Initiators",
    "snapshots": "Snapshots",
    "at": "Starting at",
    "crash": "Crashes per time unit",
    "restart": "Restarts per time unit",
    "sever": "Channels severed per time unit",
    "mend": "Channels mended per time unit",
    "lose": "Messages lost (share)",
    "copy": "Messages copied (share)",
    "faults_until": "Faults until",
    "storage_bandwidth": "Bandwidth of the storage",
    "storage_limit": "Uploads at a time",
    "storage_jitter": "Jitter of uploads",
    "costs": "Costs of snapshots",
    "events": "Events kept",
    "checkpoint_interval": "Interval of the coordinator",
}
FIFO, NOT_FIFO = "FIFO", "not FIFO"
AS_IN_SCENARIO = "as in the scenario"
MORE, NAME, RUN = "More", "Name", "Run"
NAME_HELP = "The name of the folder that keeps the ensemble, such as bank-2026-11-21-1405. Empty: a name with the time."
ON_SHOW, THE_EXAMPLE = "On show", "The example"
TRYING = "Trying each combination …"
SMALLER = "give shorter lists, or use fewer processes or a smaller workload"


def of_a_workload(title: str) -> str:
    """A workload in the menu."""
    return f"{title} (workload)"


def size(cells: int, runs_of_each: int, runs: int) -> str:
    """The size of a grid, as Markdown."""
    return f"{cells:,} {'combination' if cells == 1 else 'combinations'} × {runs_of_each:,} = **{runs:,} runs**"


# ------------------------------------------------------------------ the page

RESULTS, SLIDERS = "Results", "Drag and see"
SHOW, VIEW = "Show", "View"
MEANWHILE = "You can press Run already."
THIS_IS_AN_EXAMPLE = "This is an example:"
EXAMPLE = (
    "1,000 runs of a bank, on lines of 3 to 9 processes, with fast and slow "
    "markers. Each run takes one snapshot. To make your own ensemble, change the form and press <b>Run</b>."
)
UNDER_WAY = (
    "Every run takes its snapshots. A snapshot takes a short or a long time, and finds few or many messages in the "
    "channels. Charts show this when all runs are done. Each dot in a chart is a run that you can open."
)
FAILED = "the ensemble failed; run it again"
GO_ON = "Go on"
OTHER_WRITES = "Another program writes this ensemble. The finished runs are shown; reload the page to see more."
NOT_YOURS = "Only its owner and the lecturer can go on with it."


def no_runs(name: str) -> str:
    """The error for a folder without runs."""
    return f"{name}: holds no runs; delete it on the page History, and run the ensemble again"


def stopped(runs: int, reason: str | None) -> str:
    """The warning for an ensemble that was stopped, for `reason` if no visitor cancelled it."""
    return f"This ensemble was stopped before all of its {runs:,} runs were done{f': {reason}' if reason else ''}."


# ------------------------------------------------------------------ the results

SUMMING_UP = "Spark sums up the runs …"
VIEW_TIME, VIEW_RECORDED, VIEW_DISTRIBUTION = "Time taken", "Messages recorded", "Distribution"
VIEW_HEAT, VIEW_SLOWEST, VIEW_PREDICTION, VIEW_RUNS = "Heat map", "Slowest process", "Prediction", "Runs"
AGAINST, LINE_FOR_EACH, SIDE_BY_SIDE = "Against", "A line for each", "Side by side"
LEFT_TO_RIGHT, UPWARDS = "From left to right", "Upwards"
READ_CURVES = "The line is the median run. The band holds eight of ten runs. Each dot is one run."
READ_SPREAD = (
    "The shape is wide where many runs lie. The box holds the middle half of the runs, with the median as a line. Each "
    "dot is one run."
)
READ_SLOWEST = "A bar counts the snapshots that this process finished last. A process without a bar never did."
READ_HEAT = "Each field is the median of its runs: 12 means that half of them took at most 12."
READ_PREDICTION = "Each dot is a combination, at its median run. Its bar holds eight of ten of its runs."
CLICK_DOT, CLICK_BAR, CLICK_FIELD = (
    "Click a dot to open its run.",
    "Click a bar to open the longest of its runs.",
    "Click a field to open one of its runs.",
)
NONE_SLOWEST = "No process was the slowest: none of these snapshots completed."
TWO_NEEDED = "A heat map needs two settings that vary. For example, give lists for Processes and for Delay of markers."


def no_check_fails(snapshots: int) -> str:
    """The sentence for snapshots that are all right."""
    return f"No check fails in {snapshots:,} snapshots."


def checks_fail(failures: int, snapshots: int) -> str:
    """The sentence for snapshots that fail a check."""
    return f"{failures:,} of {snapshots:,} snapshots fail a check."


def not_carried_out(errors: int) -> str:
    """The sentence for runs that could not be carried out."""
    return f"{errors:,} runs could not be carried out."


def took_and_found(time: str, recorded: str) -> str:
    """The sentence on the time that snapshots took and the messages that they found."""
    return f"They took {time} and found {recorded} {'message' if recorded == '1' else 'messages'} in the channels."


ALL_ALIKE = "All runs are alike, because no delay that matters is random."


def slowest(names: list[str], most: int, every: int) -> str:
    """The sentence on the processes that finished most snapshots last; the names are HTML."""
    were = "was slowest most often: it" if len(names) == 1 else "were slowest most often: each"
    return f"{' and '.join(names)} {were} finished last in {most:,} of {every:,} snapshots."


# ------------------------------------------------------------------ single runs

OPEN_IN_EXPLORE, OPEN_TYPICAL, OPEN_HIGHEST = "Open in Explore", "Open a typical run", "Open its highest run"
OPEN_THESE = "Open in Explore:"
EXTREMES = {
    "failing": "one that fails",
    "longest": "the slowest",
    "most recorded": "the run with the most recorded messages",
    "strangest": "the most unusual",
}
ALL_RUNS = "All runs"
HIGHEST_FIRST, IN_ORDER = "Highest first", "in order of runs"
COLUMN_RUN, COLUMN_SNAPSHOT, COLUMN_LAST = "Run", "Snapshot", "Finished last"
COLUMN_SEED, COLUMN_VERDICT = "Seed", "Verdict"
CHOOSE_ROW = "Choose a row to open its run."
NO_SNAPSHOT = "takes no snapshot"
INCOMPLETE = "it did not complete"
UNDECIDED = "undecided"


def first_rows(count: int) -> str:
    """The caption of a table that shows only its first rows."""
    return f"These are the first {count} rows in this order."


def run_in_words(number: int, settings: str, outcome: str) -> str:
    """A run in a line, as Markdown; the parts are Markdown."""
    return f"**Run {number}**, {settings}{', ' if settings else ''}{outcome}"


def could_not_run(problem: str) -> str:
    """The outcome of a run that could not be carried out."""
    return f"could not run: {problem}"


def checks_hold(count: int) -> str:
    """The verdict on a run whose checks hold."""
    return f"{count} checks hold"


def took(time: str, slowest: str | None) -> str:
    """The time that a snapshot took, and the process that finished last."""
    return f"it took {time}{f' ({slowest} finished last)' if slowest else ''}"


def outcome(snapshot: str, time: str, recorded: str, witness: str | None) -> str:
    """The outcome of a snapshot; `witness` shows that a check fails (None: every check holds)."""
    verdict = "and every check holds" if witness is None else f"but {witness}"
    messages = "1 message" if recorded == "1" else f"{recorded} messages"
    return f"{snapshot}: {time}, found {messages} in the channels, {verdict}"


def story(number: int, name: str, system: str, delays: str, *, is_fifo: bool, outcome: str) -> str:
    """The text of the Story tab for a run of an ensemble."""
    not_fifo = "" if is_fifo else " Not every channel is FIFO."
    return f"This is run {number} of the ensemble {name}: {system}.\n\n{delays}{not_fifo}\n\n{outcome}."


def system(workload: str, topology: str, processes: int, seed: int) -> str:
    """The system of a run."""
    return f"{workload} on a {topology} network of {processes} processes, seed {seed}"


def delays(message: str, marker: str) -> str:
    """The delays of a run."""
    return f"Messages take {message}, markers {marker}."


# ------------------------------------------------------------------ the prediction

PREDICT = "Predict"
A_PARAMETER = "a parameter of the workload"
NOTHING_TO_COMPARE = "There is nothing to compare."


def as_formula(names: str) -> str:
    """The label of the field for a formula; the names are Markdown."""
    return f"as (names: {names})"


def off(error: float, combinations: int) -> str:
    """The typical error of a formula, as Markdown."""
    return f"The formula is typically **{error:.0%} off** ({combinations} combinations)."


# ------------------------------------------------------------------ the sliders

DRAG = (
    "<b>Drag a slider</b> to make all runs again. In each run, processes send each other money, and one of them starts "
    "a snapshot."
)
GRAPHS = {"complete": "each with each", "ring": "a ring", "line": "a line", "star": "a star"}
TIME_UNITS = "time units"
SLIDER_PROCESSES, SLIDER_TRANSFERS = "Processes", "Transfers of each process"
SLIDER_DELAY, SLIDER_MARKER_DELAY = "Mean delay of a message", "Mean delay of a marker"
SLIDER_AT = "The snapshot starts at time"
A_TYPICAL, THE_SLOWEST, MOST_RECORDED = "a typical one", "the slowest", "the run with the most recorded messages"
MANY_DRAG = "Many visitors drag sliders now. Try again in a few seconds."
ASKED_ANEW = "You have moved a slider since. This answer is out of date."


def whole_number(name: str, least: int, most: int) -> str:
    """The error for a value of a slider."""
    return f"{name}: expected a whole number from {least} to {most}"


def one_of(name: str, known: str) -> str:
    """The error for a value of a menu."""
    return f"{name}: expected one of {known}"


def once(name: str) -> str:
    """The error for a field that an address has twice."""
    return f"{name}: expected once"


def runs_made(runs: int, seconds: float | None) -> str:
    """The line on how many runs the charts show and how fast they were made (None: they were kept)."""
    how = ", kept from before" if seconds is None else f" in {max(seconds, 0.001) * 1000:,.0f} ms"
    return f"{runs:,} runs{how}. Click a bar to open one of its runs."


def fewer(most: int) -> str:
    """The reason for fewer runs while other visitors drag."""
    return f"Other visitors drag too, so these are fewer than {most:,}."


def compiling(most: int) -> str:
    """The line while the faster runs are being compiled."""
    return f"In a moment there will be {most:,} runs: their code is being compiled."


def with_numba(most: int) -> str:
    """The line on a server without the faster runs."""
    return f"With Numba there would be {most:,} runs at once: run `make fast` on the server."


def title_of_seed(seed: int, runs: int) -> str:
    """The title of a run that was clicked."""
    return f"Run {seed} of {runs:,}"


def story_of_seed(seed: int, processes: int, transfers: int, topology: str) -> str:
    """The first paragraph of the Story tab for a run that was clicked."""
    return (
        f"This is a run with seed {seed} from the page Ensembles. There are {processes} processes. Each of them sends "
        f"money {transfers} times. The network is {topology}."
    )


def story_of_delays(delay: int, marker_delay: int, at: int) -> str:
    """The second paragraph of the Story tab for a run that was clicked."""
    return f"A message takes {delay} time units on average, a marker {marker_delay}. The snapshot starts at time {at}."
