"""Requests and answers of a connector, and a key's proof that it wants to be vouched for.

The connector sends a challenge. The key signs it together with network, connector address and
provider, so the proof works once, there, and for nothing else: nobody can have another's key
vouched for, and a connector cannot reuse a proof at another one. Then the connector sends a code,
which the person enters at the provider, and the client polls until the code is settled.
(docs/protocol.md, connector)
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from tequio_shared.ids import Bytes32Text, BytesText, Natural, NetworkId

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
"""Name of a provider: the host of its address, and the path if it has one."""
Word = Annotated[str, Meta(max_length=256, pattern=r"\A[ -~]*\Z")]


class ConnectorAbout(Struct, frozen=True, kw_only=True):
    """Identity of a connector, and its rules for accounts."""

    network: Bytes32Text
    key: Bytes32Text
    """Author of its vouches."""
    url: Url
    """Address of the connector, as proofs must name it."""
    providers: Annotated[tuple[Provider, ...], Meta(max_length=32)]
    keys_per_account: Natural
    term_days: Natural


class ConnectRequest(Struct, frozen=True, kw_only=True):
    """The key to vouch for, and the provider of the account."""

    peer: Bytes32Text
    provider: Provider


class ConnectChallenge(Struct, frozen=True, kw_only=True):
    """The challenge to sign; valid once, for two minutes."""

    challenge: Annotated[BytesText, Meta(max_length=256)]


class ConnectProof(Struct, frozen=True, kw_only=True):
    """The request again, with the key's signature of `signed_message`."""

    peer: Bytes32Text
    provider: Provider
    challenge: Annotated[BytesText, Meta(max_length=256)]
    signature: Annotated[BytesText, Meta(max_length=86)]


class ConnectCode(Struct, frozen=True, kw_only=True):
    """The code to enter, and the address to enter it at."""

    id: Bytes32Text
    """A secret: its holder may poll the outcome."""
    user_code: Annotated[str, Meta(min_length=1, max_length=64, pattern=r"\A[!-~][ -~]*\Z")]
    url: Url
    expires_s: Annotated[int, Meta(ge=1, le=CODE_S)]
    interval_s: Annotated[int, Meta(ge=1, le=INTERVAL_S)]


class ConnectPoll(Struct, frozen=True, kw_only=True):
    """Request for the outcome of a code."""

    id: Bytes32Text


class ConnectOutcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of a code so far; refusals are problem documents."""

    state: Literal["waiting", "vouched"]
    interval_s: Annotated[int, Meta(ge=1, le=INTERVAL_S)] = INTERVAL_S
    """Seconds until the next poll."""
    problem: Word = ""
    """Cause of a delay on the connector's side."""
    index: Natural | None = None
    """Log index of the vouch."""
    until: Natural = 0
    """End of the vouch, milliseconds since 1970."""


def signed_message(net: NetworkId, url: str, provider: str, challenge: bytes) -> bytes:
    """Join the signed bytes; each text follows its length."""
    return _PREFIX + net + _counted(url.encode()) + _counted(provider.encode()) + challenge


def _counted(text: bytes) -> bytes:
    return len(text).to_bytes(2, "big") + text
