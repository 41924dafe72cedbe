"""The maintainers' side: a folder that is a mirror, its signed metadata, and the keys for it.

Four roles as TUF has them. Root names all keys and is signed by several people; targets names the
releases and is signed by several, too; snapshot and timestamp only say what is newest, and their
keys may lie on the machine that renews the timestamp every few days. Metadata that still lacks
signatures waits in `pending/`, outside of what is served, until enough maintainers have signed it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from securesystemslib.signer import CryptoSigner, SSlibKey
from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import (
    Metadata,
    MetaFile,
    Root,
    Signed,
    Snapshot,
    TargetFile,
    Targets,
    Timestamp,
)

from tequio_client import files
from tequio_client.platform.bundle import Bundle
from tequio_client.platform.versions import NETWORKS
from tequio_client.releases.mirror import NEWEST
from tequio_shared.errors import UserFacingError
from tequio_shared.version import version_number

_Kind = TypeVar("_Kind", Root, Targets, Snapshot, Timestamp)
ROLES = ("root", "targets", "snapshot", "timestamp")
DAYS = {"root": 365, "targets": 180, "snapshot": 30, "timestamp": 7}
"""Days until metadata of a role expires; each signature renews them."""


SEVERAL = ("root", "targets")
"""Roles that several people may have to sign."""


class ReleaseRepositoryError(UserFacingError):
    """The folder is not a repository, or an operation does not fit its state."""


def create_key(path: Path, passphrase: bytes | None) -> CryptoSigner:
    """Create an Ed25519 key: a private file (PEM, PKCS 8) and PATH.pub, for the others.

    Raises ReleaseRepositoryError and OSError.
    """
    if path.exists():
        raise ReleaseRepositoryError(f"{path} exists: a key is never overwritten")
    key = Ed25519PrivateKey.generate()
    sealed: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if passphrase:
        sealed = serialization.BestAvailableEncryption(passphrase)
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    files.write_private(path, key.private_bytes(pem, pkcs8, sealed))
    files.write_for_user(path.with_name(path.name + ".pub"), public)
    return CryptoSigner(key)


def read_key(path: Path, passphrase: bytes | None) -> CryptoSigner:
    """Raises ReleaseRepositoryError."""
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), passphrase or None)
    except (OSError, ValueError, TypeError) as err:
        raise ReleaseRepositoryError(f"cannot open the key {path}: {err}") from err
    if not isinstance(key, Ed25519PrivateKey):
        raise ReleaseRepositoryError(f"{path} holds no Ed25519 key")
    return CryptoSigner(key)


def read_public_key(path: Path) -> SSlibKey:
    """Raises ReleaseRepositoryError."""
    try:
        key = serialization.load_pem_public_key(path.read_bytes())
    except (OSError, ValueError) as err:
        raise ReleaseRepositoryError(f"cannot read the public key {path}: {err}") from err
    if not isinstance(key, Ed25519PublicKey):
        raise ReleaseRepositoryError(f"{path} holds no Ed25519 key")
    return SSlibKey.from_crypto(key)


class ReleaseRepository:
    """A mirror's folder (`metadata/`, `targets/`, `chunks/`), edited in place."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._metadata, self._pending = folder / "metadata", folder / "pending"

    def create(self, keys: dict[str, list[SSlibKey]], thresholds: dict[str, int]) -> None:
        """Begin a repository with these public keys by role; every role then awaits signatures."""
        if self._metadata.exists():
            raise ReleaseRepositoryError(f"{self.folder} is a repository already")
        root = Root(consistent_snapshot=True)
        for role in ROLES:
            for key in keys[role]:
                root.add_key(key, role)
            root.roles[role].threshold = thresholds[role] if role in SEVERAL else 1
            if len(keys[role]) < root.roles[role].threshold:
                raise ReleaseRepositoryError(f"the role {role} has fewer keys than must sign")
        self._metadata.mkdir(parents=True)
        self._propose("root", root)
        self._propose("targets", Targets())

    def add(self, bundles: Iterable[Bundle], version: str, extra: dict[str, bytes]) -> None:
        """Propose a release, with more small targets by name; its chunks are on the mirror.

        A published version is never replaced, and a lower one does not become the newest.
        Raises ReleaseRepositoryError and MalformedError.
        """
        number = version_number(version)
        targets = self._next("targets", Targets)
        published = self._published_or_none("targets")
        listed = published.signed.targets if published else {}
        contents = {one.target: one.encode() for one in bundles}
        fixed = contents.keys() & listed.keys()
        newest = self._content(listed, NEWEST).decode().strip() if NEWEST in listed else version
        if number >= version_number(newest):
            contents[NEWEST] = version.encode() + b"\n"
        for name, content in (contents | extra).items():
            info = TargetFile.from_data(name, content, ["sha256"])
            if name in fixed and info.hashes != listed[name].hashes:
                raise ReleaseRepositoryError(
                    f"{name} is published with other content: give this build a higher version"
                )
            above, slash, base = name.rpartition("/")
            path = self.folder / "targets" / f"{above}{slash}{info.hashes['sha256']}.{base}"
            path.parent.mkdir(parents=True, exist_ok=True)
            files.write_private(path, content)
            path.chmod(0o644)
            targets.targets[name] = info
        self._propose("targets", targets)

    def rotate(self, role: str, *, add: SSlibKey | None, remove: str, threshold: int) -> None:
        """Propose a root with other keys for a role; old and new root keys sign it.

        What the role's earlier keys have signed is proposed again once that root is published.
        """
        root = self._next("root", Root)
        if add is not None:
            root.add_key(add, role)
        if remove:
            if remove not in root.roles[role].keyids:
                known = ", ".join(root.roles[role].keyids)
                raise ReleaseRepositoryError(f"the role {role} has no key {remove}: it has {known}")
            root.revoke_key(remove, role)
        root.roles[role].threshold = threshold or root.roles[role].threshold
        if role not in SEVERAL and root.roles[role].threshold != 1:
            raise ReleaseRepositoryError(f"the role {role} is signed by one key")
        if len(root.roles[role].keyids) < root.roles[role].threshold:
            raise ReleaseRepositoryError(f"the role {role} would have fewer keys than must sign")
        self._propose("root", root)

    def renew(self, role: str) -> None:
        """Propose the next version of a role with a later expiry and no other change."""
        if role == "root":
            self._propose(role, self._next(role, Root))
        else:
            self._propose(role, self._next(role, Targets))

    def sign(self, keys: Iterable[CryptoSigner]) -> list[str]:
        """Sign what waits for these keys; return the roles that were published by it.

        What lists the newest follows by itself where its keys are among these.
        """
        keys = list(keys)
        published = ["root"] if self._sign_pending("root", keys) else []
        if self._proposed("targets") is None and self._has_lost_signers("targets"):
            self.renew("targets")
        if self._sign_pending("targets", keys):
            published.append("targets")
        if self._sign_pending("snapshot", keys, self._snapshot()):
            published.append("snapshot")
        if self._sign_pending("timestamp", keys, self._timestamp()):
            published.append("timestamp")
        return published

    def waiting(self) -> dict[str, tuple[int, int]]:
        """Signatures and threshold of each role that waits for more."""
        found = {}
        for role in ROLES:
            one = self._proposed(role)
            if one is not None:
                valid, needed = self._verdict(role, one)
                found[role] = (valid, needed)
        return found

    def ends(self) -> dict[str, datetime]:
        """Return when the published metadata of each role expires."""
        published = {role: self._published_or_none(role) for role in ROLES}
        return {role: one.signed.expires for role, one in published.items() if one is not None}

    def trust(self, mirrors: list[str], folder: Path) -> None:
        """Write what a build carries: the present root, mirrors, and the networks on the list."""
        folder.mkdir(parents=True, exist_ok=True)
        files.write_for_user(folder / "root.json", self._published("root").to_bytes())
        files.write_for_user(folder / "mirrors.json", msgspec.json.encode(mirrors) + b"\n")
        targets = self._published("targets").signed.targets
        if NETWORKS in targets:
            files.write_for_user(folder / NETWORKS, self._content(targets, NETWORKS))

    def _content(self, listed: dict[str, TargetFile], name: str) -> bytes:
        hashed = f"{listed[name].hashes['sha256']}.{name}"
        return (self.folder / "targets" / hashed).read_bytes()

    def _snapshot(self) -> Snapshot | None:
        """The snapshot that names today's targets; None if it is published, or may wait."""
        targets = self._published_or_none("targets")
        if targets is None:
            return None
        now = self._next("snapshot", Snapshot)
        meta = MetaFile(version=targets.signed.version)
        may_wait = not _is_old(now) and not self._has_lost_signers("snapshot")
        if now.version > 1 and now.meta["targets.json"] == meta and may_wait:
            return None
        now.meta["targets.json"] = meta
        return now

    def _timestamp(self) -> Timestamp | None:
        snapshot = self._published_or_none("snapshot")
        if snapshot is None:
            return None
        now = self._next("timestamp", Timestamp)
        now.snapshot_meta = MetaFile(version=snapshot.signed.version)
        return now

    def _sign_pending(
        self, role: str, keys: list[CryptoSigner], fresh: Signed | None = None
    ) -> bool:
        root = self._trusted_roots(role)
        allowed = {one for at in root for one in at.roles[role].keyids}
        mine = [key for key in keys if key.public_key.keyid in allowed]
        if not mine:
            return False
        if fresh is not None:
            self._propose(role, fresh)
        proposed = self._proposed(role)
        if proposed is None:
            return False
        for key in mine:
            proposed.sign(key, append=True)
        valid, needed = self._verdict(role, proposed)
        if valid < needed:
            self._write(self._pending / f"{role}.json", proposed)
            return False
        version = proposed.signed.version
        named = role + ".json" if role == "timestamp" else f"{version}.{role}.json"
        self._write(self._metadata / named, proposed)
        (self._pending / f"{role}.json").unlink()
        return True

    def _verdict(self, role: str, proposed: Metadata[Any]) -> tuple[int, int]:
        """Signatures that count, and how many must; a root's count by the old one, too."""
        answers = []
        for root in self._trusted_roots(role):
            result = root.get_verification_result(role, proposed.signed_bytes, proposed.signatures)
            answers.append((len(result.signed), result.threshold))
        return min(answers, key=lambda one: one[0] - one[1])

    def _has_lost_signers(self, role: str) -> bool:
        """Return whether the published metadata of a role lacks signatures of today's keys."""
        published = self._published_or_none(role)
        if published is None:
            return False
        valid, needed = self._verdict(role, published)
        return valid < needed

    def _trusted_roots(self, role: str) -> list[Root]:
        """The roots whose keys count for a role; for a new root that is both it and the old one."""
        published = self._published_or_none("root")
        proposed = self._proposed("root")
        known = [one.signed for one in (published, proposed) if one is not None]
        return known if role == "root" else known[:1]

    def _next(self, role: str, kind: type[_Kind]) -> _Kind:
        waiting = self._proposed(role)
        if waiting is not None and role in SEVERAL:
            return cast("_Kind", waiting.signed)  # nothing was published since: the proposal grows
        published = self._published_or_none(role)
        if published is None:
            return kind()
        signed = cast("_Kind", deepcopy(published.signed))
        signed.version += 1
        return signed

    def _propose(self, role: str, signed: Signed) -> None:
        signed.expires = datetime.now(UTC).replace(microsecond=0) + timedelta(days=DAYS[role])
        self._write(self._pending / f"{role}.json", Metadata(signed))

    def _proposed(self, role: str) -> Metadata[Any] | None:
        """Read what waits for signatures; what a cut left there after its publication is over."""
        proposed = self._read(self._pending / f"{role}.json")
        published = self._published_or_none(role)
        if proposed and published and proposed.signed.version <= published.signed.version:
            return None
        return proposed

    def _published(self, role: str) -> Metadata[Any]:
        found = self._published_or_none(role)
        if found is None:
            raise ReleaseRepositoryError(f"the role {role} is not signed yet: {self.waiting()}")
        return found

    def _published_or_none(self, role: str) -> Metadata[Any] | None:
        if role == "timestamp":
            return self._read(self._metadata / "timestamp.json")
        found = self._metadata.glob(f"*.{role}.json")
        newest = max(found, key=lambda path: int(path.name.partition(".")[0]), default=None)
        return self._read(newest) if newest else None

    def _read(self, path: Path) -> Metadata[Any] | None:
        if not path.is_file():
            return None
        try:
            return Metadata.from_file(os.fspath(path))
        except (RepositoryError, OSError) as err:
            raise ReleaseRepositoryError(f"{path} is damaged: {err}") from err

    def _write(self, path: Path, metadata: Metadata[Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_private(path, metadata.to_bytes())
        path.chmod(0o644)


def _is_old(signed: Signed) -> bool:
    half = timedelta(days=DAYS["snapshot"]) / 2
    return bool(signed.expires - datetime.now(UTC) < half)
