"""Whatever is asked, the answer is one that the API's own document has.

Schemathesis makes the requests from the document: fitting ones, which must not be refused as malformed, and others,
which must be. No answer is a mistake of the server, and each has the form, headers and status that the document says.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from cluster.api.app import create_app
from cluster.model import Snapshot, Status, Wish
from tests.cluster.fake_controller import FakeController
from tests.tools import count_of_examples

TOKEN = {"Authorization": "Bearer secret"}
HERE = {"Host": "localhost"}
EXAMPLES = 60  # of each operation
UNSAYABLE = ("it should be at most high_ms", "another request had this key", "body is too large")  # in a schema


class Obliging(FakeController):
    """A cluster that stores anywhere, and whose event logs end after a row, so that streams end."""

    def __init__(self) -> None:
        super().__init__()
        for _ in range(5):
            self.add(Wish())
        self.finish("snap-0", Status.COMPLETED)
        self.finish("snap-1", Status.FAILED)

    async def trigger(self, wish: Wish) -> Snapshot:
        return await super().trigger(Wish(wish.initiator, wish.type))

    async def events(self) -> AsyncIterator[Mapping[str, Any]]:
        yield {"row": 1}


def document_of(token: str | None) -> Any:
    app = create_app(Obliging(), token)
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers={**HERE, **TOKEN})
    schema.config.generation.update(deterministic=True)
    return schema


GUARDED, OPEN = document_of("secret"), document_of(None)
bounded = settings(
    max_examples=count_of_examples(EXAMPLES), derandomize=True, deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


def check(case: Any, headers: dict[str, str]) -> None:
    """The answer is one that the document has."""
    response = case.call(headers=headers)
    is_beyond_schemas = any(sentence in response.text for sentence in UNSAYABLE)
    excluded = [positive_data_acceptance, negative_data_rejection] if is_beyond_schemas else []
    case.validate_response(response, headers=headers, excluded_checks=excluded)


# The parameter gives each test an id of its own, without which one worker of several runs a single one of them.
@GUARDED.parametrize()
@pytest.mark.parametrize("headers", [TOKEN], ids=["token"])
@bounded
def test_with_a_token_every_answer_is_in_the_document(case: Any, headers: dict[str, str]) -> None:
    check(case, headers)


@OPEN.parametrize()
@pytest.mark.parametrize("headers", [HERE], ids=["here"])
@bounded
def test_on_this_machine_every_answer_is_in_the_document(case: Any, headers: dict[str, str]) -> None:
    check(case, headers)


@pytest.mark.parametrize("schema", [GUARDED, OPEN])
def test_the_document_is_valid(schema: Any) -> None:
    schema.validate()
    assert len(list(schema.get_all_operations())) == 15
