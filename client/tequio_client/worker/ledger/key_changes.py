"""Statements about keys of one owner: name, team, recovery key, revocation, replacement, appeal.

A worker sends them for the app, a command for its user. All but the replacement are written by the
key of the folder, in its chain; a replacement is the first statement of the new key, so it needs
neither the chain of the former key nor a lock on it, both of which a thief may have.
"""

from __future__ import annotations

from tequio_client.clock import now_ms
from tequio_client.ipc.account import (
    AccountAnswer,
    AccountQuestion,
    AccountReply,
    AskConnection,
    AskTeam,
    BadgeRow,
    KeyChangeReply,
    RequestAppeal,
    RequestConnection,
    RequestMembership,
    RequestName,
    RequestRecovery,
    RequestReplacement,
    RequestRevocation,
    RequestTeam,
    RequestTeamMember,
)
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import (
    LedgerRefusedError,
    LedgerUnavailableError,
    UnansweredError,
    UnnamedRefusalError,
)
from tequio_client.worker.ledger import connection, teams
from tequio_client.worker.ledger.outbox import Outbox, work_for_registration
from tequio_client.worker.ledger.standing import present_tier
from tequio_client.worker.ledger.teams import submit
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import ZERO_DIGEST, PeerKey, from_text, key_from_text, to_text
from tequio_shared.keys import Signer
from tequio_shared.limits import APPEAL_BYTES, STATEMENT_LIFE_MS
from tequio_shared.network.standing import ENDED, EXCLUDED, Standing
from tequio_shared.statements.network import (
    KeyRecovery,
    KeyReplace,
    KeyRevoke,
    MemberName,
    StandingAppeal,
)
from tequio_shared.statements.statement import make, sign


async def answer(
    api: LedgerApi, outbox: Outbox, signer: Signer, question: AccountQuestion
) -> AccountAnswer:
    """Do what a controller requests; raises TequioError."""
    match question:
        case RequestAppeal(text=text):
            await appeal(api, outbox, signer, text.encode())
        case RequestName(name=name):
            await set_name(outbox, name)
        case AskTeam() | RequestMembership() | RequestTeam() | RequestTeamMember():
            return await teams.answer(api, outbox, signer, question)
        case RequestConnection() | AskConnection():
            return await connection.answer(api, signer, question)
        case RequestRecovery(seed=seed, former=former):
            others = [Signer(from_text(one)) for one in (seed, former) if one]
            await bind_recovery(outbox, *others)
        case RequestRevocation(key=key, seed=seed):
            await revoke(outbox, key_from_text(key), Signer(from_text(seed)))
            return KeyChangeReply(key=key)
        case RequestReplacement(former=key, seed=seed, recovery=recovery):
            by = Signer(from_text(recovery)) if recovery else signer
            await replace(api, key_from_text(key), Signer(from_text(seed)), by)
            return KeyChangeReply(key=key)
    return await describe(api, signer)


async def describe(api: LedgerApi, signer: Signer) -> AccountReply:
    """Facts about our key for the app."""
    account = await api.find_peer(signer.key)
    if account is None:
        return AccountReply(key=to_text(signer.key))
    one, own_gflop = account.standing, account.gflop - account.received
    return AccountReply(
        key=account.key,
        standing=one.standing,
        since=one.since,
        until_ms=one.until,
        why=one.why,
        appeal=one.appeal,
        recovery=account.recovery or "",
        replaces=account.replaces or "",
        name=account.name,
        team=account.team,
        team_name=(await api.team(account.team, limit=1)).name if account.team else "",
        tier=present_tier(account.tier, now_ms()),
        # Its own points show accepted work; a vouch counts here even after its end. The ledger,
        # which knows exactly, has the last word.
        can_be_named=own_gflop > 0 or account.tier.tier > 0,
        own_gflop=own_gflop,
        accepted=account.accepted,
        streak_day=account.streak_day,
        streak_days=account.streak_days,
        badges=tuple(BadgeRow(badge=one.badge, entry=one.index) for one in account.badges),
    )


async def appeal(api: LedgerApi, outbox: Outbox, signer: Signer, text: bytes) -> None:
    """Appeal against the standing of our key; raises UserFacingError if there is nothing to."""
    if len(text) > APPEAL_BYTES:
        raise UserFacingError(
            f"the text has {len(text)} bytes, at most {APPEAL_BYTES} are allowed: shorten it"
        )
    one = (await api.peer(signer.key)).standing
    if one.appeal is not None:
        raise UserFacingError(f"the appeal in entry {one.appeal} is still open: wait for it")
    if one.standing not in EXCLUDED - ENDED | {Standing.SUSPECTED}:
        raise UserFacingError(f"nothing to appeal against: the key is {one.standing}")
    name = to_text(await api.put_blob(text, signer, now_ms())) if text else ""
    await submit(outbox, StandingAppeal(change=one.since, text=name))


async def set_name(outbox: Outbox, name: str) -> None:
    """Give our key a public name, or none; raises UserFacingError for one that nobody can have."""
    try:
        body = MemberName(name=name)
    except MalformedError as err:
        raise UserFacingError(str(err)) from err
    await submit(outbox, body)


async def bind_recovery(outbox: Outbox, recovery: Signer, *former: Signer) -> None:
    """Bind a recovery key to our key; the former one signs too, if there is one."""
    body = KeyRecovery(recovery=to_text(recovery.key))
    await submit(outbox, body, recovery, *former)


async def revoke(outbox: Outbox, key: PeerKey, *by: Signer) -> None:
    """Revoke a key: our own, or one whose recovery key signs."""
    await submit(outbox, KeyRevoke(peer=to_text(key)), *by)


async def replace(api: LedgerApi, former: PeerKey, successor: Signer, by: Signer) -> None:
    """Have a new key take the place of another; again and again until it did, if need be.

    Raises LedgerRefusedError, and UserFacingError if another key took the place.
    """
    network = await api.network()
    known = await api.find_peer(successor.key)
    if known is not None:
        if known.replaces == to_text(former):  # an answer was lost
            return
        if known.replaces is not None:
            raise UserFacingError(
                f"the new key took the place of {known.replaces} before: run "
                f"`tequio key replace {known.replaces}` to install it"
            )
        raise UserFacingError(
            "the new key is registered already: move the folder `successor` to another place, and "
            "try again"
        )
    work = await work_for_registration(network.id, successor.key, network.genesis.work_bits)
    now = now_ms()
    made = make(
        body=KeyReplace(former=to_text(former), nonce=work.nonce),
        author=successor.key,
        seq=1,
        ts=now,
        exp=now + STATEMENT_LIFE_MS,
        prev=ZERO_DIGEST,
    )
    try:
        (posted,) = await api.post_entries([sign(network.id, made, successor, by)])
    except UnnamedRefusalError:  # not from a ledger
        raise
    except LedgerUnavailableError as err:
        raise UnansweredError(
            f"the ledger gave no clear answer ({err}), and may still accept the new key: try again"
        ) from err
    if posted.status == "refused":
        raise LedgerRefusedError(posted.code or "unnamed", f"key.replace: {posted.detail}")
