"""What the connector was asked to be: one frozen value, read once at its start.

To add a setting: a constant here, in `ALL`, with a field in `Settings`, and a line in
`installer/connector.toml`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import platformdirs

from tequio_ledger.config import settings as config_settings
from tequio_ledger.config.settings import HOST, LOG_JSON, LOG_LEVEL, TRUSTED_PROXY
from tequio_ledger.config.sources import Form, Program, Reader, Setting, many, number, place
from tequio_ledger.connector.providers import PUBLIC, check_address

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Network

    from tequio_ledger.config.sources import Gathered

PROGRAM = Program("TEQUIO_CONNECTOR_", "tequio-ledger connect --help")
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
    try:
        return str(httpx.URL(_address(text))).rstrip("/")
    except httpx.InvalidURL as err:
        raise ValueError("an address such as https://example.org") from err


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
        raise ValueError("a client id, as the provider gave it")
    return text


DIR = Setting(
    name="dir",
    default=platformdirs.user_data_dir("tequio-connector"),
    parse=place,
    help="Where its key, its secret and what it said are kept.",
)
PORT = config_settings.port(8_603)
URL = Setting(
    name="url",
    default="",
    parse=_own_address,
    help="Its address as volunteers write it; without one, where it listens.",
)
LEDGER = Setting(
    name="ledger",
    default="http://127.0.0.1:8600",
    parse=_address,
    help="Address of the ledger.",
)
GITHUB = Setting(
    name="github",
    default="",
    parse=many(_github),
    help="Client id of an OAuth app with device flow; ID@https://HOST for GitHub Enterprise.",
    form=Form.LIST,
)
OPENID = Setting(
    name="openid",
    default="",
    parse=many(_openid),
    help="CLIENT-ID@ISSUER of an OpenID Connect provider with device flow; repeat.",
    form=Form.LIST,
)
KEYS_PER_ACCOUNT = Setting(
    name="keys-per-account",
    default="3",
    parse=number(1, 1_000),
    help="Keys that one account may vouch for at once.",
    form=Form.NUMBER,
)
TERM_DAYS = Setting(
    name="term-days",
    default="90",
    parse=number(1, 3_650),
    help="How long a vouch lasts.",
    form=Form.NUMBER,
)
CODES_PER_HOUR = Setting(
    name="codes-per-hour",
    default="60",
    parse=number(0, 1 << 20),
    help="Codes of a network address, and of a key, a sixth of them at once; 0: any.",
    form=Form.NUMBER,
)
REQUEST_RATE = config_settings.request_rate(20)
ALL: tuple[Setting[Any], ...] = (
    DIR,
    HOST,
    PORT,
    URL,
    LEDGER,
    GITHUB,
    OPENID,
    KEYS_PER_ACCOUNT,
    TERM_DAYS,
    CODES_PER_HOUR,
    REQUEST_RATE,
    TRUSTED_PROXY,
    LOG_JSON,
    LOG_LEVEL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that an operator may choose."""

    folder: Path
    host: str
    port: int
    """0 lets the system choose."""
    url: str
    """As proofs name it; empty: where it listens."""
    ledger: str
    github: tuple[Registered, ...]
    openid: tuple[Registered, ...]
    keys_per_account: int
    term_days: int
    codes_per_hour: int
    """Of one network address (IPv4 /24, IPv6 /48), and of one key; 0 sets no limit, as below."""
    request_rate: int
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...]
    log_json: bool
    log_level: str


def read(gathered: Gathered) -> Settings:
    """Turn texts into settings; raises UserFacingError naming every fault at once."""
    reader = Reader(gathered)
    settings = Settings(
        folder=reader.of(DIR, Path()),
        host=reader.of(HOST, ""),
        port=reader.of(PORT, 0),
        url=reader.of(URL, ""),
        ledger=reader.of(LEDGER, ""),
        github=reader.of(GITHUB, ()),
        openid=reader.of(OPENID, ()),
        keys_per_account=reader.of(KEYS_PER_ACCOUNT, 1),
        term_days=reader.of(TERM_DAYS, 1),
        codes_per_hour=reader.of(CODES_PER_HOUR, 0),
        request_rate=reader.of(REQUEST_RATE, 0),
        trusted_proxies=reader.of(TRUSTED_PROXY, ()),
        log_json=reader.of(LOG_JSON, False),  # noqa: FBT003 - a value among others
        log_level=reader.of(LOG_LEVEL, ""),
    )
    given = gathered.values[GITHUB.name].text + gathered.values[OPENID.name].text
    if not given.strip():
        reader.fault(GITHUB, "the client id of one provider at least, here or in --openid")
    for setting, registered in ((GITHUB, settings.github), (OPENID, settings.openid)):
        if len({one.address for one in registered}) != len(registered):
            reader.fault(setting, "of different providers: one is there twice")
    reader.finish()
    return settings
