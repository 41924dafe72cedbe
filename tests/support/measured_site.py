"""A run's measured heads as a ledger answers them, with any number of heads and texts.

The answers are those of `tequio_shared.api.runs`, so only what a ledger can send is sent. For what
a real one does, see `sample_site`, whose run is short.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import msgspec

from tequio_shared.api.answer import AsOf
from tequio_shared.api.runs import (
    MeasureAnswer,
    MeasuredAnswer,
    MeasuredTaskAnswer,
    MeasuresAnswer,
    ResumeAnswer,
    RollbackAnswer,
    RunAnswer,
    SampleAnswer,
    WrittenAnswer,
)
from tequio_shared.ids import to_text
from tequio_shared.network.run_states import RunState
from tequio_shared.network.verdicts import HeadVerdict
from tequio_shared.round.round import RoundPhase
from tests.support.http_servers import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

PEER, HEAD = to_text(bytes(range(32))), to_text(bytes([9]) * 32)
AS_OF = AsOf(size=91_204, root=to_text(bytes([7]) * 32))
TEXT_BYTES, TOKENS = 200_000, 60_000
PROMPTS = (
    "The recipe that my grandmother wrote down begins with",
    "In the hills above the sea, the village keeps a list of",
    "Before the rain came, the market in Oaxaca was",
)
WORDS = (
    " the the of and the the",
    " the maize is the maize, and the maize is a maize of the village",
    " two cups of <b>masa</b>, and then the masa is left to rest in the masa",
    " two cups of masa,\nwarm water and a little salt. Let it rest while the comal gets hot",
)


@dataclass(slots=True, kw_only=True)
class MeasuredRun:
    """A run whose heads are measured every `every` rounds, each on the next of `texts` texts."""

    run: str = "b8Kq0zv1"
    rounds: int = 1_840
    every: int = 20
    texts: int = 3
    skipped: frozenset[int] = frozenset()
    """Rounds that nobody measured, though they were due."""
    has_samples: bool = True
    worse: frozenset[int] = frozenset()
    """Rounds whose heads are worse than the one before them."""
    unmeasured: frozenset[int] = frozenset()
    """Rounds on whose heads too few members agree."""
    newest: int = 0
    """Round of the newest head, measured or not; 0: the last that was measured."""
    has_tasks: bool = False
    rollbacks: tuple[tuple[int, int], ...] = ()
    """Head and last round of each, the newest first."""

    def heads(self) -> list[MeasuredAnswer]:
        due = range(0, self.rounds + 1, self.every) if self.every else ()
        return [self._head(number) for number in due if number not in self.skipped]

    def _head(self, number: int) -> MeasuredAnswer:
        bits = 0.9 + 1.5 * math.exp(-number / 400)
        said = {"millibits": int(bits * TEXT_BYTES * 1_000), "size_bytes": TEXT_BYTES}
        measure = MeasureAnswer(
            entry=number + 40, peer=PEER, tokens=TOKENS, is_outlier=False, tasks=[], **said
        )
        prompt = PROMPTS[number // self.every % self.texts % len(PROMPTS)]
        if self.texts > len(PROMPTS):
            prompt = f"Text {number // self.every % self.texts} begins"
        text = WORDS[min(number * len(WORDS) // (self.rounds + 1), len(WORDS) - 1)]
        sample = SampleAnswer(entry=number + 40, peer=PEER, prompt=prompt, text=text)
        return MeasuredAnswer(
            round=number,
            head=HEAD,
            tokens=TOKENS,
            measures=[measure] * 3,
            verdict=self._verdict(number),
            best=number - self.every if number else None,
            sample=sample if self.has_samples else None,
            tasks=[_task(number)] if self.has_tasks else [],
            **said,
        )

    def _verdict(self, number: int) -> HeadVerdict:
        if number in self.unmeasured:
            return HeadVerdict.UNMEASURED
        return HeadVerdict.WORSE if number in self.worse else HeadVerdict.FINE


def _task(number: int) -> MeasuredTaskAnswer:
    """Answers to a task of 200 questions, of which each round gets some more right."""
    return MeasuredTaskAnswer(
        file=HEAD,
        name="arc_easy",
        chance_e6=250_000,
        members=3,
        asked=200,
        right=50 + number // 20,
        right_normed=50,
        close=2,
        close_normed=2,
    )


@dataclass(slots=True, kw_only=True)
class MeasuredSite:
    """A server of one run's measures; what it is asked is in `asked`."""

    run: MeasuredRun
    url: str = ""
    status: int = 200
    asked: list[str] = field(default_factory=list)

    def answer(self, path: str) -> bytes | None:
        """The content for a path; None: there is nothing."""
        parts, query = urlsplit(path).path, parse_qs(urlsplit(path).query)
        heads = self.run.heads()
        if parts == f"/v1/runs/{self.run.run}":
            return msgspec.json.encode(self._run(heads))
        if parts == f"/v1/runs/{self.run.run}/measures":
            after, limit = int(query["after"][0]), int(query["limit"][0])
            page = [head for head in heads if head.round > after][:limit]
            more = page[-1].round if len(page) == limit else None
            return msgspec.json.encode(MeasuresAnswer(page, more, AS_OF))
        return None

    def _run(self, heads: list[MeasuredAnswer]) -> RunAnswer:
        newest = self.run.newest or self.run.rounds
        said = [
            WrittenAnswer(head.round, PEER, PROMPTS[0], WORDS[0])
            for head in heads[-1:]
            if head.sample
        ]
        return RunAnswer(
            run=HEAD,
            name="maiz",
            manifest=HEAD,
            state=RunState.ROUND_TRAIN,
            phase=RoundPhase.TRAIN.value,
            round=newest + 1,
            closed=newest,
            voided=0,
            members=3,
            tokens=TOKENS,
            roster_index=90,
            opened_index=1,
            head=HEAD,
            head_round=newest,
            weights_root=HEAD,
            aux_root=HEAD,
            published=(),
            rollbacks=tuple(RollbackAnswer(head, at, 80) for head, at in self.run.rollbacks),
            announcement=None,
            pause_reason=None,
            chat=None,
            sample=said[0] if said else None,
            resume=ResumeAnswer(after=90, head=80, close=None),
            as_of=AS_OF,
        )


@contextmanager
def measured_site(run: MeasuredRun) -> Iterator[MeasuredSite]:
    """Serve it on this computer while the context is open."""
    site = MeasuredSite(run=run)

    class MeasuresHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the library's
            site.asked.append(self.path)
            content = site.answer(self.path)
            self.send_response(site.status if content is not None else 404)
            self.send_header("content-length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: object) -> None:
            pass

    with serving(MeasuresHandler) as site.url:
        yield site
