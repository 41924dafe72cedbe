"""A mirror of releases that can misbehave, and packages for it: small folders with a program."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tequio_client.platform.bundle import Accelerator, Bundle, pack_folder, this_system
from tequio_client.releases.repository import ROLES, ReleaseRepository, create_key
from tests.support.http_servers import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from securesystemslib.signer import CryptoSigner

    from tequio_client.platform.versions import Part

NEWER = "9.9.9"
"""Version of a release above any that a test is run with."""

Disturb: TypeAlias = Callable[[SimpleHTTPRequestHandler], bool]
"""Answers a request for a chunk in place of the mirror; False: the mirror answers."""

PROGRAM = """#!/bin/sh
# It tests itself as a package does; a file beside it says how that goes.
cd "$(dirname "$0")" && [ "$(cat verdict)" = good ] || { echo "no card of mine" >&2; exit 1; }
[ -z "$XDG_CACHE_HOME" ] || echo compiled > "$XDG_CACHE_HOME/kernel"
echo "$@" > "${TEQUIO_SEEN:-/dev/null}"
"""


class Mirror:
    """A repository of releases with one key a role, served over HTTP; `asked` lists what was."""

    def __init__(self, folder: Path, url: str, asked: list[str]) -> None:
        self.folder, self.url, self.asked = folder, url, asked
        self.repository = ReleaseRepository(folder)
        self.disturb: Disturb | None = None
        """Answers in place of the mirror, and reports whether it did."""
        self.disturbed = "/chunks/"
        """Part of the paths of which it does so."""
        self.keys: dict[str, CryptoSigner] = {}

    def create(self, keys: Path) -> None:
        self.keys = {role: create_key(keys / role, None) for role in ROLES}
        public = {role: [key.public_key] for role, key in self.keys.items()}
        self.repository.create(public, dict.fromkeys(ROLES, 1))
        self.sign()

    def sign(self) -> list[str]:
        return self.repository.sign(self.keys.values())

    def publish(self, version: str, *folders: tuple[Part, Accelerator, Path]) -> list[Bundle]:
        made = [
            pack_folder(
                path,
                self.folder,
                part=part,
                version=version,
                system=this_system(),
                accelerator=accelerator,
            )
            for part, accelerator, path in folders
        ]
        self.repository.add(made, version, {})
        self.sign()
        return made

    def trust(self, folder: Path, *more: str) -> Path:
        self.repository.trust([self.url, *more], folder)
        return folder

    def chunks(self) -> list[Path]:
        return sorted((self.folder / "chunks").rglob("*.xz"))

    def snapshot(self) -> Path:
        """Copy what is served now, to serve it again later."""
        copy = self.folder.with_name(self.folder.name + "-before")
        shutil.copytree(self.folder, copy)
        return copy

    def serve_again(self, copy: Path) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(copy, self.folder)


class _MirrorHandler(SimpleHTTPRequestHandler):
    def __init__(self, mirror: Mirror, *args: object, **kwargs: object) -> None:
        self._mirror = mirror
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self._mirror.asked.append(self.path)
        disturb = self._mirror.disturb if self._mirror.disturbed in self.path else None
        if disturb is None or not disturb(self):
            super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[Mirror]:
    """Serve a folder, which is made if need be, on a free port."""
    folder.mkdir(parents=True, exist_ok=True)
    mirror = Mirror(folder, "", [])
    handler = partial(_MirrorHandler, mirror, directory=str(folder))
    with serving(handler) as url:
        mirror.url = f"{url}/"
        yield mirror


def package(folder: Path, program: str, *, works: bool = True, **more: bytes) -> Path:
    """Make a package's folder: a program, a library, a link to it, and more files by name."""
    (folder / "lib" / "deep").mkdir(parents=True)
    (folder / program).write_text(PROGRAM)
    (folder / program).chmod(0o755)
    (folder / "verdict").write_text("good" if works else "bad")
    (folder / "lib" / "deep" / "common.so.1").write_bytes(_BIG)
    (folder / "lib" / "common.so").symlink_to("deep/common.so.1")
    (folder / "lib" / "empty").touch()
    for name, content in more.items():
        (folder / name).write_bytes(content)
    return folder


_BIG = np.arange(1_200_000, dtype=">u4").tobytes()  # 4.8 MB: two chunks


def tree(folder: Path) -> str:
    """Describe all files of a folder, to compare it with another."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = f"{path.stat().st_mode & 0o111:o} {hash(path.read_bytes())}"
    found.pop("bundle.json", None)
    return json.dumps(found, indent=1)
