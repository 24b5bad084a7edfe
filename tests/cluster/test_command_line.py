"""The commands as people run them: a cluster in a process of its own, asked by others."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cluster.__main__ import main
from cluster.client import Client
from cluster.commands import PARSERS
from cluster.system import live
from sim.core.errors import InputError
from sim.document import library
from sim.document.command_line import Parser
from sim.document.files import parse_toml
from tests.cluster.running import (
    PATIENCE,
    asked,
    command,
    nodes_of,
    none_is_left,
    refused,
    sentence_of,
    surroundings,
    until,
    up,
)
from tests.tools import ROOT, free_port

pytestmark = pytest.mark.slow
DELAY = "10ms..30ms"


def money(contents: dict[str, Any]) -> int:
    bodies = [body for bodies in contents["channels"].values() for body in bodies]
    return sum(part["state"] for part in contents["processes"].values()) + sum(bodies)


def test_a_session(tmp_path):
    """Take snapshots, look into one, kill a node, go back, let nodes come and go, and end it."""
    folder = tmp_path / "live"
    options = ("--nodes", "3", "--most", "4", "--set", "pace=2", "--delay", DELAY, "--allow-faults")
    with up(*options, "--out", str(folder)) as cluster:
        pids = [node["pid"] for node in cluster.nodes]
        taken = cluster.ask("snapshot", "--node", "P3")
        assert (taken["status"], taken["initiated_by_node_id"]) == ("COMPLETED", "P3")
        assert money(cluster.ask("snapshot", "--show", taken["snapshot_id"])) == 300
        cluster.ask("fault", "kill", "P2")
        until(lambda: {node["epoch"] for node in cluster.nodes if node["pid"]} == {1})
        for fault in (("sever", "P1->P2"), ("mend", "P1->P2"), ("delay", "P1->P2", "--delay", "1ms..2ms")):
            cluster.ask("fault", *fault)
        cluster.ask("fault", "lose", "P1->P2", "--share", "0.3")
        until(lambda: all(node["status"] in ("RUNNING", "ABSENT") for node in cluster.nodes))
        assert cluster.ask("restore", taken["snapshot_id"])["epoch"] == 2
        assert cluster.ask("restore", "--epoch", "0")["snapshot_id"] == taken["snapshot_id"]
        assert cluster.ask("join")["node_id"] == "P4"
        assert cluster.ask("leave", "P4")["status"] == "ABSENT"
        assert "there is no snapshot 'S99'" in cluster.refuses("snapshot", "--show", "S99")
        assert "there is no node 'P9'" in cluster.refuses("snapshot", "--node", "P9")
        assert "only one that is under way" in cluster.refuses("snapshot", "--cancel", taken["snapshot_id"])
        assert str(folder) in refused("up", "--nodes", "3", "--out", str(folder), "--port", "0"), "it is locked"
        port = cluster.url.rpartition(":")[2]
        assert f"port {port}" in refused("up", "--nodes", "2", "--port", port)
        pids += [node["pid"] for node in cluster.nodes if node["pid"]]
        cluster.ask("down")
        assert cluster.process.wait(PATIENCE) == 0
        none_is_left(pids)
    assert "no cluster answers at" in refused("status", "--url", cluster.url)


def test_ctrl_c_ends_it_with_all_its_nodes(tmp_path):
    with up("two_banks", "--out", str(tmp_path / "live")) as cluster:
        pids = [node["pid"] for node in cluster.nodes]
        cluster.process.send_signal(signal.SIGINT)
        assert cluster.process.wait(PATIENCE) == 130
        none_is_left(pids)


def test_after_kill_of_everything_it_begins_again_from_the_last_snapshot(tmp_path):
    """Those who had joined are there again, and no money is lost; what was not committed has not happened."""
    options = ("--nodes", "3", "--most", "4", "--set", "pace=2", "--delay", DELAY, "--out", str(tmp_path / "live"))
    with up(*options) as cluster:
        cluster.ask("join")
        last = cluster.ask("snapshot")
        assert money(cluster.ask("snapshot", "--show", last["snapshot_id"])) == 400
        cluster.kill()
    with up(*options, "--restore") as cluster:
        assert [node["status"] for node in cluster.nodes] == ["RUNNING"] * 4
        assert cluster.ask("snapshot", "--show", last["snapshot_id"])["epoch"] == 0
        again = cluster.ask("snapshot")
        assert (again["status"], again["epoch"]) == ("COMPLETED", 2)
        assert money(cluster.ask("snapshot", "--show", again["snapshot_id"])) == 400
        assert "allows no faults" in cluster.refuses("fault", "kill", "P1")
    with up(*options, "--restore", last["snapshot_id"]) as cluster:
        assert cluster.ask("restore")["snapshot_id"] == last["snapshot_id"], "the later one was taken back"


def test_who_had_left_stays_away_after_a_restart(tmp_path):
    options = ("--nodes", "3", "--set", "pace=2", "--out", str(tmp_path / "live"))
    with up(*options) as cluster:
        cluster.ask("leave", "P2")
        cluster.ask("snapshot")
    with up(*options, "--restore") as cluster:
        assert [node["status"] for node in cluster.nodes] == ["RUNNING", "ABSENT", "RUNNING"]
        assert "P2           ABSENT\n" in cluster.ask("status"), "it has no process to show"


def test_where_nothing_is_stored_it_begins_anew_and_says_so(tmp_path):
    options = ("--nodes", "2", "--out", str(tmp_path / "live"))
    with up(*options, "--restore") as cluster:
        assert "no snapshot is stored in the folder: the system begins anew" in cluster.said
        taken = cluster.ask("snapshot")["snapshot_id"]
    says = refused("up", *options, "--restore", "snap-0001", "--port", "0")
    assert says == f"--restore: there is no snapshot 'snap-0001'; did you mean {taken!r}? Known: {taken}"


def test_rules_that_take_nothing_back_cannot_begin_from_a_snapshot(tmp_path):
    says = refused("up", "mattern", "--out", str(tmp_path / "live"), "--port", "0", "--restore")
    assert says.startswith("--restore: the rules of Mattern's") or "allow for no recovery as yet" in says


def parts(folder: Path, snapshot: str) -> Path:
    """The file of P1's part in a snapshot."""
    (part,) = folder.rglob(f"{snapshot}/P1.part")
    return part


def damage(file: Path) -> None:
    """Change one byte in the middle."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("damaged", ["manifest", "part"])
def test_what_is_damaged_while_it_runs_is_refused_by_id_and_passed_over_by_a_recovery(damaged, tmp_path):
    folder = tmp_path / "live"
    with up("--nodes", "2", "--set", "pace=2", "--allow-faults", "--out", str(folder)) as cluster:
        good, bad = (cluster.ask("snapshot")["snapshot_id"] for _ in range(2))
        damage(parts(folder, bad) if damaged == "part" else next(folder.rglob(f"{bad}.json")))
        says = cluster.refuses("restore", bad)
        assert bad in says
        assert "damaged" in says
        assert bad in cluster.refuses("snapshot", "--show", bad)
        cluster.ask("fault", "kill", "P2")
        until(lambda: [node["epoch"] for node in cluster.nodes] == [1, 1])
        assert cluster.ask("restore")["snapshot_id"] == good
        assert f"{bad} " in cluster.ask("status")
        assert "FAILED" in cluster.ask("status")


@pytest.mark.parametrize("damaged", ["manifest", "part"])
def test_what_is_damaged_is_found_at_the_next_start_and_told(damaged, tmp_path):
    folder = tmp_path / "live"
    options = ("--nodes", "2", "--set", "pace=2", "--out", str(folder))
    with up(*options) as cluster:
        good, bad = (cluster.ask("snapshot")["snapshot_id"] for _ in range(2))
    damage(parts(folder, bad) if damaged == "part" else next(folder.rglob(f"{bad}.json")))
    with up(*options) as cluster:
        assert any(line.startswith(f"mended: {bad} is FAILED") for line in cluster.said), cluster.said
        assert "not stored" in cluster.refuses("restore", bad)
        assert cluster.ask("restore")["snapshot_id"] == good
    assert f"--restore: {bad} is FAILED and not stored; " in refused("up", *options, "--port", "0", "--restore", bad)


def test_the_run_is_told_again(tmp_path):
    folder, again, table = tmp_path / "live", tmp_path / "again.toml", tmp_path / "table"
    with up("--nodes", "2", "--set", "pace=2", "--delay", DELAY, "--out", str(folder)) as cluster:
        taken = cluster.ask("snapshot")["snapshot_id"]
        shown = cluster.ask("snapshot", "--show", taken)
    done = asked("tell", str(folder), "--scenario", str(again), "--table", str(table))
    assert done.returncode == 0, done.stderr
    (told,) = json.loads(asked("run", str(again), "--json", package="sim").stdout)["snapshots"]
    assert (told["id"], told["status"]) == (taken, "complete")
    assert told["channels"] == shown["channels"]
    states = {name: part["state"] for name, part in shown["processes"].items()}
    assert {name: part["state"] for name, part in told["processes"].items()} == states
    assert (table / "events" / "part-0.parquet").exists()
    rows = (table / "cuts.csv").read_text().splitlines()
    assert len(rows) == 1 + 2
    assert refused("tell", str(folder), "--table", str(again)).startswith(f"{again}")
    assert refused("tell", str(folder), "--scenario", str(tmp_path)).startswith(f"{tmp_path}: cannot be read or")


def test_only_with_its_token(tmp_path):
    with up("--nodes", "2", "--token", "sesame") as cluster:
        assert "token" in cluster.refuses("status")
        assert "token" in cluster.refuses("status", "--token", "simsalabim")
        assert len(cluster.ask("status", "--json", "--token", "sesame")["nodes"]) == 2


def with_module(folder: Path, text: str) -> dict[str, Any]:
    """For subprocess: `text` is carried out by each Python at its start."""
    (folder / "sitecustomize.py").write_text(text, "utf-8")
    found = surroundings(ROOT)
    found["env"]["PYTHONPATH"] = f"{folder}:{ROOT}"
    return found


def test_a_node_that_does_not_start_is_named(tmp_path):
    ends = "import os, sys\nif 'cluster.node' in sys.orig_argv: os._exit(3)\n"
    line = command("up", "--nodes", "2", "--port", "0")
    done = subprocess.run(line, capture_output=True, timeout=60, **with_module(tmp_path, ends))
    says = sentence_of(done)
    assert re.match(r"node P[12]: did not start, it ended with status 3; ", says)


def test_ctrl_c_while_it_starts_ends_it_with_all_its_nodes(tmp_path):
    waits = "import sys, time\nif 'cluster.node' in sys.orig_argv: time.sleep(60)\n"
    line = command("up", "--nodes", "2", "--port", "0")
    with subprocess.Popen(line, stderr=subprocess.PIPE, **with_module(tmp_path, waits)) as process:
        until(lambda: len(nodes_of(process)) == 2)
        pids = nodes_of(process)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        none_is_left(pids)


def test_the_lecture_runs_and_says_what_can_be_done():
    """With the usual options, and without a folder: the lines that a newcomer sees."""
    with up("lecture") as cluster:
        assert cluster.said == [
            "P1, P2, P3 run scripted under Chandy-Lamport",
            "the story of lecture takes 10.0 s: a time unit has 10 ms",
            "nothing is kept: give it a folder with --out",
            f"in another terminal: python -m cluster snapshot --url {cluster.url}; the same with status, restore, down",
            f"over HTTP: {cluster.url}/docs",
            "Ctrl-C ends it",
        ]
        (line,) = [line for line in cluster.said if line.startswith("in another terminal: ")]
        words = line.partition("python -m cluster ")[2].partition(";")[0].split()
        assert asked(*words).returncode == 0


COMMANDS = ("up", "status", "snapshot", "restore", "down", "join", "leave", "fault", "tell", "chaos", "inversions")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_that_explains_each_of_its_words(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    parser = main_parser().choices[name]
    assert all(action.help for action in parser._actions), "nothing is without a word"
    for line in re.findall(r"^  python -m cluster (.*)$", capsys.readouterr().out, re.MULTILINE):
        assert parser_of_all().parse_args(shlex.split(line)).act, "its examples can be typed"


def test_the_commands_here_are_all_that_there_are():
    assert set(main_parser().choices) == set(COMMANDS)


def parser_of_all() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m cluster")
    commands = parser.add_subparsers()
    for add in PARSERS:
        add(commands)
    return parser


def main_parser() -> Any:
    """The subparsers of python -m cluster."""
    return next(own for own in parser_of_all()._actions if isinstance(own, argparse._SubParsersAction))


def test_a_snapshot_that_comes_to_nothing_has_exit_status_1():
    with up("--nodes", "2", "--allow-faults", "--no-coordinator", "--delay", "2s..2s") as cluster:
        waiting = subprocess.Popen(
            command("snapshot", "--url", cluster.url), stdout=subprocess.PIPE, **surroundings(ROOT)
        )
        (taken,) = found_by(lambda: list(Client(cluster.url).snapshots()))
        assert cluster.ask("snapshot", "--cancel", taken["snapshot_id"])["status"] == "CANCELLED"
        out, _ = waiting.communicate(timeout=PATIENCE)
        assert (json.loads(out)["status"], waiting.returncode) == ("CANCELLED", 1)


def found_by(find: Callable[[], list[Any]]) -> list[Any]:
    """What is found, as soon as something is."""
    found: list[Any] = []
    until(lambda: found.extend(find()) or found)
    return found


def test_faults_say_what_they_want_to_know():
    with up("--nodes", "2", "--allow-faults") as cluster:
        for arguments, says in (
            (("kill",), "kill: name one node, such as P2"),
            (("kill", "P9"), "there is no node 'P9'"),
            (("sever", "P1->P9"), "there is no channel 'P1->P9'"),
            (("delay",), "delay: say how long with --delay"),
            (("lose",), "lose: say which share of the messages with --share"),
            (("lose", "--share", "2"), "share"),
        ):
            assert says in cluster.refuses("fault", *arguments)
        assert cluster.ask("fault", "delay", "--delay", "1ms..2ms") == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("up",), "give a scenario, or --nodes N"),
        (("up", "lectrue"), "lectrue"),
        (("up", "--nodes", "1"), "from 2 to 64 nodes"),
        (("up", "--nodes", "3", "--algorithm", "chandy"), "did you mean 'chandy_lamport'?"),
        (("up", "--nodes", "3", "--workload", "bnak"), "did you mean 'bank'?"),
        (("up", "--nodes", "3", "--set", "pace"), "write KEY=VALUE"),
        (("up", "--nodes", "3", "--set", "pase=3"), "--set: the workload bank has no parameter 'pase'; did you mean"),
        (("up", "--nodes", "3", "--set", "pace=x"), "--set: 'pace=x' has no value as in TOML"),
        (("up", "--nodes", "3", "--unit", "0"), "--unit: a time unit takes some time"),
        (("up", "--nodes", "3", "--port", "99999"), "--port: from 0 to 65535"),
        (("up", "--nodes", "3", "--host", "192.0.2.1", "--token", "x"), "--host: 192.0.2.1 is no address of this"),
        (("up", "--nodes", "3", "--host", "nowhere.invalid", "--token", "x"), "--host: nowhere.invalid is no address"),
        (("up", "--nodes", "three"), "invalid int value: 'three'"),
        (("up", "lecture", "--nodes", "3"), "give a scenario, or --nodes N, and not both"),
        (("up", "lecture", "--set", "pace=3"), "--set and --most are for --nodes"),
        (("up", "lecture", "--out", "/dev/null/live"), "--out: /dev/null/live cannot be made"),
        (("down", "--url", "http://127.0.0.1:1"), "no cluster answers at http://127.0.0.1:1; start one with"),
        (("fly",), "invalid choice: 'fly'"),
        ((), "COMMAND"),
        (("up", "--nodes", "3", "--delay", "soon"), "write 50ms, 2s or 100us"),
        (("up", "--nodes", "3", "--delay", "2s..1s"), "write the shorter delay first"),
        (("up", "--nodes", "3", "--queue", "0"), "--queue: at least 1"),
        (("up", "--nodes", "3", "--root", "s3://x"), "write NAME=URI"),
        (("up", "--nodes", "3", "--root", "a=/nowhere/at/all"), "storage root 'a'"),
        (("up", "--nodes", "3", "--restore"), "name it with --out"),
        (("up", "--nodes", "3", "--host", "0.0.0.0"), "token"),
        (("up", "--nodes", "3", "--registry", "sqlite:////nowhere/at/all.sqlite"), "/nowhere"),
        (("up", "domino"), "use Chandy-Lamport's"),
        (("tell", "/nowhere"), "say what to write: --scenario FILE, --table DIR, or both"),
        (("tell", "/nowhere", "--table", "x"), "no event logs of a cluster"),
        (("status", "--url", "nowhere"), "is no address of a cluster"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(arguments, says, capsys):
    try:
        status = main(arguments)
    except SystemExit as ended:
        status = ended.code
    printed = capsys.readouterr()
    assert (status, printed.out) == (2, "")
    (sentence,) = printed.err.splitlines()
    assert says in sentence


def test_a_registry_in_a_database_that_cannot_be_reached_is_one_sentence_without_its_password(tmp_path):
    port = free_port()
    registry = f"postgresql://me:sesame@127.0.0.1:{port}/live"
    says = refused("up", "--nodes", "2", "--port", "0", "--out", str(tmp_path / "live"), "--registry", registry)
    assert says.startswith(f"postgresql://me@127.0.0.1:{port}/live: cannot be opened as a registry (")
    assert "sesame" not in says


def test_a_storage_root_that_is_gone_at_the_next_start_loses_nothing(tmp_path):
    root, folder = tmp_path / "archive", tmp_path / "live"
    root.mkdir()
    options = ("--nodes", "2", "--set", "pace=2", "--out", str(folder), "--root", f"archive={root}")
    with up(*options) as cluster:
        taken = cluster.ask("snapshot", "--root", "archive")["snapshot_id"]
        assert "is none of the storage roots" in cluster.refuses("snapshot", "--root", "s3://elsewhere/x")
    root.rename(tmp_path / "moved")
    assert "is not there; make it, or name another" in refused("up", *options, "--port", "0")
    assert "which is not given now" in refused("up", *options[:-2], "--port", "0")
    (tmp_path / "moved").rename(root)
    with up(*options, "--restore") as cluster:
        assert not [line for line in cluster.said if line.startswith("mended")]
        assert cluster.ask("restore")["snapshot_id"] == taken


def test_a_folder_of_another_system(tmp_path):
    folder = str(tmp_path / "live")
    with up("--nodes", "2", "--out", folder):
        pass
    assert "holds the snapshots of another system" in refused("up", "--nodes", "3", "--out", folder, "--port", "0")


@pytest.mark.parametrize("name", library.names())
def test_every_bundled_scenario_runs_live_or_says_why_not(name):
    try:
        found = live(library.load(name), 0.01)
    except InputError as problem:
        assert str(problem).startswith(f"{name}.toml: ")
        assert re.search(r"; (use|leave|let|a cluster takes)|use --queue|a cluster takes", str(problem)), problem
    else:
        assert found.storage is not None


LINES = "processes = 2\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[scheduler]\nkind = "random"', "scheduler.kind: a cluster has a clock"),
        ('breaks = ["deaf_initiator"]\n', "breaks: a cluster breaks no rules on purpose"),
        ('[network]\nlayer = "raw"\n[algorithm]\nkind = "lai_yang"', "network.layer: a cluster sends again"),
        ('[delay]\nkind = "listed"\nvalues = [1, 2]', "delay: listed delays go by the order of all messages"),
        ("[topology]\ncapacity = 2", "topology.capacity: the channels of a cluster are bounded by --queue"),
        ("[fault_rates]\ncrash = 0.1", "fault_rates: "),
        ('[[faults]]\nkind = "slow"\nprocess = "P1"\nfactor = 2\nat = 1', "faults[1]: 'slow' is of the simulation"),
        (
            '[[script]]\nprocess = "P1"\nto = "P2"\nat = 1\nlabel = "A"\n'
            '[[script]]\nprocess = "P2"\nto = "P1"\nafter = "A"',
            "P2 cannot know when 'A' happens",
        ),
        ("[storage]\noffsets = true\n", "storage.offsets: a cluster keeps no log"),
        ('[recovery]\nat = 5\nfence = false\n[[snapshots]]\nid = "S1"\nprocess = "P1"\nat = 1', "recovery: "),
    ],
)  # fmt: skip
def test_what_has_no_meaning_in_a_cluster_is_refused(text, says):
    with pytest.raises(InputError, match=re.escape(says)):
        live(parse_toml(LINES + text, "given"), 0.01)


def test_a_free_port_is_free_again():
    """The port of a cluster that could not start is not held."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    refused("up", "--nodes", "2", "--port", str(port), "--root", "a=/nowhere/at/all")
    socket.create_server(("127.0.0.1", port)).close()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--transport", "smoke"), "invalid choice: 'smoke'"),
        (("--program", "P2=node p2.js"), "add --transport grpc"),
        (("--program", "P9=node p2.js", "--transport", "grpc"), "there is no node 'P9'"),
        (("--program", "P2", "--transport", "grpc"), "write NODE=COMMAND"),
        (("--program", "P2=no-such-program-here x", "--transport", "grpc"), "there is no such program here"),
    ],
)
def test_a_transport_or_a_program_that_cannot_be_is_refused(arguments, says):
    assert says in refused("up", "--nodes", "2", "--port", "0", *arguments)
