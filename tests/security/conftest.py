"""Fixtures for several attacks."""

from __future__ import annotations

import pytest

from pipeline.spark import session as spark_session


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages find Spark neither started nor failed, and start none."""
    monkeypatch.setattr("views.widgets.waits.warm_up", lambda: None)
    monkeypatch.setattr(spark_session, "problem", lambda: None)
    monkeypatch.setattr("views.ensembles.page.get_ready", lambda: None)
