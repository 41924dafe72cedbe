"""The connector's settings.

To add a setting: a field here and a line in `installer/connector.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import httpx
import platformdirs
from msgspec import Meta, field

from tequio_ledger.config.settings import (
    LOOPBACK,
    Folder,
    Host,
    Port,
    Rate,
    RequestRate,
    TrustedProxies,
)
from tequio_ledger.config.sources import Parse, Program, ProgramSettings
from tequio_ledger.connector.providers import PUBLIC, check_address

_CLIENT = re.compile(r"[!-?A-~]{1,256}")


@dataclass(frozen=True, slots=True)
class Registered:
    """A client id, and the address of the provider that gave it."""

    client: str
    address: str


def _address(text: str) -> str:
    return check_address(text).rstrip("/")


def _own_address(text: str) -> str:
    return _spelt(text) if text else ""


def _spelt(text: str) -> str:
    """Spell an address as volunteers' programs do, which compare it letter by letter."""
    return str(httpx.URL(_address(text))).rstrip("/")


def _github(text: str) -> Registered:
    client, _, address = text.partition("@")
    return Registered(_client(client), _spelt(address) if address else PUBLIC)


def _openid(text: str) -> Registered:
    client, _, issuer = text.partition("@")
    try:
        return Registered(_client(client), check_address(issuer))
    except ValueError as err:
        raise ValueError(f"CLIENT-ID@ISSUER, which {text!r} is not ({err})") from err


def _client(text: str) -> str:
    if not _CLIENT.fullmatch(text):
        raise ValueError("a client ID, as the provider gave it")
    return text


def _different(one: Callable[[str], Registered]) -> Callable[[str], tuple[Registered, ...]]:
    def parse(text: str) -> tuple[Registered, ...]:
        registered = tuple(one(part) for part in text.split())
        if len({provider.address for provider in registered}) != len(registered):
            raise ValueError("of different providers: one is repeated")
        return registered

    return parse


class ConnectorSettings(ProgramSettings, frozen=True, kw_only=True, rename="kebab"):
    folder: Annotated[
        Folder, Meta(description="Folder of the connector's key, its secret and its statements.")
    ] = field(name="dir", default=Path(platformdirs.user_data_dir("tequio-connector")))
    host: Host = LOOPBACK
    port: Port = 8_603
    url: Annotated[
        str,
        Parse(_own_address),
        Meta(
            description="Public URL of the connector, as volunteers enter it. "
            "Default: the address it listens on."
        ),
    ] = ""
    """Proofs name it."""
    ledger: Annotated[str, Parse(_address), Meta(description="URL of the ledger.")] = (
        "http://127.0.0.1:8600"
    )
    github: Annotated[
        tuple[Registered, ...],
        Parse(_different(_github)),
        Meta(
            description="Client ID of a GitHub OAuth app with device flow; ID@https://HOST for "
            "GitHub Enterprise. Repeatable."
        ),
    ] = ()
    openid: Annotated[
        tuple[Registered, ...],
        Parse(_different(_openid)),
        Meta(
            description="CLIENT-ID@ISSUER of an OpenID Connect provider with device flow. "
            "Repeatable."
        ),
    ] = ()
    keys_per_account: Annotated[
        int,
        Meta(ge=1, le=1_000, description="Keys that one account can vouch for at the same time."),
    ] = 3
    term_days: Annotated[
        int, Meta(ge=1, le=3_650, description="Days for which a vouch is valid.")
    ] = 90
    codes_per_hour: Annotated[
        Rate, Meta(description="Codes per hour per IP prefix and per key (0 = unlimited).")
    ] = 60
    """A burst may be a sixth of it; IPv4 /24 and IPv6 /48 count as one."""
    request_rate: RequestRate = 20
    trusted_proxies: TrustedProxies = field(name="trusted-proxy", default=())

    def conflicts(self) -> Iterator[tuple[str, str]]:
        """Refuse a connector without any provider."""
        if not self.github and not self.openid:
            yield "github", "the client ID of at least one provider, here or in --openid"


CONNECTOR = Program(ConnectorSettings, "TEQUIO_CONNECTOR_", "tequio-ledger connect --help")
