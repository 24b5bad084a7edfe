"""The OpenAPI document, and the page that shows it. The page loads nothing from elsewhere."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from swagger_ui_bundle import swagger_ui_path

from cluster.api.answers import ProblemBody
from cluster.api.gate import OPEN_TO_ALL, UNCOUNTED
from cluster.api.problems import LATER, MEDIA_TYPE

VERSION = "3.0.3"  # the newest that the page can show
FILES = ("swagger-ui.css", "swagger-ui-bundle.js", "favicon-16x16.png", "favicon-32x32.png")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Consistent Cut: the API of a live cluster</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" type="image/png" sizes="16x16" href="/docs/favicon-16x16.png">
<link rel="icon" type="image/png" sizes="32x32" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start-page.js"></script>
</body>
</html>
"""
# A request that changes something is JSON, even without a body (cluster/api/gate.py).
_START = """SwaggerUIBundle({
  url: "/openapi.json", dom_id: "#swagger-ui", deepLinking: true, validatorUrl: null,
  requestInterceptor: (request) => {
    if (request.method && request.method !== "GET") request.headers["Content-Type"] = "application/json";
    return request;
  },
});
"""


def add_page(app: FastAPI) -> None:
    """Add the page and its files to the app."""

    @app.get("/docs", include_in_schema=False)
    async def page() -> Response:
        return HTMLResponse(_PAGE, headers={"Content-Security-Policy": POLICY})

    @app.get("/docs/start-page.js", include_in_schema=False)
    async def start() -> Response:
        return Response(_START, media_type="text/javascript")

    async def file(request: Request) -> Response:
        return FileResponse(swagger_ui_path / request.url.path.rpartition("/")[2])

    for name in FILES:
        app.add_api_route(f"/docs/{name}", file, include_in_schema=False)


def document(app: FastAPI, has_token: bool) -> dict[str, Any]:
    """Return the OpenAPI document of an app, with the problems that any request may have."""
    found: dict[str, Any] = _as_3_0(
        get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    )
    found["openapi"] = VERSION
    components = found.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = _as_3_0(ProblemBody.model_json_schema())
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            _add_problems(operation, path, method, has_token and path != OPEN_TO_ALL)
    if has_token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}]
        found["paths"][OPEN_TO_ALL]["get"]["security"] = []
    return found


PROBLEMS = {
    400: "The request is malformed, or calls this server by another name.",
    401: "The token is missing or wrong.",
    403: "This is not allowed here.",
    404: "It does not exist.",
    408: "The request did not come in time.",
    409: "This is not possible now.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "A value is impossible.",
    429: "Too many requests are under way, or too many snapshots.",
    503: "This cannot be done now: too many clients, or the registry or the storage does not answer.",
}
_RETRY_AFTER = {"description": "Seconds until the request may be sent again.", "schema": {"type": "string"}}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of an operation that may answer with these problems, for FastAPI."""
    schema = {"$ref": "#/components/schemas/Problem"}
    found: dict[int | str, dict[str, Any]] = {}
    for one in statuses:
        found[one] = {"description": PROBLEMS[one], "content": {MEDIA_TYPE: {"schema": schema}}}
        if one in LATER:
            found[one]["headers"] = {"Retry-After": _RETRY_AFTER}
    return found


def _add_problems(operation: dict[str, Any], path: str, method: str, has_token: bool) -> None:
    """Add the problems with which connections and the gate answer any operation."""
    statuses = [400, 408, 413, 415, 503, *([401] if has_token else []), *([403] if method != "get" else [])]
    statuses += [429] if path not in UNCOUNTED else []
    takes_input = "parameters" in operation or "requestBody" in operation
    for status, response in problems(*statuses, *([422] if takes_input else [])).items():
        operation["responses"][str(status)] = response


def _as_3_0(schema: Any) -> Any:
    """Return a schema of OpenAPI 3.1, which has all of JSON Schema, in the words of 3.0."""
    if isinstance(schema, list):
        return [_as_3_0(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _as_3_0(value) for name, value in schema.items()}
    if isinstance(found.get("anyOf"), list) and {"type": "null"} in found["anyOf"]:
        (other,) = (one for one in found.pop("anyOf") if one != {"type": "null"})
        found = {**({"allOf": [other]} if "$ref" in other else other), "nullable": True, **found}
    if "const" in found:
        found["enum"] = [found.pop("const")]
    return found
