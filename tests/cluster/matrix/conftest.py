"""The servers that cells need, one of each kind for a worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.postgres import Server, postgres
from tests.pipeline.s3 import s3


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    with postgres() as server:
        yield server


@pytest.fixture(scope="session")
def bucket() -> Iterator[dict[str, str]]:
    """The variables by which a program finds S3."""
    with s3() as variables:
        yield variables
