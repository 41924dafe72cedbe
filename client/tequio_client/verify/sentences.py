"""What held in a verification, a sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.names import short
from tequio_shared.competition_state import Phase
from tequio_shared.ids import sha256, to_text

if TYPE_CHECKING:
    from tequio_client.verify.folded_log import FoldedLog
    from tequio_client.verify.judgement import Judged
    from tequio_shared.competition import CompetitionView


_PHASES = {
    Phase.OPEN: "opened",
    Phase.CLOSED: "closed",
    Phase.DRAWN: "drawn",
    Phase.REVEALED: "revealed",
    Phase.DECIDED: "decided",
}


def of_log(log: FoldedLog) -> str:
    """About signature and root."""
    cosigned = f", cosigned by {', '.join(log.cosigners)}" if log.cosigners else ""
    return (
        f"log: {log.checkpoint.size:,} entries make the root that {log.checkpoint.origin} "
        f"signed{cosigned}; network {log.genesis.name} ({to_text(log.genesis.network_id)})"
    )


def of_statements(view: CompetitionView, number: int) -> str:
    """About order and signatures."""
    order = ", ".join(
        f"{_PHASES[phase]} {mark.index}"
        for phase, mark in sorted(view.began.items(), key=lambda one: one[1].index)
    )
    return f"statements: {number:,} are signed, each follows from those before (entries: {order})"


def of_texts(judged: Judged) -> str:
    """About the sealed set."""
    number = judged.view.rules.sealed.documents
    return f"texts: {number:,} documents match the sealed root, {len(judged.texts):,} were drawn"


def of_evaluators(judged: Judged) -> str:
    """About who scored."""
    view, draw = judged.view, judged.view.draw
    drawn = ", ".join(short(to_text(key)) for key in draw.evaluators) if draw else ""
    return (
        f"evaluators: {len(view.offers)} offered, {drawn} were drawn; they committed to "
        f"{len(view.commits)} evaluations before any was published, then published "
        f"{len(view.results)}"
    )


def of_unheard(view: CompetitionView) -> list[str]:
    """About each evaluator who was drawn, and whose scores of an entrant do not count."""
    silent = [
        f"evaluator {short(to_text(key))} never committed to scores of {entrant}"
        for entrant, key in view.silent
    ]
    withheld = [
        f"evaluator {short(to_text(key))} committed to scores of {entrant} (entry "
        f"{view.commits[entrant, key].said.index}) and did not publish them: they do not count"
        for entrant, key in view.withheld
    ]
    return silent + withheld


def of_outcome(judged: Judged) -> str:
    """About the result."""
    name = to_text(sha256(judged.outcome.encode()))
    same = "medians, totals, intervals and ranks equal those in the log, byte for byte"
    return f"outcome: {same} ({name})"


def of_rescoring(documents: int, device: str) -> str:
    """About what was scored again."""
    return f"scored again on {device}: {documents:,} documents, each within tolerance of the median"
