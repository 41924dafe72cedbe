"""A mirror of a run's data on loopback, as a web server or an object storage; it can misbehave."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, TypeAlias

from tests.support.http_servers import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Disturb: TypeAlias = Callable[["DataMirrorHandler"], bool]
"""Answers a request in place of the mirror; False: the mirror answers."""


class DataMirror:
    """The served folder; `asked` lists paths, `sent_bytes` counts content."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = ""
        self.asked: list[str] = []
        self.sent_bytes = 0
        self.disturb: Disturb = lambda _: False


class DataMirrorHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, mirror: DataMirror, *args: object) -> None:
        self.mirror = mirror
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self.mirror.asked.append(self.path)
        if self.mirror.disturb(self):
            return
        path = self.mirror.folder / self.path.rsplit("/", 1)[-1]
        if not path.is_file():
            self.reply(404, b"not here")
            return
        content = path.read_bytes()
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range", ""))
        if span is None:
            self.reply(200, content)
            return
        first, last = int(span[1]), min(int(span[2]), len(content) - 1)
        where = {"content-range": f"bytes {first}-{last}/{len(content)}"}
        self.reply(206, content[first : last + 1], where)

    def reply(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "content-length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):  # enough was read
            self.wfile.write(content)
        self.mirror.sent_bytes += len(content)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def data_mirror(folder: Path) -> Iterator[DataMirror]:
    """Serve a folder on a free port."""
    mirror = DataMirror(folder)
    with serving(partial(DataMirrorHandler, mirror)) as url:
        mirror.url = f"{url}/data"
        yield mirror
