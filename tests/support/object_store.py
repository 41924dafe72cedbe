"""A local S3 server for tests: moto's, which is installed in its own environment."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator

BUCKET = "tequio"
_PLACE = Path(sys.prefix) / "s3" / "bin" / "moto_server"
_PATIENCE_S = 30.0


def program() -> Path | None:
    """The server's program; None when it is not installed."""
    found = shutil.which("moto_server")
    return _PLACE if _PLACE.exists() else Path(found) if found else None


@contextmanager
def served(command: Path) -> Iterator[dict[str, str]]:
    """Serve an empty bucket; yields the environment variables for it."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen(
        [command, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            _make_bucket(url)
            yield {
                "AWS_ENDPOINT_URL": url,
                "AWS_ALLOW_HTTP": "true",
                "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": "nobody",
                "AWS_SECRET_ACCESS_KEY": "nothing",
            }
        finally:
            server.kill()


def _make_bucket(url: str) -> None:
    deadline_s = time.monotonic() + _PATIENCE_S
    while True:
        try:
            assert httpx.put(f"{url}/{BUCKET}").is_success
        except httpx.TransportError:
            assert time.monotonic() < deadline_s, "the S3 server does not start"
            time.sleep(0.1)
        else:
            return
