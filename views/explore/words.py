"""The texts of the page Explore.

The texts of the diagram and of its panels are in assets/explore and in the sentences of sim/explain.
"""

from __future__ import annotations

TERMS = ("snapshot", "marker", "channel", "FIFO", "cut", "frontier", "lattice", "linearization", "epoch")

TITLE = "Explore"

# ------------------------------------------------------------------ the counterexample to a broken rule

SHOWS_ALREADY = "this run is a counterexample already: a check fails; nothing was changed"
NOTHING_FOUND = (
    "no single change of this run makes a check fail; add messages, or try the broken rule on another scenario"
)


def not_in_time(seconds: float) -> str:
    """The notice for a search that ran out of time."""
    return (
        f"no counterexample was found in {seconds:.0f} seconds, and not all changes were tried; try a shorter run or "
        "another scenario"
    )


def changed(sentence: str) -> str:
    """The notice for an edit that makes a counterexample."""
    return f"Changed: {sentence}"


# ------------------------------------------------------------------ edits

SCRIPT_HAS_CHANGED = "the script has changed since this diagram was drawn; make the change again"


def more_refused(count: int) -> str:
    """The end of a notice that names one refused change of several."""
    return f"{count} more {'change was' if count == 1 else 'changes were'} refused."


def too_many_edits(most: int) -> str:
    """The error for a run with more edits than a link may hold."""
    return f"a run holds at most {most:,} changes; export it as a file (toml), and open that file"


# ------------------------------------------------------------------ runs from other pages


def run_of_ensemble(number: int, name: str) -> str:
    """The title of a run of an ensemble."""
    return f"Run {number} of {name}"
