"""`python pipeline/spark/server.py CONF SECONDS`: the app's own Spark Connect server, on the loopback address only.

It ends when its standard input is closed, which happens whenever the process that started it ends, even if killed. It
also ends when its Java ends, with the same status. No Java and no Python worker remains. CONF is a file of Spark's
properties, so no secret is on a command line; its folder is the server's scratch folder. Java is killed if it does not
end within SECONDS.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import threading
from pathlib import Path

READY = "ready"
GOODBYE_S = 3.0  # the time that Java has to end


def main(conf: Path, goodbye_s: float) -> None:
    """Starts Java with the server, prints READY, and runs until Java ends or standard input is closed."""
    from pyspark import SparkContext  # here: slow, and local_server.py imports READY
    from pyspark.java_gateway import launch_gateway

    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--properties-file {shlex.quote(str(conf))} pyspark-shell"
    gateway = launch_gateway(None, {"stdout": sys.stderr})  # type: ignore[no-untyped-call]  # our own is for READY
    is_needed = threading.Event()
    is_needed.set()
    threading.Thread(target=_end_with_owner, args=(gateway.proc, is_needed, goodbye_s), daemon=True).start()
    threading.Thread(target=_end_with_java, args=(gateway.proc, is_needed, conf.parent), daemon=True).start()
    SparkContext(gateway=gateway)
    print(READY, flush=True)
    threading.Event().wait()


def _end_with_owner(java: subprocess.Popen[bytes], is_needed: threading.Event, goodbye_s: float) -> None:
    """Waits for the end of standard input, then ends Java."""
    sys.stdin.read()
    is_needed.clear()
    java.terminate()
    try:
        java.wait(goodbye_s)
    except subprocess.TimeoutExpired:
        java.kill()


def _end_with_java(java: subprocess.Popen[bytes], is_needed: threading.Event, scratch: Path) -> None:
    """Waits for the end of Java, then ends this process. The owner, if it still runs, reads the log in the folder."""
    status = java.wait()
    if not is_needed.is_set():
        shutil.rmtree(scratch, ignore_errors=True)
    os._exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
