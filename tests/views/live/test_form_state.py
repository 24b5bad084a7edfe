"""The state of the form of the page Live, and the command that runs its cluster."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from sim.core.errors import InputError
from views.live.form_state import MOST, SPEEDS, FormState, algorithms, workloads


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"nodes": 1}, "expected 2 to 8, not 1"),
        ({"nodes": MOST + 1}, "expected 2 to 8, not 9"),
        ({"speed": "light"}, "expected one of slow, lively, fast, not 'light'"),
        ({"transport": "smoke"}, "expected one of tcp, grpc, not 'smoke'"),
        ({"algorithm": "mine"}, "no cluster runs that; choose from the menus"),
        ({"workload": "scripted"}, "no cluster runs that; choose from the menus"),
    ],
)
def test_what_no_cluster_can_be_is_refused_in_a_sentence(wrong, told):
    with pytest.raises(InputError, match=told):
        FormState(**wrong)


def test_menus_hold_what_runs_live_and_goes_on_for_ever():
    assert next(iter(workloads())) == "bank"
    assert "scripted" not in workloads()
    assert "chandy_lamport" in algorithms() and "copy_on_write" not in algorithms()


def test_the_command_listens_on_this_computer_on_a_free_port():
    command = FormState(5, speed="fast", transport="grpc").command(Path("folder"))
    told = dict(pairwise(command))
    assert (told["--nodes"], told["--port"], told["--out"]) == ("5", "0", "folder")
    assert told["--transport"] == "grpc"
    assert told["--delay"] == SPEEDS["fast"].delay and "--host" not in command
