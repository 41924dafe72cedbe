"""`tequio checkpoint serve` as a program: a new head in the log, and a visitor with a browser."""

from __future__ import annotations

import json
import re
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_shared.statements.runs import HeadPromote
from tests.client.checkpoint.serving.conftest import NAME, PATIENCE_S
from tests.client.verify.logs import SwarmLog
from tests.support import chats
from tests.support.browser import CHROMIUM, NARROW, WIDE, Scheme, barriers, chromium, watched
from tests.support.forked_program import MODELS, ForkedProgram, run_forked
from tests.support.llama_swarm import ROUNDS, ServedLog, play, played, served_log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: installer/setup.sh")
PROMPT = "a text that nobody else reads"
TRIES = 3
"""A model that learnt nothing may end a text before its first character."""


class ServeProgram:
    """The running program, and what it logs."""

    def __init__(self, site: ServedLog, store: Path, folder: Path, *words: str) -> None:
        command = ["checkpoint", "serve", "--run", NAME]
        options = ["--ledger", site.url, "--store", str(store), "--dir", str(folder)]
        fast = ["--listen", "127.0.0.1:0", "--check-seconds", "1", "--per-minute", "600"]
        words = (*command, *options, *fast, "--log-json", "--device", "cpu", *words)
        self.log_file = folder.with_suffix(".log")
        self.process = ForkedProgram(MODELS, *words, stderr=self.log_file)
        self.url = self.wait_logged(r'"url": "([^"]+)/"')

    def wait_logged(self, pattern: str) -> str:
        """Wait for a line in the log, and return its first group."""
        until = time.monotonic() + PATIENCE_S
        while (found := re.search(pattern, self.log_file.read_text("utf-8"))) is None:
            assert self.process.poll() is None, self.log_file.read_text("utf-8")
            assert time.monotonic() < until, self.log_file.read_text("utf-8")
            time.sleep(0.1)
        return found[1]

    def ask(self, **words: object) -> httpx.Response:
        """Ask for a continuation."""
        asked = {"model": NAME, "prompt": PROMPT, "max_tokens": 8, **words}
        return httpx.post(f"{self.url}/v1/completions", json=asked, timeout=PATIENCE_S)


@contextmanager
def serving(site: ServedLog, store: Path, folder: Path, *words: str) -> Iterator[ServeProgram]:
    """Start the program, and stop it as a service manager does."""
    program = ServeProgram(site, store, folder, *words)
    try:
        yield program
        program.process.send_signal(signal.SIGTERM)
        assert program.process.wait(PATIENCE_S) == 0, program.log_file.read_text("utf-8")
    finally:
        program.process.kill()
        program.process.wait()


def test_the_newest_head_answers_and_a_newer_one_follows(tmp_path: Path) -> None:
    run = played()
    store = run.store(tmp_path / "store", ROUNDS - 1, ROUNDS)
    promoted = [
        index
        for index, entry in enumerate(run.swarm.entries)
        if isinstance(entry.statement.body, HeadPromote)
    ]
    log = SwarmLog(run.swarm)
    leaves = log.leaves
    log.leaves = leaves[: promoted[-2] + 1]
    log.sign()
    with served_log(log) as site:
        site.head_round = ROUNDS - 1
        with serving(site, store, tmp_path / "served", "--tokens", "24") as program:
            first = program.ask()
            assert first.status_code == 200, first.text
            (listed,) = httpx.get(f"{program.url}/v1/models").json()["data"]
            assert (listed["round"], listed["head"]) == (
                ROUNDS - 1,
                first.json()["system_fingerprint"],
            )
            assert listed["proof"] == f"{site.url}/entries/{promoted[-2]}"
            log.leaves = leaves
            log.sign()
            site.head_round = ROUNDS
            program.wait_logged(rf'"round": ({ROUNDS})\b')
            (listed,) = httpx.get(f"{program.url}/v1/models").json()["data"]
            assert listed["round"] == ROUNDS
            assert program.ask().json()["system_fingerprint"] == listed["head"]
            logged = program.log_file.read_text("utf-8")
        assert '"answered"' in logged
        assert "nobody" not in logged, "what visitors write is not logged"
        assert "127.0.0.1" not in re.sub(r'"url": "[^"]*"', "", logged), "nor are addresses"


def test_a_port_that_is_taken_is_named_at_once(site: ServedLog, tmp_path: Path) -> None:
    taken = site.url.removeprefix("http://")
    words = ("--run", NAME, "--ledger", site.url, "--listen", taken, "--dir", str(tmp_path))
    done = run_forked(MODELS, "checkpoint", "serve", *words, timeout_s=PATIENCE_S)
    assert done.returncode == 1
    assert f"{taken} cannot be listened on" in done.stderr
    assert "--listen" in done.stderr


# --- a visitor


@pytest.fixture(scope="module")
def program(site: ServedLog, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProgram]:
    """The program, with a model that continues texts."""
    folder = tmp_path_factory.mktemp("visited")
    store = played().store(folder / "store", ROUNDS)
    with serving(site, store, folder / "served", "--tokens", "30") as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@NEEDS_CHROMIUM
@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", NARROW)])
def test_a_visitor_writes_with_the_keyboard_and_reads_what_the_model_continues(
    program: ServeProgram, browser: Browser, scheme: Scheme, size: tuple[int, int]
) -> None:
    with watched(browser, scheme, size) as window:
        window.open(program.url)
        page = window.page
        shown = page.locator("main").inner_text()
        assert "raw research model" in shown
        assert "being loaded" not in shown
        (listed,) = httpx.get(f"{program.url}/v1/models").json()["data"]
        assert (
            page.get_by_role("link", name="Proof in the public log").get_attribute("href")
            == (listed["proof"])
        )
        assert page.locator("#head").get_attribute("title") == listed["head"]
        box = page.get_by_label("Text that the model continues")
        log = page.get_by_role("log")
        for _ in range(TRIES):
            box.focus()
            page.keyboard.type("maize <b>")
            page.keyboard.press("Control+Enter")
            page.get_by_role("status").filter(has_text="Finished").wait_for()
            headings = log.get_by_role("heading").all_inner_texts()
            assert headings == ["You wrote", "The model continues"]
            written = log.locator("p").all_inner_texts()
            assert written[0] == "maize <b>", "shown as text, not as HTML"
            if written[1]:
                break
            page.get_by_role("button", name="Start over").click()
        else:
            pytest.fail("nothing is ever written")
        assert box.evaluate("box => box === document.activeElement")
        assert barriers(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name="Start over").click()
        assert log.get_by_role("heading").count() == 0
        assert window.faults == []


@NEEDS_CHROMIUM
def test_a_page_without_scripts_says_so_and_a_refusal_is_shown(
    program: ServeProgram, browser: Browser
) -> None:
    with watched(browser, scripts=False) as window:
        window.open(program.url)
        assert "This page needs scripts" in window.page.locator("main").inner_text()
    with watched(browser) as window:
        window.open(program.url)
        window.page.get_by_label("Text that the model continues").fill("m" * 2_000)
        window.page.get_by_role("button", name="Send").click()
        window.page.get_by_role("status").filter(has_text="Not answered").wait_for()
        assert "2,001 tokens" in window.page.get_by_role("log").inner_text()


@NEEDS_CHROMIUM
def test_a_conversation_goes_on_until_it_starts_over(browser: Browser, tmp_path: Path) -> None:
    talk = [chats.message("user", "w1 w2"), chats.message("assistant", "w3")]
    encoder = chats.encoder(chats.word_tokenizer(tmp_path / "tokenizer"), 64)
    run = play(tokenizer=encoder.tokenizer.file, chat=chats.chat_of(encoder, talk))
    store = run.store(tmp_path / "store", ROUNDS)
    with (
        served_log(SwarmLog(run.swarm)) as site,
        serving(site, store, tmp_path / "served", "--tokens", "8") as program,
        watched(browser) as window,
    ):
        window.open(program.url)
        asked: list[str] = []
        window.page.on(
            "request", lambda one: asked.append(one.post_data or "") if one.post_data else None
        )
        for _ in range(2):
            window.page.get_by_label("Your message").fill("w1 w2")
            window.page.get_by_role("button", name="Send").click()
            window.page.get_by_role("status").filter(has_text="Finished").wait_for()
        turns = [one["role"] for one in json.loads(asked[-1])["messages"]]
        assert turns == ["user", "assistant", "user"]
        answer = httpx.post(
            f"{program.url}/v1/chat/completions",
            json={"model": NAME, "messages": [{"role": "user", "content": "w1"}], "max_tokens": 4},
            timeout=PATIENCE_S,
        ).json()
        assert answer["choices"][0]["message"]["role"] == "assistant"
        assert window.faults == []
