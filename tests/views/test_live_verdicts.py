"""The page Live and the streamed audit: the page begins without Spark, and shows the verdicts when they are there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pipeline.spark import spark_session
from tests.pipeline.spark.processes import wait_until
from views.live_asked import Asked
from views.live_frame import about, read_place
from views.live_runs import ENDED, RUNNING, LiveRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def run() -> Iterator[LiveRun]:
    own = LiveRun(Asked(nodes=3, speed="lively"), None)
    yield own
    own.remove()


def taken(run: LiveRun) -> dict[str, Any]:
    """The newest snapshot, as the page shows it; nothing while there is none that is complete."""
    shown = about(run, read_place({}))["snapshots"]
    return next((own for own in shown if own["status"] == "COMPLETED"), {})


@pytest.mark.slow
def test_a_page_without_spark_shows_the_cluster_and_its_snapshots(run: LiveRun) -> None:
    wait_until(lambda: run.state == RUNNING)
    run.client.trigger(None)
    wait_until(lambda: taken(run))
    assert "verdict" not in taken(run)


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    yield spark_session.session()
    spark_session.stop()


@pytest.mark.slow
def test_the_verdict_of_a_snapshot_is_shown_and_the_query_ends_with_the_cluster(
    spark: SparkSession, run: LiveRun
) -> None:
    wait_until(lambda: run.state == RUNNING)
    run.client.trigger(None)
    wait_until(lambda: "verdict" in taken(run))
    assert taken(run)["verdict"] == {"consistent": True, "words": "consistent"}
    run.stop()
    wait_until(lambda: run.state == ENDED)
    wait_until(lambda: not spark.streams.active)
    assert "verdict" in taken(run)
