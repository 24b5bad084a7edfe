"""The texts of a page while Spark starts."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from pipeline.spark import session as spark_session
from pipeline.spark.losses import SparkLost
from sim.core.errors import InputError
from tests.waiting import until
from views.widgets.waits import Situation, start_in_words

MEANWHILE = "You can press Run already."


def test_the_first_start_is_told_with_what_can_be_done_meanwhile():
    start = Situation((), is_warm=False, problem=None, loss=None)
    assert start.is_starting
    assert start_in_words(start, MEANWHILE) == f"Spark is starting. This takes about 10 s, once. {MEANWHILE}"
    assert start_in_words(start._replace(active=(("a", "running"),)), MEANWHILE).endswith("once.")


def test_a_loss_is_told_and_what_comes_of_it():
    again = Situation((("a", "running"),), is_warm=False, problem=None, loss="Spark has ended: it ran out of memory")
    assert start_in_words(again, MEANWHILE) == (
        "Spark has ended: it ran out of memory. Spark starts again, which takes about 10 s. Then the interrupted "
        "work goes on, or begins again."
    )


# ------------------------------------------------------------------ a Spark that ends again and again


class Spark:
    """A session that is lost at its first question."""

    client = SimpleNamespace(is_closed=False, close=lambda: None)
    conf = SimpleNamespace(get=lambda name: "Consistent Cut")

    def range(self, count: int) -> None:
        raise SparkLost("Spark has ended")


@pytest.fixture
def starts(monkeypatch) -> Iterator[list[Spark]]:
    """The objects that were started in place of Spark."""
    made: list[Spark] = []

    def start(state, start):
        made.append(Spark())
        return made[-1]

    monkeypatch.setattr(spark_session, "_STATE", spark_session._State())
    monkeypatch.setattr(spark_session, "_start", start)
    yield made
    spark_session.stop()


def page() -> None:
    from views.widgets.waits import waiting

    waiting("You can press Run already.")


def alert_of(shown: AppTest) -> str:
    return " ".join(html.proto.body for html in shown.get("html"))


@pytest.mark.slow
def test_a_spark_that_ends_at_each_start_is_a_problem_and_no_page_starts_it_again(starts):
    shown = AppTest.from_function(page, default_timeout=60).run()
    until(spark_session.problem)
    assert len(starts) == spark_session.MOST_LOSSES
    for _ in range(3):
        shown.run()
        assert "Spark has ended: it cannot be reached; it ended 4 times in a row." in alert_of(shown)
    assert len(starts) == spark_session.MOST_LOSSES
    shown.button(key="spark-again").click().run()
    assert len(starts) == spark_session.MOST_LOSSES + 1
    assert not alert_of(shown), "it has started"


def test_one_that_served_for_long_is_started_again(starts, monkeypatch):
    monkeypatch.setattr(spark_session, "SOUND_S", -1)
    for count in range(1, 3 * spark_session.MOST_LOSSES):
        spark_session.lose(spark_session.session())
        assert len(starts) == count
        assert spark_session.problem() is None


def test_one_that_is_killed_while_it_starts_is_no_problem_before_it_was_tried_again(starts, monkeypatch):
    def killed(state, start):
        raise SparkLost("Spark did not start: it was killed")

    monkeypatch.setattr(spark_session, "_start", killed)
    for _ in range(spark_session.MOST_LOSSES - 1):
        with pytest.raises(SparkLost):
            spark_session.session()
        assert (spark_session.problem(), spark_session.loss()) == (None, "Spark did not start: it was killed")
    with pytest.raises(SparkLost):
        spark_session.session()
    assert spark_session.problem() == "Spark did not start: it was killed; it ended 4 times in a row"


@pytest.mark.slow
def test_a_page_that_shows_a_problem_sees_that_somebody_else_starts_spark(starts, monkeypatch):
    def no_memory(state, start):
        raise InputError("Spark did not start: no memory")

    watched = []
    monkeypatch.setattr(
        "views.widgets.waits.st.fragment", lambda act, run_every: lambda now, meanwhile: watched.append(now)
    )
    with monkeypatch.context() as patch, pytest.raises(InputError):
        patch.setattr(spark_session, "_start", no_memory)
        spark_session.session()
    shown = AppTest.from_function(page, default_timeout=60).run()
    assert "no memory" in alert_of(shown)
    assert [now.problem for now in watched] == ["Spark did not start: no memory"]


def test_the_end_waits_for_no_start_that_has_failed(starts, monkeypatch):
    """A start fails after `stop` has looked at it."""
    start = spark_session.Future()
    start.set_exception(InputError("Spark did not start: it was killed"))
    spark_session._STATE.start = start
    spark_session.stop()
    assert not spark_session.has_begun()
