"""The outbox's file: what it refuses, and how it names what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_client.runtime import NETWORK_FILE
from tequio_client.worker.ledger.outbox_db import OutboxDb
from tequio_shared.errors import RefusedError, UserFacingError
from tequio_shared.ids import NetworkId, RunId, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.network import KeyRegister, MemberLeave
from tests.support.memory_log import NET

if TYPE_CHECKING:
    from pathlib import Path

ME = Signer(bytes([1]) * 32)
RUN = RunId(bytes([5]) * 32)


def test_each_key_of_a_folder_has_its_own_chain(tmp_path: Path) -> None:
    path, other = tmp_path / "outbox.sqlite", Signer(bytes([2]) * 32)
    for number, key in enumerate((ME.key, other.key, ME.key, other.key)):
        with OutboxDb(path, NET, key) as file:
            assert file.chain().used == number // 2
            assert file.use_number() == 1
            file.adopt(number // 2 + 1, sha256(b"logged")) if number > 1 else None


def test_a_folder_of_another_network_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "outbox.sqlite"
    with OutboxDb(path, NET, ME.key) as file:
        file.adopt(1, sha256(b"logged"))
    with pytest.raises(UserFacingError, match="another network"):
        OutboxDb(path, NetworkId(bytes(32)), ME.key)
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(UserFacingError, match=r"is damaged .* move it away"):
        OutboxDb(path, NET, ME.key)


def test_a_network_that_was_not_entered_leaves_the_folder_free(tmp_path: Path) -> None:
    path, other = tmp_path / "outbox.sqlite", NetworkId(bytes(32))
    with OutboxDb(path, NET, ME.key) as file:
        file.add_registration(KeyRegister(nonce=1))
        assert file.use_number() == 1, "it was sent, and refused"
    (tmp_path / NETWORK_FILE).write_text(to_text(NET))
    with pytest.raises(UserFacingError, match="another network"):
        OutboxDb(path, other, ME.key)
    (tmp_path / NETWORK_FILE).write_text(to_text(other))
    with OutboxDb(path, other, ME.key) as file:
        assert (file.count_drafts(), file.chain().used) == (0, 0)


def test_a_damaged_page_or_draft_is_named(tmp_path: Path) -> None:
    path = tmp_path / "outbox.sqlite"
    with OutboxDb(path, NET, ME.key) as file:
        for word in range(200):
            file.add(MemberLeave(reason=word), RUN, None)
    sound = path.read_bytes()
    middle = len(sound) // 2
    path.write_bytes(sound[:middle] + b"\xff" * 4096 + sound[middle + 4096 :])
    with pytest.raises(UserFacingError, match=r"is damaged .* move it away"):
        OutboxDb(path, NET, ME.key)
    path.write_bytes(sound.replace(b'{"reason":117}', b'{"reasXn":117}'))
    with (
        OutboxDb(path, NET, ME.key) as file,
        pytest.raises(UserFacingError, match=r"is damaged .* move it away"),
    ):
        file.drafts()


def test_a_file_cut_short_is_named(tmp_path: Path) -> None:
    path = tmp_path / "outbox.sqlite"
    with OutboxDb(path, NET, ME.key) as file:
        for word in range(200):
            file.add(MemberLeave(reason=word), RUN, None)
    sound = path.read_bytes()
    path.write_bytes(sound[: len(sound) // 2])
    with pytest.raises(UserFacingError, match=r"is damaged .* move it away"):
        OutboxDb(path, NET, ME.key)


def test_drafts_are_bounded(tmp_path: Path) -> None:
    with OutboxDb(tmp_path / "outbox.sqlite", NET, ME.key, most_drafts=3) as file:
        for word in range(3):
            file.add(MemberLeave(reason=word), RUN, None)
        with pytest.raises(RefusedError) as refusal:
            file.add(MemberLeave(reason=3), RUN, None)
        assert refusal.value.code == "queue-full"
        file.add_registration(KeyRegister(nonce=0))
        assert [draft.ticket for draft in file.drafts()] == [0, 1, 2, 3]
