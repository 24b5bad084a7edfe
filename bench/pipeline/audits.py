"""Speed of audits: `python -m bench.pipeline.audits [EVENTS ...]`.

By default the event tables have 20 and 100 million events.

The tables have runs of 8 processes and about 2,000 events, with a cut of each. Spark (`pipeline.cuts.audits`), DuckDB
with its best known plan, and pandas write the same verdicts, witnesses and channel contents from the same files as
Parquet. They take turns, so that slow moments of the machine affect all; the result is the median of the ratios. The
first audit of a Spark that has just started is measured by itself. CPU seconds are those of all processes together.

Last, one run of 100,000 events with 1,000 cuts near consistent ones, without DuckDB: by joins that takes minutes.

Memory is the peak of all processes together, Spark's server included. Pages that several processes share are counted
once: each process counts its part of them (PSS). But a child that Java has just made, as for Hadoop's chmod, has all
pages of its parent until it becomes another program: it is left out.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import duckdb
import pandas

from bench.pipeline.event_tables import MESSAGES, write_cuts, write_events, write_run
from pipeline.cuts.audits import audit
from pipeline.cuts.cut_sources import from_file
from pipeline.spark import local_server
from pipeline.spark import session as spark_session
from pipeline.store.folder import Store

ROUNDS = 5
EVENTS = (20_000_000, 100_000_000)
MOST_OF_PANDAS = 20_000_000  # events: pandas holds all of them in memory
LEAST_RATES = {20_000_000: 12e6, 100_000_000: 20e6}  # events a second
MOST_RATIO, MOST_FIRST, MOST_MEMORY = 1.0, 4.0, 2e9  # of DuckDB's time; seconds; bytes
ONE_RUN = 50_000, 1_000  # messages, cuts

Answer = tuple[int, int, int]


class Took(NamedTuple):
    """The cost of an audit, in wall and CPU seconds and bytes of memory, and its answer, for comparison."""

    seconds: float
    cpu: float
    memory: int
    answer: Answer


# ------------------------------------------------------------------ three ways


def by_spark(folder: Path) -> Answer:
    """The audit of `python -m pipeline audit`."""
    spark, store = spark_session.session(), Store(folder)
    audit(spark, store, from_file(folder / "cuts.parquet"))
    return answer_in(f"{folder}/audits/*.parquet", f"{folder}/channels/*.parquet")


def by_duckdb(folder: Path) -> Answer:
    """The audit in SQL: a join of sends with cuts, then two small tables of the messages that cross a cut."""
    base = duckdb.connect(config={"threads": local_server.cores()})
    base.execute("SET enable_progress_bar = false")
    base.execute(f"CREATE TABLE cuts AS FROM '{folder}/cuts.parquet'")
    base.execute(f"""
        CREATE TABLE crossing AS
        SELECT s.run_id, a.cut_id, s.channel, s.message_id, s.peer_index, s.index > a.index AS violates
        FROM '{folder}/events/*.parquet' s
        JOIN cuts a ON a.run_id = s.run_id AND a.process = s.process
        JOIN cuts b ON b.run_id = s.run_id AND b.cut_id = a.cut_id AND b.process = split_part(s.channel, '->', 2)
        WHERE s.kind = 'send' AND (s.index <= a.index) != coalesce(s.peer_index <= b.index, false)
    """)
    base.execute(f"""
        COPY (
            SELECT run_id, cut_id, witness IS NULL AS consistent, witness
            FROM (SELECT DISTINCT run_id, cut_id FROM cuts)
            LEFT JOIN (SELECT run_id, cut_id, min(message_id) AS witness FROM crossing WHERE violates GROUP BY ALL)
            USING (run_id, cut_id)
        ) TO '{folder}/duckdb-audits.parquet'
    """)
    base.execute(f"""
        COPY (
            SELECT run_id, cut_id, channel, list(message_id ORDER BY peer_index NULLS LAST, message_id) AS messages
            FROM crossing WHERE NOT violates GROUP BY ALL
        ) TO '{folder}/duckdb-channels.parquet'
    """)
    base.close()
    return answer_in(f"{folder}/duckdb-audits.parquet", f"{folder}/duckdb-channels.parquet")


def by_pandas(folder: Path) -> Answer:
    """The audit in pandas, in memory."""
    columns = ["run_id", "process", "index", "channel", "peer_index", "message_id"]
    sends = pandas.read_parquet(folder / "events", columns=columns, filters=[("kind", "=", "send")])
    cuts = pandas.read_parquet(folder / "cuts.parquet")
    sends["target"] = sends.channel.str.partition("->")[2]
    targets = cuts.rename(columns={"process": "target", "index": "index_of_target"})
    both = sends.merge(cuts, on=["run_id", "process"], suffixes=("", "_of_process"))
    both = both.merge(targets, on=["run_id", "cut_id", "target"])
    is_sent, is_received = both["index"] <= both.index_of_process, both.peer_index <= both.index_of_target
    cut = ["run_id", "cut_id"]
    witnesses = both[~is_sent & is_received].groupby(cut).message_id.min().rename("witness")
    verdicts = cuts[cut].drop_duplicates().merge(witnesses.reset_index(), how="left")
    verdicts["consistent"] = verdicts.witness.isna()
    verdicts.to_parquet(folder / "pandas-audits.parquet")
    held = both[is_sent & ~is_received].sort_values(["peer_index", "message_id"])
    channels = held.groupby([*cut, "channel"]).message_id.agg(list).rename("messages").reset_index()
    channels.to_parquet(folder / "pandas-channels.parquet")
    return answer_in(f"{folder}/pandas-audits.parquet", f"{folder}/pandas-channels.parquet")


def answer_in(audits: str, channels: str) -> Answer:
    """An answer in short: the number of inconsistent cuts, and digests of the witnesses and the channels."""
    base = duckdb.connect()
    verdicts = f"SELECT count(*) FILTER (NOT consistent), sum(witness * run_id % 1009)::BIGINT FROM '{audits}'"
    inconsistent, witnesses = base.execute(verdicts).fetchall()[0]
    digest = "hash(run_id::BIGINT, cut_id, channel, messages::BIGINT[]) % 1009"
    held = base.execute(f"SELECT sum({digest})::BIGINT FROM '{channels}'").fetchall()[0][0]
    return inconsistent, witnesses, held


# ------------------------------------------------------------------ time and memory


def process_tree(root: int) -> set[int]:
    """A process and all its descendants."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            children.setdefault(int(path.read_text().rpartition(")")[2].split()[1]), []).append(int(path.parent.name))
        except OSError:  # the process has ended
            continue
    found, waiting = set(), [root]
    while waiting:
        process = waiting.pop()
        found.add(process)
        waiting += children.get(process, [])
    return found


def memory(processes: set[int]) -> int:
    """The memory that processes take now, in bytes; pages that they share are counted once."""
    kilobytes = 0
    for process in processes:
        with suppress(OSError):  # the process has ended
            if not _is_about_to_exec(process):
                rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
                kilobytes += int(rollup.partition("\nPss:")[2].split()[0])
    return kilobytes * 1024


def _is_about_to_exec(process: int) -> bool:
    """Whether a process is a child of Java that has not yet become another program."""
    program = os.readlink(f"/proc/{process}/exe")
    parent = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]
    return program.endswith("/java") and os.readlink(f"/proc/{parent}/exe") == program


def cpu_seconds(processes: set[int]) -> float:
    """The CPU seconds of processes so far, with those of their children that have ended."""
    ticks = 0
    for process in processes:
        with suppress(OSError):
            ticks += sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def peak_memory(root: int) -> Iterator[list[int]]:
    """A list whose only item is the peak memory of a process and its descendants within the block."""
    most, over = [0], threading.Event()

    def look() -> None:
        while not over.wait(0.1):
            most[0] = max(most[0], memory(process_tree(root)))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield most
    finally:
        over.set()
        watcher.join()


def took(work: Callable[[Path], Answer], folder: Path) -> Took:
    """The cost of `work` in this process."""
    with peak_memory(os.getpid()) as most:
        start, cpu = time.perf_counter(), cpu_seconds(process_tree(os.getpid()))
        answer = work(folder)
        seconds, cpu = time.perf_counter() - start, cpu_seconds(process_tree(os.getpid())) - cpu
    return Took(seconds, cpu, most[0], answer)


def _send(work: Callable[[Path], Answer], folder: Path, end: Connection) -> None:
    end.send(took(work, folder))


def took_in_child(work: Callable[[Path], Answer], folder: Path) -> Took:
    """The cost of `work` in a process of its own."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(work, folder, there))
    process.start()
    there.close()
    found: Took = here.recv()
    process.join()
    return found


# ------------------------------------------------------------------ the table


def compare(folder: Path, events: int) -> None:
    """Prints the lines of one event table."""
    runs = events // (2 * MESSAGES)
    count = write_events(folder / "events", runs)
    write_cuts(folder / "cuts.parquet", runs)
    ways = {"Spark": lambda: took(by_spark, folder), "DuckDB": lambda: took_in_child(by_duckdb, folder)}
    if events <= MOST_OF_PANDAS:
        ways["pandas"] = lambda: took_in_child(by_pandas, folder)
    spark_session.stop()
    spark_session.session()
    print(f"{count:12,} {runs:8,} the first audit of a started Spark: {ways['Spark']().seconds:.2f} s")
    rounds = [{name: way() for name, way in ways.items()} for _ in range(ROUNDS)]
    answers = {each.answer for found in rounds for each in found.values()}
    assert len(answers) == 1, f"the answers differ: {answers}"
    for name in ways:
        seconds = statistics.median(found[name].seconds for found in rounds)
        cpu = statistics.median(found[name].cpu for found in rounds)
        ratio = statistics.median(found[name].seconds / found["DuckDB"].seconds for found in rounds)
        most = max(found[name].memory for found in rounds)
        line = f"{name:8} {seconds:8.2f} {cpu:8.2f} {count / seconds / 1e6:10.1f} {ratio:9.2f} {most / 1e9:10.2f}"
        print(f"{count:12,} {runs:8,} {line}", flush=True)


def measure_one_run(folder: Path) -> None:
    """Prints the line of one run with many cuts."""
    messages, cuts = ONE_RUN
    count = write_run(folder, messages, cuts)
    spark, store, given = spark_session.session(), Store(folder), from_file(folder / "cuts.parquet")
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        outcome = audit(spark, store, given)
        found.append(time.perf_counter() - start)
    consistent = outcome.cuts - outcome.inconsistent
    print(f"{count:12,} {cuts:8,} of one run, {consistent} consistent: Spark {statistics.median(found):.2f} s")


def measure_audits(sizes: tuple[int, ...] = EVENTS) -> None:
    """Prints the table."""
    rates = ", ".join(f"{rate / 1e6:g} M events/s at {events / 1e6:g} M" for events, rate in LEAST_RATES.items())
    print(
        f"on {local_server.cores()} cores; asked of Spark: {rates}; {MOST_RATIO:g} of DuckDB's time at most, "
        f"{MOST_FIRST:g} s for the first audit, {MOST_MEMORY / 1e9:g} GB"
    )
    print("      events     cuts  by              s    CPU s  M events/s  of DuckDB   GB at most")
    for events in sizes:
        with tempfile.TemporaryDirectory(prefix="bench-audits-") as folder:
            compare(Path(folder), events)
    with tempfile.TemporaryDirectory(prefix="bench-audits-") as folder:
        measure_one_run(Path(folder))


if __name__ == "__main__":
    try:
        measure_audits(tuple(map(int, sys.argv[1:])) or EVENTS)
    finally:
        spark_session.stop()
