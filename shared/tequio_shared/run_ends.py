"""Why rounds and runs end: the reasons that round.void and run.close have to give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.errors import RefusedError
from tequio_shared.round_state import Phase
from tequio_shared.run_states import CloseReason, VoidReason

if TYPE_CHECKING:
    from tequio_shared.manifest import Manifest
    from tequio_shared.round import RoundView


def close_reason(number: int, manifest: Manifest) -> CloseReason:
    """Tell why a run that closes after that round has ended."""
    done = number >= manifest.rounds.most
    return CloseReason.ROUNDS_DONE if done else CloseReason.ORGANISER_ENDED


def void_reason(view: RoundView) -> VoidReason:
    """Why a round that ends now would be void; raises RefusedError when it would not."""
    if view.phase is Phase.ATTEST:
        if view.agreed_head() is not None:
            raise RefusedError("wrong-void", f"round {view.number} has its head quorum")
        return VoidReason.NO_HEAD_QUORUM
    if not view.commitments:
        return VoidReason.NO_COMMITMENTS
    if view.phase is Phase.WITNESS and not view.has_quorum():
        return VoidReason.NO_PROOF_QUORUM
    if view.phase is Phase.WITNESS and not view.accepted():
        return VoidReason.NOTHING_ACCEPTED
    raise RefusedError("wrong-void", f"nothing makes round {view.number} void")
