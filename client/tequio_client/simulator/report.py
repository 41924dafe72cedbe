"""The report of a simulation to an organiser: figures for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean, median

import msgspec

from tequio_client.simulator.lies import HONEST, LIES, LieKind
from tequio_client.simulator.members import SimulatedMember
from tequio_client.simulator.network import DAY_MS, START_MS, Simulation, SimulationSample
from tequio_shared.network.run_states import RunState
from tequio_shared.round.points import points
from tequio_shared.wording import plural, short_count, size_text

_TOKENS = 10**12


class LieResult(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of a run for the peers of one kind."""

    kind: str
    text: str
    peers: int
    quarantined: int
    after: float | None
    """Contributions before the first quarantine; the median."""
    gflop: float
    """Points per peer, without those that were taken."""
    profit: float | None
    """Points less the work done, as a share of what honest peers on such computers earned."""


class SimulationReport(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes, gflop, and counts over the whole time unless a name says otherwise."""

    run: str
    peers: int
    min_members: int
    """Needed for a round to begin."""
    days: float
    """Simulated; fewer than asked for if the run ended."""
    has_ended: bool
    seed: int
    rounds_closed: int
    rounds_void: int
    online_mean: float
    members_mean: float
    """Of a round that began; 0 without any."""
    witnesses_mean: float
    """Of these, those with witness duty."""
    tokens: int
    tokens_per_day: float
    gflop: int
    down_bytes: int
    """Fetched by all peers from each other and from seeds; `up_bytes` were sent by them."""
    up_bytes: int
    opened_bytes: int
    """Of both, error feedback that was opened to auditors."""
    peer_day_bytes: float
    """Fetched by a peer in a day on which it is on all the time; on average."""
    cells: int
    """Peers that are cells of several computers."""
    cell_day_tokens: float
    """For which a cell earned points in a day, whether it was on or not; 0 without cells."""
    single_day_tokens: float
    """The same for each other peer."""
    followers: int
    """Peers that follow steps of heads."""
    follower_day_bytes: float
    """As `peer_day_bytes`, of these peers alone; 0 without any."""
    witness_day_bytes: float
    """The same of the other peers."""
    step_bytes: int
    """Of `down_bytes`, steps of heads."""
    gossip_bytes: int
    """Received by all peers as announcements, beside `down_bytes`; about as much was sent."""
    gossip_day_bytes: float
    """Of these, a peer's in a day on which it is on all the time."""
    seed_down_bytes: int
    seed_up_bytes: int
    entries: dict[str, int]
    """Of the log, by type."""
    entry_bytes: int
    document_bytes: int
    ledger_requests: int
    ledger_sent_bytes: int
    refused: dict[str, int]
    honest_suspected: int
    """Honest peers that were ever suspected or quarantined."""
    lies: tuple[LieResult, ...]
    samples: tuple[SimulationSample, ...]


def make_report(simulation: Simulation) -> SimulationReport:
    view, setup, totals = simulation.view, simulation.setup, simulation.totals
    cost, samples = simulation.ledger.cost, simulation.samples
    begun = max(cost.entries["round.roster"], 1)
    days = (simulation.now_ms - START_MS) / DAY_MS
    has_ended = view.state is RunState.FINISHED
    online_days = sum(_online_ms(one, simulation) for one in simulation.members) / DAY_MS
    light = [one for one in simulation.members if one.is_light]
    others = [one for one in simulation.members if not one.is_light]
    honest = {one.key for one in simulation.members if one.lie is HONEST}
    return SimulationReport(
        run=setup.manifest.name,
        peers=setup.peers,
        min_members=setup.manifest.rounds.min_members,
        days=days,
        has_ended=has_ended,
        seed=setup.seed,
        rounds_closed=view.closed,
        rounds_void=view.voided,
        online_mean=mean(one.online for one in samples),
        members_mean=simulation.rostered / begun,
        witnesses_mean=simulation.witnesses / begun,
        tokens=view.accounts.tokens,
        tokens_per_day=view.accounts.tokens / days,
        gflop=sum(one.gflop for one in view.accounts.earned.values()),
        down_bytes=totals.down,
        up_bytes=totals.up,
        opened_bytes=totals.leaves,
        peer_day_bytes=_day_bytes(simulation.members, simulation),
        cells=sum(one.is_cell for one in simulation.members),
        cell_day_tokens=_day_tokens(simulation, is_cell=True),
        single_day_tokens=_day_tokens(simulation, is_cell=False),
        followers=len(light),
        follower_day_bytes=_day_bytes(light, simulation),
        witness_day_bytes=_day_bytes(others, simulation),
        step_bytes=totals.steps,
        gossip_bytes=totals.gossip,
        gossip_day_bytes=totals.gossip / max(online_days, 1e-9),
        seed_down_bytes=totals.seed_down,
        seed_up_bytes=totals.seed_up,
        entries=dict(cost.entries),
        entry_bytes=cost.entry_bytes,
        document_bytes=cost.document_bytes,
        ledger_requests=cost.posts + cost.reads,
        ledger_sent_bytes=cost.sent_bytes,
        refused=dict(simulation.ledger.refused),
        honest_suspected=len(honest & simulation.suspected),
        lies=tuple(_lie_results(simulation)),
        samples=tuple(samples),
    )


def _day_tokens(simulation: Simulation, *, is_cell: bool) -> float:
    """Tokens for which one of them earned points in a day, whether it was on or not; 0: no such."""
    members = [one for one in simulation.members if one.is_cell is is_cell]
    days = (simulation.now_ms - START_MS) / DAY_MS
    kept = sum(_kept(one, simulation) for one in members)
    per_token = simulation.setup.manifest.gflop(_TOKENS) / _TOKENS
    return kept / per_token / days / max(len(members), 1)


def _day_bytes(members: Sequence[SimulatedMember], simulation: Simulation) -> float:
    """Bytes that one of them fetches in a day on which it is on; 0 if none was on."""
    days = sum(_online_ms(one, simulation) for one in members) / DAY_MS
    return sum(one.down for one in members) / max(days, 1e-9)


def _online_ms(member: SimulatedMember, simulation: Simulation) -> int:
    return member.on_ms + (simulation.now_ms if member.is_on else 0)


def _lie_results(simulation: Simulation) -> Iterator[LieResult]:
    by_kind: dict[str, list[SimulatedMember]] = {}
    for member in simulation.members:
        by_kind.setdefault(member.lie.name, []).append(member)
    honest = by_kind.get(HONEST.name, [])
    able = sum(_ability(one, simulation) for one in honest)
    rate = sum(_kept(one, simulation) for one in honest) / able if able else 0.0
    for kind in (HONEST, *LIES):
        if kind.name in by_kind:
            yield _lie_result(kind, by_kind[kind.name], simulation, rate)


def _lie_result(
    kind: LieKind, members: Sequence[SimulatedMember], simulation: Simulation, rate: float
) -> LieResult:
    convicted = [
        simulation.convicted[one.key] for one in members if one.key in simulation.convicted
    ]
    kept = [_kept(one, simulation) for one in members]
    gflop = simulation.setup.manifest.gflop
    work = sum(gflop(one.trained) for one in members)
    due = rate * sum(_ability(one, simulation) for one in members)
    return LieResult(
        kind=kind.name,
        text=kind.text,
        peers=len(members),
        quarantined=len(convicted),
        after=median(convicted) if convicted else None,
        gflop=mean(kept),
        profit=(sum(kept) - work) / due if due else None,
    )


def _ability(member: SimulatedMember, simulation: Simulation) -> float:
    """Tokens that its computer could train in the time for which it was on."""
    return member.host.tokens_per_s * _online_ms(member, simulation)


def _kept(member: SimulatedMember, simulation: Simulation) -> int:
    earned = simulation.view.accounts.earned.get(member.key)
    return earned.gflop if earned else 0


def report_lines(report: SimulationReport) -> Iterator[str]:
    """Write a report for people."""
    yield f"{report.run}: {plural(report.peers, 'peer')}, {duration(report.days)}"
    if report.has_ended:
        yield "the run ended after its last round: raise rounds.most to simulate more"
    if "round.roster" not in report.entries:
        yield f"no round began{_why_no_round(report)}"
    width = max(len(label) for label, _ in _rows(report))
    yield from (f"{label.ljust(width)}  {value}" for label, value in _rows(report))
    yield ""
    yield from _lie_lines(report)


def _why_no_round(report: SimulationReport) -> str:
    most = max(one.online for one in report.samples)
    if most < report.min_members:
        return f": rounds.min_members is {report.min_members}, and at most {most} peers were online"
    if report.followers == report.peers:
        return ": no peer offers to witness, so give a smaller --followers"
    return " in that time: it went to an outage, to first downloads and to rounds.warmup_s"


def duration(days: float) -> str:
    """Write a time for people."""
    for unit, parts in (("days", 1), ("hours", 24), ("minutes", 24 * 60)):
        if days * parts >= 1:
            return f"{days * parts:.3g} {unit}"
    return f"{days * 24 * 3_600:.3g} seconds"


def _rows(report: SimulationReport) -> list[tuple[str, str]]:
    days, entries = report.days, sum(report.entries.values())
    rounds = report.rounds_closed + report.rounds_void
    return [
        ("tokens per day", short_count(report.tokens_per_day)),
        ("online", f"{report.online_mean:,.0f} peers, {report.members_mean:,.0f} in a round"),
        (
            "rounds",
            f"{report.rounds_closed:,} closed, {report.rounds_void:,} void"
            + (f", {days * 86_400 / rounds:,.0f} s each" if rounds else ""),
        ),
        (
            "a peer fetches",
            f"{size_text(report.peer_day_bytes)} in a day that it is on, "
            f"{size_text(report.down_bytes / max(rounds * report.online_mean, 1))} per round, "
            f"beside {size_text(report.gossip_day_bytes)} of gossip in such a day",
        ),
        *_cell_rows(report),
        *_follower_rows(report),
        (
            "all peers fetch",
            f"{size_text(report.down_bytes / days)} per day, "
            f"{size_text(report.opened_bytes / days)} of it opened to auditors",
        ),
        (
            "a seed",
            f"{size_text(report.seed_down_bytes / days)} in and "
            f"{size_text(report.seed_up_bytes / days)} out per day",
        ),
        (
            "the log",
            f"{entries / days:,.0f} entries per day, {size_text(report.entry_bytes / days)} and "
            f"{size_text(report.document_bytes / days)} of documents",
        ),
        (
            "the ledger",
            f"{report.ledger_requests / days / 86_400:,.1f} requests per second, "
            f"{size_text(report.ledger_sent_bytes / days)} sent to readers per day",
        ),
        ("honest peers ever suspected", f"{report.honest_suspected:,}"),
    ]


def _cell_rows(report: SimulationReport) -> Iterator[tuple[str, str]]:
    if report.cells:
        others = report.peers - report.cells
        yield (
            "cells",
            f"{report.cells:,} of the peers: points for {short_count(report.cell_day_tokens)} "
            "tokens a day each"
            + (f", {short_count(report.single_day_tokens)} for another peer" if others else ""),
        )


def _follower_rows(report: SimulationReport) -> Iterator[tuple[str, str]]:
    if report.followers:
        yield (
            "followers of steps",
            f"{report.followers:,} of the peers: one fetches "
            f"{size_text(report.follower_day_bytes)} in a day that it is on, another "
            f"{size_text(report.witness_day_bytes)}",
        )


def _lie_lines(report: SimulationReport) -> Iterator[str]:
    yield f"{'peers':8} {'count':>6} {'quarantined':>11} {'after':>6} {'points':>10} {'profit':>7}"
    for one in report.lies:
        after = "-" if one.after is None else f"{one.after:.0f}"
        profit = "-" if one.profit is None else f"{round(one.profit, 2) + 0.0:+.0%}"
        yield (
            f"{one.kind:8} {one.peers:6,} {one.quarantined:11,} {after:>6} "
            f"{points(int(one.gflop)):>10} {profit:>7}  {one.text}"
        )
    yield ""
    yield "after: contributions before the quarantine. points: kept, per peer. profit: points less"
    yield "the work done for them, of what honest peers on such computers earned."
