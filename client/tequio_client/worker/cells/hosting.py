"""The host's program: chooses the run, gathers the guests, then lets the worker start as rank 0."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

import trio

from tequio_client.cli import LISTEN_EVERYWHERE
from tequio_client.ipc.cell import CellNeed, Division, smallest_cell
from tequio_client.ipc.cell_division import parse_fields, why_no_guests, why_undivided
from tequio_client.ledger.api import LedgerApi
from tequio_client.worker import main, shutdown
from tequio_client.worker.cells.code import derive_keys, make_code, parse_fingerprint
from tequio_client.worker.cells.computer import (
    CellFile,
    Terminal,
    computer_name,
    own_device,
    torch_version,
)
from tequio_client.worker.cells.discovery import HostAddress
from tequio_client.worker.cells.host import CellHost, GuestList
from tequio_client.worker.cells.messages import CellDevice, CellOffer
from tequio_client.worker.control.lists import RunsList
from tequio_client.worker.ledger.standing import why_no_receiver
from tequio_client.worker.lending.needs import cell_needs, rank_memory_mb
from tequio_client.worker.rounds.join import find_run
from tequio_client.worker.settings import WorkerSettings
from tequio_client.worker.swarm import multicast
from tequio_client.worker.swarm.limits import BURST_S, PeerLimits
from tequio_client.worker.swarm.listening import with_ports
from tequio_client.worker.swarm.peers import PeerNetwork
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.ids import key_from_text, to_text
from tequio_shared.keys import Signer
from tequio_shared.round.manifest import Manifest
from tequio_shared.wording import plural

PORT = multicast.UDP_PORT
"""TCP port for guests, unless another one is chosen or this one is in use: one number to open."""

MOST_GUESTS = 127
"""Fewer than the connections that one peer may have (`swarm.limits`), with room for strangers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """A cell to open beside what its worker is told."""

    worker: WorkerSettings
    guests: int
    division: Division = "none"
    port: int | None = None
    """TCP port for guests; None: `PORT`, or any free one."""
    accepts: Sequence[str] = ()
    """Fingerprints of guests that are let in without asking."""
    renews_code: bool = False
    """True for a new code, which no former guest knows."""
    keeps_points: bool = False
    """True: guests get no part of the points."""

    def __post_init__(self) -> None:
        if not 1 <= self.guests <= MOST_GUESTS:
            raise UserFacingError(
                f"a cell has 1 to {MOST_GUESTS} guests, not {self.guests}: see --guests"
            )


def run(settings: HostSettings, owner: Terminal) -> None:
    """Host a cell until its run ends or it is stopped; raises UserFacingError."""
    main.run(settings.worker, lambda signer, ledger: gathered(settings, owner, signer, ledger))


@asynccontextmanager
async def gathered(
    settings: HostSettings, owner: Terminal, signer: Signer, ledger: LedgerApi
) -> AsyncIterator[WorkerSettings]:
    """Wait for all guests, and stay there for them while the block runs.

    Gives the settings of the worker that is rank 0; raises UserFacingError.
    """
    folder = settings.worker.net.folder
    offer, run = await _offer(settings, signer, ledger)
    file = CellFile.load(folder)
    if settings.renews_code or not file.code:
        file.code, file.guests = make_code(), ()
    file.save(folder)
    keys = await trio.to_thread.run_sync(derive_keys, file.code)
    listen = with_ports(LISTEN_EVERYWHERE, settings.port or PORT)
    limits = guest_limits(settings.guests)
    async with PeerNetwork(seed=keys.host.seed, listen=listen, limits=limits) as network:
        ports = network.listen_ports()  # none where libp2p failed: it raises no error
        if not ports or settings.port not in (None, *ports):
            raise UserFacingError(
                f"port {settings.port or PORT} is in use: choose another one with --port"
            )
        guests = GuestList(
            known={key_from_text(one) for one in file.guests},
            expected=frozenset(map(parse_fingerprint, settings.accepts)),
            on_accepted=partial(file.accept, folder),
        )
        check = None if settings.keeps_points else partial(why_no_receiver, ledger)
        host = CellHost(network, keys, offer, owner, guests, check)
        async with host.opened():
            _print_welcome(owner, offer, file.code, host.port)
            await host.complete.wait()
            owner.print_line("all guests are here; training starts")
            trainer = replace(
                settings.worker.trainer,
                device=offer.device.id,
                cell=host.place(),
                rank_owners=host.rank_owners,
            )
            # The guests agreed to this run: another one may be open by now.
            net = replace(settings.worker.net, run=run)
            yield replace(settings.worker, trainer=trainer, net=net)


def guest_limits(guests: int) -> PeerLimits:
    """Room for all guests, at once and from one local network, beside that for strangers."""
    usual = PeerLimits()
    return PeerLimits(
        connections=usual.connections + guests,
        handshakes=usual.handshakes + guests,
        arrivals_per_s=usual.arrivals_per_s + guests / BURST_S,
    )


async def _offer(
    settings: HostSettings, signer: Signer, ledger: LedgerApi
) -> tuple[CellOffer, str]:
    """Find out what guests will agree to, and the run's id; waits for the run to open.

    Raises UserFacingError.
    """
    net, ranks = settings.worker.net, settings.guests + 1
    with shutdown.explain_unreachable_ledger(net.ledger):
        answer = await find_run(ledger, net.run)
        try:
            listed = RunsList(ledger)
            manifest, _ = await listed.read_rules(answer)
            config = await listed.read_config(manifest)
        except PeerError as err:
            raise UserFacingError(
                f"the rules of run {answer.run[:10]} cannot be read ({err}): update Tequio"
            ) from err
    check_division(manifest, config, ranks, settings.division)
    device = await own_device(settings.worker.trainer.device)
    need_mb = rank_memory_mb(manifest, ranks, settings.division)
    check_memory(
        manifest, cell_needs(manifest, config), need_mb, device, settings.worker.trainer.memory_mb
    )
    offer = CellOffer(
        host=computer_name(),
        key=to_text(signer.key),
        ledger=net.ledger,
        run=manifest.name,
        ranks=ranks,
        division=settings.division,
        device=device,
        torch=torch_version(),
        need_mb=need_mb,
    )
    return offer, answer.run


def check_division(
    manifest: Manifest, config: bytes | None, ranks: int, division: Division
) -> None:
    """Raise UserFacingError for a run that the trainers of these computers would refuse.

    Without its configuration (None), rank 0's trainer finds out.
    """
    kind = "none" if config is None else division
    if why := why_no_guests(manifest):
        raise UserFacingError(
            f"the run {manifest.name} cannot be trained like this: {why}; let each computer train "
            "by itself (tequio worker)"
        )
    if why := why_undivided(kind, manifest, parse_fields(config), ranks):
        raise UserFacingError(f"the run {manifest.name} cannot be trained like this: {why}")


def check_memory(
    manifest: Manifest,
    needs: Sequence[CellNeed],
    need_mb: int,
    device: CellDevice,
    limit_mb: int,
) -> None:
    """Raise UserFacingError if a rank needs more than the device has, or its limit (0: none).

    Names the one of the run's cells (`needs`) in which such devices could train, if there is one.
    """
    known = [one for one in (device.memory_mb, limit_mb) if one]
    memory_mb = min(known, default=need_mb)
    if need_mb <= memory_mb:
        return
    better = smallest_cell(needs, memory_mb)
    raise UserFacingError(
        f"each computer of this cell needs about {need_mb:,} MiB for the run {manifest.name}, and "
        f"{device.id} has {memory_mb:,} MiB: "
        + (
            f"{better.members} could train it ({better.command})"
            if better
            else "use a larger card, or choose another run with --run"
        )
    )


def _print_welcome(owner: Terminal, offer: CellOffer, code: str, port: int) -> None:
    places = [str(HostAddress(one.host, port)) for one in multicast.own_addresses()]
    owner.print_line(
        f"a cell of {plural(offer.ranks, 'device')} for the run {offer.run}; each needs about "
        f"{offer.need_mb:,} MiB\n"
        f"  this computer  {offer.device.words}\n"
        f"  code           {code}\n"
        f"  address        {' or '.join(places) or f'HOST:{port}'}\n"
        f"On the other computers: tequio cell join {code}\n"
        f"waiting for {offer.ranks - 1} guests"
    )
