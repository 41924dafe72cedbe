"""The process's log: a request's lines bear its name, and say nothing that was sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx

from tequio_shared.log.tiles import encode_bundle
from tests.support.authors import Author
from tests.support.ledgers import served

if TYPE_CHECKING:
    from pathlib import Path

MARK = "c2VjcmV0LWJvZHktdGhhdC1ub2JvZHktbG9ncw"


def test_what_is_logged_for_a_request_bears_the_name_that_its_answer_bears(
    tmp_path: Path, now_ms: int
) -> None:
    with served(tmp_path, "--log-level", "debug") as program:
        author = Author("traced", program.net)
        posts = [author.register(now_ms), author.register(now_ms)]
        answers = [
            httpx.post(
                f"{program.url}/v1/statements?{MARK}",
                content=encode_bundle([one.leaf(), MARK.encode()]),
                headers={"authorization": MARK, "x-request-id": MARK},
            )
            for one in posts
        ]
        lines, text = ended(program.process)
    names = [answer.headers["x-request-id"] for answer in answers]
    assert len(set(names)) == 2
    for name in names:
        (line,) = [one for one in lines if one["event"] == "request" and one["request"] == name]
        assert (line["method"], line["route"], line["status"]) == ("POST", "/v1/statements", "200")
        assert 0 < line["ms"] < 20_000
    assert MARK not in text


def test_a_request_is_logged_only_when_asked_for(tmp_path: Path) -> None:
    with served(tmp_path) as program:
        assert httpx.get(f"{program.url}/v1/network").status_code == 200
        lines, _ = ended(program.process)
    assert [line["event"] for line in lines] == ["stopped"]


def ended(process: Any) -> tuple[list[dict[str, Any]], str]:  # noqa: ANN401 - Popen[str]
    """End a program and read what it logged since its first line."""
    process.terminate()
    text = process.stderr.read()
    return [json.loads(line) for line in text.splitlines()], text
