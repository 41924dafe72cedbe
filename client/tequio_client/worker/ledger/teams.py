"""Our team: joining and leaving it, and what its owner decides, for the app and the command line.

The private key in a join link is derived from the owner's key and the link's end, so the link can
be copied again on every computer that has the key, and is stored nowhere. A new owner cannot copy
the link of the former one: it makes its own.
"""

from __future__ import annotations

from typing import Literal

import trio
from msgspec import structs

from tequio_client.clock import now_ms
from tequio_client.ipc.account import (
    AskTeam,
    RequestMembership,
    RequestTeam,
    RequestTeamMember,
    TeamQuestion,
    TeamReply,
)
from tequio_client.ipc.facts import MAX_ROWS
from tequio_client.ipc.points import RankRow
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError, UnansweredError
from tequio_client.links import TeamLink
from tequio_client.worker.ledger.outbox import SUBMIT_S, Outbox
from tequio_shared.api.answer import PAGE_ROWS
from tequio_shared.api.peers import TeamAnswer
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import NetworkId, PeerKey, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.network import MemberTeam, TeamDefine, TeamMember
from tequio_shared.statements.statement import Body

FIRST_LINK_DAYS = 30
"""Validity of the join link with which a team is founded."""
_LINK = b"tequio/v1/team-link\0"
_DAY_MS = 86_400_000


async def answer(
    api: LedgerApi, outbox: Outbox, signer: Signer, question: TeamQuestion
) -> TeamReply:
    """Do what a controller requests; raises TequioError."""
    match question:
        case AskTeam(link=text) if text:
            return await _describe(api, signer, (await _link(api, text)).team)
        case RequestMembership(link=text) if text:
            link = await _link(api, text)
            await submit(outbox, MemberTeam(team=link.team), link.signer)
        case RequestMembership():
            await submit(outbox, MemberTeam(team=0))
        case RequestTeam():
            await submit(outbox, await _definition(api, signer, question))
        case RequestTeamMember(peer=peer, to=to):
            known: Literal["owner", "removed"] = "owner" if to == "owner" else "removed"
            await submit(outbox, TeamMember(peer=peer, to=known))
    return await _describe(api, signer, await _own_team(api, signer.key))


async def submit(outbox: Outbox, body: Body, *cosigners: Signer) -> None:
    """Have a statement logged; raises LedgerUnavailableError if that takes too long.

    Then it is given up, or if it was sent already, the error is an UnansweredError.
    """
    with trio.move_on_after(SUBMIT_S) as patience:
        await outbox.submit(body, cosigners=cosigners)
    if not patience.cancelled_caught:
        return
    late = f"the ledger accepted nothing for {SUBMIT_S:.0f} s ({outbox.problem})"
    if await outbox.withdraw(body):
        raise LedgerUnavailableError(f"{late}, and the request is given up: try again later")
    raise UnansweredError(
        f"{late}; the request may still be accepted: this folder's worker, or the next command "
        "in it, sends it again"
    )


async def _link(api: LedgerApi, text: str) -> TeamLink:
    link = TeamLink.parse(text)
    if link.network is not None and link.network != (await api.network()).id:
        raise UserFacingError(
            f"this team is in another network, whose ledger is {link.ledger}: join that network "
            "first, with another folder"
        )
    return link


async def _own_team(api: LedgerApi, key: PeerKey) -> int:
    account = await api.find_peer(key)
    return 0 if account is None else account.team


async def _definition(api: LedgerApi, signer: Signer, wanted: RequestTeam) -> TeamDefine:
    """The whole statement of an owner, of which only a part changes."""
    own = await _own_team(api, signer.key)
    net = (await api.network()).id
    now = await api.team(own) if own else None
    days = FIRST_LINK_DAYS if now is None and wanted.days is None else wanted.days
    invitation, until, most = "", 0, 0
    if now and now.invitation:
        # Kept only if it is this key's own: a ledger could name a link of somebody else's.
        own_link = to_text(invitation_signer(signer, net, now.until).key)
        if now.invitation == own_link:
            invitation, until, most = own_link, now.until, now.most
    if days is not None:
        until, most = (now_ms() + days * _DAY_MS, wanted.most) if days else (0, 0)
        invitation = to_text(invitation_signer(signer, net, until).key) if days else ""
    goal, goal_until = (now.goal, now.goal_until) if now else (0, 0)
    if wanted.goal is not None:
        goal, goal_until = wanted.goal, wanted.goal_until_ms if wanted.goal else 0
    name = wanted.name if wanted.name is not None else now.name if now else ""
    try:
        return TeamDefine(
            team=own,
            name=name,
            invitation=invitation,
            until=until,
            most=most,
            goal=goal,
            goal_until=goal_until,
        )
    except MalformedError as err:
        raise UserFacingError(str(err)) from err


def invitation_signer(owner: Signer, net: NetworkId, until_ms: int) -> Signer:
    """The private key of the join link that ends then; Ed25519 signs the same way every time."""
    return Signer(sha256(owner.sign(_LINK + net + until_ms.to_bytes(8, "big"))))


async def _describe(api: LedgerApi, signer: Signer, team: int) -> TeamReply:
    if not team:
        return TeamReply()
    pages = [await _page(api, team, 0)]
    while pages[-1].next is not None and len(pages) * PAGE_ROWS < MAX_ROWS:
        pages.append(await _page(api, team, pages[-1].next))
    found, own = pages[0], to_text(signer.key)
    rows = tuple(
        RankRow(rank=row.rank, key=row.key, name=row.name, gflop=row.gflop, is_ours=row.key == own)
        for page in pages
        for row in page.rows
    )
    reply = TeamReply(
        team=team,
        name=found.name,
        page=f"{api.url.rstrip('/')}/teams/{team}",
        owner=found.owner,
        owner_name=next((row.name for row in rows if row.key == found.owner), ""),
        is_ours=found.owner == own and not found.ended,
        is_member=await _own_team(api, signer.key) == team,
        members=found.members,
        gflop=found.gflop,
        until_ms=found.until,
        most=found.most,
        goal=found.goal,
        goal_until_ms=found.goal_until,
        reached=found.reached,
        rows=rows[:MAX_ROWS],
    )
    return await _with_link(api, signer, found, reply)


async def _page(api: LedgerApi, team: int, after: int) -> TeamAnswer:
    try:
        return await api.team(team, after=after)
    except LedgerRefusedError as err:
        if err.code != "not-found":
            raise
        raise UserFacingError(
            "the network has no such team: ask the person who gave you the link"
        ) from err


async def _with_link(
    api: LedgerApi, signer: Signer, found: TeamAnswer, reply: TeamReply
) -> TeamReply:
    if not reply.is_ours or found.invitation is None or found.until <= now_ms():
        return reply
    net = (await api.network()).id
    invitation = invitation_signer(signer, net, found.until)
    if to_text(invitation.key) != found.invitation:  # made by a former owner
        return reply
    link = TeamLink(ledger=api.url, network=net, team=found.team, seed=invitation.seed)
    try:
        text = link.text()
    except UserFacingError:  # the ledger has an address that no link can have: the code remains
        text = ""
    return structs.replace(reply, link=text, code=link.code())
