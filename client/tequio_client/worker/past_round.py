"""How a round ended while we were away, read from the log with proofs.

The ledger says where to look; that entry and its document then speak for themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.ledger.proofs import read_entries
from tequio_shared.contribution import contribution_id
from tequio_shared.documents import Result
from tequio_shared.errors import PeerError
from tequio_shared.ids import digest_from_text, to_text
from tequio_shared.proof import Verdict
from tequio_shared.statements.rounds import RoundClose, RoundVoid

if TYPE_CHECKING:
    from tequio_client.worker.node import Node
    from tequio_shared.contribution import Header
    from tequio_shared.statement import Statement


async def was_accepted(node: Node, header: Header, after: int) -> bool | None:
    """Whether our contribution was, in a round that ended up to that log index.

    None: the round is not over there. Raises PeerError when the ledger's answer does not hold.
    """
    rounds = await node.ledger.rounds(header.run_id, after=header.round - 1, limit=1)
    if not rounds or rounds[0].round != header.round:
        raise PeerError(f"the ledger does not know round {header.round}")
    index = rounds[0].closed_index
    if index is None or index > after:
        return None
    (entry,) = (await read_entries(node.ledger, node.network_info, [index])).values()
    statement = entry.statement
    if (statement.run, statement.round) != (header.run_id, header.round):
        raise PeerError(f"entry {index} is not about round {header.round}")
    return await _is_in(node, header, statement)


async def _is_in(node: Node, header: Header, statement: Statement) -> bool:
    match statement.body:
        case RoundVoid():
            return False
        case RoundClose(result=name):
            result = Result.parse(await node.exchange.blob(digest_from_text(name)))
            ours = to_text(contribution_id(header.pack()))
            return any(
                row.contribution == ours and row.verdict == Verdict.ACCEPTED for row in result.slots
            )
    raise PeerError(f"{statement.type} does not end round {header.round}")
