"""The command replay: the run of a cluster, as a scenario and as an event table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cluster.__main__ import main
from cluster.control.supervisor import Supervisor
from cluster.start.wanted import Wanted
from sim.__main__ import main as sim
from sim.core.model import RECEIVE
from tests.cluster.live import bank, taken
from tests.cluster.live import live as lived
from tests.cluster.running import refused, said, said_by
from tests.waiting import comes


@pytest.mark.slow
def test_the_run_is_replayed(tmp_path, capsys):
    folder, again, table = tmp_path / "live", tmp_path / "again.toml", tmp_path / "table"
    shown: dict[str, Any] = {}

    async def act(supervisor: Supervisor) -> None:
        await comes(lambda: any(node.counts and node.counts["received"] for node in supervisor.nodes()))
        own = await taken(supervisor)
        shown.update(supervisor.contents(own.id), id=own.id)

    said_by(Wanted(bank(2), folder))  # a start before: the last one is told
    lived(Wanted(bank(2), folder, delay=(0.01, 0.03)), act)
    done = said("replay", str(folder), "--scenario", str(again), "--table", str(table))
    assert re.fullmatch(r"[0-9,]+ rows: the replay in the simulation gives the same\n", done.stdout)
    assert sim(["run", str(again), "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["snapshots"]
    assert (told["id"], told["status"]) == (shown["id"], "complete")
    assert told["channels"] == shown["channels"]
    states = {name: part["state"] for name, part in shown["processes"].items()}
    assert {name: part["state"] for name, part in told["processes"].items()} == states
    assert (table / "events" / "part-0.parquet").exists()
    rows = (table / "cuts.csv").read_text().splitlines()
    assert len(rows) == 1 + 2
    assert main(["tell", str(folder / "logs" / "2"), "--scenario", str(again)]) == 0
    assert refused("tell", str(folder), "--table", str(again)).startswith(f"{again}")
    assert refused("tell", str(folder), "--scenario", str(tmp_path)).startswith(f"{tmp_path}: cannot be read or")
    receive_more(folder / "logs" / "2" / "0.log")
    says = refused("tell", str(folder), "--scenario", str(again))
    assert re.search(r"row \d+ of the run is \{.*\}, but in the replay \{.*\}; a rule may depend on", says), says


def receive_more(log: Path) -> None:
    """In an event log, let the process have received another amount with its first message."""
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    row = next(row for line in lines for row in line[4] if row[2] == RECEIVE)
    row[7] += 1
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
