"""Verdicts on a log that grows: `python -m bench.pipeline.following [SECONDS] [ROWS]`.

By default it takes 30 seconds and 500,000 rows.

First a cluster of four nodes runs for so many seconds, with kills, severed channels and losses, and takes snapshots.
Then its logs are written anew, line by line at the pace at which the nodes wrote them, while they are followed. For
each snapshot: how long after the last of its recordings was written, its verdict was there. Last, how long it takes to
catch up with a log of so many rows.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster.chaos import chaos
from cluster.start.full_graph import of_nodes
from cluster.start.wanted import Wanted
from pipeline.spark import session as spark_session
from pipeline.streaming.following import InBackground

SECONDS, ROWS = 30.0, 500_000
MOST_S = 5.0  # that a verdict may take
UNIT_S = 0.01  # a time unit of the cluster
LOOK_S = 0.02
FIRST = '[0,0.0,-1,["up","P1->P2"],[["controller",null,"up","P1->P2",null,null,null,null,null]],0,0]\n'


def main(seconds: float, rows: int) -> None:
    """Measures, and prints. Ends with an error if a verdict takes too long."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wanted = Wanted(of_nodes(4, "bank", settings=["pace=2"]), delay=(0.005, 0.03), folder=folder / "cluster")
        logs = chaos(wanted, seconds, seed=1).logs
        spark_session.session()
        took = verdicts(folder, logs)
        print(
            f"{len(took)} verdicts: median {statistics.median(took):.2f} s, 95 of 100 within "
            f"{sorted(took)[int(len(took) * 0.95)]:.2f} s, the last within {max(took):.2f} s"
        )
        count, lasted = catching_up(folder, logs, rows)
        print(f"{count:,} rows that came at once: {lasted:.1f} s, {count / lasted:,.0f} rows a second")
    if max(took) > MOST_S:
        sys.exit(f"a verdict took {max(took):.1f} s; at most {MOST_S:.0f} s are right")


@contextmanager
def followed(folder: Path, name: str) -> Iterator[tuple[InBackground, Path]]:
    """A query that follows a new folder of logs, and has taken in a first line, of a process that does nothing else."""
    logs = folder / name / "logs" / "1"
    logs.mkdir(parents=True)
    (logs / "first.log").write_text(FIRST)
    own = InBackground(folder / f"{name}-out", [logs], "live")
    while not own.news.rows:
        time.sleep(LOOK_S)
    try:
        yield own, logs
    finally:
        own.stop(patience_s=30)


def verdicts(folder: Path, logs: Path) -> list[float]:
    """Seconds from the last recording of each snapshot that was judged to its first verdict."""
    lines = [(path.name, line) for path in logs.glob("*.log") for line in path.read_text("utf-8").splitlines()]
    by_time = sorted((json.loads(line)[1] * UNIT_S, name, line) for name, line in lines)
    written: dict[str, float] = {}
    seen: dict[str, float] = {}
    with followed(folder, "paced") as (own, copy):
        is_over = threading.Event()

        def watch() -> None:
            while not is_over.wait(LOOK_S):
                for told in own.news.latest:
                    seen.setdefault(told.verdict.cut, time.monotonic())

        threading.Thread(target=watch, daemon=True).start()
        began = time.monotonic()
        for at, name, line in by_time:
            time.sleep(max(0.0, began + at - time.monotonic()))
            with (copy / name).open("a", encoding="utf-8") as file:
                file.write(line + "\n")
            for row in json.loads(line)[4]:
                if row[2] == "record":
                    written[row[8]] = time.monotonic()
        time.sleep(2 * MOST_S)
        is_over.set()
    return [seen[cut] - written[cut] for cut in seen]


def catching_up(folder: Path, logs: Path, rows: int) -> tuple[int, float]:
    """The rows of logs that come at once, and the seconds until they are taken in and judged: many runs alike."""
    content = {path.name: path.read_bytes() for path in logs.glob("*.log")}
    own_rows = sum(len(json.loads(line)[4]) for text in content.values() for line in text.splitlines())
    copies = -(-rows // own_rows)
    with followed(folder, "many") as (own, place):
        began = time.monotonic()
        for number in range(copies):
            copy = place / str(number)
            copy.mkdir()
            for name, text in content.items():
                (copy / name).write_bytes(text)
        while own.news.rows < copies * own_rows and own.problem is None:
            time.sleep(LOOK_S)
        return copies * own_rows, time.monotonic() - began


if __name__ == "__main__":
    main(*(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS, int(sys.argv[2]) if len(sys.argv) > 2 else ROWS))
