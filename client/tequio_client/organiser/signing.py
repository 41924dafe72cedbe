"""Statements that several organisers sign, at one place or one after the other through a file.

Rules. The author's number is used up on its disk before anything is signed under it, so what is
never completed costs a number and nothing else. A statement that others have to complete is dated
`AHEAD_MS` ahead: the ledger takes it from now until 5 minutes after that date, which is all the
time there is for them. One that all sign at once is dated now. Whoever completes a file signs only
after its signatures were verified.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import msgspec
import trio

from tequio_client.clock import now_ms
from tequio_client.keys import identity
from tequio_client.keys.state import Kept
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.locks import locked
from tequio_client.worker import shutdown
from tequio_client.worker.ledger.outbox_db import FILE, OutboxDb
from tequio_client.worker.ledger.standing import moment
from tequio_shared.errors import MalformedError, RefusedError, TequioError, UserFacingError
from tequio_shared.ids import from_text, to_text
from tequio_shared.limits import CLOCK_SKEW_MS, ENTRY_BYTES, STATEMENT_LIFE_MS
from tequio_shared.network.genesis import check_role, signers_needed
from tequio_shared.statements import statement
from tequio_shared.statements.competitions import CompOpen, CompResult
from tequio_shared.statements.network import (
    InviteClose,
    InviteOpen,
    InviteRevoke,
    RoleGrant,
    RoleRevoke,
    StandingRelease,
    StandingUphold,
)
from tequio_shared.statements.statement import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tequio_client.ledger.api import Network
    from tequio_shared.ids import RunId
    from tequio_shared.keys import Signer
    from tequio_shared.statements import Body

# --- The key of an organiser, held against those who founded the network before it signs
# anything.
#
# A mistyped folder would otherwise get a key of its own, which is registered, and refused then.


def of(folder: Path, network: Network) -> Signer:
    """Read the organiser's key in a folder, which the caller has locked; makes none.

    Raises UserFacingError where there is none, or the network knows it as no organiser's.
    """
    name = network.genesis.name
    if identity.kept(folder) is Kept.ABSENT:
        raise UserFacingError(
            f"there is no key in {folder}: give the folder of an organiser of the network {name!r} "
            "with --dir"
        )
    signer = identity.load(folder)
    if signer.key not in network.genesis.organiser_keys:
        raise UserFacingError(
            f"{to_text(signer.key)}, the key in {folder}, is no organiser of the network {name!r}: "
            "give the folder of one with --dir"
        )
    return signer


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


# --- A decision of organisers about the network: signed by enough of them, at once or in turn.


@contextmanager
def held(folders: Sequence[Path]) -> Iterator[None]:
    """Have the organisers' folders for ourselves; raises UserFacingError."""
    twice = next((one for at, one in enumerate(folders) if _is_among(one, folders[:at])), None)
    if twice is not None:
        raise UserFacingError(
            f"the folder {twice} is given twice, and one organiser cannot sign twice: give that of "
            "another one"
        )
    with ExitStack() as stack:
        for folder in folders:
            stack.enter_context(locked(folder))
        yield


def _is_among(folder: Path, others: Sequence[Path]) -> bool:
    return folder.resolve() in {one.resolve() for one in others}


async def make(api: LedgerApi, body: Decision, folders: Sequence[Path], out: Path | None) -> str:
    """Sign as the organisers in the folders, which are held; says what became of it.

    With too few signatures it goes into `out`. Raises UserFacingError.
    """
    network = await api.network()
    ours = [of(folder, network) for folder in folders]
    if len({signer.key for signer in ours}) < len(ours):
        raise UserFacingError("one organiser cannot sign twice: give the folder of another one")
    entry = await signed(api, folders[0], body, ours, now_ms())
    says = says_of(body)
    if is_complete(entry, network):
        return f"{says}: logged as entry {await send(api, entry, now_ms())}"
    if out is None:
        raise UserFacingError(
            "more organisers have to sign: give --with the folder of another one, or --out a file "
            "for it to complete with `tequio countersign`"
        )
    write(out, entry, says, network)
    return (
        f"{out}: {says}; another organiser has to complete it before "
        f"{moment(last_moment(entry))} with `tequio countersign {out}`"
    )


def countersign(ledger: str, file: Path, folder: Path, agrees: Callable[[str], bool]) -> str:
    """Complete a half-signed decision and have it logged; says what became of it.

    Nothing is signed unless a person `agrees` to what the signed bytes themselves say.
    """
    with locked(folder), shutdown.reached(ledger):
        return trio.run(partial(_countersign, ledger, file, folder, agrees))


def says_of(body: Body) -> str:
    """What a decision comes to, in words."""
    match body:
        case StandingRelease(peer=peer):
            return f"{peer} is active again"
        case StandingUphold(peer=peer, to=to):
            return f"{peer} is banned" if to == "banned" else f"{peer} stays quarantined"
        case CompOpen(competition=name):
            return f"the competition {name} is opened, under the rules of that SHA-256"
        case CompResult(competition=name, outcome=outcome):
            return f"the competition {name} has the outcome of SHA-256 {outcome}"
        case _:
            return _says_of_door(body)


def _says_of_door(body: Body) -> str:
    match body:
        case InviteOpen(invitation=key, uses=uses, until=until, run=run):
            where = f"for the run {run}" if run else "for every run"
            return f"invitation {key} lets in {uses} until {moment(until)}, {where}"
        case InviteClose(invitation=key):
            return f"invitation {key} is closed"
        case InviteRevoke(invitation=key):
            return f"invitation {key} is revoked, and whom it let in is invited no longer"
        case RoleGrant(peer=peer, role=role, until=until):
            return f"{peer} is a {role} until {moment(until)}"
        case RoleRevoke(peer=peer, role=role):
            return f"{peer} is no {role} any more"
    raise AssertionError(f"{body.TYPE} is no decision of organisers")


async def _countersign(ledger: str, file: Path, folder: Path, agrees: Callable[[str], bool]) -> str:
    async with LedgerApi(ledger) as api:
        network = await api.network()
        entry, told = read(file, network)
        says = says_of(entry.statement.body)
        if told != says:
            raise UserFacingError(
                f"{file} is described as something else than it says, which is: {says}; "
                "ask whoever gave it to you"
            )
        if not await trio.to_thread.run_sync(agrees, says):
            raise UserFacingError("nothing was signed")
        entry = cosign(entry, of(folder, network), network)
        if is_complete(entry, network):
            return f"{says}: logged as entry {await send(api, entry, now_ms())}"
        write(file, entry, says, network)
        last = moment(last_moment(entry))
        return f"{file}: {says}; signed, but more have to, before {last}"
