"""The signs of Dijkstra's page."""

from __future__ import annotations

from diagrams.figure import icons
from diagrams.figure.sign import PROOF, Sign

PROOF_SIGNS = (
    Sign(
        "white-action", "white action", "A ring is a white action: its process has not recorded yet.",
        icons.icon(16, icons.ring(8, 5.5, "@white-edge", 2)), of_snapshots=True, drawn=PROOF,
        explains=("white action",),
    ),
    Sign(
        "red-action", "red action", "A square is a red action: its process has recorded.",
        icons.icon(16, icons.square(8, 5, "@red")), of_snapshots=True, drawn=PROOF,
        explains=("red action",),
    ),
    Sign(
        "white-message", "white message",
        "An arrow with an open head: a white action sent this message.",
        icons.icon(30, icons.arrow("@ink", is_open=True)), of_snapshots=True, drawn=PROOF,
        explains=("white message",),
    ),
    Sign(
        "red-message", "red message",
        "An arrow with a filled head: a red action sent this message.",
        icons.icon(30, icons.arrow("@red")), of_snapshots=True, drawn=PROOF,
        explains=("red message",),
    ),
    Sign(
        "recorded-message", "recorded message",
        "A broad band: the snapshot recorded this message in its channel.",
        icons.icon(30, icons.level(30, "@band", 12), icons.arrow("@ink", is_open=True)), of_snapshots=True, drawn=PROOF,
        explains=("band",),
    ),
    Sign(
        "turns-red", "turn to red",
        "A diamond is the moment at which a process turns red. The dashed line joins these moments.",
        icons.icon(28, icons.level(28, icons.SNAPSHOT, 3, 8, 4), icons.diamond(14, 6, icons.SNAPSHOT)),
        of_snapshots=True,
        drawn=PROOF, as_drawn=True, explains=("turn",),
    ),
    Sign(
        "state", "states S0 and S1",
        "A dotted line is a state of the run: in S0 the snapshot begins, in S1 it ends.",
        icons.icon(28, icons.level(28, "@faint", 1.6, 2, 4)), of_snapshots=True, drawn=PROOF,
        explains=("state",),
    ),
)  # fmt: skip
