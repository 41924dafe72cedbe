"""The service over real HTTP: answers, streams, what it refuses, and when the head changes."""

from __future__ import annotations

import ipaddress
import json
from typing import TYPE_CHECKING, Any

import pytest
import trio

from tequio_client.checkpoint import layout
from tequio_client.checkpoint.serving.connections import BODY_BYTES, PIECES, Deadlines
from tequio_client.checkpoint.serving.host import Limits
from tequio_client.checkpoint.serving.service import CHAT, COMPLETIONS, MODELS
from tequio_client.trainer import device
from tequio_client.trainer.conversation import ModelChat, WritingStyle
from tests.client.checkpoint.serving.conftest import NAME, PATIENCE_S
from tests.support.attack_table import attack
from tests.support.llama_swarm import ROUNDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import httpx

    from tests.client.checkpoint.serving.conftest import Serve

pytestmark = pytest.mark.trio


def claim_of(folder: Path) -> layout.HeadClaim:
    return layout.HeadClaim.parse((folder / layout.CLAIM).read_bytes())


def told(answer: httpx.Response) -> str:
    """The message of a refusal."""
    content = answer.json()
    assert sorted(content) == ["error"]
    return str(content["error"]["message"])


def events(content: str) -> list[Any]:
    """The events of a stream, which ends with the mark of its end."""
    parts = content.split("\n\n")
    assert parts[-2:] == ["data: [DONE]", ""]
    return [json.loads(one.removeprefix("data: ")) for one in parts[:-2]]


async def test_a_text_is_continued_as_in_a_terminal(serve: Serve, whole: Path) -> None:
    style = WritingStyle(tokens=6, temperature=0)
    expected = ModelChat(whole, style, device.open_device("cpu")).answer("maize", lambda _: None)
    async with serve(whole) as service:
        answer = (await service.post()).json()
        (choice,) = answer["choices"]
        assert (choice["text"], choice["finish_reason"]) == (expected, "length")
        assert answer["usage"]["completion_tokens"] == 6
        assert answer["system_fingerprint"] == claim_of(whole).head
        streamed = await service.post(stream=True)
        assert streamed.headers["content-type"].startswith("text/event-stream")
        seen = events(streamed.text)
        assert "".join(one["choices"][0]["text"] for one in seen) == expected
        assert [one["choices"][0]["finish_reason"] for one in seen[-2:]] == [None, "length"]
        assert {one["system_fingerprint"] for one in seen} == {claim_of(whole).head}


async def test_pieces_arrive_while_the_model_writes(serve: Serve, whole: Path) -> None:
    async with serve(whole) as service:
        service.pace.hold()
        # Varied enough for spaces, after which a piece is sent.
        stream = await service.ask_raw(max_tokens=24, temperature=2, top_p=1, seed=14)
        seen = b""
        with trio.fail_after(PATIENCE_S):
            while b"data: " not in seen:
                seen += await stream.receive_some(4_096)
            assert b"[DONE]" not in seen, "the model has not gone on after its first token"
            service.pace.allow(1_000)
            while piece := await stream.receive_some(4_096):
                seen += piece
        assert seen.count(b"data: ") > 4, "pieces, their begin and their end"
        assert b"data: [DONE]" in seen


async def test_a_seed_gives_the_same_text_and_none_another(serve: Serve, whole: Path) -> None:
    async with serve(whole) as service:

        async def text(**words: object) -> str:
            asked = {"temperature": 2, "top_p": 1, "max_tokens": 20} | words
            return str((await service.post(**asked)).json()["choices"][0]["text"])

        first = await text(seed=7)
        assert await text(seed=7) == first
        assert len({await text(), await text(), await text()}) > 1, "chance comes back after a seed"


async def test_the_model_is_listed_with_its_head_and_proof(serve: Serve, whole: Path) -> None:
    async with serve(whole) as service:
        (one,) = (await service.client.get(MODELS)).json()["data"]
        claim = claim_of(whole)
        assert (one["id"], one["round"], one["head"]) == (NAME, ROUNDS, claim.head)
        assert one["proof"] == f"https://ledger.example/entries/{claim.entry}"
        assert (one["max_tokens"], one["answers_turns"]) == (24, False)
        head = await service.client.head(MODELS)
        assert (head.status_code, head.content) == (200, b"")


@pytest.mark.parametrize(
    ("path", "body", "status", "named"),
    [
        (COMPLETIONS, {"frequency_penalty": 1}, 400, "frequency_penalty"),
        (COMPLETIONS, {"prompt": 7}, 400, "$.prompt"),
        (COMPLETIONS, {"temperature": 3}, 400, "$.temperature"),
        (COMPLETIONS, {"max_tokens": 25}, 400, "at most 24"),
        (COMPLETIONS, {"prompt": "m" * 40}, 400, "at most 32"),
        (COMPLETIONS, {"model": "quinoa"}, 404, "'quinoa'"),
        (CHAT, {"messages": []}, 400, "$.messages"),
        (CHAT, {"messages": [{"role": "user", "content": "m"}], "tools": []}, 400, "tools"),
        (CHAT, {"messages": [{"role": "user", "content": "m"}]}, 400, "/v1/completions"),
        ("/v1/embeddings", {"prompt": "m"}, 404, "/v1/embeddings"),
        (MODELS, {}, 405, "GET"),
    ],
)
async def test_what_does_not_exist_is_refused_by_name(
    serve: Serve, whole: Path, path: str, body: dict[str, object], status: int, named: str
) -> None:
    async with serve(whole) as service:
        answer = await service.post(path, **body)
        assert answer.status_code == status
        assert named in told(answer)


@pytest.mark.parametrize("body", [b"", b"{", b'{"prompt": "\\ud800"}', b"[" * 9_000, b"\xff"])
async def test_bytes_that_are_no_question_are_refused(
    serve: Serve, whole: Path, body: bytes
) -> None:
    headers = {"content-type": "application/json"}
    async with serve(whole) as service:
        answer = await service.client.post(COMPLETIONS, content=body, headers=headers)
        assert answer.status_code == 400
        plain = await service.client.post(COMPLETIONS, content=body)
        assert plain.status_code == 415, "a form on another site's page"
        assert (await service.post()).status_code == 200


@attack("P27", layer="net", ends="refused: this computer is not asked under a stranger's name")
@pytest.mark.parametrize(
    "name", ["evil.example:7870", "localhost.evil.example", "127.0.0.1.evil.example"]
)
async def test_a_page_whose_name_resolves_to_this_computer_gets_no_answer(
    serve: Serve, whole: Path, name: str
) -> None:
    async with serve(whole) as service:
        service.client.headers["host"] = name
        for refused in (await service.client.get(MODELS), await service.post()):
            assert refused.status_code == 421
            assert name in told(refused)
            assert "--trusted-proxy" in told(refused)
        for own in ("localhost:7870", "127.0.0.1", "[::1]:7870"):
            answer = await service.client.get(MODELS, headers={"host": own})
            assert answer.status_code == 200, own
    async with serve(whole, proxies=(ipaddress.ip_network("127.0.0.1"),)) as service:
        answer = await service.client.get(MODELS, headers={"host": name})
        assert answer.status_code == 200, "a proxy may pass on the name that its visitors use"


async def hang_up(stream: trio.SocketStream) -> None:
    """Close one side, and wait until the service has closed the other."""
    await stream.send_eof()
    with trio.fail_after(PATIENCE_S):
        while await stream.receive_some(4_096):
            pass


async def test_a_long_queue_is_refused(serve: Serve, whole: Path) -> None:
    limits = Limits(tokens=24, prompt_tokens=32, queue=2, visitor=9)
    async with serve(whole, limits=limits) as service, trio.open_nursery() as nursery:
        service.pace.hold()
        await service.ask_raw(max_tokens=20)
        await service.until(lambda: service.pace.written > 0)
        answers: list[httpx.Response] = []

        async def ask() -> None:
            answers.append(await service.post())

        for _ in range(5):
            nursery.start_soon(ask)
        await service.until(lambda: len(answers) == 3)
        assert {one.status_code for one in answers} == {429}
        assert all(int(one.headers["retry-after"]) > 0 for one in answers)
        service.pace.allow(1_000)
        await service.until(lambda: len(answers) == 5)
        assert [one.status_code for one in answers[3:]] == [200, 200]


BEHIND_PROXY = (ipaddress.ip_network("127.0.0.0/8"),)


@attack("P21", layer="net", ends="each visitor has two places; the others are answered")
async def test_one_visitor_cannot_fill_the_queue(serve: Serve, whole: Path) -> None:
    async with serve(whole, proxies=BEHIND_PROXY) as service, trio.open_nursery() as nursery:
        service.pace.hold()
        answers: list[tuple[str, int]] = []

        async def ask(visitor: str) -> None:
            service.client.headers["x-forwarded-for"] = visitor
            answers.append((visitor, (await service.post(max_tokens=1)).status_code))

        for _ in range(20):
            nursery.start_soon(ask, "192.0.2.1")
        await service.until(lambda: len(answers) == 18)
        assert set(answers) == {("192.0.2.1", 429)}
        nursery.start_soon(ask, "192.0.2.2")
        await trio.sleep(0.2)
        service.pace.allow(1_000)
        await service.until(lambda: len(answers) == 21)
        assert sorted(answers[18:]) == [("192.0.2.1", 200)] * 2 + [("192.0.2.2", 200)]
        await ask("192.0.2.1")
        assert answers[-1][1] == 200, "once these are answered, it has its places back"


ODD_REQUESTS = {
    "HEAD with a long body": b"HEAD / HTTP/1.1\r\nhost: [::1]\r\ncontent-length: 999999999\r\n\r\n",
    "HEAD with no chunk": (
        b"HEAD / HTTP/1.1\r\nhost: [::1]\r\ntransfer-encoding: chunked\r\n\r\nz\r\n"
    ),
    "HEAD without a host": b"HEAD / HTTP/1.1\r\n\r\n",
    "HEAD of a question": b"HEAD /v1/completions HTTP/1.1\r\nhost: [::1]\r\n\r\n",
    "a tunnel": b"CONNECT a:1 HTTP/1.1\r\nhost: [::1]\r\n\r\n",
    "another protocol": (
        b"GET / HTTP/1.1\r\nhost: [::1]\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n"
    ),
    "an old version": b"GET / HTTP/1.0\r\n\r\n",
    "two lengths": (
        b"POST / HTTP/1.1\r\nhost: [::1]\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n"
    ),
    "a path of bytes": b"GET /\xff\xfe HTTP/1.1\r\nhost: [::1]\r\n\r\n",
    "a header of bytes": b"GET / HTTP/1.1\r\nhost: [::1]\r\nx-forwarded-for: \xff,,\r\n\r\n",
    "half a body": b"POST /v1/completions HTTP/1.1\r\nhost: [::1]\r\ncontent-length: 9\r\n\r\n{",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
}


@attack(
    "P21",
    layer="net",
    ends="odd requests are refused, and others answered",
)
@pytest.mark.parametrize("odd", ODD_REQUESTS)
async def test_no_odd_request_ends_the_service(serve: Serve, whole: Path, odd: str) -> None:
    async with serve(whole, proxies=BEHIND_PROXY) as service:
        stream = await service.connect()
        await stream.send_all(ODD_REQUESTS[odd])
        await hang_up(stream)
        assert (await service.post(max_tokens=1)).status_code == 200


@attack("P21", layer="cli", ends="no token is drawn where logits would overflow")
@pytest.mark.parametrize("least", [1e-300, 1e-45, 1e-40, 1e-4])
async def test_the_least_temperature_gives_the_likeliest_text(
    serve: Serve, whole: Path, least: float
) -> None:
    async with serve(whole) as service:
        likeliest = (await service.post(temperature=0)).json()["choices"]
        assert (await service.post(temperature=least)).json()["choices"] == likeliest


async def test_a_question_that_is_given_up_leaves_the_queue(serve: Serve, whole: Path) -> None:
    limits = Limits(tokens=24, prompt_tokens=32, queue=1)
    async with serve(whole, limits=limits) as service:
        service.pace.hold()
        await service.ask_raw(max_tokens=20)
        await service.until(lambda: service.pace.written > 0)
        waiting = await service.ask_raw(max_tokens=20)
        refused = None
        with trio.fail_after(PATIENCE_S):
            while refused is None:  # until the other one is in the queue
                with trio.move_on_after(0.5):
                    refused = await service.post()
        assert refused.status_code == 429
        await hang_up(waiting)
        service.pace.allow(1_000)
        assert (await service.post()).status_code == 200


async def test_a_client_that_hangs_up_ends_its_answer(serve: Serve, whole: Path) -> None:
    async with serve(whole) as service:
        service.pace.hold()
        stream = await service.ask_raw(max_tokens=20)
        await service.until(lambda: service.pace.written > 0)
        await hang_up(stream)
        written = service.pace.written
        service.pace.allow(1_000)
        assert (await service.post(max_tokens=6)).status_code == 200
        assert service.pace.written <= written + 1 + 6


async def test_an_answer_ends_when_its_time_is_over(serve: Serve, whole: Path) -> None:
    limits = Limits(tokens=24, prompt_tokens=32, answer_s=0)
    async with serve(whole, limits=limits) as service:
        answer = (await service.post(max_tokens=20)).json()
        assert answer["usage"]["completion_tokens"] < 20
        assert answer["choices"][0]["finish_reason"] == "length"


async def test_each_visitor_has_a_rate_of_its_own_behind_a_named_proxy(
    serve: Serve, whole: Path
) -> None:
    async def statuses(service: Any, *hops: str) -> Sequence[int]:  # noqa: ANN401 - of conftest
        found = []
        for hop in hops:
            service.client.headers["x-forwarded-for"] = hop
            found.append((await service.post(max_tokens=1)).status_code)
        return found

    hops = ("192.0.2.1:50001", "192.0.2.1:50002", "192.0.2.2", "2001:db8::1", "2001:db8::2")
    async with serve(whole, per_minute=1, proxies=BEHIND_PROXY) as one:
        assert await statuses(one, *hops) == [200, 429, 200, 200, 429]
        forged = await statuses(one, "192.0.2.9, 192.0.2.1")
        assert forged == [429], "what a visitor writes there does not count"
    async with serve(whole, per_minute=1) as one:
        assert await statuses(one, "192.0.2.1", "192.0.2.2") == [200, 429], "nobody was named"


async def test_a_body_that_is_too_large_is_refused_unread(serve: Serve, whole: Path) -> None:
    async with serve(whole) as service:
        answer = await service.post(prompt="m" * BODY_BYTES)
        assert answer.status_code == 413
        stream = await service.connect()
        await stream.send_all(b"GET / HTTP/1.1\r\nx: " + b"y" * 40_000)
        with trio.fail_after(PATIENCE_S):
            assert (await stream.receive_some(100)).startswith(b"HTTP/1.1 431 ")


@attack("D4", layer="net", ends="refused with 400 at the first few, also by a served model")
async def test_a_body_in_tiny_chunks_is_refused_and_one_in_larger_chunks_is_read(
    serve: Serve, whole: Path
) -> None:
    head = b"POST /nowhere HTTP/1.1\r\nhost: [::1]\r\ntransfer-encoding: chunked\r\n\r\n"
    larger = b"400\r\n" + bytes(1_024) + b"\r\n"
    async with serve(whole) as service:
        for chunks, status in ((b"1\r\na\r\n" * (4 * PIECES), 400), (larger * 200, 404)):
            stream = await service.connect()
            await stream.send_all(head + chunks + b"0\r\n\r\n")
            with trio.fail_after(PATIENCE_S):
                assert (await stream.receive_some(100)).startswith(b"HTTP/1.1 %d " % status)


async def test_silent_and_slow_connections_are_closed(serve: Serve, whole: Path) -> None:
    deadlines = Deadlines(request_s=0.3)
    async with serve(whole, deadlines=deadlines) as service:
        silent, slow = await service.connect(), await service.connect()
        await slow.send_all(b"GET / HTTP/1.1\r\n")
        with trio.fail_after(PATIENCE_S):
            assert await silent.receive_some(100) == b""
            assert await slow.receive_some(100) == b""
        assert (await service.client.get("/")).status_code == 200


async def test_one_address_has_a_limited_number_of_connections(serve: Serve, whole: Path) -> None:
    async with serve(whole) as service:
        for _ in range(16):
            await service.connect()
        with trio.fail_after(PATIENCE_S):
            assert await (await service.connect()).receive_some(1) == b""
        for one in service.sockets:
            await one.aclose()
        await trio.sleep(0.1)
        assert (await service.client.get("/")).status_code == 200


async def test_a_head_changes_between_two_answers(serve: Serve, earlier: Path, whole: Path) -> None:
    async with serve(earlier) as service, trio.open_nursery() as nursery:
        service.pace.hold()
        answers: list[httpx.Response] = []

        async def ask() -> None:
            answers.append(await service.post(max_tokens=20))

        nursery.start_soon(ask)
        await service.until(lambda: service.pace.written > 0)
        service.folders.append(whole)
        await trio.sleep(0.3)  # several checks for a newer head
        assert service.host.head.claim == claim_of(earlier), "an answer is being written"
        service.pace.allow(1_000)
        await service.until(lambda: service.host.head is not None and bool(answers))
        assert answers[0].json()["system_fingerprint"] == claim_of(earlier).head
        await service.until(
            lambda: service.host.head is not None and service.host.head.claim == claim_of(whole)
        )
        later = (await service.post()).json()
        assert later["system_fingerprint"] == claim_of(whole).head


async def test_a_head_that_cannot_be_loaded_is_named_and_tried_again(
    serve: Serve, whole: Path, folder: Path
) -> None:
    (weights,) = folder.glob("*.safetensors")  # noqa: ASYNC240 - the test alone waits
    content = weights.read_bytes()
    async with serve(whole) as service:
        weights.write_bytes(b"\x00" * 64)
        service.folders.append(folder)
        await service.until(lambda: service.host.head is None)
        refused = await service.post()
        assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
        assert "next model is being loaded" in (await service.client.get("/")).text
        weights.write_bytes(content)
        await service.until(lambda: service.host.head is not None)
        assert (await service.post()).status_code == 200
