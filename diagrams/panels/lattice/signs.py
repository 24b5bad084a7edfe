"""The signs of a picture of the lattice."""

from __future__ import annotations

from diagrams.figure import icons
from diagrams.figure.sign import LATTICE, Sign

LATTICE_SIGNS = (
    Sign(
        "consistent-cut", "consistent cut", "A dot is a consistent cut.",
        icons.icon(12, icons.disc(6, 5, "@ink")), drawn=LATTICE,
        explains=("consistent cut",),
    ),
    Sign(
        "holds", "satisfying cut",
        "A square is a cut at which the predicate holds.",
        icons.icon(14, icons.square(7, 5, "@good")),
        drawn=LATTICE, explains=("cut at which it holds",),
    ),
    Sign(
        "states-of-the-run", "states of the run", "The broad line goes through the states of the run.",
        icons.icon(28, icons.level(28, "@accent/0.45", 7)), drawn=LATTICE, as_drawn=True,
        explains=("states of the run",),
    ),
    Sign(
        "avoids", "avoiding way",
        "A dashed line is a way on which the predicate never holds.",
        icons.icon(28, icons.level(28, "@bad", 3, 6, 4)), drawn=LATTICE, explains=("way that avoids it",),
    ),
    Sign(
        "state-at-the-step", "state at this step", "A ring is the state of the run at this step.",
        icons.icon(18, icons.ring(9, 6.5, "@accent", 2.4), icons.disc(9, 3, "@ink")),
        drawn=LATTICE, explains=("state at the step",),
    ),
    Sign(
        "recorded-state", "recorded state", "A diamond is the state that a snapshot recorded.",
        icons.icon(16, icons.diamond(8, 7, icons.SNAPSHOT)), drawn=LATTICE, as_drawn=True, explains=("recorded state",),
    ),
    Sign(
        "outer-state", "begin or end of a snapshot",
        "A ring is the state in which a snapshot began or ended.",
        icons.icon(18, icons.ring(9, 6.5, icons.SNAPSHOT, 2.4), icons.disc(9, 3, "@ink")), drawn=LATTICE, as_drawn=True,
        explains=("outer state",),
    ),
)  # fmt: skip
