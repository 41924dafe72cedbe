"""Which pairs of homes connect, and how: real routers in network namespaces, as root.

    python bench/homes.py [--json FILE]

prints three tables: how each kind of router leaves a peer reachable, and whether it leaves
connections their ports; for each pair who can dial whom at an announced address, or connects
because a seed introduces them; and what one contribution costs the seeds on each of these ways.
Where none exists, both work through seeds, which both dial. With miniupnpd and miniupnpc there is
also a router that opens a port.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.home_networks import (  # noqa: E402 - the root is none of the paths of a script
    Computer,
    HomeNetworks,
    HomePeer,
    Nat,
    missing,
    upnp_daemon,
)

from tequio_client.worker.swarm.hole_punching import SOON_S  # noqa: E402 - likewise

NAMES = {
    Nat.NONE: "no translation",
    Nat.FULL_CONE: "port forwarded",
    Nat.PORT_RESTRICTED: "port-restricted",
    Nat.SYMMETRIC: "symmetric",
}
OPENED, DOUBLE = "port opened by UPnP", "two routers"
DIRECT, ONE_DIALS = "direct", "direct, one dials"
INTRODUCED, STORED = "direct, introduced", "through seeds"
MEBIBYTE = 1 << 20
CONTRIBUTION_BYTES = 8 * MEBIBYTE


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredHome:
    name: str
    peer: HomePeer
    second: HomePeer
    """Another computer of the same kind of home, elsewhere."""
    reach: dict[str, Any]
    second_reach: dict[str, Any]
    keeps_ports: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Bytes that the seeds carried for one contribution that a member fetched from another."""

    way: str
    received_bytes: int
    sent_bytes: int
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description="Which pairs of homes connect, and how.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the tables there")
    options = parser.parse_args()
    if why := missing():
        sys.exit(f"homes.py cannot make networks: {why}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        networks = stack.enter_context(HomeNetworks.opened())
        seeds = [
            stack.enter_context(HomePeer(networks.public(name), folder, name))
            for name in ("seed1", "seed2")
        ]
        homes = [make(networks, stack, folder, seeds, name) for name in kinds()]
        print_reach(homes)
        pairs = {row.name: {one.name: pair(row, one) for one in homes} for row in homes}
        print_pairs(pairs)
        costs = [measure_cost(seeds, homes, pairs, way) for way in (ONE_DIALS, INTRODUCED, STORED)]
        print_costs(costs)
        if options.json:
            tables = {
                "reach": {home.name: home.reach["state"] for home in homes},
                "keeps_ports": {home.name: home.keeps_ports for home in homes},
                "pairs": pairs,
                "costs": [asdict(one) for one in costs],
            }
            options.json.write_text(json.dumps(tables, indent=1) + "\n")


def kinds() -> list[str]:
    has_upnp = shutil.which("miniupnpd") and importlib.util.find_spec("miniupnpc")
    return [*NAMES.values(), *((OPENED,) if has_upnp else ()), DOUBLE]


def make(
    networks: HomeNetworks, stack: ExitStack, folder: Path, seeds: list[HomePeer], name: str
) -> MeasuredHome:
    """Make two homes of a kind, with one peer in each."""
    peers = [make_peer(networks, stack, folder, seeds, name, number) for number in (1, 2)]
    first, second = peers
    return MeasuredHome(
        name=name,
        peer=first,
        second=second,
        reach=first.ask("reach"),
        second_reach=second.ask("reach"),
        keeps_ports=first.ask("router_keeps_ports"),
    )


def make_peer(
    networks: HomeNetworks,
    stack: ExitStack,
    folder: Path,
    seeds: list[HomePeer],
    name: str,
    number: int,
) -> HomePeer:
    tag = f"{sorted(kinds()).index(name)}{number}"
    computer = make_computer(networks, stack, folder, name, tag)
    peer = stack.enter_context(HomePeer(computer, folder, f"peer{tag}"))
    for seed in seeds:
        peer.ask("connect", address=seed.addresses[0])
    if name == OPENED:
        peer.ask("router", is_wanted=True)
    return peer


def make_computer(
    networks: HomeNetworks, stack: ExitStack, folder: Path, name: str, tag: str
) -> Computer:
    kind = next((nat for nat, text in NAMES.items() if text == name), Nat.PORT_RESTRICTED)
    behind = networks.home(f"i{tag}", Nat.PORT_RESTRICTED) if name == DOUBLE else None
    router = networks.home(f"r{tag}", kind, behind=behind)
    if name == OPENED:
        own = folder / tag
        own.mkdir()
        stack.enter_context(upnp_daemon(router, own))
    return networks.computer(router, f"c{tag}")


def print_reach(homes: list[MeasuredHome]) -> None:
    print("| router | found out | announced to peers elsewhere | leaves connections their ports |")
    print("| --- | --- | --- | --- |")
    for home in homes:
        announced = "yes" if elsewhere(home.reach) else "nothing"
        kept = "yes" if home.keeps_ports else "no"
        print(f"| {home.name} | {home.reach['state']} | {announced} | {kept} |")
    print()


def print_pairs(pairs: dict[str, dict[str, str]]) -> None:
    """Print a row for each peer, a column for each other one."""
    print("| | " + " | ".join(pairs) + " |")
    print("| --- |" + " --- |" * len(pairs))
    for name, cells in pairs.items():
        print(f"| {name} | " + " | ".join(cells.values()) + " |")


def pair(row: MeasuredHome, column: MeasuredHome) -> str:
    can_dial = dials(row.peer, column.second_reach)
    can_be_dialled = dials(column.second, row.reach)
    if can_dial or can_be_dialled:
        return DIRECT if can_dial and can_be_dialled else ONE_DIALS
    return INTRODUCED if meet(row.peer, column.second) else STORED


def meet(first: HomePeer, second: HomePeer) -> bool:
    """Check that two members connect when a seed introduces them."""
    first.ask("partner", peer=second.peer_id)
    second.ask("partner", peer=first.peer_id)
    answer = first.ask("open", peer=second.peer_id)
    if "nobody introduces us" in answer.get("error", ""):
        # Its network has asked for too many at once; a member tries again as late as this.
        time.sleep(SOON_S + 1.0)
        answer = first.ask("open", peer=second.peer_id)
    return "error" not in answer


def measure_cost(
    seeds: list[HomePeer], homes: list[MeasuredHome], pairs: dict[str, dict[str, str]], way: str
) -> Cost:
    """Have a seed cache a contribution, as it does with all, and a member fetch it."""
    row, column = next(
        (row, column) for row in homes for column in homes if pairs[row.name][column.name] == way
    )
    fetching, holder = row.peer, column.second
    if way == ONE_DIALS:
        dials(holder, row.reach)
    tree = holder.ask("store", size_bytes=CONTRIBUTION_BYTES)
    sent = sum(seed.ask("sent") for seed in seeds)
    received = seeds[0].ask("fetch", sources=[holder.peer_id], **tree)
    seconds = fetching.ask("exchange", holder=holder.peer_id, **tree)
    return Cost(
        way=way,
        received_bytes=sum(received.values()),
        sent_bytes=sum(seed.ask("sent") for seed in seeds) - sent,
        seconds=seconds,
    )


def print_costs(costs: list[Cost]) -> None:
    print()
    size = f"{CONTRIBUTION_BYTES // MEBIBYTE} MiB"
    print(f"| way of one contribution ({size}) to one member | seeds receive | seeds send | time |")
    print("| --- | --- | --- | --- |")
    for one in costs:
        received, sent = (f"{n / MEBIBYTE:.1f} MiB" for n in (one.received_bytes, one.sent_bytes))
        print(f"| {one.way} | {received} | {sent} | {one.seconds:.1f} s |")


def dials(peer: HomePeer, reach: dict[str, Any]) -> bool:
    """Check that the peer gets a connection at an address that the other one announces."""
    return any(
        peer.ask("connect", address=one, is_new=True) == {"connected": True}
        for one in elsewhere(reach)
    )


def elsewhere(reach: dict[str, Any]) -> list[str]:
    """The announced addresses that mean something outside of the home."""
    return [one for one in reach["announced"] if not one.startswith("/ip4/192.168.")]


if __name__ == "__main__":
    main()
