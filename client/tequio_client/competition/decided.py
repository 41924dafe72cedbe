"""The organisers' word on what a competition came to, computed from the log."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import trio

from tequio_client.clock import now_ms
from tequio_client.competition import drawn_texts, moments, outcomes
from tequio_client.ledger.api import LedgerApi
from tequio_client.organiser import decision, signers
from tequio_client.worker import endings
from tequio_shared.competition_state import Phase
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.statements.competitions import CompResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_client.verify.ledger_reader import LedgerReader
    from tequio_shared.competition import CompetitionView
    from tequio_shared.evaluations import Outcome


def computed(log: LedgerReader, wanted: str | None) -> tuple[CompetitionView, Outcome]:
    """What the log comes to now; raises UserFacingError when nothing can be ranked yet."""
    view = log.wait_for(wanted)
    with TemporaryDirectory(prefix="tequio-outcome-") as folder:
        texts = drawn_texts.drawn(view, Path(folder), log.blob, log.ledger)
        return view, outcomes.computed(view, texts, log.blob)


def decide(
    log: LedgerReader,
    view: CompetitionView,
    outcome: Outcome,
    folders: Sequence[Path],
    out: Path | None,
) -> str:
    """State the outcome as the organisers in the folders; says what became of it."""
    if view.phase is Phase.DECIDED:
        raise UserFacingError(f"{view.rules.name} is decided already")
    if now_ms() < view.rules.dates.result:
        raise UserFacingError(
            f"it is too early: scores of {view.rules.name} may be challenged until "
            f"{moments.told(view.rules.dates.result)}"
        )
    with decision.held(folders), endings.reached(log.ledger):
        return trio.run(partial(_decide, log.ledger, view, outcome, folders, out))


async def _decide(
    ledger: str,
    view: CompetitionView,
    outcome: Outcome,
    folders: Sequence[Path],
    out: Path | None,
) -> str:
    async with LedgerApi(ledger) as api:
        signer = signers.of(folders[0], await api.network())
        name = await api.put_blob(outcome.encode(), signer, now_ms())
        body = CompResult(competition=to_text(view.id), outcome=to_text(name))
        return await decision.make(api, body, folders, out)
