"""An ingest that is killed leaves a stopped folder: no half table is seen, the page says so, and it can be deleted."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pipeline.store import catalog
from pipeline.store.folder import Store
from tests.tools import ROOT

EVENTS = "process,kind,message_id,channel\nP1,send,1,P1->P2\nP2,receive,1,P1->P2\n"
WHOLE = {"reading": {}, "between": {"events": 2}, "finishing": {"events": 2, "traces": 1}}
KILLED = """
import os, signal, sys
from pathlib import Path
from pipeline import ingest
from pipeline.spark import session as spark_session
from pipeline.store.folder import Store
from pipeline.store.tables import Written

spark_session.is_own = lambda session: True
log, folder, moment = sys.argv[1:]
kill = lambda *given: os.kill(os.getpid(), signal.SIGKILL)

def in_this_process(session, store, new, todo, stop):
    rows = list(ingest._read_executions(store, new, todo, range(len(todo.pieces))))
    if moment == "reading":
        kill()
    for row in rows:
        new.keep(Written("events", row.pop("part"), row.pop("rows")))
        yield {"problem": None, **row}

ingest._read_on_workers = in_this_process
if moment == "between":
    write = Store.write_part
    Store.write_part = lambda self, table, *rest: kill() if table == "traces" else write(self, table, *rest)
if moment == "finishing":
    Store.finish = kill
todo = ingest.plan([Path(log)], "csv")
ingest.carry_out(None, Store.create(Path(folder), "trace", {"files": [log], "format": "csv"}), todo)
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root in which an ingest was killed at each moment."""
    folder = tmp_path_factory.mktemp("killed")
    log = folder / "some.csv"
    log.write_text(EVENTS, encoding="utf-8")
    root = folder / "data"
    arguments = {moment: [str(log), str(root / moment), moment] for moment in WHOLE}
    begun = [subprocess.Popen([sys.executable, "-c", KILLED, *given], cwd=ROOT) for given in arguments.values()]
    assert [process.wait() for process in begun] == [-signal.SIGKILL] * len(WHOLE)
    return root


def page() -> None:
    from views.traces import page as traces

    traces.page()


@pytest.mark.slow
@pytest.mark.parametrize("moment", WHOLE)
def test_a_killed_ingest_leaves_no_half_table(root: Path, monkeypatch, moment: str) -> None:
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(root))
    store = Store(root / moment)
    assert {table: store.count(table) for table in ("events", "traces") if store.has(table)} == WHOLE[moment]
    entry = catalog.find(moment)
    assert (entry.status, entry.problem) == ("stopped", None)
    monkeypatch.setattr("views.traces.page.waiting", lambda *words: None)  # no Spark is started
    monkeypatch.setattr("views.traces.page.trace_window", lambda *given, **named: None)
    shown = AppTest.from_function(page, default_timeout=60)
    shown.query_params["data"] = moment
    shown.run()
    assert not shown.exception
    words = " ".join(html.proto.body for html in shown.get("html"))
    told = (
        "2 events of 2 processes"
        if "traces" in WHOLE[moment]
        else "was stopped while it was read, and nothing of it is"
    )
    assert told in words
    catalog.delete(moment)
    assert not store.path.exists(), "with what is hidden in it"
