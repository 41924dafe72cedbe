"""Keys that sign two different statements under one number, on a ledger that serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.clock import now_ms
from tequio_client.ledger.api import LedgerApi
from tequio_shared.ids import to_text
from tequio_shared.network.run import first_head
from tequio_shared.statements.network import MemberLeave, MemberReady
from tequio_shared.statements.runs import RunOpen
from tests.support.authors import Author
from tests.support.ledgers import ORGANISER
from tests.support.signing_swarm import manifest

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.keys import Signer
    from tequio_shared.statements.statement import Entry
    from tests.support.ledgers import Served

_RULES = manifest()
RUN = _RULES.run_id


async def open_run(one: Served) -> None:
    """Open a run that statements can be about."""
    organiser = Author("organiser", one.net)
    organiser.signer = ORGANISER
    opening = RunOpen(manifest=to_text(RUN), head=to_text(first_head(_RULES).hash))
    async with LedgerApi(one.url) as api:
        await api.put_blob(_RULES.encode(), ORGANISER, now_ms())
        await api.post_entries([organiser.sign(opening, now_ms(), run=RUN)])


def contradiction(liar: Author) -> tuple[Entry, Entry]:
    """Sign member.ready and, under the same number, member.leave."""
    chain = liar.seq, liar.last
    text = to_text(RUN)
    ready = MemberReady(head=text, roles=("trainer",))
    first = liar.sign(ready, now_ms(), run=RUN)
    liar.seq, liar.last = chain
    return first, liar.sign(MemberLeave(reason=1), now_ms(), run=RUN)


async def lie(one: Served, name: str) -> Author:
    """Send the ledger both statements of a new key; the key is quarantined."""
    liar = Author(name, one.net)
    async with LedgerApi(one.url) as api:
        await api.post_entries([liar.register(now_ms())])
        first, second = contradiction(liar)
        await api.post_entries([first])
        (answer,) = await api.post_entries([second])
    assert answer.code == "equivocation"
    return liar


def key_folder(path: Path, signer: Signer) -> Path:
    """Make a folder that holds the key as our programs keep it."""
    path.mkdir(mode=0o700)
    (path / "identity.key").write_bytes(signer.seed)
    (path / "identity.key").chmod(0o600)
    return path
