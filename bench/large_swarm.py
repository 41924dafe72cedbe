"""A run of many volunteers on one computer: real workers over real libp2p, and their bytes.

Ledger, seed and all workers are real programs. Most workers have a trainer without torch
(`tests.support.synthetic_trainer`), which writes real contributions, computes real heads and
follows real steps; a few train with torch. Four of the others sit behind home routers of four
kinds, the others at most `AT_A_SITE` in one network: seeds and ledger limit their number.
The run has a down link; some members are witnesses, too, and fetch every contribution, the others
follow steps. As root:

    python bench/large_swarm.py [--swarms 16x10,32x10,64x50] [--witnesses N] [--torch N]
        [--json FILE] [--document docs/scale.md]

64 volunteers take an hour of two cores that do nothing else, so each swarm is kept as a line of
`large_swarm.jsonl`; the table has the newest line of each size.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import psutil
import trio
from loops import repository, table  # noqa: F401 - it puts the tests on the path
from loops.machine import machine
from tests.support import small_network
from tests.support.home_networks import HomeNetworks, Nat, missing
from tests.support.home_swarm import inside, options
from tests.support.real_network import RealNetwork, RunningProgram, running_network

from tequio_client.platform.programs import tequio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from tequio_client.ipc.snapshot import Status

RESULTS = Path(__file__).with_suffix(".jsonl")
COLUMNS = (
    "volunteers",
    "of them witnesses",
    "rounds (void)",
    "contributions accepted in each",
    "KB fetched a round, member that follows",
    "witness",
    "KB sent a round, member that follows",
    "witness",
    "KB of gossip and framing, both ways",
    "CPU ms of a member's worker a round",
    "s of a round",
)
DOWN_K, TRAIN_S, GRACE_S = 64, 12.0, 60.0
DEADLINE_S = 240
"""Of each phase: all volunteers share two cores here, and no round may be void for that."""
WARMED_ROUNDS = 2
"""After which bytes are counted: those before fetch the first head."""
PATIENCE_S = 1_200.0
"""For the start of the swarm, and for what follows the last round."""
LONGEST_ROUND_S = 300.0
POLL_S = 2.0
AT_A_SITE = 8
MAY_LACK = 6
"""Members that a round may start without."""
SETTLES_S = 180.0
"""Longest wait for all to have the last head; the others of a crowded machine count as without."""
HEAD_EVENTS = ("head computed", "head followed", "head fetched")
"""Log events of a worker that has a new head, each with the round and the beginning of its hash."""
DIRECTIONS = ("received_bytes", "sent_bytes")
STAND_IN = (sys.executable, "-m", "tests.support.faulty_worker")


@dataclass(frozen=True, slots=True, kw_only=True)
class SwarmPlan:
    """Numbers of a measured swarm; the homes are among those without witness duty."""

    peers: int
    rounds: int
    witnesses: int
    torch: int
    """Volunteers that train with torch, half of them witnesses."""
    homes: dict[str, str]
    """Namespaces of the volunteers behind routers, by the router's kind."""
    sites: list[str]
    """Namespaces of the other volunteers, `AT_A_SITE` in each."""
    gateway: str
    seed: str


@click.command()
@click.option("--swarms", default="16x10,32x10,64x50", show_default=True, help="Peers x rounds.")
@click.option("--witnesses", default=12, show_default=True, help="Members with witness duty.")
@click.option("--torch", default=8, show_default=True, help="Volunteers that train with torch.")
@click.option("--inside", "plan", hidden=True, help="Run one swarm, in this namespace.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the figures.")
@click.option("--document", type=click.Path(path_type=Path), help="Write the table into this page.")
def main(
    swarms: str,
    witnesses: int,
    torch: int,
    plan: str | None,
    json_file: Path | None,
    document: Path | None,
) -> None:
    """Measure what the members of large swarms fetch and send."""
    if plan:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(trio.run(_swarm, Path(folder), SwarmPlan(**json.loads(plan)))))
        return
    if missing():
        raise SystemExit(missing())
    for text in filter(None, swarms.split(",")):
        peers, rounds = (int(one) for one in text.split("x"))
        found = {**machine(), **_in_namespaces(peers, rounds, witnesses, torch)}
        with RESULTS.open("a") as file:
            file.write(json.dumps(found) + "\n")
        print(json.dumps(found), file=sys.stderr)
    measured = _measured()
    shown = table.markdown(COLUMNS, [_row(one) for one in measured])
    if document:
        table.put(document, "large swarm", shown)
    print(shown)
    if json_file:
        json_file.write_text(json.dumps({**machine(), "swarms": measured}) + "\n")


def _measured() -> list[dict[str, Any]]:
    """The newest result of each size, from small to large."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    newest = {one["peers"]: one for one in map(json.loads, lines)}
    return [newest[peers] for peers in sorted(newest)]


def _in_namespaces(peers: int, rounds: int, witnesses: int, torch: int) -> dict[str, Any]:
    """Make the homes, and run this file in the namespace that is the internet to them."""
    kinds = {one.name.lower(): one for one in (Nat.FULL_CONE, Nat.PORT_RESTRICTED, Nat.SYMMETRIC)}
    with HomeNetworks.opened() as networks:
        seed = networks.public("seed")
        routers = {kind: networks.home(kind[:4], nat) for kind, nat in kinds.items()}
        provider = networks.home("isp", Nat.PORT_RESTRICTED)
        routers["double"] = networks.home("dbl", Nat.PORT_RESTRICTED, behind=provider)
        homes = {
            kind: networks.computer(router, f"h{kind[:3]}").namespace
            for kind, router in routers.items()
        }
        at_sites = range(0, peers - len(homes), AT_A_SITE)
        plan = SwarmPlan(
            sites=[networks.public(f"s{first}").namespace for first in at_sites],
            peers=peers,
            rounds=rounds,
            witnesses=witnesses,
            torch=torch,
            homes=homes,
            gateway=f"{seed.host.rpartition('.')[0]}.1",
            seed=seed.namespace,
        )
        command = (sys.executable, __file__, "--inside", json.dumps(asdict(plan)))
        done = subprocess.run(
            networks.internet.command(*command), stdout=subprocess.PIPE, text=True, check=True
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


async def _swarm(folder: Path, plan: SwarmPlan) -> dict[str, Any]:
    windows = (plan.peers, 2 * plan.peers)
    text = small_network.plan(
        windows=windows,
        train_s=TRAIN_S,
        deadline_s=DEADLINE_S,
        grace_s=GRACE_S,
        rounds=plan.rounds + 3,  # with the last one of a run, its workers end
    )
    rules = f"{text.replace('min_members = 2', f'min_members = {plan.peers - MAY_LACK}')}\n"
    files = small_network.RunFiles(
        config=small_network.CONFIG, plan=f"{rules}[algorithm]\ndown_k = {DOWN_K}\n"
    )
    async with running_network(folder) as stage:
        stage.ledger_host = "0.0.0.0"  # noqa: S104 - of namespaces that lead nowhere
        await small_network.found(stage, files)
        seed = tequio("seed", *options(stage, plan.gateway, "seed"))
        stage.start("seed", inside(plan.seed, seed))
        workers = [start async for start in _started(stage, plan)]
        watched = workers[0]
        begun_s = await _round_after(stage, watched, WARMED_ROUNDS)
        begun, began_cpu_s = [one.status for one in workers], _cpu_s(workers)
        ended_s = await _round_after(stage, watched, plan.rounds)
        ended, ended_cpu_s = [one.status for one in workers], _cpu_s(workers)
        heads = await _heads_of(stage, workers, plan.rounds)
        closed = list(watched.events("round closed"))
        voids = list(watched.events("round void"))
    measured_rounds = plan.rounds - WARMED_ROUNDS
    report: dict[str, Any] = {
        "peers": plan.peers,
        "witnesses": plan.witnesses,
        "torch": plan.torch,
        "homes": list(plan.homes),
        "rounds": len(closed),
        "void": len(voids),
        "accepted": _mean(one["accepted"] for one in closed[1:]),
        "least_accepted": min(one["accepted"] for one in closed[1:]),
        "same_head": max(map(heads.count, heads), default=0),
        "round_s": round((ended_s - begun_s) / measured_rounds, 1),
        "cpu_ms": round((ended_cpu_s - began_cpu_s) / measured_rounds / plan.peers * 1e3),
        "resident_mb": sum(one.resident_mb for one in ended),  # without trainers
    }
    for name, is_wanted in (("following", False), ("witness", True)):
        pairs = [
            (one, other)
            for one, other in zip(begun, ended, strict=True)
            if ("witness" in one.roles) is is_wanted
        ]
        report[f"{name}_received_kb"] = _per_round(pairs, "received_bytes", measured_rounds)
        report[f"{name}_sent_kb"] = _per_round(pairs, "sent_bytes", measured_rounds)
    pairs = list(zip(begun, ended, strict=True))
    report["overhead_kb"] = round(
        sum(_per_round(pairs, f"wire_{name}", measured_rounds) for name in DIRECTIONS)
        - sum(_per_round(pairs, name, measured_rounds) for name in DIRECTIONS),
        1,
    )
    return report


async def _started(stage: RealNetwork, plan: SwarmPlan) -> AsyncIterator[RunningProgram]:
    """Start the volunteers, one after the other: imports take all of a core."""
    at_sites = plan.peers - len(plan.homes)
    places = [
        (f"volunteer-{number}", plan.sites[number // AT_A_SITE]) for number in range(at_sites)
    ]
    for number, (name, namespace) in enumerate([*places, *plan.homes.items()]):
        is_witness = number < plan.witnesses
        # Half of those with torch are witnesses: the first of both kinds.
        rank = number if is_witness else number - plan.witnesses
        begin = tequio() if rank < plan.torch // 2 else (*STAND_IN, str(stage.folder / "never"))
        words = ("worker", *options(stage, plan.gateway, name), "--device", "cpu")
        roles = () if is_witness else ("--role", "trainer")
        worker = stage.start(name, inside(namespace, [*begin, *words, *roles]))
        await stage.until(f"{name} runs", partial(_is_up, worker), PATIENCE_S)
        yield worker


def _cpu_s(workers: Iterable[RunningProgram]) -> float:
    """CPU seconds of all workers since their start, without their trainers."""
    times = [psutil.Process(one.pid).cpu_times() for one in workers]
    return sum(one.user + one.system for one in times)


def _is_up(worker: RunningProgram) -> bool:
    return worker.program.status is not None


async def _round_after(stage: RealNetwork, worker: RunningProgram, number: int) -> float:
    """Wait until a worker's head is that of the round; returns the time."""

    async def is_there() -> bool:
        await trio.sleep(POLL_S)
        status = worker.program.status
        if status is not None and status.round != shown.get("round"):
            shown["round"] = status.round
            print(f"round {status.round}: {status.verdict}", file=sys.stderr)
        return status is not None and status.head_round >= number

    shown: dict[str, int] = {}
    await stage.until(f"head {number}", is_there, PATIENCE_S + number * LONGEST_ROUND_S)
    return time.monotonic()


async def _heads_of(
    stage: RealNetwork, workers: Sequence[RunningProgram], number: int
) -> list[str]:
    """Wait until every worker has the head of the round; returns the heads of those that have."""

    def found(worker: RunningProgram) -> list[str]:
        events = (one for kind in HEAD_EVENTS for one in worker.events(kind))
        return [str(one["head"]) for one in events if one["round"] == number]

    def have_all() -> bool:
        return all(map(found, workers))

    with trio.move_on_after(SETTLES_S):
        await stage.until(f"head {number} everywhere", have_all, PATIENCE_S)
    return [head for one in workers for head in found(one)[:1]]


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return round(sum(found) / len(found), 1)


def _per_round(pairs: list[tuple[Status, Status]], name: str, rounds: int) -> float:
    """KB of a member and round between two states."""
    return _mean(
        (getattr(after, name) - getattr(before, name)) / rounds / 1e3 for before, after in pairs
    )


def _row(one: dict[str, Any]) -> list[str]:
    return [
        str(one["peers"]),
        str(one["witnesses"]),
        f"{one['rounds']} ({one['void']})",
        f"{one['accepted']}",
        f"{one['following_received_kb']:,.0f}",
        f"{one['witness_received_kb']:,.0f}",
        f"{one['following_sent_kb']:,.0f}",
        f"{one['witness_sent_kb']:,.0f}",
        f"{one['overhead_kb']:,.0f}",
        f"{one['cpu_ms']:,}",
        f"{one['round_s']}",
    ]


if __name__ == "__main__":
    main()
