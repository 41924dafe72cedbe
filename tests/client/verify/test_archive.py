"""A sealed archive: fetched over http and https alone, and opened beside the entrants' folders."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

import msgspec
import pytest

from tequio_client.verify.archive import fetch_archive, fetch_drawn_texts
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import digest_from_text
from tequio_shared.statements.competitions import EntrantName
from tests.support.attack_table import attack
from tests.support.dishonest_log import DishonestLog
from tests.support.http_servers import serving

if TYPE_CHECKING:
    from pathlib import Path

LOG = DishonestLog()
ARCHIVE = LOG.blobs[digest_from_text(LOG.rules.sealed.archive)]


class SilentHandler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Be silent."""


class ArchiveServer(SilentHandler):
    def do_GET(self) -> None:
        """Send the archive."""
        self.send_response(200 if self.path == "/set.sealed" else 404)
        self.end_headers()
        self.wfile.write(ARCHIVE)


def fetched(target: str, to: Path) -> Path:
    """Fetch the archive from an address that redirects to that one."""

    class Redirect(SilentHandler):
        def do_GET(self) -> None:
            """Redirect."""
            self.send_response(302)
            self.send_header("location", target)
            self.end_headers()

    with serving(Redirect) as url:
        rules = msgspec.structs.replace(LOG.rules, archive=f"{url}/set.sealed")
        return fetch_archive(rules, to / "archive", lambda _: None, "the ledger")


def test_a_redirect_to_another_website_is_followed(tmp_path: Path) -> None:
    with serving(ArchiveServer) as other:
        assert fetched(f"{other}/set.sealed", tmp_path).read_bytes() == ARCHIVE
        with pytest.raises(UserFacingError, match=r"cannot fetch the archive from http.* 404"):
            fetched(f"{other}/gone", tmp_path / "again")


def test_a_redirect_to_ftp_is_refused_before_that_server_is_asked(tmp_path: Path) -> None:
    asked = []

    class FtpServer(SilentHandler):
        def handle(self) -> None:
            """Note that somebody came, and hang up."""
            asked.append(self.client_address)

    with serving(FtpServer) as ftp:
        target = ftp.replace("http:", "ftp:") + "/set.sealed"
        with pytest.raises(UserFacingError, match="cannot fetch the archive from http"):
            fetched(target, tmp_path)
    assert asked == []


@attack("C10", layer="cli", ends="the texts are in a folder that no entrant can be named after")
def test_no_entrant_has_the_name_of_what_is_beside_its_scores(tmp_path: Path) -> None:
    log = DishonestLog().play("reveal")
    texts = fetch_drawn_texts(log.view, tmp_path, log.blob, "the ledger")
    assert len(texts) == log.drawn
    for one in tmp_path.iterdir():
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(one.name, EntrantName)
