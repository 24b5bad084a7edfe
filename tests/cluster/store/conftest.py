"""Fixtures of the tests of a live cluster: a storage service, and a server of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.cluster.postgres import Server, postgres
from tests.pipeline.s3 import BUCKET, s3

NUMBERS = count()
SLOW_S3, SLOW_POSTGRESQL = (pytest.param(name, marks=pytest.mark.slow) for name in ("s3", "postgresql"))
# For a test of what each of them does in its own way; `make long` runs all tests on both.
ON_S3_TOO = pytest.mark.parametrize("root", ["folder", SLOW_S3], indirect=True)
IN_POSTGRESQL_TOO = pytest.mark.parametrize("url", ["sqlite", SLOW_POSTGRESQL], indirect=True)


@pytest.fixture(scope="session")
def service() -> Iterator[str]:
    """A storage service that speaks S3, with a bucket. Yields its address as the settings of a URI."""
    with s3() as variables:
        host = variables["AWS_ENDPOINT_URL"].removeprefix("http://")
        yield f"region=us-east-1&scheme=http&endpoint_override={host}"


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.long("the storage, all of it on S3"))])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty storage root: a folder, or one in a bucket."""
    if request.param == "folder":
        (tmp_path / "root").mkdir()
        return str(tmp_path / "root")
    return f"s3://{BUCKET}/root-{next(NUMBERS)}?{request.getfixturevalue('service')}"


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server that runs."""
    with postgres() as running:
        yield running


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long("the registry, all of it in PostgreSQL"))]
)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'registry.sqlite'}"
    server: Server = request.getfixturevalue("server")
    return server.new_database(f"registry-{next(NUMBERS)}")
