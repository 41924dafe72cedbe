"""A custodian's share as text: it survives people, and finds their mistakes."""

from __future__ import annotations

import msgspec
import pytest

from tequio_shared.errors import MalformedError
from tequio_shared.ids import Digest, from_text, sha256, to_text
from tequio_shared.sealed_set import SHARE_MARK, KeyShare, SealedSet, share_name

SHARE = KeyShare(
    index=2, needed=2, shares=3, root=Digest(bytes(range(32))), value=bytes(range(32, 64))
)
LINE = (
    "tequio-share:AQICAwABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
    "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj_m6cgw"
)
SEALED = SealedSet(
    root=to_text(SHARE.root),
    documents=2,
    size_bytes=9,
    archive=to_text(bytes(32)),
    needed=2,
    shares=tuple(to_text(bytes([at]) * 32) for at in range(3)),
)


def test_a_share_has_one_line() -> None:
    assert SHARE.encode() == LINE
    assert KeyShare.parse(LINE) == SHARE


def test_a_share_may_be_broken_into_lines_between_words_for_people() -> None:
    text = f"# Share 2\r\n {LINE[:40]}\r\n{LINE[40:]} \r\n# the end\r\n"
    assert KeyShare.parse(text) == SHARE


@pytest.mark.parametrize("at", range(len(SHARE_MARK), len(LINE)))
def test_one_wrong_character_anywhere_is_found(at: int) -> None:
    other = "B" if LINE[at] == "A" else "A"
    with pytest.raises(MalformedError):
        KeyShare.parse(LINE[:at] + other + LINE[at + 1 :])


@pytest.mark.parametrize(
    "head",
    [
        b"\x02\x02\x02\x03",
        b"\x01\x00\x02\x03",
        b"\x01\x04\x02\x03",
        b"\x01\x02\x04\x03",
        b"\x01\x02\x00\x03",
        b"\x01\x02\x02\x11",
    ],
)
def test_a_share_that_cannot_be_is_refused(head: bytes) -> None:
    payload = head + bytes(64)
    with pytest.raises(MalformedError, match="share"):
        KeyShare.parse(SHARE_MARK + to_text(payload + sha256(payload)[:4]))


@pytest.mark.parametrize(
    "text", ["", "# only words", LINE[:-4], LINE.removeprefix(SHARE_MARK), "é" + LINE]
)
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(MalformedError):
        KeyShare.parse(text)


def test_a_share_is_named_without_its_checksum() -> None:
    assert SHARE.name == share_name(from_text(LINE.removeprefix(SHARE_MARK), None)[:-4])


def test_the_value_does_not_get_into_a_log() -> None:
    assert repr(SHARE) == "KeyShare(2 of 3)"


def test_a_commitment_comes_back_from_its_bytes() -> None:
    assert SealedSet.parse(SEALED.encode()) == SEALED


@pytest.mark.parametrize(
    "changes",
    [
        {"needed": 4},
        {"needed": 0},
        {"documents": 0},
        {"documents": 10},
        {"shares": ()},
        {"shares": (SEALED.shares[0],) * 3},
        {"root": "short"},
    ],
)
def test_a_commitment_that_does_not_add_up_is_refused(changes: dict[str, object]) -> None:
    tree = msgspec.to_builtins(SEALED) | changes
    with pytest.raises(MalformedError):
        SealedSet.parse(msgspec.json.encode(tree, order="deterministic"))
