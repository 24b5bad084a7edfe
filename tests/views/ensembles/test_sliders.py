"""The sliders of the page Ensembles: what they show is an ensemble, and however many drag, one thread does the work."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.requests import Request
from starlette.responses import Response

from diagrams.charts import figures as charts
from diagrams.charts.measures import MEASURES
from diagrams.shapes import theme
from pipeline.ensembles.at_once import rows_at_once
from pipeline.ensembles.chunks import measured, plan_of
from pipeline.store.folder import Store
from sim.core.errors import InputError
from views.ensembles import slider_runs
from views.ensembles.slider_runs import (
    LEAST_RUNS,
    RUNS,
    RUNS_IN_PYTHON,
    SLIDERS,
    Answer,
    answer,
    grid_of,
    read,
    runs_for,
)
from views.server import visitors


def asking(*, of: str = "10.0.0.1", key: str = "", method: str = "GET", **asked: object) -> Request:
    """A question from an address, of the browser with this key in its cookie."""
    cookie = [(b"cookie", f"{visitors.COOKIE}={key}".encode())] if key else []
    return Request({
        "type": "http", "method": method, "query_string": urlencode(asked, doseq=True).encode(), "headers": cookie,
        "client": (of, 1),
    })  # fmt: skip


def get(**asked: Any) -> Response:
    """The answer of the route."""
    request = asking(**asked)
    with ThreadPoolExecutor(1) as thread:  # a browser test may have a loop running in this one
        return thread.submit(asyncio.run, slider_runs._serve(request)).result()


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    """No answer is kept before and after a test."""
    slider_runs._kept.clear()
    yield
    slider_runs._kept.clear()


def ask(asked: slider_runs.SliderState, waiting: int = 0) -> Answer:
    return answer(asked, theme.LIGHT, time.perf_counter(), waiting)


@pytest.fixture(params=[False, True], ids=["in Python", "by Numba"])
def by_numba(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param:
        pytest.importorskip("numba", reason="Numba is not installed (requirements-fast.txt)")
    monkeypatch.setattr(slider_runs, "is_ready", lambda: request.param)
    monkeypatch.setattr(slider_runs, "is_coming", lambda: False)
    monkeypatch.setattr(slider_runs, "RUNS", 60)
    monkeypatch.setattr(slider_runs, "RUNS_IN_PYTHON", 60)
    return bool(request.param)


def bars(found: Answer, number: int) -> list[tuple[float, int]]:
    (trace,) = found.figures[number]["data"]
    return list(zip(trace["x"], trace["y"], strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("topology", ["complete", "ring"])
def test_the_charts_are_those_of_an_ensemble_with_the_same_scenario_and_seeds(by_numba: bool, topology: str) -> None:
    asked = read({"processes": 4, "transfers": 6, "delay": 3, "marker_delay": 8, "at": 12, "topology": topology})
    found = ask(asked)
    plan = plan_of(Store(Path("nowhere")), grid_of(asked, 60))
    rows = [row for run_id in range(plan.run_count) for row in measured(plan, run_id)[0]]

    recorded = [row["recorded_messages"] for row in rows]
    assert bars(found, 1) == [(float(number), recorded.count(number)) for number in sorted(set(recorded))]
    assert sum(count for _, count in bars(found, 0)) == 60
    for row in rows:  # each in its bar
        width = found.figures[0]["data"][0]["width"] / 0.92
        assert any(abs(row["latency"] - middle) <= width / 2 + 1e-9 for middle, _ in bars(found, 0))
    latencies = [row["latency"] for row in rows]
    assert found.extremes["the slowest"] == latencies.index(max(latencies))
    assert found.extremes["the run with the most recorded messages"] == recorded.index(max(recorded))
    assert found.told.startswith("No check fails in 60 snapshots. They took ")
    assert f"found {min(recorded)} to {max(recorded)} messages in the channels." in found.told
    assert ("make fast" in found.how) == (not by_numba)


def test_a_bar_is_one_of_its_own_runs(by_numba: bool) -> None:
    asked = read({})
    found = ask(asked)
    plan = plan_of(Store(Path("nowhere")), grid_of(asked, 60))
    (trace,) = found.figures[1]["data"]
    for number, seed in zip(trace["x"], trace["customdata"], strict=True):
        assert measured(plan, seed)[0][0]["recorded_messages"] == number


def test_python_does_fewer_runs_and_many_who_drag_get_fewer_each() -> None:
    short, long = read({"transfers": 1}), read({"processes": 12, "transfers": 40})
    assert (runs_for(short, False), runs_for(long, False)) == (RUNS_IN_PYTHON, LEAST_RUNS)
    assert (runs_for(short, False, 1), runs_for(short, False, 30)) == (RUNS_IN_PYTHON // 2, LEAST_RUNS)
    assert (runs_for(long, True), runs_for(long, True, 3), runs_for(long, True, 30)) == (RUNS, RUNS // 4, 100)


@pytest.mark.parametrize("end", ["least", "most"])
def test_every_slider_may_stand_at_its_ends(end: str) -> None:
    asked = read({slider.name: getattr(slider, end) for slider in SLIDERS})
    assert slider_runs.document_of(asked)


BAD: dict[str, dict[str, Any]] = {
    "processes: expected a whole number from 2 to 12": {"processes": "13"},
    "at: expected a whole number from 0 to 100": {"at": "-1"},
    "delay: expected a whole number from 1 to 30": {"delay": "²"},
    "marker_delay: expected a whole number from 1 to 30": {"marker_delay": "012"},
    "processes: expected a whole number": {"processes": "٥"},
    "transfers: expected a whole number from 1 to 40": {"transfers": "9" * 5000},
    "topology: expected one of complete, ring, line, star": {"topology": "random"},
}


@pytest.mark.parametrize("sentence", BAD)
def test_what_the_sliders_cannot_say_is_refused(sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read(BAD[sentence])
    refused = get(**BAD[sentence])
    assert refused.status_code == 400 and sentence[4:] in bytes(refused.body).decode()


def test_an_answer_has_the_colours_of_the_page(by_numba: bool) -> None:
    told = [json.loads(bytes(get(processes=3, theme=name).body)) for name in ("light", "dark")]
    assert [one["figures"][0]["layout"]["font"]["color"] for one in told] == [theme.LIGHT["ink"], theme.DARK["ink"]]
    assert told[0]["told"] == told[1]["told"]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [({"theme": "foo"}, "theme: expected one of light, dark"), ({"at": [3, 4]}, "at: expected once")],
)
def test_a_question_that_no_page_asks_is_refused(asked: dict[str, Any], sentence: str) -> None:
    refused = get(**asked)
    assert (refused.status_code, bytes(refused.body).decode()) == (400, f"{sentence}.")


def test_who_asks_for_the_head_of_an_answer_gets_no_work_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(slider_runs, "answer")
    told = get(method="HEAD")
    assert (told.status_code, told.body) == (200, b"")


def test_who_asks_again_gets_the_answer_that_is_kept_unless_more_runs_are_wanted(by_numba: bool) -> None:
    asked = read({"processes": 3, "transfers": 2})
    first, again = ask(asked), ask(asked)
    assert first.how.startswith("60 runs in ") and again.how.startswith("60 runs, kept from before. ")
    assert (again.figures, again.told, again.extremes) == (first.figures, first.told, first.extremes)


def test_an_answer_made_among_many_is_made_anew_when_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slider_runs, "is_ready", lambda: False)
    asked = read({"processes": 3, "transfers": 2})
    told = [ask(asked, waiting).how.split(".")[0] for waiting in (3, 4, 1, 9)]
    assert [one.partition(" in ")[0] for one in told] == [
        "25 runs", "25 runs, kept from before", "50 runs", "50 runs, kept from before",
    ]  # fmt: skip


def test_only_so_many_answers_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slider_runs, "is_ready", lambda: False)
    monkeypatch.setattr(slider_runs, "MOST_KEPT", 2)
    first, second, third = (read({"processes": 2, "transfers": 1, "at": at}) for at in (1, 2, 3))
    for asked in (first, second, first, third):
        ask(asked)
    assert list(slider_runs._kept) == [first, third]


# ------------------------------------------------------------------ many who ask


class Hall:
    """Questions to the route while its thread is busy, until `answered`."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.began: list[int] = []  # `at` of each that was begun
        self.waiting: list[int] = []  # how many others waited then

    def answer(self, asked: slider_runs.SliderState, palette: Any, begin: float, waiting: int) -> Answer:
        self.began.append(asked.at)
        self.waiting.append(waiting)
        self.go_on.wait()
        return Answer(f"{asked.at}", "", [], {}, False)

    def answered(self, *questions: Request) -> list[tuple[int, str]]:
        """The status and the text of each answer; they are asked in this order, all before any is answered."""

        async def all_of_them() -> list[Response]:
            asked = [asyncio.ensure_future(slider_runs._serve(question)) for question in questions]
            for _ in questions:
                await asyncio.sleep(0)  # each has been asked
            self.go_on.set()
            return await asyncio.gather(*asked)

        with ThreadPoolExecutor(1) as thread:  # a browser test may have a loop running in this one
            found = thread.submit(asyncio.run, all_of_them()).result()
        assert not slider_runs._waiting
        return [(one.status_code, bytes(one.body).decode()) for one in found]


@pytest.fixture
def hall(monkeypatch: pytest.MonkeyPatch) -> Hall:
    found = Hall()
    monkeypatch.setattr(slider_runs, "answer", found.answer)
    return found


def test_of_one_browser_only_the_newest_question_waits(hall: Hall) -> None:
    found = hall.answered(*(asking(at=at) for at in range(60)), asking(of="10.0.0.2", at=77))
    at_once = hall.began[:-2]  # what the thread began with, whichever question it came upon first
    assert len(at_once) <= 1 and hall.began[-2:] == [59, 77]
    assert [at for at, (status, _) in enumerate(found) if status == 200] == [*at_once, 59, 60]
    assert {own for own in found if own[0] != 200} == {
        (429, "You have moved a slider since. This answer is out of date.")
    }
    assert hall.waiting[-2:] == [1, 0]


def test_in_a_class_a_browser_is_known_by_its_cookie(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(visitors.CLASS_VARIABLE, "1")
    found = hall.answered(*(asking(key=f"visitor {number}", at=number) for number in range(30)))
    assert [status for status, _ in found] == [200] * 30
    assert hall.began == list(range(30))


def test_without_a_class_a_cookie_is_not_believed(hall: Hall) -> None:
    found = hall.answered(*(asking(key=f"visitor {number}", at=number) for number in range(30)))
    assert len(hall.began) <= 2 and [at for at, (status, _) in enumerate(found) if status == 200] == hall.began
    assert hall.began[-1] == 29


def test_too_many_who_wait_are_told_so(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slider_runs, "MOST_WAITING", 2)
    *_, refused = hall.answered(*(asking(of=f"10.0.0.{number}") for number in range(3)))
    assert refused == (503, "Many visitors drag sliders now. Try again in a few seconds.")


def test_the_time_told_has_the_wait_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slider_runs, "is_ready", lambda: False)
    waited = answer(read({"processes": 2, "transfers": 1}), theme.LIGHT, time.perf_counter() - 3600)
    assert "runs in 3,6" in waited.how and "ms" in waited.how


def test_an_answer_by_python_during_which_numba_gets_ready_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ready: Future[bool] = Future()
    monkeypatch.setattr(slider_runs, "is_installed", lambda: True)
    monkeypatch.setattr(slider_runs, "is_usable", lambda: True)
    monkeypatch.setattr(slider_runs, "get_ready", lambda: ready)

    def rows(*given: Any) -> Any:
        found = rows_at_once(*given)
        ready.set_result(True)
        return found

    monkeypatch.setattr(slider_runs, "rows_at_once", rows)
    found = ask(read({"processes": 2}))
    assert slider_runs.is_ready() and found.is_first


@pytest.mark.slow
def test_while_numba_is_being_compiled_python_answers_and_the_browser_asks_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slider_runs, "is_installed", lambda: True)
    monkeypatch.setattr(slider_runs, "get_ready", Future)
    found = ask(read({}))
    assert found.is_first
    assert "In a moment there will be 1,000 runs" in found.how


def test_a_chart_says_its_essential_numbers_in_words() -> None:
    rows = [{"latency": value, "seed": seed} for seed, value in enumerate((9.0, 2.5, 4.0))]
    told = charts.histogram(rows, MEASURES["latency"])["layout"]["meta"]["told"]
    assert told == "Time taken of 3 runs: from 2.5 to 9 time units, median 4"
    assert charts.histogram([], MEASURES["latency"])["layout"]["meta"]["told"] == "Time taken: no runs"
