"""GET /v1/openapi.json: the API for programs, described for programs (OpenAPI 3.1).

Paths, parameters and JSON answers come from the handlers' own types. What a type cannot say stands
in a table here: bodies that are bytes, answers that are bytes, and the headers of a signed request.
Every error is a problem document (RFC 9457), whatever its status.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
from litestar import Litestar, Response, get
from litestar.openapi import OpenAPIConfig

from tequio_ledger import SOFTWARE
from tequio_ledger.web.errors import MEDIA_TYPE, AnyRequest
from tequio_shared.addresses import RECORD_BYTES
from tequio_shared.api.answer import Problem
from tequio_shared.api.competitions import CompetitionAnswer, CompetitionsAnswer
from tequio_shared.api.log import PostedAnswer, WitnessesAnswer
from tequio_shared.api.network import (
    ConnectorsAnswer,
    HealthAnswer,
    InvitationsAnswer,
    NetworkAnswer,
    SeedsAnswer,
)
from tequio_shared.api.peers import (
    PeerRoundsAnswer,
    PeersAnswer,
    QuarantineAnswer,
    RankingAnswer,
)
from tequio_shared.api.runs import MeasuresAnswer, RoundsAnswer, RunsAnswer
from tequio_shared.ids import BLOB_BYTES, JSON_INTEGER, POST_BYTES
from tequio_shared.log.notes import NOTE_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from litestar.di import Provide
    from litestar.types import ControllerRouterHandler

PATH = "/v1/openapi.json"
_JSON = "application/json"
_OCTETS = "application/octet-stream"
_TEXT = "text/plain"
_BASE64URL = "^[A-Za-z0-9_-]+$"
_REF = "#/components/schemas/"
_BYTES_32 = "[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]"  # in base64url; the last letter holds four bits
_NUMBERS = {"number": {"minimum": 1, "maximum": JSON_INTEGER}}
_PATTERNS = {
    "run": f"^{_BYTES_32}$",
    "key": f"^{_BYTES_32}$",
    "competition": f"^{_BYTES_32}$",
    "name": f"^({_BYTES_32}|[0-9A-Fa-f]{{64}})$",
    "rest": r"^(0|[1-9]|[1-5][0-9]|6[0-3]|entries)(/x[0-9]{3})*/[0-9]{3}(\.p/[1-9][0-9]{0,2})?$",
    "around": f"^({_BYTES_32})?$",
    "behind": f"^({_BYTES_32})?$",
}
"""What a parameter of that name must be, for the framework takes any text."""

_ANSWERS = (
    Problem,
    NetworkAnswer,
    HealthAnswer,
    SeedsAnswer,
    InvitationsAnswer,
    ConnectorsAnswer,
    RunsAnswer,
    RoundsAnswer,
    MeasuresAnswer,
    PeersAnswer,
    PeerRoundsAnswer,
    RankingAnswer,
    QuarantineAnswer,
    PostedAnswer,
    WitnessesAnswer,
    CompetitionsAnswer,
    CompetitionAnswer,
)
"""What handlers answer in JSON; the types inside these are found from them."""

Json = dict[str, Any]  # a node of the document: what JSON can be


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bytes:
    """A body or an answer that is no JSON of ours."""

    media_type: str = _OCTETS
    most_bytes: int | None = None
    says: str = ""

    def content(self) -> Json:
        schema: Json = {"type": "string", "format": "binary"}
        if self.media_type == _TEXT:
            schema = {"type": "string"}
        if self.most_bytes is not None:
            schema["maxLength"] = self.most_bytes
        return {self.media_type: {"schema": schema}}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exchange:
    """What a handler's types do not say of it."""

    takes: _Bytes | None = None
    gives: Mapping[int, _Bytes | str | None] = field(default_factory=dict)
    """By status: bytes, a schema by its name, or None for an answer without a body."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers that a request must bear, each with a pattern."""


_EXCHANGES = {
    "get_health": _Exchange(gives={503: "HealthAnswer"}),
    "post_statements": _Exchange(
        takes=_Bytes(
            most_bytes=POST_BYTES, says="Leaves, each after its length as u16 (protocol 15.1)."
        ),
    ),
    "get_checkpoint": _Exchange(
        gives={200: _Bytes(media_type=_TEXT, says="A signed note (C2SP tlog-checkpoint).")}
    ),
    "get_policy": _Exchange(
        gives={200: _Bytes(media_type=_TEXT, says="A policy (C2SP tlog-policy).")}
    ),
    "get_proof": _Exchange(
        gives={200: _Bytes(media_type=_TEXT, says="A proof of logging (C2SP tlog-proof).")}
    ),
    "post_checkpoint": _Exchange(
        takes=_Bytes(media_type=_TEXT, most_bytes=NOTE_BYTES, says="A signed note of this log."),
        gives={204: None},
    ),
    "get_tile": _Exchange(gives={200: _Bytes(says="A tile or an entry bundle (C2SP tlog-tiles).")}),
    "get_blob": _Exchange(gives={200: _Bytes(says="The bytes whose SHA-256 is the name.")}),
    "head_blob": _Exchange(gives={200: None}),
    "put_blob": _Exchange(
        takes=_Bytes(most_bytes=BLOB_BYTES, says="The bytes whose SHA-256 is the name."),
        gives={200: None, 201: None},
        headers={
            "x-tequio-author": _BASE64URL,
            "x-tequio-ts": "^[0-9]{1,16}$",
            "x-tequio-signature": _BASE64URL,
        },
    ),
    "get_events": _Exchange(
        gives={200: _Bytes(media_type="text/event-stream", says="Every entry, as it is logged.")}
    ),
    "put_seed": _Exchange(
        takes=_Bytes(
            media_type=_JSON, most_bytes=RECORD_BYTES, says="A signed address record (14.4)."
        ),
        gives={204: None},
    ),
}


@get(PATH, include_in_schema=False, sync_to_thread=True)
def get_openapi(request: AnyRequest) -> Response[bytes]:
    """Give this API's description; it is written, which takes a while, for whoever asks first."""
    return Response(request.app.state.openapi(), media_type=_JSON)


def document(
    routes: Sequence[ControllerRouterHandler], dependencies: Mapping[str, Provide]
) -> bytes:
    """Describe routes; those that are not in the schema are for people."""
    config = OpenAPIConfig(
        title="Tequio ledger",
        version=SOFTWARE.rpartition("/")[2],
        use_handler_docstrings=True,
        operation_id_creator=lambda handler, _method, _path: handler.handler_name,
    )
    described = Litestar(
        route_handlers=routes, dependencies=dict(dependencies), openapi_config=config
    ).openapi_schema.to_schema()
    for item in described["paths"].values():
        for operation in item.values():
            _complete(operation)
    described["components"]["schemas"] = _schemas()
    return msgspec.json.encode(_plain(described))


def _schemas() -> Json:
    """The types of all answers, as msgspec describes them: the framework leaves out their enums."""
    schemas = msgspec.json.schema_components(_ANSWERS, ref_template=_REF + "{name}")[1]
    problem = schemas[Problem.__name__]
    problem["required"] = list(problem["properties"])  # a reader may lack some; we write all
    return schemas


def _plain(node: Any) -> Any:  # noqa: ANN401 - whatever JSON can be
    """Write patterns as JSON Schema does.

    Its regular expressions have other words for the ends.
    """
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


def _complete(operation: Json) -> None:
    """Put in what the types could not say, and errors as they are."""
    exchange = _EXCHANGES.get(operation["operationId"], _Exchange())
    responses = {
        status: said for status, said in operation["responses"].items() if status.startswith("2")
    }
    responses |= {str(status): _response(gives) for status, gives in exchange.gives.items()}
    for every in ("4XX", "5XX"):
        responses[every] = {
            "description": "A problem (RFC 9457); its type names the code of protocol 4.6.",
            "content": {MEDIA_TYPE: {"schema": {"$ref": _REF + "Problem"}}},
        }
    operation["responses"] = responses
    if exchange.takes is not None:
        operation["requestBody"] = {
            "required": True,
            "description": exchange.takes.says,
            "content": exchange.takes.content(),
        }
    for parameter in operation.setdefault("parameters", []):
        _narrow(parameter["name"], parameter["schema"])
    operation["parameters"].extend(
        {"name": name, "in": "header", "required": True,
         "schema": {"type": "string", "pattern": pattern}}
        for name, pattern in exchange.headers.items()
    )  # fmt: skip


def _narrow(name: str, schema: Json) -> None:
    """Say what a parameter must be."""
    if schema.get("type") == "string" and (name in _PATTERNS or name == "after"):
        schema["pattern"] = _PATTERNS.get(name, _PATTERNS["around"])
    schema |= _NUMBERS.get(name, {})


def _response(gives: _Bytes | str | None) -> Json:
    match gives:
        case None:
            return {"description": "Done."}
        case str():
            schema = {"$ref": _REF + gives}
            return {"description": "The answer.", "content": {_JSON: {"schema": schema}}}
        case _Bytes():
            return {"description": gives.says, "content": gives.content()}
