"""Scene -> the event table of the whole run as Parquet, with the types of sim/core/model.py; the same at every step."""

from __future__ import annotations

from io import BytesIO

import pyarrow
from pyarrow import parquet

from diagrams.scene.composition import Scene
from diagrams.scene.view import View
from diagrams.shapes.ownership import MADE_WITH, OWNERSHIP
from sim.core.model import EVENT_TYPES

TITLE = "Event table, Parquet"
FOR = "For pandas and Spark: the events of the whole run as a table whose columns have types."
SUFFIX = ".parquet"
MEDIA_TYPE = "application/vnd.apache.parquet"
ORDER = 120

SCHEMA = pyarrow.schema(
    [(name, pyarrow.type_for_alias(kind)) for name, kind in EVENT_TYPES.items()],
    {"generator": MADE_WITH, "rights": OWNERSHIP},
)


def export(scene: Scene, view: View) -> bytes:
    """The event table as a Parquet file; every column may be null."""
    columns = zip(*scene.execution.table, strict=True)
    table = pyarrow.table(list(columns) or [()] * len(SCHEMA), schema=SCHEMA)
    file = BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()
