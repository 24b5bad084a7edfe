"""Makes the archive of Spark's classes (pipeline/spark/class_archive.py), once, in the background.

A Spark of its own makes it, `python -m pipeline.spark.making_archive`, in a minute in which the machine is idle.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.spark.class_archive import ALL, BASE, SUMS, is_private, options, prefix_of, sums, using
from pipeline.spark.connecting import connect
from pipeline.spark.java import Java
from pipeline.spark.local_server import ROOT, Server, cores, free_memory

if TYPE_CHECKING:
    import pyarrow

LEAST_ROOM = 2_000  # free MB of the disk; the archive takes about 230
LEAST_MEMORY = 2_500  # free MB of memory, for the Spark that makes it
KEPT = 2  # archives, those used last
MINUTE_S = 60.0  # the time covered by the first element of os.getloadavg
MAKING_S = 600.0  # the longest time for making it
LAZY = 19  # the lowest priority


def make_later(java: Java) -> None:
    """Makes the archive in the background, in the first quiet minute, unless there is one or it is switched off."""
    if prefix_of(java) is not None and not options(java) and hasattr(os, "getloadavg"):
        threading.Thread(target=_make_when_quiet, args=(java,), name="class-archive", daemon=True).start()


def _make_when_quiet(java: Java) -> None:
    while True:
        time.sleep(MINUTE_S)
        if os.getloadavg()[0] < cores() / 2 and (free_memory() or LEAST_MEMORY) >= LEAST_MEMORY:
            break
    with suppress(OSError, subprocess.SubprocessError):
        make(java)


def make(java: Java) -> None:
    """Makes the archive, at the lowest priority, and removes older ones. Raises OSError or SubprocessError."""
    prefix = prefix_of(java)
    if prefix is None:
        return
    cache = prefix.parent
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    if shutil.disk_usage(cache).free >> 20 < LEAST_ROOM or not is_private(cache):
        return
    made = Path(tempfile.mkdtemp(prefix=prefix.name, dir=cache))
    try:
        base, everything = made / BASE, made / ALL
        dump = [str(java.runtime / "bin" / "java"), "-Xshare:dump", f"-XX:SharedArchiveFile={base}"]
        _run(["nice", f"-n{LAZY}", *dump])
        _run(["nice", f"-n{LAZY}", sys.executable, "-m", __name__, str(base), str(everything)])
        (made / SUMS).write_text(sums(made), encoding="utf-8")  # last: without this file the others are not used
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    _remove_old(cache)


def _run(command: Sequence[str]) -> None:
    """Runs a command that ends when its input does: with this process."""
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            if process.wait(MAKING_S):
                raise subprocess.CalledProcessError(process.returncode, command)
        except BaseException:
            process.kill()
            raise


def _remove_old(cache: Path) -> None:
    """Removes unfinished archives, and all others but those used last."""
    used = {folder: ((folder / SUMS).exists(), folder.stat().st_mtime_ns) for folder in cache.glob("classes-*")}
    for folder in sorted(used, key=used.__getitem__, reverse=True)[KEPT:]:
        shutil.rmtree(folder, ignore_errors=True)


# ------------------------------------------------------------------ the Spark that makes it


def main(base: str, everything: str) -> None:
    """Starts a Spark, lets it do some of every kind of work, and ends it: then Java writes the archive."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    server = Server(java_options=[*using(Path(base)), f"-XX:ArchiveClassesAtExit={everything}"], goodbye_s=MAKING_S)
    try:
        server.wait()
        spark = connect(server.url, retries=2, patience_s=MAKING_S)
        work(spark, str(server.scratch / "table"))
        spark.client.close()
    finally:
        server.stop()


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(1)  # the server ends with us


def work(spark: Any, table: str) -> None:
    """Do each kind of work of our jobs once: tasks in Python, writing and reading Parquet, sums, joins, sorting."""
    spark.range(8).mapInArrow(_identity, "id long").write.parquet(table)
    rows = spark.read.parquet(table)
    sums = rows.groupBy(rows.id % 3).agg({"id": "max"}).toDF("rest", "most")
    list(rows.join(sums, rows.id == sums.rest, "left").orderBy("id").toLocalIterator())
    sums.toArrow()


def _identity(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    yield from batches


if __name__ == "__main__":
    main(*sys.argv[1:])
