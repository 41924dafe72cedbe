"""The networks that a person can join, and the ledger in use.

The ledger in use is the one that the app was set up with, or that was chosen in it later: the
field `ledger` of `app.json` in the folder of the app's settings. The app, its start at login and
the command line all read it there; `--ledger` and the variable TEQUIO_LEDGER win over it. The
networks that the user added are in `networks.json` beside it; a release brings a signed list of
more (`platform.versions.proposed_networks`). Either may have the policy by which a network's log is
believed, so that everybody has it, and not only who gives `--trust`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import platformdirs

from tequio_client import files
from tequio_client.platform.versions import proposed_networks
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, UserFacingError

if TYPE_CHECKING:
    from tequio_shared.log.policy import Policy

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
    policy: str = ""
    """Policy file of its log's witnesses (c2sp.org/tlog-policy); empty: none is required."""


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

    `folder` is that of the settings, by default the user's. Raises UserFacingError.
    """
    added = added_networks(folder)
    urls = {one.url for one in added}
    return (*added, *(one for one in _proposed() if one.url not in urls))


def added_networks(folder: Path | None = None) -> tuple[KnownNetwork, ...]:
    """Read the networks that the user added; raises UserFacingError if their file is damaged."""
    place = folder or user_settings_folder()
    content = _read(place, NETWORKS_FILE)
    try:
        return _decode(content) if content else ()
    except MalformedError as err:
        # Not an empty list: the next network would replace the file, and its policies with it.
        raise UserFacingError(
            f"{place / NETWORKS_FILE} is not a list of networks ({err}): mend it, or move it away "
            "and add your networks again"
        ) from err


def add_network(network: KnownNetwork, folder: Path | None = None) -> None:
    """Add a network, in place of one with the same address; raises OSError and UserFacingError.

    What was known about that one, and is not given again, stays.
    """
    added = added_networks(folder)
    before = next((one for one in added if one.url == network.url), network)
    kept = replace(
        network,
        description=network.description or before.description,
        policy=network.policy or before.policy,
    )
    others = [one for one in added if one.url != network.url]
    _write((*others, kept)[-MOST_NETWORKS:], folder or user_settings_folder())


def remove_network(named: str) -> KnownNetwork | None:
    """Remove the network of that address or name; None: there is none.

    Raises OSError and UserFacingError.
    """
    networks = added_networks()
    url = clean_ledger_address(named)
    found = next((one for one in networks if named == one.name or url == one.url), None)
    if found is not None:
        _write([one for one in networks if one != found], user_settings_folder())
    return found


def chosen_ledger(worker_folder: Path | None = None) -> str:
    """The ledger in use, where no other is named; empty: no network was chosen yet.

    `worker_folder` may have settings of its own, as that of an app which is tried out has. Without
    a choice in the app, the only known network counts. Raises UserFacingError.
    """
    for folder in _settings_folders(worker_folder):
        try:
            chosen = encoding.read(_read(folder, APP_FILE), _InUse).ledger
        except MalformedError:
            chosen = ""
        if chosen:
            return chosen
    known = known_networks()
    return known[0].url if len(known) == 1 else ""


def read_policy(
    path: Path | None, ledger: str = "", worker_folder: Path | None = None
) -> Policy | None:
    """Read the policy file of --trust, or else the policy that is listed with a ledger's network.

    None: the log's own signature is enough. Raises UserFacingError.
    """
    if path is None:
        listed = _listed_policy(clean_ledger_address(ledger), worker_folder)
        source = f"the policy that is listed with the network at {ledger}"
        return parse_policy(listed.encode(), source) if listed else None
    try:
        with path.open("rb") as file:
            return parse_policy(file.read(MOST_BYTES), str(path))
    except OSError as err:
        raise UserFacingError(
            f"cannot read the policy {path} ({err.strerror}): check the path given with --trust"
        ) from err


def parse_policy(content: bytes, source: str) -> Policy:
    """Parse a policy (c2sp.org/tlog-policy); raises UserFacingError, which names the source."""
    from tequio_shared.log.policy import Policy  # noqa: PLC0415 - it loads the signature library

    try:
        return Policy.parse(content)
    except MalformedError as err:
        raise UserFacingError(f"{source} is not a valid policy: {err}") from err


def read_list(path: Path) -> bytes:
    """Read a list of networks that is to be published; raises OSError, and UserFacingError."""
    content = path.read_bytes()
    try:
        listed = _decode(content)
    except MalformedError as err:
        raise UserFacingError(f"{path} is not a list of networks: {err}") from err
    for one in listed:
        if not is_ledger_address(one.url):
            raise UserFacingError(f"{path}: {one.url!r} is not the address of a ledger")
        if one.policy:
            parse_policy(one.policy.encode(), f"{path}: that of {one.name}")
    return content


def _listed_policy(url: str, worker_folder: Path | None) -> str:
    """A policy of the user comes first; one without any does not hide that of the signed list."""
    added = (one for folder in _settings_folders(worker_folder) for one in added_networks(folder))
    known = (*added, *_proposed()) if url else ()
    return next((one.policy for one in known if one.url == url and one.policy), "")


def _settings_folders(worker_folder: Path | None) -> tuple[Path, ...]:
    own = () if worker_folder is None else (worker_folder / "settings",)
    return (*own, user_settings_folder())


def _proposed() -> Iterator[KnownNetwork]:
    try:
        proposed = _decode(proposed_networks())
    except MalformedError:
        return iter(())
    return (one for one in proposed if is_ledger_address(one.url))


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
    return encoding.read(content, _Listed).networks


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
