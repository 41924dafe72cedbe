"""Statements that were signed before, posted one by one: what locust runs for `bench/load.py`.

Each user is a connection, which posts the next statement as soon as its last one is answered, as a
proxy in front of the ledger does for thousands of peers. Run by the `locust` command, with these in
the environment: LOAD_STATEMENTS, a file of bundles with their lengths before them; LOAD_REPORT, the
file to write; LOAD_PAUSE_S, the pause of each user after an answer.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import gevent
from locust import FastHttpUser, constant, events, task
from locust.exception import StopUser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locust.contrib.fasthttp import ResponseContextManager
    from locust.env import Environment

_LENGTH_BYTES = 4  # as `load.py` writes them


def _bundles(raw: bytes) -> list[bytes]:
    found, at = [], 0
    while at < len(raw):
        end = at + _LENGTH_BYTES + int.from_bytes(raw[at : at + _LENGTH_BYTES], "big")
        found.append(raw[at + _LENGTH_BYTES : end])
        at = end
    return found


class LoadQueue:
    """Bundles that are left to post, and the outcomes of the others."""

    def __init__(self, bundles: list[bytes]) -> None:
        self.left: Iterator[bytes] = iter(bundles)
        self.count = len(bundles)
        self.posted: list[tuple[float, float, int]] = []  # begun, answered, index
        self.refused: list[str] = []

    @property
    def is_answered(self) -> bool:
        return len(self.posted) + len(self.refused) == self.count


LOAD = LoadQueue(_bundles(Path(os.environ["LOAD_STATEMENTS"]).read_bytes()))


class StatementUser(FastHttpUser):
    """One connection."""

    wait_time = constant(float(os.environ.get("LOAD_PAUSE_S", "0")))
    network_timeout = 60.0
    connection_timeout = 60.0

    @task
    def post_statement(self) -> None:
        bundle = next(LOAD.left, None)
        if bundle is None:
            raise StopUser
        begun_s = time.perf_counter()
        with self.client.post("/v1/statements", data=bundle, catch_response=True) as answer:
            answered_s = time.perf_counter()
            item = answer.json()["items"][0] if answer.ok else _failure(answer)
            if "index" in item:
                LOAD.posted.append((begun_s, answered_s, int(item["index"])))
            else:
                LOAD.refused.append(f"{item['code']}: {item.get('detail')}")
                answer.failure(item["code"])
        if LOAD.is_answered:
            gevent.spawn(self.environment.runner.quit)  # which ends this greenlet, among others


def _failure(answer: ResponseContextManager) -> dict[str, str]:
    return {"code": str(answer.status_code), "detail": answer.text or str(answer.error)}


@events.quitting.add_listener
def write_report(environment: Environment, **_: object) -> None:
    """Write times in seconds of a clock that all programs of this computer share."""
    report = {"posted": LOAD.posted, "refused": LOAD.refused, "missing": LOAD.count}
    report["missing"] = LOAD.count - len(LOAD.posted) - len(LOAD.refused)
    Path(os.environ["LOAD_REPORT"]).write_text(json.dumps(report))
