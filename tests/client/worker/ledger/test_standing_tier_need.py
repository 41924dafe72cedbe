"""A worker says when its key cannot have a role in the run that it joins."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec
import pytest
import structlog
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.ledger.standing import unmet_roles, warn_about_tier
from tequio_shared.api.peers import TierAnswer
from tequio_shared.ids import sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.round.documents import TRAINER, WITNESS
from tequio_shared.round.manifest import Admission
from tests.support.answers import filled
from tests.support.ledgers import ORGANISER, served
from tests.support.signing_swarm import manifest

if TYPE_CHECKING:
    from pathlib import Path

BOTH, NOW = (TRAINER, WITNESS), 1_000
OWNER = to_text(sha256(b"owner"))
GUARDED = msgspec.structs.replace(manifest(), admission=Admission(trainer_tier=1, witness_tier=2))


@pytest.mark.parametrize(
    ("told", "unmet"),
    [
        (None, [TRAINER, WITNESS]),
        (filled(TierAnswer, tier=0, owner=OWNER), [TRAINER, WITNESS]),
        (filled(TierAnswer, tier=1, owner=OWNER, until=NOW + 1), [WITNESS]),
        (filled(TierAnswer, tier=1, owner=OWNER, until=NOW), [TRAINER, WITNESS]),
        (filled(TierAnswer, tier=2, owner=OWNER), []),
        (filled(TierAnswer, tier=2, owner=OWNER, run=to_text(GUARDED.run_id)), []),
        (filled(TierAnswer, tier=2, owner=OWNER, run=OWNER), [TRAINER, WITNESS]),
    ],
)
def test_a_role_is_kept_from_a_key_whose_tier_is_too_low(
    told: TierAnswer | None, unmet: list[str]
) -> None:
    assert unmet_roles(told, GUARDED, BOTH, NOW) == unmet
    assert unmet_roles(told, manifest(), BOTH, NOW) == []


def test_a_worker_says_once_what_to_do(tmp_path: Path) -> None:
    stranger = Signer(bytes([91]) * 32)

    async def ask(url: str) -> None:
        async with LedgerApi(url) as api:
            told = await warn_about_tier(api, stranger.key, GUARDED, BOTH, NOW)
            assert "tequio join" in told
            for key, rules in ((ORGANISER.key, GUARDED), (stranger.key, manifest())):
                assert await warn_about_tier(api, key, rules, BOTH, NOW) == ""

    with served(tmp_path) as ledger, structlog.testing.capture_logs() as said:
        trio.run(partial(ask, ledger.url))
    (warning,) = (one for one in said if one["log_level"] == "warning")
    assert warning["roles"] == "trainer and witness"
    assert "tequio join" in warning["do"]
