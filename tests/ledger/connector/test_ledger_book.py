"""The connector's memory: numbers stay, vouches stay until they end, challenges work once."""

from __future__ import annotations

import resource
from typing import IO, TYPE_CHECKING

import pytest

from tequio_ledger.connector.ledger import VouchBook
from tequio_ledger.connector.service import LIFE_MS, Challenges
from tequio_ledger.store import files
from tequio_shared.errors import RefusedError, UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.statements.network import MemberVouch
from tests.support.ledgers import VirtualClock

if TYPE_CHECKING:
    from pathlib import Path

OWNER = to_text(sha256(b"owner"))
OTHER = to_text(sha256(b"other"))


def vouch(name: str, owner: str = OWNER, until: int = 100) -> MemberVouch:
    return MemberVouch(peer=to_text(sha256(name.encode())), owner=owner, until=until)


def test_a_number_is_used_once_whatever_became_of_it(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    book = VouchBook(path, 0)
    book.use_number(1)
    book.use_number(2, vouch("a"))
    book.use_number(3, vouch("b"))
    book.use_number(3)
    for one in (book, VouchBook(path, 0), VouchBook(path, 1_000), VouchBook(path, 1_000)):
        assert one.used == 3
    assert "owner" not in path.read_text(), "what is over is forgotten, the number is not"


def test_a_key_counts_for_its_last_owner_while_its_vouch_lasts(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    book = VouchBook(path, 0)
    vouches = (vouch("a"), vouch("b", until=50), vouch("c"), vouch("c", OTHER))
    for seq, body in enumerate(vouches, 2):
        book.use_number(seq, body)
    for one in (book, VouchBook(path, 0)):
        assert set(one.keys_of(OWNER, 0)) == {vouch("a").peer, vouch("b").peer}
        assert set(one.keys_of(OWNER, 50)) == {vouch("a").peer}
        assert set(one.keys_of(OTHER, 0)) == {vouch("c").peer}
        assert one.keys_of(OTHER, 100) == {}


def test_a_vouch_that_came_to_nothing_leaves_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    book = VouchBook(path, 0)
    book.use_number(2, vouch("a"))
    book.use_number(3, vouch("b"))
    for seq in (4, 5):
        book.use_number(seq, vouch("a", OTHER))
        book.use_number(seq)
    book.use_number(6, vouch("c"))
    book.use_number(6)
    for one in (book, VouchBook(path, 0)):
        assert set(one.keys_of(OWNER, 0)) == {vouch("a").peer, vouch("b").peer}
        assert one.keys_of(OTHER, 0) == {}


def test_a_number_is_on_the_disk_before_it_can_be_signed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "said.jsonl"
    book, synced = VouchBook(path, 0), list[bytes]()

    def sync(file: IO[bytes]) -> None:
        file.flush()
        synced.append(path.read_bytes())

    monkeypatch.setattr(files, "sync", sync)
    book.use_number(1, vouch("a"))
    assert synced == [path.read_bytes()]
    assert vouch("a").peer.encode() in synced[0]


def test_a_full_disk_leaves_no_part_of_a_line_in_the_book(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "said.jsonl"
    book, honest = VouchBook(path, 0), files.sync
    book.use_number(1, vouch("a"))
    before = path.read_bytes()

    def sync(file: IO[bytes]) -> None:
        """Have room for a part of what the file has in its buffer."""
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
        try:
            file.flush()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    monkeypatch.setattr(files, "sync", sync)
    with pytest.raises(RefusedError, match="cannot write now"):
        book.use_number(2, vouch("b"))
    assert path.read_bytes() == before
    monkeypatch.setattr(files, "sync", honest)
    book.use_number(2, vouch("b"))
    assert set(VouchBook(path, 0).keys_of(OWNER, 0)) == {vouch("a").peer, vouch("b").peer}


def test_what_is_not_ours_is_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    for content in (b'{"seq":1}\nhello\n', b'{"seq":0}\n', b'{"seq":1,"owner":"x"}\n', b"\xff\n"):
        path.write_bytes(content)
        with pytest.raises(UserFacingError, match="not what this connector wrote"):
            VouchBook(path, 0)


def test_nothing_is_taken_that_the_disk_does_not_take(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    book = VouchBook(folder / "said.jsonl", 0)
    (folder / "said.jsonl").unlink()
    folder.rmdir()
    with pytest.raises(RefusedError) as caught:
        book.use_number(1, vouch("a"))
    assert caught.value.code == "read-only"
    assert book.used == 0
    assert book.keys_of(OWNER, 0) == {}


def test_a_challenge_ends() -> None:
    clock = VirtualClock()
    given = Challenges(clock, max_used=2)
    late, used = given.issue(b"wish"), given.issue(b"wish")
    given.redeem(used, b"wish")
    clock.pass_ms(LIFE_MS + 1)
    for one in (late, used):
        with pytest.raises(RefusedError):
            given.redeem(one, b"wish")
    fresh = [given.issue(b"wish") for _ in range(3)]
    for one in fresh[:2]:
        given.redeem(one, b"wish")
    with pytest.raises(RefusedError, match="too many"):
        given.redeem(fresh[2], b"wish")
    clock.pass_ms(LIFE_MS + 1)
    given.redeem(given.issue(b"wish"), b"wish")
    with pytest.raises(RefusedError):
        Challenges(clock).redeem(given.issue(b"wish"), b"wish")
