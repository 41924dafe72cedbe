"""A local S3 server for tests: moto's, which is installed in its own environment."""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BUCKET = "tequio"
_PLACE = Path(sys.prefix) / "s3" / "bin" / "moto_server"
_PATIENCE_S = 30.0


def program() -> Path | None:
    """The server's program; None when it is not installed."""
    return _PLACE if _PLACE.exists() else None


@contextmanager
def served_or_skipped() -> Iterator[dict[str, str]]:
    """Serve an empty bucket as `served` does, or skip the test where no server is installed."""
    found = program()
    if found is None:
        pytest.skip("no server that speaks S3: `installer/setup.sh tools` brings moto's")
    with served(found) as environment:
        yield environment


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


def key_with_rights(environment: dict[str, str], *actions: str) -> dict[str, str]:
    """Make a user with these rights, and have the server check keys from now on; gives its key."""
    url, name = environment["AWS_ENDPOINT_URL"], secrets.token_hex(8)
    rights = {"Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}
    policy = json.dumps({"Version": "2012-10-17", **rights})
    _check_keys(url, is_on=False)
    _ask_for_key(url, Action="CreateUser", UserName=name)
    _ask_for_key(
        url, Action="PutUserPolicy", UserName=name, PolicyName="rights", PolicyDocument=policy
    )
    answer = _ask_for_key(url, Action="CreateAccessKey", UserName=name)
    _check_keys(url, is_on=True)
    found = [re.search(rf"<{tag}>(.+?)</{tag}>", answer) for tag in ("AccessKeyId", _SECRET)]
    key, secret = (one[1] for one in found if one)
    return {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret}


_SECRET = "SecretAccessKey"  # noqa: S105 - the name of a field


def _ask_for_key(url: str, **fields: str) -> str:
    scope = "Credential=nobody/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0"
    headers = {"Authorization": f"AWS4-HMAC-SHA256 {scope}"}
    answer = httpx.post(url, data={"Version": "2010-05-08", **fields}, headers=headers)
    assert answer.is_success, answer.text
    return answer.text


@contextmanager
def public_bucket(environment: dict[str, str]) -> Iterator[Callable[[], None]]:
    """Serve the bucket to strangers once the given function was called; checks no keys meanwhile.

    While it checks them, moto fails at requests without a key.
    """
    url = environment["AWS_ENDPOINT_URL"]
    places = [f"arn:aws:s3:::{BUCKET}", f"arn:aws:s3:::{BUCKET}/*"]
    rights = {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": places}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [rights]})

    def open_up() -> None:
        assert httpx.put(f"{url}/{BUCKET}?policy", content=policy).is_success

    _check_keys(url, is_on=False)
    try:
        yield open_up
    finally:
        httpx.delete(f"{url}/{BUCKET}?policy")
        _check_keys(url, is_on=True)


def _check_keys(url: str, *, is_on: bool) -> None:
    """Have moto check keys after the first requests: at once, or after very many."""
    httpx.post(f"{url}/moto-api/reset-auth", content=b"0" if is_on else b"1000000")


def inherited() -> dict[str, str]:
    """This process's environment without anything about S3."""
    return {name: one for name, one in os.environ.items() if not name.startswith("AWS_")}


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
