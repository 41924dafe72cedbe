"""POST /log/checkpoint: somebody shows a checkpoint that it holds, as this log signed it.

Anybody may; only what bears our own signature counts. One that the log does not hold proves that
entries were lost, and stops all signing.
"""

from litestar import Response, post

from tequio_ledger.web.bodies import read_body
from tequio_ledger.web.doors import GivenDoors, network_of
from tequio_ledger.web.given import GivenLedger
from tequio_ledger.web.problems import AnyRequest
from tequio_shared.errors import RefusedError
from tequio_shared.notes import NOTE_BYTES


@post("/log/checkpoint", status_code=204)
async def post_checkpoint(
    request: AnyRequest, ledger: GivenLedger, doors: GivenDoors
) -> Response[None]:
    """Hold a checkpoint against the log: 204 when the log contains it."""
    doors.let_in(network_of(request), 1)
    note = await read_body(request, NOTE_BYTES)
    if not await ledger.show(note):
        raise RefusedError("log-behind", ledger.guard.reason or "this log does not contain it")
    return Response(None, status_code=204)
