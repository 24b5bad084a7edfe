"""Prepares a foreign Spark (SPARK_REMOTE, a notebook's session) for our jobs: settings, our code, packages of workers.

The user's session is left as it is. Jobs run in a second session with the same settings and ours.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.spark.kinds import kind_of
from pipeline.spark.local_server import ROOT
from pipeline.spark.losses import in_one_sentence
from pipeline.spark.scratch import Scratch
from sim.core.errors import InputError

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import SparkSession

PACKAGES = ("sim", "pipeline")  # our packages that workers import
NEEDED = ("networkx", "numpy", "pyarrow", "regex", "tomli_w", "zstandard")  # the packages that these import
SETTINGS = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}
CHECKS = 4  # tasks that look for packages on their workers


@contextmanager
def borrowed(session: SparkSession | None) -> Iterator[SparkSession | None]:
    """A second session next to `session`, prepared for our jobs, which ends with the block.

    It is None if `session` is None: then this process has its own Spark. Raises InputError if there can be no second
    session, or if the workers lack a package.
    """
    if session is None:
        yield None
        return
    from pyspark import __version__

    if not hasattr(session, "newSession"):
        raise InputError(f"session: PySpark {__version__} makes no session beside this one; use PySpark 4.3")
    with in_one_sentence(session):
        spark = session.newSession()
        own = spark.conf.getAll
        for name, value in session.conf.getAll.items():
            if own.get(name) != value:
                spark.conf.set(name, value)
    try:
        prepare(spark)
        yield spark
    finally:
        with suppress(Exception):  # of several libraries: it may have ended
            kind_of(spark).release()


def prepare(spark: SparkSession) -> None:
    """Makes the settings of our jobs, sends the project's code, and checks the workers' packages. Raises InputError."""
    with in_one_sentence(spark):
        for name, value in SETTINGS.items():
            spark.conf.set(name, value)
        kind_of(spark).send(project_archive())
        found = kind_of(spark).results(partial(_missing_here, NEEDED), CHECKS, "missing string")
        missing = sorted({row.missing for row in found})
    if missing:
        raise InputError(f"Spark's workers lack {', '.join(missing)}: install it there (docs/cluster.md)")


@cache
def project_archive() -> Path:
    """A zip of the project's code, whose name depends on its content. It exists as long as this process."""
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    scratch = Scratch()
    atexit.register(scratch.remove)
    archive = scratch.path / f"consistent-cut-{digest[:16]}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path in files:
            zipped.write(path, path.relative_to(ROOT))
    return archive


# ------------------------------------------------------------------ on a worker


def _missing_here(needed: Sequence[str], batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """The packages that this worker lacks."""
    import pyarrow

    for _ in batches:
        missing = [name for name in needed if importlib.util.find_spec(name) is None]
        yield pyarrow.RecordBatch.from_pydict({"missing": missing}, pyarrow.schema([("missing", "string")]))
