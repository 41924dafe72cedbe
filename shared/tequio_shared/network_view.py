"""The state of a network by its log: keys, tiers, runs, competitions, notices, releases.

One fold for every reader of a whole log. An entry is either applied, or refused with RefusedError
and has changed nothing. The ledger stops there: `apply` admits a statement, and the same call reads
its own log again. An auditor reports the refusal, moves the author's chain on by `skip_statement`,
and reads on.

Two steps: `check` asks whether the author may make such a statement next (a known key, in its role,
in the order of its chain, in time); `apply_checked` passes the entry to the part it concerns. No
signature is verified here: the ledger does so before it queues an entry, an auditor between the two
steps. The same entries always give the same view, and an entry costs as much in a long log as in a
short one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, get_args

from tequio_shared import vrf
from tequio_shared.competition.competition import CompetitionsView
from tequio_shared.competition.state import CompetitionContext, read_document
from tequio_shared.errors import RefusedError
from tequio_shared.ids import (
    ZERO_DIGEST,
    Digest,
    HeadHash,
    PeerKey,
    RunId,
    digest_from_text,
    from_text,
    key_from_text,
    to_text,
)
from tequio_shared.limits import CLOCK_SKEW_MS, DOCUMENT_BYTES
from tequio_shared.names import NameRegistry
from tequio_shared.network import conduct
from tequio_shared.network.deadlines import check_forward
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.genesis import Genesis, check_role
from tequio_shared.network.key_links import KeyLinks
from tequio_shared.network.notices import NetworkNotices
from tequio_shared.network.releases import ReleaseHistory
from tequio_shared.network.run import Documents, first_head
from tequio_shared.network.schedule import SnapshotSchedule
from tequio_shared.network.standing import EXCLUDED, KeyStatus
from tequio_shared.network.teams import Teams
from tequio_shared.network.tiers import TIER_BODIES, Tiers
from tequio_shared.round.evidence import evidence_bytes
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.round import RoundView
from tequio_shared.statements.competitions import CompetitionBody
from tequio_shared.statements.network import (
    KeyRecovery,
    KeyRegister,
    KeyReplace,
    KeyRevoke,
    LogSnapshot,
    MemberName,
    MemberTeam,
    MemberVouch,
    NameWithdraw,
    NetNotice,
    SoftwareRelease,
    TeamDefine,
    TeamMember,
)
from tequio_shared.statements.runs import NetGenesis, RunOpen
from tequio_shared.statements.statement import REGISTRATIONS, Entry, Statement, check_work

if TYPE_CHECKING:
    SizeOf = Callable[[Digest], int | None]

_NamingBody: TypeAlias = MemberName | NameWithdraw | MemberTeam | TeamDefine | TeamMember
_NAMING = get_args(_NamingBody)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorChain:
    """The end of an author's chain of statements."""

    registered_index: int
    """Log index from which the key counts; 0 for the keys in the genesis."""
    seq: int = 0
    last: Digest = ZERO_DIGEST


class NetworkView:
    """The fold over all entries so far; only its public methods change it."""

    def __init__(
        self,
        genesis: Genesis,
        documents: Documents,
        size_of: SizeOf = lambda _: None,
        check_proof: vrf.CheckProof = vrf.verify,
    ) -> None:
        """Begin before the first entry; `size_of` returns a document's size, None if unknown.

        `check_proof` checks the lots of the runs' members; only a simulation brings another one.
        """
        self.genesis = genesis
        self._check_proof = check_proof
        self.net = genesis.network_id
        self.documents = documents
        self.founders = frozenset({genesis.coordinator_key, *genesis.organiser_keys})
        self.peers: dict[PeerKey, AuthorChain] = {
            # Sorted: the order of a set differs from process to process, and snapshots keep it.
            key: AuthorChain(registered_index=0)
            for key in sorted(self.founders)
        }
        self.links = KeyLinks(registered=self.peers, founders=self.founders)
        self.standings = KeyStatus(self.links)
        self.tiers = Tiers(registered=self.peers, founders=self.founders)
        self.names = NameRegistry()
        self.teams = Teams(links=self.links, names=self.names)
        self.notices = NetworkNotices()
        self.releases = ReleaseHistory()
        self.snapshots = SnapshotSchedule()
        self.runs: dict[RunId, FullRunView] = {}
        self.competitions = CompetitionsView()
        self._gate = CompetitionContext(
            documents=documents,
            run=self.runs.get,
            standings=self.standings,
            tiers=self.tiers,
            organisers=genesis.organiser_keys,
            size_of=size_of,
        )
        self._coordinator = genesis.coordinator_key
        self.coordinator_ms = 0
        """`ts` of the coordinator's last statement."""
        for key in sorted(self.founders):
            self.standings.register(key, 0)

    def apply(self, index: int, entry: Entry, at_ms: int) -> None:
        """Apply the next entry; raises RefusedError when it does not follow from those before.

        `at_ms` is the reader's time of arrival (only the coordinator's counts, in round results).
        """
        self.check(index, entry)
        self.apply_checked(index, entry, at_ms)

    def check(self, index: int, entry: Entry) -> None:
        """Raise RefusedError unless the entry's author may make this statement next."""
        # The cheap checks first: work before keys, keys before roles, all before any document.
        statement = entry.statement
        check_work(statement, self.net, self.genesis.work_bits)
        self.check_keys(entry)
        check_role(entry, self.genesis)
        self._check_chain(statement)
        self._check_genesis(index, statement)
        self._check_times(statement)

    def check_keys(self, entry: Entry, newcomers: Collection[PeerKey] = ()) -> None:
        """Raise RefusedError unless all signers may sign: registered or `newcomers`, not ended.

        A registration passes: its invitation is checked by `Tiers.register`. So do the further
        signers of the statements about ends of keys, which `KeyLinks` checks, and the invitation of
        a team, which `Teams` checks.
        """
        body = entry.statement.body
        if isinstance(body, REGISTRATIONS):
            return
        has_other_signers = isinstance(body, KeyRecovery | KeyRevoke | MemberTeam)
        for key, _ in entry.signatures[: 1 if has_other_signers else None]:
            if key not in self.peers and key not in newcomers:
                raise RefusedError("not-admitted", f"key {to_text(key)} was not registered before")
            # A key that revokes itself may send the same bytes again after a lost answer.
            if not isinstance(body, KeyRevoke):
                self.links.check(key)

    def apply_checked(self, index: int, entry: Entry, at_ms: int) -> None:
        """Apply an entry that was checked; raises RefusedError when it does not follow.

        Errors of `documents` other than KeyError and MalformedError pass through, and nothing has
        changed then either.
        """
        statement = entry.statement
        if isinstance(statement.body, RunOpen):
            self._open_run(statement, statement.body)
        if statement.run is None:
            self._apply_to_network(index, entry)
        else:
            self.run(statement.run).apply(index, statement, at_ms, self.documents)
        # Last: when any part refuses, the author's chain must not have moved.
        self._end_entry(index, statement)

    def skip_statement(self, index: int, statement: Statement) -> None:
        """Read on after a statement that was refused or cannot be judged: one fault, one finding.

        The author's chain moves on, and a key that the statement registers is known afterwards.
        """
        if isinstance(statement.body, REGISTRATIONS):
            self.standings.register(statement.author, index)
        self._end_entry(index, statement)

    def extend_chain(self, index: int, author: PeerKey, seq: int, last: Digest) -> None:
        """End the author's chain here; a new author counts from this index on."""
        known = self.peers.get(author)
        registered = index if known is None else known.registered_index
        self.peers[author] = AuthorChain(registered_index=registered, seq=seq, last=last)

    def run(self, run: RunId) -> FullRunView:
        """The view of a run; raises RefusedError("not-found")."""
        view = self.runs.get(run)
        if view is None:
            raise RefusedError("not-found", f"no run {to_text(run)} was opened in this network")
        return view

    def most_evidence_bytes(self, author: PeerKey) -> int:
        """Largest evidence that a witness may publish, in bytes; O(runs)."""
        # Every witness, not only the committee of the last round, and of the round with the largest
        # records: its evidence may come later.
        return max(
            (
                evidence_bytes(view.manifest.record_shape(trainers=1))
                for view in self.runs.values()
                if view.accounts.is_witness(author)
            ),
            default=0,
        )

    def round_of(self, run: RunId) -> RoundView | None:
        """Round in progress of a run, or its last one."""
        view = self.runs.get(run)
        return None if view is None else view.round

    def _check_chain(self, statement: Statement) -> None:
        chain = self.peers.get(statement.author)
        seq, last = (chain.seq, chain.last) if chain else (0, ZERO_DIGEST)
        if statement.seq <= seq:
            raise RefusedError(
                "equivocation", f"seq {statement.seq} after seq {seq} in this author's chain"
            )
        if statement.prev != last:  # numbers may skip: a refused statement's is never reused
            raise RefusedError("seq-gap", f"prev is not the digest of this author's seq {seq}")

    def _check_genesis(self, index: int, statement: Statement) -> None:
        body = statement.body
        if isinstance(body, NetGenesis) != (index == 0):
            raise RefusedError("wrong-network", "net.genesis must be entry 0, and only entry 0")
        if isinstance(body, NetGenesis) and from_text(body.doc, None) != self.genesis.encode():
            raise RefusedError("wrong-network", "entry 0 holds another genesis document")

    def _check_times(self, statement: Statement) -> None:
        """Refuse a statement that had expired when the coordinator signed its last one."""
        if statement.author == self._coordinator:
            check_forward(self.coordinator_ms, statement.ts)
        if statement.exp + CLOCK_SKEW_MS < self.coordinator_ms:
            late_s = (self.coordinator_ms - statement.exp) // 1000
            raise RefusedError("expired", f"the statement expired {late_s} s before it was logged")

    def _end_entry(self, index: int, statement: Statement) -> None:
        self.extend_chain(index, statement.author, statement.seq, statement.digest)
        if statement.author == self._coordinator:
            self.coordinator_ms = max(self.coordinator_ms, statement.ts)
        self.snapshots.advance(index + 1, self.count_keys_and_heads)

    def count_keys_and_heads(self) -> int:
        """Count what makes a snapshot long (`SnapshotSchedule`)."""
        return len(self.peers) + sum(len(view.heads) for view in self.runs.values())

    def _apply_to_network(self, index: int, entry: Entry) -> None:
        statement = entry.statement
        match statement.body:
            case NetGenesis():
                pass
            case KeyRegister() | KeyRecovery() | KeyReplace() | KeyRevoke() as body:
                self._apply_to_keys(index, entry, body)
            case body if isinstance(body, _NAMING):
                self._apply_to_names(index, entry, body)
            case NetNotice() | SoftwareRelease() | LogSnapshot() as body:
                self._apply_to_lists(index, statement.ts, body)
            case body if isinstance(body, TIER_BODIES):
                self._apply_to_tiers(index, statement)
            case body if isinstance(body, CompetitionBody):
                self.competitions.apply(index, statement, self._gate)
            case _:
                was = conduct.subject_standing(self.standings, statement)
                conduct.apply(
                    self.standings, index, statement, self.net, self.round_of, self.documents
                )
                conduct.settle_points(statement, was, (run.accounts for run in self.runs.values()))

    def _apply_to_lists(
        self, index: int, ts: int, body: NetNotice | SoftwareRelease | LogSnapshot
    ) -> None:
        match body:
            case NetNotice():
                self.notices.apply(index, ts, body)
            case SoftwareRelease():
                self.releases.apply(index, body)
            case LogSnapshot():
                self.snapshots.apply(index, body)

    def _apply_to_names(self, index: int, entry: Entry, body: _NamingBody) -> None:
        statement = entry.statement
        match body:
            case MemberName(name=name):
                self._check_may_be_named(statement.author)
                self.names.claim(index, statement.ts, statement.author, name)
            case NameWithdraw(team=0, peer=peer):
                self.names.withdraw(index, key_from_text(peer))
            case NameWithdraw(team=team):
                self.teams.withdraw(team)
            case _:
                self._apply_to_teams(index, entry, body)

    def _apply_to_teams(
        self, index: int, entry: Entry, body: MemberTeam | TeamDefine | TeamMember
    ) -> None:
        author, ts = entry.statement.author, entry.statement.ts
        match body:
            case MemberTeam(team=0):
                self.teams.leave(index, ts, author, _further_signers(entry))
            case MemberTeam(team=team):
                self._check_not_excluded(author)
                self.teams.join(index, ts, author, team, _further_signers(entry))
            case TeamDefine():
                check = self._check_not_excluded if body.team else self._check_may_be_named
                check(author)
                self.teams.define(index, ts, author, body)
            case TeamMember():
                self._check_not_excluded(author)
                self.teams.change_member(index, ts, author, body)

    def _apply_to_tiers(self, index: int, statement: Statement) -> None:
        if isinstance(statement.body, MemberVouch):  # the refusal tells its connector the successor
            self.links.check(key_from_text(statement.body.peer))
        self.tiers.apply(index, statement)

    def _apply_to_keys(
        self, index: int, entry: Entry, body: KeyRegister | KeyRecovery | KeyReplace | KeyRevoke
    ) -> None:
        match body:
            case KeyRegister():
                self._register(index, entry)
            case KeyRecovery():
                self._check_not_invitation(key_from_text(body.recovery))
                self.links.bind(entry, body)
            case KeyReplace():
                self._replace(index, entry, body)
            case KeyRevoke():
                # Not before: a key that revoked itself may send the same bytes again.
                self.links.check(entry.statement.author)
                self._revoke(index, self.links.revoke(index, entry, body))

    def _register(self, index: int, entry: Entry) -> None:
        author = entry.statement.author
        if author in self.peers:
            raise RefusedError("wrong-state", f"key {to_text(author)} is already registered")
        if author in self.links.recovery_keys:
            raise RefusedError("wrong-key", "a recovery key cannot be registered")
        self.tiers.register(index, entry)
        self.standings.register(author, index)

    def _replace(self, index: int, entry: Entry, body: KeyReplace) -> None:
        """Hand the account of the former key to the author, part by part; O(runs)."""
        successor = entry.statement.author
        former = self.links.check_replace(entry, body)
        self._check_not_invitation(successor)
        self.links.replace(index, former, successor)
        self.standings.replace(index, former, successor)
        self.tiers.replace(former, successor)
        self.names.replace(former, successor)
        self.teams.replace(index, former, successor)
        for run in self.runs.values():
            run.end_key(former)
            run.accounts.move_key(former, successor)

    def _revoke(self, index: int, key: PeerKey) -> None:
        self.standings.revoke(index, key)
        self.teams.revoke(key)
        for run in self.runs.values():
            run.end_key(key)
            run.accounts.deactivate(key)

    def _check_may_be_named(self, key: PeerKey) -> None:
        """Refuse a name to a key that cost its owner nothing, or that is kept out of rosters."""
        self._check_not_excluded(key)
        record = self.standings.records[key]
        # Otherwise thousands of new keys would take the names that people are known by.
        is_known = key in self.founders or record.last_accepted or self.tiers.highest(key).tier
        if not is_known:
            raise RefusedError(
                "not-eligible",
                "the key can have a name, or found a team, once a round has accepted its work, or "
                "once it is linked to an account or invited",
            )

    def _check_not_excluded(self, key: PeerKey) -> None:
        standing = self.standings.records[key].standing
        if standing in EXCLUDED:
            raise RefusedError(
                "quarantined",
                f"the key is {standing}: it keeps its name, and can do no more than leave its team",
            )

    def _check_not_invitation(self, key: PeerKey) -> None:
        # Its private key is in a link that many people hold.
        if key in self.tiers.invitations:
            raise RefusedError("wrong-key", "the key of an invitation serves for nothing else")

    def _open_run(self, statement: Statement, body: RunOpen) -> None:
        if statement.run in self.runs:
            raise RefusedError("wrong-state", f"run {to_text(statement.run)} is already open")
        manifest = read_document(
            Manifest.parse, self._gate, body.manifest, "manifest", DOCUMENT_BYTES
        )
        if manifest.run_id != statement.run:
            raise RefusedError("malformed", "the run id is not the digest of the manifest")
        if HeadHash(digest_from_text(body.head)) != first_head(manifest).hash:
            raise RefusedError("wrong-head", "the head is not head 0 of the manifest")
        self.runs[manifest.run_id] = FullRunView.opened(
            self.net, manifest, self.standings, self.tiers, self._check_proof
        )


def _further_signers(entry: Entry) -> tuple[PeerKey, ...]:
    return tuple(key for key, _ in entry.signatures[1:])
