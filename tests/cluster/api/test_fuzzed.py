"""Every request has an answer that the API's own OpenAPI description has.

Schemathesis makes the requests from it: fitting ones, which must not be refused as malformed, and others,
which must be. No answer is a mistake of the server, and each has the form, headers and status that it says.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

from cluster.api.app import create_app
from cluster.model import Snapshot, Status, Wish
from tests.cases import check_each
from tests.cluster.fake_controller import FakeController

TOKEN = {"Authorization": "Bearer secret"}
HERE = {"Host": "localhost", "Content-Type": "application/json"}  # a request that changes something says so
FEW, MANY = 6, 60  # examples of each operation, of what fits and of what does not
FAULTS = "/v1/faults"  # a body that is no fault of one kind may be one of another (test_answers.py)
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
    """The OpenAPI description of such a cluster. Schemathesis takes seconds to load, so no other test does."""
    import schemathesis

    app = create_app(Obliging(), token)
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers={**HERE, **TOKEN})
    schema.config.generation.update(deterministic=True)
    return schema


def check(case: Any, headers: dict[str, str]) -> None:
    """The answer is one that the description has."""
    from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

    response = case.call(headers=headers)
    is_beyond_schemas = any(sentence in response.text for sentence in UNSAYABLE)
    excluded = [positive_data_acceptance] if is_beyond_schemas else []
    excluded += [negative_data_rejection] if is_beyond_schemas or case.path == FAULTS else []
    case.validate_response(response, headers=headers, excluded_checks=excluded)


def fuzz(operation: Any, fits: bool, headers: dict[str, str], examples: int) -> None:
    """Ask for one operation many times, with requests that fit its description, or with others."""
    from schemathesis import GenerationMode

    @settings(
        max_examples=examples, derandomize=True, deadline=None, database=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(operation.as_strategy(GenerationMode.POSITIVE if fits else GenerationMode.NEGATIVE))
    def asked(case: Any) -> None:
        check(case, headers)

    try:
        asked()
    except Unsatisfiable:
        assert not fits, "an operation without parameters and body can be asked for nothing that does not fit"


MORE = pytest.mark.long("the API asked for anything, many times, with and without a token")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("token", "headers", "examples"),
    [
        ("secret", TOKEN, FEW), pytest.param("secret", TOKEN, MANY, marks=MORE),
        pytest.param(None, HERE, MANY, marks=MORE),
    ],
)  # fmt: skip
def test_every_answer_is_in_the_document(token: str | None, headers: dict[str, str], examples: int) -> None:
    document = document_of(token)
    document.validate()
    operations = {own.ok().label: own.ok() for own in document.get_all_operations()}
    assert len(operations) == 15
    cases = product(operations.items(), (True, False))
    check_each({f"{label}, {fits}": (own, fits, headers, examples) for (label, own), fits in cases}, fuzz)
