"""Speed of ingest: `python -m bench.pipeline.ingest [EVENTS]`, a ShiViz log of a million events.

The log is read as several executions, then as one, which one worker reads. The time is that of the whole command
without the start of Spark. The last column is the time in which one core reads the lines and parses the clocks, and no
more: a lower bound for any reader in Python.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pipeline.ingest import carry_out, plan
from pipeline.logs.format import NO_OPTIONS
from pipeline.spark import session as spark_session
from pipeline.store.folder import Store

HOSTS = 10
EVENTS = 1_000_000
EXECUTIONS = 16
DELIMITER = "^=== (?P<trace>.*) ===$"


def execution(events: int, seed: int) -> Iterator[str]:
    """The lines of a log of HOSTS hosts: a third of the events send to a random host, a third receive in FIFO order."""
    draw = random.Random(seed)
    names = [f"host{number}" for number in range(HOSTS)]
    clocks: list[dict[str, int]] = [{} for _ in names]
    waiting: list[list[tuple[str, dict[str, int]]]] = [[] for _ in names]
    for _ in range(events):
        host = draw.randrange(HOSTS)
        clock, name = clocks[host], names[host]
        clock[name] = clock.get(name, 0) + 1
        what = draw.random()
        text = f"step {clock[name]}"
        if waiting[host] and what < 0.5:
            text, known = waiting[host].pop(0)
            for other, count in known.items():
                clock[other] = max(count, clock.get(other, 0))
        elif what > 0.66:
            target = draw.choice([other for other in range(HOSTS) if other != host])
            waiting[target].append((f"receives request {clock[name]} of {name}", dict(clock)))
            text = f"sends request {clock[name]} to {names[target]}"
        yield f"{text}\n{name} {json.dumps(clock)}\n"


def write_log(path: Path, events: int, executions: int) -> None:
    """Writes a log of `events` events, the same at every call."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(executions):
            if executions > 1:
                file.write(f"=== run {number} ===\n")
            file.writelines(execution(events // executions, number))


def floor(path: Path) -> float:
    """The seconds in which one core reads the lines and parses the clocks, and no more."""
    start = time.perf_counter()
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line[-2] == "}":
                json.loads(line[line.index("{") :])
    return time.perf_counter() - start


def measure(folder: Path, events: int, executions: int) -> None:
    """Reads one log, and prints the time."""
    log = folder / "bench.log"
    write_log(log, events, executions)
    spark = spark_session.session()
    spark.range(8).count()
    start = time.perf_counter()
    store = Store.create(folder / "data", "trace", {})
    options = {"delimiter": DELIMITER} if executions > 1 else NO_OPTIONS
    rows = carry_out(spark, store, plan([log], "shiviz", options))
    seconds = time.perf_counter() - start
    messages = sum(row["messages"] for row in rows)
    sizes = f"{executions:10} {events:10,} {messages:10,} {log.stat().st_size / 1e6:8.0f}"
    print(f"{sizes} {seconds:8.1f} {events / seconds:10,.0f} {floor(log):8.1f}")
    shutil.rmtree(store.path)


def measure_ingest(events: int = EVENTS) -> None:
    """Reads a log as several executions, then as one, and prints the times."""
    print("executions     events   messages       MB  seconds   events/s  json alone")
    with tempfile.TemporaryDirectory() as scratch:
        for count in (EXECUTIONS, 1):
            measure(Path(scratch), events, count)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.pipeline.ingest")
    parser.add_argument("events", nargs="?", type=int, default=EVENTS)
    measure_ingest(parser.parse_args().events)
