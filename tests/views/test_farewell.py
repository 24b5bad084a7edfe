"""The app ends in order at SIGINT and SIGTERM: its jobs save their work. Without Spark."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import ROOT

# What Streamlit does with app.py: uvicorn serves it in the main thread.
APP = """
import sys, threading
import uvicorn
from starlette.applications import Starlette
from views.farewell import farewell
from views.server.jobs import JOBS
begun = threading.Event()
def work(progress, stop):
    begun.set()
    stop.wait()
    print("saved", flush=True)
    if "--slow" in sys.argv:
        threading.Event().wait()
JOBS.submit("a job", work)
begun.wait()
threading.Thread(target=threading.Event().wait).start()  # such as of a page, which waits for something
class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print("serves", flush=True)
Server(uvicorn.Config(Starlette(lifespan=farewell), port=0, log_level="warning")).run()
"""


def serving(*arguments: str) -> subprocess.Popen[str]:
    """An app that serves, and has a job under way."""
    words = [sys.executable, "-c", APP, *arguments]
    app = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert app.stdout is not None and app.stdout.readline() == "serves\n", app.communicate()
    return app


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long("both signals that end the app"))],
)
def test_the_first_signal_lets_jobs_save_their_work(number: int, status: int) -> None:
    with serving() as app:
        app.send_signal(number)
        assert app.communicate() == ("saved\n", "")
        assert app.returncode == status


@pytest.mark.slow
def test_the_second_signal_ends_it_at_once() -> None:
    with serving("--slow") as app:
        assert app.stdout is not None
        app.send_signal(signal.SIGTERM)
        assert app.stdout.readline() == "saved\n"
        app.send_signal(signal.SIGTERM)
        assert app.communicate() == ("", "")
        assert app.returncode == 143


def test_the_app_has_it() -> None:
    assert "lifespan=farewell" in Path(ROOT, "app.py").read_text()
