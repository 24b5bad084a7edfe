"""The texts of the widgets that several pages share."""

from __future__ import annotations

# ------------------------------------------------------------------ the glossary

WORDS = "Words"

# ------------------------------------------------------------------ the dialogs that open a scenario

SCENARIOS = "Scenarios"
OPEN = "Open"
OPEN_A_FILE = "Open a file"
OPEN_THIS_RUN = "Open this run"

NO_DELAYS = (
    "You gave no .json file of delays, so the delays are drawn at random here. With other delays a snapshot may record "
    "something else."
)
LINE, EXPECTED, FOUND = "Line", "Expected", "Found"
NOTHING = "nothing"
AGREES, DIFFERS = "✓ agrees", "✗ differs"


def snap_of_this_run(name: str) -> str:
    """The caption of a snapshot as the run has it."""
    return f"Snapshot {name} of this run, as a .snap file"


# ------------------------------------------------------------------ saving a chart

SAVE_CHART = "Save chart"
FORMAT = "Format"
ON_SCREEN = "as on a screen"


def save_as(form: str) -> str:
    """The button that saves a file."""
    return f"Save {form}"


# ------------------------------------------------------------------ menus above a chart

ANY = "any"
NOTHING_CHOSEN = "nothing"


def with_value(dimension: str) -> str:
    """The label of a menu of values, such as `With processes`."""
    return f"With {dimension}"


# ------------------------------------------------------------------ background work

STARTING = "Spark is starting. This takes about 10 s, once."
AGAIN = "Spark starts again, which takes about 10 s. Then the interrupted work goes on, or begins again."
UNITS = {"ensembles": "runs", "traces": "executions", "compare": "runs"}  # of the progress of a page's jobs
CANCEL, TRY_AGAIN = "Cancel", "Try again"
STOPPING, GETTING_READY = "stopping …", "getting ready …"


def waits_for_its_turn(name: str) -> str:
    """The line of a job that waits; `name` is Markdown."""
    return f"**{name}** waits for its turn"


def progress(done: int, total: int, unit: str, seconds_left: float | None) -> str:
    """The progress of a job, and the time that it will take (None: not known yet)."""
    text = f"{done:,} of {total:,} {unit}"
    return text if seconds_left is None else f"{text}, about {seconds_left:.0f} s left"


# ------------------------------------------------------------------ the folder on show

AN_ENSEMBLE = "an ensemble; open it on the page Ensembles"
A_LOG = "a log; open it on the page Traces"


def holds(name: str, what: str) -> str:
    """The error for a folder of the other page."""
    return f"{name}: holds {what}"


# ------------------------------------------------------------------ a run too big to draw

NO_TIME_FOR_LATTICE = "drawing this takes too long; use fewer processes or messages"


def too_many_drawn(messages: int, snapshots: int, most: int) -> str:
    """The error for more messages than a browser can draw."""
    of_snapshots = f" of {snapshots:,} snapshots" if snapshots > 1 else ""
    return (
        f"{messages:,} messages{of_snapshots} are in transit at once, and a page can draw about {most:,} of one "
        "snapshot; use fewer snapshots, processes or channels, or shorter delays"
    )


# ------------------------------------------------------------------ exports

STILL_EXPORTING = "the last export of this page is still being made; wait until it is saved, or reload the page"
MANY_EXPORTS = "the server is making many exports; try again in a minute"
UNKNOWN_PAGE = "the server no longer knows this page; reload it and export again"
BOTH_ENDS = "give both ends of the range of steps, or neither"


def no_format(name: str, known: str) -> str:
    """The error for an unknown format."""
    return f"there is no format {name!r}; choose one of {known}"


def no_step(step: int, last: int, *, is_row: bool) -> str:
    """The error for a step outside the run, or outside the runs of a row."""
    return f"step {step}: {'these runs have' if is_row else 'this run has'} steps 0 to {last}"
