"""What the presenter view says is recorded, and its clock: the browser's own modules, without a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from diagrams.browser.scripts import EXPLORE
from diagrams.panels.record.panel import record_of
from diagrams.scene.composition import compose
from sim.document import library
from sim.run.execution import run
from tests.cases import each
from tests.javascript import IN_BOTH

CAPTIONS = EXPLORE / "run" / "captions.js"
STOPWATCH = EXPLORE / "run" / "stopwatch.js"
TOLD = """({ captionsOf, longestOf }, snapshots, last) => {
  const steps = Array.from({ length: last + 1 }, (_, step) => step);
  const tell = (caption) => ({ longest: longestOf(caption), told: steps.map(caption.at) });
  return snapshots.map((snapshot) => captionsOf(snapshot).map(tell));
}"""


def recorded(name: str) -> tuple[list[dict[str, Any]], int]:
    """The snapshots of a scenario as the browser has them, and its last step."""
    scene = compose(run(library.load(name)))
    return record_of(scene), scene.last


@pytest.mark.slow
@each("name", ["lecture", "overlapping", "single_token", "two_initiators", "phones"])
def test_every_process_and_channel_of_every_snapshot_has_a_caption_to_the_last_step(
    run_module: Callable[..., Any], name: str
) -> None:
    snapshots, last = recorded(name)
    for snapshot, captions in zip(snapshots, run_module(TOLD, [CAPTIONS], snapshots, last), strict=True):
        states = [f"{process['name']} = {process['text'][-1][1]}" for process in snapshot["processes"]]
        channels = [channel["text"][-1][1] for channel in snapshot["channels"]]
        assert [caption["told"][last]["text"] for caption in captions] == states + channels
        assert {caption["told"][last]["state"] for caption in captions} <= {"process", "messages", "empty"}
        assert all(caption["told"][0]["state"] == "idle" for caption in captions)
        assert all(len(at["text"]) <= len(caption["longest"]) for caption in captions for at in caption["told"])


@IN_BOTH
def test_of_too_many_captions_the_latest_are_told_and_all_are_counted(run_module: Callable[..., Any]) -> None:
    snapshots, _ = recorded("lecture")
    told = """({ captionsOf, countedAt, latestOf }, [snapshot]) => {
      const captions = captionsOf(snapshot);
      const latest = (step) => latestOf(captions, step).map(({ at }) => at(step).text);
      return [5, 14].map((step) => [countedAt(captions, step), ...latest(step)]);
    }"""
    (first, *fifth), (later, latest, *_) = run_module(told, [CAPTIONS], snapshots)
    assert first == "1 of 3 processes; channels: 0 with messages, 2 recording, 0 empty"
    assert fifth == ["P1 = {A, B}", "C21 = <…>", "C31 = <…>"]
    assert later == "3 of 3 processes; channels: 0 with messages, 2 recording, 4 empty"
    assert latest == "C12 = <empty>"


def test_an_aborted_snapshot_says_that_a_state_was_thrown_away(run_module: Callable[..., Any]) -> None:
    process = {"name": "P1", "text": [[0, "not recorded yet"], [2, "recorded"], [4, "thrown away"]]}
    told = run_module(TOLD, [CAPTIONS], [{"processes": [process], "channels": []}], 4)[0][0]["told"]
    assert [at["state"] for at in told] == ["idle", "idle", "process", "process", "idle"]
    assert told[4]["text"] == "P1 = thrown away"


@IN_BOTH
def test_the_stopwatch_starts_pauses_and_begins_again(run_module: Callable[..., Any]) -> None:
    times = """({ Stopwatch, inMinutes }) => {
      let now = 0;
      const watch = new Stopwatch(() => now);
      const after = (seconds, act) => ((now += 1000 * seconds), act?.(), inMinutes(watch.seconds));
      return [
        after(9), after(0, () => watch.start()), after(65), after(5, () => watch.start()),
        after(0, () => watch.pause()), after(30), after(0, () => watch.start()),
        after(3600), after(0, () => watch.reset()), after(2),
      ];
    }"""
    assert run_module(times, [STOPWATCH]) == [
        "0:00", "0:00", "1:05", "1:10", "1:10", "1:10", "1:10", "1:01:10", "0:00", "0:02",
    ]  # fmt: skip
