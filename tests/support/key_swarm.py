"""A swarm in memory whose log is applied by `NetworkView`, for keys that are ended and replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.ids import sha256, to_text
from tequio_shared.network.run import first_head
from tequio_shared.network_view import NetworkView
from tequio_shared.statements.network import KeyRecovery, KeyReplace, KeyRevoke
from tequio_shared.statements.runs import NetGenesis, RunOpen
from tequio_shared.statements.statement import Entry, sign
from tests.support.authors import registration
from tests.support.memory_swarm import Swarm
from tests.support.volunteers import HONEST, StatementDraft, Volunteer

if TYPE_CHECKING:
    from tequio_shared.ids import PeerKey
    from tequio_shared.keys import Signer
    from tequio_shared.statements.statement import Body
    from tests.support.volunteers import FailureRates


class KeySwarm(Swarm):
    """A swarm that can also replace, revoke and recover keys."""

    network: NetworkView

    def join(self, *volunteers: Volunteer, invitation: Signer | None = None) -> None:
        """Register volunteers; they send member.ready when it is their turn."""
        for one in volunteers:
            more = () if invitation is None else (invitation,)
            self.send(one, registration(self.net, one.key), *more)
            self.volunteers.append(one)

    def new_volunteer(self, name: str, failure_rates: FailureRates = HONEST) -> Volunteer:
        """A volunteer whose key is not registered yet."""
        return Volunteer(name, self.arithmetic, failure_rates=failure_rates, seed=self.seed)

    def signed(self, one: Volunteer, body: Body, *others: Signer) -> Entry:
        """Sign the volunteer's next statement together with others, without logging it."""
        entry = one.sign(self.net, None, StatementDraft(body), self.now_ms)
        return sign(self.net, entry.statement, one.signer, *others)

    def send(self, one: Volunteer, body: Body, *others: Signer) -> Entry:
        """Log a volunteer's statement about the network; raises RefusedError."""
        entry = self.signed(one, body, *others)
        self._log(entry)
        one.record_logged(entry)
        return entry

    def log(self, entry: Entry) -> None:
        """Log an entry as it is; raises RefusedError, and SignatureInvalidError."""
        self._log(entry)

    def bind(self, one: Volunteer, recovery: Signer, *former: Signer) -> Entry:
        return self.send(one, KeyRecovery(recovery=to_text(recovery.key)), recovery, *former)

    def revoke(self, author: Volunteer, key: PeerKey, *others: Signer) -> Entry:
        return self.send(author, KeyRevoke(peer=to_text(key)), *others)

    def replacement(self, former: PeerKey, successor: PeerKey) -> KeyReplace:
        nonce = registration(self.net, successor).nonce
        return KeyReplace(former=to_text(former), nonce=nonce)

    def replace(self, former: Volunteer, name: str, *others: Signer) -> Volunteer:
        """Log that a new volunteer takes the place of another; by default the former key signs."""
        successor = self.new_volunteer(name, former.failure_rates)
        self.send(
            successor, self.replacement(former.key, successor.key), *others or (former.signer,)
        )
        self.volunteers[self.volunteers.index(former)] = successor
        return successor

    def _new_view(self) -> NetworkView:
        return NetworkView(self.genesis, self.blobs.__getitem__)

    def _begin(self) -> None:
        document = self.manifest.encode()
        self.blobs[sha256(document)] = document
        self.network = self._new_view()
        self.standings, self.tiers = self.network.standings, self.network.tiers
        body = NetGenesis(doc=to_text(self.genesis.encode()))
        self.log_statement(self.coordinator, StatementDraft(body))
        head = to_text(first_head(self.manifest).hash)
        self.organise(RunOpen(manifest=to_text(self.manifest.run_id), head=head))

    def _log(self, entry: Entry) -> None:
        entry.verify(self.net)
        self.network.apply(len(self.entries), entry, self.now_ms)
        self.entries.append(entry)
        if isinstance(entry.statement.body, RunOpen):
            self.view = self.network.runs[self.manifest.run_id]
        self.arithmetic.observe(self.view)
