"""A decision of organisers about the network: signed by enough of them, at once or in turn."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import trio

from tequio_client.clock import now_ms
from tequio_client.ledger.api import LedgerApi
from tequio_client.locks import locked
from tequio_client.organiser import joint, signers
from tequio_client.worker import endings
from tequio_client.worker.standing_words import moment
from tequio_shared.errors import UserFacingError
from tequio_shared.statements.competitions import CompOpen, CompResult
from tequio_shared.statements.connectors import RoleGrant, RoleRevoke
from tequio_shared.statements.invitations import InviteClose, InviteOpen, InviteRevoke
from tequio_shared.statements.standing import StandingRelease, StandingUphold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tequio_client.organiser.joint import Decision
    from tequio_shared.statements import Body


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
    ours = [signers.of(folder, network) for folder in folders]
    if len({signer.key for signer in ours}) < len(ours):
        raise UserFacingError("one organiser cannot sign twice: give the folder of another one")
    entry = await joint.signed(api, folders[0], body, ours, now_ms())
    says = says_of(body)
    if joint.is_complete(entry, network):
        return f"{says}: logged as entry {await joint.send(api, entry, now_ms())}"
    if out is None:
        raise UserFacingError(
            "more organisers have to sign: give --with the folder of another one, or --out a file "
            "for it to complete with `tequio countersign`"
        )
    joint.write(out, entry, says, network)
    return (
        f"{out}: {says}; another organiser has to complete it before "
        f"{moment(joint.last_moment(entry))} with `tequio countersign {out}`"
    )


def countersign(ledger: str, file: Path, folder: Path, agrees: Callable[[str], bool]) -> str:
    """Complete a half-signed decision and have it logged; says what became of it.

    Nothing is signed unless a person `agrees` to what the signed bytes themselves say.
    """
    with locked(folder), endings.reached(ledger):
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
        entry, told = joint.read(file, network)
        says = says_of(entry.statement.body)
        if told != says:
            raise UserFacingError(
                f"{file} is described as something else than it says, which is: {says}; "
                "ask whoever gave it to you"
            )
        if not await trio.to_thread.run_sync(agrees, says):
            raise UserFacingError("nothing was signed")
        entry = joint.cosign(entry, signers.of(folder, network), network)
        if joint.is_complete(entry, network):
            return f"{says}: logged as entry {await joint.send(api, entry, now_ms())}"
        joint.write(file, entry, says, network)
        last = moment(joint.last_moment(entry))
        return f"{file}: {says}; signed, but more have to, before {last}"
