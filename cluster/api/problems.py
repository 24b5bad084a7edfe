"""Errors as RFC 9457 has them: application/problem+json, whose `detail` is one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match
from starlette.types import Scope

from cluster.model import FAULT_KINDS, Problem
from sim.core.errors import InputError, brief

MEDIA_TYPE = "application/problem+json"
LATER = (429, 503)  # a request that was refused for now may be sent again
RETRY_AFTER = "1"  # seconds
_WISH = re.compile(r"^(?:Input|String|List|Value) should ")


def problem_body(path: str, status: int, sentence: str) -> dict[str, str | int]:
    """Return the body of the answer to a request that is refused. Its title is the name of the status."""
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": str(InputError(sentence)).encode("utf-8", "backslashreplace").decode("utf-8"),
        "instance": quote(path, safe="/", errors="replace"),
    }


def problem_response(scope: Scope, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer to a request that is refused. `Retry-After` says when to send it again, in seconds."""
    later = {"Retry-After": RETRY_AFTER} if status in LATER else {}
    return JSONResponse(problem_body(scope["path"], status, sentence), status, {**later, **(headers or {})}, MEDIA_TYPE)


def answer_with_problems(app: FastAPI) -> None:
    """Let `app` answer every error with a problem."""
    app.add_exception_handler(Problem, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _not_served)
    app.add_exception_handler(Exception, _broken)


def _refused(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    return problem_response(request.scope, problem.status, str(problem), problem.headers)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = error.errors()
    status = 400 if errors[0]["type"] == "json_invalid" else 422
    return problem_response(request.scope, status, sentence_of(errors))


def _not_served(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return problem_response(request.scope, 404, f"There is nothing at {_path(request)}; /docs shows what there is.")
    if error.status_code == 405:
        methods = ", ".join(_methods(request))
        sentence = f"{request.method} is not possible at {_path(request)}, which takes {methods}."
        return problem_response(request.scope, 405, sentence, {"Allow": methods})
    # the last case is a body that the parser refuses: nested a thousand times, or a number of thousands of digits
    return problem_response(request.scope, error.status_code, "The body cannot be read as JSON; send a plain object.")


def _broken(request: Request, error: Exception) -> Response:
    return problem_response(request.scope, 500, "The cluster made a mistake; its log says more.")


def _path(request: Request) -> str:
    return brief(request.scope["path"])


def _methods(request: Request) -> list[str]:
    """Return the methods of a path: Starlette itself knows only those of its first route."""
    matching = [route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in matching if route.path == matching[0].path for method in route.methods})


def sentence_of(errors: Sequence[Mapping[str, Any]]) -> str:
    """Return one sentence for the errors of Pydantic: the field, the mistake, the remedy, and the number of others."""
    more = len(errors) - 1
    also = f" ({more} more {'field is' if more == 1 else 'fields are'} wrong.)" if more else ""
    return f"{_one(errors[0])}{also}"


def _one(error: Mapping[str, Any]) -> str:
    kind, context, message = error["type"], error.get("ctx", {}), error["msg"]
    source, *place = error["loc"]
    if kind == "json_invalid":
        return f"The body is not JSON: {context['error']} at character {place[0]}."
    field = ".".join(str(part) for part in place if part not in FAULT_KINDS) or f"the {source}"
    if kind == "missing":
        return f"{field}: it is missing."
    if kind == "sentence":  # one of ours
        return f"{field}: {message}"
    if kind.startswith("union_tag"):  # of a fault
        given = f"{brief(context['tag'])} is not possible" if "tag" in context else "it is missing"
        return f"kind: {given}; it should be one of {', '.join(FAULT_KINDS)}."
    wish = "it should be an object" if kind == "model_attributes_type" else _WISH.sub("it should ", message)
    return f"{field}: {brief(error['input'])} is not possible; {wish}."
