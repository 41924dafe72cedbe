"""Routes: parameters by name and annotation, methods of a path, errors of a group."""

import asyncio
import threading
from typing import Annotated

import httpx
import msgspec
import pytest
from starlette.requests import Request
from starlette.responses import Response

from tequio_ledger import metrics
from tequio_ledger.web import errors
from tequio_ledger.web.openapi import describe
from tequio_ledger.web.routing import RouteGroup, application, get, head, post
from tequio_shared.errors import MalformedError, RefusedError

Limit = Annotated[int, msgspec.Meta(ge=1, le=10)]


class Found(msgspec.Struct):
    """Arguments of a handler's call."""

    name: str
    limit: int
    service: str


def found(name: str, service: str, limit: Limit | None = 5) -> Found:
    return Found(name, limit or 0, service)


GET_FOUND = get("/things/{name}")(found)


def in_a_thread() -> list[bool]:
    return [threading.current_thread() is threading.main_thread()]


async def in_the_loop() -> list[bool]:
    return [threading.current_thread() is threading.main_thread()]


async def fails(request: Request) -> Response:
    raise {"refused": RefusedError("queue-full", "no"), "malformed": MalformedError("bad")}.get(
        request.query_params["how"], ZeroDivisionError()
    )


async def only_head() -> Response:
    return Response(headers={"x-size": "7"})


ROUTES = (
    GET_FOUND,
    get("/thread")(in_a_thread),
    get("/loop")(in_the_loop),
    post("/loop", status=201)(in_the_loop),
    get("/fails")(fails),
    head("/sized")(only_head),
)


def asked(method: str, path: str) -> httpx.Response:
    group = RouteGroup(routes=ROUTES, answer_error=errors.answer_error)
    app = application((group,), {"service": "ours"}, errors.answer_missing)

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
            return await http.request(method, path)

    return asyncio.run(ask())


def test_parameters_come_from_path_query_and_services() -> None:
    assert asked("GET", "/things/a").json() == {"name": "a", "limit": 5, "service": "ours"}
    assert asked("GET", "/things/a?limit=7&service=theirs").json()["service"] == "ours"
    assert asked("GET", "/things/a?limit=7").json()["limit"] == 7


@pytest.mark.parametrize("limit", ["0", "11", "x", "null", "", " 1", "1.5", "9" * 5_000])
def test_a_value_outside_its_bounds_is_malformed(limit: str) -> None:
    answer = asked("GET", f"/things/a?limit={limit}")
    assert (answer.status_code, answer.json()["type"]) == (400, "urn:tequio:problem:malformed")
    said = f"limit: {limit[:60]!r} is not a whole number from 1 to 10"
    assert answer.json()["detail"] == said


def test_a_plain_function_runs_in_a_thread_and_a_coroutine_in_the_loop() -> None:
    assert asked("GET", "/thread").json() == [False]
    assert asked("GET", "/loop").json() == [True]
    assert asked("POST", "/loop").status_code == 201


def test_a_path_has_the_methods_of_its_routes_and_options() -> None:
    assert asked("OPTIONS", "/loop").headers["allow"] == "GET, HEAD, OPTIONS, POST"
    refused = asked("PUT", "/loop")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, OPTIONS, POST")
    assert asked("HEAD", "/sized").headers["x-size"] == "7"
    assert asked("GET", "/sized").status_code == 405


def test_slashes_too_many_lead_to_the_same_path() -> None:
    for path in ("/loop/", "/things//a/"):
        assert asked("GET", path).status_code == 200, path
    assert asked("GET", "/things").status_code == 404
    assert asked("GET", "/things/a/b").status_code == 404


@pytest.mark.parametrize(
    ("how", "status", "code"),
    [("refused", 503, "queue-full"), ("malformed", 400, "malformed"), ("bug", 500, "internal")],
)
def test_errors_of_a_handler_are_answered_by_its_group(how: str, status: int, code: str) -> None:
    failures = metrics.REGISTRY.get_sample_value("tequio_ledger_failures_total") or 0
    answer = asked("GET", f"/fails?how={how}")
    assert (answer.status_code, answer.json()["type"]) == (status, f"urn:tequio:problem:{code}")
    now = metrics.REGISTRY.get_sample_value("tequio_ledger_failures_total")
    assert now == failures + (status == 500)


def test_a_description_has_the_types_that_are_checked() -> None:
    document = describe((GET_FOUND,), ("service",))
    (operation,) = document["paths"]["/things/{name}"].values()
    name, limit = operation["parameters"]
    assert (name["in"], name["required"]) == ("path", True)
    assert limit["schema"] == {"type": "integer", "minimum": 1, "maximum": 10, "default": 5}
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema["$ref"].removeprefix("#/components/schemas/") in document["components"]["schemas"]
