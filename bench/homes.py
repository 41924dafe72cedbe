"""Which pairs of homes connect, and how: real routers in network namespaces, as root.

    python bench/homes.py [--json FILE]

prints two tables: how each kind of router leaves a peer reachable, and for each pair who can dial
whom at an announced address. Where neither can, both work through seeds, which both dial. With
miniupnpd and miniupnpc there is also a router that opens a port.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
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

NAMES = {
    Nat.NONE: "no translation",
    Nat.FULL_CONE: "port forwarded",
    Nat.PORT_RESTRICTED: "port-restricted",
    Nat.SYMMETRIC: "symmetric",
}
OPENED, DOUBLE = "port opened by UPnP", "two routers"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredHome:
    name: str
    peer: HomePeer
    second: HomePeer
    """Another computer of the same kind of home, elsewhere."""
    reach: dict[str, Any]
    second_reach: dict[str, Any]


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
        if options.json:
            found = {home.name: home.reach["state"] for home in homes}
            options.json.write_text(json.dumps({"reach": found, "pairs": pairs}, indent=1) + "\n")


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
    print("| router | found out | announced to peers elsewhere |")
    print("| --- | --- | --- |")
    for home in homes:
        public = [one.split("/p2p/")[0] for one in elsewhere(home.reach)]
        print(f"| {home.name} | {home.reach['state']} | {'yes' if public else 'nothing'} |")
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
        return "direct" if can_dial and can_be_dialled else "direct, one dials"
    return "through seeds"


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
