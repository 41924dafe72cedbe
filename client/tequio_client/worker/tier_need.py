"""What a run asks of the tier of our key, and what to do when it has less: for eyes only.

The ledger's word is enough for that; rosters are made from the log, whatever we believe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from tequio_client.ledger.http import LedgerUnavailableError
from tequio_shared.documents import TRAINER, WITNESS
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import to_text
from tequio_shared.tiers import Tier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_client.ledger.api import LedgerApi
    from tequio_shared.api.peers import TierAnswer
    from tequio_shared.ids import PeerKey
    from tequio_shared.manifest import Manifest

log = structlog.get_logger(__name__)


async def tell(
    ledger: LedgerApi, key: PeerKey, manifest: Manifest, roles: Sequence[str], now_ms: int
) -> None:
    """Log a warning if our key's tier is too low for a role that we want."""
    if not any((manifest.admits.trainer_tier, manifest.admits.witness_tier)):
        return
    try:
        told = (await ledger.peer(key)).tier
    except RefusedError:  # not registered yet
        told = None
    except (LedgerUnavailableError, PeerError) as err:
        log.debug("our tier is not known", error=str(err))
        return
    unmet = unmet_roles(told, manifest, roles, now_ms)
    if unmet:
        log.warning(
            "this run asks for a higher tier than our key has",
            roles=" and ".join(unmet),
            do="join by an invitation (tequio join), or have an account vouch (tequio connect)",
        )


def unmet_roles(
    told: TierAnswer | None, manifest: Manifest, roles: Sequence[str], now_ms: int
) -> list[str]:
    """Those of the roles that this run keeps from a key of that tier."""
    least = {TRAINER: manifest.admits.trainer_tier, WITNESS: manifest.admits.witness_tier}
    tier = _counting(told, to_text(manifest.run_id), now_ms)
    return [role for role in roles if tier < least[role]]


def _counting(told: TierAnswer | None, run: str, now_ms: int) -> int:
    """The tier as this run counts it now."""
    if told is None or told.run not in (None, run):
        return Tier.ANONYMOUS
    if told.tier == Tier.VOUCHED and now_ms >= told.until:
        return Tier.ANONYMOUS
    return told.tier
