"""python tests/pipeline/spark/notebook.py SPARK FOLDER LOG JOBS: jobs in a classic session, as in a notebook.

JOBS is the name of a function of tests/pipeline/some_jobs.py. SPARK is the JSON of the master's URL and of settings,
FOLDER is the place of the data folders. It prints JSON: the settings of its session, the number of explored states, and
the error of a job that is stopped.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[3]
OWN = {"spark.sql.ansi.enabled": "false", "spark.sql.session.timeZone": "Asia/Tokyo"}


def main(spark: str, folder: str, log: str, jobs: str) -> None:
    sys.path.insert(0, str(ROOT))
    from tests.pipeline import some_jobs

    url, conf = json.loads(spark)
    session = SparkSession.builder.master(url).config(map=conf).getOrCreate()
    for name, value in OWN.items():
        session.conf.set(name, value)
    states = getattr(some_jobs, jobs)(folder, Path(log), session)
    settings = {name: session.conf.get(name) for name in OWN}
    end = how_it_ends(session, Path(folder).with_name("begun"))
    print(json.dumps({"states": states, "settings": settings, "end": end}))
    session.stop()


def how_it_ends(session: SparkSession, begun: Path) -> str:
    """The error of endless tasks that are stopped once one of them has begun."""
    from pipeline.spark.background import in_background
    from pipeline.spark.interrupting import interrupted_by
    from pipeline.spark.kinds import kind_of
    from pipeline.spark.losses import in_one_sentence
    from sim.core.errors import InputError
    from tests.waiting import until

    def wait_for_ever(batches: Iterator[Any]) -> Iterator[Any]:
        begun.touch()
        threading.Event().wait()
        yield from batches

    stop = threading.Event()
    in_background(lambda: (until(begun.exists, "a task begins"), stop.set()))
    try:
        with in_one_sentence(session), interrupted_by(stop, session):
            return str(list(kind_of(session).results(wait_for_ever, 2, "id long")))
    except InputError as problem:
        return str(problem)


if __name__ == "__main__":
    main(*sys.argv[1:])
