"""Recall before the first signature: witnesses asked, answers that count, and time limits."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_ledger.log.guard import Published
from tequio_ledger.log.witness_client import (
    RECALL_ANSWER_S,
    WitnessClient,
    WitnessError,
    WitnessesSilentError,
    WitnessRecall,
)
from tequio_shared.keys import Signer
from tequio_shared.log.notes import (
    KeyKind,
    VerifierKey,
    add_lines,
    cosignature_line,
    sign_checkpoint,
)
from tequio_shared.log.policy import Policy, PolicyWitness
from tests.support.timing_slack import allowed_s
from tests.support.witnesses import WitnessedLog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Speak = Callable[[socket.socket], None]

LOG = WitnessedLog().grow(9)
SIGNERS = [Signer(bytes([at]) * 32) for at in range(41, 44)]
KEYS = [
    VerifierKey(name=f"witness.example/w{at}", kind=KeyKind.COSIGNER, key=one.key)
    for at, one in enumerate(SIGNERS)
]


@contextmanager
def speaking(speak: Speak) -> Iterator[str]:
    """Listen at an address; each caller gets the answer that the test sets."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    caller, _ = listener.accept()
                    threading.Thread(target=answer, args=(caller,), daemon=True).start()

        def answer(caller: socket.socket) -> None:
            with caller, suppress(OSError):
                caller.recv(4096)
                speak(caller)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)


def saying(status: int, body: bytes = b"") -> Speak:
    head = f"HTTP/1.1 {status} x\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    return lambda caller: caller.sendall(head.encode() + body)


def held(size: int, *signers: int) -> bytes:
    """A checkpoint under the log's signature and the lines of these witnesses."""
    tree = LOG.checkpoint(size)
    lines = [cosignature_line(tree, KEYS[at].name, SIGNERS[at], 1_700_000_000) for at in signers]
    return add_lines(sign_checkpoint(tree, LOG.signer), lines)


def drip(caller: socket.socket) -> None:
    """Send a byte every 50 ms without end: no single read waits long."""
    while True:
        caller.sendall(b"H")
        time.sleep(0.05)


def flood(caller: socket.socket) -> None:
    """Send an endless answer."""
    caller.sendall(b"HTTP/1.1 200 x\r\n\r\n")
    while True:
        caller.sendall(b"x" * 65_536)


def recalled(quorum: str, *speakers: Speak, answer_s: float = RECALL_ANSWER_S) -> list[bytes]:
    """Notes that a ledger gets from these witnesses, which form one group with that threshold."""
    with stack(speakers) as urls:
        lines = [
            f"witness w{at} {key.text()} {url}\n"
            for at, (key, url) in enumerate(zip(KEYS, urls, strict=False))
        ]
        names = " ".join(f"w{at}" for at in range(len(urls)))
        text = f"{''.join(lines)}group g {quorum} {names}\nquorum g\n"
        return WitnessRecall(Policy.parse(text.encode()), LOG.key, answer_s=answer_s).notes()


@contextmanager
def stack(speakers: tuple[Speak, ...]) -> Iterator[list[str]]:
    if not speakers:
        yield []
        return
    with speaking(speakers[0]) as first, stack(speakers[1:]) as others:
        yield [first, *others]


def test_who_is_silent_could_not_have_published_without_one_that_spoke() -> None:
    knows, nothing, away = saying(200, held(7, 0)), saying(404), saying(500)
    assert recalled("2", knows, nothing, away) == [held(7, 0)]
    assert recalled("any", saying(200, held(7, 0)), nothing, nothing) == [held(7, 0)]
    with pytest.raises(WitnessesSilentError, match="no answer from w2"):
        recalled("any", knows, nothing, away)
    with pytest.raises(WitnessesSilentError, match="no answer from w1, w2"):
        recalled("2", knows, away, away)


def test_only_what_a_witness_cosigned_itself_counts_as_its_word() -> None:
    for other in (held(7), held(7, 1), b"<html>", b"\xff"):
        with pytest.raises(WitnessesSilentError, match="no answer from w0"):
            recalled("all", saying(200, other))
    assert recalled("all", saying(200, held(7, 0))) == [held(7, 0)]


@pytest.mark.parametrize("hostile", [drip, flood, lambda caller: caller.recv(1)])
def test_one_hostile_witness_of_three_stops_no_start(hostile: Speak) -> None:
    found: list[list[bytes]] = []

    def ask() -> None:
        found.append(recalled("2", saying(200, held(7, 0)), saying(404), hostile))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(allowed_s(RECALL_ANSWER_S))
    assert found == [[held(7, 0)]]


@pytest.mark.parametrize("hostile", [drip, flood])
def test_all_have_one_deadline(hostile: Speak) -> None:
    with pytest.raises(WitnessesSilentError, match="no answer from w0"):
        recalled("all", hostile, answer_s=0.3)


def test_somebody_with_an_event_loop_may_ask() -> None:
    async def ask() -> list[bytes]:
        return recalled("all", saying(200, held(3, 0)))

    assert asyncio.run(ask()) == [held(3, 0)]


@pytest.mark.parametrize("answer", [b"9\n", b""])
def test_a_conflict_about_our_own_size_is_another_history(answer: bytes) -> None:
    """So the specification answers another root of a size that was cosigned."""
    with speaking(saying(409, answer)) as url:
        witness = PolicyWitness(name="w0", key=KEYS[0], url=url)
        target = Published(size=9, root=LOG.checkpoint(9).root, note=held(9))

        async def cosign() -> None:
            async with httpx.AsyncClient() as http:
                client = WitnessClient(witness, LOG.key, http, url, lambda: 0)
                client.state = replace(client.state, size=9)  # of an earlier answer
                await client.cosign(target, lambda *_: ())

        with pytest.raises(WitnessError, match="it saw another history"):
            asyncio.run(cosign())
