"""A window of a log in the explorer: the browser judges every cut through it as the whole execution does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from diagrams.browser.payload import payload
from diagrams.browser.scripts import EXPLORE
from diagrams.panels.lattice.document import lattice_payload
from diagrams.panels.lattice.figure import figure
from diagrams.panels.lattice.panel import Lattice
from diagrams.scene.composition import Scene
from diagrams.scene.timed_run import MOST_TEXTS
from pipeline.cuts.one_window import log_window
from pipeline.store import examples
from pipeline.store.folder import Store
from sim.core.model import Event
from sim.theory.causality import Clock, Frontier, History
from tests.pipeline.some_logs import Truth, events_of, read_log
from tests.pipeline.some_tables import folder_of
from tests.tools import count_of_examples
from views.traces.window import window_scene

EXECUTIONS = 20
CUTS = 10  # through one window of each
HOSTS = ("h0", "h1", "h2")

JUDGE = """({ Events, LogCuts }, windows) => windows.map(([scene, cuts]) => {
  const events = new Events(scene);
  const own = new LogCuts(events, scene.log);
  return cuts.map((numbers) => {
    const frontier = own.read(numbers.join("."));
    const { channels } = scene.events;
    const waiting = [...own.waiting(frontier)].map(([name, { names, more }]) => [name, names.length + more, names]);
    const found = [...own.inChannels(frontier)].map(([channel, held]) => [channels[channel].name, held.length, []]);
    const offending = own.violations(frontier).map(({ source, sent, target, received }) =>
      [scene.processes[source], own.number(source, sent), scene.processes[target], own.number(target, received)]);
    const others = [own.below(frontier), own.above(frontier)];
    const [below, above] = others.map((other) => own.written(other));
    const areWhole = others.every((other) => String(own.read(own.written(other))) === String(other));
    return { offending, held: [...waiting, ...found], below, above, areWhole };
  });
})"""


def executions() -> Iterator[tuple[Random, Truth]]:
    """Random executions of three hosts; many events receive two messages and send two."""
    for seed in range(count_of_examples(EXECUTIONS)):
        draw, truth = Random(seed), Truth()
        for _ in range(40):
            name = draw.choice(HOSTS)
            waiting = truth.waiting(name)
            received = draw.sample(waiting, min(len(waiting), draw.randrange(3)))
            others = [other for other in HOSTS if other != name]
            truth.step(name, received, draw.sample(others, draw.randrange(3)))
        yield draw, truth


def scene_of(store: Store, processes: Sequence[str], first: int, size: int) -> Scene:
    return window_scene(log_window(store, 0, processes, first, size), "log", "A log", exact=True, unknown=())


def order(first: int = 0, size: int = 100) -> Scene:
    return scene_of(Store.open(examples.LOG), ("customer", "bank", "shop"), first, size)


@pytest.mark.slow
def test_the_browser_judges_every_cut_through_a_window_as_the_whole_execution(
    run_module: Callable[..., Any], tmp_path: Path
) -> None:
    """Also where an event has several partners, of which a part may lie outside the window."""
    given, wanted = [], []
    for number, (draw, truth) in enumerate(executions()):
        reading = read_log(tmp_path, truth.log())
        rows = events_of(reading)
        scene = scene_of(
            folder_of(tmp_path / str(number), rows), HOSTS, draw.randrange(len(rows)), draw.randrange(5, 40)
        )
        whole = History(HOSTS, rows)
        cuts = [some_cut(draw, scene) for _ in range(CUTS)]
        given.append([payload(scene, ()), [list(cut.values()) for cut in cuts]])
        wanted.append([as_judged(whole, cut) for cut in cuts])
    found = run_module(JUDGE, [EXPLORE / "run" / "events.js", EXPLORE / "run" / "log_cuts.js"], given)
    for own, others in zip(found, wanted, strict=True):
        for told, right in zip(own, others, strict=True):
            names = right.pop("names")
            for channel, _, first_names in told["held"]:
                assert first_names == names[channel][: len(first_names)], "in the order of receipt"
            told["held"] = summed(told["held"])
            assert {**told, "offending": sorted(told["offending"])} == right


def some_cut(draw: Random, scene: Scene) -> Frontier:
    """A cut through a window, in the log's numbers."""
    log = scene.whole_run.log
    assert log is not None
    return {name: draw.choice([log.before[name], *own]) for name, own in log.numbers.items()}


def as_judged(whole: History, frontier: Frontier) -> dict[str, Any]:
    held = whole.in_channels(frontier)
    ends = [(whole.sends[message], whole.receives[message]) for message in whole.violations(frontier)]
    return {
        "offending": sorted([send.process, send.index, receive.process, receive.index] for send, receive in ends),
        "held": {name: len(messages) for name, messages in held.items()},
        "names": {name: [whole.sends[message].label for message in messages] for name, messages in held.items()},
        "below": ".".join(map(str, whole.consistent_below(frontier).values())),
        "above": ".".join(map(str, whole.consistent_above(frontier).values())),
        "areWhole": True,
    }


def summed(held: list[tuple[str, int, list[str]]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, count, _ in held:
        found[name] = found.get(name, 0) + count
    return found


def test_the_example_has_its_own_texts_and_a_long_window_the_numbers_of_the_log(tmp_path: Path) -> None:
    assert [dot.label for dot in order().dots][:3] == ["chooses a book", "opens", "orders"]
    rows = [
        Event(
            0, row, row + 1, float(row), "a", row + 1, "internal", None, None, None, f"line {row}", None, None, None, 0
        )
        for row in range(MOST_TEXTS + 20)
    ]
    store = folder_of(tmp_path / "long", rows)
    long = scene_of(store, "a", 10, MOST_TEXTS + 1)
    assert [dot.label for dot in long.dots] == [str(number) for number in range(11, MOST_TEXTS + 12)]
    assert long.execution.scenario.orientation == "right"
    assert [dot.label for dot in scene_of(store, "a", 10, 2).dots] == ["line 10", "line 11"]


def test_a_message_that_the_window_does_not_receive_is_received_later_or_never(tmp_path: Path) -> None:
    """In the example the bank pays in row 8 and the money comes in row 9."""
    pays = order(0, 8)
    told = {arrow.name: pays.why_not_received(arrow) for arrow in pays.arrows if arrow.received is None}
    assert told == {"pays": "later", "adds a card": "later"}
    lost = Event(0, 0, 1, 1.0, "a", 1, "send", "a->b", None, 0, "gone", None, None, None, 0)
    other = Event(0, 1, 2, 2.0, "b", 1, "internal", None, None, None, "waits", None, None, None, 0)
    scene = scene_of(folder_of(tmp_path / "lost", [lost, other]), "ab", 0, 2)
    assert [scene.why_not_received(arrow) for arrow in scene.arrows] == ["never"]


def test_the_lattice_of_a_window_names_its_cuts_in_the_numbers_of_the_log() -> None:
    """Five events of the log are before the window: two of the customer, one of the bank, two of the shop."""
    lattice = Lattice(order(5, 8), 0)
    assert lattice.written(lattice.cuts[0]) == "2.1.2"
    names = [text for trace in figure(lattice)["data"] for text in trace.get("text") or ()]
    assert any("2.1.2" in name for name in names)


def test_no_sign_of_snapshots_is_explained() -> None:
    assert [sign["key"] for sign in payload(order(), ())["signs"] if not sign["rare"]] == [
        "event", "message", "held-cut", "now", "later",
    ]  # fmt: skip


@pytest.mark.slow
def test_the_lattice_of_a_window_counts_events_of_the_log(tmp_path: Path) -> None:
    """Also where an event has several partners; predicates see the whole execution."""
    for number, (draw, truth) in enumerate(islice(executions(), 12)):
        rows = events_of(read_log(tmp_path, truth.log()))
        first, size = draw.randrange(len(rows)), draw.randrange(5, 14)
        scene = scene_of(folder_of(tmp_path / str(number), rows), HOSTS, first, size)
        whole, log = History(HOSTS, rows), scene.whole_run.log
        assert log is not None
        through = list(product(*({log.before[name], *log.numbers[name]} for name in HOSTS)))
        consistent = [cut for cut in through if whole.is_consistent(dict(zip(HOSTS, cut, strict=True)))]
        lattice = Lattice(scene, 0)
        assert (lattice.counts.cuts, lattice.counts.consistent) == (len(through), len(consistent))
        assert sorted(map(lattice.events.numbers, lattice.cuts)) == sorted(consistent)
        assert all(lattice.events.cut(lattice.order.inside(cut)) == cut for cut in lattice.cuts)
        for cut in draw.sample(lattice.cuts, min(4, len(lattice.cuts))):
            numbers = lattice.events.numbers(cut)
            held = whole.in_channels(dict(zip(HOSTS, numbers, strict=True)))
            texts = [f"h0.events == {numbers[0]}", f"channels.messages == {sum(map(len, held.values()))}"]
            texts += [f'channel["{name}"].messages == {len(messages)}' for name, messages in held.items()]
            assert [text for text in texts if not holds(lattice, text, cut)] == []


def holds(lattice: Lattice, text: str, cut: Clock) -> bool:
    return lattice.events.predicates.read(text)(cut)


def test_what_a_log_does_not_tell_is_refused_in_a_sentence() -> None:
    told = lattice_payload(order(), 0, "customer.state == 1")["predicate"]
    assert told["problem"] == "'state' is not in a log; ask for events, last or messages"
    store = Store.open(examples.LOG)
    found = log_window(store, 0, ("customer", "bank", "shop"), 0, 100)
    scene = window_scene(found, "log", "A log", exact=False, unknown=())
    told = lattice_payload(scene, 0, "channels.messages == 1")
    unknown = "this log does not hold every message, so the number in a channel is unknown; ask for events or last"
    assert told["predicate"]["problem"] == unknown
    assert told["examples"] == ["customer.events == 1"]
