"""A drawn evaluator that publishes a document made to be expensive to parse."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.competition.state import score_commitment
from tequio_shared.ids import sha256, to_text
from tequio_shared.statements.competitions import EvalCommit, EvalResult
from tests.support.attackers import codes, post
from tests.support.authors import Author
from tests.support.competition_program import (
    DATES,
    EVALUATORS,
    SECOND_MS,
    CompetitionProgram,
    until_texts,
)
from tests.support.synthetic_competition import folder, salt_of
from tests.support.uploads import put_blob

if TYPE_CHECKING:
    import httpx

    from tequio_shared.keys import Signer
    from tests.support.ledgers import Served

LONG_DATES = (*DATES[:3], 7_200 * SECOND_MS, 8_000 * SECOND_MS)
"""Dates that leave two hours for scores."""


@dataclass(frozen=True, slots=True)
class EvaluatorBomb:
    """The document, its evaluator, and the competition in which the evaluator committed to it."""

    ledger: Served
    place: CompetitionProgram
    author: Author
    content: bytes

    @property
    def body(self) -> EvalResult:
        """The statement that names the document."""
        return EvalResult(
            competition=self.place.paper.text,
            entrant="alpha",
            submission=to_text(folder("alpha").id),
            scores=to_text(sha256(self.content)),
            salt=to_text(salt_of(self.author.key, "alpha")),
            millibits=1,
            size_bytes=1,
        )

    def upload(self, http: httpx.Client, signer: Signer | None = None) -> int:
        """Upload the document, as the evaluator unless another key signs; returns the status."""
        now_ms = time.time_ns() // 1_000_000
        signer = signer or self.author.signer
        return put_blob(http, self.ledger.net, self.content, now_ms, signer).status_code

    def post(self) -> str:
        """Post the statement; returns the code of its refusal. The chain stays as it is."""
        author = Author("copy", self.author.net)
        author.signer, author.seq, author.last = (
            self.author.signer,
            self.author.seq,
            self.author.last,
        )
        entry = author.sign(self.body, time.time_ns() // 1_000_000)
        (code,) = codes(post(self.ledger.url, [entry]))
        return code


def commit_bomb(
    ledger: Served, http: httpx.Client, content: bytes, dates: tuple[int, ...] = DATES
) -> EvaluatorBomb:
    """Take a competition to the point where its last evaluator may publish that document."""
    place = CompetitionProgram(http, ledger.net, dates)
    until_texts(place)
    *honest, last = EVALUATORS
    paper = place.paper
    for one in honest:
        place.post_statement(one, paper.commit(place.people[one].key, "alpha", folder("alpha"), 9))
    liar = place.people[last]
    commit = score_commitment(paper.id, liar.key, sha256(content), salt_of(liar.key, "alpha"))
    body = EvalCommit(competition=paper.text, entrant="alpha", commit=to_text(commit))
    place.post_statement(last, body)
    return EvaluatorBomb(ledger, place, liar, content)
