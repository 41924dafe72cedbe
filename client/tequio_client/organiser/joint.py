"""Statements that several organisers sign, at one place or one after the other through a file.

Rules. The author's number is used up on its disk before anything is signed under it, so what is
never completed costs a number and nothing else. A statement that others have to complete is dated
`AHEAD_MS` ahead: the ledger takes it from now until 5 minutes after that date, which is all the
time there is for them. One that all sign at once is dated now. Whoever completes a file signs only
after its signatures were verified.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.worker.ledger.outbox_db import FILE, OutboxDb
from tequio_client.worker.standing_words import moment
from tequio_shared import statement
from tequio_shared.errors import MalformedError, RefusedError, TequioError, UserFacingError
from tequio_shared.ids import from_text, to_text
from tequio_shared.limits import CLOCK_SKEW_MS, ENTRY_BYTES, STATEMENT_LIFE_MS
from tequio_shared.roles import check_role, signers_needed
from tequio_shared.statement import Entry
from tequio_shared.statements.competitions import CompOpen, CompResult
from tequio_shared.statements.connectors import RoleGrant, RoleRevoke
from tequio_shared.statements.invitations import InviteClose, InviteOpen, InviteRevoke
from tequio_shared.statements.standing import StandingRelease, StandingUphold

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_client.ledger.api import LedgerApi, Network
    from tequio_shared.ids import RunId
    from tequio_shared.keys import Signer
    from tequio_shared.statements import Body


Decision: TypeAlias = (
    StandingRelease
    | StandingUphold
    | InviteOpen
    | InviteClose
    | InviteRevoke
    | RoleGrant
    | RoleRevoke
    | CompOpen
    | CompResult
)
"""What organisers say of the network."""
AHEAD_MS = 180_000
_FILE_BYTES = 2 * ENTRY_BYTES


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A half-signed statement as it lies in a file; `says` is for eyes, and signed by nobody."""

    network: str
    says: str
    leaf: str


async def signed(
    api: LedgerApi,
    folder: Path,
    body: Body,
    signers: Sequence[Signer],
    now_ms: int,
    *,
    about: tuple[RunId, int | None] | None = None,
) -> Entry:
    """Sign as the organiser in `folder`, the first signer, and as those beside it.

    `about` is the run that the body is about, and its round if there is one. The folder is locked
    by the caller. Raises UserFacingError.
    """
    network = await api.network()
    account = await api.peer(signers[0].key)
    with OutboxDb(folder / FILE, network.id, signers[0].key) as outbox:
        if account.last_seq < outbox.chain().seq:
            raise UserFacingError(
                f"the ledger has forgotten statements of the organiser in {folder}: "
                f"see what `tequio audit --ledger {api.url}` says"
            )
        outbox.adopt(account.last_seq, account.last)
        seq = outbox.use_number()
    is_all = len(signers) >= signers_needed(body, network.genesis)
    ts = now_ms if is_all else now_ms + AHEAD_MS
    made = statement.make(
        body=body,
        author=signers[0].key,
        seq=seq,
        ts=ts,
        exp=ts + STATEMENT_LIFE_MS,
        prev=account.last,
        run=about[0] if about else None,
        round=about[1] if about else None,
    )
    return statement.sign(network.id, made, *signers)


def is_complete(entry: Entry, network: Network) -> bool:
    """Whether enough organisers signed; raises UserFacingError if somebody else did."""
    organisers = network.genesis.organiser_keys
    for key, _ in entry.signatures:
        if key not in organisers:
            raise UserFacingError(
                f"{to_text(key)} is no organiser of the network {network.genesis.name!r}"
            )
    try:
        check_role(entry, network.genesis)
    except RefusedError:
        return False
    return True


def cosign(entry: Entry, signer: Signer, network: Network) -> Entry:
    """Add a signature; raises UserFacingError if it is there already."""
    if signer.key in dict(entry.signatures):
        raise UserFacingError("this organiser has signed already: another one has to")
    first, *others = entry.signatures
    message = statement.signed_message(network.id, entry.statement.raw)
    others.append((signer.key, signer.sign(message)))
    return Entry((first, *sorted(others)), entry.statement)


def write(path: Path, entry: Entry, says: str, network: Network) -> None:
    """Write a half-signed statement; raises UserFacingError."""
    content = _File(network=to_text(network.id), says=says, leaf=to_text(entry.leaf()))
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")
    except OSError as err:
        raise UserFacingError(f"cannot write {path}: {err.strerror}") from err


def read(path: Path, network: Network) -> tuple[Entry, str]:
    """Read a half-signed decision about this network, its signatures verified; gives `says` too.

    Raises UserFacingError.
    """
    try:
        with path.open("rb") as file:
            content = msgspec.json.decode(file.read(_FILE_BYTES), type=_File)
        entry = Entry.parse(from_text(content.leaf, None))
        if content.network != to_text(network.id):
            raise MalformedError(f"it is about another network, {content.network[:12]}")
        entry.verify(network.id)
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
    except (msgspec.DecodeError, UnicodeDecodeError, TequioError) as err:
        raise UserFacingError(f"{path} holds no half-signed statement: {err}") from err
    if not isinstance(entry.statement.body, Decision):
        raise UserFacingError(f"{path} holds a {entry.statement.type}: nothing to sign together")
    return entry, content.says


async def send(api: LedgerApi, entry: Entry, now_ms: int) -> int:
    """Have the statement logged; gives its index. Raises UserFacingError, LedgerRefusedError."""
    if now_ms > last_moment(entry):
        raise UserFacingError(
            f"too late: it could be sent until {moment(last_moment(entry))}; "
            "the first organiser has to sign anew"
        )
    (posted,) = await api.post([entry])
    if posted.index is None:
        raise LedgerRefusedError(
            posted.code or "", f"{entry.statement.type}: {posted.detail or ''}"
        )
    return posted.index


def last_moment(entry: Entry) -> int:
    """Until when the ledger takes the statement, ms."""
    return min(entry.statement.ts + CLOCK_SKEW_MS, entry.statement.exp)
