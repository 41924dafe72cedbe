"""What the witness was asked to be: one frozen value, read once at its start.

To add a setting: a constant here, in `ALL`, with a field in `Settings`, and a line in
`installer/witness.toml`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from tequio_ledger.config import settings as config_settings
from tequio_ledger.config.settings import HOST, LOG_JSON, LOG_LEVEL, TRUSTED_PROXY
from tequio_ledger.config.sources import Form, Program, Reader, Setting, many, place
from tequio_shared.errors import PeerError
from tequio_shared.log.notes import KeyKind, VerifierKey

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Network

    from tequio_ledger.config.sources import Gathered

PROGRAM = Program("TEQUIO_WITNESS_", "tequio-ledger witness --help")


def _name(text: str) -> str:
    if not text:
        raise ValueError("the name of its key, such as witness.example/w1")
    return text


def _log(text: str) -> VerifierKey:
    try:
        key = VerifierKey.parse(text)
    except PeerError as err:
        raise ValueError(f"verifier keys of logs, which {text!r} is not ({err})") from err
    if key.kind is not KeyKind.LOG:
        raise ValueError(f"verifier keys of logs, which {text!r} is not (a cosigner's key)")
    return key


def _logs(text: str) -> tuple[VerifierKey, ...]:
    keys = many(_log)(text)
    if not keys:
        raise ValueError("the verifier key of one log at least")
    if len({key.name for key in keys}) != len(keys):
        raise ValueError("keys of different logs: one origin is there twice")
    return keys


DIR = Setting(
    name="dir",
    default=platformdirs.user_data_dir("tequio-witness"),
    parse=place,
    help="Where its key and what it saw are kept.",
)
PORT = config_settings.port(8_601)
NAME = Setting(
    name="name",
    default="",
    parse=_name,
    help="Name of its key, such as witness.example/w1.",
)
LOG = Setting(
    name="log",
    default="",
    parse=_logs,
    help="Verifier key of a log to witness; repeat.",
    form=Form.LIST,
)

ALL: tuple[Setting[Any], ...] = (
    DIR,
    HOST,
    PORT,
    NAME,
    LOG,
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
    name: str
    """Name of its key; an address without a scheme, as a log's origin is."""
    logs: tuple[VerifierKey, ...]
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    log_json: bool = False
    log_level: str = LOG_LEVEL.default


def read(gathered: Gathered) -> Settings:
    """Turn texts into settings; raises UserFacingError naming every fault at once."""
    reader = Reader(gathered)
    settings = Settings(
        folder=reader.of(DIR, Path()),
        host=reader.of(HOST, ""),
        port=reader.of(PORT, 0),
        name=reader.of(NAME, ""),
        logs=reader.of(LOG, ()),
        trusted_proxies=reader.of(TRUSTED_PROXY, ()),
        log_json=reader.of(LOG_JSON, False),  # noqa: FBT003 - a value among others
        log_level=reader.of(LOG_LEVEL, ""),
    )
    reader.finish()
    return settings
