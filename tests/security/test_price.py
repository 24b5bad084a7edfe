"""Links and outboxes that cost more than they look: refused before they run, or stopped, and nothing is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from pipeline.ensembles import cells
from pipeline.ensembles.grid import Grid
from sim.core import deadline
from sim.core.deadline import Deadline, OutOfTime, within
from sim.core.errors import InputError
from sim.core.topology import Topology
from sim.document.files import parse_toml
from sim.edit.link import Shared, query_of
from sim.run.execution import run
from sim.run.price import price_of
from views.explore import opening
from views.explore import page as explore
from views.explore import session as explore_session
from views.explore.session import ExploreSession
from views.server import budget, tabs, visitors
from views.server.budget import Busy, answering
from views.server.tabs import for_this_tab
from views.widgets import gallery

ADD = {"do": "internal", "process": "P1", "at": 50}
IMPOSSIBLE = {"do": "internal", "process": "Nobody", "at": 50}
HOLD = {"do": "hold", "message": {"label": "H"}}
BANK = Shared(toml='processes = 3\nworkload = { kind = "bank", transfers = 40 }', name="bank")


def snapshots(number: int) -> str:
    return "".join(f'[[snapshots]]\nid = "{n}"\nprocess = "P1"\nat = 1\n' for n in range(number))


def entries(*edits: dict[str, Any], first: int = 1) -> list[dict[str, Any]]:
    return [{"seq": seq, "step": 0, "time": 0.0, "edit": edit} for seq, edit in enumerate(edits, first)]


@pytest.fixture
def session() -> ExploreSession:
    session = ExploreSession()
    session.open(Shared(scenario="lecture"))
    return session


@pytest.fixture
def runs(monkeypatch) -> list[object]:
    """The runs of the page."""
    made: list[object] = []

    def running(scenario, **limits):
        made.append(scenario)
        return run(scenario, **limits)

    monkeypatch.setattr(budget, "run", running)
    return made


# --------------------------------------------------------------------------- priced before they run

PRICED = {
    "markers": (f"processes = 100\n{snapshots(300)}", "300 snapshots send about 9,900 markers"),
    "markers, as few as a link of 132 letters holds": (f"processes = 100\n{snapshots(12)}", "fewer snapshots"),
    "the work of a random scheduler": (
        'processes = 50\nscheduler = { kind = "random" }\nworkload = { kind = "bank", transfers = 200 }',
        "random scheduler looks at 50 processes and 2,450 channels",
    ),
    "a workload": ('processes = 9\nworkload = { kind = "bank", transfers = 1000000000 }', "18,000,000,000 events"),
    "another workload": ('processes = 9\nworkload = { kind = "token_ring", rounds = 1000000 }', "smaller workload"),
    "counts instead of markers": (
        f'processes = 100\nalgorithm = {{ kind = "lai_yang" }}\n{snapshots(12)}', "control messages",
    ),
    "channels": ("processes = 102", "10302 channels"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "why"), PRICED.values(), ids=PRICED)
def test_what_costs_too_much_is_refused_before_it_runs(session, runs, text, why):
    before = session.data()
    with pytest.raises(InputError, match=why) as refused:
        session.open(Shared(toml=text, name="dear"))
    assert "use " in str(refused.value) and "\n" not in str(refused.value)
    assert (runs, session.data()) == ([], before)


CHEAP = {
    "cuts": 'processes = 1\nscript = [{ process = "P1", at = 1 }]\n'
    + "".join(f'[[cuts]]\nname = "{n}"\n' for n in range(60)),
    "snapshots of one process": f"processes = 1\n{snapshots(60)}",
    "script lines": 'processes = 2\nscript = [{ process = "P1", at = 1, to = "P2" }%s]'
    % (', { process = "P1", at = 1, to = "P2" }' * 600),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", CHEAP.values(), ids=CHEAP)
def test_many_small_things_have_a_price_too(session, runs, monkeypatch, text):
    session.open(Shared(toml=text, name="small"))
    monkeypatch.setattr(budget, "MOST_STEPS", 1_000)
    runs.clear()
    with pytest.raises(InputError, match="too big for a page: its"):
        session.open(Shared(toml=text, name="dear"))
    assert not runs


def test_a_random_graph_is_counted_before_it_is_drawn(monkeypatch):
    monkeypatch.setattr(Topology, "edges", lambda *_: pytest.fail("it is drawn"))
    with pytest.raises(InputError, match="999000 channels"):
        parse_toml('processes = 1000\ntopology = { kind = "random", extra = 1000000 }', "graph")


def test_an_edit_that_makes_a_run_too_dear_is_refused(session, monkeypatch):
    monkeypatch.setattr(budget, "MOST_STEPS", price_of(session.scenario).steps + 5)
    session.absorb(entries({"do": "snapshot", "process": "P1", "at": 60}, ADD))
    assert (session.ack, len(session.version.edits)) == (2, 1)
    assert "too big for a page" in session.notice["text"]


def test_more_messages_than_a_browser_draws_are_refused(session, monkeypatch):
    monkeypatch.setattr("views.widgets.look.MOST_DRAWN", 30)
    with pytest.raises(InputError, match="messages are in transit at once"):
        session.open(Shared(toml=f"processes = 7\n{snapshots(1)}", name="crowd"))
    monkeypatch.setattr("views.widgets.look.MOST_REASONS", 30)
    with pytest.raises(InputError, match="of 2 snapshots"):
        session.open(Shared(toml=f"processes = 4\n{snapshots(2)}", name="crowd"))


# --------------------------------------------------------------------------- a budget of time


@pytest.fixture
def looks(monkeypatch) -> Callable[[int], Iterator[int]]:
    """Has every deadline pass at the given look at the clock. Returns the counter of looks."""

    def pass_at(most: int) -> Iterator[int]:
        looked = count(1)

        def check(self) -> None:
            if next(looked) >= most or not self.is_wanted():
                raise OutOfTime

        monkeypatch.setattr(Deadline, "check", check)
        return looked

    monkeypatch.setattr(deadline, "EVERY", 4)
    return pass_at


DEAR = Shared(
    toml='processes = 4\nworkload = { kind = "bank", transfers = 5 }\n' + snapshots(3).replace('"P1"', '"P2"')
    + '[[cuts]]\nname = "c"\n',
    name="dear",
)  # fmt: skip


@pytest.mark.slow
def test_an_opening_stops_wherever_its_time_is_spent_and_the_run_before_stays(session, looks):
    looked = looks(10**9)
    ExploreSession().open(DEAR)
    every = next(looked) - 1
    assert every > 100, "few loops look at the clock"
    before = session.data()
    for most in range(1, every + 1, max(1, every // 15)):
        looks(most)
        with pytest.raises(InputError, match="10 seconds"):
            session.open(DEAR)
        assert session.data() == before
    looks(10**9)
    session.open(DEAR)
    assert session.scenario.name == "dear"


def test_an_edit_that_takes_too_long_is_refused_and_the_browser_hears_which(session, looks):
    before = session.drawn
    for seq in range(1, 40):
        looks(seq)
        session.absorb(entries(HOLD, first=seq))
        if session.notice is None or session.notice["level"] != "error":
            break
        assert (session.ack, session.drawn, session.unfinished) == (seq, before, 0)
        assert session.notice["text"].startswith("This takes longer than")
    looks(10**9)
    session.absorb(entries({**ADD, "at": 51}, first=100))
    assert session.version.edits[-1][0]["at"] == 51


def test_what_there_is_no_time_for_comes_again_and_nothing_is_lost(session, monkeypatch):
    """As the browser does: it sends again what is not acknowledged."""
    monkeypatch.setattr(explore_session, "STARTING_S", 0.0)
    outbox = entries(*({"do": "delay", "message": {"label": "H"}, "delay": 10 + n} for n in range(5)))
    answers = 0
    while answers == 0 or session.unfinished:
        answers += 1
        session.absorb([entry for entry in outbox if entry["seq"] > session.ack])
        assert session.ack == answers
    assert (answers, len(session.version.edits), session.data()["unfinished"]) == (5, 5, 0)


@pytest.mark.slow
def test_an_outbox_of_2000_edits_is_run_once(session, runs):
    session.absorb(entries(*({**ADD, "at": 50 + n % 100} for n in range(2_000))))
    assert (len(runs), session.ack, session.at) == (1, 2_000, 2_000)
    session.absorb(entries({"do": "undo"}, first=2_001))
    assert (session.at, len(session.scenario.script)) == (1_999, len(session.versions[0].scenario.script) + 1_999)


@pytest.mark.slow
def test_a_link_with_2000_edits_is_run_twice(session, runs):
    edits = tuple(({**ADD, "at": 50 + n % 100}, 1.0) for n in range(2_000))
    session.open(Shared("lecture", edits=edits))
    assert (len(runs), session.at) == (2, 2_000)


def test_of_many_edits_that_come_together_only_the_bad_ones_are_refused(session, runs):
    edits = [IMPOSSIBLE if n in (3, 40) else {**ADD, "at": 50 + n} for n in range(64)]
    session.absorb(entries(*edits))
    assert (session.ack, session.notice["seq"], session.at) == (64, 4, 62)
    assert session.notice["text"].endswith("1 more change was refused.")
    assert len(runs) < 30, "halves of them, not one by one"


# --------------------------------------------------------------------------- a tab that has gone


def test_work_for_a_tab_that_has_gone_is_dropped_and_may_come_again(session):
    before, drawn = session.data(), session.drawn
    for most in (0, 1, 5, 20):
        asked = count()
        is_open = lambda asked=asked, most=most: next(asked) < most  # noqa: E731
        with pytest.raises(OutOfTime):
            session.open(DEAR, is_open)
        assert (session.data(), session.drawn) == (before, drawn)
        with pytest.raises(OutOfTime):
            session.absorb(entries(ADD, HOLD, ADD), is_open)
        asked_again = session.data()["unfinished"]
        assert asked_again, "else a tab that connects again does not send them again"
        before = {**before, "unfinished": asked_again}
        assert (session.data(), session.drawn) == (before, drawn)
    session.absorb(entries(ADD, HOLD, ADD))
    assert (session.ack, session.at, session.unfinished) == (3, 3, 0)


class Stopped(Exception):
    pass


@pytest.fixture
def tab(monkeypatch) -> SimpleNamespace:
    """The tab that scripts run for; `is_open` may be set. A script that stops raises Stopped."""

    def stop() -> None:
        raise Stopped

    monkeypatch.setattr("streamlit.stop", stop)
    tab = SimpleNamespace(is_open=True)
    monkeypatch.setattr(tabs, "get_instance", lambda: SimpleNamespace(is_active_session=lambda _: tab.is_open))
    return tab


def test_only_a_tab_that_has_gone_ends_without_a_sentence(tab):
    with pytest.raises(InputError, match="10 seconds"), for_this_tab() as is_open, answering(is_open), for_this_tab():
        raise OutOfTime
    tab.is_open = False
    with pytest.raises(Stopped), for_this_tab() as is_open, answering(is_open) as deadline:
        deadline.check()


def test_a_run_of_a_data_folder_is_opened_in_one_answer_for_its_tab(tab, monkeypatch):
    scenario = parse_toml("processes = 2", "small")
    monkeypatch.setattr(opening, "scenario_of_run", lambda *_: scenario)
    answers = []

    def step_of(*_: object) -> int:
        answers.append(budget._present.get())
        return 0

    monkeypatch.setattr(opening, "step_of", step_of)
    monkeypatch.setattr(opening.explore, "show", step_of)
    open_run = partial(opening.open_run, SimpleNamespace(name="folder"), 1, None, "")
    open_run()
    assert answers[0] is not None and answers[0] is answers[1]
    monkeypatch.setattr(opening.explore, "show", lambda _: answers[-1].deadline.check())
    tab.is_open = False
    with pytest.raises(Stopped):
        open_run()


# --------------------------------------------------------------------------- sentences of pages


def complaints(page: AppTest) -> list[str]:
    assert not page.exception
    return [element.proto.body for element in page.get("html") if 'role="alert"' in element.proto.body]


def opened_file() -> None:
    from views.explore import page as explore
    from views.widgets import gallery

    gallery.open_file(explore._open)


@pytest.mark.slow
def test_a_file_for_which_there_is_no_time_gets_a_sentence(monkeypatch):
    monkeypatch.setattr(budget, "ANSWER_S", 0.0)
    file = SimpleNamespace(name="dear.toml", getvalue=lambda: DEAR.toml.encode())
    monkeypatch.setattr("streamlit.file_uploader", lambda *_, **__: [file])
    (complaint,) = complaints(AppTest.from_function(opened_file, default_timeout=60).run())
    assert "This takes longer than" in complaint


def test_a_file_for_a_tab_that_has_gone_is_not_opened(tab, monkeypatch):
    tab.is_open = False
    file = SimpleNamespace(name="dear.toml", getvalue=lambda: DEAR.toml.encode())
    monkeypatch.setattr("streamlit.file_uploader", lambda *_, **__: [file])
    with pytest.raises(Stopped):
        gallery.open_file.__wrapped__(lambda _: deadline.check())


def card() -> None:
    from sim.core.errors import InputError
    from sim.document import library
    from views.widgets import gallery

    def refuse(_: object) -> None:
        raise InputError("not now")

    gallery._card(library.load("lecture"), refuse)


@pytest.mark.slow
def test_a_card_that_cannot_be_opened_gets_a_sentence():
    page = AppTest.from_function(card, default_timeout=60).run()
    page.button[0].click().run()
    assert "Not now." in complaints(page)[0]


# --------------------------------------------------------------------------- trial runs of an ensemble

DEAR_GRID = Grid.read({"workload": "bank", "processes": "3"}, {"transfers": "1000000"})


def test_a_combination_that_costs_too_much_is_refused_before_it_is_tried(monkeypatch):
    monkeypatch.setattr(cells, "run", lambda *_: pytest.fail("it is run"))
    with pytest.raises(InputError, match=r"cell 0 .*too big for an ensemble: its workload .* use a smaller workload"):
        cells.cells_of(DEAR_GRID)


def test_combinations_that_share_a_trial_look_at_the_clock_too(monkeypatch):
    monkeypatch.setattr(cells, "_try", lambda _: cells._Trial(1.0, 1))
    with pytest.raises(OutOfTime), within(Deadline(0)):
        cells.cells_of(Grid.read({"workload": "bank", "processes": "3", "snapshots": "0", "seed": "77"}))


def ensemble_form() -> None:
    from views.ensembles.form import grid_form
    from views.ensembles.page import _start

    grid_form(_start)


@pytest.fixture
def ensembles_page(monkeypatch, tmp_path) -> AppTest:
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path))
    monkeypatch.setattr(visitors, "submit", lambda *_: pytest.fail("it is submitted"))
    cells.cells_of.cache_clear()
    return AppTest.from_function(ensemble_form, default_timeout=60).run()


def test_trial_runs_end_when_the_time_of_the_page_is_spent(ensembles_page, monkeypatch):
    monkeypatch.setattr(budget, "ANSWER_S", 0.0)
    ensembles_page.button[0].click().run()
    (complaint,) = complaints(ensembles_page)
    assert "This takes longer than" in complaint and "shorter lists" in complaint


@pytest.mark.slow
def test_trial_runs_wait_for_their_turn(ensembles_page, somebody_else):
    ensembles_page.button[0].click().run()
    assert "big run; try again" in complaints(ensembles_page)[0].replace("&#x27;", "'")


# --------------------------------------------------------------------------- one big run at a time


@pytest.fixture
def somebody_else(monkeypatch) -> Iterator[Callable[[], None]]:
    """Another visitor makes a big run until the function is called."""
    monkeypatch.setattr(budget, "BIG", 100)
    monkeypatch.setattr(budget, "WAIT_S", 0.05)
    has_begun, may_end = threading.Event(), threading.Event()

    def work() -> None:
        with answering():
            ExploreSession().open(BANK)
            has_begun.set()
            may_end.wait(60)

    thread = threading.Thread(target=work)
    thread.start()
    assert has_begun.wait(60)

    def end() -> None:
        may_end.set()
        thread.join()

    yield end
    end()


@pytest.mark.slow
def test_a_big_run_waits_for_another_and_is_told_so_and_small_ones_do_not(session, somebody_else):
    session.absorb(entries(ADD))
    session.open(Shared(scenario="two_banks"))
    before = session.data()
    with pytest.raises(Busy, match="another visitor's big run"):
        session.open(BANK)
    assert session.data() == before
    somebody_else()
    session.open(BANK)
    assert session.scenario.name == "bank"


@pytest.mark.slow
def test_edits_of_a_big_run_wait_in_the_browser_while_another_is_made(somebody_else, monkeypatch):
    monkeypatch.setattr(budget, "BIG", 10_000)
    session = ExploreSession()
    session.open(BANK)
    monkeypatch.setattr(budget, "BIG", 100)
    session.absorb(entries(ADD, HOLD))
    assert (session.ack, session.notice["level"]) == (0, "info")
    assert session.notice["text"].endswith("your run starts after it.")
    before = session.data()
    session.absorb(entries(ADD, HOLD))
    assert before["unfinished"] and session.data() != before, "what is the same does not reach the browser"
    somebody_else()
    session.absorb(entries(ADD, {"do": "undo"}))
    assert (session.ack, session.unfinished, session.notice, len(session.versions)) == (2, 0, None, 2)


def test_the_turn_ends_with_the_answer_also_where_it_fails(session, monkeypatch, somebody_else):
    somebody_else()
    monkeypatch.setattr(explore_session, "draw", lambda scene, look: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        session.open(BANK)
    monkeypatch.undo()
    session.open(BANK)


def explore_page() -> None:
    from views.explore import page as explore

    explore.page()


@pytest.mark.slow
def test_a_link_to_a_big_run_stays_until_its_turn(somebody_else, monkeypatch):
    drawn = []
    monkeypatch.setattr(explore, "explorer", lambda data, *_, **__: drawn.append(data["link"]))
    page = AppTest.from_function(explore_page, default_timeout=60)
    link = query_of(BANK)
    for name, text in link.items():
        page.query_params[name] = text
    page.run()
    assert [info.value for info in page.info] == [
        "The server is making another visitor's big run; your run starts after it."
    ]
    assert (drawn, explore.STATE in page.session_state, complaints(page)) == ([], False, [])
    somebody_else()
    page.run()
    assert drawn == [urlencode(link)] and not page.info
