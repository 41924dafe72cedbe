"""Requests and answers of a connector, and how a key proves that it wants to be vouched for.

The connector sends a challenge. The key signs it together with network, address of the connector
and provider, so the proof holds once, there, and for nothing else: nobody can have another's key
vouched for, and a connector cannot use at another one what it was sent. Then the connector sends a
code, which the person types in at the provider, and the client polls until the code is settled.
(docs/protocol.md, connector)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from tequio_shared.ids import Bytes32Text, BytesText, Natural

if TYPE_CHECKING:
    from tequio_shared.ids import NetworkId

CHALLENGES = "/v1/challenges"
CONNECTIONS = "/v1/connections"
ASK = "/v1/connections/ask"
ABOUT = "/v1/connector"

REQUEST_BYTES = 4_096
URL_CHARACTERS = 512
INTERVAL_S = 60
"""Longest pause between two polls; no provider asks for more."""
CODE_S = 1_800
"""Longest life of a code."""

_PREFIX = b"tequio/v1/connect\0"

Url = Annotated[str, Meta(max_length=URL_CHARACTERS, pattern=r"\Ahttps?://[!-~]+\Z")]
Provider = Annotated[str, Meta(max_length=128, pattern=r"\A[a-z0-9][a-z0-9.:/_-]*\Z")]
"""The name of a provider: the host of its address, and the path if it has one."""
Word = Annotated[str, Meta(max_length=256, pattern=r"\A[ -~]*\Z")]


class ConnectorAbout(Struct, frozen=True, kw_only=True):
    """Who a connector is, and what it asks of accounts."""

    network: Bytes32Text
    key: Bytes32Text
    """The author of its vouches."""
    url: Url
    """Its address, as proofs have to name it."""
    providers: Annotated[tuple[Provider, ...], Meta(max_length=32)]
    keys_per_account: Natural
    term_days: Natural


class ConnectRequest(Struct, frozen=True, kw_only=True):
    """Which key wants to be vouched for, by an account at which provider."""

    peer: Bytes32Text
    provider: Provider


class ConnectChallenge(Struct, frozen=True, kw_only=True):
    """What the key has to sign; good once, for two minutes."""

    challenge: Annotated[BytesText, Meta(max_length=256)]


class ConnectProof(Struct, frozen=True, kw_only=True):
    """The request again, with the key's signature of `signed_message`."""

    peer: Bytes32Text
    provider: Provider
    challenge: Annotated[BytesText, Meta(max_length=256)]
    signature: Annotated[BytesText, Meta(max_length=86)]


class ConnectCode(Struct, frozen=True, kw_only=True):
    """What the person types in, and where."""

    id: Bytes32Text
    """A secret: its holder may poll what became of it."""
    user_code: Annotated[str, Meta(min_length=1, max_length=64, pattern=r"\A[!-~][ -~]*\Z")]
    url: Url
    expires_s: Annotated[int, Meta(ge=1, le=CODE_S)]
    interval_s: Annotated[int, Meta(ge=1, le=INTERVAL_S)]


class ConnectPoll(Struct, frozen=True, kw_only=True):
    """Asks what became of a code."""

    id: Bytes32Text


class ConnectOutcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a code so far; refusals are problem documents."""

    state: Literal["waiting", "vouched"]
    interval_s: Annotated[int, Meta(ge=1, le=INTERVAL_S)] = INTERVAL_S
    """Ask again after so many seconds."""
    problem: Word = ""
    """Why it takes longer than the person does."""
    index: Natural | None = None
    """Log index of the vouch."""
    until: Natural = 0
    """Its end, milliseconds since 1970."""


def signed_message(net: NetworkId, url: str, provider: str, challenge: bytes) -> bytes:
    """Join what the key signs; texts with their length before them."""
    return _PREFIX + net + _counted(url.encode()) + _counted(provider.encode()) + challenge


def _counted(text: bytes) -> bytes:
    return len(text).to_bytes(2, "big") + text
