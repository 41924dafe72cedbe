"""What the service was asked to be: one frozen value, read once from options and environment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tequio_shared import ids
from tequio_shared.errors import TequioError, UserFacingError
from tequio_shared.genesis import WORK_BITS
from tequio_shared.keys import check_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.ids import PeerKey

ENVIRONMENT_PREFIX = "TEQUIO_LEDGER_"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_ORIGIN = re.compile(r"[a-z0-9][a-z0-9./_-]{0,127}")
_HOST = re.compile(r"[A-Za-z0-9.:_-]{1,253}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that a person may choose; the genesis fields count at the first start only."""

    folder: Path
    host: str
    port: int
    """0 lets the system choose."""
    network: str
    origin: str
    """Name of the log in its checkpoints: an address without a scheme (C2SP tlog-checkpoint)."""
    organisers: tuple[PeerKey, ...]
    threshold: int
    """How many organisers must sign what is theirs to sign."""
    work_bits: int
    """Zero bits that the work of a new key has to show."""
    blob_quota_bytes: int
    """Most bytes that all blobs may take together."""
    peer_quota_bytes: int
    """Most bytes of blobs that one peer who is no organiser may put."""
    key_rate: int
    """Statements per second of one key, ten times that at once; 0 sets no limit, as below."""
    address_rate: int
    """Statements per second from one network address (IPv4 /24, IPv6 /48), ten times at once."""
    address_streams: int
    """Most event streams that one network address may hold open."""
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...]
    """Where a proxy of ours may sit, whose word on who asks is believed."""


def read(options: Mapping[str, str], organisers: tuple[str, ...]) -> Settings:
    """Turn texts into settings; raises UserFacingError naming every fault at once."""
    reader = _Reader(options)
    keys = reader.keys(organisers)
    settings = Settings(
        folder=Path(options["folder"]).expanduser().absolute(),
        host=reader.pattern("host", _HOST, "a host name or address"),
        port=reader.number("port", 0, 65_535),
        network=reader.pattern("network", _NAME, "1 to 32 of a-z, 0-9 and -"),
        origin=reader.pattern("origin", _ORIGIN, "an address such as ledger.example/net1"),
        organisers=keys,
        threshold=reader.number("threshold", 1, max(1, len(organisers))),
        work_bits=reader.number("work-bits", 0, WORK_BITS),
        blob_quota_bytes=reader.number("blob-quota-mb", 1, 1 << 30) << 20,
        peer_quota_bytes=reader.number("peer-quota-mb", 0, 1 << 20) << 20,
        key_rate=reader.number("key-rate", 0, 1 << 20),
        address_rate=reader.number("address-rate", 0, 1 << 20),
        address_streams=reader.number("address-streams", 0, 1 << 20),
        trusted_proxies=reader.networks("trusted-proxy"),
    )
    reader.finish()
    return settings


class _Reader:
    """Collects the faults, so that a person sees all of them in one go."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options
        self._faults: list[str] = []

    def number(self, name: str, least: int, most: int) -> int:
        text = self._options[name]
        try:
            value = msgspec.convert(text, int, strict=False)
        except msgspec.ValidationError:
            value = least - 1
        if least <= value <= most:
            return value
        self._faults.append(f"--{name} is {text!r}, but must be a number from {least} to {most}")
        return least

    def pattern(self, name: str, pattern: re.Pattern[str], promise: str) -> str:
        text = self._options[name]
        if not pattern.fullmatch(text):
            self._faults.append(f"--{name} is {text!r}, but must be {promise}")
        return text

    def networks(self, name: str) -> tuple[IPv4Network | IPv6Network, ...]:
        text, found = self._options[name], []
        for part in text.split():
            try:
                found.append(ip_network(part))
            except ValueError:
                self._faults.append(f"--{name} is {part!r}, but must be a network: 10.0.0.0/8")
        return tuple(found)

    def keys(self, texts: tuple[str, ...]) -> tuple[PeerKey, ...]:
        keys = tuple(key for text in texts if (key := self._key(text)) is not None)
        if len(set(keys)) != len(keys):
            self._faults.append("--organiser names one key twice")
        return tuple(sorted(keys))

    def finish(self) -> None:
        if self._faults:
            raise UserFacingError("; ".join(self._faults))

    def _key(self, text: str) -> PeerKey | None:
        try:
            return check_key(ids.key_from_text(text))
        except TequioError as err:
            self._faults.append(f"--organiser {text!r} is not a public key ({err})")
            return None
