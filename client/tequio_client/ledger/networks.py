"""The networks that a person can join, and the ledger in use.

The ledger in use is the one that the app was set up with, or that was chosen in it later: the
field `ledger` of `app.json` in the folder of the app's settings. The app, its start at login and
the command line all read it there; `--ledger` and the variable TEQUIO_LEDGER win over it. The
networks that the user added are in `networks.json` beside it; a release brings a signed list of
more (`platform.versions.proposed_networks`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import platformdirs

from tequio_client import files
from tequio_client.platform.versions import proposed_networks

APP_FILE = "app.json"
NETWORKS_FILE = "networks.json"
NO_LEDGER = "none:"
"""The address with which the app starts a worker before the user has chosen a network."""
MOST_BYTES = 1 << 20
MOST_NETWORKS = 256
_USUAL_SCHEME = "https://"
_URL = re.compile(r"https?://[^\s/?#@\\]+(/[^\s?#]*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNetwork:
    name: str
    url: str
    """Address of its ledger."""
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    networks: tuple[KnownNetwork, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _InUse:
    """The one field of the app's settings that is read here."""

    ledger: str = ""


def user_settings_folder() -> Path:
    return Path(platformdirs.user_config_dir("tequio"))


def known_networks(folder: Path | None = None) -> tuple[KnownNetwork, ...]:
    """The networks to choose from: those that the user added, then those of the signed list.

    `folder` is that of the settings, by default the user's.
    """
    added = added_networks(folder)
    urls = {one.url for one in added}
    proposed = [one for one in _decode(proposed_networks()) if is_ledger_address(one.url)]
    return (*added, *(one for one in proposed if one.url not in urls))


def added_networks(folder: Path | None = None) -> tuple[KnownNetwork, ...]:
    return _decode(_read(folder or user_settings_folder(), NETWORKS_FILE))


def add_network(network: KnownNetwork, folder: Path | None = None) -> None:
    """Add a network, in place of one with the same address; raises OSError."""
    others = [one for one in added_networks(folder) if one.url != network.url]
    _write((*others, network)[-MOST_NETWORKS:], folder or user_settings_folder())


def remove_network(named: str) -> KnownNetwork | None:
    """Remove the network of that address or name; None: there is none. Raises OSError."""
    networks = added_networks()
    url = clean_ledger_address(named)
    found = next((one for one in networks if named == one.name or url == one.url), None)
    if found is not None:
        _write([one for one in networks if one != found], user_settings_folder())
    return found


def chosen_ledger(worker_folder: Path | None = None) -> str:
    """The ledger in use, where no other is named; empty: no network was chosen yet.

    `worker_folder` may have settings of its own, as that of an app which is tried out has. Without
    a choice in the app, the only known network counts.
    """
    folders = [] if worker_folder is None else [worker_folder / "settings"]
    for folder in (*folders, user_settings_folder()):
        try:
            chosen = msgspec.json.decode(_read(folder, APP_FILE), type=_InUse).ledger
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            chosen = ""
        if chosen:
            return chosen
    known = known_networks()
    return known[0].url if len(known) == 1 else ""


def clean_ledger_address(text: str) -> str:
    """The address as it is stored: without spaces around it, with a scheme, without a last slash.

    An address without a scheme gets https.
    """
    address = "".join(text.split()).rstrip("/")
    has_scheme = not address or "://" in address or address.startswith("tequio:")
    return address if has_scheme else f"{_USUAL_SCHEME}{address}"


def is_ledger_address(address: str) -> bool:
    """True for an http or https address without a password, which every user here could read."""
    return _URL.fullmatch(address) is not None


def _decode(content: bytes) -> tuple[KnownNetwork, ...]:
    try:
        return msgspec.json.decode(content, type=_Listed).networks
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ()


def _read(folder: Path, name: str) -> bytes:
    try:
        with (folder / name).open("rb") as file:
            return file.read(MOST_BYTES)
    except OSError:
        return b""


def _write(networks: Sequence[KnownNetwork], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    content = msgspec.json.format(msgspec.json.encode(_Listed(networks=tuple(networks))))
    files.write_private(folder / NETWORKS_FILE, content)
