"""What the signer was asked to be: one frozen value, read once at its start.

To add a setting: a constant here, in `ALL`, with a field in `Settings`, and a line in
`installer/sign.toml`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from tequio_ledger.settings.logging import LOG_JSON, LOG_LEVEL
from tequio_ledger.settings.reader import Reader
from tequio_ledger.settings.setting import Form, Setting, many, maybe_place, origin, place
from tequio_ledger.settings.sources import Program
from tequio_ledger.signing.callers import user

if TYPE_CHECKING:
    from tequio_ledger.settings.sources import Gathered

PROGRAM = Program("TEQUIO_SIGN_", "tequio-ledger sign --help")

DIR = Setting(
    name="dir",
    default=platformdirs.user_data_dir("tequio-signer"),
    parse=place,
    help="Where the log's key and the last signed size are kept.",
)
SOCKET = Setting(
    name="socket",
    default="",
    parse=maybe_place,
    help="Unix socket to answer at; sign.socket in the folder if not given.",
)
ORIGIN = Setting(
    name="origin",
    default="",
    parse=origin,
    help="Name of the one log that is signed, such as ledger.example/net1.",
)
CALLER = Setting(
    name="caller",
    default="",
    parse=many(user),
    help="User that may ask, by name or number; repeat. This process's own if not given.",
    form=Form.LIST,
)

ALL: tuple[Setting[Any], ...] = (DIR, SOCKET, ORIGIN, CALLER, LOG_JSON, LOG_LEVEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that an operator may choose."""

    folder: Path
    socket: Path
    origin: str
    callers: frozenset[int]
    """Numbers of the users that may ask."""
    log_json: bool
    log_level: str


def read(gathered: Gathered) -> Settings:
    """Turn texts into settings; raises UserFacingError naming every fault at once."""
    reader = Reader(gathered)
    folder = reader.of(DIR, Path())
    callers = reader.of(CALLER, ()) or (os.getuid(),)
    settings = Settings(
        folder=folder,
        socket=reader.of(SOCKET, None) or folder / "sign.socket",
        origin=reader.of(ORIGIN, ""),
        callers=frozenset(callers),
        log_json=reader.of(LOG_JSON, False),  # noqa: FBT003 - a value among others
        log_level=reader.of(LOG_LEVEL, ""),
    )
    reader.finish()
    return settings
