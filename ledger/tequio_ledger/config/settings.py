"""The ledger's settings, and the types that settings of several programs share.

To add a setting: a field here and a line in `installer/ledger.toml`. Its option, environment
variable and key in the settings file follow from the field.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from msgspec import Meta, Struct, field

from tequio_ledger.config.sources import Parse, Program, ProgramSettings
from tequio_shared import ids
from tequio_shared.errors import TequioError
from tequio_shared.ids import PeerKey
from tequio_shared.keys import check_key
from tequio_shared.network.genesis import WORK_BITS as MOST_WORK_BITS

LOOPBACK = "127.0.0.1"


def parse_path(text: str) -> Path:
    """Read the path of a folder or file; raises ValueError."""
    if not text:
        raise ValueError("a path")
    return Path(text).expanduser().absolute()


def _optional_path(text: str) -> Path | None:
    return parse_path(text) if text else None


def _networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(_network(part) for part in text.split())


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError as err:
        raise ValueError(f"networks such as 10.0.0.0/8, which {text!r} is not") from err


def _organisers(text: str) -> tuple[PeerKey, ...]:
    keys = [_key(part) for part in text.split()]
    if len(set(keys)) != len(keys):
        raise ValueError("different public keys: one is repeated")
    return tuple(sorted(keys))


def _key(text: str) -> PeerKey:
    try:
        return check_key(ids.key_from_text(text))
    except TequioError as err:
        raise ValueError(f"public keys, which {text!r} is not ({err})") from err


Folder = Annotated[Path, Parse(parse_path)]
OptionalPath = Annotated[Path | None, Parse(_optional_path)]
Hostname = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9.:_-]{1,253}\Z", title="a host name or address")
]
Host = Annotated[Hostname, Meta(description="Host name or address to listen on.")]
Port = Annotated[
    int, Meta(ge=0, le=65_535, description="TCP port to listen on (0 = any free port).")
]
Rate = Annotated[int, Meta(ge=0, le=1 << 20)]
RequestRate = Annotated[
    Rate, Meta(description="HTTP requests per second per IP prefix (0 = unlimited).")
]
TrustedProxies = Annotated[
    tuple[IPv4Network | IPv6Network, ...],
    Parse(_networks),
    Meta(description="Network of a proxy whose x-forwarded-for header is trusted. Repeatable."),
]
WebUrl = Annotated[
    str,
    Meta(
        pattern=r"^(|https?://[!-~]{1,512})\Z",
        title="a URL that begins with https:// or http://",
    ),
]
Origin = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9][a-z0-9./_-]{0,127}\Z",
        title="an address such as ledger.example/net1",
        description="Name of the log: an address without a scheme, such as ledger.example/net1.",
    ),
]
StoreUrl = Annotated[
    str,
    Meta(pattern=r"(?s)^(|(s3://|file:///).*)\Z", title="a URL that begins with s3:// or file:///"),
]
LedgerFolder = Annotated[Folder, Meta(description="Folder of the ledger's data and keys.")]
LedgerDatabase = Annotated[
    str,
    Meta(
        pattern=r"(?s)^(|(sqlite:///|postgresql\+psycopg://).*)\Z",
        title="a URL that begins with sqlite:/// or postgresql+psycopg://",
        description="Database URL, such as postgresql+psycopg://user@host/name. "
        "Default: SQLite in the folder.",
    ),
]
DEFAULT_ORIGIN = "localhost/tequio"
_DEFAULT_FOLDER = Path(platformdirs.user_data_dir("tequio-ledger"))


class LedgerLocation(Struct, frozen=True, kw_only=True, rename="kebab"):
    """The settings for the location of the ledger's data."""

    folder: LedgerFolder = field(name="dir", default=_DEFAULT_FOLDER)
    database: LedgerDatabase = ""


class LedgerSettings(ProgramSettings, frozen=True, kw_only=True, rename="kebab"):
    """All settings of the ledger; network to work_bits count when the network is founded."""

    folder: LedgerFolder = field(name="dir", default=_DEFAULT_FOLDER)
    database: LedgerDatabase = ""
    """Empty for SQLite in the folder."""
    blobs: Annotated[
        StoreUrl,
        Meta(
            description="URL where all replicas store blobs, such as s3://bucket/prefix. "
            "Default: the folder."
        ),
    ] = ""
    tiles: Annotated[
        StoreUrl,
        Meta(
            description="URL to which full tiles and bundles of the log are copied, such as "
            "s3://bucket/log. Default: none are copied.",
        ),
    ] = ""
    tiles_url: Annotated[
        str,
        Meta(
            pattern=r"^(|https?://[A-Za-z0-9._~:/%\[\]-]{1,500})\Z",
            title="a URL such as https://cdn.example/log, without ?, # and @",
            description="Public URL of that place, or of a cache in front of /log: clients fetch "
            "full tiles and bundles there first. Default: none is named.",
        ),
    ] = ""
    host: Host = LOOPBACK
    port: Port = 8_600
    network: Annotated[
        str,
        Meta(
            pattern=r"^[a-z0-9][a-z0-9-]{0,31}\Z",
            title="1 to 32 of a-z, 0-9 and -",
            description="Name of the network.",
        ),
    ] = "tequio"
    origin: Origin = DEFAULT_ORIGIN
    organisers: Annotated[
        tuple[PeerKey, ...],
        Parse(_organisers),
        Meta(description="Public key of an organiser, who may open runs. Repeatable."),
    ] = field(name="organiser", default=())
    threshold: Annotated[
        int,
        Meta(ge=1, le=255, description="Number of organisers whose signatures are required."),
    ] = 1
    work_bits: Annotated[
        int,
        Meta(ge=0, le=MOST_WORK_BITS, description="Proof of work for a new key, in zero bits."),
    ] = 20
    blob_quota_mb: Annotated[
        int, Meta(ge=1, le=1 << 30, description="Maximum size of all uploads together, in MiB.")
    ] = 4_096
    peer_quota_mb: Annotated[
        int,
        Meta(ge=0, le=1 << 20, description="Maximum size of one peer's blobs together, in MiB."),
    ] = 64
    """Organisers have no such limit."""
    request_rate: RequestRate = 500
    """As the rates below: a burst may be ten times as large; IPv4 /24 and IPv6 /48 count as one."""
    key_rate: Annotated[
        Rate, Meta(description="Statements per second per key (0 = unlimited).")
    ] = 10
    address_rate: Annotated[
        Rate, Meta(description="Statements per second per IP prefix (0 = unlimited).")
    ] = 100
    address_streams: Annotated[
        Rate, Meta(description="Event streams per IP prefix (0 = unlimited).")
    ] = 64
    connections: Annotated[
        int,
        Meta(
            ge=64,
            le=65_536,
            description="Connections of all addresses together; event streams have three quarters "
            "of them.",
        ),
    ] = 4_096
    """Fewer if the process may not have twice as many file descriptors."""
    trusted_proxies: TrustedProxies = field(name="trusted-proxy", default=())
    trust: Annotated[
        OptionalPath,
        Meta(
            description="Policy file (C2SP tlog-policy) with the witnesses and how many of them "
            "must cosign. Default: no witnesses."
        ),
    ] = None
    publish_pause_ms: Annotated[
        int, Meta(ge=0, le=60_000, description="Pause between two requests to the witnesses, ms.")
    ] = 1_000
    signer: Annotated[
        OptionalPath,
        Meta(
            description="Unix socket of `tequio-ledger sign`. "
            "Default: the log's key is in the folder."
        ),
    ] = None
    download_url: Annotated[
        WebUrl,
        Meta(
            description="URL of a page that offers the app for download, linked by the pages. "
            "Default: the pages explain how to start it from its source code."
        ),
    ] = ""
    download_url_windows: Annotated[
        WebUrl, Meta(description="URL of the app for Windows. Default: download-url.")
    ] = ""
    download_url_macos: Annotated[
        WebUrl, Meta(description="URL of the app for macOS. Default: download-url.")
    ] = ""
    download_url_linux: Annotated[
        WebUrl, Meta(description="URL of the app for Linux. Default: download-url.")
    ] = ""
    webhooks: Annotated[
        OptionalPath,
        Meta(
            description="File (TOML) with the addresses to which news of the network are posted. "
            "Default: none."
        ),
    ] = None
    metrics_host: Annotated[
        Hostname, Meta(description="Host name or address at which /metrics is served.")
    ] = LOOPBACK
    metrics_port: Annotated[
        Port | Literal["off"],
        Meta(
            title="a whole number from 0 to 65535, or off",
            description="TCP port of /metrics (0 = any free port, off = no metrics).",
        ),
    ] = "off"

    @property
    def blob_quota_bytes(self) -> int:
        return self.blob_quota_mb << 20

    @property
    def peer_quota_bytes(self) -> int:
        return self.peer_quota_mb << 20

    def conflicts(self) -> Iterator[tuple[str, str]]:
        """Refuse a threshold that the organisers could never reach."""
        organisers = max(1, len(self.organisers))
        if self.threshold > organisers:
            yield "threshold", f"at most {organisers}: as many as there are organisers"


LEDGER = Program(LedgerSettings, "TEQUIO_LEDGER_", "tequio-ledger settings")
