"""What a worker or seed was told at its start."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.log.policy import Policy
    from tequio_shared.statements.network import Role

ROLES: tuple[Role, ...] = ("trainer", "witness")
LEAST_QUOTA_BYTES = 64 << 20
_DEVICE = re.compile(r"auto|cpu|mps|(cuda|xpu)(:[0-9]{1,3})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetSettings:
    """Where we are and whom we talk to; the same for workers and seeds."""

    ledger: str
    folder: Path
    listen: tuple[str, ...] = ("/ip4/0.0.0.0/tcp/0",)
    announce: tuple[str, ...] = ()
    bootstrap: tuple[str, ...] = ()
    wait_for_ledger_s: float = 60.0
    quota_bytes: int = 20 << 30
    upload_bytes_per_s: float | None = None
    download_bytes_per_s: float | None = None
    run: str | None = None
    status_lines: bool = False
    trust: Policy | None = None
    """Which witnesses must have cosigned the log; None: its own signature is enough."""

    def __post_init__(self) -> None:
        if not self.ledger.startswith(("http://", "https://")):
            raise UserFacingError(
                f"the ledger's address must start with http:// or https://, not {self.ledger!r}"
            )
        if self.quota_bytes < LEAST_QUOTA_BYTES:
            raise UserFacingError(
                f"a quota of {self.quota_bytes / (1 << 30):.3g} GiB is too small: give at least "
                f"{LEAST_QUOTA_BYTES / (1 << 30)} with --quota-gib"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainerSettings:
    """How much of the machine the trainer may take."""

    device: str = "auto"
    threads: int = 1
    memory_mb: int = 0
    share_percent: int = 100
    log_style: Literal["console", "json"] = "console"

    def __post_init__(self) -> None:
        if not _DEVICE.fullmatch(self.device):
            raise UserFacingError(
                f"there is no kind of device called {self.device!r}: "
                "give auto, cpu, mps, cuda, cuda:1, xpu or the like"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """A volunteer's worker."""

    net: NetSettings
    trainer: TrainerSettings = field(default_factory=TrainerSettings)
    roles: tuple[Role, ...] = ROLES
    is_minded: bool = False
    """Whether the stored preferences and the facts of the machine decide when to lend."""
    is_linked: bool = False
    """Whether an app started us and speaks on our standard input."""
    is_judge: bool = False
    """Whether to help to judge competitions whatever the preferences say."""

    def __post_init__(self) -> None:
        if not self.roles or list(self.roles) != sorted(set(self.roles) & set(ROLES)):
            raise UserFacingError(f"roles must be trainer, witness or both, not {self.roles}")
