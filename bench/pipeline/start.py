"""The start of Spark: `python -m bench.pipeline.start [ROUNDS]`, with the archive of its classes and without, in turn.

An archive is made first, in a folder of its own that is removed in the end. A start ends with the answer of the first
job in Python. Seconds of the processor are those of Java and its workers up to there; they depend less on what else the
machine does.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pipeline.spark import class_archive, making_archive
from pipeline.spark.connecting import connect
from pipeline.spark.java import find_java
from pipeline.spark.local_server import START_S, Server
from tests.pipeline.spark.processes import descendants

ROUNDS = 3
TICKS = os.sysconf("SC_CLK_TCK")


def start(options: Sequence[str]) -> tuple[float, float, float]:
    """Seconds until Spark serves, until the first job has answered, and of the processor."""
    began = time.monotonic()
    server = Server(java_options=options)
    try:
        server.wait()
        serves = time.monotonic() - began
        spark = connect(server.url, retries=2, patience_s=START_S)
        spark.range(8).mapInArrow(lambda batches: batches, "id long").count()
        answers = time.monotonic() - began
        used = sum(map(seconds, descendants(os.getpid())))
        spark.client.close()
        return serves, answers, used
    finally:
        server.stop()


def seconds(pid: int) -> float:
    """Those of the processor that a process and its ended children have used."""
    try:
        values = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0.0
    return sum(map(int, values[11:15])) / TICKS


def measure_start(rounds: int = ROUNDS) -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        java = find_java(Path(cache))
        began = time.monotonic()
        making_archive.make(java)
        options = class_archive.options(java)
        assert options, "the archive was not made"
        size = sum(file.stat().st_size for file in Path(cache).rglob("*.jsa")) / 1e6
        print(f"{java.words}; the archive: {size:.0f} MB, made in {time.monotonic() - began:.0f} s at lowest priority")
        found: dict[str, list[tuple[float, float, float]]] = {"without": [], "with": []}
        for _ in range(rounds):
            found["without"].append(start(()))
            found["with"].append(start(options))
    for name, starts in found.items():
        serves, answers, used = (statistics.median(column) for column in zip(*starts, strict=True))
        print(f"{name:8} serves after {serves:.1f} s, first job {answers:.1f} s, processor {used:.1f} s")


if __name__ == "__main__":
    measure_start(*map(int, sys.argv[1:]))
