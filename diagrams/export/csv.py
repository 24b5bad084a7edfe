"""Scene -> the event table of the whole run as CSV, for every step; sim.core.model.EVENT_TYPES names its columns."""

from __future__ import annotations

import csv
from io import StringIO

from diagrams.scene.composition import Scene
from diagrams.scene.view import View
from sim.core.model import EVENT_TYPES
from sim.exchange.csv_cells import harmless

TITLE = "Event table, CSV"
FOR = "For spreadsheets and statistics: a row for each event of the whole run."
SUFFIX = ".csv"
MEDIA_TYPE = "text/csv"
PREVIEW = "text"
ORDER = 100


def export(scene: Scene, view: View) -> bytes:
    """A line of column names, then a line for each row; null is an empty cell, and no cell is a formula. UTF-8."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(EVENT_TYPES)
    for event in scene.execution.table:
        writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in event])
    return text.getvalue().encode("utf-8")
