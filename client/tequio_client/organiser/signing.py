"""Statements signed by several organisers, together or one after the other through a file.

Rules. The author's sequence number is marked as used on disk before anything is signed with it, so
a statement that is never completed costs one number and nothing else. A statement that all sign at
once is dated now. One that others have to complete is dated `AHEAD_MS` ahead: the ledger accepts it
from now until 5 minutes after that date, which is all the time they have. An organiser that
completes a file signs only after verifying the signatures in it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgspec
import trio

from tequio_client.clock import now_ms
from tequio_client.keys import identity
from tequio_client.keys.state import KeyProtection
from tequio_client.ledger.api import LedgerApi, LedgerNetwork
from tequio_client.ledger.http import LedgerRefusedError
from tequio_client.runtime import locked
from tequio_client.worker import shutdown
from tequio_client.worker.ledger.outbox import Outbox
from tequio_client.worker.ledger.outbox_db import FILE, OutboxDb, UnsentStatement
from tequio_client.worker.ledger.standing import format_time
from tequio_shared import encoding
from tequio_shared.errors import MalformedError, RefusedError, TequioError, UserFacingError
from tequio_shared.ids import RunId, from_text, to_text
from tequio_shared.keys import Signer
from tequio_shared.limits import CLOCK_SKEW_MS, ENTRY_BYTES, STATEMENT_LIFE_MS
from tequio_shared.network.genesis import ORGANISER_BODIES, check_role, signers_needed
from tequio_shared.statements import statement
from tequio_shared.statements.competitions import CompOpen, CompResult
from tequio_shared.statements.network import (
    InviteClose,
    InviteOpen,
    InviteRevoke,
    NameWithdraw,
    NetNotice,
    RoleGrant,
    RoleRevoke,
    SoftwareRelease,
    StandingRelease,
    StandingUphold,
)
from tequio_shared.statements.statement import Body, Entry

T = TypeVar("T")
Decision: TypeAlias = (
    StandingRelease
    | StandingUphold
    | NameWithdraw
    | InviteOpen
    | InviteClose
    | InviteRevoke
    | RoleGrant
    | RoleRevoke
    | SoftwareRelease
    | NetNotice
    | CompOpen
    | CompResult
)
"""Statements of organisers about the network as a whole."""
AHEAD_MS = 180_000
SUBMIT_TIMEOUT_S = 300.0
"""Longest time that a statement is sent to a ledger that does not accept it."""
_FILE_BYTES = 2 * ENTRY_BYTES
_OVERTAKEN = ("seq-gap", "equivocation")
"""Refusals of a statement whose author has another one in the log in its place, or after it."""


def load_organiser(folder: Path, network: LedgerNetwork) -> Signer:
    """Load the organiser's key in a folder; callers that sign with it lock that first.

    Raises UserFacingError if there is no key, or it is not an organiser's.
    """
    check_has_key(folder)
    signer = identity.load(folder)
    if signer.key not in network.genesis.organiser_keys:
        raise UserFacingError(
            f"{to_text(signer.key)}, the key in {folder}, is not an organiser of the network "
            f"{network.genesis.name!r}: give the folder of an organiser with --dir"
        )
    return signer


def check_has_key(folder: Path) -> None:
    """Raise UserFacingError for a folder without a key, and make neither of them.

    The key of a mistyped folder would be registered, and then refused.
    """
    if identity.protection_of(folder) is KeyProtection.ABSENT:
        raise UserFacingError(f"no key in {folder}: give the folder of an organiser with --dir")


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningOptions:
    """The ledger that gets a decision, and the organisers that sign it."""

    ledger: str
    folders: tuple[Path, ...]
    """Of the organisers, the author's first."""
    out: Path | None
    """File for the decision if more organisers have to sign."""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A half-signed statement in a file; `says` describes it to people and is not signed."""

    network: str
    says: str
    leaf: str


async def sign_statement(
    api: LedgerApi,
    folder: Path,
    body: Body,
    signers: Sequence[Signer],
    now_ms: int,
    *,
    about: tuple[RunId, int | None] | None = None,
) -> Entry:
    """Sign as the organiser in `folder`, which is the first signer, and as the other signers.

    `about` is the run of the statement, and its round or None. The caller has locked the folder.
    Raises UserFacingError.
    """
    network = await api.network()
    account = await api.peer(signers[0].key)
    with OutboxDb(folder / FILE, network.id, signers[0].key) as outbox:
        chain = outbox.chain()
        if account.last_seq < chain.seq:
            raise UserFacingError(
                f"the ledger lacks statements of the organiser in {folder}: run "
                f"`tequio audit --ledger {api.url}`"
            )
        if account.last != chain.last:
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


async def submit_alone(
    api: LedgerApi,
    folder: Path,
    signer: Signer,
    body: Body,
    run: RunId | None = None,
    documents: Sequence[bytes] = (),
) -> Entry:
    """Upload the documents, register the key if needed, and log a statement of one key.

    A statement that was not logged by the end is given up, so that no later command sends it; one
    whose answer got lost may be in the log. The caller has locked the folder. Raises
    LedgerRefusedError, LedgerUnavailableError and UserFacingError.
    """
    network = await api.network()

    def drop(is_dropped: Callable[[UnsentStatement], bool]) -> None:
        with OutboxDb(folder / FILE, network.id, signer.key) as drafts:
            for one in filter(is_dropped, drafts.drafts()):
                drafts.drop(one.ticket)

    def is_this(draft: UnsentStatement) -> bool:
        return (draft.body, draft.run) == (body, run)

    # A killed command could drop nothing. Statements of a worker with this key stay, and so does
    # this one: the ledger may have it already, and a new one would be logged beside it.
    drop(lambda draft: isinstance(draft.body, ORGANISER_BODIES) and not is_this(draft))
    try:
        async with Outbox(api, folder, signer) as outbox:
            with trio.move_on_after(SUBMIT_TIMEOUT_S):
                return await outbox.submit(body, run, documents=documents)
    finally:
        drop(is_this)
    raise UserFacingError(
        f"the ledger did not accept the statement within {SUBMIT_TIMEOUT_S:.0f} s "
        f"({outbox.problem}), and it is given up: run this again later"
    )


def is_complete(entry: Entry, network: LedgerNetwork) -> bool:
    """Tell if enough organisers have signed; raises UserFacingError for any other signer."""
    organisers = network.genesis.organiser_keys
    for key, _ in entry.signatures:
        if key not in organisers:
            raise UserFacingError(
                f"{to_text(key)} is not an organiser of the network {network.genesis.name!r}"
            )
    try:
        check_role(entry, network.genesis)
    except RefusedError:
        return False
    return True


def add_signature(entry: Entry, signer: Signer, network: LedgerNetwork) -> Entry:
    """Add a signature; raises UserFacingError if this organiser has signed already."""
    if signer.key in dict(entry.signatures):
        raise UserFacingError("this organiser has signed already: another organiser has to sign")
    first, *others = entry.signatures
    message = statement.signed_message(network.id, entry.statement.raw)
    others.append((signer.key, signer.sign(message)))
    return Entry((first, *sorted(others)), entry.statement)


def write_half_signed(path: Path, entry: Entry, says: str, network: LedgerNetwork) -> None:
    """Write a half-signed statement; raises UserFacingError."""
    content = _File(network=to_text(network.id), says=says, leaf=to_text(entry.leaf()))
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")
    except OSError as err:
        raise UserFacingError(f"cannot write {path}: {err.strerror}") from err


def read_half_signed(path: Path, network: LedgerNetwork) -> tuple[Entry, str]:
    """Read a half-signed decision and its description, and verify its signatures.

    Raises UserFacingError.
    """
    try:
        with path.open("rb") as file:
            content = encoding.read(file.read(_FILE_BYTES), _File)
        entry = Entry.parse(from_text(content.leaf, None))
        if content.network != to_text(network.id):
            raise MalformedError(f"it belongs to another network, {content.network[:12]}")
        entry.verify(network.id)
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
    except TequioError as err:
        raise UserFacingError(f"{path} is not a half-signed statement: {err}") from err
    if not isinstance(entry.statement.body, Decision):
        raise UserFacingError(
            f"{path} has a {entry.statement.type}, which several organisers do not sign"
        )
    return entry, content.says


async def post_entry(api: LedgerApi, entry: Entry, now_ms: int) -> int:
    """Log the statement; returns its index. Raises UserFacingError and LedgerRefusedError."""
    if now_ms > expiry_ms(entry):
        raise UserFacingError(
            f"the decision expired at {format_time(expiry_ms(entry))}: the first organiser has to "
            "sign it again"
        )
    (posted,) = await api.post_entries([entry])
    if posted.code in _OVERTAKEN:
        raise UserFacingError(
            f"{to_text(entry.statement.author)} has signed something else since, so this cannot "
            "be logged: that organiser has to sign it again"
        )
    if posted.index is None:
        raise LedgerRefusedError(
            posted.code or "", f"{entry.statement.type}: {posted.detail or ''}"
        )
    return posted.index


async def post_own_entry(api: LedgerApi, folder: Path, entry: Entry) -> int:
    """Log a statement that the organiser in `folder` made, as `post_entry` does."""
    index, network = await post_entry(api, entry, now_ms()), await api.network()
    with OutboxDb(folder / FILE, network.id, entry.statement.author) as outbox:
        outbox.note_logged(entry.statement)
    return index


def expiry_ms(entry: Entry) -> int:
    """Last time at which the ledger accepts the statement, ms."""
    return min(entry.statement.ts + CLOCK_SKEW_MS, entry.statement.exp)


def check_folders(folders: Sequence[Path]) -> None:
    """Raise UserFacingError for a folder without a key, and for one that is given twice."""
    for at, folder in enumerate(folders):
        check_has_key(folder)
        if folder.resolve() in {one.resolve() for one in folders[:at]}:
            raise UserFacingError(
                f"the folder {folder} is given twice, and an organiser signs once: give the folder "
                "of another organiser"
            )


@contextmanager
def locked_folders(folders: Sequence[Path]) -> Iterator[None]:
    """Lock the organisers' folders; raises UserFacingError, as `check_folders` does too."""
    check_folders(folders)
    with ExitStack() as stack:
        for folder in folders:
            stack.enter_context(locked(folder))
        yield


def decide(
    decision: Decision | Callable[[LedgerApi], Awaitable[Decision]],
    options: SigningOptions,
    documents: Sequence[bytes] = (),
) -> str:
    """Sign a decision, or the one that a function makes, as `sign_decision` does.

    Documents that it names are uploaded first.
    """

    async def decided(api: LedgerApi) -> str:
        if documents:
            signer = load_organiser(options.folders[0], await api.network())
            for one in documents:
                await api.put_blob(one, signer, now_ms())
        body = await decision(api) if callable(decision) else decision
        return await sign_decision(api, body, options)

    with locked_folders(options.folders):
        return shutdown.ask_ledger(options.ledger, decided)


async def sign_decision(api: LedgerApi, body: Decision, options: SigningOptions) -> str:
    """Sign as the organisers, whose folders are locked; returns a sentence about the result.

    With too few signatures, the decision is written to a file. Raises UserFacingError.
    """
    folders, out = options.folders, options.out
    network = await api.network()
    signers = [load_organiser(folder, network) for folder in folders]
    if len({signer.key for signer in signers}) < len(signers):
        raise UserFacingError("an organiser signs once: give the folder of another organiser")
    entry = await sign_statement(api, folders[0], body, signers, now_ms())
    says = describe_decision(body)
    if is_complete(entry, network):
        return f"{says}: logged as entry {await post_own_entry(api, folders[0], entry)}"
    if out is None:
        raise UserFacingError(
            "more organisers have to sign: give the folder of another one with --with, or a file "
            "with --out, which another one completes with `tequio countersign`"
        )
    write_half_signed(out, entry, says, network)
    return (
        f"{out}: {says}; another organiser has to sign it before "
        f"{format_time(expiry_ms(entry))} with `tequio countersign {out}`. Until then, sign "
        f"nothing else with the key in {folders[0]}"
    )


def countersign(ledger: str, file: Path, folder: Path, agrees: Callable[[str], bool]) -> str:
    """Complete and log a half-signed decision; returns a sentence about the result.

    `agrees` asks a person about the description computed from the signed bytes; nothing is signed
    without consent.
    """
    with locked_folders([folder]):
        return shutdown.ask_ledger(ledger, partial(_countersign, file, folder, agrees))


def describe_decision(body: Body) -> str:
    match body:
        case StandingRelease(peer=peer):
            return f"{peer} is active again"
        case StandingUphold(peer=peer, to=to):
            return f"{peer} is banned" if to == "banned" else f"{peer} keeps its standing"
        case CompOpen() | CompResult():
            return _describe_competition(body)
        case SoftwareRelease(version=version, minimum=minimum, targets_version=number) as release:
            return (
                f"version {version} is released, in list {number} with the SHA-256 "
                f"{from_text(release.targets).hex()}; members need {minimum} or newer"
            )
        case NetNotice(text=text):
            told = f"everybody in the network is told: {text}"
            return told if text else "the announcement to the network is withdrawn"
        case _:
            return _describe_membership(body)


def _describe_competition(body: CompOpen | CompResult) -> str:
    name = body.competition
    if isinstance(body, CompOpen):
        return f"the competition {name} is opened; its id is the SHA-256 of its rules"
    return f"the result of the competition {name} has the SHA-256 {body.outcome}"


def _describe_membership(body: Body) -> str:
    match body:
        case NameWithdraw(peer=peer, team=team):
            whose = f"team {team}" if team else peer
            return f"the name of {whose} is withdrawn, and nobody can have it again"
        case InviteOpen(invitation=key, uses=uses, until=until, run=run):
            where = f"for the run {run}" if run else "for every run"
            return f"invitation {key} works {uses} times until {format_time(until)}, {where}"
        case InviteClose(invitation=key):
            return f"invitation {key} is closed"
        case InviteRevoke(invitation=key):
            return f"invitation {key} is revoked, also for members that it let in"
        case RoleGrant(peer=peer, role=role, until=until):
            return f"{peer} is a {role} until {format_time(until)}"
        case RoleRevoke(peer=peer, role=role):
            return f"{peer} is no longer a {role}"
    raise AssertionError(f"{body.TYPE} is not a decision")


async def _countersign(
    file: Path, folder: Path, agrees: Callable[[str], bool], api: LedgerApi
) -> str:
    network = await api.network()
    entry, description = read_half_signed(file, network)
    says = describe_decision(entry.statement.body)
    if description != says:
        raise UserFacingError(
            f"the description in {file} is not what would be signed, which is: {says}; ask "
            "the organiser that gave you the file"
        )
    if not await trio.to_thread.run_sync(agrees, says):
        raise UserFacingError("nothing was signed")
    entry = add_signature(entry, load_organiser(folder, network), network)
    if is_complete(entry, network):
        return f"{says}: logged as entry {await post_entry(api, entry, now_ms())}"
    write_half_signed(file, entry, says, network)
    last = format_time(expiry_ms(entry))
    return f"{file}: {says}; signed, and more organisers have to sign before {last}"
