"""The legend: all signs of the diagrams in the order in which they are listed, and those that a scene has.

The page shows them as `signs` tells it: a word below the diagram, and a sentence beside the story. A still picture has
a legend of those that are seen in it (diagrams/still/legend.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from diagrams.figure.arrows import BAND_SIGNS, MESSAGE_SIGNS, TAKEN_BACK_SIGNS
from diagrams.figure.cuts import BACK_TO_SIGNS, CUT_SIGNS, SHOWN_CUT_SIGNS
from diagrams.figure.events import EVENT_SIGNS, RING_SIGNS
from diagrams.figure.harm import HARM_SIGNS
from diagrams.figure.icons import arrow, icon
from diagrams.figure.moments import DECISION_SIGNS, OUTPUT_SIGNS, RECORDING_SIGNS, STORED_SIGNS
from diagrams.figure.sign import LATTICE, Sign, as_told
from diagrams.figure.spacetime import NOW_SIGNS
from diagrams.figure.stops import STOP_SIGNS
from diagrams.figure.undelivered import UNDELIVERED_SIGNS
from diagrams.panels.lattice.signs import LATTICE_SIGNS
from diagrams.panels.proof.signs import PROOF_SIGNS
from diagrams.scene.composition import Scene
from diagrams.shapes import theme
from sim.core.model import APP

SIGNS = (
    *EVENT_SIGNS, *MESSAGE_SIGNS, *RECORDING_SIGNS, *RING_SIGNS, *BAND_SIGNS, *DECISION_SIGNS, *STOP_SIGNS,
    *STORED_SIGNS, *BACK_TO_SIGNS, *TAKEN_BACK_SIGNS, *OUTPUT_SIGNS, *CUT_SIGNS, *HARM_SIGNS, *SHOWN_CUT_SIGNS,
    *NOW_SIGNS, *UNDELIVERED_SIGNS, *PROOF_SIGNS, *LATTICE_SIGNS,
)  # fmt: skip


def _of_stamps(scene: Scene) -> list[Sign]:
    """A sign for each kind of stamp that the messages of this run carry."""
    algorithm = scene.whole_run.words.algorithm
    carried = {algorithm.stamp_of(flight.stamp) for flight in scene.execution.flights if flight.kind == APP}
    return [
        Sign(
            f"stamp-{stamp.name}", f"{stamp.name} message", stamp.title,
            icon(30, arrow(theme.message_colour(0, APP, stamp.head), is_open=stamp.head == "open")),
            explains=(f"{stamp.head} message", f"{stamp.head} message on its way"),
        )
        for stamp in algorithm.stamps
        if stamp.name in carried
    ]  # fmt: skip


def signs_in(scene: Scene) -> list[Sign]:
    """The signs of a scene in its algorithm's words, in the order in which they are listed."""
    algorithm = scene.whole_run.words.algorithm
    own = {"marker": algorithm.marker, "control": algorithm.control_message}
    own["recorded"], own["recorded_title"] = algorithm.channel_state
    first, *others = SIGNS
    return [
        replace(sign, label=sign.label.format(**own), title=sign.title.format(**own))
        for sign in (first, *_of_stamps(scene), *others)
        if sign.is_in(scene) and not (sign.of_snapshots and scene.whole_run.log)
    ]


def signs(scene: Scene) -> list[dict[str, Any]]:
    """The signs that the page shows beside the diagram, ready for JSON."""
    return [as_told(sign) for sign in signs_in(scene) if sign.drawn != LATTICE]
