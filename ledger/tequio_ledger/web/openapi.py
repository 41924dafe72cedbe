"""GET /v1/openapi.json: the description of the API (OpenAPI 3.1).

Paths, parameters and JSON answers come from the types of the handlers, whose schemas msgspec
writes. A table here holds what a type cannot state: bodies and answers that are bytes, and the
headers of a signed request. Every error is a problem document (RFC 9457), whatever its status.
"""

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec
from starlette.responses import Response

from tequio_ledger import SOFTWARE
from tequio_ledger.web.errors import MEDIA_TYPE
from tequio_ledger.web.routing import JSON, HandlerParameter, ParameterSource, Route, get
from tequio_shared.addresses import RECORD_BYTES
from tequio_shared.api.answer import Problem
from tequio_shared.api.network import HealthAnswer
from tequio_shared.limits import BLOB_BYTES, JSON_INTEGER, POST_BYTES
from tequio_shared.log.notes import NOTE_BYTES

PATH = "/v1/openapi.json"
_OCTETS = "application/octet-stream"
_TEXT = "text/plain"
_BASE64URL = "^[A-Za-z0-9_-]+$"
_REF = "#/components/schemas/"
_BYTES_32 = "[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]"  # in base64url; the last letter holds four bits
_NUMBERS = {"number": {"minimum": 1, "maximum": JSON_INTEGER}}
_PATTERNS = {
    "name": f"^({_BYTES_32}|[0-9A-Fa-f]{{64}})$",
    "rest": r"^(0|[1-9]|[1-5][0-9]|6[0-3]|entries)(/x[0-9]{3})*/[0-9]{3}(\.p/[1-9][0-9]{0,2})?$",
}
"""Pattern of a text parameter by its name, if the handler parses it and its type is plain str."""

Json = dict[str, Any]  # a node of the document: any JSON object


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bytes:
    media_type: str = _OCTETS
    most_bytes: int | None = None
    description: str = ""

    def content(self) -> Json:
        schema: Json = {"type": "string"}
        if self.media_type != _TEXT:
            schema["format"] = "binary"
        if self.most_bytes is not None:
            schema["maxLength"] = self.most_bytes
        return {self.media_type: {"schema": schema}}


_Answer = _Bytes | type[msgspec.Struct] | None
"""Bytes, a type in JSON, or no body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exchange:
    """Facts about a handler that its types do not state."""

    body: _Bytes | None = None
    answers: Mapping[int, _Answer] = field(default_factory=dict)
    """By status, in addition to the type that the handler returns."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Required headers of a request, each with a pattern."""


def _text(description: str) -> _Exchange:
    return _Exchange(answers={200: _Bytes(media_type=_TEXT, description=description)})


_HASHED = "The bytes whose SHA-256 is the name."
DECLARED_EXCHANGES = {
    "get_health": _Exchange(answers={200: HealthAnswer, 503: HealthAnswer}),
    "post_statements": _Exchange(
        body=_Bytes(
            most_bytes=POST_BYTES, description="Leaves, each after its length as u16 (15.1)."
        ),
    ),
    "get_checkpoint": _text("A signed note (C2SP tlog-checkpoint)."),
    "get_policy": _text("A policy (C2SP tlog-policy)."),
    "get_proof": _text("A proof of logging (C2SP tlog-proof)."),
    "post_checkpoint": _Exchange(
        body=_Bytes(
            media_type=_TEXT, most_bytes=NOTE_BYTES, description="A signed note of this log."
        ),
        answers={204: None},
    ),
    "get_tile": _Exchange(
        answers={200: _Bytes(description="A tile or an entry bundle (C2SP tlog-tiles).")}
    ),
    "get_blob": _Exchange(answers={200: _Bytes(description=_HASHED)}),
    "head_blob": _Exchange(answers={200: None}),
    "put_blob": _Exchange(
        body=_Bytes(most_bytes=BLOB_BYTES, description=_HASHED),
        answers={200: None, 201: None},
        headers={
            "x-tequio-author": _BASE64URL,
            "x-tequio-ts": "^[0-9]{1,16}$",
            "x-tequio-signature": _BASE64URL,
        },
    ),
    "get_events": _Exchange(
        answers={
            200: _Bytes(media_type="text/event-stream", description="Every entry, as it is logged.")
        }
    ),
    "put_seed": _Exchange(
        body=_Bytes(
            media_type=JSON, most_bytes=RECORD_BYTES, description="A signed address record (14.4)."
        ),
        answers={204: None},
    ),
}


@dataclass(kw_only=True)
class ApiDescription:
    """The description of the API, written at its first request: that takes a while."""

    routes: Sequence[Route]
    services: Collection[str]
    """Names of parameters that the application provides."""

    @cached_property
    def content(self) -> Json:
        return describe(self.routes, self.services)

    @cached_property
    def document(self) -> bytes:
        return msgspec.json.encode(self.content)


@get(PATH, is_described=False)
def get_openapi(description: ApiDescription) -> Response:
    return Response(description.document, media_type=JSON)


def describe(routes: Sequence[Route], services: Collection[str]) -> Json:
    described = [route for route in routes if route.is_described]
    paths: Json = {}
    for route in described:
        paths.setdefault(route.template, {})[route.method.lower()] = _operation(route, services)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tequio ledger", "version": SOFTWARE.rpartition("/")[2]},
        "paths": paths,
        "components": {"schemas": _plain(_schemas(described))},
    }


def _schemas(described: Sequence[Route]) -> Json:
    """Give the schemas of all answers, and of the types inside these, by name."""
    types = {one for route in described for one in _answers(route).values() if inspect.isclass(one)}
    _, schemas = msgspec.json.schema_components(
        sorted({*types, Problem}, key=lambda one: one.__name__), ref_template=_REF + "{name}"
    )
    # Problems of other servers may lack fields, hence the defaults; this ledger writes them all.
    schemas[Problem.__name__]["required"] = list(schemas[Problem.__name__]["properties"])
    return schemas


def _answers(route: Route) -> dict[int, _Answer]:
    """Give the answers of a route by status: its handler's type, and those of the table."""
    annotation = inspect.signature(route.handler, eval_str=True).return_annotation
    own = {} if issubclass(annotation, Response) else {route.status: annotation}
    return own | dict(DECLARED_EXCHANGES.get(route.name, _Exchange()).answers)


def _operation(route: Route, services: Collection[str]) -> Json:
    exchange = DECLARED_EXCHANGES.get(route.name, _Exchange())
    responses = {str(status): _response(one) for status, one in _answers(route).items()}
    for every in ("4XX", "5XX"):
        responses[every] = {
            "description": "A problem (RFC 9457); its type names the code of protocol 4.6.",
            "content": {MEDIA_TYPE: {"schema": {"$ref": _REF + Problem.__name__}}},
        }
    from_url = (ParameterSource.PATH, ParameterSource.QUERY)
    parameters = [_parameter(one) for one in route.parameters(services) if one.source in from_url]
    operation: Json = {
        "operationId": route.name,
        "description": inspect.getdoc(route.handler),
        "parameters": parameters
        + [
            {"name": name, "in": "header", "required": True}
            | {"schema": {"type": "string", "pattern": pattern}}
            for name, pattern in exchange.headers.items()
        ],
        "responses": responses,
    }
    if exchange.body is not None:
        operation["requestBody"] = {
            "required": True,
            "description": exchange.body.description,
            "content": exchange.body.content(),
        }
    return operation


def _parameter(parameter: HandlerParameter) -> Json:
    schema = _plain(msgspec.json.schema(parameter.type))
    name = parameter.name
    if name in _PATTERNS and "pattern" not in schema:
        schema["pattern"] = _PATTERNS[name]
    schema |= _NUMBERS.get(name, {})
    is_required = parameter.default is msgspec.NODEFAULT
    if not is_required and parameter.default is not None:
        schema["default"] = parameter.default
    place = parameter.source.value
    return {"name": name, "in": place, "required": is_required, "schema": schema}


def _response(answer: _Answer) -> Json:
    match answer:
        case None:
            return {"description": "Done."}
        case _Bytes():
            return {"description": answer.description, "content": answer.content()}
        case _:
            schema = {"$ref": _REF + answer.__name__}
            return {"description": "The answer.", "content": {JSON: {"schema": schema}}}


def _plain(node: Any) -> Any:  # noqa: ANN401 - whatever JSON can be
    """Rewrite Python's anchors for JSON Schema, whose regular expressions are ECMAScript's."""
    match node:
        case dict():
            plain = {name: _plain(value) for name, value in node.items()}
            pattern = plain.get("pattern")
            if isinstance(pattern, str):
                plain["pattern"] = pattern.replace(r"\A", "^").replace(r"\Z", "$")
            return plain
        case list() | tuple():
            return [_plain(value) for value in node]
        case _:
            return node
