"""The witness's settings.

To add a setting: a field here and a line in `installer/witness.toml`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import platformdirs
from msgspec import Meta, field

from tequio_ledger.config.settings import LOOPBACK, Folder, Host, Port, TrustedProxies
from tequio_ledger.config.sources import Parse, Program, ProgramSettings
from tequio_shared.errors import PeerError
from tequio_shared.log.notes import KeyKind, VerifierKey


def _logs(text: str) -> tuple[VerifierKey, ...]:
    keys = tuple(_log(part) for part in text.split())
    if not keys:
        raise ValueError("the verifier key of at least one log")
    if len({key.name for key in keys}) != len(keys):
        raise ValueError("keys of different logs: one origin is repeated")
    return keys


def _log(text: str) -> VerifierKey:
    try:
        key = VerifierKey.parse(text)
    except PeerError as err:
        raise ValueError(f"verifier keys of logs, which {text!r} is not ({err})") from err
    if key.kind is not KeyKind.LOG:
        raise ValueError(f"verifier keys of logs, which {text!r} is not (a cosigner's key)")
    return key


class WitnessSettings(ProgramSettings, frozen=True, kw_only=True, rename="kebab"):
    """All settings of the witness."""

    folder: Annotated[
        Folder, Meta(description="Folder of the witness's key and of what it cosigned.")
    ] = field(name="dir", default=Path(platformdirs.user_data_dir("tequio-witness")))
    host: Host = LOOPBACK
    port: Port = 8_601
    name: Annotated[
        str,
        Meta(
            min_length=1,
            title="the name of the witness's key, such as witness.example/w1",
            description="Name of the witness's key: an address without a scheme, such as "
            "witness.example/w1. Required.",
        ),
    ]
    logs: Annotated[
        tuple[VerifierKey, ...],
        Parse(_logs),
        Meta(description="Verifier key of a log to cosign. Required; repeatable."),
    ] = field(name="log")
    trusted_proxies: TrustedProxies = field(name="trusted-proxy", default=())


WITNESS = Program(WitnessSettings, "TEQUIO_WITNESS_", "tequio-ledger witness --help")
