"""The page Live and the streamed audit, with Spark: the page shows the verdicts when they are there.

tests/views/live/test_live_runs.py has the same with an audit that there is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pipeline.spark import session as spark_session
from tests.waiting import until
from views.live.cluster import ENDED, RUNNING, LiveRun
from views.live.form_state import FormState
from views.live.frame import about, read_place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def run() -> Iterator[LiveRun]:
    own = LiveRun(FormState(nodes=3, speed="lively"), None)
    yield own
    own.remove()


def taken(run: LiveRun) -> dict[str, Any]:
    """The newest snapshot, as the page shows it; nothing while there is none that is complete."""
    shown = about(run, read_place({}))["snapshots"]
    return next((own for own in shown if own["status"] == "COMPLETED"), {})


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    yield spark_session.session()
    spark_session.stop()


@pytest.mark.long("the verdicts of the streamed audit on the page Live")
@pytest.mark.usefixtures("spark")
def test_the_verdict_of_a_snapshot_is_shown_and_the_query_ends_with_the_cluster(run: LiveRun) -> None:
    until(lambda: run.state == RUNNING)
    run.client.trigger(None)
    until(lambda: "verdict" in taken(run))
    assert taken(run)["verdict"] == {"consistent": True, "words": "consistent"}
    run.stop()
    until(lambda: run.state == ENDED)
    until(lambda: not spark_session.session().streams.active)
    assert "verdict" in taken(run)
