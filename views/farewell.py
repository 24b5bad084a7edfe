"""The end of the app: SIGTERM (systemd, `kill`) and SIGINT (Ctrl-C) end its live cluster, its jobs and Spark.

Exit status: 128 and the number of the signal: 143, 130. The app always ends within MOST_S seconds. A second signal ends
it at once.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import FrameType

from pipeline.spark import session as spark_session
from views.live.cluster import LIVE
from views.server.jobs import JOBS

MOST_S = 9.0  # from the signal to the end
CONNECTIONS_S = 1.0  # that connections have to close, once everything else has ended


@asynccontextmanager
async def farewell(app: object) -> AsyncIterator[None]:
    """The app's lifespan. Streamlit's server runs it in the main thread, and leaves it once connections are closed."""
    closed = threading.Event()
    endings: list[threading.Thread] = []

    def end(number: int, frame: FrameType | None) -> None:
        if endings:
            os._exit(128 + number)
        endings.append(threading.Thread(target=_end, args=(128 + number, closed), name="farewell"))
        endings[0].start()
        handle = handlers[number]
        if callable(handle):
            handle(number, frame)

    handlers: dict[int, object] = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    closed.set()
    for ending in endings:  # it ends the process
        await asyncio.to_thread(ending.join)


def _end(status: int, closed: threading.Event) -> None:
    """End the live cluster, the jobs, which save their work, Spark, and the process; no thread delays the end."""
    late = threading.Timer(MOST_S, os._exit, (status,))
    late.daemon = True
    late.start()
    LIVE.close()
    JOBS.close()
    spark_session.stop()
    closed.wait(CONNECTIONS_S)
    os._exit(status)
