"""The command up: a cluster in a process of its own, the words of up, and the starts that it refuses."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import NodeStatus, Snapshot, Wish
from cluster.node.folder import locked
from cluster.start import foreground
from cluster.start.full_graph import of_nodes
from cluster.start.preparation import prepared
from cluster.start.wanted import Wanted
from sim.document import library
from tests.cluster.live import bank, money, taken
from tests.cluster.live import live as lived
from tests.cluster.running import Up, asked, none_is_left, parser_of_all, refused, said_by, sentence_of, up
from tests.tools import free_port
from tests.waiting import budget_s, until

DELAY = "10ms..30ms"
BANK = ("--nodes", "3", "--most", "4", "--set", "pace=2", "--delay", DELAY)


@pytest.fixture(autouse=True)
def nothing_starts_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process no cluster runs until Ctrl-C: what is not refused fails."""

    def begun(*_: object) -> None:
        raise AssertionError("a cluster has started")

    monkeypatch.setattr(foreground, "_run", begun)


# ---------------------------------------------------------------------- a cluster in a process of its own


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One that has a token and allows faults. A test that uses it leaves it as it was: three nodes that run."""
    folder = tmp_path_factory.mktemp("cluster") / "live"
    with up(*BANK, "--allow-faults", "--out", str(folder), token="sesame") as found:
        yield found


def all_run(cluster: Up) -> bool:
    return all(node["status"] in ("RUNNING", "ABSENT") for node in cluster.nodes)


@pytest.mark.slow
def test_a_session(cluster):
    """Take snapshots, look into one, kill a node, go back, and let nodes come and go."""
    folder = cluster.said[1].removeprefix("its folder is ")
    assert cluster.said == [
        "P1, P2, P3 run bank under Chandy-Lamport",
        f"its folder is {folder}",
        f"in another terminal: python -m cluster snapshot --url {cluster.url}; "
        "the same with status, restore, fault, down",
        f"over HTTP: {cluster.url}/docs",
        "Ctrl-C ends it",
    ]
    taken = cluster.ask("snapshot", "--node", "P3")
    assert (taken["status"], taken["initiated_by_node_id"]) == ("COMPLETED", "P3")
    assert money(cluster.ask("snapshot", "--show", taken["snapshot_id"])) == 300
    before = max(node["epoch"] for node in cluster.nodes)
    cluster.ask("fault", "kill", "P2")
    until(lambda: {node["epoch"] for node in cluster.nodes if node["pid"]} == {before + 1} and all_run(cluster))
    for fault in (("sever", "P1->P2"), ("mend", "P1->P2"), ("delay", "P1->P2", "--delay", "1ms..2ms")):
        assert cluster.ask("fault", *fault) == ""
    cluster.ask("fault", "lose", "P1->P2", "--share", "0.3")
    assert cluster.ask("restore", taken["snapshot_id"])["epoch"] == before + 2
    assert cluster.ask("restore", "--epoch", str(before))["snapshot_id"] == taken["snapshot_id"]
    assert cluster.ask("join")["node_id"] == "P4"
    assert money(cluster.ask("snapshot", "--show", cluster.ask("snapshot")["snapshot_id"])) == 400
    assert cluster.ask("leave", "P4")["status"] == "ABSENT"
    assert "P4           ABSENT\n" in cluster.ask("status"), "it has no process to show"


@pytest.mark.slow
def test_a_cluster_refuses_in_one_sentence_what_cannot_be(cluster):
    own = cluster.ask("snapshot")["snapshot_id"]
    for arguments, says in (
        (("snapshot", "--show", "S99"), "there is no snapshot 'S99'"),
        (("snapshot", "--node", "P9"), "there is no node 'P9'"),
        (("snapshot", "--cancel", own), "only one that is under way"),
        (("snapshot", "--root", "s3://elsewhere/x"), "is none of the storage roots"),
        (("restore", "--epoch", "77"), "epoch 77: no snapshot that was committed in it is stored"),
        (("join", "P1"), "P1 is RUNNING; only one that is ABSENT can join"),
        (("leave", "P9"), "there is no node 'P9'"),
        (("fault", "kill", "P9"), "there is no node 'P9'"),
        (("fault", "sever", "P1->P9"), "there is no channel 'P1->P9'"),
        (("fault", "lose", "--share", "2"), "share"),
    ):
        assert says in cluster.refuses(*arguments)
    for token in ((), ("--token", "simsalabim")):
        assert "wants its token; give it with --token" in refused("status", "--url", cluster.url, *token)


@pytest.mark.slow
def test_after_kill_of_everything_it_begins_again_from_the_last_snapshot(tmp_path):
    """Those who had joined are there again, and no money is lost; what was not committed has not happened."""
    folder = tmp_path / "live"
    options = (*BANK, "--out", str(folder))
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
        pids = [node["pid"] for node in cluster.nodes]
        cluster.ask("leave", "P2")
        cluster.ask("snapshot")
        cluster.ask("down")
        assert cluster.process.wait(budget_s()) == 0
        none_is_left(pids)
    assert "no cluster answers at" in sentence_of(asked("status", "--url", cluster.url))

    async def look(supervisor: Supervisor) -> None:
        """A node that had left stays away."""
        assert [node.status.value for node in supervisor.nodes()] == ["RUNNING", "ABSENT", "RUNNING", "RUNNING"]

    lived(Wanted(bank(3, most=4), folder, restores=True), look)


# ---------------------------------------------------------------------- what up says, and what it refuses


def test_what_a_newcomer_sees(tmp_path):
    """Of a cluster without a folder, and of one that cannot take back what its nodes did."""

    def welcome(wanted: Wanted, port: int) -> list[str]:
        with prepared(wanted, print) as supervisor:
            for member in supervisor.members:
                member.status = NodeStatus.RUNNING
            return list(foreground._welcome(supervisor, wanted, port))

    found = welcome(Wanted(library.load("lecture")), 8080)
    assert found == [
        "P1, P2, P3 run scripted under Chandy-Lamport",
        "the script of lecture takes 10.0 s: a time unit has 10 ms",
        "nothing is kept: give it a folder with --out",
        "in another terminal: python -m cluster snapshot --url http://127.0.0.1:8080; "
        "the same with status, restore, down",
        "over HTTP: http://127.0.0.1:8080/docs",
        "Ctrl-C ends it",
    ]
    words = found[3].partition("python -m cluster ")[2].partition(";")[0].split()
    assert parser_of_all().parse_args(words).url == "http://127.0.0.1:8080"
    lai_yang = Wanted(of_nodes(2, "bank", "lai_yang"), tmp_path, allows_faults=True)
    assert welcome(lai_yang, foreground.PORT)[1:4] == [
        f"its folder is {tmp_path}",
        "Lai-Yang does not support recovery yet: a node that fails stays away",
        "in another terminal: python -m cluster snapshot; the same with status, restore, fault, down",
    ]


def snapshots_in(wanted: Wanted, *wishes: Wish) -> list[Snapshot]:
    """Those that a cluster has taken, which has ended."""
    found: list[Snapshot] = []

    async def act(supervisor: Supervisor) -> None:
        found.extend([await taken(supervisor, wish) for wish in wishes])

    lived(wanted, act)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("damaged", ["{}.json", "{}/P1.part"])
def test_what_is_damaged_is_found_at_the_next_start_and_told(damaged, tmp_path):
    options = ("--nodes", "2", "--set", "pace=2", "--out", str(tmp_path))
    wanted = Wanted(bank(2), tmp_path)
    assert said_by(Wanted(bank(2), tmp_path, restores=True)) == [
        "no snapshot is stored in the folder: the system begins anew"
    ]
    good, bad = (own.id for own in snapshots_in(wanted, Wish(), Wish()))
    file = next(tmp_path.rglob(damaged.format(bad)))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    mended = said_by(wanted)
    assert mended[0].startswith(f"mended: {bad} is FAILED") and len(mended) == 2
    assert f"--restore: {bad} is FAILED and not stored; " in refused("up", *options, "--restore", bad, "--port", "0")
    says = refused("up", *options, "--restore", "snap-0001", "--port", "0")
    assert says == f"--restore: there is no snapshot 'snap-0001'; did you mean {good!r}? Known: {good}"


@pytest.mark.slow
def test_a_storage_root_that_is_gone_at_the_next_start_loses_nothing(tmp_path):
    root, folder = tmp_path / "archive", tmp_path / "live"
    root.mkdir()
    wanted = Wanted(bank(2), folder, roots={"archive": str(root)})
    (own,) = snapshots_in(wanted, Wish(root_uri="archive"))
    options = ("up", "--nodes", "2", "--set", "pace=2", "--port", "0", "--out", str(folder))
    root.rename(tmp_path / "moved")
    assert "is not there; make it, or name another" in refused(*options, "--root", f"archive={root}")
    assert "which is not given now" in refused(*options)
    (tmp_path / "moved").rename(root)
    with prepared(wanted, pytest.fail) as supervisor:
        assert [kept.id for kept in supervisor.store.registry.kept()] == [own.id]


def test_a_folder_of_another_system_or_of_one_that_runs(tmp_path):
    assert said_by(Wanted(bank(2), tmp_path)) == []
    options = ("--out", str(tmp_path), "--port", "0")
    assert "holds the snapshots of another system" in refused("up", "--nodes", "3", *options)
    with locked(tmp_path):
        assert str(tmp_path) in refused("up", "--nodes", "2", "--set", "pace=2", *options)


def test_rules_that_take_nothing_back_cannot_begin_from_a_snapshot(tmp_path):
    says = refused("up", "mattern", "--out", str(tmp_path / "live"), "--port", "0", "--restore")
    assert re.match(r"--restore: Mattern.* does not support recovery yet; leave --restore out", says)


@pytest.mark.slow
def test_a_registry_in_a_database_that_cannot_be_reached_is_one_sentence_without_its_password(tmp_path):
    port = free_port()
    registry = f"postgresql://me:sesame@127.0.0.1:{port}/live"
    says = refused("up", "--nodes", "2", "--port", "0", "--out", str(tmp_path / "live"), "--registry", registry)
    assert says.startswith(f"postgresql://me@127.0.0.1:{port}/live: cannot be opened as a registry (")
    assert "sesame" not in says


def test_a_port_is_free_again_if_the_cluster_does_not_start():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert f"--port: port {port} of 127.0.0.1 cannot be used" in refused("up", "--nodes", "2", "--port", str(port))
    refused("up", "--nodes", "2", "--port", str(port), "--root", "a=/nowhere/at/all")
    socket.create_server(("127.0.0.1", port)).close()
