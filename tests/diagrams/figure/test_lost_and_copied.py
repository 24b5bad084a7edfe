"""What the diagram shows of messages that are lost and copied, and of a slow process."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagrams.browser.payload import payload
from diagrams.figure.shafts import shaft
from diagrams.panels.legend import signs
from diagrams.panels.record.meters import meters_of
from diagrams.scene.arranged import Arranged
from diagrams.scene.arrangement import Arrangement
from diagrams.scene.composition import Scene, compose
from sim.core.model import SLOW
from sim.core.network import Network
from sim.document import library
from sim.document.scenario import FaultLine
from sim.run.execution import run
from tests.sim.tools import send, start, system

RAW = library.load("lost_and_copied")


def scene(layer: str = "raw") -> Scene:
    own = RAW if layer == "raw" else replace(RAW, network=Network(layer), breaks=())
    return compose(run(own))


def test_a_lost_message_ends_where_it_is_lost() -> None:
    """20 is sent at 1.5, takes 2, and is lost at 2.5: half-way."""
    own = scene()
    (lost,) = [arrow for arrow in own.arrows if arrow.name == "20"]
    assert lost.lost is not None
    begin, end, _ = shaft(own, lost)
    assert begin == (1, lost.start) and end == (0.5, pytest.approx(2.5, abs=0.1))
    assert own.why_not_received(lost) == "lost" and own.failed_tries == ()


def test_a_copy_is_an_arrow_of_its_own_from_the_same_event() -> None:
    one, other = [arrow for arrow in scene().arrows if arrow.name in ("30", "copy of 30")]
    assert (one.start, one.sent) == (other.start, other.sent) and other.end > one.end


def test_the_tries_of_a_layer_that_fail_are_told() -> None:
    own = scene("fifo")
    assert [arrow.why for arrow in own.failed_tries] == ["copy dropped", "lost, sent again", "lost, sent again"]
    assert all(arrow.received is not None for arrow in own.arrows)
    assert len(Arranged(own.arranged(Arrangement(hidden=("P2",)))).failed_tries) == 1  # that of P1


@pytest.mark.parametrize(("layer", "wanted"), [
    ("raw", {"dropped", "copied"}), ("fifo", {"sent-again", "copy-dropped"}),
])  # fmt: skip
def test_the_signs_of_what_is_there(layer: str, wanted: set[str]) -> None:
    found = {sign["key"] for sign in signs(scene(layer))}
    assert found & {"dropped", "copied", "sent-again", "copy-dropped"} == wanted


def test_the_meter_counts_what_is_lost_and_copied() -> None:
    (meter,) = meters_of(run(RAW))
    sums = [inside[1] + between[1] for inside, between in zip(meter["processes"], meter["channels"], strict=True)]
    assert [sums[0], max(sums), sums[-1]] == [1000, 1030, 1010]


def test_the_page_knows_which_message_a_fault_names() -> None:
    told = {message["name"]: message for message in payload(scene())["messages"]}
    assert told["30"]["named"]["label"] == "a" and told["30"]["faults"] == [{"kind": "copy", "item": {"faults": 0}}]
    assert told["copy of 30"]["copy"] and told["copy of 30"]["named"] is None
    assert told["20"]["lost_on_its_way"] and not told["20"]["held"]
    lost = next(own for own in payload(scene())["messages"] if own["kind"] == "marker" and own["faults"])
    assert lost["named"]["snapshot"] == "S2" and lost["faults"][0]["item"] == {"faults": 2}
    assert payload(scene())["events"]["copies"] == {1: 0}


def test_what_is_lost_for_good_has_its_handle_at_the_end_of_its_arrow_and_what_is_sent_again_has_another() -> None:
    kinds = [(item["fault"], item["at"]) for item in payload(scene())["items"] if item["kind"] == "fault"]
    assert kinds == []
    kinds = [(item["fault"], item["at"]) for item in payload(scene("fifo"))["items"] if item["kind"] == "fault"]
    assert kinds == [("20 is lost", 2.5), ("the marker of S2 is lost", 10.75)]
    assert [own["lost_time"] for own in payload(scene())["messages"] if own["lost_on_its_way"]] == [2.5, 10.75]


def test_a_slow_process_has_strokes_across_its_line() -> None:
    faults = (FaultLine("slow", "P2", at=2, factor=3), FaultLine("slow", "P2", at=6))
    slow = system("P1 P2", script=(send("P1", "P2", 3),), snapshots=(start("P1", 8),), faults=faults)
    (interval,) = compose(run(slow)).intervals
    assert (interval.kind, interval.lane, interval.lasting) == (SLOW, 1, "3 times slower for 4")
    assert interval.text == "P2 takes 3 times as long from 2 to 6, 4 time units"
    assert "slow" in {sign["key"] for sign in signs(compose(run(slow)))}
