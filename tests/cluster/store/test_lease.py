"""One controller at a time has a registry."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.store.holder import Holder
from cluster.store.lease import take
from cluster.store.registry import Cluster, Registry
from sim.core.errors import InputError
from tests.cluster.store.conftest import IN_POSTGRESQL_TOO
from tests.cluster.store.stored import START, row
from tests.waiting import budget_s

LASTS_S = 0.3
HERE = Holder.here(Path("/data/first"))
ELSEWHERE = Holder("far", 4711, "another-machine 99", "/data/live", START)
SAYS = (
    "far: cluster-1 is running with this registry (process 4711 on far, since 2026-03-29 00:30:00 UTC, in /data/live); "
    "end it, or give each cluster a registry of its own"
)


@pytest.fixture
def registry(url: str) -> Iterator[Registry]:
    opened = Registry(url)
    opened.establish(Cluster("cluster-1", "bank of 3", START))
    yield opened
    opened.close()


@pytest.fixture
def second(registry: Registry, url: str) -> Iterator[Registry]:
    """The registry as another controller opens it."""
    opened = Registry(url)
    yield opened
    opened.close()


def of_a_process_that_has_ended() -> Holder:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        ended = replace(Holder.here(Path("/data/ended")), pid=process.pid)
        started = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19]
        assert process.stdin is not None
        process.stdin.close()
    return replace(ended, process=f"{ended.process.rpartition(' ')[0]} {started}")


@IN_POSTGRESQL_TOO
def test_a_controller_that_runs_here_keeps_its_registry(registry: Registry, second: Registry) -> None:
    assert take(registry, HERE) is None
    with pytest.raises(InputError) as caught:
        take(second, replace(HERE, folder="/data/second"), lasts=budget_s())
    says = f"cluster-1 is running with this registry (process {os.getpid()} on {HERE.host}, since"
    assert says in str(caught.value) and str(caught.value).startswith(second.where)
    registry.renew_lease()


def test_one_that_has_ended_here_is_followed_at_once(registry: Registry, second: Registry) -> None:
    ended = of_a_process_that_has_ended()
    take(registry, ended)
    said: list[str] = []
    before = take(second, HERE, said.append, lasts=1e9)
    assert before is not None and before.holder == ended
    assert said == [f"the controller before has ended without a word ({ended}): this one takes its registry"]


def test_a_pid_that_is_given_again_is_another_process(registry: Registry, second: Registry) -> None:
    take(registry, replace(HERE, process=f"{HERE.process.rpartition(' ')[0]} 1"))
    assert take(second, HERE, lasts=1e9) is not None


def test_one_that_runs_elsewhere_is_known_by_its_renewals(registry: Registry, second: Registry) -> None:
    take(registry, ELSEWHERE)
    said: list[str] = []

    def renew(text: str) -> None:
        said.append(text)
        renewing = threading.Thread(target=registry.renew_lease)
        renewing.start()
        renewing.join()

    with pytest.raises(InputError) as caught:
        take(second, HERE, renew, lasts=budget_s())
    assert str(caught.value) == SAYS.replace("far", second.where, 1)
    assert said == [f"{ELSEWHERE} has the registry: looking for up to {budget_s():g} s whether it still runs"]


@pytest.mark.slow
def test_one_that_is_silent_elsewhere_is_followed_and_changes_nothing_more(
    registry: Registry, second: Registry
) -> None:
    take(registry, ELSEWHERE)
    take(second, HERE, lasts=LASTS_S)
    assert second.fence == registry.fence + 1
    with pytest.raises(Exception, match="another controller has the registry"):
        registry.put(row("snap-1"))
    assert second.snapshot("snap-1") is None


@IN_POSTGRESQL_TOO
def test_of_two_that_look_at_once_one_gets_it(registry: Registry, second: Registry, url: str) -> None:
    nobody = registry.lease()
    assert second.take_lease(ELSEWHERE, nobody)
    assert not registry.take_lease(HERE, nobody)
    second.release_lease()
    before = registry.lease()
    assert before is not None and not before.is_held
    assert registry.take_lease(HERE, before)
    third = Registry(url)
    assert not third.take_lease(ELSEWHERE, before)
    third.close()
    found = registry.lease()
    assert found is not None and found.holder == HERE


def test_a_registry_of_the_version_before_gets_a_lease(tmp_path: Path) -> None:
    import sqlite3

    registry = Registry.open_folder(tmp_path)
    registry.establish(Cluster("cluster-1", "bank of 3", START))
    registry.close()
    with sqlite3.connect(tmp_path / "registry.sqlite") as connection:
        connection.execute("DROP TABLE lease")
        connection.execute("UPDATE registry_schema SET version = 1")
    connection.close()
    again = Registry.open_folder(tmp_path)
    take(again, HERE)
    assert again.cluster() == Cluster("cluster-1", "bank of 3", START)
    again.close()
