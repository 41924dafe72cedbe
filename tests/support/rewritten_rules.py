"""A competition rewritten as if it had had other rules, which give it another id.

Every statement about it becomes one about the other competition. Lots, scores and the draw are
bound to the id, so all proofs, the evaluators' commitments and scores and the outcome's beacon are
new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tequio_shared import vrf
from tequio_shared.competition.draw import draw_beacon, draw_input, lot_input, seed_input
from tequio_shared.competition.rules import CompetitionOutcome, Evaluation
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.statements.competitions import (
    CompClose,
    CompDraw,
    CompResult,
    EvalCommit,
    EvalLot,
    EvalResult,
)
from tests.support.score_commitments import committing

if TYPE_CHECKING:
    from tequio_client.verify.competition import JudgedCompetition
    from tequio_shared.competition.rules import CompetitionRules
    from tequio_shared.ids import PeerKey
    from tequio_shared.statements.statement import Body
    from tests.support.rewritten_log import RewrittenLog


def follow(log: RewrittenLog, judged: JudgedCompetition, rules: CompetitionRules) -> None:
    """Rewrite every statement about the competition for these rules."""
    before, name = to_text(judged.view.id), log.put(rules.encode())
    rewriter = _StatementRewriter(log, judged, rules)
    for at, entry in enumerate(log.entries):
        body = entry.statement.body
        if getattr(body, "competition", None) == before:
            renamed = msgspec.structs.replace(body, competition=name)
            log.change(at, rewriter.rewrite(entry.statement.author, renamed))
    log.about = msgspec.structs.replace(log.about, competition=name)


class _StatementRewriter:
    """Rewrites each statement so that it is consistent with the other rules."""

    def __init__(
        self, log: RewrittenLog, judged: JudgedCompetition, rules: CompetitionRules
    ) -> None:
        self._log = log
        self._view = judged.view
        self._rules = rules
        self._seed = self._output = b""
        self._lots: dict[PeerKey, bytes] = {}
        self._results: dict[tuple[str, PeerKey], EvalResult] = {
            (body.entrant, one.statement.author): self._scored(body)
            for one in log.entries
            if isinstance(body := one.statement.body, EvalResult)
        }

    def rewrite(self, author: PeerKey, body: Body) -> Body:
        """The body that replaces the author's."""
        match body:
            case CompClose() | EvalLot() | CompDraw():
                return msgspec.structs.replace(body, vrf=self._proof(author, body))
            case EvalCommit():
                result = self._results.get((body.entrant, author))
                if result is None:
                    return body  # it never revealed the scores
                return committing(author, result)
            case EvalResult():
                return self._results[body.entrant, author]
            case CompResult():
                return msgspec.structs.replace(body, outcome=self._outcome(body.outcome))
        return body

    def _proof(self, author: PeerKey, body: CompClose | EvalLot | CompDraw) -> str:
        """The author's proof, for what was proven before in the other competition."""
        name = self._rules.id
        match body:
            case CompClose():
                alpha = seed_input(name)
            case EvalLot():
                alpha = lot_input(name, self._seed)
            case CompDraw():
                alpha = draw_input(name, self._lots)
        proof = self._log.signers[author].prove(alpha)
        match body:
            case CompClose():
                self._seed = vrf.output(proof)
            case EvalLot():
                self._lots[author] = vrf.output(proof)
            case CompDraw():
                self._output = vrf.output(proof)
        return to_text(proof)

    def _scored(self, body: EvalResult) -> EvalResult:
        name = to_text(self._rules.id)
        found = Evaluation.parse(self._log.blobs[digest_from_text(body.scores)])
        scores = self._log.put(msgspec.structs.replace(found, competition=name).encode())
        return msgspec.structs.replace(body, competition=name, scores=scores)

    def _outcome(self, text: str) -> str:
        beacon = draw_beacon(self._rules.id, self._view.known_draw.key, self._output)
        found = CompetitionOutcome.parse(self._log.blobs[digest_from_text(text)])
        other = msgspec.structs.replace(
            found, competition=to_text(self._rules.id), beacon=to_text(beacon)
        )
        return self._log.put(other.encode())
