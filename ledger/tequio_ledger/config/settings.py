"""What the service was asked to be: one frozen value, read once at its start.

To add a setting: a constant here, in `ALL`, with a field in `Settings`, and a line in
`installer/ledger.toml`. Options, environment variables and keys of the file follow from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from tequio_ledger import runtime
from tequio_ledger.config.sources import (
    DEFAULT,
    Form,
    Gathered,
    Given,
    Reader,
    Setting,
    choice,
    flag,
    host,
    many,
    maybe_place,
    network,
    number,
    origin,
    pattern,
    place,
)
from tequio_shared import ids
from tequio_shared.errors import TequioError
from tequio_shared.keys import check_key
from tequio_shared.network.genesis import WORK_BITS as MOST_WORK_BITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from ipaddress import IPv4Network, IPv6Network

    from tequio_shared.ids import PeerKey

# --- The settings of every program's own log.

LOG_JSON = Setting(
    name="log-json",
    default="false",
    parse=flag,
    help="Log as JSON lines, for machines.",
    form=Form.FLAG,
)
LOG_LEVEL = Setting(
    name="log-level",
    default="info",
    parse=choice(runtime.LEVELS),
    help="Least weight of what is logged.",
    choices=runtime.LEVELS,
)


# --- The settings of every program that answers over HTTP.

HOST = Setting(
    name="host",
    default="127.0.0.1",
    parse=host,
    help="Address to listen on.",
)
TRUSTED_PROXY = Setting(
    name="trusted-proxy",
    default="",
    parse=many(network),
    help="Network whose x-forwarded-for is believed; repeat.",
    form=Form.LIST,
)


def port(default: int) -> Setting[int]:
    """Where it listens."""
    return Setting(
        name="port",
        default=str(default),
        parse=number(0, 65_535),
        help="Port; 0 takes a free one.",
        form=Form.NUMBER,
    )


def request_rate(default: int) -> Setting[int]:
    """How often one address may ask."""
    return Setting(
        name="request-rate",
        default=str(default),
        parse=number(0, 1 << 20),
        help="HTTP requests/s of a network address; 0: any.",
        form=Form.NUMBER,
    )


_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_DATABASES = ("sqlite:///", "postgresql+psycopg://")
_BLOB_STORES = ("s3://", "file:///")


def _database(text: str) -> str:
    if text and not text.startswith(_DATABASES):
        raise ValueError(f"a URL that begins with {' or '.join(_DATABASES)}")
    return text


def _blobs(text: str) -> str:
    if text and not text.startswith(_BLOB_STORES):
        raise ValueError(f"a URL that begins with {' or '.join(_BLOB_STORES)}")
    return text


def _port_or_off(text: str) -> int | None:
    try:
        return None if text == "off" else number(0, 65_535)(text)
    except ValueError as err:
        raise ValueError(f"{err}, or off") from err


def _key(text: str) -> PeerKey:
    try:
        return check_key(ids.key_from_text(text))
    except TequioError as err:
        raise ValueError(f"public keys, which {text!r} is not ({err})") from err


def _keys(text: str) -> tuple[PeerKey, ...]:
    keys = many(_key)(text)
    if len(set(keys)) != len(keys):
        raise ValueError("keys of different people: one is there twice")
    return tuple(sorted(keys))


DIR = Setting(
    name="dir",
    default=platformdirs.user_data_dir("tequio-ledger"),
    parse=place,
    help="Where everything is kept.",
)
DATABASE = Setting(
    name="database",
    default="",
    parse=_database,
    help="URL: postgresql+psycopg://user@host/name; without one, SQLite in the folder.",
)
BLOBS = Setting(
    name="blobs",
    default="",
    parse=_blobs,
    help="URL of what all replicas keep blobs in: s3://bucket/prefix; without one, the folder.",
)
PORT = port(8_600)
NETWORK = Setting(
    name="network",
    default="tequio",
    parse=pattern(_NAME, "1 to 32 of a-z, 0-9 and -"),
    help="Name of the network.",
)
ORIGIN = Setting(
    name="origin",
    default="localhost/tequio",
    parse=origin,
    help="Log's name.",
)
ORGANISER = Setting(
    name="organiser",
    default="",
    parse=_keys,
    help="Key that may open runs; repeat.",
    form=Form.LIST,
)
THRESHOLD = Setting(
    name="threshold",
    default="1",
    parse=number(1, 255),
    help="Organisers who must sign.",
    form=Form.NUMBER,
)
WORK_BITS = Setting(
    name="work-bits",
    default="20",
    parse=number(0, MOST_WORK_BITS),
    help="Work of a new key.",
    form=Form.NUMBER,
)
BLOB_QUOTA_MB = Setting(
    name="blob-quota-mb",
    default="4096",
    parse=number(1, 1 << 30),
    help="All blobs together.",
    form=Form.NUMBER,
)
PEER_QUOTA_MB = Setting(
    name="peer-quota-mb",
    default="64",
    parse=number(0, 1 << 20),
    help="Blobs of one peer.",
    form=Form.NUMBER,
)
REQUEST_RATE = request_rate(500)
KEY_RATE = Setting(
    name="key-rate",
    default="10",
    parse=number(0, 1 << 20),
    help="Statements/s of a key; 0: any.",
    form=Form.NUMBER,
)
ADDRESS_RATE = Setting(
    name="address-rate",
    default="100",
    parse=number(0, 1 << 20),
    help="The same, of a network address.",
    form=Form.NUMBER,
)
ADDRESS_STREAMS = Setting(
    name="address-streams",
    default="64",
    parse=number(0, 1 << 20),
    help="Its event streams; 0: any.",
    form=Form.NUMBER,
)
TRUST = Setting(
    name="trust",
    default="",
    parse=maybe_place,
    help="Policy file (C2SP tlog-policy): the witnesses, and how many must cosign.",
)
PUBLISH_PAUSE_MS = Setting(
    name="publish-pause-ms",
    default="1000",
    parse=number(0, 60_000),
    help="Pause between two questions to the witnesses.",
    form=Form.NUMBER,
)
SIGNER = Setting(
    name="signer",
    default="",
    parse=maybe_place,
    help="Unix socket of `tequio-ledger sign`; without one, the log's key is in the folder.",
)
METRICS_HOST = Setting(
    name="metrics-host",
    default="127.0.0.1",
    parse=host,
    help="Address at which /metrics is served.",
)
METRICS_PORT = Setting(
    name="metrics-port",
    default="off",
    parse=_port_or_off,
    help="Its port; 0 takes a free one, off serves none.",
)
ALL: tuple[Setting[Any], ...] = (
    DIR,
    DATABASE,
    BLOBS,
    HOST,
    PORT,
    NETWORK,
    ORIGIN,
    ORGANISER,
    THRESHOLD,
    WORK_BITS,
    BLOB_QUOTA_MB,
    PEER_QUOTA_MB,
    REQUEST_RATE,
    KEY_RATE,
    ADDRESS_RATE,
    ADDRESS_STREAMS,
    TRUSTED_PROXY,
    TRUST,
    PUBLISH_PAUSE_MS,
    SIGNER,
    METRICS_HOST,
    METRICS_PORT,
    LOG_JSON,
    LOG_LEVEL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that a person may choose; the genesis fields count at the first start only."""

    folder: Path
    database: str
    """URL; empty for SQLite in the folder."""
    blobs: str
    """URL; empty for the folder alone."""
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
    request_rate: int
    """Requests per second from one network address, ten times that at once; 0 sets no limit."""
    key_rate: int
    """Statements per second of one key, ten times that at once; 0 sets no limit, as below."""
    address_rate: int
    """Statements per second from one network address (IPv4 /24, IPv6 /48), ten times at once."""
    address_streams: int
    """Most event streams that one network address may hold open."""
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...]
    """Where a proxy of ours may sit, whose word on who asks is believed."""
    trust: Path | None
    """The policy of the log; None asks no witness."""
    publish_pause_ms: int
    signer: Path | None
    """Where the log's key answers; None when it is in the folder."""
    metrics_host: str
    metrics_port: int | None
    """None serves no metrics."""
    log_json: bool
    """Whether the log is for machines."""
    log_level: str


def read(gathered: Gathered) -> Settings:
    """Turn texts into settings; raises UserFacingError naming every fault at once."""
    reader = Reader(gathered)
    settings = Settings(
        folder=reader.of(DIR, Path()),
        database=reader.of(DATABASE, ""),
        blobs=reader.of(BLOBS, ""),
        host=reader.of(HOST, ""),
        port=reader.of(PORT, 0),
        network=reader.of(NETWORK, ""),
        origin=reader.of(ORIGIN, ""),
        organisers=reader.of(ORGANISER, ()),
        threshold=reader.of(THRESHOLD, 1),
        work_bits=reader.of(WORK_BITS, 0),
        blob_quota_bytes=reader.of(BLOB_QUOTA_MB, 0) << 20,
        peer_quota_bytes=reader.of(PEER_QUOTA_MB, 0) << 20,
        request_rate=reader.of(REQUEST_RATE, 0),
        key_rate=reader.of(KEY_RATE, 0),
        address_rate=reader.of(ADDRESS_RATE, 0),
        address_streams=reader.of(ADDRESS_STREAMS, 0),
        trusted_proxies=reader.of(TRUSTED_PROXY, ()),
        trust=reader.of(TRUST, None),
        publish_pause_ms=reader.of(PUBLISH_PAUSE_MS, 0),
        signer=reader.of(SIGNER, None),
        metrics_host=reader.of(METRICS_HOST, ""),
        metrics_port=reader.of(METRICS_PORT, None),
        log_json=reader.of(LOG_JSON, False),  # noqa: FBT003 - a value among others
        log_level=reader.of(LOG_LEVEL, ""),
    )
    organisers = max(1, len(gathered.values[ORGANISER.name].text.split()))
    if settings.threshold > organisers:
        reader.fault(THRESHOLD, f"at most {organisers}: as many as there are organisers")
    reader.finish()
    return settings


def read_places(gathered: Gathered) -> tuple[Path, str]:
    """Give the ledger's folder and database; raises UserFacingError naming every fault of both."""
    reader = Reader(gathered)
    folder, database = reader.of(DIR, Path()), reader.of(DATABASE, "")
    reader.finish()
    return folder, database


def of_texts(texts: Mapping[str, str]) -> Gathered:
    """Take some settings as given, and the defaults for the rest."""
    defaults = {setting.name: Given(setting.default, DEFAULT) for setting in ALL}
    given = {name: Given(text, f"--{name}") for name, text in texts.items()}
    return Gathered({**defaults, **given})


def lines(gathered: Gathered) -> Iterator[str]:
    """Write every setting as a settings file has it, with its source; passwords hidden."""
    for setting in ALL:
        given = gathered.values[setting.name]
        yield f"{setting.name} = {setting.written(given.text)}  # {given.source}"
