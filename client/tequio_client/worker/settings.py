"""Settings of a worker or a seed, checked once when it starts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from msgspec import structs

from tequio_client.cli import LISTEN_EVERYWHERE
from tequio_client.ipc.cell import CellPlace, Division, local_place, place_from_variables
from tequio_client.ledger.networks import NO_LEDGER
from tequio_client.platform import cell_network
from tequio_client.worker.swarm.listening import check_announced
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import PeerKey, parse_key
from tequio_shared.limits import RECEIVERS
from tequio_shared.log.policy import Policy
from tequio_shared.statements.network import Role

ROLES: tuple[Role, ...] = ("trainer", "witness")
MIN_QUOTA_BYTES = 64 << 20
_DEVICE = re.compile(r"auto|cpu|mps|(cuda|xpu)(:[0-9]{1,3})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsAddress:
    """Address at which Prometheus finds the metrics; port 0: any free one."""

    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OtlpEndpoint:
    """Base address of an OpenTelemetry collector that metrics are pushed to."""

    url: str
    every_s: float = 60.0
    """Seconds from one push to the next: the interval that OpenTelemetry's specification has."""

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise UserFacingError(
                f"invalid address of a collector {self.url!r} (--otlp-endpoint or "
                "OTEL_EXPORTER_OTLP_ENDPOINT): it must start with http:// or https://"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class NetSettings:
    """Folder, ledger, addresses and limits; the same for workers and seeds."""

    ledger: str
    folder: Path
    listen: tuple[str, ...] = LISTEN_EVERYWHERE
    announce: tuple[str, ...] = ()
    bootstrap: tuple[str, ...] = ()
    public_only: bool = False
    """True if peers may come through something that hides where they come from."""
    opens_router_port: bool = False
    """True to ask the home's router for an open port."""
    finds_lan_peers: bool = False
    """True to announce this peer in the local network, and to look for others there."""
    wait_for_ledger_s: float = 60.0
    quota_bytes: int = 20 << 30
    upload_bytes_per_s: float | None = None
    download_bytes_per_s: float | None = None
    run: str | None = None
    status_lines: bool = False
    metrics: MetricsAddress | None = None
    otlp: OtlpEndpoint | None = None
    release_mirror: Path | None = None
    """Folder of a mirror of releases whose chunks peers may fetch; None: those installed here."""
    trust: Policy | None = None
    """Policy that names the witnesses that must cosign the log; None: its signature is enough."""

    def __post_init__(self) -> None:
        if not self.ledger.startswith(("http://", "https://")) and self.ledger != NO_LEDGER:
            raise UserFacingError(
                f"invalid ledger address {self.ledger!r}: it must start with http:// or https://"
            )
        if self.quota_bytes < MIN_QUOTA_BYTES:
            raise UserFacingError(
                f"a storage limit of {self.quota_bytes / (1 << 30):.3g} GiB is too small: use "
                f"--quota-gib {MIN_QUOTA_BYTES / (1 << 30)} or more"
            )
        check_announced(self.announce)

    @property
    def publishes_metrics(self) -> bool:
        return self.metrics is not None or self.otlp is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainerSettings:
    """Device and limits of the trainer of a worker started by hand."""

    device: str = "auto"
    threads: int = 1
    memory_mb: int = 0
    share_percent: int = 100
    log_style: Literal["console", "json"] = "console"
    cell: CellPlace | None = None
    """Place of this worker's trainer in a cell; `device` is then its own device."""
    rank_owners: Mapping[int, PeerKey] = field(default_factory=dict)
    """Keys of other owners, by the ranks of the cell that are theirs: each gets its part of the
    points. Read at each contribution, for guests of a cell come and go."""

    def __post_init__(self) -> None:
        self._check_owners()
        for device in (self.device, *(self.cell.devices if self.cell else ())):
            if not _DEVICE.fullmatch(device):
                raise UserFacingError(
                    f"unknown device {device!r}: use auto, cpu, mps, cuda or xpu, or name one "
                    "such as cuda:1"
                )

    def _check_owners(self) -> None:
        if self.rank_owners and self.cell is None:
            raise UserFacingError("--share-points names ranks of a cell: start one with --cell")
        size = self.cell.size if self.cell else 0
        for rank in self.rank_owners:
            if not 1 <= rank < size:
                raise UserFacingError(
                    f"--share-points names rank {rank}: this cell has ranks 1 to {size - 1} beside "
                    "this worker's own, rank 0"
                )
        owners = len(set(self.rank_owners.values()))
        if owners > RECEIVERS:
            raise UserFacingError(
                f"--share-points names {owners} keys: a cell shares with at most {RECEIVERS}"
            )


def rank_owners(options: Iterable[str]) -> dict[int, PeerKey]:
    """Read `--share-points` options, RANK=KEY each; raises UserFacingError."""
    owners = dict[int, PeerKey]()
    for option in options:
        rank, equals, key = option.partition("=")
        if not equals or not rank.isdecimal() or not rank.isascii():
            raise UserFacingError(
                f"--share-points is {option!r}: expected a rank and its owner's key, as in "
                "1=12D3KooW…"
            )
        if int(rank) in owners:
            raise UserFacingError(f"--share-points names rank {int(rank)} twice")
        owners[int(rank)] = receiver_key("--share-points", key)
    return owners


def receiver_key(option: str, text: str) -> PeerKey:
    """Read an option's key that receives points; raises UserFacingError."""
    try:
        return parse_key(text)
    except MalformedError as err:
        raise UserFacingError(
            f"{option}: {text[:80]!r} is not a key ({err}): its owner reads it with "
            "`tequio key show`"
        ) from err


def cell_place(
    cell: str, device: str, variables: Mapping[str, str], division: Division
) -> CellPlace:
    """Place of this process in the cell of `--cell`; raises UserFacingError.

    `cell` is a list of devices, or `env`: the variables of torchrun, Slurm or Kubernetes.
    """
    if cell == "env":
        place = place_from_variables(variables, device)
        address = cell_network.resolve(place.address, place.port)
        return structs.replace(place, address=address, division=division)
    if device != "auto":
        raise UserFacingError(f"--cell names the devices: omit --device {device}")
    place = local_place([one.strip() for one in cell.split(",")])
    return structs.replace(place, division=division)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    net: NetSettings
    trainer: TrainerSettings = field(default_factory=TrainerSettings)
    roles: tuple[Role, ...] = ROLES
    applies_preferences: bool = False
    """True if saved preferences and the state of the computer decide when to lend."""
    is_linked: bool = False
    """True if the app started this process and controls it through standard input."""
    is_judge: bool = False  # True to help judge competitions even if the preferences say no

    def __post_init__(self) -> None:
        if not self.roles or list(self.roles) != sorted(set(self.roles) & set(ROLES)):
            raise UserFacingError(f"invalid roles {self.roles}: use trainer, witness or both")
        if self.trainer.cell is not None and self.applies_preferences:
            raise UserFacingError(
                "--cell and --apply-preferences exclude each other: the preferences decide about "
                "each device by itself"
            )
