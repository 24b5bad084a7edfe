"""python tests/pipeline/spark/notebook.py SPARK FOLDER LOG: all jobs in a classic session, as in a notebook.

SPARK is the JSON of the master's URL and of settings, FOLDER is where the data folders come. It prints the settings of
its session, the number of states that were explored, and how a job ends that is told to stop, as JSON.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[3]
OWN = {"spark.sql.ansi.enabled": "false", "spark.sql.session.timeZone": "Asia/Tokyo"}


def main(spark: str, folder: str, log: str) -> None:
    sys.path.insert(0, str(ROOT))
    from tests.pipeline.some_jobs import all_jobs

    url, conf = json.loads(spark)
    session = SparkSession.builder.master(url).config(map=conf).getOrCreate()
    for name, value in OWN.items():
        session.conf.set(name, value)
    states = all_jobs(Path(folder), Path(log), session)
    settings = {name: session.conf.get(name) for name in OWN}
    print(json.dumps({"states": states, "settings": settings, "end": how_it_ends(session)}))
    session.stop()


def how_it_ends(session: SparkSession) -> str:
    """What is said of tasks that would take for ever, and are told to stop."""
    from pipeline.spark.interrupting import interrupted_by
    from pipeline.spark.kinds import kind_of
    from pipeline.spark.losses import in_one_sentence
    from sim.core.errors import InputError

    stop = threading.Event()
    threading.Timer(1.0, stop.set).start()
    try:
        with in_one_sentence(session), interrupted_by(stop, session):
            return str(list(kind_of(session).results(wait_for_ever, 2, "id long")))
    except InputError as problem:
        return str(problem)


def wait_for_ever(batches: Iterator[Any]) -> Iterator[Any]:
    while True:
        time.sleep(0.1)
    yield from batches


if __name__ == "__main__":
    main(*sys.argv[1:])
